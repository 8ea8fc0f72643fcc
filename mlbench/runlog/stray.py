"""Events whose token is damaged: the reader cannot see them, so they are looked for afterwards.

Published logs have them: a key typed into the terminal overwrote the token (``u::MLLOG {...``), or
the first line begins behind it. They are named and not used: a line without its token may as well
be a program that prints a dictionary.
"""

import re
from collections.abc import Iterator

from mlbench.runlog import TOKEN

_TOKEN = TOKEN.encode()
_TIME = re.compile(rb'"time_m?s"')
_SHORTEST_PIECE = 3


def stray_events(data: bytes, is_searched: bool = True) -> Iterator[tuple[int, str]]:
    """Yield the byte and a description of each line that holds an event without a whole token.

    Args:
        data: bytes of a log.
        is_searched: False when it is known that every time in them is that of a whole event.
    """
    if is_searched:
        yield from _lines_without_token(data)
    cut = data.rfind(b"\n") + 1
    tail = data[cut:].rstrip(b"\r\0 ")
    if any(tail.endswith(_TOKEN[:size]) for size in range(_SHORTEST_PIECE, len(_TOKEN))):
        yield cut, f"file ends within a token: {tail[-40:].decode('latin-1')}"


def _lines_without_token(data: bytes) -> Iterator[tuple[int, str]]:
    seen = -1
    for match in _TIME.finditer(data):
        begin = data.rfind(b"\n", 0, match.start()) + 1
        brace = data.find(b"{", begin, match.start())
        if begin == seen or brace < 0 or data.find(_TOKEN, begin, match.start()) >= 0:
            continue
        seen = begin
        end = data.find(b"\n", begin)
        line = data[begin : end if end >= 0 else len(data)]
        yield begin, f"event without its token, not used: {line[:80].decode('latin-1').strip()}"
