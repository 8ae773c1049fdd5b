"""What a selection leaves on disk: the development set, the fate of every pair, a report.

>>> from lasw.selection import Selection, files_of, report_html, text_names
>>> text_names("pool.de.gz", "pool.en.gz")
('de', 'en')
>>> files_of("dev", ("de", "en"))[:3]
['dev.de', 'dev.en', 'dev.alignment']
>>> "<h1>Nothing was taken</h1>" in report_html(Selection(), "Nothing was taken")
True
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.selection.output.files import PAIR_COLUMNS, files_of, text_names, write_selection
    from lasw.selection.output.report import profile_rows, report_html
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
