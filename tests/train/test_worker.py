"""What a rank writes down as the reason of an end."""

from mlbench.errors import ExitCode
from mlbench.submission.records import RankReport
from mlbench.train.stop import SUPERVISOR_GONE
from mlbench.train.worker import first_cause


def report(rank: int = 1, *, pid: int = 1, **changes: object) -> RankReport:
    fields = {"rank": rank, "pid": pid, "host": "here"}
    return RankReport(**(fields | changes))  # type: ignore[arg-type]


def ended(message: str, code: ExitCode) -> RankReport:
    return report(ended=True, exit_code=int(code), message=message)


def test_without_a_fault_elsewhere_the_reason_is_one_s_own() -> None:
    assert first_cause("SIGTERM", [report()], (), "") == "SIGTERM"
    assert first_cause("SIGTERM", [ended("", ExitCode.OK)], (), "") == "SIGTERM"


def test_a_rank_that_failed_first_is_the_reason() -> None:
    fault = ended("out of memory", ExitCode.LAUNCH)
    told = "the launcher ended with exit code 7"
    assert first_cause("connection lost", [fault], (), told) == "rank 1: out of memory"


def test_a_rank_that_was_told_to_stop_and_was_quicker_is_no_fault() -> None:
    quick = ended("SIGTERM", ExitCode.INTERRUPTED)
    assert first_cause("SIGTERM", [quick], (), "SIGTERM") == "SIGTERM"
    assert first_cause("connection lost", [quick], (), "SIGTERM") == "SIGTERM"


def test_all_ranks_notice_that_the_supervisor_is_gone() -> None:
    quick = ended(SUPERVISOR_GONE, ExitCode.INTERRUPTED)
    assert first_cause(SUPERVISOR_GONE, [quick], (), "") == SUPERVISOR_GONE
    assert first_cause("connection lost", [quick], {1}, "") == SUPERVISOR_GONE


def test_a_rank_that_was_stopped_alone_is_named() -> None:
    alone = ended("SIGTERM", ExitCode.INTERRUPTED)
    told = "the launcher ended with exit code 130"
    assert first_cause(told, [alone], (), told) == "rank 1: SIGTERM"
    assert first_cause("connection lost", [alone], (), "") == "rank 1: SIGTERM"


def test_a_rank_that_is_gone_without_a_word_is_named() -> None:
    assert first_cause("connection lost", [report(pid=7)], {1}, "") == "rank 1 (pid 7) died"


def test_a_rank_that_is_gone_but_said_why_did_not_die() -> None:
    assert first_cause("SIGTERM", [ended("SIGTERM", ExitCode.INTERRUPTED)], {1}, "SIGTERM") == (
        "SIGTERM"
    )
