"""What differences between scores mean: bootstrap over segments, variation over runs.

>>> from lasw.metrics import Evaluation, metric, paired_bootstrap
>>> lines = [f"sentence {k} is a little longer than that" for k in range(20)]
>>> worse = [line.replace("little", "bit") if k % 2 else line for k, line in enumerate(lines)]
>>> bleu = metric("BLEU")
>>> first, second = paired_bootstrap(bleu, Evaluation.from_lines(lines, worse, lines).statistics(bleu), seed=1)
>>> first.score < second.score, second.p_value < 0.05
(True, True)
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.significance.bootstrap import (
        BOOTSTRAP_SEED, DEFAULT_SAMPLES, FEW_SEGMENTS, MINIMUM_SEGMENTS, Comparison, Interval, bootstrap_scores,
        confidence, paired_bootstrap, percentile_p_value, resampled_counts,
    )
    from lasw.metrics.significance.instability import MINIMUM_RUNS, TESTS, Difference, Spread, differences, spread
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
