"""From a checked configuration to tuned weights: opens what it names, describes the run, runs the loop."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lasw.metrics import Preprocessing, References, UserError, metric, read_lines
from lasw.tuning.decoders import DECODERS, Decoder
from lasw.tuning.formats import match, read_weights
from lasw.tuning.loop import Configuration, Loop, Outcome, Progress, Sections, SharedFiles, keys_of
from lasw.tuning.optimisers import make_optimiser
from lasw.tuning.provenance import fingerprint, versions
from lasw.tuning.report import write_run_report
from lasw.tuning.run_directory import Json, RunDirectory
from lasw.tuning.weights import Weights

# None changes the weights that an iteration makes.
MAY_CHANGE = ("run.iterations", "run.noise", "run.patience", "decoder.jobs")


def tune(
    configuration: Configuration,
    *,
    command: str = "",
    progress: Progress | None = None,
    shared: SharedFiles | None = None,
) -> Outcome:
    """Tune, or go on tuning where the run directory stands.

    Args:
        configuration: all settings.
        command: as it was typed, for the report.
        progress: who is told.
        shared: decodings of other runs with the same decoder and sentences.

    Raises:
        UserError: what is named cannot be read or does not fit together, the directory holds another run, or the
            decoder failed.
    """
    run, data = configuration.run, configuration.data
    text = Preprocessing(data.tokenize, data.lowercase)
    source = read_lines(data.source, encoding=data.encoding)
    references = _references(configuration, text)
    if len(source) != len(references):
        raise UserError(
            f"{len(source)} lines",
            path=data.source,
            expected=f"{len(references)}, as many as {data.references[0]} has",
        )
    name, arguments = configuration.decoder
    decoder = open_decoder(name, arguments)
    start = _start(run.start, decoder)
    described = _description(configuration, decoder, start, text, command)
    with RunDirectory(run.directory) as directory:
        directory.describe(described, MAY_CHANGE)
        loop = Loop(
            decoder=decoder,
            optimiser=lambda seed: make_optimiser(
                configuration.optimiser[0], dict(configuration.optimiser[1]), seed=seed
            ),
            iterations=run.iterations,
            nbest=run.nbest,
            tolerance=run.tolerance,
            keep=run.keep,
            dev_metric=metric(run.dev_metric),
            seed=run.seed,
            preprocess=text.function(),
            rounds=run.rounds(),
            stopping=run.stopping(),
            interpolation=run.interpolated(),
            aggregate=run.aggregate,
            min_count=run.min_count,
            earlier_starts=run.earlier_starts,
            shared=shared,
            told=write_run_report,
        )
        outcome = loop.run(source, references, start, directory, progress)
        if not outcome.already_finished:
            comment = [described["signature"]]
            if outcome.dev_score is not None:
                comment.insert(0, f"{run.dev_metric} {outcome.dev_score:.6f} on {data.source}")
            decoder.write_configuration(run.directory / decoder.configuration_name, outcome.weights, comment)
    return outcome


def open_decoder(name: str, arguments: dict[str, object]) -> Decoder:
    """The decoder `name` with these constructor arguments.

    Raises:
        UserError: it cannot be had with them.
    """
    try:
        return DECODERS.find(name)(**arguments)
    except ValueError as error:
        raise UserError(f"decoder {name}: {error}") from None


def _references(configuration: Configuration, text: Preprocessing) -> References:
    data = configuration.data
    return References.read(data.references, preprocess=text.function(), encoding=data.encoding)


def _start(path: Path | None, decoder: Decoder) -> Weights:
    own = decoder.start_weights()
    return own if path is None else match(read_weights(path), own.names, path=path).weights


def _description(
    configuration: Configuration, decoder: Decoder, start: Weights, text: Preprocessing, command: str
) -> Json:
    """What `run.json` says. Files are told apart by their content, so their names are no settings."""
    name, arguments = configuration.optimiser
    optimiser = make_optimiser(name, dict(arguments), seed=configuration.run.seed)
    settings = {"nrefs": str(len(configuration.data.references)), **text.settings()}
    inputs: Json = {"source": fingerprint(configuration.data.source)}
    inputs["references"] = {str(k): fingerprint(path) for k, path in enumerate(configuration.data.references, 1)}
    inputs["start_weights"] = {"dense": start.by_group(), "sparse": dict(sorted(start.sparse.items()))}
    inputs["decoder"] = _fingerprints(decoder.input_files())
    return {
        "command": command,
        "signature": str(optimiser.signature().with_settings(settings)),
        "dev_signature": str(metric(configuration.run.dev_metric).signature().with_settings(settings)),
        "seed": configuration.run.seed,
        "settings": _without_paths(configuration.sections),
        "inputs": inputs,
        "files": _paths(configuration, decoder.input_files()),
        "versions": versions(),
    }


def _fingerprints(paths: Sequence[str | os.PathLike[str]]) -> dict[str, str]:
    """By the files' names without their folders, which may have moved."""
    found: dict[str, str] = {}
    for path in paths:
        name = Path(path).name
        found[name if name not in found else f"{name} ({len(found) + 1})"] = fingerprint(path)
    return found


def _without_paths(sections: Sections) -> Sections:
    kept: Sections = {}
    for section, values in sections.items():
        own = keys_of(section, values.get("name"))
        kept[section] = {key: value for key, value in values.items() if own[key].kind is not Path}
    return kept


def _paths(configuration: Configuration, of_decoder: Sequence[str | os.PathLike[str]]) -> Json:
    data = configuration.data
    return {
        "source": str(data.source),
        "references": [str(path) for path in data.references],
        "decoder": [os.fspath(path) for path in of_decoder],
    }
