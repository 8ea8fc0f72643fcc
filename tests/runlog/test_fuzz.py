"""Logs, mutated at random: never an exception, and no other result without a word.

What must hold depends on the damage. A changed digit, a renamed key or a line that is gone make
another valid log, of which nothing can be said; these laws can:

- each token of the file is an event, a shell trace or a reported loss;
- an event that is cut, or is no longer JSON, or has lost its token is reported with its line;
- one overwritten byte changes the result with a note, or leaves its line an event in valid JSON;
- lines that are repeated or moved change nothing, or a note says so;
- two runs in one file are noticed;
- text around events, line ends and labels of ranks change nothing.

``make fuzz`` draws many more cases.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlbench.runlog.read import read_log
from mlbench.score import RunResult
from mlbench.score.entry import score_entry
from mlbench.submission.store import read_entry
from tests.logs import START_MS, line, run_log, scored_file, write_log

TOKEN = b":::MLLOG"
PLACES = st.integers(0, 10**9)
"""A place in something whose size is not known yet: taken modulo it."""

BLOCKS = [
    event
    for n in range(6)
    for event in (
        line("block_start", None, START_MS + n * 9_000, first_epoch_num=n, epoch_count=100),
        line("block_stop", None, START_MS + n * 9_000 + 8_000, first_epoch_num=n),
    )
]
TRAINED = line("train_samples", 640_000, START_MS + 60_000)
MADE = (
    run_log(),
    run_log(samples=0) + TRAINED,
    "chatter\n" + run_log(samples=2, status="aborted", extra=BLOCKS),
    run_log().replace(":::MLLOG", "50%|###\r 0: :::MLLOG").replace("\n", "\r\n"),
)
PUBLISHED = (
    "v2.1/MosaicML/results/8xA100_80GB-methods/bert/result_9.txt",
    "v2.1/NVIDIA/results/dgxa100_ngc22.04_mxnet/resnet/result_0.txt",
    "v2.0/Baidu/results/1_node_8_A100_PyTorch/bert/result_2.txt",
    "v2.1/HPE/results/HPE-ProLiant-XL675d-Gen10-Plus_A100-SXM-80GB_8N_pytorch/bert/result_8.txt",
    "v2.1/Intel-HabanaLabs/results/HLS-Gaudi2-PT/bert/result_2.txt",
)


class Case:
    """Clean logs, and a folder to read changed ones from."""

    def __init__(self, folder: Path, logs: Sequence[bytes]) -> None:
        self.folder = folder
        self.logs = logs
        self.clean = [self.run(data) for data in logs]

    def pick(self, place: int) -> tuple[bytes, RunResult]:
        """Return a clean log and its run."""
        return self.logs[place % len(self.logs)], self.clean[place % len(self.logs)]

    def run(self, data: bytes) -> RunResult:
        """Read and score a log; two of them as an entry, too."""
        run = scored_file(write_log(self.folder, data), self.folder.name)
        score_entry(read_entry(self.folder), [run, run])
        return run

    def reported(self, data: bytes) -> dict[int, str]:
        """Return what the reader says, by line."""
        log = read_log(write_log(self.folder, data))
        return {repair.line: repair.text for repair in log.repairs}


@pytest.fixture(scope="module", params=["made", "published"])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("fuzz") / "acme" / "results" / "box" / "bert"
    folder.mkdir(parents=True)
    if request.param == "made":
        return Case(folder, [text.encode() for text in MADE])
    rounds: Path = request.getfixturevalue("official_rounds")
    return Case(folder, [(rounds / name).read_bytes() for name in PUBLISHED])


def result(run: RunResult) -> tuple[object, ...]:
    return run.elapsed, run.run_status, run.num_samples, run.accuracy


def is_said(run: RunResult, clean: RunResult) -> bool:
    """Whether a run has its clean result, or says something that the clean one does not."""
    news = set(run.problems) - set(clean.problems)
    return result(run) == result(clean) or bool(news) or run.samples_source != clean.samples_source


def line_at(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def bounds(data: bytes, place: int) -> tuple[int, int]:
    """Return begin and end of the line that a place is in."""
    end = data.find(b"\n", place)
    return data.rfind(b"\n", 0, place) + 1, end if end >= 0 else len(data)


def is_json(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


BYTES = st.binary(max_size=12) | st.sampled_from(
    [b"\0", b"\n", b"\r", b"\xff", b'"', b"}", b"{", b"[" * 2000, TOKEN, b"+ ", b"9" * 400, b"NaN"]
)
EDITS = st.lists(st.tuples(PLACES, st.integers(0, 200), BYTES), min_size=1, max_size=8)


@given(which=PLACES, edits=EDITS)
def test_no_damage_raises_and_every_token_is_accounted_for(
    case: Case, which: int, edits: list[tuple[int, int, bytes]]
) -> None:
    data, _ = case.pick(which)
    for place, size, new in edits:
        place %= len(data)
        data = data[:place] + new + data[place + size :] or b"x"
    case.run(data)
    log = read_log(write_log(case.folder, data))
    texts = [repair.text for repair in log.repairs if repair.lost or "shell trace" in repair.text]
    stray = [text for text in texts if text.startswith(("event without its token", "file ends"))]
    assert log.num_events + len(texts) - len(stray) == data.count(TOKEN)
    assert len(log.events) == log.num_events
    last = line_at(data, len(data))
    assert all(1 <= repair.line <= last for repair in log.repairs)


@given(which=PLACES, place=PLACES)
def test_a_cut_log_says_so_unless_it_is_cut_between_events(
    case: Case, which: int, place: int
) -> None:
    data, clean = case.pick(which)
    head = data[: place % len(data)]
    run = case.run(head)
    said = case.reported(head)
    begin, end = bounds(data, len(head))
    whole, cut = data[begin:end], head[begin:]
    token = whole.find(TOKEN)
    is_unfinished = token >= 0 and token + 3 <= len(cut) < len(whole.rstrip())
    assert (line_at(head, begin) in said) is is_unfinished
    if clean.elapsed and run.elapsed is None:
        assert "no run_stop" in run.problems[0] or "no run_start" in run.problems[0]
    assert run.elapsed in (None, clean.elapsed)


@given(which=PLACES, place=PLACES, size=st.integers(1, 40), new=st.binary(max_size=40))
def test_an_event_that_is_no_longer_json_is_reported_with_its_line(
    case: Case, which: int, place: int, size: int, new: bytes
) -> None:
    data, _ = case.pick(which)
    tokens = data.count(TOKEN)
    token = -1
    for _ in range(place % tokens + 1):
        token = data.find(TOKEN, token + 1)
    start, (_, end) = token + len(TOKEN), bounds(data, token)
    place = start + place % (end - start)
    new = new.replace(TOKEN, b"").replace(b"\n", b"")
    stop = min(place + size, end)
    damaged = data[:place] + new + data[stop:]
    text = damaged[start : bounds(damaged, token)[1]]
    if not is_json(text):
        assert line_at(damaged, token) in case.reported(damaged)


@given(which=PLACES, place=PLACES, new=st.integers(0, 255))
def test_a_byte_overwritten_changes_nothing_unsaid_but_what_stays_a_valid_event(
    case: Case, which: int, place: int, new: int
) -> None:
    data, clean = case.pick(which)
    place %= len(data)
    damaged = data[:place] + bytes([new]) + data[place + 1 :]
    if not is_said(case.run(damaged), clean):
        begin, end = bounds(damaged, place)
        text = damaged[begin:end]
        assert TOKEN in text
        assert is_json(text[text.find(TOKEN) + len(TOKEN) :])


@given(which=PLACES, place=PLACES, at=st.integers(0, 7), new=st.binary(max_size=3))
def test_an_event_with_a_damaged_token_is_reported_with_its_line(
    case: Case, which: int, place: int, at: int, new: bytes
) -> None:
    data, _ = case.pick(which)
    token = data.find(TOKEN, place % len(data))
    token = token if token >= 0 else data.find(TOKEN)
    new = new.replace(b"\n", b"").replace(b"{", b"")
    damaged = data[: token + at] + new + data[token + at + 1 :]
    begin, _ = bounds(damaged, token)
    if damaged[begin:].partition(b"\n")[0].find(TOKEN) < 0:
        assert case.reported(damaged)[line_at(damaged, begin)].startswith("event without its token")


MOVES = st.lists(st.tuples(PLACES, PLACES), min_size=1, max_size=6)


@given(which=PLACES, moves=MOVES, again=st.booleans())
def test_lines_that_are_repeated_or_moved_change_nothing_unsaid(
    case: Case, which: int, moves: list[tuple[int, int]], again: bool
) -> None:
    data, clean = case.pick(which)
    lines = data.splitlines(keepends=True)
    for source, target in moves:
        text = lines[source % len(lines)] if again else lines.pop(source % len(lines))
        lines.insert(target % (len(lines) + 1), text)
    assert is_said(case.run(b"".join(lines)), clean)


@given(which=PLACES, other=PLACES, cut=PLACES, at=PLACES)
def test_two_runs_in_one_file_are_noticed(
    case: Case, which: int, other: int, cut: int, at: int
) -> None:
    (data, _), (second, _) = case.pick(which), case.pick(other)
    head, tail = data[: cut % len(data)], second[at % len(second) :]
    spliced = head + tail
    run = case.run(spliced)
    log = read_log(write_log(case.folder, spliced))
    for key in ("run_start", "run_stop"):
        count = len(list(log.all(key)))
        said = any(text.startswith(f"{count} {key} events") for text in run.problems)
        assert said is (count > 1)
    assert log.first("run_stop") or "no run_stop" in run.problems[0] or run.elapsed is None
    begin, end = bounds(spliced, len(head))
    token = head.find(TOKEN, begin)
    event = spliced[token + len(TOKEN) : end].partition(TOKEN)[0]
    if 0 <= token < len(head) and not is_json(event):
        assert line_at(spliced, begin) in {repair.line for repair in log.repairs}


Clutter = Callable[[bytes], bytes]
CLUTTER: dict[str, Clutter] = {
    "CRLF": lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "rank labels": lambda data: data.replace(TOKEN, b" 12: " + TOKEN),
    "progress bars": lambda data: data.replace(TOKEN, b"\x1b[A 7%|#\xe2\x96\x8f|\r" + TOKEN),
    "bytes of another process": lambda data: data.replace(TOKEN, b"\xe2\x96\0" + TOKEN),
    "blank lines": lambda data: data.replace(b"\n", b"\n\n"),
    "no line ends": lambda data: data.replace(b"\r", b"").replace(b"}\n", b"}"),
    "byte-order mark": lambda data: b"\xef\xbb\xbf" + data,
    "chatter": lambda data: data.replace(b"\n", b'\nloss {"a": 1} + 3 :::ML nan\n'),
    "every line twice": lambda data: b"".join(
        each for each in data.splitlines(keepends=True) for _ in range(2)
    ),
}


@given(which=PLACES, names=st.lists(st.sampled_from(sorted(CLUTTER)), max_size=3, unique=True))
def test_clutter_changes_nothing(case: Case, which: int, names: list[str]) -> None:
    data, clean = case.pick(which)
    for name in names:
        data = CLUTTER[name](data)
    assert result(case.run(data)) == result(clean)
