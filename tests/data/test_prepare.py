"""A prepared folder appears whole, says what it is, and is never overwritten."""

import json
import shutil
from pathlib import Path

import datasets
import numpy as np
import pytest

from mlbench.data import MANIFEST_NAME
from mlbench.data.corpora import read_text
from mlbench.data.manifest import load_manifest
from mlbench.data.prepare import prepare, verify
from mlbench.data.store import SampleStore
from mlbench.errors import DataError
from tests.conftest import small_spec


@pytest.fixture
def prepared(small_data: Path, tmp_path: Path) -> Path:
    """A copy of the prepared folder that a test may damage."""
    return Path(shutil.copytree(small_data / "prepared", tmp_path / "prepared"))


def test_shards_open_with_datasets_and_hold_what_the_store_reads(prepared: Path) -> None:
    manifest = load_manifest(prepared)
    table = datasets.Dataset.from_file(str(prepared / manifest.train.file))
    store = SampleStore(prepared / manifest.train.file)
    assert len(table) == len(store) == manifest.train.num_samples
    indices = np.array([5, 0, 5, len(store) - 1])
    batch = store.batch(indices)
    for row, index in enumerate(indices.tolist()):
        expected = table[index]
        span = slice(batch.offsets[row], batch.offsets[row + 1])
        masked = slice(batch.masked_offsets[row], batch.masked_offsets[row + 1])
        assert batch.input_ids[span].tolist() == expected["input_ids"]
        assert batch.masked_positions[masked].tolist() == expected["masked_lm_positions"]
        assert batch.masked_ids[masked].tolist() == expected["masked_lm_ids"]
        assert batch.segment_b[row] == expected["segment_b"]
        assert batch.next_sentence_labels[row] == expected["next_sentence_label"]
    assert store.num_masked(indices) == len(batch.masked_ids)


def test_preparing_again_changes_nothing_and_gives_the_same_bytes(
    small_data: Path, prepared: Path, tmp_path: Path
) -> None:
    before = {file.name: file.read_bytes() for file in prepared.iterdir()}
    said: list[str] = []
    prepare(small_spec(small_data), prepared, said.append)
    assert said == [f"{prepared} is up to date"]
    prepare(small_spec(small_data), tmp_path / "again", said.append)
    assert {file.name: file.read_bytes() for file in (tmp_path / "again").iterdir()} == before


def test_training_and_evaluation_share_no_article(small_data: Path) -> None:
    manifest = load_manifest(small_data / "prepared")
    assert manifest.num_documents == 40
    assert manifest.eval.num_samples <= 32
    assert manifest.train.num_samples > manifest.eval.num_samples


def test_other_settings_do_not_replace_a_prepared_folder(small_data: Path, prepared: Path) -> None:
    with pytest.raises(DataError, match="duplication: 2 there, 3 asked"):
        prepare(small_spec(small_data, duplication=3), prepared, lambda text: None)


def test_a_folder_with_other_files_is_left_alone(small_data: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(DataError, match=f"holds files but no {MANIFEST_NAME}"):
        prepare(small_spec(small_data), tmp_path, lambda text: None)


def test_a_failed_preparation_leaves_nothing(small_data: Path, tmp_path: Path) -> None:
    spec = small_spec(small_data, input=(tmp_path / "missing.txt",))
    with pytest.raises(DataError, match=r"missing\.txt: cannot be read"):
        prepare(spec, tmp_path / "out" / "data", lambda text: None)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_changed_shard_is_found(prepared: Path) -> None:
    verify(prepared)
    shard = prepared / "train.arrow"
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    with pytest.raises(DataError, match=r"train\.arrow: (differs|cannot be read)"):
        verify(prepared)


@pytest.mark.parametrize("keep", [0, 100, -100])
def test_a_cut_shard_is_found(prepared: Path, keep: int) -> None:
    shard = prepared / "eval.arrow"
    shard.write_bytes(shard.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"eval\.arrow: (differs|cannot be read)"):
        verify(prepared)


def test_a_missing_or_foreign_manifest_says_what_to_do(tmp_path: Path, prepared: Path) -> None:
    with pytest.raises(DataError, match="no prepared data here; make them: mlbench data prepare"):
        load_manifest(tmp_path)
    manifest = prepared / MANIFEST_NAME
    manifest.write_text(json.dumps({**json.loads(manifest.read_bytes()), "schema_version": 9}))
    with pytest.raises(DataError, match="cannot be read"):
        load_manifest(prepared)


BAD_TEXTS = {
    "UTF-16": ("Hello.".encode("utf-16"), "is UTF-16; convert it"),
    "latin-1": ("Caf\xe9.".encode("latin-1"), "not UTF-8 at byte 3"),
    "binary": (b"abc\0def", "NUL at byte 3"),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_a_file_that_is_no_text_names_the_byte(tmp_path: Path, name: str) -> None:
    data, message = BAD_TEXTS[name]
    (tmp_path / "x.txt").write_bytes(data)
    with pytest.raises(DataError, match=message):
        read_text(tmp_path / "x.txt")


def test_byte_order_mark_and_line_ends_are_normalised(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree")
    assert read_text(tmp_path / "x.txt") == "one\ntwo\nthree"


TOO_LITTLE = {
    "": "has no text",
    "One sentence only.": "next-sentence pairs need two",
    "One document.\nOf two sentences.": "next-sentence pairs need two",
}


@pytest.mark.parametrize("text", TOO_LITTLE)
def test_too_little_text_is_said(small_data: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "x.txt").write_text(text, "utf-8")
    spec = small_spec(small_data, input=(tmp_path / "x.txt",))
    with pytest.raises(DataError, match=TOO_LITTLE[text]):
        prepare(spec, tmp_path / "data", lambda text: None)
