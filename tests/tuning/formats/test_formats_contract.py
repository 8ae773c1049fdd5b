"""What every weight file and every layout of N-best lists promises, whichever they are."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build import everything, list_of

from lasw.metrics import UserError, Vocabulary
from lasw.tuning import (
    NBEST_LAYOUTS,
    WEIGHT_FILES,
    FeatureNames,
    LayoutOptions,
    NBest,
    Weights,
    check_output,
    read_nbest,
    read_weight_file,
    write_weights,
)
from lasw.tuning.formats.nbest.layout import Fields, Group, NBestLayout, Place, layout_of

VALUES = [1 / 3, -2e-05, 5e-324, 1.7976931348623157e308, -0.0, 1e22]
INI = "[feature]\nKENLM name=LM0\nOther name=My_ä~,.:\nOther name=TM0\n[v]\n0\n"


TRAVATAR = "# a system\n[tm_file]\nrules.gz\n\n[weight_vals]\nold=1\n\n[search]\ncp\n"


@pytest.fixture
def template(tmp_path: Path, kind: str) -> Path:
    path = tmp_path / "template.ini"
    path.write_text(TRAVATAR if kind == "travatar-ini" else INI, encoding="utf-8")
    return path


def test_a_kind_that_is_only_read_is_refused_for_what_is_written(tmp_path: Path) -> None:
    for kind in (kind for kind in WEIGHT_FILES if WEIGHT_FILES.find(kind).written_by):
        with pytest.raises(UserError, match=f"only {WEIGHT_FILES.find(kind).written_by} writes"):
            write_weights(tmp_path / "w", Weights.from_groups({"LM0": [0.5]}), kind=kind)


@pytest.mark.parametrize("kind", [kind for kind in WEIGHT_FILES if not WEIGHT_FILES.find(kind).written_by])
class TestWeightFiles:
    def write(self, template: Path, kind: str, weights: Weights) -> Path:
        path = template.parent / "weights"
        write_weights(path, weights, kind=kind, template=template, comment=["BLEU 0.4", "seed 1"])
        return path

    def test_what_is_written_is_detected_and_read_to_the_bit(self, template: Path, kind: str) -> None:
        names = ["LM0", "My_ä~,.:", "TM0"]
        for k in range(len(VALUES)):
            values = np.roll(VALUES, k)[:3].tolist()
            path = self.write(template, kind, Weights.from_groups({n: [v] for n, v in zip(names, values, strict=True)}))
            file = read_weight_file(path)
            found = ["F0", "F1", "F2"] if WEIGHT_FILES.find(kind).nameless else names
            assert file.weights.names.groups == tuple((name, 1) for name in found)
            assert file.weights.dense.tobytes() == np.array(values).tobytes()
            assert not file.weights.sparse
            # A kind may be read as the one that it is a special case of.
            assert issubclass(WEIGHT_FILES.find(kind), WEIGHT_FILES.find(file.kind))
            text = path.read_text(encoding="utf-8")
            assert all(repr(value) in text for value in values)
            assert text.startswith("# BLEU 0.4\n# seed 1\n") == WEIGHT_FILES.find(kind).has_comments

    def test_groups_and_sparse_weights_come_back_or_are_refused(self, template: Path, kind: str) -> None:
        weights = Weights.from_groups({"LM0": [0.5], "TM0": [0.1, 1 / 3]}, {"S_a~b": 1e-300, "S_c": -2.0})
        try:
            check_output(template.parent / "weights", kind=kind, template=template, weights=weights)
        except UserError as refused:
            with pytest.raises(UserError, match=re.escape(str(refused))):
                self.write(template, kind, weights)
            assert not (template.parent / "weights").exists()
            return
        file = read_weight_file(self.write(template, kind, weights))
        flat = dict(zip(file.weights.names.components, file.weights.dense.tolist(), strict=True))
        assert {**flat, **file.weights.sparse} == {
            **dict(zip(weights.names.components, weights.dense.tolist(), strict=True)),
            **weights.sparse,
        }
        assert file.dense in ((), ("LM0", "TM0"))
        assert bool(file.dense) == (not WEIGHT_FILES.find(file.kind).flat)

    def test_a_damaged_file_is_refused_with_path_and_line(self, template: Path, kind: str) -> None:
        path = self.write(template, kind, Weights.from_groups({"LM0": [0.5], "TM0": [1 / 3]}))
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(repr(1 / 3), "third"), encoding="utf-8")
        with pytest.raises(UserError) as error:
            read_weight_file(path)
        assert error.value.path == str(path)
        assert error.value.line == 1 + text[: text.index(repr(1 / 3))].count("\n")

    def test_nothing_but_weights_is_needed_unless_it_is_said(self, tmp_path: Path, kind: str) -> None:
        weights = Weights.from_groups({"LM0": [0.5]})
        form = WEIGHT_FILES.find(kind)
        if form.needs_template:
            with pytest.raises(UserError, match=f"no {re.escape(form.usual_name)} to take the other settings from"):
                check_output(tmp_path / "w", kind=kind, weights=weights)
        else:
            assert check_output(tmp_path / "w", kind=kind, weights=weights) == kind


def some_list(layout: str = "moses") -> NBest:
    """A list with all that a file of this layout can hold; a sentence is missing where one may."""
    holds = NBEST_LAYOUTS.find(layout).holds
    last = 1 if layout == "sockeye" else 2
    rows = [(0, "ein haus"), (0, 'das = "'), (last, "ü & |,")]
    features: dict[str, Any] = {"LM0": [-1.5, 1 / 3, 1e-300], "TM0": [[1.0, -2e-05], [0.0, 1e22], [3.0, 4.0]]}
    scores = [-1.0, 1 / 7, 0.0]
    if "features" in holds:
        return list_of(rows, features, scores, {"X_a~b": [1, 0, 2.5]} if "sparse" in holds else None)
    if "score" in holds:
        return list_of(rows, {"score": scores}, scores)
    bare = list_of(rows, {"score": scores})
    return replace(bare, names=FeatureNames(()), dense=np.zeros((3, 0)))


def options(layout: str) -> LayoutOptions:
    return LayoutOptions(layout, featureless=True)


def written(layout: str, nbest: NBest, folder: Path) -> Path:
    path = folder / "list"
    path.write_text("".join(NBEST_LAYOUTS.find(layout)().text(nbest, path)), encoding="utf-8")
    return path


class Made(NBestLayout):
    """A JSON object behind a word: no layout of ours, and all that one takes."""

    @classmethod
    def detects(cls, line: str) -> bool:
        return line.startswith("made {")

    def hypotheses(self, line: str, place: Place) -> Sequence[Fields]:
        try:
            data = json.loads(line.removeprefix("made "))
            groups = [Group(name, [repr(float(v)) for v in values]) for name, values in data["features"].items()]
            return [Fields(data["id"], data["text"], groups, [], repr(data["score"]))]
        except (ValueError, KeyError):
            raise place.error("no hypothesis", expected="a JSON object") from None

    def text(self, nbest: NBest, path: object) -> Iterator[str]:
        groups, owner, texts, dense, score, sparse = everything(nbest)
        for k, words in enumerate(texts):
            row = np.frombuffer(dense).reshape(len(nbest), -1)[k].tolist()
            features = {name: [row.pop(0) for _ in range(size)] for name, size in groups}
            features |= {name: [value] for name, value in sparse[k].items()}
            total = np.frombuffer(score)[k].item()
            text = {"id": owner[k], "text": " ".join(words), "features": features, "score": total}
            yield f"made {json.dumps(text)}\n"


@pytest.fixture(autouse=True)
def one_layout_more(monkeypatch: pytest.MonkeyPatch) -> None:
    # As the registry has them, so that those who never saw the others detect it.
    monkeypatch.setitem(NBEST_LAYOUTS.places, "made", "made_layout:Made")
    monkeypatch.setitem(sys.modules, "made_layout", sys.modules[__name__])


@pytest.mark.parametrize("layout", [*NBEST_LAYOUTS, "made"])
class TestLayouts:
    def test_what_is_written_is_read_to_the_bit(self, tmp_path: Path, layout: str) -> None:
        nbest = some_list(layout)
        path = written(layout, nbest, tmp_path)
        told: list[str] = []
        assert everything(read_nbest(path, Vocabulary(), layout=options(layout), warnings=told)) == everything(nbest)
        assert told == ([] if layout == "sockeye" else [f"{path}: no hypotheses for 1 sentence (id 1)"])

    def test_it_is_detected_by_its_first_line_and_by_no_other_layout_before_it(
        self, tmp_path: Path, layout: str
    ) -> None:
        path = written(layout, some_list(layout), tmp_path)
        first = path.read_text(encoding="utf-8").split("\n")[0]
        if layout == "flat":  # any text could be that
            assert not NBEST_LAYOUTS.find(layout).detects(first)
        else:
            assert isinstance(layout_of(first), NBEST_LAYOUTS.find(layout))

    @pytest.mark.parametrize("line", [0, 1])
    def test_what_is_no_line_of_it_is_refused_with_path_and_line(self, tmp_path: Path, layout: str, line: int) -> None:
        if layout in ("flat", "fairseq"):
            pytest.skip("any line may stand there")
        path = written(layout, some_list(layout), tmp_path)
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        lines[line] = "what"
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        with pytest.raises(UserError, match=f"^{path}:{line + 1}: "):
            read_nbest(path, Vocabulary(), layout=options(layout))

    @pytest.mark.parametrize("number", ["inf", "nan"])
    def test_numbers_that_are_none_are_refused_with_path_and_line(
        self, tmp_path: Path, layout: str, number: str
    ) -> None:
        nbest = some_list(layout)
        if "score" not in NBEST_LAYOUTS.find(layout).holds:
            pytest.skip("it has no numbers")
        nbest.score[2] = 0.123456789
        path = written(layout, nbest, tmp_path)
        text = path.read_text(encoding="utf-8")
        spelled = {"inf": "1e999", "nan": "NaN"}[number]
        path.write_text(text.replace("0.123456789", spelled), encoding="utf-8")
        line = text[: text.index("0.123456789")].count("\n") + 1
        with pytest.raises(UserError, match=f"^{path}:{line}: "):
            read_nbest(path, Vocabulary(), layout=options(layout))

    def test_text_is_changed_and_sentences_are_counted(self, tmp_path: Path, layout: str) -> None:
        path = written(layout, some_list(layout), tmp_path)
        nbest = read_nbest(path, Vocabulary(), layout=options(layout), preprocess=str.upper)
        assert next(iter(nbest.hypotheses)) == ["EIN", "HAUS"]
        last = int(nbest.owner[-1])
        with pytest.raises(UserError, match=rf":\d+: sentence id {last}; expected at most {last - 1}"):
            read_nbest(path, Vocabulary(), layout=options(layout), segments=last)

    def test_columns_are_those_that_are_asked_for(self, tmp_path: Path, layout: str) -> None:
        if "features" not in NBEST_LAYOUTS.find(layout).holds:
            pytest.skip("it has no features")
        path = written(layout, some_list(layout), tmp_path)
        names = FeatureNames((("TM0", 2), ("LM0", 1)))
        nbest = read_nbest(path, Vocabulary(), names=names, layout=options(layout))
        assert nbest.names == names
        assert nbest.dense[0].tolist() == [1.0, -2e-05, -1.5]
        changed = path.read_text(encoding="utf-8").replace("LM0", "New")
        path.write_text(changed, encoding="utf-8")
        with pytest.raises(UserError, match=rf"^{path}:\d+: .*(New|LM0)"):
            read_nbest(path, Vocabulary(), names=names, layout=options(layout))


def test_a_list_of_no_known_layout_is_refused_as_moses_would(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("what is this\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"list:1: sentence id 'what is this'; expected a whole number and \|\|\|"):
        read_nbest(tmp_path / "list", Vocabulary())
