"""A Thot system from word-aligned text: a folder with models that `lasw.tuning.decoders.thot.decoder` decodes with.

The folder: `system.json` describes it and is written last, so that a folder with it is complete. `tm/src_trg.*` are the
phrase table and Thot's small text files, `tm/src_trg_swm.*` and `tm/src_trg_invswm.*` the word alignment models of both
directions (they smooth phrase probabilities), `lm/trg.lm*` the language model.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Corpus, UserError, write_text
from lasw.tuning.decoders.thot.language_model import train_language_model
from lasw.tuning.decoders.thot.phrase_extraction import MAX_LENGTH
from lasw.tuning.decoders.thot.phrase_table import SEPARATOR, write_phrase_table

DESCRIPTION = "system.json"
FORMAT = 1
# Written with the word alignment models, of no use to the decoder. (The training text is: its size sets the expected
# length of a translation.)
_TRAINING_ONLY = (".aligns",)
# Thot's own values (weights of the phrase counts against the lexical models in p(t|s) and p(s|t), a uniform source
# segmentation, geometric target phrase lengths), but for the probability of going on without a jump: at Thot's 0.999
# the jump feature of a monotone translation is log 0.999 a phrase, a thousandth of the scale of the others.
_SMALL_FILES = {
    ".lambda": "0.7 0.7\n",
    ".srcsegmlentable": "Uniform\n",
    ".trgcutstable": "0.9\n",
    ".trgsegmlentable": "Geometric\n",
}
# Tokens that mean something else in Thot's files.
_RESERVED = (SEPARATOR, "<s>", "</s>", "<unk>", "NULL", "UNKNOWN_WORD")


@dataclass(frozen=True)
class TrainingOptions:
    """How a system is built.

    Attributes:
        phrase_length: tokens a phrase may have on either side.
        translations: kept of each source phrase.
        order: of the language model.
        held_out: the last so many sentences tune the language model's interpolation weights instead of being counted.
    """

    phrase_length: int = MAX_LENGTH
    translations: int = 20
    order: int = 3
    held_out: int = 0


def build_system(
    folder: str | os.PathLike[str],
    source: Corpus,
    target: Corpus,
    points: NDArray[np.int32],
    offsets: NDArray[np.int64],
    models: Mapping[str, str | os.PathLike[str]],
    alignment_model: str,
    options: TrainingOptions | None = None,
) -> dict[str, Any]:
    """Write a system; what `system.json` says of it.

    Args:
        folder: to make; may exist and hold an unfinished system, or a finished one that is replaced.
        source: n sentences each, tokenised.
        target: n sentences each, tokenised.
        points: their symmetrised word alignment, see `lasw.tuning.decoders.thot.phrase_extraction.extract`.
        offsets: their symmetrised word alignment, see `lasw.tuning.decoders.thot.phrase_extraction.extract`.
        models: prefix of the files of the word alignment models, keys `invswm` (source to target) and `swm`.
        alignment_model: their kind, as `lasw align` calls it.
        options: of the training.

    Raises:
        UserError: a token that Thot's files cannot hold, or too little text.
    """
    options = options or TrainingOptions()
    for corpus in (source, target):
        check_text(corpus, corpus.path, options)
    place = Path(folder)
    (place / DESCRIPTION).unlink(missing_ok=True)
    for name in ("tm", "lm"):
        (place / name).mkdir(parents=True, exist_ok=True)
    for suffix, text in _SMALL_FILES.items():
        write_text(place / f"tm/src_trg{suffix}", text)
    for name, prefix in models.items():
        _copy_models(Path(prefix), place / "tm", f"src_trg_{name}")
    rows = write_phrase_table(
        place / "tm/src_trg.ttable",
        source,
        target,
        points,
        offsets,
        longest=options.phrase_length,
        best=options.translations,
    )
    if not rows:
        raise UserError("the aligned text has no phrase pairs", remedy="train on more text")
    _language_model(place / "lm/trg.lm", target, options)
    described = {
        "format": FORMAT,
        "decoder": "thot",
        "alignment_model": alignment_model,
        "sentences": len(source),
        "source_tokens": len(source.ids),
        "target_tokens": len(target.ids),
        "phrase_pairs": rows,
        **asdict(options),
        "bytes": {f"{p.parent.name}/{p.name}": p.stat().st_size for p in sorted(place.glob("[tl]m/*"))},
    }
    write_text(place / DESCRIPTION, json.dumps(described, indent=2) + "\n")
    return described


def _language_model(prefix: Path, target: Corpus, options: TrainingOptions) -> None:
    counted = np.arange(len(target) - options.held_out)
    held_out = target.take(np.arange(len(counted), len(target))) if options.held_out else None
    train_language_model(target.take(counted), options.order, held_out).write(prefix)
    # The text its word predictor completes from when a person types; a decoder needs none of it.
    write_text(f"{prefix}.wp", "")


def check_text(corpus: Corpus, path: str | os.PathLike[str] | None, options: TrainingOptions) -> None:
    """Refuse text that `build_system` would refuse, before anything is trained on it.

    Raises:
        UserError: a token that Thot's files cannot hold, or not more sentences than are held out.
    """
    if not 0 <= options.held_out < len(corpus):
        raise UserError(
            f"{options.held_out} sentences held out of {len(corpus)}", expected="0 or more, fewer than there are"
        )
    for token in _RESERVED:
        number = corpus.vocabulary.add(token)
        where = np.flatnonzero(corpus.ids == number)
        if len(where):
            raise UserError(
                f"the token {token!r} means something else in Thot's files",
                path=path,
                line=int(np.searchsorted(corpus.offsets, where[0], side="right")),
                remedy="replace it in the text",
            )


def _copy_models(prefix: Path, folder: Path, name: str) -> None:
    for file in sorted(prefix.parent.iterdir()):
        suffix = file.name.removeprefix(prefix.name)
        if file.name.startswith(f"{prefix.name}.") and suffix not in _TRAINING_ONLY:
            shutil.copyfile(file, folder / f"{name}{suffix}")
