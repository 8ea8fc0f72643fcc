"""With the scanner in C a log is what it is without, to the last repair."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlbench.runlog import TOKEN, RunLog
from mlbench.runlog.parts import last_cut, read_parts
from mlbench.runlog.read import parse_log, parse_parts
from mlbench.runlog.vouched import SCANNER
from mlbench.score.run import SCORED_KEYS
from tests.logs import line, run_log

HERE = Path("result_0.txt")
FOLDER = Path(parse_log.__code__.co_filename).parent
KEYS = SCORED_KEYS | {"x\\y", "Größe", ""}

built = pytest.mark.skipif(SCANNER is None, reason="the module in C was not built")


def test_what_was_built_is_used() -> None:
    if any(FOLDER.glob("_scan*.so")) or any(FOLDER.glob("_scan*.pyd")):
        assert SCANNER is not None
        log = parse_log(run_log().encode(), HERE, KEYS)
        assert not isinstance(log.by_key["eval_accuracy"], list)


def same(data: bytes) -> RunLog:
    """The log, after making sure that it is the same with and without the scanner."""
    fast, slow = parse_log(data, HERE, KEYS), parse_log(data, HERE, KEYS, scanner=None)
    # By their text, so that 1 is not 1.0 and a NaN is like another.
    assert repr(fast.events) == repr(slow.events)
    assert fast.repairs == slow.repairs
    assert fast.num_events == slow.num_events
    assert set(fast.by_key) == set(slow.by_key)
    for key in KEYS:
        assert repr(fast.first(key)) == repr(slow.first(key))
        assert repr(fast.last(key)) == repr(slow.last(key))
    assert repr([*fast.backwards(*KEYS)]) == repr([*reversed(slow.events)])
    return fast


EVENT = '{"key": "seed", "value": 1, "time_ms": 2, "metadata": {}}'
UNUSUAL = [
    EVENT,
    EVENT + "\r",
    EVENT + " \t\r",
    EVENT + "}",
    EVENT + ",",
    EVENT + "\x0b",
    EVENT + "\0",
    EVENT[:-1] + ",}",
    EVENT[:-1] + ', "key": "x"}',
    EVENT[:-1] + ', "key": 7}',
    EVENT[:-1] + ', "metadata": 3}',
    EVENT[:-1] + ', "metadata": {"epoch_num": 1}}',
    EVENT[:-1] + ', "time_ms": "late"}',
    EVENT[:-1] + ', "value": 2}',
    EVENT[:-1] + ', "\\u006bey": "x"}',
    EVENT[:-1] + ', "a": "\\ud800"}',
    EVENT[:-1] + ', "a": "\\u00e9 \\n \\" \\x"}',
    EVENT[:-1] + ', "a": [1, [2, {"b": []}], {}, ""]}',
    EVENT[:-1] + ', "a": [1,]}',
    EVENT[:-1] + ', "a": "b"' + TOKEN + "}",
    EVENT[:-1] + f', "a": "{TOKEN} "}}',
    EVENT[:-1] + f', "a": "a long text with {TOKEN} {{}} and more"}}',
    EVENT + TOKEN + EVENT,
    EVENT + " " + TOKEN + " " + EVENT,
    EVENT.replace('"value": 1, ', ""),
    EVENT.replace('"time_ms": 2, ', ""),
    EVENT.replace('"time_ms": 2', '"time_s": 2'),
    EVENT.replace('"seed"', '"se\\/ed"'),
    EVENT.replace('"seed"', '"x\\\\y"'),
    EVENT.replace('"seed"', '"Größe"'),
    EVENT.replace('"seed"', '""'),
    EVENT.replace('"seed"', "null"),
    EVENT.replace("{}", "[]"),
    EVENT.replace("2", "true"),
    *(EVENT.replace("1", "[" * n + "]" * n) for n in (3, 15, 16, 17, 300, 1100)),
    *(
        EVENT.replace("1", number)
        for number in (
            *("-1", "-", "01", "-0", "-0.0", "1.", ".5", "1.5e3", "1e", "1e+", "1E-07", "1e999"),
            *("1e-999", "NaN", "Infinity", "-Infinity", "nul", "null", "true", "tru", "falsee"),
            *("9" * 18, "9" * 19, "9" * 40, "9" * 400, "0." + "3" * 60, "1_0", "+1", "0x1", "1 2"),
        )
    ),
    "",
    "{",
    "{}",
    "[]",
    '"key"',
]


@built
@pytest.mark.parametrize("text", UNUSUAL)
@pytest.mark.parametrize(
    "before", ["", "chatter\n", " 0: ", "+ echo ", "3: + echo ", "a + b ", "+"]
)
@pytest.mark.parametrize("padding", ["", "\n", "\n" + "-" * 300])
def test_unusual_events(before: str, text: str, padding: str) -> None:
    same(f"{before}{TOKEN} {text}{padding}".encode())


@built
def test_an_event_ends_where_the_bytes_end() -> None:
    """Every prefix of an event, so that no check reads beyond what is there."""
    text = line("seed", {"a": [True, None, 1.5e-7]}, note="a\\b").encode()
    for end in range(len(text) + 1):
        same(text[:end])


@built
def test_a_line_of_many_events_is_known_as_a_trace_once() -> None:
    text = line("seed", 1).strip()
    assert same(f"+ echo {text} {text}\n{text}\n".encode()).num_events == 1


keys = st.sampled_from(
    ["seed", "eval_accuracy", "throughput", "other", "run_stop", "x\\y", "Größe"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
events = st.builds(
    lambda key, value, ascii, compact: (
        TOKEN
        + " "
        + json.dumps(
            {"key": key, "value": value, "time_ms": 5, "metadata": {"n": value}},
            ensure_ascii=ascii,
            separators=(",", ":") if compact else None,
        )
    ).encode("utf-8", "surrogatepass"),
    keys,
    values,
    st.booleans(),
    st.booleans(),
)
chatter = st.sampled_from(
    [b"", b"\n", b"\r\n", b"\r", b" 3: ", b"+ ", b"[2]: ++ ", b"50%|##", b":::MLL", b"\0", b"\xff"]
)


@built
@given(st.lists(events | chatter, max_size=12).map(b"".join))
def test_events_among_chatter(data: bytes) -> None:
    same(data)


def damaged(data: bytes, draw: random.Random) -> bytes:
    """The bytes with some overwritten, cut out, doubled or moved."""
    for _ in range(draw.randrange(1, 6)):
        begin, end = sorted(draw.randrange(len(data) + 1) for _ in range(2))
        match draw.randrange(5):
            case 0:
                data = data[:begin] + bytes([draw.randrange(256)]) + data[begin + 1 :]
            case 1:
                data = data[:begin] + data[min(end, begin + 40) :]
            case 2:
                data = data[:end] + data[begin:]
            case 3:
                data = data[:begin] + draw.choice(b'"\\,:{}[]+\n\r 0eE.-').to_bytes() + data[begin:]
            case 4:
                data = data[:end]
        data = data or b"\n"
    return data


@built
@given(st.integers(0, 1_000_000))
@example(0)
def test_damaged_logs(seed: int) -> None:
    draw = random.Random(seed)
    extra = [line("tracked_stats", {"throughput": 2.5, "loss": [0.5, None]}), " 3: " + line("x")]
    same(damaged(run_log(extra=extra).encode(), draw))


@given(st.lists(events | chatter, max_size=12).map(b"\n".join), st.integers(1, 400))
def test_a_log_in_parts_is_that_log(data: bytes, size: int) -> None:
    """Cut wherever ``last_cut`` says it may be."""
    parts, rest = [], data
    while rest:
        cut = last_cut(rest[:size]) or last_cut(rest) or len(rest)
        parts.append(rest[:cut])
        rest = rest[cut:]
    whole = parse_log(data, HERE, KEYS, scanner=None)
    for scanner in {SCANNER, None}:
        log = parse_parts(parts, HERE, KEYS, scanner)
        assert repr(log.events) == repr(whole.events)
        assert log.repairs == whole.repairs
        assert log.num_events == whole.num_events


@pytest.mark.parametrize("size", [300, 1000, 1 << 20])
def test_a_file_in_parts_is_that_file(tmp_path: Path, size: int) -> None:
    file = tmp_path / "result_0.txt"
    data = (run_log() + line("seed", 2)[:50] + "\n" + "x" * 5000 + "\n" + run_log()).encode()
    file.write_bytes(data)
    parts = list(read_parts(file, size))
    assert b"".join(parts) == data
    assert (len(parts) > 1) is (size < len(data))
    fast, slow = parse_parts(parts, file, KEYS), parse_log(data, file, KEYS, scanner=None)
    assert fast.events == slow.events
    assert fast.repairs == slow.repairs
    assert len(fast.repairs) == 1


@built
def test_published_logs(official_rounds: Path) -> None:
    logs = sorted(official_rounds.rglob("result_*.txt"))
    for log in logs[:: max(1, len(logs) // 60)]:
        same(log.read_bytes())


@built
def test_damaged_published_logs(official_rounds: Path) -> None:
    draw = random.Random(5)
    logs = sorted(official_rounds.rglob("result_*.txt"))
    for log in draw.sample(logs, min(40, len(logs))):
        same(damaged(log.read_bytes()[:200_000], draw))
