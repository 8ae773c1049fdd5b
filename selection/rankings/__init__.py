"""What pairs are ranked by: LA's features (table 4.1), learned weights, baselines, oracles.

>>> from lasw.selection import METHODS, NAMES
>>> list(METHODS)[:4]
['la', 'svm', 'random', 'length']
>>> METHODS.find("length").meaning
'chance, within the limits of length'
>>> NAMES[:3]
('LAR', 'RAR', 'TAR')
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.selection.rankings.baselines import LocalSets, ToTest, local_sets
    from lasw.selection.rankings.la_features import MEANINGS, NAMES, UNBOUNDED, LAScorer, most_frequent
    from lasw.selection.rankings.method import SAMPLE, Material, Method
    from lasw.selection.rankings.oracle import Lists
    from lasw.selection.rankings.registry import METHODS
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
