"""What can be used is used; every repair and every loss is named with its line."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlbench.errors import InputMissingError
from mlbench.runlog.read import parse_log, read_log
from mlbench.vocabulary import Milliseconds
from tests.logs import START_MS, line, run_log

HERE = Path("result_0.txt")


def test_clean_events_have_key_value_metadata_time_and_line() -> None:
    text = "chatter\n\n" + line("seed", 7, START_MS + 5, epoch_num=3)
    (event,) = parse_log(text.encode(), HERE).events
    assert (event.key, event.value, event.line) == ("seed", 7, 3)
    assert event.time_ms == Milliseconds(START_MS + 5)
    assert event.metadata["epoch_num"] == 3


DIRT = {
    "rank label": (" 0: " + line("seed", 1), [1], []),
    "progress bar": ("50%|####\r 60%|####" + line("seed", 1), [1], []),
    "CRLF": (line("seed", 1).replace("\n", "\r\n"), [1], []),
    "byte-order mark": ("\ufeff" + line("seed", 1), [1], []),
    "two on a line": (line("seed", 1).strip() + line("seed", 2), [1, 2], []),
    "no newline at the end": (line("seed", 1).rstrip("\n"), [1], []),
    "text after": (line("seed", 1).strip() + " tail\n", [1], ["1: text after the event ignored"]),
    "NUL": (line("seed", 1).replace("seed", "se\0ed"), [1], ["1: NUL bytes removed"]),
    "cut": (line("seed", 1)[:60] + "\n" + line("seed", 2), [2], ["1: event cut or broken"]),
    "empty": (":::MLLOG \n" + line("seed", 2), [2], ["1: event without content"]),
    "not an object": (":::MLLOG [1]\n", [], ["1: event without a key"]),
    "no key": (':::MLLOG {"value": 1}\n', [], ["1: event without a key"]),
    "NaN": (line("seed", float("nan")), ["nan"], []),
    "time missing": (line("seed", 1).replace("time_ms", "when"), [1], ["1: seed has no time"]),
    "metadata is text": (
        ':::MLLOG {"key": "seed", "value": 1, "time_ms": 1, "metadata": "x"}\n',
        [1],
        ["1: metadata of seed is not an object"],
    ),
    "deep nesting": (":::MLLOG " + "[" * 100_000 + "\n", [], ["1: event cut or broken"]),
}


@pytest.mark.parametrize("name", DIRT)
def test_dirt_is_mended_or_named(name: str) -> None:
    text, values, repairs = DIRT[name]
    log = parse_log(text.encode(), HERE)
    found = [
        str(event.value) if event.value != event.value else event.value for event in log.events
    ]
    assert found == values
    said = [f"{repair.line}: {repair.text}" for repair in log.repairs]
    assert len(said) == len(repairs)
    for text, expected in zip(said, repairs, strict=True):
        assert text.startswith(expected)


def test_bytes_that_are_not_utf8_are_read_and_said() -> None:
    log = parse_log(line("submission_org", "X").encode().replace(b"X", b"Caf\xe9"), HERE)
    assert log.value("submission_org") == "Café"
    assert log.repairs[0].text == "bytes that are not UTF-8 read as latin-1"


def test_seconds_of_old_logs_become_milliseconds() -> None:
    log = parse_log(b':::MLLOG {"key": "seed", "time_s": 2.5, "metadata": {}}', HERE)
    assert log.events[0].time_ms == Milliseconds(2500)


def test_lost_events_are_told_from_repaired_ones() -> None:
    text = line("seed", 1).strip() + " tail\n" + ":::MLLOG {\n"
    assert [repair.lost for repair in parse_log(text.encode(), HERE).repairs] == [False, True]


def test_events_are_found_by_key() -> None:
    log = parse_log((line("seed", 1) + line("x", 2) + line("seed", 3)).encode(), HERE)
    assert [event.value for event in log.all("seed")] == [1, 3]
    first, last = log.first("seed"), log.last("seed")
    assert first is not None
    assert last is not None
    assert (first.line, last.line) == (1, 3)
    assert log.first("y") is log.last("y") is log.value("y") is None


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match=r"gone\.txt: cannot be read"):
        read_log(tmp_path / "gone.txt")


@given(seed=st.integers(0, 10_000), count=st.integers(1, 5))
def test_damage_never_raises_and_never_hides_a_lost_event(seed: int, count: int) -> None:
    """Bytes overwritten at random: each event of the clean log is there, changed, or reported."""
    draw = random.Random(seed)
    clean = run_log().encode()
    data = bytearray(clean)
    for _ in range(count):
        data[draw.randrange(len(data))] = draw.randrange(256)
    log = parse_log(bytes(data), HERE)
    tokens = bytes(data).count(b":::MLLOG")
    assert len(log.events) + sum(repair.lost for repair in log.repairs) == tokens
