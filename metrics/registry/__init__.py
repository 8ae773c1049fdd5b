"""From a text to an object: metrics by specification, the arguments of constructors as keys and options.

>>> from lasw.metrics import metric
>>> str(metric("chrF++").signature())
'CHRF|chars:6|words:2|beta:2|version:0.1.0'
>>> metric("blue")
Traceback (most recent call last):
lasw.metrics.errors.UserError: unknown metric 'blue'; expected ...; did you mean 'BLEU'?
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.registry.metrics import (
        METRICS, OF_FILES, OF_TEXTS, display_of, is_metric, metric, named_in, spelt,
    )
    from lasw.metrics.registry.parameter import (
        Limits, NotNegative, Parameter, Seed, check_options, construct, options_of, parameters,
    )
    from lasw.metrics.registry.registry import Registry
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
