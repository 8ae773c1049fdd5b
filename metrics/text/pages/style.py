"""How a report looks (on wide and narrow screens, light and dark, and on paper), and the script that sorts tables."""

from __future__ import annotations

# Lines and bars: told apart by people with any colour vision (after Okabe & Ito), and each at least 3 : 1 against the
# page, light or dark; when they come round the lines are dashed.
LIGHT = ("#0072b2", "#c75400", "#00805d", "#a8477c", "#8f6400", "#3585b5", "#1d1f21", "#757575")
DARK = ("#5aaee6", "#f28b4b", "#35c49a", "#e394c3", "#e3b341", "#a3d5f5", "#f0f1f2", "#9aa0a6")
# Text, soft text, lines, page, links and marked text with what is behind it.
LIGHT_PAGE = {"text": "#1d1f21", "soft": "#5c6166", "line": "#d4d8dc", "page": "#ffffff", "mark": "#ffe08a"}
# How surely one metric is better than another, from sure to not at all, and one beside itself.
LIGHT_CELLS = {"p0": "#1b5e91", "p1": "#7fb2d9", "none": "#f4f5f6", "self": "#c9cdd1"}
DARK_CELLS = {"p0": "#8cc4ef", "p1": "#2f6a96", "none": "#26292c", "self": "#5c6166"}
DARK_PAGE = {"text": "#e6e7e8", "soft": "#a9aeb3", "line": "#44484d", "page": "#1b1d1f", "mark": "#6b5200"}


def _variables(page: dict[str, str], colours: tuple[str, ...]) -> str:
    named = {**page, **{f"c{k}": colour for k, colour in enumerate(colours)}}
    return " ".join(f"--{name}: {value};" for name, value in named.items())


_DRAWN = "\n".join(
    f".chart line.c{k}, .chart polyline.c{k}, .legend line.c{k} {{ stroke: var(--c{k}); }}"
    f" .chart circle.c{k}, .chart rect.c{k} {{ fill: var(--c{k}); }}"
    for k in range(len(LIGHT))
)

STYLE = (
    f"""
:root {{ color-scheme: light dark; {_variables(LIGHT_PAGE | LIGHT_CELLS, LIGHT)} }}
@media screen and (prefers-color-scheme: dark) {{
  :root {{ {_variables(DARK_PAGE | DARK_CELLS, DARK)} }}
}}
{_DRAWN}
"""
    + """
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin-top: 2rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin-top: 1.5rem; overflow-wrap: anywhere; }
.lead { font-size: 1.15rem; margin: .5rem 0; }
.next { border-left: 4px solid var(--c0); padding-left: .8rem; margin: .8rem 0; }
.wide, .chart { overflow-x: auto; }
.wide:focus-visible { outline: 2px solid var(--c0); }
.chart svg { display: block; width: 100%; height: auto; fill: currentColor; font: 12px system-ui, sans-serif; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: 1rem 1.5rem; }
.charts .chart svg { font-size: 20px; }
.matrix { fill: var(--text); }
.matrix .page { fill: var(--page); }
.matrix .edge { stroke: var(--text); }
.matrix .p0 { fill: var(--p0); }
.matrix .p1 { fill: var(--p1); }
.matrix .none { fill: var(--none); }
.matrix .self { fill: var(--self); }
.chart .grid { stroke: var(--line); }
.legend { display: flex; flex-wrap: wrap; gap: 0 1.2rem; margin: 0; padding: .3rem .5rem; list-style: none; }
.legend { font-size: .85rem; overflow-wrap: anywhere; }
.legend svg { width: 22px; height: 12px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-size: .85rem; font-weight: 600; color: var(--soft); }
.sortable th button { all: unset; cursor: pointer; }
.sortable th button::after { content: " \\2195"; color: var(--soft); }
.sortable th[aria-sort=ascending] button::after { content: " \\2191"; }
.sortable th[aria-sort=descending] button::after { content: " \\2193"; }
.sortable th button:focus-visible { outline: 2px solid var(--c0); }
.sentences { width: 100%; font-size: .9rem; }
.sentences td:last-child { padding-right: 0; white-space: normal; width: 100%; overflow-wrap: anywhere; }
.sentences td p { margin: 0; color: var(--soft); }
.sentences .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.2rem; margin-top: .2rem; }
.sentences small { display: block; color: var(--soft); font-size: .75rem; }
mark { background: var(--mark); color: var(--text); border-radius: 2px; padding: 0 1px; }
p { overflow-wrap: anywhere; }
details { margin: .5rem 0; }
summary { cursor: pointer; }
.facts th { font-weight: 400; min-width: 15rem; overflow-wrap: anywhere; }
td:has(data) { white-space: nowrap; }
.sentences th { overflow-wrap: break-word; min-width: 4.4rem; }
.sentences th:first-child { min-width: 3.2rem; }
code { font-size: .85rem; overflow-wrap: anywhere; }
.wide table:not(.facts) code { white-space: nowrap; }
.facts code { display: inline-block; min-width: 11rem; }
@media screen and (max-width: 44rem) {
  .chart svg { font-size: 20px; }
  .wide table { font-size: .9rem; }
  .facts th { min-width: 9.5rem; }
  .sentences tr { display: grid; grid-template-columns: repeat(4, auto); border-bottom: 1px solid var(--line); }
  .sentences th, .sentences td { border: 0; }
  .sentences th:last-child { display: none; }
  .sentences td:last-child { grid-column: 1 / -1; }
  .sentences .pair { grid-template-columns: 1fr; }
}
@media print {
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  .wide, .chart { overflow: visible; }
  .chart svg { max-width: 16cm; }
  .wide table { font-size: 8pt; }
  h2, h3 { break-after: avoid; }
  .next, .wide tr, .sentences tr, .chart { break-inside: avoid; }
  .sortable th button::after { content: ""; }
}
"""
)

# Rows in the order of the exact values of a column, largest first, then the other way round; text by its words.
SORT_SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") !== "descending", sign = falling ? -1 : 1;
      const key = row => {
        const cell = row.cells[column], data = cell.querySelector("data");
        return data ? Number(data.value) : cell.textContent;
      };
      const numbers = (a, b) => typeof a === "number" && typeof b === "number";
      const order = (a, b) => numbers(a, b) ? a - b : String(a).localeCompare(String(b));
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      body.append(...[...body.rows].sort((one, other) => sign * order(key(one), key(other))));
    });
  });
}
"""
