"""The word alignment models of Thot.

fast_align is Dyer, Chahuneau and Smith (2013), with the variational Bayes of its authors' program; ibm1, ibm2 Brown et
al. (1993); hmm Vogel, Ney and Tillmann (1996); eflomal Östling and Tiedemann (2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lasw.selection.alignment.aligner import Aligner, Sentences


@dataclass(frozen=True)
class _Thot(Aligner):
    iterations: int = 5  # what the literature trains each model for
    kind: ClassVar[str]

    def train(self, source: Sentences, target: Sentences, prefix: str) -> None:
        """See `Aligner`."""
        # The alignments are taken from the printed files: asking an IBM 2 model for them one by one ends in a
        # segmentation fault in Thot 3.5.3.
        if not self._trained(source, target).print(prefix):
            raise OSError(f"the model files {prefix}.* could not be written")

    def _model(self, kind: str, *first: Any) -> Any:
        from thot import alignment

        return getattr(alignment, kind)(*first)

    def _trained(self, source: Sentences, target: Sentences) -> Any:
        return self._fitted(self._model(self.kind), zip(source, target, strict=True))

    def _fitted(self, model: Any, pairs: Any = (), *, last: bool = True) -> Any:
        for pair in pairs:
            model.add_sentence_pair(*pair, 1)
        model.emit_training_alignments = last
        model.start_training()
        for _ in range(self.iterations):
            model.train()
        model.end_training()
        return model


class Ibm1(_Thot):
    """IBM model 1."""

    kind = "Ibm1AlignmentModel"


class FastAlign(_Thot):
    """fast_align."""

    kind = "FastAlignModel"

    def _model(self, kind: str, *first: Any) -> Any:
        model = super()._model(kind)
        # The Dirichlet prior of Chahuneau et al. (2013, section 2): rare words stop being garbage collectors.
        model.variational_bayes = True
        return model


@dataclass(frozen=True)
class Eflomal(_Thot):
    """Eflomal. Its own number of iterations comes from the size of the text: `train` runs the whole schedule."""

    iterations: int = 1
    kind = "EflomalAlignmentModel"

    def _model(self, kind: str, *first: Any) -> Any:
        model = super()._model(kind)
        model.seed = self.seed
        model.deterministic = True
        return model


class Hmm(_Thot):
    """The hidden Markov model, started from as many iterations of IBM 1, as Thot's own trainer does."""

    kind = "HmmAlignmentModel"

    def _trained(self, source: Sentences, target: Sentences) -> Any:
        first = self._fitted(self._model(Ibm1.kind), zip(source, target, strict=True), last=False)
        return self._fitted(self._model(self.kind, first))


class Ibm2(Hmm):
    """IBM model 2, started in the same way."""

    kind = "Ibm2AlignmentModel"
