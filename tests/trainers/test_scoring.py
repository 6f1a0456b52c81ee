"""Rows -> micro-batches -> log-probs, against one row at a time and the full log_softmax."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rlsh.models import Decoder, ModelConfig
from rlsh.trainers import scoring
from rlsh.trainers.scoring import micro_batches, score

CPU = torch.device("cpu")
CONFIG = ModelConfig(vocab_size=40, block_size=32, n_layer=2, n_head=2, n_embd=16, valid_vocab=33)


@pytest.fixture(scope="module")
def model():
    made = Decoder(CONFIG, torch.Generator().manual_seed(0)).eval()
    with torch.no_grad():
        for p in made.parameters():
            p.mul_(4.0)
    return made


def rows(lengths=(9, 2, 17, 5, 30, 5, 1, 12), seed=0):
    g = torch.Generator().manual_seed(seed)
    return [
        (torch.randint(33, (n,), generator=g).tolist(), torch.randint(2, (n,), generator=g).tolist()) for n in lengths
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 20), max_size=12), st.integers(1, 64))
def test_every_row_once_within_the_budget(lengths, budget):
    given_rows = rows(lengths)
    batches = micro_batches(given_rows, budget, CPU)
    assert sorted(i for batch in batches for i in batch.rows) == list(range(len(lengths)))
    for batch in batches:
        assert batch.ids.shape == batch.mask.shape and batch.mask.dtype == torch.bool
        assert batch.ids.numel() <= budget or len(batch.rows) == 1
        assert batch.ids.shape[1] == max(lengths[i] for i in batch.rows)  # no padding beyond the longest
        for b, i in enumerate(batch.rows):
            ids, sampled = given_rows[i]
            assert batch.ids[b, : len(ids)].tolist() == ids
            assert batch.mask[b].int().tolist() == [0, *sampled[1:], *[0] * (batch.ids.shape[1] - len(ids))]
        assert batch.tokens == sum(sum(given_rows[i][1][1:]) for i in batch.rows)


def test_rows_of_one_length_fill_the_budget():
    assert [len(b.rows) for b in micro_batches(rows([4] * 7), 12, CPU)] == [3, 3, 1]


def test_the_order_of_equal_rows_is_theirs():
    """Batches depend on tokens only, so that a seed fixes every bit."""
    assert [b.rows for b in micro_batches(rows([3, 5, 3, 5, 3]), 9, CPU)] == [[0, 2, 4], [1], [3]]


def by_hand(model, ids, temperature):
    """Log-prob of every token but the first and the entropy behind it, from the full logits of the row alone."""
    logp = (model(torch.tensor([ids]))[0].double() / temperature).log_softmax(-1)[:-1]
    return logp.gather(1, torch.tensor(ids[1:])[:, None])[:, 0], -(logp.exp() * logp).sum(-1)


@pytest.mark.parametrize("temperature", [1.0, 0.6])
@pytest.mark.parametrize("budget", [1, 40, 10_000])
def test_scores_equal_each_row_alone(model, budget, temperature):
    given_rows = rows()
    for batch in micro_batches(given_rows, budget, CPU):
        logp, entropy = score(model, batch, temperature)
        assert logp.shape == entropy.shape == batch.ids.shape
        assert (logp[~batch.mask] == 0).all() and (entropy[~batch.mask] == 0).all()
        for b, i in enumerate(batch.rows):
            ids, sampled = given_rows[i]
            exact_logp, exact_entropy = by_hand(model, ids, temperature)
            on = torch.tensor(sampled[1:], dtype=torch.bool)
            got_logp, got_entropy = logp[b, 1 : len(ids)], entropy[b, 1 : len(ids)]
            torch.testing.assert_close(got_logp[on], exact_logp[on].float(), rtol=0, atol=1e-5)
            torch.testing.assert_close(got_entropy[on], exact_entropy[on].float(), rtol=0, atol=1e-5)


def test_padding_of_the_vocabulary_is_outside_the_distribution(model):
    """33 of 40 ids may be sampled: their probabilities sum to 1."""
    prompt = [5, 6, 7]
    (batch,) = micro_batches([([*prompt, v], [0, 0, 0, 1]) for v in range(33)], 10_000, CPU)
    assert float(score(model, batch)[0][:, 3].exp().sum()) == pytest.approx(1.0, abs=1e-5)


def test_what_padding_holds_does_not_matter(model):
    batches = micro_batches(rows(), 10_000, CPU)
    before = score(model, batches[0])[0]
    for b, i in enumerate(batches[0].rows):
        batches[0].ids[b, len(rows()[i][0]) :] = 31
    assert (score(model, batches[0])[0] - before).abs().max() <= 1e-6


def test_the_head_runs_on_counted_tokens_only(model, monkeypatch):
    seen = []
    real = scoring.token_logprobs

    def spy(hidden, head, targets, **kwargs):
        seen.append((len(hidden), len(head)))
        return real(hidden, head, targets, **kwargs)

    monkeypatch.setattr(scoring, "token_logprobs", spy)
    (batch,) = micro_batches(rows(), 10_000, CPU)
    score(model, batch)
    assert seen == [(batch.tokens, 33)] and batch.tokens < batch.ids.numel() / 2


def test_gradients_reach_the_weights_and_entropy_has_none(model):
    (batch,) = micro_batches(rows(), 10_000, CPU)
    logp, entropy = score(model, batch)
    assert logp.requires_grad and not entropy.requires_grad


def test_a_batch_without_counted_tokens(model):
    (batch,) = micro_batches([([1, 2, 3], [0, 0, 0]), ([4], [1])], 10_000, CPU)
    logp, entropy = score(model, batch)
    assert batch.tokens == 0 and (logp == 0).all() and (entropy == 0).all()
    logp.sum().backward()
