"""Metrics made of other metrics, of programs, and of scores computed elsewhere.

>>> from lasw.metrics import Evaluation, metric
>>> evaluation = Evaluation.from_lines(["a b c d e"], ["a b c d"])
>>> specs = "WER", "CHRF", "MIX:WER=0.25:CHRF=0.75"
>>> wer, chrf, mixed = (float(evaluation.corpus_scores(metric(spec))[0]) for spec in specs)
>>> abs(mixed - (0.25 * wer + 0.75 * chrf)) < 1e-12
True
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.composed.mixture import Mixture
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
