"""Rewards -> advantages: the figures of one group by hand, and the groups in which nothing can be learned."""

from __future__ import annotations

import pytest
import torch

from rlsh.algos import group_advantages


def naive(rewards, group_size):
    """The formula as written in most code, without a thought for rounding, failed rows or groups of one."""
    grouped = rewards.view(-1, group_size)
    return ((grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)).flatten()


def test_one_success_in_four():
    got = group_advantages(torch.tensor([1.0, 0.0, 0.0, 0.0]), 4)
    assert got.tolist() == pytest.approx([1.4997, -0.4999, -0.4999, -0.4999], abs=1e-4)
    # not the population's std, nor verl's 1e-6, nor no std at all
    assert got[0] != pytest.approx(1.7317, abs=1e-4) and got[0] != pytest.approx(1.5, abs=1e-4)


def test_eps_goes_to_the_denominator():
    got = group_advantages(torch.tensor([1.0, 0.0], dtype=torch.float64), 2, eps=0.5)
    assert got.tolist() == pytest.approx([0.5 / (0.5**0.5 + 0.5), -0.5 / (0.5**0.5 + 0.5)])


def test_groups_do_not_mix_and_lie_one_after_another():
    a, b = torch.tensor([1.0, 0.0, 0.5]), torch.tensor([10.0, 30.0, 20.0])
    got = group_advantages(torch.cat([a, b]), 3)
    torch.testing.assert_close(got, torch.cat([naive(a, 3), naive(b, 3)]))
    assert (got - naive(torch.cat([a, b]), 6)).abs().max() > 0.1


def test_a_constant_reward_changes_nothing():
    rewards = torch.tensor([0.0, 1.0, 1.0, 0.0, 0.25, 0.5])
    torch.testing.assert_close(group_advantages(rewards + 5, 3), group_advantages(rewards, 3), atol=1e-5, rtol=0)


@pytest.mark.parametrize("reward", [0.0, 1.0, 0.1, 0.3, 1 / 3, 123.456])
@pytest.mark.parametrize("group_size", [2, 3, 6, 7, 11])
def test_equal_rewards_teach_nothing(reward, group_size):
    assert (group_advantages(torch.full((2 * group_size,), reward), group_size) == 0).all()


def test_equal_rewards_the_naive_way_teach_a_rounding_error():
    """Control of the test above: the mean of equal rewards rounds, and std + 1e-4 does not hide it."""
    assert max(float(naive(torch.full((g,), 123.456), g).abs().max()) for g in (3, 6, 7, 11)) > 1e-3


def test_failed_environments_leave_the_baseline():
    """A row masked out is as good as absent, whatever its reward says."""
    for dead in (0.0, -7.0, torch.nan, torch.inf):
        rewards = torch.tensor([1.0, dead, 0.0, 0.0])
        valid = torch.tensor([True, False, True, True])
        got = group_advantages(rewards, 4, valid=valid)
        torch.testing.assert_close(got[valid], naive(torch.tensor([1.0, 0.0, 0.0]), 3))
        assert got[1] == 0.0
    # controls: as reward 0 it lowers the baseline, as NaN it takes the group with it
    assert abs(float(naive(torch.tensor([1.0, 0.0, 0.0, 0.0]), 4)[0] - got[0])) > 0.1
    assert naive(torch.tensor([1.0, torch.nan, 0.0, 0.0]), 4).isnan().all()


@pytest.mark.parametrize("alive", [0, 1])
def test_fewer_than_two_valid_rows_teach_nothing(alive):
    rewards = torch.tensor([1.0, torch.nan, torch.nan, 0.0, 1.0, 0.0])
    valid = torch.tensor([bool(alive), False, False, True, True, True])
    got = group_advantages(rewards, 3, valid=valid)
    assert got[:3].tolist() == [0.0, 0.0, 0.0]
    torch.testing.assert_close(got[3:], naive(rewards[3:], 3))  # the neighbours do not notice


@pytest.mark.filterwarnings("ignore:std")
def test_a_group_of_one_has_no_baseline():
    with pytest.raises(ValueError, match="group_size = 1"):
        group_advantages(torch.tensor([1.0, 0.0]), 1)
    assert naive(torch.tensor([1.0, 0.0]), 1).isnan().all()  # control: what would have been trained on


@pytest.mark.parametrize(
    ("rewards", "valid", "names"),
    [
        (torch.zeros(6), None, r"\(6,\).*groups of 4"),
        (torch.zeros(2, 4), None, r"\(2, 4\)"),
        (torch.zeros(8), torch.ones(4, dtype=torch.bool), r"\(4,\).*\(8,\)"),
        (torch.tensor([0.0, torch.nan, 1.0, 0.0]), None, "finite"),
        (torch.tensor([0.0, torch.inf, 1.0, 0.0]), None, "finite"),
    ],
)
def test_rewards_that_do_not_fit(rewards, valid, names):
    with pytest.raises(ValueError, match=names):
        group_advantages(rewards, 4, valid=valid)
