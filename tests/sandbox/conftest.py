"""What the tests of this folder share: each runs on both ways in which a worker starts a command."""

from typing import get_args

import pytest

from rlsh.sandbox.base import Kind


@pytest.fixture(params=get_args(Kind), scope="module")
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param
