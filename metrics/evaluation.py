"""Several systems' translations of the same segments, and their statistics under any metric, computed once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Metric, References
from lasw.metrics.parallel import check_parallel
from lasw.metrics.text import Corpus


@dataclass(frozen=True)
class Evaluation:
    """S systems over n segments.

    Attributes:
        references: of n segments.
        systems: S corpora of n sentences over the references' vocabulary.

    Raises:
        UserError: a system has another number of lines than the references.
    """

    references: References
    systems: tuple[Corpus, ...]
    _statistics: dict[str, list[NDArray[Any]]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for system in self.systems:
            check_parallel(self.references.corpora[0], system)

    def statistics(self, metric: Metric) -> list[NDArray[Any]]:
        """Statistics (n, k) of each system, shared by metrics with the same `statistics_key`."""
        key = metric.statistics_key()
        if key not in self._statistics:
            prepared = metric.prepare(self.references)
            owner = np.arange(len(self.references), dtype=np.int32)
            self._statistics[key] = [metric.statistics(system, prepared, owner) for system in self.systems]
        return self._statistics[key]

    def corpus_scores(self, metric: Metric) -> NDArray[np.float64]:
        """(S,) corpus scores."""
        return metric.corpus_scores(np.stack([x.sum(axis=0) for x in self.statistics(metric)]))

    def sentence_scores(self, metric: Metric) -> NDArray[np.float64]:
        """(S, n) sentence scores."""
        return np.stack([metric.sentence_scores(x) for x in self.statistics(metric)])
