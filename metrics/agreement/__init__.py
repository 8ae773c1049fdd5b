"""Metrics against people: judgements and marks read, correlations, their significance, tables and a picture.

>>> from lasw.metrics import MarkedSystems, agreement_of, metric
>>> references = ["the cat sat on the mat", "he is asleep now", "it rains today"]
>>> systems = {
...     "online": ["the cat sat on the mat", "he is asleep", "it rain today"],
...     "rules": ["a cat on mat", "he sleeps", "it rains today"],
... }
>>> people = MarkedSystems.from_lines(references, systems, {"online": [95, 80, 60], "rules": [40, 50, 90]}, "news")
>>> people
MarkedSystems('news', 2 systems, 3 segments, 6 marks)
>>> found = agreement_of(metric("CHRF"), people)
>>> round(found["segments", "pearson"].value, 3), found["systems", "pearson"].n
(0.984, 2)
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.agreement.clusters import LEVEL, cluster_ranks, mean_ranks
    from lasw.metrics.agreement.comparing import WINS, judges_agreement, trueskill
    from lasw.metrics.agreement.correlation import TAUS, Correlation, kendall, quotient, tau_of_counts
    from lasw.metrics.agreement.direct_assessment import DirectAssessment, read_direct_assessment
    from lasw.metrics.agreement.disagreements import Translation, largest_disagreements
    from lasw.metrics.agreement.drawing import Panel, panel_title, picture
    from lasw.metrics.agreement.judgements import Judgements, read_judgements
    from lasw.metrics.agreement.panels import (
        Agreement, agreement_of, agreement_of_scores, agreements,
    )
    from lasw.metrics.agreement.layouts import LAYOUTS, OFFICIAL, read_marks, read_mtme, read_rankings
    from lasw.metrics.agreement.marked import MarkedSystems, StoredMetric
    from lasw.metrics.agreement.people import Judged, Scores, metric_scores, people_of, stored_scores
    from lasw.metrics.agreement.questions import Key, Measure
    from lasw.metrics.agreement.significance import SIGNIFICANCE_TESTS, Significance, agreement_significance
    from lasw.metrics.agreement.statistics import AVERAGES, SEGMENTS, STATISTICS, Asked, asked_for
    from lasw.metrics.agreement.sums import weighted_sums
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
