"""What ``fairseq-generate`` and ``fairseq-interactive`` print: lines that begin with a letter and the sentence's
number.

    S-0<TAB>ein haus               the source
    T-0<TAB>a house                the reference
    H-0<TAB>-0.53<TAB>a house      a hypothesis and its score
    D-0<TAB>-0.53<TAB>a house      the same detokenised
    P-0<TAB>-0.31 -0.62 ...        scores of its tokens and the end

in any order (``sort``, ``grep``), among lines of the log. Of a sentence the first H, D and P lines are of the first
hypothesis. Where there are D lines these are the texts. Scores are means over the tokens and the end (``--lenpen
1``), in bits; summed (`LayoutOptions.sum_scores`) they are multiplied by the number of P scores, or of tokens and one
without.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from lasw.tuning.formats.nbest.layout import Fields, NBestLayout, Place, by_sentence, is_number, shortened
from lasw.tuning.nbest import NBest

_LINE = re.compile(r"([STHDP])-(\d+)\t(.*)", re.A)
_Scored = tuple[Place, str, str]  # a line with a score and a text


class FairseqLayout(NBestLayout):
    """Written as H lines."""

    holds = frozenset(("score",))
    sums_itself = True

    @classmethod
    def detects(cls, line: str) -> bool:
        """See `NBestLayout`; a log in front of the first sentence hides it."""
        return _LINE.fullmatch(line) is not None

    def hypotheses(self, line: str, place: Place) -> Sequence[Fields]:
        """Not of one line alone; see `read`."""
        return [fields for _, fields in self.read(iter([(place, line)]))]

    def read(self, lines: Iterator[tuple[Place, str]]) -> Iterator[tuple[Place, Fields]]:
        """See `NBestLayout`: all lines, then the hypotheses by sentence."""
        scored: dict[str, dict[int, list[_Scored]]] = {"H": defaultdict(list), "D": defaultdict(list)}
        lengths: dict[int, list[int]] = defaultdict(list)
        for place, line in lines:
            match = _LINE.fullmatch(line)
            if match is None or match[1] in "ST":
                continue
            sentence = self.sentence(match[2], place)
            if match[1] == "P":
                lengths[sentence].append(len(match[3].split()))
            else:
                score, tab, text = match[3].partition("\t")
                if not tab or not is_number(score):
                    raise place.error(f"{shortened(line)}", expected=f"{match[1]}-{match[2]}<TAB>SCORE<TAB>TEXT")
                scored[match[1]][sentence].append((place, score, text))
        yield from _joined(scored["H"], scored["D"], lengths, summed=self.options.sum_scores)

    def text(self, nbest: NBest, path: str | os.PathLike[str] | None) -> Iterator[str]:
        """See `NBestLayout`; features are left to others."""
        for sentence, rows in by_sentence(nbest):
            lines = [f"H-{sentence}\t{float(nbest.score[k])!r}\t{nbest.hypotheses.text(k)}\n" for k in rows]
            yield "".join(lines)


def _joined(
    tokenised: dict[int, list[_Scored]],
    detokenised: dict[int, list[_Scored]],
    lengths: dict[int, list[int]],
    *,
    summed: bool,
) -> Iterator[tuple[Place, Fields]]:
    """The hypotheses by sentence, each with its detokenised text and its number of token scores, if there are any."""
    first = tokenised or detokenised
    texts = detokenised or tokenised
    for sentence in sorted(first):
        mine, others, counts = first[sentence], texts.get(sentence, []), lengths.get(sentence)
        place = mine[0][0]
        if len(others) != len(mine):
            raise place.error(f"{len(mine)} H lines of sentence {sentence}", expected=f"{len(others)}, as D lines")
        if lengths and len(counts or ()) != len(mine):
            raise place.error(
                f"{len(mine)} hypotheses of sentence {sentence}", expected=f"{len(counts or ())}, as P lines"
            )
        for k, (where, score, tokens) in enumerate(mine):
            if summed:
                score = repr(float(score) * (counts[k] if counts else len(tokens.split()) + 1))
            yield where, Fields(sentence, others[k][2], None, [], score)
