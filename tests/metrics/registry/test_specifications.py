"""Metric specifications: what is understood, and every word that a person is told about what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from lasw.metrics import (
    Metric,
    RoseFeatures,
    RoseModel,
    SimpBleu,
    UserError,
    display_of,
    is_metric,
    metric,
    spelt,
    write_trained_metric,
)
from lasw.metrics.ngram.chrf import Chrf
from lasw.metrics.registry import OF_TEXTS


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("BLEU", SimpBleu("BLEU")),
        ("BLEU+1", SimpBleu("BLEU+1")),
        ("PABC4:alpha=3", SimpBleu("PABC4", alpha=3.0)),
        ("RGC2:refs=each:reflen=average", SimpBleu("RGC2", refs="each", reflen="average")),
        ("PGB1:smoothing=lin-och:bp=smoothed", SimpBleu("PGB1", smoothing="lin-och", bp="smoothed")),
        ("PGBC4:corpus=mean:orders=effective", SimpBleu("PGBC4", corpus="mean", orders="effective")),
        ("bleu", SimpBleu("BLEU")),
        ("Bleu+1", SimpBleu("BLEU+1")),
        ("rgc2:refs=each", SimpBleu("RGC2", refs="each")),
        ("chrF", Chrf()),
        ("chrF2", Chrf()),
        ("chrF++", Chrf(words=2)),
        ("chrF2++:beta=1", Chrf(words=2, beta=1.0)),
    ],
)
def test_specifications(spec: str, expected: Metric) -> None:
    assert metric(spec) == expected
    assert is_metric(spec)
    assert display_of(spec) == expected.display


def test_names_take_no_care_of_capitals() -> None:
    assert [metric(name.lower()) for name in OF_TEXTS if name != "MIX"] == [
        metric(name) for name in OF_TEXTS if name != "MIX"
    ]
    assert spelt("mix:chrf++=1") == "MIX:chrf++=1"
    assert metric("mix:chrf=1") == metric("MIX:CHRF=1")
    assert display_of("ter").lower
    assert not is_metric("tree")
    assert not is_metric("chrf+")


# SPEC => MESSAGE; what a message has in place of " ... " does not matter. There are vectors.txt and rose.json.
WRONG = r"""
BLUE => unknown metric 'BLUE'; expected PABC4, PGBC4, BLEU, BLEU+1, WER, PER, CDER, TER, ... ; did you mean 'BLEU'?
PABC5 => unknown metric 'PABC5'; expected PABC4, PGBC4, BLEU, BLEU+1, WER, PER, CDER, ... ; did you mean 'PABC4'?
 => unknown metric ''; expected PABC4, PGBC4, BLEU, BLEU+1, WER, PER, CDER, TER, CHRF, NIST, ... SCORES
PABC4:alhpa=3 => unknown option of PABC4 'alhpa'; expected alpha, smoothing, bp, reflen, ... ; did you mean 'alpha'?
PABC4:alpha => metric 'PABC4:alpha': 'alpha'; expected key=value
PABC4:alpha=3:alpha=4 => metric 'PABC4:alpha=3:alpha=4': 'alpha' is given twice
PABC4:alpha=x => metric PABC4: alpha=x; expected a number of at least 0
PABC4:alpha=-1 => metric PABC4: alpha=-1.0; expected a number of at least 0
PABC4:alpha=nan => metric PABC4: alpha=nan; expected a number of at least 0
PABC4:alpha=inf => metric PABC4: alpha=inf; expected a number of at least 0
PABC4:name=BLEU => unknown option of PABC4 'name'; expected alpha, smoothing, bp, reflen, refs, corpus, orders
BLEU:reflen=closets => unknown value of BLEU:reflen 'closets'; expected closest, ... ; did you mean 'closest'?
BLEU:bp=none => unknown value of BLEU:bp 'none'; expected smoothed, plain, reference, reversed
BLEU:smoothing=lin => unknown value of BLEU:smoothing 'lin'; expected add, lin-och; did you mean 'lin-och'?
BLEU:refs=all => unknown value of BLEU:refs 'all'; expected joint, each
BLEU:corpus=total => unknown value of BLEU:corpus 'total'; expected sum, mean
BLEU:orders= => unknown value of BLEU:orders ''; expected all, effective
BLEU+1:kind=2 => unknown option of BLEU+1 'kind'; expected alpha, smoothing, bp, reflen, refs, corpus, orders
WER:reflne=best => unknown option of WER 'reflne'; expected reflen; did you mean 'reflen'?
WER:reflen=worst => unknown value of WER:reflen 'worst'; expected average, best
PER:reflen=best:reflen=best => metric 'PER:reflen=best:reflen=best': 'reflen' is given twice
CDER:x=1 => unknown option of CDER 'x'; expected reflen
TER:reflen=avarage => unknown value of TER:reflen 'avarage'; expected average, best; did you mean 'average'?
TER:beam=3 => unknown option of TER 'beam'; expected reflen
CHRF:char=6 => unknown option of CHRF 'char'; expected chars, words, beta; did you mean 'chars'?
CHRF:chars=x => CHRF:chars=x; expected a whole number
CHRF:chars=2.5 => CHRF:chars=2.5; expected a whole number
CHRF:chars=0 => CHRF:chars=0; expected 1 to 20
CHRF:chars=-1 => CHRF:chars=-1; expected 1 to 20
CHRF:chars=21 => CHRF:chars=21; expected 1 to 20
CHRF:words=5 => CHRF:words=5; expected 0 to 4
CHRF:words=two => CHRF:words=two; expected a whole number
CHRF:beta=x => CHRF:beta=x; expected a number
CHRF:beta=0 => CHRF:beta=0.0; expected a number above 0, 1e+06 at most
CHRF:beta=nan => CHRF:beta=nan; expected a number above 0, 1e+06 at most
CHRF:beta=1e7 => CHRF:beta=10000000.0; expected a number above 0, 1e+06 at most
NIST:order=4 => unknown option of NIST 'order'; expected orders; did you mean 'orders'?
NIST:orders=x => NIST:orders=x; expected a whole number
NIST:orders=2.5 => NIST:orders=2.5; expected a whole number
NIST:orders=0 => NIST:orders=0; expected 1 to 9
NIST:orders=10 => NIST:orders=10; expected 1 to 9
METEOR:stemm=english => unknown option of METEOR 'stemm'; expected stem, power; did you mean 'stem'?
METEOR:stem=englsh => unknown value of METEOR:stem 'englsh'; expected none, arabic, ... ; did you mean 'english'?
METEOR:power=x => METEOR:power=x; expected a number above 0
METEOR:power=0 => METEOR:power=0.0; expected a number above 0
METEOR:power=inf => METEOR:power=inf; expected a number above 0
METEOR:power=-1.5 => METEOR:power=-1.5; expected a number above 0
ROSE => ROSE without a model; expected ROSE:model=FILE; train one: lasw train-metric
ROSE:model= => ROSE without a model; expected ROSE:model=FILE; train one: lasw train-metric
ROSE:step=1 => ROSE without a model; expected ROSE:model=FILE; train one: lasw train-metric
ROSE:model=missing.json => missing.json: no such file
ROSE:modle=rose.json => unknown option of ROSE 'modle'; expected model, step; did you mean 'model'?
ROSE:model=rose.json:step=x => metric ROSE: step=x; expected a number of at least 0
ROSE:model=rose.json:step=-1 => metric ROSE: step=-1.0; expected a number of at least 0
ROSE:model=rose.json:step=nan => metric ROSE: step=nan; expected a number of at least 0
ROSE:model=vectors.txt => vectors.txt:1: this is no JSON (Expecting value); expected ... ROSE model'
WMD => WMD needs word vectors; expected WMD:vectors=FILE
WMD:vectors= => WMD needs word vectors; expected WMD:vectors=FILE
WMD:vectors=missing.txt => missing.txt: no such file of word vectors
WMD:vector=vectors.txt => unknown option of WMD 'vector'; expected vectors, distance, ... ; did you mean 'vectors'?
WMD:vectors=vectors.txt:distance=manhattan => unknown value of WMD:distance 'manhattan'; expected cosine, euclidean
WMD:vectors=vectors.txt:unknown=nil => unknown value of WMD:unknown 'nil'; expected zero, random, average
WMD:vectors=vectors.txt:numbers=true => unknown value of WMD:numbers 'true'; expected no, yes
WMD:vectors=vectors.txt:preprocess=1 => unknown value of WMD:preprocess '1'; expected no, yes
WMD:vectors=vectors.txt:seed=-1 => WMD:seed=-1; expected a whole number of at least 0
WMD:vectors=vectors.txt:seed=x => WMD:seed=x; expected a whole number
WMD:vectors=vectors.txt:seed=1.5 => WMD:seed=1.5; expected a whole number
WMD:vectors=vectors.txt:stop=missing.txt => WMD:stop=missing.txt; expected a number, or a file with a word a line
WMD:vectors=vectors.txt:delta=1 => unknown option of WMD 'delta'; expected vectors, distance, ... preprocess
WMDO => WMDO needs word vectors; expected WMDO:vectors=FILE
WMDO:vectors=vectors.txt:delta=x => WMDO:delta=x; expected a number
WMDO:vectors=vectors.txt:delta=nan => WMDO:delta=nan; expected a number from -1e+100 to 1e+100
WMDO:vectors=vectors.txt:alpha=1e101 => WMDO:alpha=1e+101; expected a number from -1e+100 to 1e+100
WMDO:vectors=vectors.txt:rho=inf => WMDO:rho=inf; expected a number from -1e+100 to 1e+100
WMDO:vectors=vectors.txt:cap=-1 => WMDO:cap=-1.0; expected a number of at least 0
WMDO:vectors=vectors.txt:cap=nan => WMDO:cap=nan; expected a number of at least 0
WMDO:vectors=vectors.txt:power=0 => WMDO:power=0.0; expected a number above 0, 20 at most
WMDO:vectors=vectors.txt:power=21 => WMDO:power=21.0; expected a number above 0, 20 at most
WMDO:vectors=vectors.txt:power=inf => WMDO:power=inf; expected a number above 0, 20 at most
WMDO:vectors=vectors.txt:penalty=chunk => unknown value of WMDO:penalty 'chunk'; ... ; did you mean 'chunks'?
WMDO:vectors=vectors.txt:combine=sum => unknown value of WMDO:combine 'sum'; expected add, multiply, reversed, limited
WMDO:vectors=vectors.txt:distance=cosin => unknown value of WMDO:distance 'cosin'; ... ; did you mean 'cosine'?
WMDO:vectors=vectors.txt:deltas=1 => unknown option of WMDO 'deltas'; expected vectors, ... ; did you mean 'delta'?
WE => WE needs word vectors; expected WE:vectors=FILE
WE:vectors=missing.txt => missing.txt: no such file of word vectors
WE:vectors=vectors.txt:df=missing.txt => WE:df=missing.txt; expected references, hypotheses, or a file of sentences
WE:vectors=vectors.txt:unknown=none => unknown value of WE:unknown 'none'; expected zero, random, average
WE:vectors=vectors.txt:seed=-2 => WE:seed=-2; expected a whole number of at least 0
WE:vectors=vectors.txt:seed=z => WE:seed=z; expected a whole number
WE:vectors=vectors.txt:stop=3 => unknown option of WE 'stop'; expected vectors, df, unknown, seed
WEWPI => WEWPI needs word vectors; expected WEWPI:vectors=FILE
WEWPI:vectors=vectors.txt:df= => WEWPI:df=; expected references, hypotheses, or a file of sentences
SRBLEU => SRBLEU needs word vectors; expected SRBLEU:vectors=FILE
SRBLEU:vectors=missing.txt => missing.txt: no such file of word vectors
SRBLEU:vectors=vectors.txt:k=-1 => SRBLEU:k=-1; expected a whole number from 0 to 1000
SRBLEU:vectors=vectors.txt:k=1001 => SRBLEU:k=1001; expected a whole number from 0 to 1000
SRBLEU:vectors=vectors.txt:k=x => SRBLEU:k=x; expected a whole number
SRBLEU:vectors=vectors.txt:alpha=x => SRBLEU:alpha=x; expected a number
SRBLEU:vectors=vectors.txt:alpha=-1 => metric BLEU+1: alpha=-1.0; expected a number of at least 0
SRBLEU:vectors=vectors.txt:alpha=nan => metric BLEU+1: alpha=nan; expected a number of at least 0
SRBLEU:vectors=vectors.txt:n=3 => unknown option of SRBLEU 'n'; expected vectors, k, alpha
PAIRWISE => PAIRWISE without a model; expected PAIRWISE:model=FILE; train one: lasw train-metric
PAIRWISE:model=missing.json => missing.json: no such file
PAIRWISE:models=x => unknown option of PAIRWISE 'models'; expected model, vectors, files; did you mean 'model'?
PAIRWISE:model=rose.json => rose.json: not a lasw pairwise model; expected "format": "lasw pairwise model"
COMBINATION => COMBINATION without a model; expected COMBINATION:model=FILE; train one: lasw train-metric
COMBINATION:model=missing.json => missing.json: no such file
COMBINATION:kind=linear => unknown option of COMBINATION 'kind'; expected model, files
COMBINATION:model=rose.json => rose.json: not a lasw combination; expected "format": "lasw combination"
MIX => MIX: '' without a weight; expected MIX:SPEC=WEIGHT:SPEC=WEIGHT, as MIX:BLEU=0.5:PABC4:alpha=3=0.5
MIX:BLEU => MIX: 'BLEU' without a weight; expected MIX:SPEC=WEIGHT:SPEC=WEIGHT, as MIX:BLEU=0.5:PABC4:alpha=3=0.5
MIX:BLEU=x => MIX: weight 'x'; expected a number, in MIX:SPEC=WEIGHT:SPEC=WEIGHT, as MIX:BLEU=0.5:PABC4:alpha=3=0.5
MIX:BLEU=1e101 => MIX: weight 1e+101; expected a number from -1e+100 to 1e+100
MIX:BLEU=nan => MIX: weight nan; expected a number from -1e+100 to 1e+100
MIX:BLUE=1 => unknown metric 'BLUE'; expected PABC4, PGBC4, BLEU, BLEU+1, WER, PER, CDER, ... ; did you mean 'BLEU'?
MIX:MIX:BLEU=1:TER=1 => MIX: 'MIX:BLEU=1:TER=1' without a weight; expected ... =0.5
MIX:BLEU:alpha=1 => MIX: 'BLEU:alpha=1' without a weight; expected MIX:SPEC=WEIGHT:SPEC=WEIGHT, as ... =0.5
EXTERNAL => EXTERNAL without a command; expected EXTERNAL[:OPTION=VALUE ...]:cmd=COMMAND
EXTERNAL:cmd= => EXTERNAL without a command; expected EXTERNAL[:OPTION=VALUE ...]:cmd=COMMAND
EXTERNAL:mode=stream => EXTERNAL without a command; expected ... =COMMAND
EXTERNAL:mod=stream:cmd=cat => unknown option of EXTERNAL 'mod'; expected mode, timeout, ... 'mode'?
EXTERNAL:mode:cmd=cat => EXTERNAL: no value of 'mode'; expected EXTERNAL[:OPTION=VALUE ...]:cmd=COMMAND
EXTERNAL:mode=batsch:cmd=cat => unknown value of EXTERNAL:mode 'batsch'; expected stream, batch; did you mean 'batch'?
EXTERNAL:mode=batch:mode=batch:cmd=cat => EXTERNAL: 'mode' is given twice
EXTERNAL:timeout=x:cmd=cat => EXTERNAL: timeout=x; expected seconds
EXTERNAL:timeout=0:cmd=cat => EXTERNAL: timeout=0.0; expected a number above 0, 1e+09 at most
EXTERNAL:timeout=-1:cmd=cat => EXTERNAL: timeout=-1.0; expected a number above 0, 1e+09 at most
EXTERNAL:timeout=nan:cmd=cat => EXTERNAL: timeout=nan; expected a number above 0, 1e+09 at most
EXTERNAL:timeout=1e10:cmd=cat => EXTERNAL: timeout=10000000000.0; expected a number above 0, 1e+09 at most
EXTERNAL:cmd=@missing.txt => missing.txt: no such file
EXTERNAL:cmd=a 'b => command "a 'b" (No closing quotation); expected quotes in pairs
SCORES => SCORES without a file; expected SCORES:file=FILE
SCORES:file= => SCORES:file=; expected SCORES:file=FILE
SCORES:path=x => SCORES:path=x; expected SCORES:file=FILE
SCORES:file=missing.tsv => missing.tsv: no such file
SCORES:file=vectors.txt => vectors.txt:1: no column 'hyp'; expected a first line that names the columns, with tabs
SCORES:x => SCORES:x; expected SCORES:file=FILE
WER:best => metric 'WER:best': 'best'; expected key=value
:alpha=3 => unknown metric ''; expected PABC4, PGBC4, BLEU, BLEU+1, WER, PER, CDER, TER, CHRF, ... SCORES
MIX:BLEU=0.5:TER => MIX: 'TER' without a weight ...
MIX:BLEU=1:MIX:TER=1=2 => a MIX within a MIX; write the weights' products in one
"""


@pytest.mark.parametrize("case", WRONG.strip("\n").split("\n"))
def test_what_is_wrong_is_refused(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("vectors.txt").write_text("a 1 0\nb 0 1\n")
    write_trained_metric("rose.json", RoseModel("rank", RoseFeatures(), (0.0,) * 17, (0.0,) * 17, (1.0,) * 17, 0.0))
    spec, _, message = case.partition(" => ")
    with pytest.raises(UserError) as caught:
        metric(spec)
    beginning, gap, end = message.partition(" ...")
    assert str(caught.value).startswith(beginning)
    assert str(caught.value).endswith(end.removeprefix(" "))
    assert gap or str(caught.value) == message


def test_a_spec_is_a_string() -> None:
    with pytest.raises(TypeError, match="expected a string"):
        metric(None)
