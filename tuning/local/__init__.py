"""WRO-local (Song 2015, algorithm 5.2): pairs that are kept, and a weight vector for every sentence made of them.

>>> from lasw.tuning import LocalWeigher, Setting, Weights, local_samples, make_optimiser, make_similarity, pool_of
>>> source = ("ein haus", "er geht", "ein baum")
>>> lists = [["a house", "an house", "house"], ["he goes", "he go", "go he"], ["a tree", "tree", "a a tree"]]
>>> features = {"LM": [[-1, -2, -1.5], [-2, -1, -3], [-1, -1.5, -3]], "WP": [[-2, -2, -1], [-2, -2, -2], [-2, -1, -3]]}
>>> pool = pool_of(lists, features, ["a house", "he goes", "a tree"])
>>> start = Weights.from_groups({"LM": [1.0], "WP": [0.0]})
>>> samples = local_samples(make_optimiser("wro", metric="BLEU+1"), pool, start, source)
>>> samples
LocalSamples(3 sentences, 150 pairs, 2 columns)
>>> LocalWeigher(samples, Setting("bleu", prior=0.1)).weights(make_similarity("bleu", source).to("ein hut"))
Weights(2 dense: LM(1), WP(1); 0 sparse)
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.local.left_out import Curve, grid, leave_one_out
    from lasw.tuning.local.retraining import read_local_sets, retrained
    from lasw.tuning.local.samples import LocalSamples, local_samples, read_samples, write_samples
    from lasw.tuning.local.similarities import SIMILARITIES, Similarity, make_similarity
    from lasw.tuning.local.weighing import GLOBAL, LocalWeigher, Setting, fast_form_error
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
