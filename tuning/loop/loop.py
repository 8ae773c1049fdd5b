"""The tuning loop: decode the development set, add to the pool, optimise, write, repeat.

Iteration i decodes with the weights w(i-1), which gives their development score (the decoder's own best hypotheses) and
new candidates, and makes w(i) of all candidates so far. `lasw.tuning.loop.rounds` says what else a round decodes with,
`lasw.tuning.loop.steps` how far it goes, `lasw.tuning.loop.stopping` when the run ends. If no new candidate came, w(i)
is w(i-1): optimising the same pool again would only draw other samples (but once, behind a step held short). To
compare weights by their development score the last ones are decoded with as well; that decoding is the first half of
the iteration that would come next. It is left out where the pool promises no gain from them: then the weights before
stay.

Whatever is used later is read from the files of the run first, so that a run that goes on after a kill computes with
the same numbers as one that was never interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from lasw.metrics import Metric, References, Settle, UserError, refuse_or_warn
from lasw.metrics import metric as metric_of
from lasw.tuning.decoders import Decoder
from lasw.tuning.formats import write_weights
from lasw.tuning.loop.decoding import Clock, DevelopmentDecoder
from lasw.tuning.loop.fitting import Proposal, proposed
from lasw.tuning.loop.gains import KeptOut, gained, pool_gain
from lasw.tuning.loop.history import History
from lasw.tuning.loop.rounds import OtherWeights, asked, other_weights
from lasw.tuning.loop.settings import TRUST, WHOLE, RunSettings
from lasw.tuning.loop.shared_files import SharedFiles
from lasw.tuning.loop.steps import OPEN, Plan, Step, planned, samples, taken
from lasw.tuning.loop.stopping import BY_HEART, NO_NEW_CANDIDATES, WITHIN_NOISE, goes_on, reason_to_stop
from lasw.tuning.optimisers import Optimiser
from lasw.tuning.pool import Columns, Pool
from lasw.tuning.run_directory import Json, RunDirectory, write_json
from lasw.tuning.weights import Weights


class Progress(Protocol):
    """Who is told what the loop does."""

    def started(self, iteration: int, step: str) -> None:
        """A step begins: ``decode`` or ``optimise``."""

    def decoded(self, done: int, of: int) -> None:
        """So many sentences of a decoding are translated."""

    def finished(self, record: Json) -> None:
        """An iteration has ended; `record` is its line of the log."""


class Silence:
    """Tells nobody."""

    def started(self, iteration: int, step: str) -> None:
        """Say nothing."""

    def decoded(self, done: int, of: int) -> None:
        """Say nothing."""

    def finished(self, record: Json) -> None:
        """Say nothing."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        weights: the last ones, or those with the best development score.
        dev_score: of these weights, decoded with them; None if nothing was decoded with the last ones.
        reason: why the run ended.
        iterations: how many there are.
        chosen: number of the iteration that made the weights; 0 means the start weights.
        already_finished: nothing was left to do.
    """

    weights: Weights
    dev_score: float | None
    reason: str
    iterations: int
    chosen: int
    already_finished: bool


@dataclass(frozen=True)
class Loop:
    """Tunes a decoder.

    Args:
        decoder: what is tuned.
        optimiser: makes an optimiser for a seed; every iteration has its own, drawn from the run's.
        settings: how the loop runs (its files are those of the directory that `run` gets).
        dev_metric: of the development score, made of its name in the settings.
        preprocess: what was done to the references' lines is done to the hypotheses.
        shared: decodings of other runs with the same decoder and sentences.
        told: called with the run's folder after each round, and at the end with the result too.
        settle: makes warnings or an error of what is suspicious about the text of the first lists (`check_texts`).
    """

    decoder: Decoder
    optimiser: Callable[[int], Optimiser]
    settings: RunSettings
    dev_metric: Metric
    preprocess: Callable[[str], str] | None = None
    shared: SharedFiles | None = None
    told: Callable[[Path, Json | None], None] = lambda folder, result: None
    settle: Settle = refuse_or_warn

    def run(
        self,
        source: Sequence[str],
        references: References,
        start: Weights,
        directory: RunDirectory,
        progress: Progress | None = None,
    ) -> Outcome:
        """Tune from where the files in `directory` (entered, described) stand.

        Raises:
            UserError: sources and references differ in number, the decoder failed, or the directory holds more
                iterations than are asked for. Finished iterations stay.
        """
        if len(source) != len(references):
            raise UserError(f"{len(source)} source sentences", expected=f"{len(references)}, one per reference")
        self.decoder.told = progress.decoded if progress is not None else None
        return _Run(self, source, references, start, directory, progress or Silence()).to_the_end()


def iteration_seed(seed: int, iteration: int) -> int:
    """The seed of one iteration: depends on nothing but the two numbers, so that a run can go on after any of them."""
    return int(np.random.SeedSequence([seed, iteration]).generate_state(1)[0])


class _Run:
    """One run of a loop: the pool and the records of finished iterations, as the files have them."""

    def __init__(
        self,
        loop: Loop,
        source: Sequence[str],
        references: References,
        start: Weights,
        directory: RunDirectory,
        progress: Progress,
    ) -> None:
        self.loop = loop
        # Lists that stay as they are vouch for any weights; steps of a fixed length are as long as they are asked for.
        free = loop.decoder.follows_weights and loop.settings.interpolation == 1
        self.settings = loop.settings if free else replace(loop.settings, step=WHOLE)
        wanted = self.settings.noise or self.settings.keep == "held-out"
        self.looks_at_gains = bool(wanted or self.settings.step == TRUST)
        self.references = references
        self.directory = directory
        self.progress = progress
        self.history = History(directory, start, references, loop.preprocess)
        optimiser = loop.optimiser(iteration_seed(loop.settings.seed, 1))
        losses = [optimiser.measure] if hasattr(optimiser, "metric") else []  # weights recorded elsewhere have none
        self.decoder = DevelopmentDecoder(
            loop.decoder, source, references, loop.dev_metric, self.history, loop.shared, losses, loop.settle
        )
        self.pool = Pool(references)
        self.bleu = metric_of("BLEU")

    def to_the_end(self) -> Outcome:
        count = len(self.history.records)
        if 0 < self.settings.iterations < count:
            raise UserError(
                f"{self.settings.iterations} iterations are asked for, {count} are there",
                path=self.directory.path,
                remedy="ask for at least as many, or give another --run",
            )
        result = self._result()
        if (
            result is not None
            and self.directory.read(self.directory.path / "result.json") == result
            and self.directory.is_complete()
        ):
            outcome = self._outcome(result, already_finished=True)
            write_weights(self.directory.path / "weights.json", outcome.weights)  # should it have been damaged since
            return outcome
        if self._reason() is None:
            # More iterations are asked for than a finished run has: what it ended with is not the end any more.
            for name in ("result.json", "weights.json"):
                (self.directory.path / name).unlink(missing_ok=True)
            if not self.settings.aggregate:
                self.pool = self.history.pool(1, count)
        while self._reason() is None:
            self._iterate()
        return self._finish()

    def _reason(self) -> str | None:
        """Why the run is over; None if it is not."""
        return reason_to_stop(self.settings, self.history.records)

    def _iterate(self) -> None:
        number = len(self.history.records) + 1
        decoded = self._decoded(number)
        before = self.history.weights(number - 1)
        new, others, seconds = self._pooled(number, decoded)
        self.progress.started(number, "optimise")
        clock = Clock()
        plan = planned(self.settings, self.history.records, [*self.history.scores(), decoded["dev_score"]])
        learns = new or goes_on(self.history.records)
        proposal = self._proposal(number, plan, self.pool) if learns else None
        kept_out = None if proposal is None else self._kept_out(number, plan)
        seconds["optimise"] = clock.lap()
        step = Step(before, 1.0, 1.0) if proposal is None else self._step(number, proposal, plan, kept_out)
        seconds["decode"] = round(seconds["decode"] + clock.lap(), 3)
        write_weights(self.directory.iteration(number) / "after.json", step.weights)
        warnings = [*self.directory.take_damage(), *decoded["warnings"], *(proposal.fit.warnings if proposal else ())]
        record = {
            **decoded,
            "pool_bleu": self.pool.corpus_score(self.bleu, step.weights),
            "objective": None if proposal is None else float(proposal.fit.objective),
            "moved": float(np.abs(step.weights.dense - before.dense).max(initial=0.0)),
            **({} if proposal is None else self._judged(number, plan, step, kept_out)),
            "candidates": len(self.pool),
            "new_candidates": new,
            "decodings": 1 + len(others),
            **({"others": others} if others else {}),
            "seed": iteration_seed(self.settings.seed, number),
            "seconds": {**seconds, "optimise": round(seconds["optimise"] + clock.lap(), 3)},
            "warnings": warnings,
        }
        self.history.write_iterated(number, record)
        self.history.reload()
        self._tell()
        self.progress.finished(record)

    def _pooled(self, iteration: int, decoded: Json) -> tuple[int, list[Json], Json]:
        """Take the lists of an iteration in: how many candidates are new, the other decodings, seconds by step."""
        if self.settings.aggregate:
            self.pool = self.history.pool(self._oldest(iteration), iteration - 1)
        clock = Clock()
        new = self.pool.add(self.history.nbest(iteration))
        seconds = {**decoded["seconds"], "pool": clock.lap()}
        others = []
        for place, other in enumerate(self._others(iteration, decoded), 2):
            others.append(self._decoded_too(iteration, place, other))
            clock.lap()
            new += self.pool.add(self.history.nbest(iteration, place))
            seconds["decode"] += others[-1]["seconds"]
            seconds["pool"] += clock.lap()
        return new, others, seconds

    def _oldest(self, iteration: int) -> int:
        """The first iteration whose lists are in the pool of `iteration`."""
        return max(1, iteration - self.settings.aggregate + 1) if self.settings.aggregate else 1

    def _kept_out(self, iteration: int, plan: Plan) -> KeptOut | None:
        """Gains on sentences kept out, where somebody looks at them."""
        settings, centre = self.settings, self.history.weights(plan.centre)
        if not self.looks_at_gains or not 0 < settings.folds <= len(self.pool.best(centre)):
            return None

        def learnt(part: Pool) -> Proposal:
            return self._proposal(iteration, plan, part)

        seed = iteration_seed(settings.seed, iteration)
        return KeptOut(self.pool, self.loop.dev_metric, centre, learnt, settings.folds, seed)

    def _judged(self, iteration: int, plan: Plan, step: Step, kept_out: KeptOut | None) -> Json:
        """What the log says of a step, and what the pool promises of it to its sentences and to others."""
        told: Json = {}
        if self.settings.step != WHOLE:
            told["step"] = {"from": plan.centre, "planned": step.planned, "share": step.share}
            told["step"] |= {"lists": list(step.lists), "probes": list(step.probes)}
        if not self.looks_at_gains:
            return told
        metric, seed = self.loop.dev_metric, iteration_seed(self.settings.seed, iteration)
        centre = self.history.weights(plan.centre)
        told["gain"], told["gain_noise"] = pool_gain(self.pool, metric, centre, step.weights, seed)
        if kept_out is not None:
            told["held_out_gain"], told["held_out_noise"] = kept_out.gain(step.share)
        return told

    def _proposal(self, iteration: int, plan: Plan, pool: Pool) -> Proposal:
        optimiser = self.loop.optimiser(iteration_seed(self.settings.seed, iteration))
        earlier: list[Weights] = []
        if self.settings.earlier_starts and optimiser.takes_others:
            earlier = [self.history.weights(k) for k in range(self._oldest(iteration) - 1, iteration - 1)]
        return proposed(self.settings, optimiser, pool, self.history.weights(plan.centre), iteration, earlier)

    def _step(self, iteration: int, proposal: Proposal, plan: Plan, kept_out: KeptOut | None) -> Step:
        """What is taken of a proposal."""
        if self.settings.step != TRUST:
            return taken(proposal, plan, None)
        seed, metric = iteration_seed(self.settings.seed, iteration), self.loop.dev_metric
        n, centre = asked(self.settings, iteration), self.history.weights(plan.centre)
        sampled = samples(len(self.references), seed)
        known = self.decoder.statistics(plan.centre + 1, np.concatenate(sampled))

        def promised(share: float) -> tuple[float, float]:
            return pool_gain(self.pool, metric, centre, proposal.at(share), seed)

        def probed(share: float) -> tuple[float, float]:
            weights = proposal.at(share)
            new = self.decoder.probe(sampled[0], weights, n)
            gain, noise = gained(metric, known[: len(new)], new, seed)
            if gain - noise < -OPEN * promised(share)[1] and len(sampled[1]):
                new = np.concatenate([new, self.decoder.probe(sampled[1], weights, n)])
                gain, noise = gained(metric, known, new, seed)
            return gain, noise

        return taken(proposal, plan, probed, promised, None if kept_out is None else kept_out.gain)

    def _decoded(self, iteration: int) -> Json:
        """The development score of the weights before an iteration, decoded with unless that is done."""
        done = self.history.decoded(iteration, self.history.weights(iteration - 1))
        if done is not None:
            return done
        self.progress.started(iteration, "decode")
        return self.decoder.of_current(iteration, asked(self.settings, iteration))

    def _others(self, iteration: int, decoded: Json) -> list[OtherWeights]:
        n = asked(self.settings, iteration)

        def in_pool(earlier: int) -> bool:
            decoding = earlier + 1  # that with the weights which iteration `earlier` made
            return decoding >= self._oldest(iteration) and asked(self.settings, decoding) >= n

        return other_weights(
            self.settings,
            iteration,
            [*self.history.scores(), decoded["dev_score"]],
            self.history.weights,
            lambda: Columns.of(self.pool),
            iteration_seed(self.settings.seed, iteration),
            in_pool=in_pool,
        )

    def _decoded_too(self, iteration: int, place: int, other: OtherWeights) -> Json:
        done = self.history.decoded(iteration, other.weights, place)
        if done is not None:
            return done
        self.progress.started(iteration, "decode")
        return self.decoder.of_another(iteration, place, other, asked(self.settings, iteration))

    def _result(self) -> Json | None:
        """What `result.json` says at the end; None while something is missing."""
        reason, keep = self._reason(), self.settings.keep
        if reason is None:
            return None
        last = len(self.history.records)
        scores = self.history.scores()  # of what iterations 0, 1, ... made
        if reason == NO_NEW_CANDIDATES:
            last -= 1  # its last decoding was with the weights that it left as they were
        elif reason == BY_HEART:
            last -= 1  # what the last round learnt does not hold
        elif keep != "last" and reason == WITHIN_NOISE:
            last -= 1  # a further decoding could not show what the last weights gain
        elif keep != "last":
            evaluated = self.history.evaluated(last)
            if evaluated is None:
                return None
            scores.append(evaluated["dev_score"])
        by_heart = self.history.by_heart() if keep == "held-out" else [0.0] * len(scores)
        worth = [score - known for score, known in zip(scores, by_heart, strict=False)]
        chosen = last if keep == "last" else int(np.argmax(worth))
        return {
            "reason": reason,
            "iterations": len(self.history.records),
            "keep": keep,
            "chosen": chosen,
            "dev_score": scores[chosen] if chosen < len(scores) else None,
        }

    def _tell(self, result: Json | None = None) -> None:
        """Write the log from what is there, and say so."""
        self.directory.write_log(list(self.history.lines()))
        self.loop.told(self.directory.path, result)

    def _finish(self) -> Outcome:
        if self._result() is None:
            self.progress.finished(self._decoded(len(self.history.records) + 1))
        result = self._result()
        if result is None:
            raise RuntimeError("the last decoding left no trace")
        outcome = self._outcome(result, already_finished=False)
        write_weights(self.directory.path / "weights.json", outcome.weights)
        self._tell(result)
        write_json(self.directory.path / "result.json", result)
        return outcome

    def _outcome(self, result: Json, *, already_finished: bool) -> Outcome:
        return Outcome(
            self.history.weights(result["chosen"]),
            result["dev_score"],
            result["reason"],
            result["iterations"],
            result["chosen"],
            already_finished,
        )
