"""How a report looks: on wide and narrow screens, light and dark, and on paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --text: #1d1f21; --soft: #5c6166; --line: #d4d8dc; --page: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e7e8; --soft: #a9aeb3; --line: #44484d; --page: #1b1d1f; }
  .chart, .legend { background: #ffffff; color: #1d1f21; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin-top: 2rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin-top: 1.5rem; }
.wide, .chart { overflow-x: auto; }
.chart svg { display: block; width: 100%; min-width: 30rem; height: auto; font: 12px system-ui, sans-serif; }
.chart .grid { stroke: #e3e6e9; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1.2rem; margin: 0; padding: .3rem .5rem; list-style: none; }
.legend { font-size: .85rem; }
.legend svg { width: 22px; height: 12px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-size: .85rem; font-weight: 600; color: var(--soft); }
p { overflow-wrap: anywhere; }
td:has(+ td > code) { min-width: 9.5rem; overflow-wrap: anywhere; }
code { font-size: .85rem; overflow-wrap: anywhere; }
td code { display: inline-block; min-width: 11rem; }
@media print {
  body { background: #ffffff; color: #000000; font-size: 10pt; }
  main { max-width: none; padding: 0; }
  .wide, .chart { overflow: visible; }
  .chart svg { min-width: 0; max-width: 16cm; }
  section > h3, table, .chart { break-inside: avoid; }
}
"""
