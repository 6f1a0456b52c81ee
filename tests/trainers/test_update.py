"""One optimisation phase of GRPO, from episodes as the engine sampled them to gradients of the weights."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from rlsh.algos import group_advantages, grpo_loss
from rlsh.engine import Engine, SamplingParams
from rlsh.models import Decoder, ModelConfig
from rlsh.rollout.collect import RolloutConfig
from rlsh.trainers.grpo import GrpoConfig, padded, reference_logps, update
from rlsh.trainers.optim import OptimConfig
from rlsh.trainers.scoring import micro_batches, score
from rlsh.types import RlshError, StopReason, Trajectory, Verdict

STOP, G, P = 3, 4, 4
SHAPE = ModelConfig(vocab_size=40, block_size=64, n_layer=2, n_head=2, n_embd=16, dropout=0.1, valid_vocab=33)
CONFIG = GrpoConfig(
    prompts=P, group_size=G, updates=1, micro_batch_tokens=10**6, optim=OptimConfig(lr=0.1, grad_clip=0.0)
)
ONE_BY_ONE = replace(CONFIG, micro_batch_tokens=1)


@pytest.fixture
def model():
    """Configured with dropout and left in training mode, as a supervised stage would leave it."""
    made = Decoder(SHAPE, torch.Generator().manual_seed(0))
    with torch.no_grad():
        for p in made.parameters():
            p.mul_(4.0)
    return made.train()


def played(model, temperature=1.0):
    """P * G ragged episodes of up to three turns, observations between them, sampled by the engine."""
    model.eval()
    engine = Engine(model, P * G, SamplingParams(temperature), [STOP], turn_tokens=7)
    prompts = [[1, 2, 5], [4, 6, 10, 11, 12, 13], [20], [30, 31]]
    rows = [
        row
        for i, prompt in enumerate(prompts)
        for row in engine.add_groups([prompt], [[100 * i + g for g in range(G)]])[0]
    ]
    for _ in range(2):
        while engine.active:
            engine.step()
        for row in rows:
            if row.key % 3:  # some episodes end after their first turn
                engine.resume(row, [7, 8, 9, 14][: 1 + row.key % 4])
    while engine.active:
        engine.step()
    model.train()
    return [episode(row.ids, row.logps, row.mask, reward=float(row.key % 2)) for row in rows]


def episode(ids, logps, mask, reward=1.0, infra=False):
    return Trajectory("t", "f", 0, ids, logps, mask, [], Verdict(reward, infra=infra), StopReason.FINAL)


def advantages_of(episodes):
    valid = torch.tensor([not e.verdict.infra for e in episodes])
    return group_advantages(torch.tensor([e.verdict.reward for e in episodes]), G, valid=valid)


class Recorder(torch.optim.SGD):
    """Keeps each step's gradients; the weights move by plain SGD."""

    def __init__(self, model):
        super().__init__(model.parameters(), lr=0.0)
        self.model, self.gradients = model, []

    def step(self, closure=None):
        self.gradients.append(
            torch.cat(
                [p.grad.flatten() if p.grad is not None else torch.zeros(p.numel()) for p in self.model.parameters()]
            )
        )
        return super().step(closure)


def run(model, episodes, config=CONFIG, *, advantages=None, reference=None, lr=0.0):
    """Stats and the gradient of every optimiser step. `lr` 0 leaves the model as it was."""
    advantages = advantages_of(episodes) if advantages is None else advantages
    reference = reference_logps(model.eval(), episodes, config) if reference is None else reference
    recorder = Recorder(model)
    stats = update(model.train(), recorder, lr, episodes, advantages, reference, config)
    return stats, recorder.gradients


def apart(a, b):
    """Relative distance of two gradients."""
    return float((a - b).norm() / b.norm())


def far_reference(episodes):
    return [[logp - 0.5 + 0.1 * (t % 7) for t, logp in enumerate(e.logps)] for e in episodes]


def off_policy(episodes):
    """As if sampled by an older policy: ratios on both sides of the clip range."""
    g = torch.Generator().manual_seed(5)
    return [
        replace(e, logps=(torch.tensor(e.logps) + 0.4 * torch.randn(len(e.ids), generator=g)).tolist())
        for e in episodes
    ]


OFF_POLICY = replace(CONFIG, max_logp_gap=math.inf)


# --- step 0


@pytest.mark.parametrize("micro_batch_tokens", [1, 60, 10**6])
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_step_0_is_on_policy(model, temperature, micro_batch_tokens):
    config = replace(
        CONFIG, rollout=RolloutConfig(temperature=temperature), micro_batch_tokens=micro_batch_tokens, beta=1.0
    )
    episodes = played(model, temperature)
    stats, _ = run(model, episodes, config)
    assert stats.tokens == sum(sum(e.mask) for e in episodes)
    assert 0 <= stats.gap < 1e-5
    assert 0 <= stats.kl_k3 / stats.tokens < 1e-8
    assert stats.clipped == 0


def test_scoring_with_dropout_is_off_policy(model):
    """Control: the same rows scored in training mode."""
    episodes = played(model)
    (batch,) = micro_batches([(e.ids, e.mask) for e in episodes], 10**6, torch.device("cpu"))
    logp, _ = score(model.train(), batch)
    ratio = (logp - padded(batch, [e.logps for e in episodes]))[batch.mask]
    assert ratio.abs().max() > 0.1


def test_a_forgotten_temperature_is_an_error_before_the_first_step(model):
    episodes = played(model, temperature=0.6)
    before = [p.detach().clone() for p in model.parameters()]
    with pytest.raises(RlshError, match=r"differ by [\d.]+ nats .*max_logp_gap = 0.0001"):
        run(model, episodes, lr=1.0)
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_gap_that_is_no_number_is_an_error_too(model, bad):
    """NaN compares false with everything: `max` keeps the other side, and `gap > limit` lets it pass."""
    episodes = played(model)
    reference = far_reference(episodes)
    t = episodes[5].mask.index(1)
    episodes[5].logps[t] = bad
    with pytest.raises(RlshError, match="sampler and trainer differ by"):
        run(model, episodes, lr=1.0, reference=reference)


def test_only_the_first_optimiser_step_is_held_to_the_sampler(model):
    episodes = played(model)
    stats, _ = run(model, episodes, replace(CONFIG, updates=2), lr=5.0)
    assert stats.gap < 1e-5 and stats.kl_k1 != 0.0


# --- the denominator


@pytest.mark.parametrize("make_old", [lambda e: e, off_policy])
def test_gradients_do_not_depend_on_the_micro_batch(model, make_old):
    episodes = make_old(played(model))
    assert len({len(e.ids) for e in episodes}) > 4  # ragged
    reference = far_reference(episodes)
    whole, (at_once,) = run(model, episodes, OFF_POLICY, reference=reference)
    parts, (one_by_one,) = run(model, episodes, replace(OFF_POLICY, micro_batch_tokens=1), reference=reference)
    assert apart(one_by_one, at_once) < 1e-6
    assert parts.loss == pytest.approx(whole.loss, rel=1e-5)
    assert parts.clipped == whole.clipped and parts.tokens == whole.tokens
    for name in ("kl_k1", "kl_k3", "entropy", "grad_norm"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), rel=1e-5), name


def test_a_mean_per_micro_batch_is_another_gradient(model):
    """Control: each row divided by its own tokens, then averaged over rows."""
    episodes = played(model)
    reference, A = far_reference(episodes), advantages_of(episodes)
    _, (right,) = run(model, episodes, reference=reference)
    model.eval()
    for i, e in enumerate(episodes):
        (batch,) = micro_batches([(e.ids, e.mask)], 1, torch.device("cpu"))
        logp, _ = score(model, batch)
        row = [padded(batch, [x]) for x in (e.logps, reference[i])]
        (grpo_loss(logp, *row, A[i : i + 1], batch.mask) / len(episodes)).backward()
    assert apart(torch.cat([p.grad.flatten() for p in model.parameters()]), right) > 0.05


def test_the_gradient_is_that_of_the_loss_over_all_rows(model):
    episodes = off_policy(played(model))
    reference = far_reference(episodes)
    config = replace(OFF_POLICY, eps=0.1, eps_high=0.3, beta=0.2)
    stats, (got,) = run(model, episodes, config, reference=reference)
    (batch,) = micro_batches([(e.ids, e.mask) for e in episodes], 10**6, torch.device("cpu"))
    logp, entropy = score(model.eval(), batch)
    old, ref = (padded(batch, rows) for rows in ([e.logps for e in episodes], reference))
    A = advantages_of(episodes)[batch.rows]
    loss = grpo_loss(logp, old, ref, A, batch.mask, 0.1, 0.2, eps_high=0.3)
    loss.backward()
    expected = torch.cat([p.grad.flatten() for p in model.parameters()])
    assert apart(got, expected) < 1e-6
    assert stats.loss == pytest.approx(float(loss.detach()), rel=1e-5)
    assert stats.grad_norm == pytest.approx(float(expected.norm()), rel=1e-5)
    assert stats.entropy == pytest.approx(float(entropy.sum()), rel=1e-5)
    ratio = (logp - old).exp()
    gone = ((A[:, None] > 0) & (ratio > 1.3)) | ((A[:, None] < 0) & (ratio < 0.9))
    assert stats.clipped == int((gone & batch.mask).sum()) > 0


# --- which rows


def test_updates_deal_the_groups_out_in_turn(model):
    episodes = played(model)
    reference, A = far_reference(episodes), advantages_of(episodes)
    stats, steps = run(model, episodes, replace(CONFIG, updates=2), reference=reference)
    losses = []
    for u, step in enumerate(steps):
        mine = [i for i in range(P * G) if (i // G) % 2 == u]
        part, (alone,) = run(
            model, [episodes[i] for i in mine], advantages=A[mine], reference=[reference[i] for i in mine]
        )
        losses.append(part.loss)
        assert apart(step, alone) < 1e-6
    assert len(steps) == 2 and stats.tokens == sum(sum(e.mask) for e in episodes)
    assert stats.loss == pytest.approx(sum(losses) / 2, rel=1e-5)


def test_a_failed_environment_takes_no_part(model):
    episodes = played(model)
    dead = replace(episodes[5], logps=[math.nan] * len(episodes[5].ids), verdict=Verdict(0.0, infra=True))
    mixed = [*episodes[:5], dead, *episodes[6:]]
    A, reference = advantages_of(mixed), far_reference(episodes)
    stats, (got,) = run(model, mixed, advantages=A, reference=reference)
    others = [i for i in range(P * G) if i != 5]
    without, (expected,) = run(
        model, [episodes[i] for i in others], advantages=A[others], reference=[reference[i] for i in others]
    )
    assert torch.isfinite(got).all() and apart(got, expected) < 1e-6
    assert stats.tokens == without.tokens


def test_a_batch_of_failures_moves_nothing(model):
    episodes = [replace(e, verdict=Verdict(0.0, infra=True)) for e in played(model)]
    stats, (gradient,) = run(model, episodes, advantages=torch.zeros(P * G))
    assert stats.tokens == 0 and (gradient == 0).all() and stats.grad_norm == 0.0


@pytest.mark.parametrize("config", [CONFIG, ONE_BY_ONE])
def test_a_row_without_a_sampled_token_changes_nothing(model, config):
    episodes = played(model)
    A, reference = advantages_of(episodes), far_reference(episodes)
    stats, (expected,) = run(model, episodes, config, advantages=A, reference=reference)
    silent = episode([1, 2, 5, 7], [0.0] * 4, [0] * 4)
    more, (got,) = run(
        model, [*episodes, silent], config, advantages=torch.cat([A, torch.ones(1)]), reference=[*reference, [0.0] * 4]
    )
    assert apart(got, expected) < 1e-6 and more.tokens == stats.tokens


def test_equal_rewards_and_no_kl_move_nothing(model):
    episodes = [replace(e, verdict=Verdict(1.0)) for e in played(model)]
    stats, (gradient,) = run(model, episodes, replace(CONFIG, beta=0.0))
    assert (gradient == 0).all() and stats.loss == 0.0


# --- which tokens


def test_observation_tokens_have_no_gradient_of_their_own(model):
    """The final states that predict an observation get none; those that predict a sampled token all do."""
    episodes = played(model)
    seen = []

    def watch(module, inputs, out):
        if out.requires_grad:
            out.register_hook(seen.append)

    model.ln_f.register_forward_hook(watch)
    run(model, episodes, ONE_BY_ONE, advantages=torch.ones(P * G), reference=far_reference(episodes))
    order = sorted(range(P * G), key=lambda i: (len(episodes[i].ids), i))
    assert len(seen) == len(order)
    for i, gradient in zip(order, seen, strict=True):
        predicts_sampled = torch.tensor(episodes[i].mask[1:], dtype=torch.bool)
        size = gradient[0].abs().amax(-1)
        assert (size[~predicts_sampled] == 0).all() and (size[predicts_sampled] > 0).all()


def test_a_last_observation_moves_nothing(model):
    """Altered, it changes no token that the policy sampled, so neither the loss nor its gradient."""
    base = played(model)

    def with_ending(ids, mask):
        return [episode(e.ids + ids, e.logps + [0.0] * 3, e.mask + [mask] * 3, e.verdict.reward) for e in base]

    reference = [[*row, 0.0, 0.0, 0.0] for row in far_reference(base)]
    results = [
        run(model, with_ending(ending, 0), ONE_BY_ONE, advantages=advantages_of(base), reference=reference)
        for ending in ([7, 8, 9], [30, 1, 30])
    ]
    (one, (g1,)), (other, (g2,)) = results
    assert apart(g1, g2) < 1e-6 and one.loss == pytest.approx(other.loss, rel=1e-6)
    # control: trained on, it moves both
    trained = [
        run(model, with_ending(ending, 1), replace(ONE_BY_ONE, max_logp_gap=math.inf), reference=reference)
        for ending in ([7, 8, 9], [30, 1, 30])
    ]
    assert apart(trained[0][1][0], trained[1][1][0]) > 0.01


def p_stop(model, prompt):
    with torch.no_grad():
        return float(model.eval()(torch.tensor([prompt]))[0, -1].softmax(-1)[STOP])


@pytest.mark.parametrize("mask", [1, 0])
def test_stop_now_is_learned_because_the_stop_token_is_trained(model, mask):
    """Control: with the sampled end masked out, as peers have had it, the policy never learns to stop."""
    prompt, seen = [5, 6, 7], []
    for _ in range(6):
        seen.append(p_stop(model, prompt))
        stopped = episode([*prompt, STOP], [0.0, 0.0, 0.0, math.log(seen[-1])], [0, 0, 0, mask])
        run(model, [stopped] * G, advantages=torch.ones(G), lr=0.01)
    if mask:
        assert all(later > earlier for earlier, later in pairwise(seen))
        assert seen[-1] > 2 * seen[0]
    else:
        assert seen == [seen[0]] * 6


def test_the_engine_counts_the_sampled_stop_token(model):
    episodes = played(model)
    ends = [(t, e) for e in episodes for t, i in enumerate(e.ids) if i == STOP and e.mask[t]]
    assert ends and all(e.logps[t] < 0 for t, e in ends)


def test_a_step_makes_what_paid_likelier(model):
    episodes = played(model)
    A = advantages_of(episodes)
    before = reference_logps(model.eval(), episodes, CONFIG)
    run(model, episodes, replace(CONFIG, beta=0.0), lr=0.05)
    after = reference_logps(model.eval(), episodes, CONFIG)
    gain = torch.tensor([sum(a) - sum(b) for a, b in zip(after, before, strict=True)])
    assert (gain * A).sum() > 0


# --- helpers


def test_reference_logps_are_those_of_each_row_alone(model):
    episodes = played(model)
    model.eval()
    at_once, one_by_one = (reference_logps(model, episodes, c) for c in (CONFIG, ONE_BY_ONE))
    for e, a, b in zip(episodes, at_once, one_by_one, strict=True):
        assert len(a) == len(e.ids) and all(x == 0 for x, m in zip(a, e.mask, strict=True) if not m)
        assert a == pytest.approx(b, abs=1e-5) and a == pytest.approx(e.logps, abs=1e-5)


def test_padded_follows_the_batchs_rows():
    rows = [([1, 2, 3], [0, 1, 1]), ([1], [0]), ([1, 2], [0, 1])]
    (batch,) = micro_batches(rows, 100, torch.device("cpu"))
    assert batch.rows == [1, 2, 0]
    got = padded(batch, [[0.1, 0.2, 0.3], [0.4], [0.5, 0.6]])
    torch.testing.assert_close(got, torch.tensor([[0.4, 0, 0], [0.5, 0.6, 0], [0.1, 0.2, 0.3]]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"group_size": 1}, "group_size = 1 must be at least 2"),
        ({"updates": 0}, "updates = 0"),
        ({"updates": P + 1}, "within 1..prompts"),
        ({"rollout": RolloutConfig(top_k=5)}, "top_k = 0"),
        ({"rollout": RolloutConfig(top_p=0.9)}, "top_p = 1"),
        ({"rollout": RolloutConfig(temperature=0.0)}, "temperature > 0"),
    ],
)
def test_what_cannot_be_trained_is_refused(change, message):
    with pytest.raises(RlshError, match=message):
        replace(CONFIG, **change)
