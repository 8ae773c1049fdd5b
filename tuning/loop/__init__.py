"""The tuning loop: decode, score, optimise, repeat; what a round decodes with, when a run ends, how it resumes."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.loop.fitting import Proposal
    from lasw.tuning.loop.assessment import Assessment, assessed
    from lasw.tuning.loop.loop import Loop, Outcome, Progress, iteration_seed
    from lasw.tuning.loop.settings import CONFIGURATION, STEPS, Configuration, RunSettings, Steps
    from lasw.tuning.loop.shared_files import SharedFiles
    from lasw.tuning.loop.steps import share_of
    from lasw.tuning.loop.stopping import reason_to_stop
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
