"""`lasw optimise`: from lists on disk to weights on disk."""

import json
import re

import numpy as np
import pytest

from lasw.metrics import References, metric, read_corpus
from lasw.scripts.main import main
from lasw.tuning import OPTIMISERS, Weights, make_optimiser, read_pool, read_weights
from lasw.tuning.optimisers.pairs.pro import PRO
from lasw.tuning.optimisers.pairs.wro import WRO

WORDS = ["der", "alte", "rote", "Bus", "faehrt", "heute", "ueber", "die", "neue", "Bruecke"]
INI = """\
[feature]
UnknownWordPenalty
Distortion
KENLM name=LM0 path=lm
PhraseDictionaryMemory name=TM0 num-features=2 path=table
[weight]
UnknownWordPenalty0= 1
LM0= 0.5 # of the newspaper
TM0= 0.2 0.2
Distortion0= 0.3
[v]
0
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """References, two lists in which LM0 knows which words are wrong, an ini; the command to run on them."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    references = [rng.permutation(WORDS)[: rng.integers(6, 10)].tolist() for _ in range(10)]
    for part in (1, 2):
        lines = []
        for s, tokens in enumerate(references):
            for _ in range(20):
                wrong = rng.random(len(tokens)) < 0.6 * rng.random()
                text = " ".join("falsch" if w else t for t, w in zip(tokens, wrong, strict=True))
                lm, tm = -wrong.sum() + 0.2 * rng.normal(), rng.normal(size=2)
                lines.append(f"{s} ||| {text}  ||| Distortion0= -2 LM0= {lm:.6g} TM0= {tm[0]:.6g} {tm[1]:.6g} ||| 0\n")
        (tmp_path / f"n{part}").write_text("".join(lines))
    (tmp_path / "ref").write_text("".join(" ".join(tokens) + "\n" for tokens in references))
    (tmp_path / "moses.ini").write_text(INI)

    def optimise(*words, code=0, lists=("n1", "n2")):
        found = main(["optimise", "--references", "ref", *words, *lists])
        out, err = capsys.readouterr()
        assert found == code, err
        return out, err

    return optimise


@pytest.mark.parametrize("name", ["pro", "wro"])
def test_json_on_stdout_and_weights_on_disk(run, tmp_path, name):
    out, err = run("--optimiser", name, "--output", "w.json", "--json", "--seed", "7")
    result = json.loads(out)
    keys = ["candidates", "pool_bleu", "start_pool_bleu", "loss", "weights", "seed", "signature", "warnings"]
    assert list(result) == keys
    assert result["candidates"] == 400
    assert result["pool_bleu"] > result["start_pool_bleu"]
    assert result["seed"] == 7
    assert result["signature"].startswith(f"{name.upper()}|metric:")
    assert json.loads((tmp_path / "w.json").read_text()) == result["weights"]
    dense = result["weights"]["dense"]
    assert dense["LM0"][0] > 0.5
    assert dense["Distortion0"] == [1.0]  # never differs: stays as it was
    assert "n1: 200 hypotheses, 200 new" in err


def test_what_is_printed_as_json_can_be_given_back(run, tmp_path):
    (tmp_path / "printed.json").write_text(run("--optimiser", "pro", "--output", "w.json", "--json")[0])
    again = [run("--optimiser", "pro", "--json", "--start", name)[0] for name in ("printed.json", "w.json")]
    assert again[0] == again[1]
    dense = json.loads((tmp_path / "w.json").read_text())["dense"]
    (tmp_path / "values").write_text(" ".join(str(value) for values in dense.values() for value in values))
    result = json.loads(run("--optimiser", "pro", "--json", "--start", "values")[0])
    assert result["weights"] == json.loads(again[0])["weights"]
    assert "they are those of Distortion0, LM0, TM0_0, TM0_1, in this order" in result["warnings"][0]


def test_same_seed_same_bytes(run, tmp_path):
    outs = [run("--optimiser", "wro", "--output", f"w{k}.json", "--json", "--seed", "3")[0] for k in range(2)]
    assert outs[0] == outs[1]
    assert (tmp_path / "w0.json").read_bytes() == (tmp_path / "w1.json").read_bytes()
    run("--optimiser", "wro", "--output", "w2.json", "--seed", "4")
    assert (tmp_path / "w2.json").read_bytes() != (tmp_path / "w0.json").read_bytes()


def test_what_the_python_api_gives(run, tmp_path):
    run("--optimiser", "pro", "--output", "w.json", "--psi", "0.5", "--draws", "500")
    pool, warnings = read_pool(["n1", "n2"], References((read_corpus("ref"),)))
    assert warnings == []
    fit = PRO(psi=0.5, draws=500).fit(pool)
    assert read_weights(tmp_path / "w.json").dense.tobytes() == fit.weights.dense.tobytes()


def test_a_moses_ini_is_rewritten(run, tmp_path):
    run("--optimiser", "pro", "--start", "moses.ini", "--output", "out.ini")
    text = (tmp_path / "out.ini").read_text()
    comment, _, rest = text.partition("[feature]")
    assert re.match(r"# BLEU [01]\.\d{6} on ref \(best of 400 candidates; [01]\.\d{6} before\)\n# PRO\|", comment)
    weights = read_weights(tmp_path / "out.ini").by_group()
    assert weights["UnknownWordPenalty0"] == [1.0]
    assert weights["Distortion0"] == [0.3]
    old, new = INI.splitlines(), ("[feature]" + rest).splitlines()
    changed = [k for k, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    assert [old[k].split("=")[0] for k in changed] == ["LM0", "TM0"]
    assert new[changed[0]] == f"LM0= {weights['LM0'][0]!r} # of the newspaper"
    run("--optimiser", "pro", "--moses-ini", "moses.ini", "--output", "again")
    assert (tmp_path / "again").read_text() == text
    run("--optimiser", "pro", "--start", "moses.ini", "--output", "all.json")
    assert read_weights(tmp_path / "all.json").by_group()["UnknownWordPenalty0"] == [1.0]


def test_other_formats(run, tmp_path):
    for kind in ("pairs", "joshua", "travatar", "groups"):
        run("--optimiser", "pro", "--output", kind, "--output-format", kind)
        assert len(read_weights(tmp_path / kind).dense) == 4
    assert "TM0_1 = " in (tmp_path / "joshua").read_text()


def test_without_output_the_weights_are_printed(run):
    out, _ = run("--optimiser", "pro", "--quiet")
    assert re.search(r"^LM0= 0\.\d+$", out, re.MULTILINE)
    assert re.search(r"^TM0= \S+ \S+$", out, re.MULTILINE)
    assert re.search(r"^pool BLEU   \d+\.\d\d  \(before \d+\.\d\d\)$", out, re.MULTILINE)
    assert re.search(r"^pool (?!BLEU )\S+ +\d+\.\d\d  \(before \d+\.\d\d\)$", out, re.MULTILINE)


def test_the_loss_is_told_and_an_error_rate_as_one(run):
    words = ("--optimiser", "mert", "--metric", "TER")
    loss = json.loads(run(*words, "--json")[0])["loss"]
    assert (loss["metric"], loss["better"]) == ("TER", "lower")
    pool, _ = read_pool(["n1", "n2"], References((read_corpus("ref"),)))
    ter, start = metric("TER"), Weights.constant(pool.names, 1.0)
    tuned = make_optimiser("mert", {}, metric="TER", seed=1).fit(pool, start).weights
    rates = [100 * (1 - pool.corpus_score(ter, weights)) for weights in (start, tuned)]
    assert [loss["start_pool"], loss["pool"]] == pytest.approx(rates)
    assert rates[1] < rates[0]
    out = run(*words)[0]
    assert f"pool TER ↓  {rates[1]:.2f}  (before {rates[0]:.2f})\n" in out
    assert re.search(r"^signature   MERT\|metric:1-TER\|", out, re.MULTILINE)  # what is optimised is one minus it


def test_features_of_other_scorers(run, tmp_path):
    owners = [line.split()[0] for part in (1, 2) for line in (tmp_path / f"n{part}").open()]
    rng = np.random.default_rng(0)
    (tmp_path / "noise").write_text("".join(f"{value}\n" for value in rng.normal(size=len(owners))))
    out, _ = run("--optimiser", "pro", "--json", "--start", "moses.ini", "--feature", "nn=noise")
    dense = json.loads(out)["weights"]["dense"]
    assert abs(dense["nn"][0]) < dense["LM0"][0]
    half = "".join((tmp_path / "noise").read_text().splitlines(keepends=True)[:200])
    (tmp_path / "half").write_text(half)
    assert (
        "200 values of the feature nn; expected more than 200"
        in run("--optimiser", "pro", "--feature", "nn=half", code=1)[1]
    )
    both = run("--optimiser", "pro", "--json", "--feature", "nn=half", "--feature", "nn=half")[0]
    assert "nn" in json.loads(both)["weights"]["dense"]
    error = run("--optimiser", "pro", "--moses-ini", "moses.ini", "--output", "o.ini", "--feature", "nn=noise", code=1)[
        1
    ]
    assert "no feature nn" in error
    assert "pro on" not in error.lower()  # before the work, not behind it
    assert not (tmp_path / "o.ini").exists()


def test_where_weights_start(run, tmp_path):
    """Without a file dense ones, those of features in files of their own too, as 1; with one, these as 0."""
    (tmp_path / "same").write_text("3\n" * 400)  # never differs, so its weight stays
    dense = json.loads(run("--optimiser", "pro", "--json", "--feature", "s=same")[0])["weights"]["dense"]
    assert (dense["s"], dense["Distortion0"]) == ([1.0], [1.0])
    (tmp_path / "w").write_text("Distortion0 0.5\nLM0 1\nTM0 1 1\n")
    started = ("--optimiser", "pro", "--json", "--start", "w", "--feature")
    dense = json.loads(run(*started, "s=same")[0])["weights"]["dense"]
    assert (dense["s"], dense["Distortion0"]) == ([0.0], [0.5])
    tune = ["tune", "--decoder", "fixed", "--lists", "n1", "n2", "--features", "s=same", "--folds", "0", "--quiet"]
    tune += ["--source", "ref", "--references", "ref", "--iterations", "1", "--optimiser", "pro"]
    for start, wanted in (([], 1.0), (["--initial", "w"], 0.0)):
        assert main([*tune, *start, "--run", f"r{wanted}"]) == 0
        assert read_weights(tmp_path / f"r{wanted}" / "weights.json").by_group()["s"] == [wanted]


def test_the_files_of_moses_give_what_the_list_gives(run, shared_data, tmp_path):
    folder = shared_data / "moses" / "de-en"
    start, references = str(folder / "run1.moses.ini"), str(shared_data / "multi30k" / "dev.en.gz")
    words = ["optimise", "--optimiser", "wro", "--start", start, "--json", "--quiet", "--output"]
    files = ["--features", str(folder / "run1.features.dat.gz"), "--scores", str(folder / "run1.scores.dat.gz")]
    assert main([*words, "a.json", *files]) == 0
    assert main([*words, "b.json", "--references", references, "--", str(folder / "run1.best100.out.gz")]) == 0
    a, b = (read_weights(tmp_path / name) for name in ("a.json", "b.json"))
    assert a.names == b.names
    assert a.dense == pytest.approx(b.dense, abs=0.02)  # candidates with equal features and statistics are one there


def test_wrong_mixtures_of_lists_and_files(run, tmp_path):
    (tmp_path / "f").write_text("FEATURES_TXT_BEGIN_0 0 1 1 LM0_0\n-1\nFEATURES_TXT_END_0\n")
    (tmp_path / "s").write_text("SCORES_TXT_BEGIN_0 0 1 9 BLEU\n1 1 0 0 0 0 0 0 1\nSCORES_TXT_END_0\n")
    files = ["--features", "f", "--scores", "s"]
    assert "one of the two" in run("--optimiser", "pro", *files, code=1)[1]
    assert "give it with --features" in run("--optimiser", "pro", code=1, lists=("f",))[1]
    assert "no N-best lists" in run("--optimiser", "pro", code=1, lists=())[1]
    assert main(["optimise", "--optimiser", "pro", *files, "--features", "f"]) == 1
    assert main(["optimise", "--optimiser", "pro", *files]) == 0
    for option in (["--lowercase"], ["--tokenize", "13a"], ["--unsorted"]):
        assert main(["optimise", "--optimiser", "pro", *files, *option]) == 1


def test_references_named_one_by_one_are_all_used(run, tmp_path):
    (tmp_path / "other").write_text("ein Bus\n" * 10)
    together = run("other", "--optimiser", "pro", "--json")[0]
    assert "nrefs:2" in together
    assert run("-r", "other", "--optimiser", "pro", "--json")[0] == together


def test_weights_without_a_place_are_refused_before_the_work(run, tmp_path):
    text = (tmp_path / "n1").read_text().replace(" TM0=", " LM0_a= 1 TM0=")
    (tmp_path / "n1").write_text(text)
    error = run("--optimiser", "pro", "--output", "w", "--output-format", "groups", code=1, lists=("n1",))[1]
    assert "no place for sparse weights" in error
    assert "pro on" not in error.lower()


@pytest.mark.parametrize("read", ["n1", "ref"])
def test_what_is_read_is_not_written_over(run, tmp_path, read):
    before = (tmp_path / read).read_bytes()
    assert "would overwrite what is read" in run("--optimiser", "pro", "--output", read, code=1)[1]
    assert (tmp_path / read).read_bytes() == before


def test_nothing_to_learn_from_leaves_the_weights(run, tmp_path):
    out, err = run("--optimiser", "pro", "--metric", "BLEU+1", "--threshold", "0.99", "--json", "--start", "moses.ini")
    result = json.loads(out)
    assert result["weights"]["dense"]["LM0"] == [0.5]
    assert len(result["warnings"]) == 1
    assert err.count("warning") == 1


def test_a_part_of_the_way_from_the_start_by_the_number_of_lists(run, tmp_path):
    """Both ends at absolute sum 1 over the features that differ (LM0, TM0); Distortion0 stays."""

    def weights(*words, lists=("n1",)):
        result = json.loads(run("--optimiser", "pro", "--json", *words, lists=lists)[0])
        dense = result["weights"]["dense"]
        return np.array([*dense["LM0"], *dense["TM0"]]), result["warnings"], result["signature"]

    start = np.array([0.5, 0.2, 0.2]) / 0.9
    for lists, share in ((("n1",), 0.3), (("n1", "n2"), 0.5)):
        whole, nothing, plain = weights("--start", "moses.ini", "--step", "1", lists=lists)
        assert (nothing, weights(lists=lists)[0].tolist()) == ([], whole.tolist())
        mixed = share * whole + (1 - share) * start
        part, told, signature = weights("--start", "moses.ini", lists=lists)
        assert part == pytest.approx(mixed / np.abs(mixed).sum(), abs=1e-12)
        assert told == [
            f"the new weights are {share} of the way from --start: {'1 list' if share == 0.3 else '2 lists'} cannot "
            "vouch for more, as a decoder finds other candidates; 'lasw tune' asks it, --step 1 goes all the way"
        ]
        assert f"|step:{share}|" in signature
        assert "|step:" not in plain
        same, silent, _ = weights("--start", "moses.ini", "--step", str(share), lists=lists)
        assert (same.tolist(), silent) == (part.tolist(), [])


@pytest.mark.parametrize("share", ["0", "-0.1", "1.5", "nan", "trust"])
def test_a_share_is_above_0_and_at_most_1(capsys, share):
    with pytest.raises(SystemExit, match="2"):
        main(["optimise", "--optimiser", "pro", f"--step={share}"])
    assert f"argument --step: '{share}', expected a number above 0 and at most 1" in capsys.readouterr().err


def test_case_and_tokens_can_be_changed(run, tmp_path):
    (tmp_path / "ref").write_text((tmp_path / "ref").read_text().upper())
    assert "--lowercase makes both sides alike" in run("--optimiser", "pro", code=1)[1]
    assert json.loads(run("--optimiser", "pro", "--json", "--force")[0])["pool_bleu"] == 0
    out = json.loads(run("--optimiser", "pro", "--json", "--lowercase")[0])
    assert out["pool_bleu"] > 0.3
    assert "case:lc" in out["signature"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--optimiser", "mert2"], ["unknown optimiser 'mert2'", ", ".join(OPTIMISERS)]),
        (["--optimiser", "pro", "--oracle", "local"], ["unknown option of pro 'oracle'"]),
        (["--optimiser", "pro", "--draws", "many"], ["--draws is 'many'", "a whole number"]),
        (["--optimiser", "pro", "--option", "psi"], ["--option KEY=VALUE"]),
        (["--optimiser", "pro", "--option", "psi=1", "--option", "psi=1"], ["psi is given twice"]),
        (["--optimiser", "pro", "--metric", "PABC5"], ["unknown metric 'PABC5'"]),
        (["--optimiser", "pro", "--output-format", "json"], ["give --output"]),
        (["--optimiser", "pro", "--output", "w", "--output-format", "jsn"], ["'jsn'", "did you mean 'json'"]),
        (["--optimiser", "pro", "--output", "w.ini"], ["w.ini", "no moses.ini"]),
        (["--optimiser", "pro", "--output", "w.ini", "--start", "short"], ["short: no moses.ini"]),
        (["--optimiser", "pro", "--output", "no/w.json"], ["no/w.json", "cannot be written"]),
        (["--optimiser", "pro", "--output", "."], [".: cannot be written", "no regular file"]),
        (["--optimiser", "pro", "--output", "-"], ["-: cannot be written"]),
        (["--optimiser", "pro", "--start", "ref"], ["ref:1"]),
        (["--optimiser", "pro", "--sparse-weights", "short"], ["--sparse-weights without the dense ones", "--start"]),
        (["--optimiser", "pro", "--start", "short"], ["no weight for the feature TM0", "short"]),
    ],
)
def test_what_is_wrong_is_told_in_one_line(run, tmp_path, words, said):
    (tmp_path / "short").write_text("LM0= 1\nDistortion0= 1\n")
    _, error = run("--quiet", *words, code=1)
    assert error.count("\n") == 1
    assert all(word in error for word in said)


def test_lists_that_do_not_fit(run, tmp_path):
    (tmp_path / "ref").write_text("ein Bus\n")
    assert "sentence id 1" in run("--optimiser", "pro", code=1)[1]
    (tmp_path / "ref").write_text("ein Bus\n" * 11)
    assert "no hypotheses for 1 sentence (id 10)" in run("--optimiser", "pro")[1]
    (tmp_path / "n3").write_text("0 ||| ein Bus  ||| LM0= -1 ||| 0\n")
    error = run("--optimiser", "pro", code=1, lists=("n1", "n3"))[1]
    assert "n3" in error
    assert "Distortion0" in error


def test_a_real_run_of_eight_iterations(shared_data, tmp_path, capsys):
    folder = shared_data / "moses" / "de-en"
    lists = [str(folder / f"run{k}.best100.out.gz") for k in range(1, 9)]
    references = str(shared_data / "multi30k" / "dev.en.gz")
    words = ["--optimiser", "wro", "--references", references, "--start", str(folder / "run1.moses.ini")]
    assert main(["optimise", *words, "--quiet", "--json", "--output", str(tmp_path / "w.json"), *lists]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["candidates"] == 165_469
    assert result["start_pool_bleu"] == pytest.approx(0.3910, abs=5e-5)
    pool, _ = read_pool(lists, References((read_corpus(references),)))
    start = Weights.constant(pool.names, 1.0)
    bleu = metric("BLEU")
    for optimiser, goal in ((PRO, 0.4005), (WRO, 0.4015)):
        fits = [optimiser(seed=seed).fit(pool, start) for seed in range(1, 6)]
        scores = [pool.corpus_score(bleu, fit.weights) for fit in fits]
        assert np.mean(scores) >= goal
        assert np.ptp(scores) < 0.001
        assert not any(fit.warnings for fit in fits)
    assert read_weights(tmp_path / "w.json").dense[:14].tobytes() == fits[0].weights.dense.tobytes()
    assert result["pool_bleu"] == scores[0]
