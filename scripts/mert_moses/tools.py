"""The files that Moses' own tools work on (``--moses-files``), so that one can go on with them by hand or go back.

==========================================  ===================================================================
runN.features.dat, runN.scores.dat          of the list of iteration N, as the extractor makes them
init.opt                                    the weights before the last iteration with the ranges of mert
runN.mert.log, mert.log                     ``Best point: v v v  => score``: the dense weights that iteration N made
runN.mert.out, mert.out                     the same as MIRA and PRO print them (``F0 v``), with the sparse ones
features.list                               the features as ``-show-weights`` tells them
==========================================  ===================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lasw.metrics import Metric, Vocabulary, metric, write_text
from lasw.scripts.mert_moses.inputs import Inputs
from lasw.scripts.mert_moses.settings import Settings
from lasw.tuning import Weights, group_lines, read_nbest, write_moses_files

_BLEU = "BLEU"


@dataclass
class MosesTools:
    """Writes them into the working directory.

    Args:
        settings: of the run.
        inputs: the references of the scores, the decoder of the features.
    """

    settings: Settings
    inputs: Inputs
    _written: set[int] = field(default_factory=set)

    def remarks(self) -> list[str]:
        """What is worth telling, a line each."""
        if self.settings.metric.partition(":")[0] == _BLEU:
            return []
        return [f"--moses-files: the scores files have the statistics of BLEU, not of {self.settings.metric}"]

    def write_start(self) -> None:
        """What is known before the first iteration."""
        shown = self.inputs.decoder.shown
        text = shown if shown is not None else "".join(f"{line}\n" for line in group_lines(self.inputs.start))
        write_text(self.settings.folder / "features.list", text)

    def write_decoded(self, iteration: int, nbest: Path, opening: str) -> None:
        """What goes with the list of an iteration; files of an earlier run are not taken for this one's.

        Args:
            iteration: its number.
            nbest: the list.
            opening: the text of its init.opt.
        """
        folder = self.settings.folder
        write_text(folder / "init.opt", opening)
        if iteration in self._written:
            return
        self._written.add(iteration)
        measure, references = self._measure(), self.inputs.references
        read = read_nbest(
            nbest,
            references.vocabulary,
            names=self.inputs.start.names,
            sparse_names=Vocabulary(),
            preprocess=self.settings.text.function(),
            unsorted=True,
        )
        statistics = measure.statistics(read.hypotheses, measure.prepare(references), read.owner)
        features, scores = (folder / f"run{iteration}.{name}.dat" for name in ("features", "scores"))
        write_moses_files(features, scores, read, np.asarray(statistics))

    def write_made(self, iteration: int, weights: Weights, score: float) -> None:
        """The weights that an iteration made, and their BLEU on its candidates."""
        values = weights.dense.tolist()
        log = f"Best point: {''.join(f'{value!r} ' for value in values)} => {score:.6f}\n"
        dense = [f"F{k} {value!r}\n" for k, value in enumerate(values)]
        printed = "".join([*dense, *(f"{name} {value!r}\n" for name, value in sorted(weights.sparse.items()))])
        for name, text in (("mert.log", log), ("mert.out", printed)):
            write_text(self.settings.folder / f"run{iteration}.{name}", text)
            write_text(self.settings.folder / name, text)

    def _measure(self) -> Metric:
        """BLEU with the reference length that is asked for."""
        return metric(self.settings.metric if not self.remarks() else _BLEU)
