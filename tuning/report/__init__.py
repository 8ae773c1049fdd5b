"""Reports: one HTML file about a run, several runs or a comparison, that opens without a network."""

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
