"""The engine against the full forward pass, and against itself in other company."""

import numpy as np
import pytest
import torch

from rlsh.algos import token_logprobs
from rlsh.engine import Engine, SamplingParams
from rlsh.engine.cache import KVCache
from rlsh.engine.sampler import sample, support, uniforms
from rlsh.models import Decoder, ModelConfig
from rlsh.models.attention import mask_from_positions
from rlsh.types import RlshError

STOP = 3
CONFIG = ModelConfig(vocab_size=40, block_size=48, n_layer=3, n_head=2, n_embd=16, valid_vocab=33)


@pytest.fixture
def model():
    made = Decoder(CONFIG, torch.Generator().manual_seed(0)).eval().requires_grad_(False)
    for p in made.parameters():
        p.mul_(4.0)  # far from uniform, so that a wrong mask or position shows
    return made


def rescored(model, row, temperature=1.0):
    """Log-probs of the row's sampled tokens by one full forward pass."""
    ids = torch.tensor([row.ids])
    hidden = model.hidden(ids[:, :-1])[0]
    logp, _ = token_logprobs(hidden, model.head_weight, ids[0, 1:], temperature=temperature)
    at = [t for t, m in enumerate(row.mask) if m]
    return torch.tensor([logp[t - 1] for t in at]), torch.tensor([row.logps[t] for t in at])


def play(model, prompts, *, params=None, slots=8, group=2, turns=3, forced=(7, 8, 9), turn_tokens=6):
    """All prompts at once, each row `turns` turns with a ragged observation between."""
    engine = Engine(model, slots, params or SamplingParams(), [STOP], turn_tokens)
    groups = engine.add_groups(prompts, [[100 * i + g for g in range(group)] for i in range(len(prompts))])
    rows = [row for rows in groups for row in rows]
    for turn in range(turns):
        ended = []
        while engine.active:
            ended += engine.step()
        if turn + 1 < turns:
            for row in sorted(ended, key=lambda r: r.key):
                engine.resume(row, list(forced[: 1 + row.key % len(forced)]))
    return engine, rows


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_sampled_logps_equal_the_full_forward(model, temperature):
    _, rows = play(model, [[1, 2, 5], [4, 6, 10, 11, 12, 13], [20]], params=SamplingParams(temperature))
    for row in rows:
        full, sampled = rescored(model, row, temperature)
        assert (full - sampled).abs().max() < 1e-4
        assert max(row.ids) < CONFIG.valid_vocab  # padding of the vocabulary is never sampled
    # control: forgetting the temperature in the scorer is seen
    if temperature != 1.0:
        full, sampled = rescored(model, rows[0], 1.0)
        assert (full - sampled).abs().max() > 1e-2


@pytest.mark.parametrize("chunk", [1, 3, 7])
def test_cached_chunks_equal_the_full_forward(model, chunk):
    ids = torch.randint(0, 33, (2, 21), generator=torch.Generator().manual_seed(1))
    full = model.hidden(ids)

    def in_chunks(masked):
        cache = KVCache(CONFIG.n_layer, 2, 30, model.cache_shape, torch.float32, torch.device("cpu"))
        out = []
        for start in range(0, 21, chunk):
            part = ids[:, start : start + chunk]
            keys = start + part.shape[1]
            positions = torch.arange(start, keys).expand(2, -1)
            mask = mask_from_positions(positions, keys, torch.float32) if masked else None
            caches = cache.span(0, 2, positions, keys)
            out.append(model.hidden(part, positions=positions, mask=mask, caches=caches))
        return torch.cat(out, 1)

    assert (in_chunks(masked=True) - full).abs().max() < 1e-5
    # control: SDPA's own causal mask aligns a short query with the first keys
    assert (in_chunks(masked=False) - full).abs().max() > 1e-2


def test_a_row_does_not_depend_on_its_company(model):
    prompts = [[1, 2, 5], [4, 6, 10, 11, 12, 13], [20], [30, 31]]
    _, together = play(model, prompts)
    for i, prompt in enumerate(prompts):
        engine = Engine(model, 2, SamplingParams(), [STOP], 6)
        alone = engine.add_groups([prompt], [[100 * i, 100 * i + 1]])[0]
        for turn in range(3):
            while engine.active:
                engine.step()
            if turn < 2:
                for row in alone:
                    engine.resume(row, [7, 8, 9][: 1 + row.key % 3])
        for a, b in zip(alone, together[2 * i : 2 * i + 2], strict=True):
            assert a.ids == b.ids
            assert np.allclose(a.logps, b.logps, atol=1e-5)


def test_group_fork_equals_independent_prefills(model):
    _, forked = play(model, [[1, 2, 5, 6]], group=4)
    for row in forked:
        engine = Engine(model, 1, SamplingParams(), [STOP], 6)
        (single,) = engine.add_groups([[1, 2, 5, 6]], [[row.key]])[0]
        while engine.active:
            engine.step()
        assert row.ids[: len(single.ids)] == single.ids


@pytest.fixture
def passes(model, monkeypatch):
    """The (rows, tokens) of every call of `model.hidden` so far."""
    seen, real = [], model.hidden

    def hidden(ids, **more):
        seen.append(tuple(ids.shape))
        return real(ids, **more)

    monkeypatch.setattr(model, "hidden", hidden)
    return seen


def test_a_groups_prompt_is_computed_once_and_all_prompts_in_one_call(model, passes):
    """All but the prompt's last token, which is each row's own to decode from."""
    prompts, keys = [[1, 2, 5, 6, 8], [4, 6, 10, 11, 12, 13, 14, 15, 16]], [[0, 1, 2, 3], [10, 11, 12, 13]]
    engine = Engine(model, 8, SamplingParams(), [STOP], 6)
    together = engine.add_groups(prompts, keys)
    assert passes == [(2, 8)]
    engine.step()
    assert passes == [(2, 8), (8, 1)]
    # control: a row a prompt computes four times as much, a group a call twice as often
    passes.clear()
    by_rows = Engine(model, 8, SamplingParams(), [STOP], 6)
    by_rows.add_groups([prompt for prompt in prompts for _ in range(4)], [[key] for group in keys for key in group])
    assert passes == [(8, 8)]
    passes.clear()
    by_groups = Engine(model, 8, SamplingParams(), [STOP], 6)
    apart = [by_groups.add_groups([prompt], [group])[0] for prompt, group in zip(prompts, keys, strict=True)]
    assert passes == [(1, 4), (1, 8)]
    by_groups.step()
    assert [[row.ids for row in rows] for rows in apart] == [[row.ids for row in rows] for rows in together]


def test_slots_are_reused_and_exhausted_loudly(model):
    engine, rows = play(model, [[1, 2], [3, 4], [5], [6]], slots=8)
    with pytest.raises(RlshError, match="0 slots free"):
        engine.add_groups([[1]], [[9]])
    for row in rows:
        engine.release(row)
    assert engine.free == 8
    (again,) = engine.add_groups([[4, 6, 10]], [[77]])[0]
    while engine.active:
        engine.step()
    full, sampled = rescored(model, again)
    assert (full - sampled).abs().max() < 1e-4


def test_greedy_takes_the_likeliest_token(model):
    _, rows = play(model, [[1, 2, 5], [9] * 7], params=SamplingParams(temperature=0.0))
    for row in rows:
        logits = model(torch.tensor([row.ids]))[0]
        for t, sampled in enumerate(row.mask):
            assert not sampled or row.ids[t] == int(logits[t - 1].argmax())
            assert row.logps[t] == 0.0


def test_a_full_context_ends_the_turn(model):
    engine = Engine(model, 1, SamplingParams(), [], turn_tokens=1000)
    (row,) = engine.add_groups([[1, 2, 5]], [[1]])[0]
    while engine.active:
        engine.step()
    assert row.stop == "context" and len(row.ids) == CONFIG.block_size
    assert not engine.resume(row, [1])


def test_sampling_follows_the_distribution():
    """Chi-square of 60,000 draws; the control draws from the wrong temperature."""
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0, -30.0])
    u = torch.from_numpy(uniforms(np.arange(60_000, dtype=np.uint64), np.full(60_000, 5, dtype=np.uint64)))

    def chi_square(temperature):
        ids, logp = sample(logits.expand(60_000, -1), SamplingParams(temperature), u)
        expected = logits.softmax(-1)[:4] * 60_000
        assert temperature != 1.0 or torch.allclose(logp, logits.log_softmax(-1)[ids])
        return float(((torch.bincount(ids, minlength=5)[:4] - expected).square() / expected).sum())

    assert chi_square(1.0) < 16.3  # 3 degrees of freedom, p = 0.001
    assert chi_square(1.1) > 100


def test_uniforms_are_uniform_over_keys_and_over_counters():
    n = 50_000
    for keys, counters in ((np.arange(n), np.zeros(n)), (np.full(n, 12345), np.arange(n))):
        u = uniforms(keys.astype(np.uint64), counters.astype(np.uint64))
        counts = np.bincount((u * 20).astype(int), minlength=20)
        assert ((counts - n / 20) ** 2 / (n / 20)).sum() < 43.8  # 19 degrees of freedom, p = 0.001
        assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 0.02


def test_support_is_the_nucleus_renormalised():
    logp = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
    assert torch.allclose(support(logp, SamplingParams(top_p=0.7)).exp(), torch.tensor([[0.625, 0.375, 0, 0]]))
    assert torch.allclose(support(logp, SamplingParams(top_k=1)).exp(), torch.tensor([[1.0, 0, 0, 0]]))


def truncated(probabilities, k, p):
    """The slow way, one row: the k likeliest, of their mass the fewest that reach p, renormalised. {id: p}"""
    best = sorted(range(len(probabilities)), key=lambda i: -probabilities[i])[: k or None]
    mass, kept = sum(probabilities[i] for i in best), []
    while best and sum(probabilities[i] for i in kept) < p * mass:
        kept.append(best.pop(0))
    return {i: probabilities[i] / sum(probabilities[j] for j in kept) for i in kept}


@pytest.mark.parametrize(
    "params",
    [SamplingParams(top_k=3), SamplingParams(top_p=0.6), SamplingParams(0.7, top_p=0.9), SamplingParams(1.3, 5, 0.8)],
)
def test_truncated_sampling_stays_in_its_support_and_says_its_log_prob(params):
    rows, draws = 7, 400
    logits = torch.randn(rows, 12, generator=torch.Generator().manual_seed(0))
    u = torch.from_numpy(uniforms(np.arange(rows * draws, dtype=np.uint64), np.zeros(rows * draws, dtype=np.uint64)))

    def sampled(params):
        ids, logps = sample(logits.repeat_interleave(draws, 0), params, u)
        return ids.view(rows, draws), logps.view(rows, draws)

    ids, logps = sampled(params)
    full, full_logps = sampled(SamplingParams(params.temperature))
    for row in range(rows):
        probabilities = (logits[row].double() / params.temperature).softmax(-1).tolist()
        expected = truncated(probabilities, params.top_k, params.top_p)
        assert 1 <= len(expected) < 12
        assert set(ids[row].tolist()) <= expected.keys()
        wanted = torch.tensor([expected[i] for i in ids[row].tolist()]).log()
        assert (logps[row] - wanted).abs().max() < 1e-5
        # control: the full distribution leaves the support, and gives what is in it another log-prob
        assert not set(full[row].tolist()) <= expected.keys()
        inside = torch.tensor([i in expected for i in full[row].tolist()])
        unchanged = torch.tensor([expected[i] for i in full[row][inside].tolist()]).log()
        assert (full_logps[row][inside] - unchanged).abs().min() > 1e-3


def test_impossible_sampling_is_refused():
    with pytest.raises(RlshError, match="top_p = 0"):
        SamplingParams(top_p=0.0)
