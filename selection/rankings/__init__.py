"""What pairs are ranked by: LA's features (table 4.1), learned weights, baselines, oracles."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.selection.rankings.baselines import local_sets
    from lasw.selection.rankings.methods import (
        ALIGNMENT, LISTS, METHODS, TEST, TEST_LISTS, TRUSTED, Material, Method, method,
    )
    from lasw.selection.rankings.oracle import Lists
    from lasw.selection.rankings.ranked import UNBOUNDED
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
