"""The methods of selection by name. A new one is a file with a `Method`, a line here and a test."""

from lasw.metrics import Registry
from lasw.selection.rankings.la_features import NAMES
from lasw.selection.rankings.method import Method

METHODS: Registry[type[Method]] = Registry(
    "method",
    {
        "la": "lasw.selection.rankings.la:LA",
        "svm": "lasw.selection.rankings.learned:Learned",
        "random": "lasw.selection.rankings.baselines:AnyChance",
        "length": "lasw.selection.rankings.baselines:Chance",
        "tfidf": "lasw.selection.rankings.baselines:TfIdf",
        "edit": "lasw.selection.rankings.baselines:EditDistance",
        "features": "lasw.selection.rankings.oracle:FirstBest",
        "oracle": "lasw.selection.rankings.oracle:OracleScore",
        "separability": "lasw.selection.rankings.oracle:Separability",
        **{name: f"lasw.selection.rankings.la:{name}" for name in NAMES},
    },
)
