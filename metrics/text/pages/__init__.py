"""How reports look, whatever they are about: one HTML file that opens without a network, with tables and charts.

>>> from lasw.metrics.text.pages import Series, document, first_screen, html_table, line_chart
>>> chart = line_chart("BLEU of each round", [Series("dev", [(1, 20.5), (2, 21.0)])], "round", "BLEU (score)")
>>> rounds = html_table(["round", "BLEU"], [["1", "20.50"], ["2", "21.00"]])
>>> page = document("Two rounds", [first_screen("Two rounds", "Done.", "It gained 0.5."), chart, rounds])
>>> page[:15], "<h1>Two rounds</h1>" in page, "http" in page
('<!DOCTYPE html>', True, False)
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.text.pages.charts import Series, dot_rows, dots, histogram, line_chart, stacked_bars
    from lasw.metrics.text.pages.page import document, facts_table, first_screen, html_table, number_html, scrolling
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
