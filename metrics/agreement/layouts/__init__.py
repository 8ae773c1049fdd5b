"""Judgements as they are published: the folders of mt-metrics-eval, WMT's rankings and direct assessment as CSV."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.agreement.layouts.marks import read_marks
    from lasw.metrics.agreement.layouts.mtme import read_mtme
    from lasw.metrics.agreement.layouts.official import OFFICIAL
    from lasw.metrics.agreement.layouts.rankings import read_rankings
    from lasw.metrics.agreement.layouts.registry import LAYOUTS, other_layouts
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
