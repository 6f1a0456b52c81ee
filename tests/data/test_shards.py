"""Token shards: written, read in both formats, sampled from one generator only."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from rlsh.data.shards import fixed_rows, open_shard, sample_rows, write_shards
from rlsh.text import Tokenizer
from rlsh.types import RlshError

IDS = np.arange(1000, 1200, dtype=np.uint16)


@pytest.fixture
def shard(tmp_path):
    IDS.tofile(tmp_path / "train.bin")
    return open_shard(tmp_path / "train.bin")


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_bin_and_npy_hold_the_same_ids(tmp_path):
    IDS.tofile(tmp_path / "a.bin")
    np.save(tmp_path / "b.npy", IDS)
    np.save(tmp_path / "c", IDS)
    (tmp_path / "c.npy").rename(tmp_path / "c.bin")  # the header decides, not the name
    for name in ("a.bin", "b.npy", "c.bin"):
        assert np.array_equal(open_shard(tmp_path / name), IDS), name
    # control: the header read as tokens
    assert len(np.fromfile(tmp_path / "b.npy", dtype=np.uint16)) > len(IDS)


def npy_of(array):
    return lambda path: np.save(path.open("wb"), array)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda path: None, "no such shard; make it with: rlsh data"),
        (lambda path: path.write_bytes(b""), "not a token shard"),
        (lambda path: path.write_bytes(b"abc"), "not a token shard"),  # an odd number of bytes
        (lambda path: path.write_bytes(b"\x93NUMPY"), "not a token shard"),
        (lambda path: path.mkdir(), "not a token shard"),
        (npy_of(IDS.reshape(2, 100)), r"shape \(2, 100\) of uint16; expected a flat array of uint16"),
        (npy_of(IDS.astype(np.int64)), r"shape \(200,\) of int64"),
        (npy_of(np.array([{}])), "not a token shard"),  # pickled objects are never loaded
    ],
)
def test_foreign_files(tmp_path, write, message):
    path = tmp_path / "train.bin"
    write(path)
    with pytest.raises(RlshError, match=message) as caught:
        open_shard(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_truncated_npy(tmp_path):
    np.save(tmp_path / "a.npy", IDS)
    whole = (tmp_path / "a.npy").read_bytes()
    for keep in (8, 20, len(whole) - 3):
        (tmp_path / "a.npy").write_bytes(whole[:keep])
        with pytest.raises(RlshError, match="not a token shard"):
            open_shard(tmp_path / "a.npy")


def test_rows_are_consecutive_ids(shard):
    rows = sample_rows(shard, 50, 9, generator())
    assert rows.shape == (50, 9) and rows.dtype == torch.int64
    assert (rows.diff(dim=1) == 1).all()  # the shard counts upwards
    assert len(set(rows[:, 0].tolist())) > 20


def test_every_offset_can_be_drawn(shard):
    starts = sample_rows(shard, 3000, 197, generator())[:, 0] - 1000
    assert set(starts.tolist()) == {0, 1, 2, 3}


def test_the_generator_alone_decides(shard):
    torch.manual_seed(1)
    one = sample_rows(shard, 20, 5, generator())
    torch.manual_seed(2)
    assert torch.equal(one, sample_rows(shard, 20, 5, generator()))
    assert not torch.equal(one, sample_rows(shard, 20, 5, generator(1)))
    state = torch.get_rng_state()
    g = generator()
    sample_rows(shard, 20, 5, g)
    assert torch.equal(state, torch.get_rng_state())
    # saved and restored in the middle, it goes on with the same batches
    saved = g.get_state()
    after = sample_rows(shard, 20, 5, g)
    g.set_state(saved)
    assert torch.equal(after, sample_rows(shard, 20, 5, g))


def test_evaluation_rows_touch_no_generator(shard):
    state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()
    rows = fixed_rows(shard, 5, 10)
    assert torch.equal(state, torch.get_rng_state()) and (numpy_state == np.random.get_state()[1]).all()
    assert torch.equal(rows, fixed_rows(shard, 5, 10))
    assert rows[0, 0] == 1000 and rows[-1, -1] == 1199  # from the first id to the last
    assert (rows.diff(dim=1) == 1).all() and rows[:, 0].diff().unique().numel() <= 2


def test_a_shard_shorter_than_a_row(shard):
    assert sample_rows(shard, 2, 200, generator()).shape == fixed_rows(shard, 2, 200).shape == (2, 200)
    for take in (lambda: sample_rows(shard, 2, 201, generator()), lambda: fixed_rows(shard, 1, 201)):
        with pytest.raises(RlshError, match="200 tokens holds no row of 201"):
            take()


def test_documents_are_split_and_ended(tmp_path):
    tokenizer = Tokenizer.of_bytes()
    documents = [f"doc {i}" for i in range(120)]
    manifest = write_shards(tmp_path / "out", tokenizer, tokenizer.encode_batch(documents), {"source": "test"})
    texts = {}
    for name in ("train", "val"):
        ids = open_shard(tmp_path / "out" / f"{name}.bin")
        assert manifest["tokens"][name] == len(ids) and ids[-1] == tokenizer.eot
        texts[name] = tokenizer.decode(ids.tolist()).split("<|endoftext|>")[:-1]
    assert texts["val"] == ["doc 0", "doc 50", "doc 100"]
    assert texts["train"] == [d for d in documents if d not in texts["val"]]
    assert manifest["documents"] == 120 and manifest["source"] == "test"
    assert json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8")) == manifest
    assert Tokenizer.load(tmp_path / "out").reserved == tokenizer.reserved


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(RlshError, match="1 documents are too few"):
        write_shards(tmp_path / "out", Tokenizer.of_bytes(), [[1]], {})
    (tmp_path / "file").write_text("")
    with pytest.raises(RlshError, match="cannot write shards"):
        write_shards(tmp_path / "file" / "out", Tokenizer.of_bytes(), [[1], [2]], {})


def test_a_vocabulary_beyond_16_bits(tmp_path):
    class Large(Tokenizer):
        vocab_size = 2**16 + 1

    with pytest.raises(RlshError, match="65537 ids does not fit uint16"):
        write_shards(tmp_path, Large(Tokenizer.of_bytes()._bpe), [[1], [2]], {})
