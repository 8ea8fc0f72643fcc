"""The page on the articles says what the logs say."""

from pathlib import Path

from tests.articles import PAGE, PICTURES, tables, with_tables
from tests.report.pages import published


def test_every_row_that_can_be_recomputed_stands_on_the_page(official_rounds: Path) -> None:
    """After a change of scoring: python -m tests.articles V2.0 V2.1."""
    lines = PAGE.read_text("utf-8").splitlines()
    found = tables(published(official_rounds))
    assert {name: len(rows) for name, rows in found.items()} == {
        "values": 4,
        "time": 3,
        "throughput": 3,
        "product": 3,
        "scaling": 3,
        "one-node": 5,
    }
    for name, rows in found.items():
        assert [row for row in rows if row not in lines] == [], name


def test_the_page_has_every_table_and_its_pictures() -> None:
    page = PAGE.read_text("utf-8")
    names = ("values", "time", "throughput", "product", "scaling", "one-node")
    assert with_tables(page, {name: [] for name in names}) != page
    for picture in PICTURES.values():
        assert f"pictures/{picture}" in page
        assert (PAGE.parent / "pictures" / picture).read_bytes().startswith(b"<svg")
