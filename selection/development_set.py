"""A development set from a pool: a method ranks its pairs, and the best are taken that are unlike the others."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from lasw.metrics import workers
from lasw.selection.choice import WORDS, Diversity, Selection, choose, collector, counted
from lasw.selection.pool import Bitext, ShardedBitext
from lasw.selection.rankings import METHODS, SAMPLE, LAScorer, Material, Method, most_frequent


def select(
    pool: Bitext,
    method: Method | str = "la",
    *,
    words: int = WORDS,
    la: LAScorer | None = None,
    diversity: Diversity | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
) -> Selection:
    """Select a development set, as ``lasw select`` does::

        pool = Bitext("pool.de", "pool.en", "pool.align")
        selection = select(pool, words=30_000, la=LAScorer(("the", "of"), low=5, high=40))
        write_selection("dev", selection, ("de", "en"))  # dev.de, dev.en, dev.lines ...

        read = Path("test.de").read_text().splitlines()
        similar = select(pool, METHODS.find("tfidf")(tuple(read)), diversity=Diversity(threshold=0.5))
        print(similar.words, similar.chosen.line, similar.chosen.source.texts())

    Args:
        pool: files of parallel text; with word alignment if the method needs one.
        method: see `METHODS`; a name alone for one that needs nothing but the pool.
        words: source words to reach; the last pair taken may go beyond.
        la: what LA selection sees of a pair, and the limits of length; by default with the most frequent words of the
            pool's target side as function words.
        diversity: which pairs are too much like others; by default what `filters` says.
        jobs: see `reading`.
        scheduler: see `reading`.

    Raises:
        UserError: a file cannot be read, files do not belong together, or a pair is faulty.
    """
    ranking = METHODS.find(method)() if isinstance(method, str) else method
    with reading(pool, la or usual_scorer(pool), words=words, jobs=jobs, scheduler=scheduler) as material:
        scorer = ranking.scorer(material)
        filtering = diversity or filters(type(ranking))
        return choose(material.collect(scorer), words, filtering, feature_names=scorer.feature_names)


@contextlib.contextmanager
def reading(
    pool: Bitext,
    la: LAScorer,
    *,
    words: int = WORDS,
    jobs: int = 1,
    scheduler: str | None = None,
    watch: Callable[[int], object] | None = None,
) -> Iterator[Material]:
    """A pool as methods see it; what reads it gives the same for any number of workers.

    Args:
        pool: the pairs.
        la: of LA selection.
        words: source words wanted.
        jobs: threads that score, processes for a pool in many files.
        scheduler: address of a Dask scheduler, whose workers take their place.
        watch: told now and then how many more pairs were read.

    Raises:
        UserError: Dask is not installed, or no scheduler is there.
    """
    with workers(jobs, apart=isinstance(pool, ShardedBitext), scheduler=scheduler) as where:
        numbered = counted(pool, where)
        yield Material(numbered, la, lambda scorer: collector(numbered, scorer, where, watch=watch), words)


def usual_scorer(pool: Bitext) -> LAScorer:
    """LA's scorer for a pool, the most frequent target words of its first pairs being the function words."""
    return LAScorer(most_frequent(pool.first(SAMPLE)), extra=pool.score_names, aligned=pool.aligned)


def filters(
    method: type[Method],
    threshold: float | None = None,
    window: int = 200,
    untranslated: float | None = None,
    similarity: str = "BLEU+1",
) -> Diversity:
    """The filters: where nothing is said, the thresholds of LA selection, or none for what it is compared with."""
    usual = Diversity() if method.filtered else Diversity(threshold=2.0, untranslated=2.0)  # no similarity is larger
    return Diversity(
        usual.threshold if threshold is None else threshold,
        window,
        usual.untranslated if untranslated is None else untranslated,
        similarity,
    )
