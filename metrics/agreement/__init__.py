"""Metrics against people: judgements and marks read, correlations, their significance, tables and a picture."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.agreement.correlation import TAUS, Correlation, quotient, tau_of_counts
    from lasw.metrics.agreement.direct_assessment import DirectAssessment, read_direct_assessment
    from lasw.metrics.agreement.drawing import Panel, panel_title, picture
    from lasw.metrics.agreement.judgements import Judgements, read_judgements
    from lasw.metrics.agreement.panels import (
        SEGMENTS, Agreement, Key, Scores, agreement_of, agreement_of_scores, weighted_sums,
    )
    from lasw.metrics.agreement.significance import Significance, agreement_significance
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
