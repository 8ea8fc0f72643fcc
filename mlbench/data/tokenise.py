"""WordPiece vocabularies and the tokeniser made from them."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from mlbench.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PAD, UNKNOWN, CLS, SEP, MASK = SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

_MAX_CHARS_PER_WORD = 200  # The BERT reference; the library's default is 100.
_SHIPPED = files("mlbench.data") / "vocabularies"


@dataclass(frozen=True)
class Vocabulary:
    """A WordPiece vocabulary: the id of a token is its line number, from 0."""

    name: str
    tokens: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Token to id."""
        return {token: index for index, token in enumerate(self.tokens)}

    @cached_property
    def sha256(self) -> str:
        """Digest of the tokens, one a line."""
        return hashlib.sha256("".join(f"{token}\n" for token in self.tokens).encode()).hexdigest()

    def tokenise(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each sentence, without special tokens."""
        encodings = self._tokenizer.encode_batch_fast(list(sentences), add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import models

        return _untrained(
            models.WordPiece(
                self.ids, unk_token=UNKNOWN, max_input_chars_per_word=_MAX_CHARS_PER_WORD
            )
        )


def load_vocabulary(name_or_file: str) -> Vocabulary:
    """Return a vocabulary that ships with mlbench, or the one of a file.

    Raises:
        DataError: no such name or file, a token twice, or a special token missing.
    """
    shipped = {item.name.removesuffix(".txt"): item for item in _SHIPPED.iterdir()}
    if name_or_file in shipped:
        text = shipped[name_or_file].read_text("utf-8")
    elif Path(name_or_file).is_file():
        text = Path(name_or_file).read_text("utf-8")
    else:
        raise DataError(
            f"vocabulary {name_or_file!r} is neither a file nor one of "
            f"{', '.join(sorted(shipped))}{did_you_mean(name_or_file, shipped)}"
        )
    tokens = tuple(text.removesuffix("\n").split("\n"))
    _check_tokens(name_or_file, tokens)
    return Vocabulary(name_or_file, tokens)


def _check_tokens(name: str, tokens: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for line, token in enumerate(tokens, start=1):
        if not token.strip():
            raise DataError(f"vocabulary {name}:{line}: empty line; remove it")
        if token in seen:
            raise DataError(f"vocabulary {name}:{line}: {token!r} stands in line {seen[token]} too")
        seen[token] = line
    missing = [token for token in SPECIAL_TOKENS if token not in seen]
    if missing:
        raise DataError(f"vocabulary {name}: special tokens missing: {' '.join(missing)}")


def train_vocabulary(sentences: Iterable[str], size: int) -> Vocabulary:
    """Return a WordPiece vocabulary trained on ``sentences``.

    Training is not deterministic (the library breaks ties by hash order): a vocabulary is
    trained once and kept, never trained per run.
    """
    from tokenizers import models, trainers

    tokenizer = _untrained(models.WordPiece(unk_token=UNKNOWN))
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=list(SPECIAL_TOKENS), show_progress=False
    )
    tokenizer.train_from_iterator(sentences, trainer)
    by_id = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return Vocabulary("trained", tuple(token for token, _ in by_id))


def _untrained(model: object) -> "Tokenizer":
    from tokenizers import Tokenizer, normalizers, pre_tokenizers

    tokenizer = Tokenizer(model)  # type: ignore[arg-type]  # the library's models are untyped
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer
