"""LA selection itself, and each of its features alone."""

from __future__ import annotations

from lasw.selection.pool import Scorer
from lasw.selection.rankings.la_features import LOOKS_AT_FUNCTION_WORDS, NAMES
from lasw.selection.rankings.method import Material, Method


class LA(Method):
    """LA selection (Song 2015, algorithm 4.1)."""

    meaning = "the sum of the features of word alignment (LA selection)"
    aligned = filtered = weighted = function_words = True

    def scorer(self, material: Material) -> Scorer:
        """LA's own."""
        return material.la


def _alone(feature: str) -> type[Method]:
    class Alone(Method):
        meaning = f"LA's feature {feature} alone (table 4.4)"
        aligned = filtered = True
        function_words = feature == LOOKS_AT_FUNCTION_WORDS

        def scorer(self, material: Material) -> Scorer:
            return material.la.alone(feature)

    return Alone


LAR, RAR, TAR, AFer1, AFer2, AFer3, SLCSR, TLCSR, SLDSR, TLDSR, STLR, TFWP = map(_alone, NAMES)
