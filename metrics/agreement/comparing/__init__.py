"""What comparisons by people say: scores of systems, and how far the judges agree."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.agreement.comparing.kappa import judges_agreement
    from lasw.metrics.agreement.comparing.wins import WINS, trueskill, wins_of
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
