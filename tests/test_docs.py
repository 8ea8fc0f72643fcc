"""Documentation that cannot rot: links lead somewhere, pages are current, nothing is missing."""

import re
from pathlib import Path

import pytest

from mlbench import __version__, registry
from mlbench.cli import cli
from mlbench.config.load import presets
from mlbench.registry import Group
from tests.conftest import ROOT
from tests.reference import pages

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_generated_pages_are_current(page: Path) -> None:
    """Run ``make docs`` after changing a command or a config key."""
    assert page.read_text("utf-8") == pages()[page]


def test_every_command_preset_and_extension_is_documented() -> None:
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    words = [f"mlbench {name}" for name in cli.commands]
    words += [file.stem for file in presets()]
    words += [name for group in Group for name in registry.names(group)]
    words += [group.value for group in Group]
    assert [word for word in words if word not in text] == []


def test_the_readme_names_the_two_commands_that_work() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    commands = re.findall(r"^make ([a-z-]+)", readme, re.MULTILINE)
    assert commands[:2] == ["run", "test"]
    assert set(commands) <= set(targets)


def test_modules_are_short_and_every_package_says_what_it_is() -> None:
    for module in (ROOT / "mlbench").rglob("*.py"):
        text = module.read_text("utf-8")
        assert text.startswith('"""'), module
        assert len(text.splitlines()) <= 300, module


def test_the_changelog_has_a_place_for_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert "## Unreleased" in text or f"## {__version__}" in text


def test_make_has_few_targets_and_help_for_each() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    phony = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split()
    explained = re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)
    assert sorted(phony) == sorted(explained)
    assert len(phony) <= 15
