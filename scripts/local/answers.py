"""Weights for lines, as samples and the options of `lasw local` ask for them: here or on workers."""

from __future__ import annotations

import argparse
import copy
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lasw.metrics import Corpus, UserError, Vocabulary, check_alike, on_dask, refuse_or_warn
from lasw.scripts.command_line import tell_idle
from lasw.scripts.local.train import fixed_setting
from lasw.tuning import (
    GLOBAL,
    LocalWeigher,
    Weights,
    make_similarity,
    read_samples,
    refuse_other_versions,
    versions,
)

_PARTS = 8  # for each worker


class Answers:
    """Weights for lines, as the samples and the options ask for them."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._samples, samples = arguments.samples, read_samples(arguments.samples)
        self._development = samples.source
        text = arguments.setting or samples.header.get("setting", GLOBAL)
        setting = fixed_setting(text, (GLOBAL,))
        self.setting = text
        self._exact = bool(arguments.exact)
        self._weigher = LocalWeigher(samples, setting)
        self._unused = {name: list(values) for name, values in samples.header.get("unused", {}).items()}
        self._similarity = None
        if setting is not None:
            self._similarity = make_similarity(setting.similarity, samples.source, vectors=arguments.vectors)
            known = samples.header.get("fingerprints", {}).get(setting.similarity)
            if known is not None and known != self._similarity.fingerprint():
                raise UserError("other word vectors than in training", path=arguments.vectors)
        embedding = setting is not None and setting.similarity == "embedding"
        why = f"the setting is {text}"
        tell_idle(arguments, ("--vectors", embedding, why), ("--exact", setting is not None, why))

    def unlike(self, lines: Iterable[str], path: str) -> list[str]:
        """What is suspicious about sentences that weights depend on, beside those of the training."""
        if self._similarity is None:
            return []
        vocabulary = Vocabulary()
        own, known = (Corpus.from_lines(text, vocabulary) for text in (lines, self._development))
        return refuse_or_warn([check_alike(replace(own, path=path), replace(known, path=self._samples))])

    def to(self, line: str) -> Weights:
        """The weights of one sentence, those of features that no list showed behind the others."""
        if self._similarity is None:
            weights = self._weigher.global_weights
        else:
            weights = self._weigher.weights(self._similarity.to(line), exact=self._exact)
        if not self._unused:
            return weights
        return Weights.from_groups({**weights.by_group(), **self._unused}, weights.sparse)

    def to_all(self, lines: Sequence[str], dask: str | None = None) -> list[Weights]:
        """The weights of each sentence, on the workers of Dask's scheduler at an address if there is one."""
        if dask is None:
            return [self.to(line) for line in lines]
        with on_dask(dask) as cluster:
            size = max(1, -(-len(lines) // (_PARTS * cluster.threads)))
            parts = [(first, lines[first : first + size]) for first in range(0, len(lines), size)]
            found = dict(cluster.each(_answered, parts, [cluster.share(self), versions()]))
        return [weights for first, _ in parts for weights in found[first]]


def _answered(part: tuple[int, Sequence[str]], answers: Answers, expected: dict[str, str]) -> tuple[int, list[Weights]]:
    """On a worker: the weights of some sentences, behind the number of the first."""
    refuse_other_versions(expected)
    # The vocabulary of a similarity grows, and threads of a worker have one in common.
    return part[0], copy.deepcopy(answers).to_all(part[1])
