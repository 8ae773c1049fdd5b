"""The settings of a comparison as checked values; `lasw.tuning.comparison.reading` reads them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasw.metrics import BOOTSTRAP_SEED, DEFAULT_SAMPLES, TESTS, Finding, Preprocessing, metric, refuse_or_warn
from lasw.tuning.loop import CONFIGURATION

if TYPE_CHECKING:
    from lasw.tuning.local import Setting

NO_TUNING = "none"  # the "optimiser" that leaves the start weights as they are
NOT_LOCAL, AUTO, BEST = "false", "auto", "best"
WITHOUT_DECODER = ("dev_metric",)  # the keys of [run] that have an effect without one
DEFAULT_LOSS = "default"  # a loss in this name: the optimiser's own
_SEED = "{seed}"  # in names of files


@dataclass(frozen=True)
class ComparisonSettings:
    """What is varied and what is measured.

    Args:
        seeds: one run of every system for each.
        losses: metrics that systems are tuned for, unless they say otherwise; by default each optimiser's own.
        measures: metrics that translations are measured with, the columns of the table.
        significance: bootstrap (of segments and runs) or randomisation (stratified, approximate).
        samples: resampled or reshuffled experiments.
        sampling_seed: of these.
        title: of the table and the report.
    """

    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    losses: tuple[str, ...] = ()
    measures: tuple[str, ...] = ("BLEU",)
    significance: str = TESTS[0]
    samples: int = DEFAULT_SAMPLES
    sampling_seed: int = BOOTSTRAP_SEED
    title: str = "Comparison"

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) < len(self.seeds) or min(self.seeds) < 0:
            raise ValueError(f"seeds are {list(self.seeds)}, expected different numbers of at least 0")
        if not self.measures or len(set(self.measures)) < len(self.measures):
            raise ValueError(f"measures are {list(self.measures)}, expected different metrics, at least one")
        if self.significance not in TESTS:
            raise ValueError(f"significance is {self.significance!r}, expected {' or '.join(map(repr, TESTS))}")
        if self.samples < 1 or self.sampling_seed < 0:
            raise ValueError("samples must be at least 1, sampling_seed at least 0")
        for spec in (*self.measures, *(loss for loss in self.losses if loss != DEFAULT_LOSS)):
            metric(spec)


@dataclass(frozen=True)
class TestSet:
    """Text that is translated with the tuned weights and measured.

    Args:
        source: what is decoded, a sentence a line; not needed where lists are reranked.
        references: one file or several, each with a line per sentence.
        lists: N-best lists to rerank instead of decoding; for decoder fixed, its lists for this text.
        encoding: of these files.
        tokenize: one of sacreBLEU's tokenisers; by default tokens are split on space and tab.
        lowercase: lower-case references and translations first.
        strip_marks: take phrase marks (|0-2|) and factors (word|NN) of Moses away first.
        join: put sub-words together first, bpe or sentencepiece.
        unescape: turn what Moses' tokeniser escapes (&quot; &apos; ...) back first.
        force: go on with text that is surely not what it seems.
    """

    __test__ = False  # no test case, whatever pytest takes its name for

    references: tuple[Path, ...]
    source: Path | None = None
    lists: tuple[Path, ...] = ()
    encoding: str = "utf-8"
    tokenize: str | None = None
    lowercase: bool = False
    strip_marks: bool = False
    join: str | None = None
    unescape: bool = False
    force: bool = False

    @property
    def text(self) -> Preprocessing:
        """What happens to references and translations first."""
        return Preprocessing.of(vars(self))

    def settle(self, findings: Iterable[Finding | None]) -> list[str]:
        """Warnings of what is suspicious about text, see `refuse_or_warn`."""
        return refuse_or_warn(findings, force=self.force, wording=_as_key)


@dataclass(frozen=True)
class DevelopmentSet(TestSet):
    """Text that systems are tuned on.

    Args:
        start: a file of weights to start from; by default the decoder's own, for lists on disk `unit_weights`.
        select: options of lasw select that make this set from a pool, such as "--method length --low 10 --high 50"; by
            chance another set for each seed, unless they have a --seed. Source and references, where they are given,
            take its place.
        pool: name of the pool, if there are several.
        trusted: name of the pool that method svm is to trust.

    ``{seed}`` in the name of a file stands for the seed of the run.
    """

    start: Path | None = None
    select: str = ""
    pool: str = ""
    trusted: str = ""

    def of_seed(self, seed: int) -> DevelopmentSet:
        """The same with a seed in the place of ``{seed}`` in its files' names."""

        def named(path: Path) -> Path:
            return Path(str(path).replace(_SEED, str(seed)))

        return replace(
            self,
            references=tuple(map(named, self.references)),
            source=None if self.source is None else named(self.source),
            lists=tuple(map(named, self.lists)),
        )

    @property
    def differs(self) -> bool:
        """Whether it is another one for every seed."""
        return self != self.of_seed(0)


@dataclass(frozen=True)
class PoolFiles:
    """Noisy parallel text that development sets are selected from.

    Args:
        source: tokenised, a sentence a line.
        target: their translations.
        alignment: their word alignment, as lasw select reads it; without it each method that needs one aligns the pool.
        lists: N-best lists of all its sentences, in any layout; a selected set has those of its lines, so that
            nothing is decoded.
        encoding: of these files.
    """

    source: Path
    target: Path
    alignment: Path | None = None
    lists: tuple[Path, ...] = ()
    encoding: str = "utf-8"


@dataclass(frozen=True)
class SystemSettings:
    """A row, or several, of the table.

    Args:
        optimiser: by name; none leaves the start weights as they are.
        losses: metrics it is tuned for, instead of those of all systems; default is the optimiser's own.
        development: names of the development sets it is tuned on; by default all.
        local: false; weights of each test sentence (WRO-local) under a setting such as bleu:power=1:alphas=1,10, which
            is what true means; best: the setting that is best on the development set, leaving one sentence out; auto:
            that one if it beats the global weights by more than chance, else those.
        lists_of: name of another system, whose tuning with the same seed on the same set makes the N-best lists; this
            one learns once from all of them. Lists on disk are everybody's anyway.
    """

    optimiser: str
    losses: tuple[str, ...] = ()
    development: tuple[str, ...] = ()
    local: str = NOT_LOCAL
    lists_of: str = ""


def _as_key(name: str, value: str) -> str:
    return f"{name.replace('-', '_')} = {value or 'true'}"


def local_setting(text: str) -> Setting:
    """The setting of a `local` that is neither false, auto nor best.

    Raises:
        UserError: there is none so.
    """
    from lasw.tuning.local import Setting

    return Setting() if text == "true" else Setting.parse(text)


@dataclass(frozen=True)
class System:
    """A checked [system.NAME]: its settings, and the optimiser's arguments beside the loss."""

    name: str
    settings: SystemSettings
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """Checked settings of a comparison.

    Attributes:
        settings: of [comparison].
        run: the keys of [run] that are given.
        decoder: name and arguments; None: lists on disk are the pool.
        development: by name.
        test: by name; empty: the development sets are measured.
        systems: the first is the baseline.
    """

    settings: ComparisonSettings
    run: dict[str, Any]
    decoder: dict[str, Any] | None
    development: dict[str, DevelopmentSet]
    test: dict[str, TestSet]
    systems: tuple[System, ...]

    def without_effect(self) -> list[str]:
        """A line about keys of [run] that need a decoder, if there is none; one for every key idle beside another."""
        lines = [
            f"{section}.{key} has no effect: {why}"
            for section, key, why in CONFIGURATION.without_effect({"run": self.run})
        ]
        for system in self.systems:
            given = {"optimiser": {"name": system.settings.optimiser, **system.arguments}}
            of_system = [] if system.settings.optimiser == NO_TUNING else CONFIGURATION.without_effect(given)
            lines += [f"system.{system.name}.{key} has no effect: {why}" for _, key, why in of_system]
        idle = [key for key in self.run if key not in WITHOUT_DECODER]
        if self.decoder is not None or not idle:
            return lines
        return [*lines, f"[run] {', '.join(idle)}: no effect without a [decoder], as the lists on disk are the pool"]
