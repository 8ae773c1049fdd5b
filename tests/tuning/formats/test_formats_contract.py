"""What every weight file and every layout of N-best lists promises, whichever they are."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
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
    NBest,
    Weights,
    check_output,
    read_nbest,
    read_weight_file,
    write_weights,
)
from lasw.tuning.formats.nbest.layout import Fields, Group, NBestLayout, Place

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


def some_list() -> NBest:
    features = {"LM0": [-1.5, 1 / 3, 1e-300], "TM0": [[1.0, -2e-05], [0.0, 1e22], [3.0, 4.0]]}
    return list_of([(0, "ein haus"), (0, "das ="), (2, "ü & |")], features, [-1.0, 1 / 7, 0.0], {"X_a~b": [1, 0, 2.5]})


def written(layout: str, nbest: NBest, folder: Path) -> Path:
    path = folder / "list"
    path.write_text("".join(NBEST_LAYOUTS.find(layout)().text(nbest, path)), encoding="utf-8")
    return path


class JsonLines(NBestLayout):
    """A JSON object a line: no layout of ours, and all that one takes."""

    @classmethod
    def detects(cls, line: str) -> bool:
        return line.startswith("{")

    def hypotheses(self, line: str, place: Place) -> Sequence[Fields]:
        try:
            data = json.loads(line)
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
            yield json.dumps(text) + "\n"


@pytest.fixture(autouse=True)
def one_layout_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NBEST_LAYOUTS.places, "json-lines", "made_layout:JsonLines")
    monkeypatch.setitem(sys.modules, "made_layout", sys.modules[__name__])


@pytest.mark.parametrize("layout", [*NBEST_LAYOUTS, "json-lines"])
class TestLayouts:
    def test_what_is_written_is_detected_by_its_layout_alone_and_read_to_the_bit(
        self, tmp_path: Path, layout: str
    ) -> None:
        nbest = some_list()
        path = written(layout, nbest, tmp_path)
        first = path.read_text(encoding="utf-8").split("\n")[0]
        assert [name for name in NBEST_LAYOUTS if NBEST_LAYOUTS.find(name).detects(first)] == [layout]
        told: list[str] = []
        assert everything(read_nbest(path, Vocabulary(), warnings=told)) == everything(nbest)
        assert told == [f"{path}: no hypotheses for 1 sentence (id 1)"]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda lines: [lines[0], "what", lines[2]], ":2: "),
            (lambda lines: [lines[2], lines[0]], ":2: sentence id 0 after 2"),
            (lambda lines: [*lines[:2], lines[2].replace("LM0", "New")], ":3: feature LM0 is missing"),
            (lambda lines: [line.replace("1e-300", "1e+999") for line in lines], ":3: feature LM0 is inf|:3: .*1e.999"),
        ],
    )
    def test_faults_have_path_and_line(self, tmp_path: Path, layout: str, change: Any, message: str) -> None:
        path = written(layout, some_list(), tmp_path)
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        path.write_text("".join(line + "\n" for line in change(lines)), encoding="utf-8")
        with pytest.raises(UserError, match=f"^{path}({message})"):
            read_nbest(path, Vocabulary())

    def test_options_work(self, tmp_path: Path, layout: str) -> None:
        path = written(layout, some_list(), tmp_path)
        names = FeatureNames((("TM0", 2), ("LM0", 1)))
        nbest = read_nbest(path, Vocabulary(), names=names, preprocess=str.upper)
        assert nbest.names == names
        assert nbest.dense[0].tolist() == [1.0, -2e-05, -1.5]
        assert next(iter(nbest.hypotheses)) == ["EIN", "HAUS"]
        with pytest.raises(UserError, match=":3: sentence id 2; expected at most 1"):
            read_nbest(path, Vocabulary(), segments=2)


def test_a_list_of_no_known_layout_is_refused_as_moses_would(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("what is this\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"list:1: sentence id 'what is this'; expected a whole number and \|\|\|"):
        read_nbest(tmp_path / "list", Vocabulary())
