"""How reports look, whatever they are about: one HTML file that opens without a network, with tables and charts."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.text.pages.charts import Series, dot_rows, histogram, line_chart, stacked_bars
    from lasw.metrics.text.pages.page import document, facts_table, first_screen, html_table, number_html
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
