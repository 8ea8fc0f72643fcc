"""Prepared samples on disk: one Arrow stream a split, read back without copying.

The files are what ``datasets.Dataset.from_file`` opens. Samples keep their own length, so a split
costs 2 bytes a token; the format is documented in ``docs/formats.md``.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mlbench.data import SampleBatch, SplitInfo
from mlbench.data.instances import Sample
from mlbench.errors import DataError

if TYPE_CHECKING:
    Column = NDArray[np.integer[Any]]

SCHEMA = pa.schema(
    {
        "input_ids": pa.list_(pa.uint16()),
        "segment_b": pa.uint16(),
        "masked_lm_positions": pa.list_(pa.uint16()),
        "masked_lm_ids": pa.list_(pa.uint16()),
        "next_sentence_label": pa.uint8(),
    }
)
MAX_VOCABULARY = 2**16
"""Token ids are stored as uint16."""

_ROWS_PER_BATCH = 10_000


def write_split(file: Path, samples: Iterable[Sample]) -> SplitInfo:
    """Write samples to an Arrow stream and return what was written.

    Raises:
        DataError: there are no samples.
    """
    digest = hashlib.sha256()
    num_samples = num_tokens = num_masked = max_length = 0
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, SCHEMA) as writer:
        for rows in _chunks(samples, _ROWS_PER_BATCH):
            batch = _record_batch(rows)
            writer.write_batch(batch)
            _update(digest, batch)
            num_samples += len(rows)
            num_tokens += sum(len(row.input_ids) for row in rows)
            num_masked += sum(len(row.masked_ids) for row in rows)
            max_length = max(max_length, *(len(row.input_ids) for row in rows))
    if not num_samples:
        raise DataError(f"{file.name}: the corpus gives no sample; it needs more text")
    return SplitInfo(
        file=file.name,
        num_samples=num_samples,
        num_tokens=num_tokens,
        num_masked_tokens=num_masked,
        max_length=max_length,
        content_sha256=digest.hexdigest(),
    )


def _chunks(samples: Iterable[Sample], size: int) -> Iterator[list[Sample]]:
    iterator = iter(samples)
    while chunk := list(islice(iterator, size)):
        yield chunk


def _record_batch(rows: Sequence[Sample]) -> pa.RecordBatch:
    columns = (
        [row.input_ids for row in rows],
        [row.segment_b for row in rows],
        [row.masked_positions for row in rows],
        [row.masked_ids for row in rows],
        [row.next_sentence_label for row in rows],
    )
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.record_batch(arrays, schema=SCHEMA)


def _update(digest: "hashlib._Hash", batch: pa.RecordBatch) -> None:
    """Feed the values and list lengths of every column to the digest."""
    for column in batch.columns:
        if pa.types.is_list(column.type):
            digest.update(column.value_lengths().to_numpy().astype("<u4").tobytes())
            column = column.flatten()
        digest.update(column.to_numpy().astype("<u2").tobytes())


class SampleStore:
    """The samples of one split, memory-mapped."""

    def __init__(self, file: Path) -> None:
        """Open a split.

        Raises:
            DataError: the file is missing, cut or has other columns than ``SCHEMA``.
        """
        try:
            with pa.memory_map(str(file), "r") as source:
                table = pa.ipc.open_stream(source).read_all()
        except (OSError, pa.ArrowInvalid) as error:
            raise DataError(
                f"{file}: cannot be read ({error}); prepare the data again: mlbench data prepare"
            ) from error
        if table.schema != SCHEMA:
            raise DataError(f"{file}: has columns {table.schema.names}, expected {SCHEMA.names}")
        self._tokens, self._token_offsets = _ragged(table["input_ids"])
        self._positions, self._masked_offsets = _ragged(table["masked_lm_positions"])
        self._masked_ids, _ = _ragged(table["masked_lm_ids"])
        self._segment_b = table["segment_b"].to_numpy()
        self._labels = table["next_sentence_label"].to_numpy()
        self._table = table

    def __len__(self) -> int:
        return len(self._segment_b)

    def batch(self, indices: "NDArray[np.int64]") -> SampleBatch:
        """Return the samples at ``indices``, (N,), in that order."""
        rows, offsets = _gather_rows(self._token_offsets, indices)
        masked_rows, masked_offsets = _gather_rows(self._masked_offsets, indices)
        return SampleBatch(
            input_ids=self._tokens[rows],
            offsets=offsets,
            segment_b=self._segment_b[indices],
            masked_positions=self._positions[masked_rows],
            masked_ids=self._masked_ids[masked_rows],
            masked_offsets=masked_offsets,
            next_sentence_labels=self._labels[indices],
        )

    def num_masked(self, indices: "NDArray[np.int64]") -> int:
        """Return how many tokens the samples at ``indices`` mask, without reading them."""
        return int((self._masked_offsets[indices + 1] - self._masked_offsets[indices]).sum())

    def content_sha256(self) -> str:
        """Return the digest that ``write_split`` recorded, computed from what is on disk now."""
        digest = hashlib.sha256()
        for batch in self._table.to_batches():
            _update(digest, batch)
        return digest.hexdigest()


def _ragged(column: pa.ChunkedArray) -> "tuple[Column, NDArray[np.int64]]":
    """Return (values, offsets) of a list column; copies only when it has several chunks."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # An empty column has no chunk to combine.
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], column.type)
    return array.values.to_numpy(), array.offsets.to_numpy().astype(np.int64)


def _gather_rows(
    offsets: "NDArray[np.int64]", indices: "NDArray[np.int64]"
) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """Return (positions in the flat values, new offsets) of the rows at ``indices``."""
    starts = offsets[indices]
    lengths = offsets[indices + 1] - starts
    new_offsets = np.zeros(len(indices) + 1, dtype=np.int64)
    np.cumsum(lengths, out=new_offsets[1:])
    shift = np.repeat(starts - new_offsets[:-1], lengths)
    return np.arange(new_offsets[-1], dtype=np.int64) + shift, new_offsets
