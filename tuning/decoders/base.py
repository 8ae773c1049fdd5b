"""What every decoder is: features with start weights, N-best lists for weights, a configuration file to write."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Metric, References, UserError, Vocabulary
from lasw.tuning.formats import packed_lists
from lasw.tuning.nbest import NBest
from lasw.tuning.pool import check_lists
from lasw.tuning.weights import Weights


class Decoder(ABC):
    """A program that translates with a log-linear model."""

    name: str
    configuration_name: str = "decoder.cfg"  # of the file that `write_configuration` writes, if nobody says otherwise
    follows_weights: bool = True  # False: its lists are the same whatever the weights, and that is no fault
    translates: bool = True  # False: its lists are files, which nobody needs workers for
    told: Callable[[int, int], object] | None = None  # how many sentences are done of how many, while it decodes

    def input_files(self) -> Sequence[str | os.PathLike[str]]:
        """The files that decide what it gives (models, configuration, lists): a run goes on only while they stay."""
        return ()

    def given_loss(self, references: References, preprocess: Callable[[str], str] | None) -> Metric | None:
        """The loss that came with its lists, which then is the optimiser's; mostly none.

        Args:
            references: of the sentences that it will decode.
            preprocess: of texts before they are compared.

        Raises:
            UserError: files that cannot be read, or do not fit the lists.
        """
        return None

    @abstractmethod
    def start_weights(self) -> Weights:
        """The weights the decoder would use by itself; their names are the features of its N-best lists."""

    def hold(self, source: Sequence[str]) -> None:  # noqa: B027 - most have nothing to keep
        """Keep what these sentences need in memory, if it can: `decode` of any of them loads nothing more."""

    @abstractmethod
    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        """N-best lists of `source`, best first within each sentence, hypotheses over `vocabulary`.

        The lists depend on nothing but the arguments: not on the number of processes, not on earlier calls.

        Raises:
            UserError: the decoder failed, printed nothing or too little; its last lines of stderr are in the message.
        """

    def decode_some(
        self, source: Sequence[str], chosen: NDArray[np.int64], weights: Weights, n: int, vocabulary: Vocabulary
    ) -> NBest:
        """As `decode`, of the sentences `chosen` (m,), ascending, alone; the list numbers them from 0 to m - 1."""
        return self.decode([source[k] for k in chosen.tolist()], weights, n, vocabulary)

    def decode_packed(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> Iterator[bytes]:
        """As `decode`: one behind the other what a file of all lists holds, see `packed_lists`.

        Raises:
            UserError: as `decode`, or nothing can be learnt from these lists.
        """
        nbest = self.decode(source, weights, n, vocabulary)
        check_lists(self.name, nbest, weights)
        return packed_lists(nbest)

    def decode_each(self, source: Sequence[str], weights: Sequence[Weights], n: int, vocabulary: Vocabulary) -> NBest:
        """As `decode`, sentence k with `weights[k]`.

        Raises:
            UserError: this decoder cannot, or as `decode`.
            ValueError: another number of weights than of sentences.
        """
        if len(weights) != len(source):
            raise ValueError(f"{len(weights)} weights for {len(source)} sentences")
        return self._decode_each(source, weights, n, vocabulary)

    def _decode_each(self, source: Sequence[str], weights: Sequence[Weights], n: int, vocabulary: Vocabulary) -> NBest:
        raise UserError(
            f"{self.name} cannot translate with other weights for every sentence",
            remedy="decode N-best lists and rerank them with 'lasw rerank --local-weights'",
        )

    def write_configuration(self, path: str | os.PathLike[str], weights: Weights, comment: Sequence[str] = ()) -> bool:
        """Write the decoder's own configuration file with these weights; False if it has none of its own."""
        return False
