"""The statistics by name. A new one is a file with a `Statistic`, a line here and a test."""

from __future__ import annotations

from lasw.metrics.agreement.statistics.base import AVERAGES, Asked, Statistic
from lasw.metrics.errors import UserError
from lasw.metrics.registry import Registry

_HERE = "lasw.metrics.agreement.statistics"
STATISTICS: Registry[type[Statistic]] = Registry(
    "statistic",
    {
        "pearson": f"{_HERE}.linear:Pearson",
        "pearson-robust": f"{_HERE}.linear:RobustPearson",
        "spearman": f"{_HERE}.linear:Spearman",
        "tau-b": f"{_HERE}.orders:TauB",
        "tau-c": f"{_HERE}.orders:TauC",
        "tau12": f"{_HERE}.orders:Tau12",
        "tau13": f"{_HERE}.orders:Tau13",
        "tau14": f"{_HERE}.orders:Tau14",
        "darr": f"{_HERE}.orders:Darr",
        "accuracy": f"{_HERE}.orders:Accuracy",
        "acc-eq": f"{_HERE}.calibration:CalibratedAccuracy",
        "pairwise-accuracy": f"{_HERE}.orders:PairwiseAccuracy",
        "spa": f"{_HERE}.soft:SoftPairwiseAccuracy",
    },
)


def asked_for(text: str, average: str = "", points: float = 25.0) -> tuple[Asked, ...]:
    """From ``NAME,NAME``.

    Raises:
        UserError: there is no such statistic, one is named twice, or none is.
    """
    names = [name.strip() for name in text.split(",")]
    for k, name in enumerate(names):
        STATISTICS.find(name)
        if name in names[:k]:
            raise UserError(f"statistic {name} twice", expected="each once")
    if average and average not in AVERAGES:
        raise ValueError(f"average {average!r}; expected one of {', '.join(AVERAGES)}")
    return tuple(Asked(name, average, points) for name in names)
