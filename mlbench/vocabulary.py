"""MLPerf's own words as types; one name per thing, used everywhere else.

Definitions follow the MLPerf training rules; log keys and values are spelled as MLPerf logs
spell them. Times carry their unit in the type, so that a duration cannot pass for an instant.
"""

from enum import StrEnum
from typing import NewType

Seconds = NewType("Seconds", float)
"""A duration in seconds."""

Minutes = NewType("Minutes", float)
"""A duration in minutes, the unit of published results."""

Milliseconds = NewType("Milliseconds", float)
"""An instant in milliseconds since the epoch, the unit of ``time_ms`` in a log."""

Samples = NewType("Samples", int)
"""A count of training or evaluation samples: sequences, for BERT."""

Tokens = NewType("Tokens", int)
"""A count of tokens; whether padding is included stands in the name of the variable."""

UNVERIFIED = "unverified"
"""The round of every run that MLPerf has not reviewed: all runs made here."""


class Division(StrEnum):
    """The set of rules an entry is made under."""

    CLOSED = "closed"
    OPEN = "open"


class Availability(StrEnum):
    """How far the system can be had (``submission_status`` in a log)."""

    ONPREM = "onprem"
    CLOUD = "cloud"
    PREVIEW = "preview"
    RESEARCH = "research"


class RunStatus(StrEnum):
    """How a run ended (``status`` in the metadata of ``run_stop``)."""

    SUCCESS = "success"
    ABORTED = "aborted"


class Precision(StrEnum):
    """Number format of the forward and backward pass; weights stay fp32."""

    AUTO = "auto"
    FP32 = "fp32"
    BF16 = "bf16"


def printable(name: object) -> str:
    """Return a text, such as the name of a file, with a ? for what is no UTF-8."""
    return str(name).encode("utf-8", "replace").decode("utf-8")
