"""Moses as a decoder: its features, its options, several processes of it, its files.

>>> import gzip, tempfile
>>> from pathlib import Path
>>> from lasw.tuning import FeatureNames, recorded_iterations
>>> names = FeatureNames((("LM0", 1), ("TranslationModel0", 2)))
>>> with tempfile.TemporaryDirectory() as folder:
...     for number in (1, 2):
...         with gzip.open(Path(folder, f"run{number}.best100.out.gz"), "wt") as stream:
...             _ = stream.write("0 ||| a house ||| LM0= -1 TranslationModel0= -2 -1 ||| -4\\n")
...     _ = Path(folder, "run2.moses.ini").write_text("[weight]\\nLM0= 0.5\\nTranslationModel0= 0.2 0.3\\n")
...     recorded = recorded_iterations(Path(folder), 100, names)
>>> [path.name for path in recorded.lists], recorded.after
(['run1.best100.out.gz', 'run2.best100.out.gz'], (Weights(3 dense: LM0(1), TranslationModel0(2); 0 sparse),))
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.decoders.moses.decoder import Moses, refuse_program
    from lasw.tuning.decoders.moses.recorded import Recorded, RecordedLists, recorded_iterations
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
