"""A process that holds a Thot system and translates: ``python -m lasw.tuning.decoders.thot.worker JOB.json``.

One process, one thread: what a sentence gets depends on nothing but itself and the weights.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from lasw.metrics import UserError, serve

# One hypothesis: its text, the unweighted feature values, the decoder's total.
Hypothesis = tuple[str, tuple[float, ...], float]
# A sentence, the weights, hypotheses to ask for, to keep, whether those with the same text are one.
Request = tuple[str, list[float], int, int, bool]


def main(job_path: str) -> None:
    """Load the system at the first request, answer until the input ends."""
    with open(job_path, encoding="utf-8") as stream:
        job = json.load(stream)
    loaded: list[Any] = []

    def answer(request: Request) -> Any:
        if not loaded:
            loaded.append(_loaded(job))
        return _translated(loaded[0], int(job["stack"]), request)

    serve(answer)


def _loaded(job: dict[str, Any]) -> Any:
    """The model with its settings.

    Raises:
        UserError: sil-thot is not installed, or Thot cannot read the model's files.
    """
    try:
        from thot.alignment import AlignmentModelType
        from thot.translation import SmtModel
    except ImportError:
        raise UserError("decoding with Thot needs sil-thot", remedy="pip install sil-thot") from None

    model = SmtModel(getattr(AlignmentModelType, job["alignment_model"].upper()))
    if not model.load_translation_model(job["translation_model"]) or not model.load_language_model(
        job["language_model"]
    ):
        raise UserError("Thot cannot load the models", path=job["folder"], remedy="train the system again")
    model.heuristic = job["heuristic"]
    model.non_monotonicity = job["reordering"]
    # Thot's A is the longest source phrase; a W of 1 or more is a number of translations, below that a share of the
    # best one's probability.
    model.a = job["longest"]
    model.w = job["options"]
    return model


def _translated(model: Any, stack: int, request: Request) -> list[Hypothesis]:
    from thot.translation import SmtDecoder

    sentence, weights, ask, keep, by_text = request
    model.weights = weights
    decoder = SmtDecoder(model)
    decoder.s = stack
    decoder.is_breadth_first = True
    seen: dict[Any, Hypothesis] = {}
    # `translate` gives weighted components, `translate_n` the features themselves.
    for found in decoder.translate_n(sentence, ask):
        text, values = " ".join(found.target), tuple(found.score_components)
        seen.setdefault(text if by_text else (text, values), (text, values, found.score))
        if len(seen) == keep:
            break
    return list(seen.values())


if __name__ == "__main__":
    main(sys.argv[1])
