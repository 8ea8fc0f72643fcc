"use strict";
(() => {
  const { figures, themes } = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // Data comes by column, each text once; charts want rows.
  const unpacked = new Map();
  function rowsOf(name) {
    if (!unpacked.has(name)) {
      const { length, columns } = figures.datasets[name];
      const rows = Array.from({ length }, () => ({}));
      for (const [key, column] of Object.entries(columns)) {
        const at = Array.isArray(column) ? (n) => column[n] : (n) => column.distinct[column.numbers[n]];
        rows.forEach((row, n) => { row[key] = at(n); });
      }
      unpacked.set(name, rows);
    }
    return unpacked.get(name);
  }

  // Rows.
  const entries = all("tr.entry");
  const text = new Map(entries.map((row) => [row, row.textContent.toLowerCase()]));
  let visible = new Set(entries.map((row) => Number(row.dataset.entry)));

  function toggle(row, open) {
    const button = row.querySelector(".opener button");
    const now = open ?? button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(now));
    row.nextElementSibling.hidden = !now || row.hidden;
  }

  document.addEventListener("click", (event) => {
    const row = event.target.closest("tr.entry");
    if (row && (event.target.closest("button") || !String(window.getSelection()))) toggle(row);
  });

  // Sorting: numbers by value, texts by letters; what has no value stands last either way.
  function compare(a, b, isNumber, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * (isNumber ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true, sensitivity: "base" }));
  }

  function sort(head) {
    const table = head.closest("table");
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    all("th[aria-sort]", table).forEach((each) => each.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const body = table.tBodies[0];
    const isNumber = head.classList.contains("number");
    const keyed = all(":scope > tr.entry", body).map((row) => ({
      row, details: row.nextElementSibling, key: row.cells[head.cellIndex].dataset.sort,
    }));
    keyed.sort((a, b) => compare(a.key, b.key, isNumber, sign));
    body.append(...keyed.flatMap(({ row, details }) => [row, details]));
  }

  all(".board th[aria-sort]").forEach((head) => {
    head.querySelector("button").addEventListener("click", () => sort(head));
  });

  // Filters, which apply to every table and to the charts.
  const form = document.getElementById("filters");
  const search = document.getElementById("search");
  const selects = all("select", form);

  function passes(row, words, chosen) {
    return words.every((word) => text.get(row).includes(word))
      && chosen.every(([facet, value]) => row.getAttribute(`data-facet-${facet}`) === value);
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = selects.filter((each) => each.value).map((each) => [each.dataset.facet, each.value.slice(1)]);
    visible = new Set();
    for (const row of entries) {
      row.hidden = !passes(row, words, chosen);
      if (!row.hidden) visible.add(Number(row.dataset.entry));
      toggle(row, row.querySelector(".opener button").getAttribute("aria-expanded") === "true");
    }
    for (const group of all(".group")) {
      const rows = all("tr.entry", group);
      group.hidden = rows.length > 0 && rows.every((row) => row.hidden);
    }
    document.getElementById("count").textContent = `${visible.size} of ${entries.length} rows`;
    redraw();
  }

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  document.getElementById("all-columns").addEventListener("change", (event) => {
    document.body.classList.toggle("all-columns", event.target.checked);
  });

  // Charts: drawn when they come into view, again when filters or the ground change.
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const charts = all(".chart").map((element) => ({
    element, number: Number(element.dataset.figure), inView: false, isStale: true, turn: 0, view: null,
  }));

  const isVisible = (row) => row.entry === undefined || visible.has(row.entry);

  function specOf(number) {
    const { spec, datasets } = figures.specs[number];
    // Vega marks the rows it is given: each drawing has its own.
    const data = Object.fromEntries(
      datasets.map((name) => [name, rowsOf(name).filter(isVisible).map((row) => ({ ...row }))]),
    );
    const hadEntries = datasets.some((name) => rowsOf(name).some((row) => row.entry !== undefined));
    const hasEntries = datasets.some((name) => data[name].some((row) => row.entry !== undefined));
    return hadEntries && !hasEntries
      ? null
      : { ...spec, datasets: data, width: "container" };
  }

  function configOf(theme, width) {
    const config = themes[theme];
    return width < 640 ? { ...config, legend: { ...config.legend, columns: 1 } } : config;
  }

  async function draw(chart) {
    if (!chart.inView || !chart.isStale) return;
    chart.isStale = false;
    const turn = ++chart.turn;
    const spec = specOf(chart.number);
    chart.view?.finalize();
    chart.view = null;
    if (!spec) {
      chart.element.innerHTML = '<p class="none">no row passes the filters</p>';
      return;
    }
    const theme = dark.matches ? "dark" : "light";
    const view = await vegaEmbed(chart.element, spec, {
      config: configOf(theme, chart.element.clientWidth),
      renderer: "svg",
      logLevel: 1, // Errors; that a chart waits for its pointer is none.
      tooltip: { theme },
      actions: { export: true, source: false, compiled: false, editor: false },
    });
    if (turn !== chart.turn) { view.finalize(); return; }
    chart.view = view;
    chart.element.classList.add("drawn");
  }

  function redraw() {
    for (const chart of charts) { chart.isStale = true; draw(chart); }
  }

  const observer = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      const chart = charts.find(({ element }) => element === target);
      chart.inView = isIntersecting;
      draw(chart);
    }
  }, { rootMargin: "400px" });
  charts.forEach(({ element }) => observer.observe(element));
  dark.addEventListener("change", redraw);
  window.addEventListener("beforeprint", () => { for (const chart of charts) { chart.inView = true; draw(chart); } });

  filter();
})();
