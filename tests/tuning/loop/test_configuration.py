from __future__ import annotations

from pathlib import Path

import pytest

from lasw.metrics import UserError
from lasw.tuning import CONFIGURATION, DECODERS, OPTIMISERS, Configuration, Sections, with_changes

WHOLE = """\
[run]
directory = "out"
seed = 3

[data]
source = "dev.de"
references = ["dev.en0", "/abs/dev.en1"]

[decoder]
name = "fixed"
lists = ["a.nbest"]

[optimiser]
name = "wro"
oracle_share = 0.2
"""


def read(tmp_path: Path, text: str) -> Sections:
    (tmp_path / "c.toml").write_text(text)
    return CONFIGURATION.read(str(tmp_path / "c.toml"))


def test_a_whole_file(tmp_path: Path) -> None:
    found = Configuration.of(read(tmp_path, WHOLE))
    assert found.run.directory == tmp_path / "out"
    assert (found.run.seed, found.run.iterations, found.run.keep) == (3, 15, "best")
    assert found.data.references == (tmp_path / "dev.en0", Path("/abs/dev.en1"))
    assert found.optimiser == {"name": "wro", "oracle_share": 0.2}
    assert found.decoder == {"name": "fixed", "lists": (tmp_path / "a.nbest",)}
    assert found.sections["optimiser"]["metric"] == "PABC4"  # the class's own default
    assert found.sections["optimiser"]["oracle_share"] == 0.2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seed = 3", "sed = 3"), r"c.toml:3: unknown key 'sed' in \[run\]; did you mean 'seed'\?"),
        (("seed = 3", "oracle_share = 0.1"), r":3: unknown key 'oracle_share' in \[run\]; it belongs in \[optimiser\]"),
        (("oracle_share = 0.2", "nbest = 9"), r":15: unknown key 'nbest' in \[optimiser\]; it belongs in \[run\]"),
        (("oracle_share = 0.2", "nbset = 9"), r"unknown key 'nbset' in \[optimiser\]; did you mean 'nbest' in \[run\]"),
        (("oracle_share = 0.2", "seed = 9"), r"unknown key 'seed' in \[optimiser\]; it belongs in \[run\]"),
        (('name = "wro"', 'name = "pro"'), r"unknown key 'oracle_share' in \[optimiser\]; another optimiser has it"),
        (("[run]\n", "seed = 4\n[run]\n"), r":1: unknown section or key 'seed' outside all sections; it belongs in"),
        (("[optimiser]", "[optimizer]"), r":13: unknown section or key 'optimizer'.*; did you mean 'optimiser'\?"),
        (("[optimiser]", "[zzz]"), r"unknown section or key 'zzz' outside all sections; valid are run, data, decoder"),
        (("[run]", "[[run]]"), r"c.toml:1: run is no section; expected \[run\], its keys below"),
        (("seed = 3", "seed = 3.5"), r"c.toml:3: run.seed is 3.5; expected a whole number"),
        (("seed = 3", "seed = true"), r"run.seed is True; expected a whole number"),
        (("seed = 3", "seed = "), r"c.toml:3: this is not TOML"),
        (("seed = 3", "seed = 3\nseed = 4"), r"c.toml:4: this is not TOML \(Cannot overwrite"),
    ],
)
def test_what_is_refused_in_a_file(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in WHOLE
    with pytest.raises(UserError, match=message):
        read(tmp_path, WHOLE.replace(*change, 1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"run": {"keep": "first"}}, r"\[run\] keep is first, expected best, held-out, last"),
        ({"run": {"keep": "held-out", "folds": 0}}, r"\[run\] keep is held-out, folds is 0, expected 2 or more"),
        ({"run": {"step": "far"}}, r"\[run\] step is far, expected trust, growing, whole"),
        ({"run": {"folds": 1}}, r"\[run\] folds is 1, expected 0, or 2 or more"),
        ({"run": {"iterations": -1}}, r"\[run\] -1 iterations"),
        ({"run": {"nbest": 0}}, r"\[run\] 0 hypotheses"),
        ({"run": {"noise": -0.5}}, r"\[run\] noise is -0.5"),
        ({"run": {"perturbation": 0.0}}, r"\[run\] perturbation is 0.0"),
        ({"run": {"interpolation": 2.0}}, r"\[run\] interpolation is 2.0"),
        ({"run": {"aggregate": -1}}, r"\[run\] aggregate is -1"),
        ({"run": {"tolerance": -1.0}}, r"\[run\] tolerance is -1.0"),
        ({"run": {"seed": -1}}, r"\[run\] seed is -1"),
        ({"optimiser": {"oracle_share": 1.5}}, r"\[optimiser\] oracle share 1.5, expected above 0 and at most 1"),
        ({"optimiser": {"metric": "BLUE"}}, r"unknown metric 'BLUE'.*did you mean 'BLEU'"),
        (
            {"optimiser": {"name": "por"}},
            rf"unknown optimiser 'por'; expected {', '.join(OPTIMISERS)}; did you mean 'pro'",
        ),
        ({"decoder": {"name": "fixd"}}, r"unknown decoder 'fixd'.*did you mean 'fixed'"),
        ({"decoder": {"lsts": "x"}}, r"decoder fixed has no 'lsts'; did you mean 'lists'"),
    ],
)
def test_what_is_refused_later(tmp_path: Path, changes: Sections, message: str) -> None:
    sections = with_changes(read(tmp_path, WHOLE), changes)
    with pytest.raises(UserError, match=message):
        Configuration.of(sections)


def test_a_section_given_as_a_value(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"c.toml:2: decoder is no section; expected \[decoder\]"):
        read(tmp_path, '# mine\ndecoder = "thot"\n')


def test_what_must_be_there(tmp_path: Path) -> None:
    whole = read(tmp_path, WHOLE)
    for section, key, message in (
        ("run", "directory", "no run.directory; expected the run's folder.*; give --run$"),
        ("data", "source", "no data.source; expected what is decoded.*; give --source$"),
        ("decoder", "name", f"no decoder; expected one of {', '.join(DECODERS)}; give --decoder$"),
        ("decoder", "lists", "no decoder.lists"),
    ):
        lacking = {s: {k: v for k, v in values.items() if (s, k) != (section, key)} for s, values in whole.items()}
        with pytest.raises(UserError, match=message):
            Configuration.of(lacking)


def test_who_asks_for_no_optimiser_gets_one(tmp_path: Path) -> None:
    whole = {**read(tmp_path, WHOLE), "optimiser": {"metric": "PABC3"}}
    chosen = Configuration.of(whole).optimiser
    assert chosen == {"name": "average", "metric": "PABC3"}
    with pytest.raises(UserError, match="optimiser average has no 'psi'"):
        Configuration.of({**whole, "optimiser": {"psi": 0.5}})


def test_overriding(tmp_path: Path) -> None:
    whole = read(tmp_path, WHOLE)
    changed = with_changes(whole, {"run": {"seed": 4}, "optimiser": {"name": "pro", "psi": 0.1}})
    assert changed["run"]["seed"] == 4
    assert changed["optimiser"] == {"name": "pro", "psi": 0.1}  # what was set for wro is gone
    assert whole["run"]["seed"] == 3
    assert with_changes(whole, {"optimiser": {"name": "wro", "psi": 0.5}})["optimiser"]["oracle_share"] == 0.2


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        CONFIGURATION.read(str(tmp_path / "none.toml"))
    with pytest.raises(UserError, match=r"no file and no configuration 'wro-globl'.*did you mean 'wro-global'"):
        CONFIGURATION.read("wro-globl")
    (tmp_path / "utf16.toml").write_bytes("[run]\n".encode("utf-16"))
    with pytest.raises(UserError, match="UTF-16"):
        CONFIGURATION.read(str(tmp_path / "utf16.toml"))


def test_every_configuration_that_comes_with_the_package(tmp_path: Path) -> None:
    names = CONFIGURATION.names()
    assert {"pro", "pro-moses", "quickstart", "wro-global", "wro-simpbleu"} <= set(names)
    needed: Sections = {
        "run": {"directory": tmp_path},
        "data": {"source": tmp_path / "f", "references": (tmp_path / "e",)},
    }
    for name in names:
        sections = CONFIGURATION.read(name)
        if "decoder" not in sections:
            sections = with_changes(sections, {"decoder": {"name": "fixed", "lists": (Path("x"),)}})
        else:
            sections = with_changes(sections, {"decoder": {"model": tmp_path}})
        found = Configuration.of(with_changes(sections, needed))
        assert found.optimiser["name"] == {"pro": "pro", "pro-moses": "pro", "quickstart": "average"}.get(name, "wro")
        assert found.run.step == ("trust" if name == "quickstart" else "whole")
    pro = CONFIGURATION.read("pro")["optimiser"]
    assert (pro["draws"], pro["pairs"], pro["threshold"], pro["psi"]) == (5000, 50, 0.05, 0.1)
