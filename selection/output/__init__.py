"""What a selection leaves on disk: the development set, the fate of every pair, a report."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.selection.output.files import PAIR_COLUMNS, files_of, text_names, write_selection
    from lasw.selection.output.report import profile_rows, report_html
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
