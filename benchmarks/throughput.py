"""Tokens and episodes per second of each phase, beside Hugging Face `generate` with the same weights, in one run.

    python benchmarks/throughput.py [--model base] [--repeats 5]

Prints one table: medians over the repeats and the ratio to the peer. Prompt 64 tokens, 64 new ones, T = 1, no
stop token on either side; all prompts different, then in groups of 8 as a rollout has them (the peer:
`num_return_sequences`). `episodes/s` plays real held-out tasks, sandbox and verdict included.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from rlsh.engine import Engine, SamplingParams
from rlsh.env.build import build_tasks
from rlsh.env.episode import EnvConfig
from rlsh.models import Decoder
from rlsh.policy import load_policy
from rlsh.rollout.collect import PhaseClock, RolloutConfig, collect
from rlsh.sandbox.probe import open_sandbox
from rlsh.trainers.optim import OptimConfig, make_optimizer, optimizer_step
from rlsh.trainers.scoring import micro_batches, score

PROMPT, NEW = 64, 64


def hugging_face(model: Decoder) -> GPT2LMHeadModel:
    """The same weights in transformers' GPT-2 (whose Conv1D stores matrices transposed)."""
    c = model.config
    peer = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=c.vocab_size,
            n_positions=c.block_size,
            n_embd=c.n_embd,
            n_layer=c.n_layer,
            n_head=c.n_head,
            activation_function="gelu",
            eos_token_id=None,
            bos_token_id=None,
        )
    ).eval()
    names = {"wte.weight": "transformer.wte.weight", "position.table.weight": "transformer.wpe.weight"}
    state = {}
    for name, weight in model.state_dict().items():
        target = names.get(name) or "transformer." + name.replace("blocks.", "h.")
        conv1d = target.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight"))
        state[target] = weight.t() if conv1d else weight
    peer.load_state_dict(state | {"lm_head.weight": model.wte.weight})
    return peer


def median_seconds(job: Callable[[], object], repeats: int) -> float:
    job()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        job()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def decode_ours(model: Decoder, prompts: list[list[int]], group: int) -> None:
    engine = Engine(model, len(prompts) * group, SamplingParams(), [], NEW)
    engine.add_groups(prompts, [range(i * group, (i + 1) * group) for i in range(len(prompts))])
    while engine.active:
        engine.step()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="base")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    policy = load_policy(arguments.model)
    model, peer = policy.model, hugging_face(policy.model)
    ids = torch.randint(policy.tokenizer.vocab_size - 7, (64, PROMPT), generator=torch.Generator().manual_seed(0))
    difference = (peer(ids[:2]).logits - model(ids[:2])).abs().max()
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads, "
        f"torch {torch.__version__}; logits differ by {difference:.1e}"
    )

    print(f"\n{'decode':>22} {'rlsh tok/s':>12} {'HF tok/s':>12} {'ratio':>7}")
    for batch, group in ((1, 1), (8, 1), (32, 1), (64, 1), (8, 8), (32, 8), (64, 8)):
        prompts = ids[: batch // group]
        ours = median_seconds(lambda p=prompts, g=group: decode_ours(model, p.tolist(), g), arguments.repeats)
        theirs = median_seconds(
            lambda p=prompts, g=group: peer.generate(
                p,
                num_return_sequences=g,
                attention_mask=torch.ones_like(p),
                do_sample=True,
                top_k=0,
                max_new_tokens=NEW,
                min_new_tokens=NEW,
                pad_token_id=0,
            ),
            arguments.repeats,
        )
        tokens = batch * NEW
        name = f"batch {batch}" + (f" = {batch // group} x {group}" if group > 1 else "")
        print(f"{name:>22} {tokens / ours:12.0f} {tokens / theirs:12.0f} {theirs / ours:7.2f}")

    with open_sandbox() as sandbox:
        tasks, _ = build_tasks(sandbox, ["demonstrated", "reward_only"], 16, seed=7, split="held_out", workers=2)
        clock = PhaseClock()
        began = time.perf_counter()
        trajectories = collect(
            model, policy.tokenizer, tasks, sandbox, EnvConfig(), RolloutConfig(), group_size=8, seed=0, clock=clock
        )
        seconds = time.perf_counter() - began
    print(
        f"\nepisodes/s {len(trajectories) / seconds:8.1f}   (128 episodes: {clock.decode:.1f} s decoding at "
        f"{clock.sampled_tokens / clock.decode:.0f} tok/s, {clock.tools:.1f} s in the sandbox)"
    )

    optimizer = make_optimizer(model, OptimConfig(lr=0.0))
    rows = [(t.ids, t.mask) for t in trajectories]

    def update() -> None:
        for batch in micro_batches(rows, 8192, model.device):
            logp, _ = score(model, batch)
            (-logp.mean()).backward()
        optimizer_step(model, optimizer, 0.0, 1.0)

    seconds = median_seconds(update, arguments.repeats)
    print(f"update     {sum(len(t.ids) for t in trajectories) / seconds:8.0f} tok/s (prompt and observation included)")


if __name__ == "__main__":
    main()
