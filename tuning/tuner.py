"""From a checked configuration to tuned weights: opens what it names, describes the run, runs the loop."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from lasw.metrics import Metric, Preprocessing, References, UserError, metric, read_lines, refuse_or_warn
from lasw.tuning.decoders import Decoder, on_cluster, open_decoder
from lasw.tuning.formats import as_json, match, read_weights
from lasw.tuning.loop import CONFIGURATION, Configuration, Loop, Outcome, Progress, SharedFiles
from lasw.tuning.optimisers import Optimiser
from lasw.tuning.provenance import fingerprint, fingerprints, versions
from lasw.tuning.report import write_run_report
from lasw.tuning.run_directory import Json, RunDirectory
from lasw.tuning.weights import Weights

# None changes the weights that an iteration makes.
MAY_CHANGE = ("run.iterations", "run.noise", "run.patience", "run.folds", "data.force", "decoder.jobs")


def tune(
    configuration: Configuration,
    *,
    command: str = "",
    progress: Progress | None = None,
    shared: SharedFiles | None = None,
    dask: str | None = None,
) -> Outcome:
    """Tune, or go on tuning where the run directory stands.

    Args:
        configuration: all settings.
        command: as it was typed, for the report.
        progress: who is told.
        shared: decodings of other runs with the same decoder and sentences.
        dask: address of a Dask scheduler whose workers decode; then the decoder's `jobs` do not count.

    Raises:
        UserError: what is named cannot be read or does not fit together, the directory holds another run, or the
            decoder failed.
    """
    run, data = configuration.run, configuration.data
    text = Preprocessing.of(vars(data))
    source = read_lines(data.source, encoding=data.encoding)
    references = References.read(data.references, preprocess=text.function(), encoding=data.encoding)
    if len(source) != len(references):
        raise UserError(
            f"{len(source)} lines",
            path=data.source,
            expected=f"{len(references)}, as many as {data.references[0]} has",
        )
    decoder = open_decoder(configuration.decoder, jobs=dask is None)
    start = start_weights(decoder, run.start)
    dev_metric = metric(run.dev_metric)
    made = _with_loss(configuration, decoder.given_loss(references, text.function()))
    described = _description(configuration, decoder, start, dev_metric, text, made)
    with RunDirectory(run.directory) as directory, on_cluster(decoder, dask) as translating:
        directory.describe({"command": command, **described}, MAY_CHANGE)
        loop = Loop(
            translating,
            made,
            run,
            dev_metric,
            preprocess=text.function(),
            shared=shared,
            told=write_run_report,
            settle=partial(refuse_or_warn, force=data.force, wording=_as_option),
        )
        outcome = loop.run(source, references, start, directory, progress)
        if not outcome.already_finished:
            comment = [described["signature"]]
            if outcome.dev_score is not None:
                comment.insert(
                    0, f"{run.dev_metric} {dev_metric.display.value(outcome.dev_score):.6f} on {data.source}"
                )
            decoder.write_configuration(run.directory / decoder.configuration_name, outcome.weights, comment)
    return outcome


def _with_loss(configuration: Configuration, loss: Metric | None) -> Callable[[int], Optimiser]:
    """What makes the optimisers; a loss that came with the lists is theirs."""
    if loss is None:
        return configuration.make_optimiser
    if "metric" in configuration.optimiser:
        raise UserError("loss_scores of the decoder and a metric of the optimiser", expected="one loss")
    return lambda seed: replace(configuration.make_optimiser(seed), metric=loss)  # type: ignore[type-var]


def _as_option(name: str, value: str) -> str:
    return f"--{name} {value or 'true'}"


def start_weights(decoder: Decoder, path: Path | None) -> Weights:
    """The weights in a file for a decoder's features; without a file the decoder's own.

    Raises:
        UserError: the file cannot be read, or its features are others.
    """
    own = decoder.start_weights()
    return own if path is None else match(read_weights(path), own.names, path=path).weights


def _description(
    configuration: Configuration,
    decoder: Decoder,
    start: Weights,
    dev_metric: Metric,
    text: Preprocessing,
    made: Callable[[int], Optimiser],
) -> Json:
    """What `run.json` says. Files are told apart by their content, so their names are no settings."""
    data, seed = configuration.data, configuration.run.seed
    of_text = {"nrefs": str(len(data.references)), **text.settings()}
    return {
        "signature": str(made(seed).signature().with_settings(of_text)),
        "dev_signature": str(dev_metric.signature().with_settings(of_text)),
        "seed": seed,
        "settings": {
            section: CONFIGURATION.without_paths(section, values) for section, values in configuration.sections.items()
        },
        "inputs": {
            "source": fingerprint(data.source),
            "references": {str(k): fingerprint(path) for k, path in enumerate(data.references, 1)},
            "start_weights": as_json(start),
            "decoder": fingerprints(decoder.input_files()),
        },
        "files": {
            "source": str(data.source),
            "references": [str(path) for path in data.references],
            "decoder": [os.fspath(path) for path in decoder.input_files()],
        },
        "versions": versions(),
    }
