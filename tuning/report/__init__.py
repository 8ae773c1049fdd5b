"""Reports: one HTML file about a run, several runs or a comparison, that opens without a network.

>>> import tempfile
>>> from pathlib import Path
>>> from lasw.tuning import Table, read_run, write_report
>>> read_run("no-such-run")
Traceback (most recent call last):
lasw.metrics.errors.UserError: no-such-run: no run directory (there is no run.json); expected the --run of 'lasw tune'
>>> table = Table("Test", ["system", "BLEU"], [["before", 20.5], ["after", 21.25]])
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder, "report.html")
...     write_report(path, [], "Two systems", [table])
...     "21.25" in path.read_text()
True
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.report.comparison import (
        column_names,
        is_comparison,
        read_comparison_data,
        told_of_runs,
        write_comparison_report,
    )
    from lasw.tuning.report.development import held_out_scores, read_development
    from lasw.tuning.report.page import Table, document, html_table, number_html, write_report, write_run_report
    from lasw.tuning.report.run_data import Development, read_run
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
