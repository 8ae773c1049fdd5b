"""Thot as a decoder, and the making of a Thot system from word-aligned text.

>>> from lasw.metrics import Corpus, Vocabulary
>>> from lasw.tuning import TrainingOptions, check_text
>>> options = TrainingOptions(order=4)
>>> check_text(Corpus.from_lines(["das haus"], Vocabulary()), "train.de", options)
>>> check_text(Corpus.from_lines(["das ||| haus"], Vocabulary()), "train.de", options)
Traceback (most recent call last):
lasw.metrics.errors.UserError: train.de:1: the token '|||' means something else in Thot's files; replace it in the text
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.decoders.thot.decoder import Thot
    from lasw.tuning.decoders.thot.training import TrainingOptions, build_system, check_text
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
