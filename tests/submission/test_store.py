"""Entries are found wherever a path points, and new logs never take an old one's place."""

import os
import threading
from pathlib import Path

import pytest

from mlbench.errors import InputMissingError, PreflightError
from mlbench.submission import EntryKey, SystemDescription
from mlbench.submission.store import find_entries, find_logs, next_run_index, reserve_log
from tests.logs import run_log, scored_entry, write_entry, write_log


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


def test_the_same_folder_twice_is_one_entry_and_said(tree: Path) -> None:
    link = tree.parent / "link"
    link.symlink_to(tree)
    entries = find_entries([tree, tree / "acme", link / "other", tree / "acme" / ".." / "acme"])
    assert [entry.key.system for entry in entries] == ["a", "b", "c"]
    assert [len(entry.notes) for entry in entries] == [1, 1, 1]
    assert entries[2].notes[0].endswith("link/other/results/c/bert: counted once")
    assert [len(entry.logs) for entry in entries] == [2, 1, 1]


def test_the_same_path_twice_is_nothing_to_speak_of(tree: Path) -> None:
    assert not any(entry.notes for entry in find_entries([tree, tree, tree / "acme"]))


def test_a_log_given_twice_is_found_once(tree: Path) -> None:
    folder = tree / "other" / "results" / "c" / "bert"
    link = tree / "link.txt"
    link.symlink_to(folder / "result_0.txt")
    assert (
        len(find_logs([folder, folder / "result_0.txt", link, folder / "." / ".." / "bert"])) == 1
    )


def test_a_link_is_named_by_its_own_place_not_by_where_it_leads(tmp_path: Path) -> None:
    """Logs kept on another disk, linked into the tree."""
    stored = tmp_path / "disk" / "xyz" / "run7"
    stored.mkdir(parents=True)
    write_log(stored, run_log())
    place = tmp_path / "v2.1" / "acme" / "results" / "box"
    place.mkdir(parents=True)
    (place / "bert").symlink_to(stored)
    (entry,) = find_entries([tmp_path / "v2.1"])
    assert entry.key == EntryKey("v2.1", "acme", "box", "bert")
    assert len(entry.logs) == 1


def test_a_link_to_a_whole_round_keeps_its_round(tree: Path) -> None:
    (tree.parent / "link").symlink_to(tree)
    (entry,) = find_entries([tree.parent / "link" / "other"])
    assert entry.key == EntryKey("v2.1", "other", "c", "bert")


def test_links_that_lead_back_end(tree: Path) -> None:
    (tree / "acme" / "results" / "a" / "up").symlink_to(tree)
    (tree / "acme" / "results" / "b" / "self").symlink_to(tree / "acme" / "results" / "b")
    assert sorted(entry.key.system for entry in find_entries([tree])) == ["a", "b", "c"]


ODD = ["result_1.txt.gz", "result_2.log", "run.log", "result_x", "RESULT_7.TXT"]


@pytest.mark.parametrize("name", ODD)
def test_a_stray_log_beside_the_results_is_named_not_counted(tmp_path: Path, name: str) -> None:
    folder = write_entry(tmp_path, [run_log()])
    write_log(folder, run_log(seed=2), name)
    (entry,) = find_entries([folder])
    assert [log.name for log in entry.logs] == ["result_0.txt"]
    assert entry.notes == (f"{name} is not named result_N.txt: not counted",)


@pytest.mark.parametrize("name", ["README.md", "nvlog.json.1", "scaling.json", "events.out", ".x"])
def test_files_that_are_no_logs_are_no_matter(tmp_path: Path, name: str) -> None:
    folder = write_entry(tmp_path, [run_log()])
    write_log(folder, '{"scaling_factor": 1.0}', name)
    (entry,) = find_entries([folder])
    assert (len(entry.logs), entry.notes) == (1, ())


def test_a_broken_link_and_a_folder_with_a_logs_name_are_named(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, [run_log()])
    (folder / "result_1.txt").symlink_to(folder / "gone")
    (folder / "result_2.txt").mkdir()
    (entry,) = find_entries([folder])
    assert entry.notes == (
        "result_1.txt is not a file that can be read: not counted",
        "result_2.txt is not a file that can be read: not counted",
    )


@pytest.mark.parametrize("name", ["200711_1.log", "train run.txt", "out", "result_3.log"])
def test_logs_of_other_names_are_found_where_an_entry_belongs(tmp_path: Path, name: str) -> None:
    folder = write_entry(tmp_path / "v0.7", [])
    write_log(folder, run_log(), name)
    write_log(folder, "no log", "notes.txt")
    (entry,) = find_entries([tmp_path])
    assert [log.name for log in entry.logs] == [name]
    assert entry.notes == (f"logs are not named result_N.txt, but such as {name}",)


def test_logs_of_other_names_are_found_in_the_folder_that_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "somewhere"
    folder.mkdir()
    write_log(folder, run_log(), "run.log")
    (entry,) = find_entries([folder])
    assert [log.name for log in entry.logs] == ["run.log"]
    monkeypatch.chdir(folder)
    assert len(find_entries([Path()])) == 1


SPELLINGS = [
    "result_1.txt",
    "result_221014113608705045675_07.txt",
    "result_run3.txt",
    "result_.txt",
]


@pytest.mark.parametrize("name", SPELLINGS)
def test_published_spellings_of_names_are_logs(tmp_path: Path, name: str) -> None:
    folder = write_entry(tmp_path, [])
    write_log(folder, run_log(), name)
    (entry,) = find_entries([folder])
    assert ([log.name for log in entry.logs], entry.notes) == ([name], ())


STATED = {
    "bert": ([run_log()] * 2, "bert", "logs lie in the folder of the system: bert is their"),
    "frobnicate": (
        [run_log().replace('"bert"', '"frobnicate"')],
        "frobnicate",
        "logs lie in the folder of the system: frobnicate is their",
    ),
    "several": (
        [run_log(), run_log().replace('"bert"', '"resnet"')],
        "unknown",
        "logs lie in the folder of the system: their submission_benchmark is bert and resnet",
    ),
    "not stated": (
        [run_log().replace("submission_benchmark", "x"), run_log().replace('"bert"', '["bert"]')],
        "unknown",
        "logs lie in the folder of the system: their submission_benchmark is not stated",
    ),
}


@pytest.mark.parametrize("name", STATED)
def test_logs_in_a_systems_folder_tell_their_benchmark(tmp_path: Path, name: str) -> None:
    logs, benchmark, note = STATED[name]
    folder = write_entry(tmp_path, logs, benchmark=".")
    (entry,) = find_entries([tmp_path])
    assert entry.key == EntryKey("unverified", "acme", "box", benchmark)
    assert entry.description.problem is None
    assert len(entry.notes) == 1
    assert entry.notes[0].startswith(note)
    assert entry.logs == (*(folder / f"result_{n}.txt" for n in range(len(logs))),)


def test_a_benchmark_nobody_knows_is_listed(tmp_path: Path) -> None:
    for benchmark in ("bert_large", "日本", "x"):
        write_entry(tmp_path, [run_log()], system=benchmark, benchmark=benchmark)
    found = {entry.key.benchmark for entry in find_entries([tmp_path])}
    assert found == {"bert_large", "日本", "x"}


def test_a_benchmark_in_the_folder_of_another_is_an_entry_of_its_own(tmp_path: Path) -> None:
    write_entry(tmp_path, [run_log()], benchmark="resnet")
    write_entry(tmp_path, [run_log()], benchmark="resnet/bert")
    assert [entry.key.benchmark for entry in find_entries([tmp_path])] == ["resnet", "bert"]


def test_files_of_power_meters_and_raw_logs_are_no_entries(tmp_path: Path) -> None:
    for benchmark in ("bert", "bert/power", "bert/raw_logs", "bert/power/result_0"):
        write_entry(tmp_path, [run_log()], benchmark=benchmark)
    (entry,) = find_entries([tmp_path])
    assert entry.key.benchmark == "bert"


@pytest.mark.parametrize("name", ["logs", "power"])
def test_a_submitter_or_system_may_have_such_a_name(tmp_path: Path, name: str) -> None:
    write_entry(tmp_path / name, [run_log()], submitter=name, system=name)
    (entry,) = find_entries([tmp_path])
    assert (entry.key.submitter, entry.key.system) == (name, name)


ODD_NAMES = ["a b", "a+b", "v1.0 x", "ü", "日本", "new\nline", "'\"", "-x", "$HOME", "*", "a\\b"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_characters_in_paths_are_kept(tmp_path: Path, name: str) -> None:
    write_entry(tmp_path, [run_log()], submitter=name, system=name)
    (entry,) = find_entries([tmp_path])
    assert (entry.key.submitter, entry.key.system, len(entry.logs)) == (name, name, 1)
    assert entry.description.problem is None


def test_a_name_that_is_not_utf8_is_found_and_scored(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    folder = write_entry(tmp_path, [run_log()], system=name)
    (folder / "result_0.txt").rename(folder / os.fsdecode(b"result_\xff.txt"))
    (entry,) = find_entries([tmp_path])
    assert entry.key.system == "caf?"
    assert entry.folder == folder
    assert scored_entry(entry).minutes == 1.0


def test_a_folder_that_cannot_be_listed_is_an_error_not_an_empty_one(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def deny(path: str) -> object:
        if str(path).endswith("results/b"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", deny)
    with pytest.raises(InputMissingError, match="results/b: cannot be read: Permission denied"):
        find_entries([tree])


def test_logs_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, [run_log()] * 11)
    names = [log.name for log in find_logs([folder])]
    assert names[1:3] + names[-1:] == ["result_1.txt", "result_2.txt", "result_10.txt"]


def test_a_missing_path_and_an_empty_one_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match="nowhere: no such file or folder"):
        find_entries([tmp_path / "nowhere"])
    with pytest.raises(
        InputMissingError, match="no results found in it; expected <submitter>/results"
    ):
        find_entries([tmp_path])


def test_reading_writes_nothing(tree: Path) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in tree.rglob("*"))
    find_entries([tree])
    assert sorted((path, path.stat().st_mtime_ns) for path in tree.rglob("*")) == before


COUNTS = {
    "8": 8,
    8: 8,
    " 16 ": 16,
    "1.0": 1,
    "": None,
    "8 (x2)": None,
    "N/A": None,
    "0": 0,
    "inf": None,
    "nan": None,
    "1e999": None,
    "9" * 5000: None,
}


@pytest.mark.parametrize("value", COUNTS)
def test_counts_are_read_in_every_published_spelling(value: object) -> None:
    assert SystemDescription({"n": value}).count("n") == COUNTS[value]


BROKEN = {
    "missing": (None, "box.json is missing"),
    "broken": (b'{"a": 1,}', "box.json cannot be read"),
    "a list": (b"[]", "box.json is not a JSON object"),
    "not UTF-8": (b"\xff\xfe", "box.json cannot be read"),
    "nested deeply": (b"[" * 100_000, "box.json cannot be read"),
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


def test_a_single_log_means_its_entry_and_another_file_means_nothing(tree: Path) -> None:
    log = tree / "acme" / "results" / "a" / "bert" / "result_0.txt"
    (entry,) = find_entries([log])
    assert entry.key.system == "a"
    assert log in entry.logs
    readme = tree / "README.md"
    readme.write_text("about", "utf-8")
    with pytest.raises(InputMissingError, match="README.md: not the log of a run"):
        find_entries([readme])
