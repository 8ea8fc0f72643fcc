"""Entries are found wherever a path points, and new logs never take an old one's place."""

import threading
from pathlib import Path

import pytest

from mlbench.errors import InputMissingError, PreflightError
from mlbench.submission import SystemDescription
from mlbench.submission.store import find_entries, find_logs, next_run_index, reserve_log
from tests.logs import run_log, write_entry


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "training_results_v2.1"
    write_entry(root, [run_log()] * 2, system="a")
    write_entry(root, [run_log()], system="b")
    write_entry(root, [run_log()], submitter="other", system="c")
    records = root / ".mlbench" / "run" / "results"
    records.mkdir(parents=True)
    (records / "result_0.txt").write_text(run_log(), "utf-8")
    return root


PLACES = {
    "": ["a", "b", "c"],
    "acme": ["a", "b"],
    "acme/results": ["a", "b"],
    "acme/results/a": ["a"],
    "acme/results/a/bert": ["a"],
    "acme/results/a/bert/result_1.txt": ["a"],
}


@pytest.mark.parametrize("place", PLACES)
def test_a_path_may_point_anywhere_in_the_tree(tree: Path, place: str) -> None:
    entries = find_entries([tree / place])
    assert [entry.key.system for entry in entries] == PLACES[place]
    assert {entry.key.round for entry in entries} == {"v2.1"}
    assert {entry.key.benchmark for entry in entries} == {"bert"}
    assert entries[0].key.submitter == "acme"


def test_a_relative_path_gives_the_same_keys(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree / "acme" / "results" / "a" / "bert")
    (entry,) = find_entries([Path()])
    assert (entry.key.round, entry.key.submitter, entry.key.system) == ("v2.1", "acme", "a")


def test_the_same_folder_twice_is_one_entry(tree: Path) -> None:
    link = tree.parent / "link"
    link.symlink_to(tree)
    entries = find_entries([tree, tree / "acme", link, tree / "acme" / ".." / "acme"])
    assert [entry.key.system for entry in entries] == ["a", "b", "c"]


def test_logs_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, [run_log()] * 11)
    names = [log.name for log in find_logs([folder])]
    assert names[1:3] + names[-1:] == ["result_1.txt", "result_2.txt", "result_10.txt"]


def test_a_missing_path_and_an_empty_one_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match="nowhere: no such file or folder"):
        find_entries([tmp_path / "nowhere"])
    with pytest.raises(InputMissingError, match="no results found; expected <submitter>/results"):
        find_entries([tmp_path])


def test_reading_writes_nothing(tree: Path) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in tree.rglob("*"))
    find_entries([tree])
    assert sorted((path, path.stat().st_mtime_ns) for path in tree.rglob("*")) == before


COUNTS = {"8": 8, 8: 8, " 16 ": 16, "1.0": 1, "": None, "8 (x2)": None, "N/A": None, "0": 0}


@pytest.mark.parametrize("value", COUNTS)
def test_counts_are_read_in_every_published_spelling(value: object) -> None:
    assert SystemDescription({"n": value}).count("n") == COUNTS[value]


BROKEN = {
    "missing": (None, "box.json is missing"),
    "broken": (b'{"a": 1,}', "box.json cannot be read"),
    "a list": (b"[]", "box.json is not a JSON object"),
    "not UTF-8": (b"\xff\xfe", "box.json cannot be read"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_description_is_said_and_the_entry_kept(tmp_path: Path, name: str) -> None:
    folder = write_entry(tmp_path, [run_log()])
    file = tmp_path / "acme" / "systems" / "box.json"
    data, message = BROKEN[name]
    file.unlink() if data is None else file.write_bytes(data)
    (entry,) = find_entries([folder])
    assert (entry.description.problem or "").startswith(message)
    assert entry.logs


def test_a_count_as_float_is_a_count() -> None:
    assert SystemDescription({"n": 1.0}).count("n") == 1
    assert SystemDescription({"n": 1.5}).count("n") is None


def test_a_description_with_byte_order_mark_is_read(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, [run_log()])
    file = tmp_path / "acme" / "systems" / "box.json"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    (entry,) = find_entries([folder])
    assert entry.description.problem is None
    assert entry.description.text("framework") == "PyTorch"


def test_the_next_run_is_behind_all_there_are(tmp_path: Path) -> None:
    assert next_run_index(tmp_path / "none") == 0
    for name in ("result_0.txt", "result_7.txt", "result_x.txt", "result_12.log"):
        (tmp_path / name).touch()
    assert next_run_index(tmp_path) == 8


def test_one_log_is_given_to_one_run_only(tmp_path: Path) -> None:
    taken: list[int] = []

    def take() -> None:
        index = 0
        while not reserve_log(tmp_path / "logs" / f"result_{index}.txt"):
            index += 1
        taken.append(index)

    threads = [threading.Thread(target=take) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(16))


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PreflightError, match="results cannot be written here.*--results"):
        reserve_log(tmp_path / "file" / "sub" / "result_0.txt")
    with pytest.raises(PreflightError, match="results cannot be written here"):
        reserve_log(Path("/proc/mlbench/result_0.txt"))
