"""What LA selection sees of a pair (Song 2015, table 4.1): the features, computed straight from bytes."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.selection.features.la_features import (
        MEANINGS, NAMES, REASONS, LAScorer, Scored, Scorer, most_frequent, refuse_faults,
    )
    from lasw.selection.features.la_kernel import LENGTH, OK
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
