"""Statistics of how well a metric's numbers agree with people's: one file a family, one line in the registry.

>>> from lasw.metrics import STATISTICS, asked_for
>>> list(STATISTICS)[:4]
['pearson', 'pearson-robust', 'spearman', 'tau-b']
>>> [one.name for one in asked_for("spearman,acc-eq")]
['spearman', 'acc-eq']
>>> asked_for("spearmann")
Traceback (most recent call last):
lasw.metrics.errors.UserError: unknown statistic 'spearmann'; expected ...; did you mean 'spearman'?
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.agreement.statistics.base import (
        AVERAGES, SEGMENTS, SYSTEMS, Asked, Finding, Statistic, Swaps, Values,
    )
    from lasw.metrics.agreement.statistics.rated import Pairs, Rated, rated_marks, rated_pairs
    from lasw.metrics.agreement.statistics.registry import STATISTICS, asked_for
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
