"""docs/how-to/adapters.md: its scripts and commands as they stand there, with stand-ins for the models."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from string import Template

import pytest

from lasw.metrics.composed import external_program
from lasw.scripts.main import main

TOP = Path(__file__).resolve().parents[2]
PAGE = (TOP / "docs" / "how-to" / "adapters.md").read_text(encoding="utf-8")

# COMET: shares of the reference's words, and a little for each of the source's; it logs what it is asked.
COMET = """
from types import SimpleNamespace
def download_model(name): return name
def load_from_checkpoint(path):
    assert path == "Unbabel/wmt22-comet-da"
    def predict(data, batch_size, gpus):
        with open("asked", "a") as log:
            for one in data: print(one["src"], one["mt"], one["ref"], sep="|", file=log)
        score = lambda one: len(set(one["mt"].split()) & set(one["ref"].split())) / 4 + len(one["src"].split()) / 100
        return SimpleNamespace(scores=[score(one) for one in data])
    return SimpleNamespace(predict=predict)
"""
# A model that gives every token after the first the log-probability -2, `red` -1.
TRANSFORMERS = """
from types import SimpleNamespace
class Ids(list):
    @property
    def shape(self): return (1, len(self[0]))
class Tokenizer:
    eos_token = "<e> "
    def __call__(self, text, return_tensors):
        assert return_tensors == "pt" and text.startswith("<e> ")
        open("started", "a").write(".")
        return SimpleNamespace(input_ids=Ids([text.split()]))
class Model:
    def eval(self): return self
    def __call__(self, ids, labels):
        assert ids is labels
        losses = [1.0 if token == "red" else 2.0 for token in ids[0][1:]]
        return SimpleNamespace(loss=sum(losses) / len(losses))
class AutoTokenizer:
    @staticmethod
    def from_pretrained(name): assert name == "gpt2"; return Tokenizer()
class AutoModelForCausalLM:
    @staticmethod
    def from_pretrained(name): assert name == "gpt2"; return Model()
"""
TORCH = "import contextlib\nno_grad = contextlib.nullcontext\n"
LISTS = [
    ["the red house", "a house", "red"],
    ["she reads books", "she red"],
    ["a b c d", "a b"],
    ["d e f g", "d x"],
    ["red g h", "g"],
]
REFERENCES = ["the red house", "she reads books", "a b c d", "d e f g", "red g h"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Adapters as the page has them, stand-ins, lists, references, sources, and `python3` on the path."""
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        (tmp_path / re.match(r"# (\w+\.py)", code)[1]).write_text(code)  # type: ignore[index]
    for name, code in (("comet", COMET), ("transformers", TRANSFORMERS), ("torch", TORCH)):
        (tmp_path / f"{name}.py").write_text(code)
    lines = [
        {
            "id": k,
            "hypotheses": [
                {"text": text, "features": {"model": -float(j), "odd": j % 2}} for j, text in enumerate(texts)
            ],
        }
        for k, texts in enumerate(LISTS)
    ]
    for part in ("dev", "test"):
        (tmp_path / f"{part}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "dev.en").write_text("".join(line + "\n" for line in REFERENCES))
    (tmp_path / "dev.de").write_text("das rote Haus\nsie liest\na b c d\nd\nrot\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[str], None]]:
    """Runs the lines of a block as a shell would, every command as if by a process of its own."""

    def run(block: str) -> None:
        variables: dict[str, str] = {}
        for line in block.replace("\\\n", "").splitlines():
            words = [Template(word).substitute(variables) for word in shlex.split(line)]
            if words[0] != "lasw":
                name, _, variables[name] = words[0].partition("=")
                continue
            external_program.program.cache_clear()
            output = Path(words.pop()) if words[-2] == ">" else None
            capsys.readouterr()
            assert main([word for word in words[1:] if word != ">"]) == 0
            if output is not None:
                output.write_text(capsys.readouterr().out)

    yield run
    external_program.program.cache_clear()


def commands(heading: str) -> list[str]:
    section = PAGE.partition(f"\n## {heading}")[2].partition("\n## ")[0]
    found = re.findall(r"```sh\n(.*?)```", section, re.S)
    assert found
    return found


def numbers(path: Path) -> list[float]:
    return [float(line) for line in path.read_text().splitlines()]


def test_comet_is_a_loss(place: Path, shell: Callable[[str], None]) -> None:
    in_two_steps, in_one = commands("COMET")
    shell(in_two_steps)
    texts = [text for texts in LISTS for text in texts]
    shares = [3, 1, 1, 3, 1, 4, 2, 4, 1, 3, 1]
    sources = [0.03] * 3 + [0.02] * 2 + [0.04] * 2 + [0.01] * 4
    assert numbers(place / "comet.txt") == pytest.approx([s / 4 + x for s, x in zip(shares, sources, strict=True)])
    asked = (place / "asked").read_text().splitlines()
    assert asked[0] == "das rote Haus|the red house|the red house"
    assert [line.split("|")[1] for line in asked] == texts
    kept = (place / "comet.scores").read_bytes()
    weights = (place / "weights.json").read_bytes()
    shell(in_one)
    # Everything was known: the program was not asked again, and the loss is the same.
    assert (place / "asked").read_text().splitlines() == asked
    assert (place / "comet.scores").read_bytes() == kept
    assert (place / "weights.json").read_bytes() == weights
    # Another adapter is another program.
    (place / "comet_adapter.py").write_text((place / "comet_adapter.py").read_text() + "# changed\n")
    shell(in_one)
    assert len((place / "asked").read_text().splitlines()) == 2 * len(asked)


def test_a_language_model_is_a_feature(place: Path, shell: Callable[[str], None]) -> None:
    (block,) = commands("A causal")
    shell(block)
    expected = [-5.0, -4.0, -1.0, -6.0, -3.0, -8.0, -4.0, -8.0, -4.0, -5.0, -2.0]
    assert numbers(place / "dev.lm") == numbers(place / "test.lm") == expected
    assert (place / "started").read_text() == "." * 11  # the lists to rerank have the same texts
    assert len((place / "test.out").read_text().splitlines()) == 5


class _Server(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert set(asked) == {"hypothesis"}
        answer = json.dumps({"score": len(asked["hypothesis"])}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002
        """Nothing."""


def test_a_server_is_asked(place: Path, shell: Callable[[str], None]) -> None:
    server = HTTPServer(("127.0.0.1", 0), _Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        (block,) = commands("A model behind HTTP")
        shell(block.replace("localhost:8000", f"127.0.0.1:{server.server_port}"))
    finally:
        server.shutdown()
        server.server_close()
    assert numbers(place / "dev.http") == [float(len(text)) for texts in LISTS for text in texts]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "CHRF"], "no references; expected --references FILE, or EXTERNAL:reference=no:cmd="),
        (["-m", "EXTERNAL:cmd=cat"], "no references"),
        (["-m", "EXTERNAL:source=dev.de:cmd=cat", "-r", "dev.en"], "source= beside input=text; expected input=json"),
        (["-m", "EXTERNAL:input=json:source=short:cmd=cat", "-r", "dev.en"], "short: 1 lines; expected 5, one for"),
        (
            ["-m", "EXTERNAL:input=json:source=short:reference=no:cmd=cat"],
            "short: 1 lines; expected at least 5, one for",
        ),
        (["-m", "EXTERNAL:input=xml:cmd=cat", "-r", "dev.en"], "unknown value of EXTERNAL:input 'xml'"),
    ],
)
def test_what_it_refuses(place: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "short").write_text("x\n")
    assert main(["features", "--nbest", "dev.jsonl", *words]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
