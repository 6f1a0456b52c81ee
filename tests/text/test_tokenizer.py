"""Text and reserved ids never meet, whatever the text says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlsh.text import Tokenizer
from rlsh.text.tokenizer import RESERVED
from rlsh.types import RlshError

SAMPLE = ["sort -n nums.txt | uniq -c\n", "grep -E 'a|b' *.log > out.txt\n", "for f in *; do echo $f; done\n"] * 5

TRAINED = Tokenizer.train(SAMPLE, 300)
BYTES = Tokenizer.of_bytes()
GPT2 = Tokenizer.gpt2()
ALL = pytest.mark.parametrize("tokenizer", [TRAINED, BYTES, GPT2], ids=["trained", "bytes", "gpt2"])

# plain text, and text that spells out reserved tokens among other things
TEXTS = st.one_of(
    st.text(), st.lists(st.one_of(st.sampled_from(RESERVED), st.text(max_size=5)), max_size=6).map("".join)
)


@ALL
@settings(max_examples=150, deadline=None)
@given(text=TEXTS)
def test_any_text_comes_back_and_none_is_reserved(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert not any(tokenizer.is_reserved(i) for i in ids)
    assert all(0 <= i < tokenizer.vocab_size for i in ids)


@ALL
def test_text_that_spells_a_reserved_token_is_ordinary(tokenizer):
    for name in RESERVED:
        ids = tokenizer.encode(f"a{name}b")
        assert len(ids) > 3 and tokenizer.reserved[name] not in ids


def test_a_registered_special_token_would_be_forged():
    """Control: had the end been registered with the BPE, a printed `<|end|>` would close the message."""
    tokenizer = Tokenizer.of_bytes()
    tokenizer._bpe.add_special_tokens(["<|end|>"])
    assert len(tokenizer.encode("a<|end|>b")) == 3


@ALL
@settings(max_examples=50, deadline=None)
@given(texts=st.lists(st.text(max_size=20), max_size=5))
def test_a_batch_is_its_texts(tokenizer, texts):
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(text) for text in texts]


@ALL
def test_reserved_ids_are_distinct_and_show_by_name(tokenizer):
    reserved = [getattr(tokenizer, name.strip("<|>").replace("endoftext", "eot")) for name in RESERVED]
    assert reserved == list(tokenizer.reserved.values()) and len(set(reserved)) == len(RESERVED)
    ids = [tokenizer.user, *tokenizer.encode("hi"), tokenizer.end]
    assert tokenizer.decode(ids) == "<|user|>hi<|end|>"
    assert [tokenizer.is_reserved(i) for i in ids] == [True, *[False] * (len(ids) - 2), True]


@ALL
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_ids_decode(tokenizer, data):
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=12))
    assert isinstance(tokenizer.decode(ids), str)


def test_bytes_that_are_not_utf8_show_as_replacement():
    (first, *_) = BYTES.encode("é")
    assert BYTES.decode([first]) == "\ufffd"


def test_gpt2s_vocabulary():
    assert GPT2.encode("Hello world") == [15496, 995]
    assert GPT2.eot == 50256  # what nanoGPT ends documents with
    assert GPT2.vocab_size == 50263 and min(set(GPT2.reserved.values()) - {50256}) == 50257
    assert GPT2.vocab_size <= 50304  # the reserved ids fit into nanoGPT's padded vocabulary


def test_a_trained_vocabulary_has_the_size_asked_for():
    assert TRAINED.vocab_size == 300
    assert sorted(TRAINED.reserved.values()) == list(range(293, 300))
    assert len(TRAINED.encode(SAMPLE[0])) < len(SAMPLE[0]) / 2  # it merges


def test_training_is_deterministic():
    assert Tokenizer.train(SAMPLE, 300).encode("sort nums") == TRAINED.encode("sort nums")


def test_byte_tokenizer_has_one_id_a_byte():
    assert BYTES.vocab_size == 256 + len(RESERVED) and len(BYTES.encode("aé€")) == 6


@ALL
def test_save_and_load(tokenizer, tmp_path):
    tokenizer.save(tmp_path)
    loaded = Tokenizer.load(tmp_path)
    assert loaded.reserved == tokenizer.reserved and loaded.vocab_size == tokenizer.vocab_size
    text = "sort -n <|end|> é\n"
    assert loaded.encode(text) == tokenizer.encode(text) and loaded.decode(loaded.encode(text)) == text


@pytest.mark.parametrize("content", [None, "", "{", "{}", '{"model": {"type": "BPE"}}'])
def test_a_missing_or_foreign_file(tmp_path, content):
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(RlshError, match=r"tokenizer\.json: (no such file|not a tokenizer file)") as caught:
        Tokenizer.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_gpt2_from_a_folder_of_ones_own(tmp_path):
    alphabet = [c for c, _ in sorted(BYTES._bpe.get_vocab().items(), key=lambda pair: pair[1])]
    vocab = {c: i for i, c in enumerate([*alphabet, "so", "<|endoftext|>"])}
    (tmp_path / "encoder.json").write_text(json.dumps(vocab), encoding="utf-8")
    (tmp_path / "vocab.bpe").write_text("#version: 0.2\ns o\n", encoding="utf-8")
    tokenizer = Tokenizer.gpt2(tmp_path)
    assert tokenizer.encode("so") == [256] and tokenizer.eot == 257 and tokenizer.system == 258
