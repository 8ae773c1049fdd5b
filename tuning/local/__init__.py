"""WRO-local (Song 2015, algorithm 5.2): pairs that are kept, and a weight vector for every sentence made of them."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.local.left_out import Curve, grid, leave_one_out
    from lasw.tuning.local.samples import LocalSamples, local_samples, read_samples, write_samples
    from lasw.tuning.local.similarities import SIMILARITIES, Similarity, make_similarity
    from lasw.tuning.local.weighing import GLOBAL, LocalWeigher, Setting, fast_form_error
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
