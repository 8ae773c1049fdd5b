"""Layouts of N-best lists other than Moses': what each program's files say, line by line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from build import texts

from lasw.metrics import References, UserError, Vocabulary
from lasw.tuning import ExtraFeatures, LayoutOptions, NBest, layout_options, read_nbest, read_pool


def read(folder: Path, text: str, *, name: str = "list", **options: object) -> NBest:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    given = {"name": options.pop("layout", ""), "featureless": True, **options}
    return read_nbest(path, Vocabulary(), layout=LayoutOptions(**given))  # type: ignore[arg-type]


def refused(folder: Path, text: str, match: str, **options: object) -> None:
    with pytest.raises(UserError, match=match):
        read(folder, text, **options)


class TestFlat:
    def test_so_many_lines_a_sentence(self, tmp_path: Path) -> None:
        nbest = read(tmp_path, "a b\n\nc\nd e\n", size=2)
        assert texts(nbest) == [(0, "a b"), (0, ""), (1, "c"), (1, "d e")]
        assert nbest.names.groups == ()
        assert nbest.dense.shape == (4, 0)

    def test_or_blank_lines_behind_the_sentences(self, tmp_path: Path) -> None:
        # Two in a row leave a sentence without hypotheses; the last one may be missing.
        for end in ("", "\n"):
            nbest = read(tmp_path, "a b\nc\n\n\nd\n" + end, layout="flat")
            assert texts(nbest) == [(0, "a b"), (0, "c"), (2, "d")]

    def test_a_list_of_many_blocks_is_numbered_through(self, tmp_path: Path) -> None:
        lines = [f"word{k} " * 40 for k in range(9000)]  # some megabytes
        nbest = read(tmp_path, "".join(line + "\n" for line in lines), size=3)
        assert nbest.owner.tolist() == [k // 3 for k in range(9000)]
        assert nbest.hypotheses.text(8999) == "word8999 " * 39 + "word8999"

    def test_a_file_that_was_cut_off(self, tmp_path: Path) -> None:
        refused(tmp_path, "a\nb\nc\n", "list: 3 lines; expected a multiple of 2, the number of hypotheses", size=2)

    def test_texts_alone_are_refused_where_nothing_else_has_features(self, tmp_path: Path) -> None:
        refused(tmp_path, "a\nb\n", "texts without features; expected numbers in files", size=2, featureless=False)
        moses = "no features and no total; expected ID .* or numbers in files of their own"
        refused(tmp_path, "0 ||| a b\n", moses, featureless=False)
        assert texts(read(tmp_path, "0 ||| a b\n1 ||| c\n")) == [(0, "a b"), (1, "c")]

    def test_features_come_from_files(self, tmp_path: Path) -> None:
        nbest = read(tmp_path, "a\nb\nc\nd\n", size=2)
        (tmp_path / "lm").write_text("-1\n-2.5\n3\n4e-3\n")
        (tmp_path / "tm").write_text("1 2\n3 4\n5 6\n7 8\n")
        np.save(tmp_path / "q.npy", np.array([0.5, 1 / 3, 2, 3]))
        files = {name: [str(tmp_path / file)] for name, file in (("lm", "lm"), ("tm", "tm"), ("q", "q.npy"))}
        columns = ExtraFeatures(files)
        more = columns.extend(nbest)
        columns.finish()
        assert more.names.groups == (("lm", 1), ("tm", 2), ("q", 1))
        assert more.dense.tolist() == [[-1, 1, 2, 0.5], [-2.5, 3, 4, 1 / 3], [3, 5, 6, 2], [4e-3, 7, 8, 3]]

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("lm", b"1\nx\n", "lm:2: .*'x'"),
            ("lm", b"1\n2 3\n", "lm:2: 2 numbers; expected 1, as on line 1"),
            ("lm", b"1\n\n", "lm:2: "),
            ("lm.npy", b"what", "lm.npy: no array of numpy"),
            ("lm.npy", np.array(["a"]), "lm.npy: <U1 of shape .1,.; expected numbers"),
            ("lm.npy", np.array([1, np.nan]), "lm.npy: row 1 is not finite"),
            ("lm.npy", np.array([None]), "lm.npy: no array of numpy"),
        ],
    )
    def test_columns_that_are_none(self, tmp_path: Path, name: str, content: object, message: str) -> None:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            np.save(path, content)  # type: ignore[arg-type]
        with pytest.raises(UserError, match=message):
            ExtraFeatures({"lm": [str(path)]})


class TestJsonLines:
    def test_an_object_a_sentence(self, tmp_path: Path) -> None:
        lines = [
            {
                "id": 1,
                "nbest": [{"text": "a b", "score": -1, "features": {"lm": -2, "tm": [1, 0.5]}, "sparse": {"x_1": 2}}],
            },
            {
                "id": 3,
                "hypotheses": [{"hypothesis": "c", "lm": 1e-3, "tm": [2, 3], "score": 0.25, "note": "no feature"}],
            },
        ]
        nbest = read(tmp_path, "".join(json.dumps(line) + "\n" for line in lines))
        assert texts(nbest) == [(1, "a b"), (3, "c")]
        assert nbest.names.groups == (("lm", 1), ("tm", 2))
        assert nbest.dense.tolist() == [[-2, 1, 0.5], [1e-3, 2, 3]]
        assert nbest.score.tolist() == [-1, 0.25]
        assert nbest.sparse is not None
        assert nbest.sparse.toarray().tolist() == [[2], [0]]

    def test_texts_with_scores_beside_them_numbered_by_their_lines(self, tmp_path: Path) -> None:
        lines = '{"translations": ["a", "b"], "scores": [-1, -2]}\n{"translations": ["c"], "scores": [[-3]]}\n'
        nbest = read(tmp_path, lines)
        assert texts(nbest) == [(0, "a"), (0, "b"), (1, "c")]
        assert nbest.names.groups == (("score", 1),)
        assert nbest.dense[:, 0].tolist() == nbest.score.tolist() == [-1, -2, -3]

    def test_an_object_a_hypothesis(self, tmp_path: Path) -> None:
        nbest = read(tmp_path, '{"id": "0", "text": "a", "lm": 1}\n{"id": 0, "text": "b", "lm": 2}\n')
        assert texts(nbest) == [(0, "a"), (0, "b")]
        assert nbest.dense.tolist() == [[1], [2]]

    def test_ids_that_are_no_numbers(self, tmp_path: Path) -> None:
        (tmp_path / "ids").write_text("doc1:7\ndoc1:8\n")
        options = layout_options(source_ids=tmp_path / "ids")
        lines = '{"id": "doc1:8", "text": "a", "lm": 1}\n'
        assert texts(read(tmp_path, lines, source_ids=options.source_ids)) == [(1, "a")]
        refused(tmp_path, lines.replace("8", "9"), "list:1: sentence id 'doc1:9'; expected one of --source-ids",
                source_ids=options.source_ids)  # fmt: skip
        refused(tmp_path, lines, "sentence id 'doc1:8'; expected a whole number; ids of other kinds need --source-ids")
        moses = read(tmp_path, "doc1:8 ||| b ||| lm= 2\n", source_ids=options.source_ids)
        assert texts(moses) == [(1, "b")]
        (tmp_path / "ids").write_text("a\nb\na\n")
        with pytest.raises(UserError, match="ids:3: id 'a' stands on line 1 too"):
            layout_options(source_ids=tmp_path / "ids")

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ('{"id": 0, "text": "a", "lm": 1', "no JSON: .*column"),
            ("[" * 5000, "no JSON"),
            ('["a"]', "is no JSON object"),
            ('{"text": "a"}', "a hypothesis without the number of its sentence"),
            ('{"id": true, "text": "a"}', "id 'true'; expected a whole number"),
            ('{"id": 0, "lm": 1}', "a hypothesis without text"),
            ('{"id": 0, "text": 5}', "text is no text"),
            ('{"id": 0, "text": "a\\nb"}', "has a line break"),
            ('{"id": 0, "text": "a", "score": "x"}', "score is '\"x\"'; expected a number"),
            ('{"id": 0, "text": "a", "score": [1, 2]}', "score has 2 values"),
            ('{"id": 0, "text": "a", "score": NaN}', "the total is nan"),
            ('{"id": 0, "text": "a", "features": {"lm": null}}', "lm is 'null'; expected a number"),
            ('{"id": 0, "text": "a", "features": 5}', "features '5'"),
            ('{"id": 0, "hypotheses": ["a", "b"], "scores": [1]}', "1 scores; expected 2, one for each of hypotheses"),
        ],
    )
    def test_wrong_lines(self, tmp_path: Path, line: str, message: str) -> None:
        refused(tmp_path, '{"id": 0, "text": "a", "score": 1}\n' + line + "\n", "list:2: .*" + message, layout="jsonl")

    def test_features_that_the_first_has_not(self, tmp_path: Path) -> None:
        first = '{"id": 0, "text": "a", "lm": 1}\n'
        refused(tmp_path, first + '{"id": 0, "text": "b", "lm": 1, "q": 2}\n', "list:2: a feature q; expected only lm")
        refused(tmp_path, first + '{"id": 0, "text": "b"}\n', "list:2: no features; expected lm")

    def test_blank_lines(self, tmp_path: Path) -> None:
        line = '{"id": 0, "text": "a", "lm": 1}\n'
        assert len(read(tmp_path, line + "\n\n")) == 1
        refused(tmp_path, line + "\n" + line, "list:2: a blank line; remove it")


class TestFairseq:
    LINES = (
        "S-1\tein haus", "T-1\ta house", "H-1\t-0.5\ta hou@@ se", "D-1\t-0.5\ta house", "P-1\t-0.4 -0.6 -0.5 -0.5",
        "H-1\t-0.75\tthe house", "D-1\t-0.75\tthe house !", "P-1\t-1 -0.5 -0.75",
        "S-0\tja", "H-0\t-0.25\tyes", "D-0\t-0.25\tYes", "P-0\t-0.2 -0.3",
    )  # fmt: skip

    @pytest.mark.parametrize("order", ["as printed", "sorted"])
    def test_a_log_in_any_order(self, tmp_path: Path, order: str) -> None:
        lines = [*self.LINES] if order == "as printed" else sorted(self.LINES, key=lambda line: line[:2])
        text = "".join(
            line + "\n" for line in [*lines[:2], "2026 | INFO | fairseq | loading", *lines[2:], "Generate done"]
        )
        nbest = read(tmp_path, text)
        assert texts(nbest) == [(0, "Yes"), (1, "a house"), (1, "the house !")]
        assert nbest.names.groups == (("score", 1),)
        assert nbest.score.tolist() == [-0.25, -0.5, -0.75]
        summed = read(tmp_path, text, sum_scores=True)
        assert summed.score.tolist() == summed.dense[:, 0].tolist() == [-0.5, -2.0, -2.25]

    def test_without_detokenised_lines_and_scores_of_tokens(self, tmp_path: Path) -> None:
        text = "".join(line + "\n" for line in self.LINES if line[0] in "SH")
        assert texts(read(tmp_path, text)) == [(0, "yes"), (1, "a hou@@ se"), (1, "the house")]
        assert read(tmp_path, text, sum_scores=True).score.tolist() == [-0.5, -2.0, -2.25]

    def test_lines_that_are_missing(self, tmp_path: Path) -> None:
        for letter, name in (("D", "1, as D lines"), ("P", "1, as P lines")):
            lines = [line for line in self.LINES if not (line[0] == letter and "-0.75" in line)]
            refused(tmp_path, "".join(line + "\n" for line in lines), f"list:3: 2 .*of sentence 1; expected {name}")
        refused(tmp_path, "H-0\tyes\n", "list:1: 'H-0.tyes'; expected H-0<TAB>SCORE<TAB>TEXT")
        refused(tmp_path, "S-0\tja\n", "no hypotheses")


class TestSockeye:
    def test_costs_become_scores(self, tmp_path: Path) -> None:
        lines = [
            {"sentence_id": 1, "translation": "a", "score": 0.5, "translations": ["a", "b"], "scores": [[0.5], [0.75]]},
            {"sentence_id": 2, "translation": "c", "score": 0.1, "translations": ["c"], "scores": [0.1]},
        ]
        nbest = read(tmp_path, "".join(json.dumps(line) + "\n" for line in lines))
        assert texts(nbest) == [(0, "a"), (0, "b"), (1, "c")]
        assert nbest.score.tolist() == nbest.dense[:, 0].tolist() == [-0.5, -0.75, -0.1]

    def test_means_are_summed_over_tokens_and_end(self, tmp_path: Path) -> None:
        line = {"sentence_id": 1, "translation": "a b", "translations": ["a b", ""], "scores": [0.5, 2]}
        nbest = read(tmp_path, json.dumps(line) + "\n", sum_scores=True)
        assert nbest.score.tolist() == nbest.dense[:, 0].tolist() == [-1.5, -2]

    def test_no_list(self, tmp_path: Path) -> None:
        refused(tmp_path, '{"sentence_id": 1, "translation": "a"}\n', "list:1: no N-best list; .*--nbest-size above 1",
                layout="sockeye")  # fmt: skip
        line = '{"sentence_id": 1, "translation": "", "translations": [5], "scores": [1]}\n'
        refused(tmp_path, line, "list:1: 5 with score 1; expected a text and a number")


class TestTables:
    def test_columns_by_their_usual_names(self, tmp_path: Path) -> None:
        table = "id\tlm\ttm\ttm\thypothesis\tsystem\tscore\n0\t-1\t1\t2\ta b\tX\t0.5\n2\t-2\t3\t4\tc\tY\t1e-2\n"
        nbest = read(tmp_path, table)
        assert texts(nbest) == [(0, "a b"), (2, "c")]
        assert nbest.names.groups == (("lm", 1), ("tm", 2))
        assert nbest.dense.tolist() == [[-1, 1, 2], [-2, 3, 4]]
        assert nbest.score.tolist() == [0.5, 0.01]

    def test_columns_by_names_that_are_given(self, tmp_path: Path) -> None:
        table = 'seg,mt,text,qe\n0,"a, ""b""",x,1\n1,c,y,2\n'
        columns = layout_options(column=["text=mt", "id=seg", "score=qe"]).columns
        nbest = read(tmp_path, table, columns=columns)
        assert texts(nbest) == [(0, 'a, "b"'), (1, "c")]
        assert nbest.names.groups == (("score", 1),)
        assert nbest.score.tolist() == [1, 2]

    def test_without_ids_every_sentence_has_as_many_rows(self, tmp_path: Path) -> None:
        table = "text\tlm\na\t1\nb\t2\nc\t3\nd\t4\n"
        assert texts(read(tmp_path, table, layout="tsv", size=2)) == [(0, "a"), (0, "b"), (1, "c"), (1, "d")]
        refused(tmp_path, table, "list: 4 rows; expected a multiple of --nbest-size 3", layout="tsv", size=3)
        refused(tmp_path, table, "list:1: no column with the numbers of the sentences; expected a column id")

    @pytest.mark.parametrize(
        ("table", "options", "message"),
        [
            ("id\ttext\tlm\n0\ta\n", {}, "list:2: 2 columns; expected 3, as in the first line"),
            ("id\ttext\tlm\n0\ta\t1\n0\tb\tx\n", {}, "list:3: lm is 'x'; expected a number, as in the first row"),
            ("id\ttext\tscore\n0\ta\tx\n", {}, "list:2: the total is 'x'"),
            ("id\ttext\tlm\nx\ta\t1\n", {}, "list:2: sentence id 'x'"),
            (
                "id\ttext\ttranslation\n0\ta\tb\n",
                {},
                "list:1: 2 columns for the text; expected one; --column text=NAME",
            ),
            ("id\tlm\n0\t1\n", {"layout": "tsv"}, "list:1: columns 'id lm'; expected a column text"),
            ("id\ttext\n0\ta\n", {"columns": {"score": "qe"}}, "list:1: no column 'qe'; expected one of id, text"),
        ],
    )
    def test_wrong_tables(self, tmp_path: Path, table: str, options: dict[str, object], message: str) -> None:
        refused(tmp_path, table, message, **options)


@pytest.mark.parametrize("column", ["text", "name=x", "text=", "=x"])
def test_words_for_columns_that_are_wrong(column: str) -> None:
    with pytest.raises(UserError, match=r"column '.*'; expected text, id, score, once each"):
        layout_options(column=[column])


def test_a_layout_that_there_is_not() -> None:
    with pytest.raises(UserError, match="jsonl"):
        layout_options("json")


class TestTotals:
    LINES = '{"id": 0, "text": "a b", "score": -1.5, "lm": -2}\n{"id": 0, "text": "c", "score": -2, "lm": -1}\n'

    def test_totals_are_a_feature_if_asked(self, tmp_path: Path) -> None:
        nbest = read(tmp_path, self.LINES, with_score=True)
        assert nbest.names.groups == (("score", 1), ("lm", 1))
        assert nbest.dense.tolist() == [[-1.5, -2], [-2, -1]]
        assert nbest.score.tolist() == [-1.5, -2]
        assert read(tmp_path, self.LINES).names.groups == (("lm", 1),)
        summed = read(tmp_path, self.LINES, with_score=True, sum_scores=True)
        assert summed.dense.tolist() == [[-4.5, -2], [-4, -1]]

    def test_so_are_those_of_moses(self, tmp_path: Path) -> None:
        nbest = read(
            tmp_path, "0 ||| a b ||| LM0= 1 TM0= 2 3 ||| -1.5\n0 ||| c ||| LM0= 2 TM0= 4 5 ||| 7\n", with_score=True
        )
        assert nbest.names.groups == (("score", 1), ("LM0", 1), ("TM0", 2))
        assert nbest.dense.tolist() == [[-1.5, 1, 2, 3], [7, 2, 4, 5]]

    def test_two_features_of_a_name(self, tmp_path: Path) -> None:
        line = '{"id": 0, "text": "a b", "score": -1.5, "features": {"score": 1}}\n'
        refused(tmp_path, line, "feature score is there twice", with_score=True)

    @pytest.mark.parametrize(
        ("text", "count"), [(LINES, 1), (LINES.replace("-1.5", "0"), 0), ("0 ||| a ||| F= 1 ||| 2\n", 0)]
    )
    def test_those_that_are_none_are_told_to_who_learns(self, tmp_path: Path, text: str, count: int) -> None:
        (tmp_path / "list").write_text(text)
        _, warnings = read_pool([tmp_path / "list"], References.from_lines(["a b"]), settle=None)
        assert sum("the totals are no feature beside others: --with-score" in line for line in warnings) == count
        _, warnings = read_pool([tmp_path / "list"], References.from_lines(["a b"]), settle=None, dense=["lm", "F"])
        assert warnings == []


class TestNamesOfColumns:
    def test_they_tell_the_layout(self, tmp_path: Path) -> None:
        table = "seg\tmt\tqe\n0\ta b\t1\n1\tc\t2\n"
        nbest = read(tmp_path, table, columns=layout_options(column=["text=mt", "id=seg"]).columns)
        assert texts(nbest) == [(0, "a b"), (1, "c")]
        assert nbest.names.groups == (("qe", 1),)

    @pytest.mark.parametrize(
        ("text", "more"),
        [
            ("0 ||| a ||| F= 1 ||| 2\n", {}),
            ('{"id": 0, "text": "a b", "lm": -2}\n', {}),
            ("a\nb\n", {"size": 2}),
            ("a\nb\n", {"layout": "flat"}),
            ("x\ty\n0\ta b\n", {}),
        ],
    )
    def test_a_list_without_such_columns_is_refused(self, tmp_path: Path, text: str, more: dict[str, object]) -> None:
        columns = layout_options(column=["text=mt"]).columns
        refused(
            tmp_path, text, r"list: --column for a list without columns; expected a first line", columns=columns, **more
        )
