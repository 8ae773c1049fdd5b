"""The methods of selection by name: each gives a scorer, whose ranking `la.select` takes pairs from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from lasw.metrics import unknown
from lasw.selection.choice import WORDS, Collect
from lasw.selection.features import NAMES, LAScorer, Scorer
from lasw.selection.pool import Bitext, PairBlock
from lasw.selection.rankings.oracle import Lists
from lasw.selection.rankings.ranked import RankedBy, any_length

ALIGNMENT, TEST, TRUSTED, LISTS, TEST_LISTS = "alignment", "test", "trusted", "lists", "test lists"


@dataclass(frozen=True)
class Material:
    """What methods build their scorers from; a method asks for what it `needs` and leaves the rest alone.

    Args:
        la: LA's scorer with the user's weights, function words and length limits.
        sample: blocks of the first pairs of the pool, for counts of words.
        collector: reads the pool with a scorer.
        words: source words wanted.
        seed: of chance.
        test: source sentences of a test set.
        trusted: pairs of good translations, aligned.
        lists: N-best lists of the pool; a list for every pair.
        test_lists: of the test set.
    """

    la: LAScorer
    sample: Callable[[], Iterable[PairBlock]]
    collector: Callable[[Scorer], Collect]
    words: int = WORDS
    seed: int = 1
    test: tuple[str, ...] = ()
    trusted: Bitext | None = None
    lists: Lists | None = None
    test_lists: Lists | None = None


@dataclass(frozen=True)
class Method:
    """A way to rank the pairs of a pool.

    Args:
        meaning: in a line.
        scorer: made from the material.
        needs: of ALIGNMENT, TEST, TRUSTED, LISTS, TEST_LISTS.
        filtered: whether pairs that are too similar to others or untranslated are left out unless the user says
            otherwise; what LA selection is compared with does without.
    """

    meaning: str
    scorer: Callable[[Material], Scorer]
    needs: frozenset[str] = frozenset()
    filtered: bool = False


def method(name: str) -> Method:
    """The method of this name.

    Raises:
        UserError: there is none.
    """
    if name not in METHODS:
        raise unknown("method", name, list(METHODS))
    return METHODS[name]


def _la(material: Material) -> Scorer:
    return material.la


def _single(name: str) -> Method:
    def scorer(material: Material) -> Scorer:
        zeros = dict.fromkeys(NAMES, 0.0) | {name: 1.0}
        return replace(material.la, weights=tuple(zeros.items()), extra_weights=(0.0,) * len(material.la.extra))

    return Method(f"LA's feature {name} alone (table 4.4)", scorer, frozenset({ALIGNMENT}), filtered=True)


def _svm(material: Material) -> Scorer:
    from lasw.selection.rankings.learned import learn

    assert material.trusted is not None
    return RankedBy(material.la, learn(material.trusted, material.la, material.collector, material.words))


def _random(material: Material) -> Scorer:
    from lasw.selection.rankings.baselines import Chance

    return RankedBy(any_length(material.la), Chance(material.seed))


def _length(material: Material) -> Scorer:
    from lasw.selection.rankings.baselines import Chance

    return RankedBy(material.la, Chance(material.seed))


def _tfidf(material: Material) -> Scorer:
    from lasw.selection.rankings.baselines import MostSimilar, TfIdf

    pool = (text for block in material.sample() for text in block.source.texts())
    return RankedBy(material.la, MostSimilar(TfIdf.counted(material.test, pool)))


def _edit(material: Material) -> Scorer:
    from lasw.selection.rankings.baselines import EditDistance, MostSimilar

    return RankedBy(material.la, MostSimilar(EditDistance(material.test)))


def _features(material: Material) -> Scorer:
    from lasw.selection.rankings.oracle import ByLine, first_best_similarities

    assert material.lists is not None
    assert material.test_lists is not None
    return RankedBy(material.la, ByLine(first_best_similarities(material.lists, material.test_lists)))


def _oracle(material: Material) -> Scorer:
    from lasw.selection.rankings.oracle import ByLine, oracle_scores

    assert material.lists is not None
    return RankedBy(material.la, ByLine(oracle_scores(material.lists)))


def _separability(material: Material) -> Scorer:
    from lasw.selection.rankings.oracle import ByLine, separabilities

    assert material.lists is not None
    return RankedBy(material.la, ByLine(separabilities(material.lists)))


METHODS: dict[str, Method] = {
    "la": Method("the sum of the features of word alignment (LA selection)", _la, frozenset({ALIGNMENT}), True),
    "svm": Method(
        "the same features, combined by an SVM that knows a trusted corpus",
        _svm,
        frozenset({ALIGNMENT, TRUSTED}),
        True,
    ),
    "random": Method("chance, without limits of length", _random),
    "length": Method("chance, within the limits of length", _length),
    "tfidf": Method("TF-IDF cosine to a test set", _tfidf, frozenset({TEST})),
    "edit": Method("edit distance to a test set", _edit, frozenset({TEST})),
    "features": Method(
        "features of the 1-best translation like the test set's", _features, frozenset({LISTS, TEST_LISTS})
    ),
    "oracle": Method("the best score in the N-best list (Hui et al. 2010)", _oracle, frozenset({LISTS})),
    "separability": Method("separability Q = B * J of the N-best list", _separability, frozenset({LISTS})),
    **{name: _single(name) for name in NAMES},
}
