"""From a text to an object: metrics by specification, the arguments of constructors as keys and options."""

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
