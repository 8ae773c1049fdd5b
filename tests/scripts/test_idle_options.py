"""Options that change nothing: each is told in one line, and nothing is said of those that count."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from build import made_pool

from lasw.scripts.main import main
from lasw.tuning import CONFIGURATION, OPTIMISERS, Weights, make_optimiser

Captured = pytest.CaptureFixture[str]
IDLE = re.compile(r"warning: (\S+) has no effect: (.*)")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f"word{k} b c d e f g h i j k{k} l" for k in range(8)]
    for name in ("s", "t", "ref"):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    (tmp_path / "a").write_text("0-0 1-1 2-2 3-3\n" * 8)
    texts = [(k, line, r) for k, line in enumerate(lines) for r in range(12)]
    listed = (f"{k} ||| {' '.join(line.split()[: 12 - r])} ||| A= {-r} B= {r % 3} ||| 0\n" for k, line, r in texts)
    (tmp_path / "list").write_text("".join(listed))
    return tmp_path


def idle(capsys: Captured, *words: str) -> dict[str, str]:
    """What is said of options of a command that ends well."""
    assert main(list(words)) == 0
    return dict(IDLE.findall(capsys.readouterr().err))


POOL = ("select", "--source", "s", "--target", "t", "--alignment", "a", "--words", "20")


class TestSelect:
    def test_what_a_method_does_not_use(self, folder: Path, capsys: Captured) -> None:
        given = ("--metric", "BLEU", "--added-sign", "--align", "hmm", "--similarity", "BLEU", "--window", "3")
        said = idle(capsys, *POOL, "--output", "o", "--method", "random", "--seed", "3", *given)
        assert list(said) == ["--metric", "--align", "--added-sign", "--window", "--similarity"]
        assert said["--metric"] == "method random looks at no N-best lists"
        again = idle(capsys, *POOL, "--output", "p", "--method", "random", "--seed", "3", "--quiet")
        assert again == {}
        assert Path("o.lines").read_bytes() == Path("p.lines").read_bytes()

    def test_what_the_pool_or_another_option_makes_useless(self, folder: Path, capsys: Captured) -> None:
        said = idle(capsys, *POOL, "--output", "o", "--seed", "3", "--symmetrise", "union", "--added-sign")
        assert said == {"--seed": "method la draws nothing", "--symmetrise": "the pool comes with its alignment"}
        assert set(idle(capsys, *POOL, "--output", "o", "--dry-run", "--diversity", "1")) == {
            "--output", "--words", "--diversity",
        }  # fmt: skip
        assert set(idle(capsys, *POOL, "--output", "o", "--explain", "2")) == {"--output"}
        assert set(idle(capsys, *POOL, "--output", "o", "--diversity", "2", "--window", "3")) == {"--window"}

    def test_nothing_is_said_where_all_counts_or_is_not_given(self, folder: Path, capsys: Captured) -> None:
        for method in ("la", "random", "TFWP"):
            assert idle(capsys, *POOL, "--output", "o", "--method", method) == {}
        assert idle(capsys, *POOL, "--output", "o", "--window", "3", "--similarity", "BLEU", "--added-sign") == {}


class TestTuning:
    def test_optimise(self, folder: Path, capsys: Captured) -> None:
        words = ("optimise", "--references", "ref", "--optimiser")
        said = idle(capsys, *words, "mle", "--seed", "3", "--oracle", "local", "--mu", "0.5", "--rounds", "2", "list")
        assert said == {
            "--seed": "mle draws nothing",
            "--mu": "oracle is local",
            "--rounds": "oracle is local",
        }
        assert idle(capsys, *words, "mle", "--mu", "0.5", "--rounds", "2", "list") == {}
        assert idle(capsys, *words, "wro", "--seed", "3", "--oracle-share", "0.2", "list") == {}

    def test_tune(self, folder: Path, capsys: Captured) -> None:
        Path("c.toml").write_text(
            '[run]\nperturbation = 0.2\nnbest = 5\n[decoder]\nname = "fixed"\nlists = ["list"]\n'
            '[optimiser]\nname = "wro"\nglobal_weight = false\nreachable = 0.3\n'
        )
        said = idle(
            capsys, "tune", "c.toml", "--source", "s", "--references", "ref", "--run", "r", "--perturbed-rounds", "1",
            "--iterations", "1", "--folds", "0", "--oracle-share", "0.2",
        )  # fmt: skip
        assert said == {
            "run.perturbation": "decoder fixed gives the same lists every time",
            "--perturbed-rounds": "decoder fixed gives the same lists every time",
            "optimiser.reachable": "global-weight is false",
            "run.nbest": "decoder fixed gives the same lists every time",
        }

    def test_settings_of_a_run(self) -> None:
        def of_run(**given: object) -> dict[str, str]:
            return {key: why for _, key, why in CONFIGURATION.without_effect({"run": given})}

        assert of_run(perturbation=0.2) == {"perturbation": "perturbed is 0"}
        assert of_run(perturbation=0.2, perturbed=2, perturbed_rounds=1) == {}
        assert of_run(interpolation_from=3) == {"interpolation_from": "interpolation is 1.0"}
        assert of_run(interpolation=0.5, step="trust") == {"step": "interpolation is 0.5"}

    @pytest.mark.parametrize("name", list(OPTIMISERS))
    def test_a_hyper_parameter_that_is_told_changes_nothing(self, name: str) -> None:
        pool = made_pool()
        off = {"oracle": "local", "restarts": 0, "oracle_sampling": False, "global_weight": False}
        others = {"mu": 0.2, "rounds": 1, "range": "good=-9..-8", "oracle_share": 0.4, "reachable": 0.9}
        others["reach_metric"] = "CHRF"
        for key, (other, counts) in OPTIMISERS.find(name).counts_if.items():
            assert not counts(off[other])
            found = [
                make_optimiser(name, {other: off[other], **more}).fit(pool, Weights.constant(pool.names, 1.0)).weights
                for more in ({}, {key: others[key]})
            ]
            assert found[0].dense.tobytes() == found[1].dense.tobytes(), key
            section = {"name": name, other: off[other], key: others[key]}
            assert [said[1] for said in CONFIGURATION.without_effect({"optimiser": section})] == [key]


def test_score_and_compare_print_all_digits_as_json(folder: Path, capsys: Captured) -> None:
    assert idle(capsys, "score", "-r", "ref", "s", "--json", "-w", "4") == {"--width": "--json has all digits"}
    assert idle(capsys, "score", "-r", "ref", "s", "-w4") == {}
    assert idle(capsys, "score", "-r", "ref", "s", "--json") == {}
