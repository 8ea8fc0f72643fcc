"""What can be used is used; every repair and every loss is named with its line."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlbench.errors import InputMissingError
from mlbench.runlog.read import parse_log, read_log
from mlbench.vocabulary import Milliseconds
from tests.logs import START_MS, line, logged, run_log

HERE = Path("result_0.txt")


def test_clean_events_have_key_value_metadata_time_and_line(tmp_path: Path) -> None:
    log = logged(tmp_path, "chatter\n\n" + line("seed", 7, START_MS + 5, epoch_num=3))
    (event,) = log.events
    assert (event.key, event.value, log.line_of(event)) == ("seed", 7, 3)
    assert event.time_ms == Milliseconds(START_MS + 5)
    assert event.metadata["epoch_num"] == 3
    assert log.num_events == 1


SEED = line("seed", 1)
NO_TIME = SEED.replace("time_ms", "when")
TEXT_TIME = SEED.replace(str(START_MS), f'"{START_MS}"')
DIRT = {
    "rank label": (" 0: " + SEED, [1], []),
    "progress bar": ("50%|####\r 60%|####" + SEED, [1], []),
    "typed key": ("^[[Ap" + SEED, [1], []),
    "CRLF": (SEED.replace("\n", "\r\n"), [1], []),
    "CR only": (SEED.replace("\n", "\r") * 2, [1, 1], []),
    "byte-order mark": ("\ufeff" + SEED, [1], []),
    "two on a line": (SEED.strip() + line("seed", 2), [1, 2], []),
    "several namespaces": (SEED + SEED.replace('""', '"worker0"'), [1, 1], []),
    "no newline at the end": (SEED.rstrip("\n"), [1], []),
    "value as text": (line("seed", "1"), ["1"], []),
    "text after": (SEED.strip() + " tail\n", [1], ["1: text after the event ignored"]),
    "NUL": (SEED.replace("seed", "se\0ed"), [1], ["1: NUL bytes removed"]),
    "cut": (SEED[:60] + "\n" + line("seed", 2), [2], ["1: event cut or broken"]),
    "cut at the end": (line("seed", 2) + SEED[:60], [2], ["2: event cut or broken"]),
    "cut within a token": (line("seed", 2) + ":::ML", [2], ["2: file ends within a token"]),
    "in two lines": (SEED[:60] + "\r\n" + SEED[60:], [1], ["1: event put together from several"]),
    "in three lines": (SEED[:60] + "\n" + SEED[60:70] + "\n" + SEED[70:], [1], ["1: event put"]),
    "another event within": (
        SEED[:60] + line("seed", 2) + SEED[60:],
        [2],
        ["1: event cut or broken"],
    ),
    "empty": (":::MLLOG \n" + line("seed", 2), [2], ["1: event without content"]),
    "null": (":::MLLOG null\n", [], ["1: event without a key: null"]),
    "not an object": (":::MLLOG [1]\n", [], ["1: event without a key"]),
    "no key": (':::MLLOG {"value": 1}\n', [], ["1: event without a key"]),
    "NaN": (line("seed", float("nan")), ["nan"], ["1: not strict JSON"]),
    "control character": (
        line("seed", "a\x01b").replace("\\u0001", "\x01"),
        ["a\x01b"],
        ["1: not"],
    ),
    "half a surrogate pair": (line("seed", "\ud800"), ["?"], ["1: not strict JSON"]),
    "time missing": (NO_TIME, [1], ["1: seed has no time"]),
    "time as text": (TEXT_TIME, [1], ["1: time of seed is text, read as a number"]),
    "time as a word": (SEED.replace(str(START_MS), '"now"'), [1], ["1: seed has no time"]),
    "infinite time": (
        SEED.replace(str(START_MS), "1e999"),
        [1],
        ["1: not strict", "1: seed has no"],
    ),
    "absurd time": (SEED.replace(str(START_MS), "9" * 5000), [], ["1: event cut or broken"]),
    "metadata is text": (
        ':::MLLOG {"key": "seed", "value": 1, "time_ms": 1, "metadata": "x"}\n',
        [1],
        ["1: metadata of seed is not an object"],
    ),
    "deep nesting": (":::MLLOG " + "[" * 100_000 + "\n", [], ["1: event cut or broken"]),
    "nesting JSON allows": (f":::MLLOG {'[' * 1000}{']' * 1000}\n", [], ["1: event without a key"]),
    "shell trace": ("+ echo " + SEED, [], ["1: shell trace, not an event"]),
    "shell trace of a rank": (" 0: ++ echo " + SEED, [], ["1: shell trace, not an event"]),
    "shell trace of a host": ("[1,0]<stderr>:+ tee " + SEED, [], ["1: shell trace, not an event"]),
    "a plus that is no trace": ("x: 1 + 1 " + SEED, [1], []),
    "token overtyped": ("u" + SEED[2:], [], ["1: event without its token"]),
    "token missing": (line("x") + SEED[9:], [None], ["2: event without its token"]),
    "token broken by a NUL": (SEED.replace("MLLOG", "ML\0LOG"), [], ["1: event without its token"]),
}


@pytest.mark.parametrize("name", DIRT)
def test_dirt_is_mended_or_named(name: str) -> None:
    text, values, repairs = DIRT[name]
    log = parse_log(text.encode("utf-8"), HERE)
    found = [
        str(event.value) if event.value != event.value else event.value for event in log.events
    ]
    assert found == values
    said = [f"{repair.line}: {repair.text}" for repair in log.repairs]
    assert len(said) == len(repairs)
    for text, expected in zip(said, repairs, strict=True):
        assert text.startswith(expected)


@pytest.mark.parametrize("name", DIRT)
def test_dirt_is_named_with_its_line_wherever_it_stands(name: str) -> None:
    text, _, repairs = DIRT[name]
    log = parse_log(b"\r\n\xff\n" + text.encode("utf-8"), HERE)
    lines = [int(each.partition(":")[0]) + 2 for each in repairs]
    assert [repair.line for repair in log.repairs] == lines


def test_bytes_that_are_not_utf8_are_read_and_said() -> None:
    log = parse_log(line("submission_org", "X").encode().replace(b"X", b"Caf\xe9"), HERE)
    assert log.value("submission_org") == "Café"
    assert log.repairs[0].text == "bytes that are not UTF-8 read as latin-1"


@pytest.mark.parametrize("text", ['"time_s": 2.5', '"time_ms": 2500', '"time_s": "2.5"'])
def test_seconds_of_old_logs_become_milliseconds(text: str) -> None:
    log = parse_log(f':::MLLOG {{"key": "seed", {text}, "metadata": {{}}}}'.encode(), HERE)
    assert log.events[0].time_ms == Milliseconds(2500)


def test_lost_events_are_told_from_repaired_ones() -> None:
    text = SEED.strip() + " tail\n" + ":::MLLOG {\n" + SEED[2:]
    assert [repair.lost for repair in parse_log(text.encode(), HERE).repairs] == [False, True, True]


def test_a_printed_dictionary_is_no_event() -> None:
    text = SEED + 'sent {"time": 1}\n{"time_ms_total": 3}\n' + "time_ms\n"
    assert parse_log(text.encode(), HERE).repairs == ()


def test_events_are_found_by_key(tmp_path: Path) -> None:
    log = logged(tmp_path, SEED + line("x", 2) + line("seed", 3))
    assert [event.value for event in log.all("seed")] == [1, 3]
    first, last = log.first("seed"), log.last("seed")
    assert first is not None
    assert last is not None
    assert [log.line_of(each) for each in (first, last)] == [1, 3]
    assert log.first("y") is log.last("y") is log.value("y") is None


def test_events_of_other_keys_are_counted_and_dropped(tmp_path: Path) -> None:
    text = line("x") + NO_TIME + ":::MLLOG {\n"
    log = parse_log(text.encode(), HERE, {"x"})
    assert [event.key for event in log.events] == ["x"]
    assert log.num_events == 2
    assert [repair.text[:12] for repair in log.repairs] == ["event cut or"]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputMissingError, match=r"gone\.txt: cannot be read"):
        read_log(tmp_path / "gone.txt")
    with pytest.raises(InputMissingError, match="cannot be read: Is a directory"):
        read_log(tmp_path)


@given(seed=st.integers(0, 10_000), count=st.integers(1, 5))
def test_damage_never_raises_and_never_hides_a_lost_event(seed: int, count: int) -> None:
    """Bytes overwritten at random: each event of the clean log is there, changed, or reported."""
    draw = random.Random(seed)
    clean = run_log().encode()
    data = bytearray(clean)
    for _ in range(count):
        data[draw.randrange(len(data))] = draw.randrange(256)
    log = parse_log(bytes(data), HERE)
    tokens = clean.count(b":::MLLOG")
    assert len(log.events) + sum(repair.lost for repair in log.repairs) >= tokens - count
    if len(log.events) < tokens:
        assert log.repairs
