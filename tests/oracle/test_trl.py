"""The loss and the advantages against TRL's own code: a real `GRPOTrainer`, fed log-probs and rewards."""

from __future__ import annotations

import pytest
import torch

from rlsh.algos import clip_fraction, group_advantages, grpo_loss

EPS, EPS_HIGH, BETA = 0.2, 0.28, 0.04
EXACT = {"rtol": 1e-12, "atol": 1e-14}  # of the loss, in fp64


def make_trainer(folder, epsilon_high=None, num_generations=4, batch=24):
    """A trainer of a two-token model. What TRL switches on by default and the loss under test has not, is off."""
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    words = Tokenizer(models.WordLevel({"<pad>": 0, "<eos>": 1, "a": 2, "b": 3}, unk_token="<pad>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>")
    shape = GPT2Config(vocab_size=4, n_positions=16, n_embd=8, n_layer=1, n_head=1, bos_token_id=1, eos_token_id=1)
    GPT2LMHeadModel(shape).save_pretrained(folder / "model")
    args = GRPOConfig(
        output_dir=str(folder / "out"),
        loss_type="dapo",
        scale_rewards="group",
        beta=BETA,
        epsilon=EPS,
        epsilon_high=epsilon_high,
        use_bias_correction_kl=False,
        num_generations=num_generations,
        per_device_train_batch_size=batch,
        bf16=False,
        use_cpu=True,
        report_to=[],
    )
    trainer = GRPOTrainer(
        str(folder / "model"),
        reward_funcs=lambda completions, **columns: columns["given"],
        args=args,
        train_dataset=Dataset.from_dict({"prompt": ["a"] * batch}),
        processing_class=tokenizer,
    )
    trainer.current_gradient_accumulation_steps = 1  # otherwise set inside Trainer's loop
    trainer.model.train()
    return trainer


@pytest.fixture(scope="module")
def trainers(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield {high: make_trainer(tmp_path_factory.mktemp("trl"), high) for high in (None, EPS_HIGH)}


def trl_loss(trainer, new, old, ref, advantages, mask, denominator=None):
    """`GRPOTrainer._compute_loss`, told what the model's log-probs are."""
    ids = torch.zeros(mask.shape, dtype=torch.long)
    trainer._get_per_token_logps_and_entropies = lambda *args, **kwargs: (new, torch.zeros_like(new), None)
    return trainer._compute_loss(
        trainer.model,
        {
            "prompt_ids": ids[:, :1],
            "prompt_mask": torch.ones_like(ids[:, :1]),
            "completion_ids": ids,
            "completion_mask": torch.ones_like(ids),
            "tool_mask": mask,
            "advantages": advantages,
            "old_per_token_logps": old,
            "ref_per_token_logps": ref,
            "num_items_in_batch": mask.sum() if denominator is None else torch.tensor(denominator),
        },
    )


def random_case(B, T, seed, spread=0.5):
    g = torch.Generator().manual_seed(seed)
    new, old, ref = (
        -torch.rand(B, T, generator=g, dtype=torch.float64) * 3
        + spread * torch.randn(B, T, generator=g, dtype=torch.float64)
        for _ in range(3)
    )
    advantages = torch.randn(B, generator=g, dtype=torch.float64)
    mask = (torch.rand(B, T, generator=g) < 0.6).long()
    mask[0, 0] = 1  # at least one token counts
    return new.requires_grad_(), old, ref, advantages, mask


def ragged(case):
    new, old, ref, advantages, mask = case
    lengths = torch.arange(1, len(mask) + 1)
    return new, old, ref, advantages, (torch.arange(mask.shape[1]) < lengths[:, None]).long()


def all_equal_groups(case):
    return *case[:3], torch.zeros_like(case[3]), case[4]


def one_row_masked(case):
    mask = case[4].clone()
    mask[-1] = 0
    return *case[:4], mask


CASES = {
    "random": lambda: random_case(6, 9, 0),
    "T == B": lambda: random_case(7, 7, 1),
    "T == 1": lambda: random_case(5, 1, 2),
    "B == 1": lambda: random_case(1, 8, 3),
    "1 x 1": lambda: random_case(1, 1, 4),
    "ragged": lambda: ragged(random_case(8, 8, 5)),
    "all-equal groups": lambda: all_equal_groups(random_case(4, 6, 6)),
    "one row masked": lambda: one_row_masked(random_case(4, 6, 7)),
    "far outside the clip range": lambda: random_case(16, 16, 8, spread=4.0),
}


@pytest.mark.parametrize("eps_high", [None, EPS_HIGH])
@pytest.mark.parametrize("name", CASES)
def test_loss_and_gradient(trainers, name, eps_high):
    new, old, ref, advantages, mask = CASES[name]()
    ours = grpo_loss(new, old, ref, advantages, mask, EPS, BETA, eps_high=eps_high)
    theirs = trl_loss(trainers[eps_high], new, old, ref, advantages, mask)
    (our_gradient,), (their_gradient,) = (torch.autograd.grad(loss, new) for loss in (ours, theirs))
    torch.testing.assert_close(ours, theirs, **EXACT)
    torch.testing.assert_close(our_gradient, their_gradient, rtol=1e-11, atol=1e-14)
    assert our_gradient.abs().sum() > 0  # at A = 0 the KL term still pulls


def sequence_mean(new, old, ref, advantages, mask):
    """Each row divided by its own tokens (GRPO's eq. 3 as printed), then the mean over rows."""
    rows = [x.split(1) for x in (new, old, ref, advantages, mask)]
    return sum(grpo_loss(*row, EPS, BETA, eps_high=EPS_HIGH) for row in zip(*rows, strict=True)) / len(mask)


SLIPS = {
    "no KL": lambda *case: grpo_loss(*case, EPS, 0.0, eps_high=EPS_HIGH),
    "KL to the sampler": lambda n, o, r, *case: grpo_loss(n, o, o, *case, EPS, BETA, eps_high=EPS_HIGH),
    "one clip range": lambda *case: grpo_loss(*case, EPS, BETA),
    "observations trained on": lambda *case: grpo_loss(
        *case[:4], torch.ones_like(case[4]), EPS, BETA, eps_high=EPS_HIGH
    ),
    "sequence mean": sequence_mean,
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_far_outside_the_tolerance(trainers, name):
    """Controls of the comparison above: each differs from TRL, loss and gradient, by more than a thousandth."""
    case = ragged(random_case(8, 8, 11))
    theirs = trl_loss(trainers[EPS_HIGH], *case)
    torch.testing.assert_close(grpo_loss(*case, EPS, BETA, eps_high=EPS_HIGH), theirs, **EXACT)
    slip = SLIPS[name](*case)
    assert (slip - theirs).abs() > 1e-3 * theirs.abs()
    (wrong,), (right,) = (torch.autograd.grad(loss, case[0]) for loss in (slip, theirs))
    assert (wrong - right).norm() > 1e-3 * right.norm()


def test_far_ratios_lie_on_every_side():
    """The case above is worth its name: both signs of A, each above and below the clip range."""
    new, old, _, advantages, mask = CASES["far outside the clip range"]()
    ratio, on, A = (new - old).exp(), mask.bool(), advantages[:, None].expand_as(new)
    for sign in (A > 0, A < 0):
        assert (sign & on & (ratio > 1.5)).any() and (sign & on & (ratio < 0.5)).any()


@pytest.mark.parametrize("eps_high", [None, EPS_HIGH])
def test_clip_fraction(trainers, eps_high):
    new, old, ref, advantages, mask = random_case(16, 16, 9)
    trainer = trainers[eps_high]
    trl_loss(trainer, new, old, ref, advantages, mask)
    (*_, theirs) = trainer._metrics["train"]["clip_ratio/region_mean"]
    ours = clip_fraction(new, old, advantages, mask, EPS, eps_high or EPS) / mask.sum()
    assert float(ours) == pytest.approx(theirs, abs=1e-6) and theirs > 0.05


def test_denominator_of_the_whole_batch(trainers):
    new, old, ref, advantages, mask = ragged(random_case(8, 8, 10))
    total = int(mask.sum())
    for rows in (slice(0, 3), slice(3, 8)):
        part = [x[rows] for x in (new, old, ref, advantages, mask)]
        torch.testing.assert_close(
            grpo_loss(*part, EPS, BETA, denominator=total),
            trl_loss(trainers[None], *part, denominator=total),
            rtol=1e-12,
            atol=0,
        )


def trl_advantages(trainer, rewards):
    """`GRPOTrainer._generate_and_score_completions` with the generation replaced; None marks an unscorable row."""
    n = len(rewards)
    vars(trainer).pop("_get_per_token_logps_and_entropies", None)  # the real one, for the reference's log-probs
    trainer._generate = lambda prompts: ([[2]] * n, [[3, 1]] * n, None, ["b"] * n, None, {}, None, [])
    out = trainer._generate_and_score_completions([{"prompt": "a", "given": r} for r in rewards])
    return out["advantages"]


def test_advantages(trainers):
    rewards = [
        *[1.0, 0.0, 0.0, 0.0],
        *[1.0, 1.0, 1.0, 0.0],
        *[0.0, 0.0, 0.0, 0.0],
        *[1.0, 1.0, 1.0, 1.0],
        *[-3.0, 0.5, 100.0, 2.0],
        *[0.25, 0.5, 0.75, 1.0],
    ]
    ours = group_advantages(torch.tensor(rewards), 4)
    torch.testing.assert_close(ours, trl_advantages(trainers[None], rewards), rtol=1e-6, atol=1e-7)
    assert torch.allclose(ours[:4], torch.tensor([1.4997, -0.4999, -0.4999, -0.4999]), atol=1e-4)


def test_rows_without_a_verdict(trainers):
    """TRL's unscorable rows are our rows of a failed environment: no advantage, and out of the baseline."""
    rewards = [
        *[1.0, None, 0.0, 0.0],
        *[None, None, 1.0, 0.0],
        *[None, None, None, 1.0],
        *[None, None, None, None],
        *[1.0, 1.0, None, 1.0],
        *[0.0, 1.0, 0.0, 1.0],
    ]
    valid = torch.tensor([r is not None for r in rewards])
    given = torch.tensor([torch.nan if r is None else r for r in rewards])
    ours = group_advantages(given, 4, valid=valid)
    torch.testing.assert_close(ours, trl_advantages(trainers[None], rewards), rtol=1e-6, atol=1e-7)
    # control: scoring a dead sandbox 0 moves the siblings
    scored_zero = group_advantages(torch.nan_to_num(given), 4)
    assert (scored_zero - ours)[valid].abs().max() > 0.1


def test_a_group_of_one_is_refused_by_both(tmp_path):
    with pytest.raises(ValueError, match="minimum"):
        make_trainer(tmp_path, num_generations=1)
    with pytest.raises(ValueError, match="at least 2"):
        group_advantages(torch.tensor([1.0, 0.0]), 1)
