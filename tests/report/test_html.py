"""The page in a real browser: it loads alone, sorts, filters, opens rows, draws charts."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mlbench.report import Cell, Column, Report, Table
from mlbench.report.html import FACETS, render_html
from mlbench.score.leaderboard import Leaderboard, Order
from tests.report.pages import (
    HOSTILE,
    has_pack,
    many_entries,
    odd_entries,
    published,
    report_of,
    two_entries,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_NAMES = ("chromium", "chromium-browser", "google-chrome")

Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        reason = f"no browser is installed: none of {', '.join(_NAMES)}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def open_page(browser: "Browser", tmp_path: Path) -> Iterator[Open]:
    """Open a report's page; at the end it must have been quiet and alone."""
    heard: list[str] = []
    pages: list[Page] = []

    def open_(report: Report, width: int = 1280, scheme: Any = "light") -> "Page":
        file = tmp_path / f"page-{len(pages)}.html"
        file.write_text(render_html(report), "utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        pages.append(page)
        page.on("console", lambda text: heard.append(text.text) if text.type == "error" else None)
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: heard.append(f"dialog {dialog.message}"))
        page.on(
            "request",
            lambda asked: (
                None if asked.url.startswith(("file:", "data:")) else heard.append(asked.url)
            ),
        )
        page.goto(file.as_uri())
        return page

    yield open_
    for page in pages:
        page.close()
    assert heard == []


def column(page: "Page", key: str) -> list[str]:
    """Return the texts of a column of the first table, rows that are filtered out left out."""
    number = page.locator(".board th").evaluate_all(
        "(heads, key) => heads.findIndex((head) => head.dataset.key === key)", key
    )
    rows = page.locator(".board").first.locator("tr.entry:visible")
    return rows.locator(f"td:nth-child({number + 1})").all_inner_texts()


def sort_by(page: "Page", key: str) -> str | None:
    head = page.locator(f".board th[data-key={key}]").first
    head.locator("button").click()
    return head.get_attribute("aria-sort")


def draw_all(page: "Page") -> None:
    for chart in page.locator(".chart").all():
        if chart.is_visible():
            chart.scroll_into_view_if_needed()
            chart.locator("svg.marks").wait_for(timeout=20_000)


def overflow(page: "Page") -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def test_it_sorts_by_number_and_by_name_both_ways(open_page: Open, tmp_path: Path) -> None:
    page = open_page(report_of(two_entries(tmp_path)))
    assert column(page, "minutes") == ["2.750", "5.500"]
    assert sort_by(page, "minutes") == "ascending"
    assert column(page, "minutes") == ["2.750", "5.500"]
    assert sort_by(page, "minutes") == "descending"
    assert column(page, "minutes") == ["5.500", "2.750"]
    assert sort_by(page, "submitter") == "ascending"
    assert column(page, "submitter") == ["acme", "Zeta"]
    assert sort_by(page, "submitter") == "descending"
    assert column(page, "submitter") == ["Zeta", "acme"]


def test_filters_hide_rows_in_tables_and_charts(open_page: Open, tmp_path: Path) -> None:
    page = open_page(report_of(two_entries(tmp_path)))
    page.select_option("#filter-submitter", label="acme")
    assert column(page, "submitter") == ["acme"]
    assert page.locator("#count").inner_text() == "1 of 2 rows"
    chart = page.locator(".chart").first
    chart.scroll_into_view_if_needed()
    chart.locator("svg.marks").wait_for()
    page.wait_for_function("!document.querySelector('.chart').textContent.includes('Zeta')")
    page.click("button[type=reset]")
    page.wait_for_function("document.getElementById('count').textContent === '2 of 2 rows'")
    page.fill("#search", "BOX-1 zeta")
    assert column(page, "submitter") == ["Zeta"]
    page.fill("#search", "nothing has this")
    assert page.locator("tr.entry:visible").count() == 0
    assert [f"filter-{name}" for name in FACETS] == [
        each.get_attribute("id") for each in page.locator("#filters select").all()
    ]


def test_a_row_opens_by_mouse_and_by_keyboard_and_follows_its_row(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page(report_of(two_entries(tmp_path)))
    page.locator("tr.entry td.text-system").first.click()
    details = page.locator("tr.details:visible")
    assert details.count() == 1
    text = details.inner_text()
    for word in ("result_9.txt", "left out of the mean", "accelerators_per_node", "seeds"):
        assert word in text
    sort_by(page, "minutes")
    sort_by(page, "minutes")
    is_below = "row => row.previousElementSibling.textContent.includes('Zeta')"
    assert details.evaluate(is_below)
    button = page.locator(".opener button").first
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert page.locator("tr.details:visible").count() == 2
    page.keyboard.press("Space")
    assert page.locator("tr.details:visible").count() == 1


def test_hovering_tells_of_a_run(open_page: Open, tmp_path: Path) -> None:
    page = open_page(report_of(two_entries(tmp_path)))
    draw_all(page)
    for number in (0, 4):
        chart = page.locator(".chart").nth(number)
        chart.scroll_into_view_if_needed()
        chart.locator(".mark-symbol.role-mark path").last.hover(force=True)
        tip = page.locator("#vg-tooltip-element.visible")
        tip.wait_for(timeout=10_000)
        assert "result_" in tip.inner_text()


@pytest.mark.parametrize("width", [1280, 400])
def test_it_fits_the_window_and_texts_do_not_meet(
    open_page: Open, tmp_path: Path, width: int
) -> None:
    page = open_page(report_of(two_entries(tmp_path)), width)
    page.locator(".opener button").first.click()
    draw_all(page)
    assert overflow(page) <= 0
    assert len(page.screenshot(full_page=True)) > 20_000
    for chart in page.locator(".chart").all():
        assert overlapping(chart) == []
    for head in page.locator(".board th:visible").all():
        assert head.evaluate("each => each.scrollWidth <= each.clientWidth + 1")


def overlapping(chart: Any) -> list[list[str]]:
    """Return pairs of axis labels and values that lie on each other."""
    return list(
        chart.evaluate(
            """chart => {
              const texts = [...chart.querySelectorAll(
                '.role-axis-label text, .role-mark.value text, .role-axis-title text')]
                .filter(t => t.textContent && getComputedStyle(t).opacity !== '0');
              const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
              const found = [];
              boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
                const x = Math.min(p.right, q.right) - Math.max(p.left, q.left);
                const y = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
                if (x > 2 && y > 4) found.push([a, b]);
              }));
              return found;
            }"""
        )
    )


def test_it_is_dark_where_the_reader_wants_that(open_page: Open, tmp_path: Path) -> None:
    report = report_of(two_entries(tmp_path))
    grounds = set()
    for scheme in ("light", "dark"):
        page = open_page(report, 1280, scheme)
        draw_all(page)
        ground = "getComputedStyle(document.body).backgroundColor"
        label = "getComputedStyle(document.querySelector('.role-axis-label text')).fill"
        grounds.add((page.evaluate(ground), page.evaluate(label)))
    assert grounds == {
        ("rgb(255, 255, 255)", "rgb(28, 39, 51)"),
        ("rgb(20, 24, 29)", "rgb(230, 233, 237)"),
    }


def test_it_follows_a_change_to_dark(open_page: Open, tmp_path: Path) -> None:
    page = open_page(report_of(two_entries(tmp_path)))
    draw_all(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "getComputedStyle(document.querySelector('.role-axis-label text')).fill"
        " === 'rgb(230, 233, 237)'"
    )


def test_hostile_names_and_missing_values_do_no_harm(open_page: Open, tmp_path: Path) -> None:
    report = report_of(odd_entries(tmp_path))
    page = open_page(report)
    for button in page.locator(".opener button").all():
        button.click()
    draw_all(page)
    assert page.locator("img").count() == 0
    assert HOSTILE in page.locator("body").inner_text()
    assert page.locator(
        "#count"
    ).inner_text() == f"{len(report.board.rankings[0].standings)} of " + (
        f"{sum(len(group.standings) for group in report.board.rankings)} rows"
    )
    page.select_option("#filter-submitter", label="o'<b>\"&")
    assert page.locator("tr.entry:visible").count() == 1


def test_sixty_rows_or_two_rounds_work_at_both_widths(
    open_page: Open, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if has_pack():
        results = published(request.getfixturevalue("official_rounds"))
    else:
        results = tuple(many_entries(tmp_path))
    report = report_of(results)
    total = sum(len(table.rows) for table in report.tables)
    for width in (1280, 400):
        page = open_page(report, width)
        draw_all(page)
        assert page.locator("tr.entry").count() == total
        assert overflow(page) <= 0
        page.check("#all-columns")
        assert overflow(page) <= 0


def test_many_rows_make_a_file_of_few_megabytes(tmp_path: Path) -> None:
    text = render_html(report_of(many_entries(tmp_path)))
    assert len(text) < 3_000_000


def test_the_same_report_gives_the_same_bytes_and_names_no_server(tmp_path: Path) -> None:
    report = report_of(two_entries(tmp_path), Order())
    text = render_html(report)
    assert text == render_html(report)
    assert text.count("</script>") == 3
    assert 'src="' not in text.split("<script>")[0]
    assert "default-src &#39;none&#39;" in text


def test_tables_without_results_behind_them_are_shown() -> None:
    columns = (Column("a", "first"), Column("b", "second", is_number=True))
    table = Table("a <title>", {}, columns, ((Cell("x<y", "x<y"), Cell(None)),), ("a <note>",))
    text = render_html(Report(("in",), (table,), Leaderboard((), Order())))
    for word in ("a &lt;title&gt;", "x&lt;y", "a &lt;note&gt;"):
        assert word in text
