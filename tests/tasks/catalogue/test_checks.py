"""The checks of this folder fail where they have to, and leave no reference out."""

import pytest
from test_examples_data import EXAMPLES as DATA
from test_examples_structures import EXAMPLES as STRUCTURES
from test_examples_text import EXAMPLES as TEXT

from rlsh.tasks.catalogue import references


def test_every_reference_has_a_value_worked_out_by_hand():
    assert {name for name, _, expected in DATA + STRUCTURES + TEXT if not isinstance(expected, type)} == {
        made.name for made in references()
    }


@pytest.mark.parametrize(
    ("args", "expected"), [(([7], 100), 7), (([7], 100), 7.5), (([7], 101), 7.0), (([7], 1), KeyError)]
)
def test_a_wrong_value_type_or_exception_fails(check, args, expected):
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        check("percentile", args, expected)


def test_a_wrong_route_or_property_fails(against_route, has_property):
    with pytest.raises(AssertionError):
        against_route("rotate", lambda items, steps: items)
    with pytest.raises(AssertionError):
        has_property("rotate", lambda value, items, steps: value == items)
