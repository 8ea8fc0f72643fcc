"""Names to objects, with one clear error for every way that can fail."""

from importlib.metadata import EntryPoint

import pytest

from mlbench import registry
from mlbench.errors import PreflightError, UsageError
from mlbench.registry import Group


def test_every_group_has_a_built_in_and_listing_imports_nothing() -> None:
    assert registry.names(Group.BENCHMARK) == ["bert"]
    assert registry.names(Group.LAUNCHER) == ["local", "torchrun"]
    assert registry.names(Group.ENGINE) == ["native"]
    assert registry.names(Group.STRATEGY) == ["data"]
    assert registry.names(Group.REPORT) == ["csv", "html", "json", "markdown", "terminal"]


def test_an_unknown_name_gets_a_suggestion_and_the_list() -> None:
    with pytest.raises(
        UsageError, match=r"unknown report format 'jsn'; did you mean 'json'\?.*csv"
    ):
        registry.load(Group.REPORT, "jsn")


def test_a_broken_plugin_fails_only_when_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {
        "broken": [EntryPoint("broken", "no_such_module:x", Group.REPORT.value)],
        "json": [EntryPoint("json", "json:dumps", Group.REPORT.value)],
    }
    monkeypatch.setattr(registry, "_points", lambda group: points)
    assert registry.load(Group.REPORT, "json") is not None
    with pytest.raises(PreflightError, match="report format 'broken'.*cannot be imported"):
        registry.load(Group.REPORT, "broken")


def test_two_plugins_of_one_name_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [EntryPoint("x", f"{module}:x", Group.ENGINE.value) for module in ("a", "b")]
    monkeypatch.setattr(registry, "_points", lambda group: {"x": claims})
    with pytest.raises(UsageError, match="engine 'x' is registered by"):
        registry.load(Group.ENGINE, "x")
