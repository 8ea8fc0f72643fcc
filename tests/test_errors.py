"""Every exit code has an error, and the tree in the docstring is the real one."""

import mlbench.errors as errors
from mlbench.errors import ExitCode, MlbenchError, did_you_mean, error_for


def test_every_failing_exit_code_has_an_error() -> None:
    for code in set(ExitCode) - {ExitCode.OK}:
        error = error_for(code, "why")
        assert error.exit_code is code
        assert str(error) == "why"


def test_the_drawn_tree_names_every_class_with_its_code() -> None:
    def classes(kind: type[MlbenchError]) -> list[type[MlbenchError]]:
        return [kind, *(found for sub in kind.__subclasses__() for found in classes(sub))]

    lines = (errors.__doc__ or "").splitlines()
    drawn = {
        line.split()[-0]: line
        for line in (part.replace("|", " ").replace("+--", " ").strip() for part in lines)
        if "Error" in line
    }
    for kind in classes(MlbenchError):
        assert f" {kind.exit_code.value}" in drawn[kind.__name__]


def test_suggestions_are_near_or_absent() -> None:
    assert did_you_mean("torchrn", ["torchrun", "local"]) == "; did you mean 'torchrun'?"
    assert did_you_mean("zzz", ["torchrun", "local"]) == ""
