"""N-best lists in another order: by weights, or by the expected utility of each hypothesis (minimum Bayes risk).

>>> from lasw.tuning import Weights, rerank
>>> rerank([["a house", "a tree"]], {"LM": [-2.0, -1.0]}, Weights.from_groups({"LM": [1.0]}))
['a tree']
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.reranking.lists import ListReranker, one_per_sentence, whole_sentences
    from lasw.tuning.reranking.minimum_risk import MinimumRisk, Samples, list_totals
    from lasw.tuning.reranking.plain import pool_of, rerank
    from lasw.tuning.reranking.utility import ExpectedUtility
    from lasw.tuning.reranking.weighted import LocalReranker, Reranker
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
