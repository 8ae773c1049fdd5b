"""The tuning loop: decode, score, optimise, repeat; what a round decodes with, when a run ends, how it resumes.

>>> import tempfile
>>> from pathlib import Path
>>> from lasw.tuning import Configuration, tune, with_changes
>>> with tempfile.TemporaryDirectory() as folder:
...     source, references, lists = (Path(folder, name) for name in ("dev.de", "dev.en", "dev.nbest"))
...     _ = source.write_text("ein haus\\n"), references.write_text("a house\\n")
...     _ = lists.write_text("0 ||| house ||| LM= 2 TM= 0 ||| 2\\n0 ||| a house ||| LM= 0 TM= 1 ||| 1\\n")
...     settings = {
...         "run": {"directory": Path(folder, "run"), "folds": 0, "dev_metric": "WER", "iterations": 5},
...         "data": {"source": source, "references": [references]},
...         "decoder": {"name": "fixed", "lists": [lists]},
...         "optimiser": {"name": "mert", "metric": "WER"},
...     }
...     outcome = tune(Configuration.of(with_changes({}, settings)))
>>> outcome.dev_score, outcome.reason
(1.0, 'no new candidates')
"""

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
