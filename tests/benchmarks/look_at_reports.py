"""``python tests/benchmarks/look_at_reports.py FOLDER AXE.MIN.JS``: reports in a real browser, before a release.

Makes a run, two runs side by side, a comparison, a selection and an agreement of made text in FOLDER, opens them in
chromium 1280 and 390 pixels wide, light and dark, and tells what axe-core finds and which texts of charts overlap or
are cut off.
Pictures of all, and a PDF as it would be printed, stay in FOLDER to be looked at.

Needs chromium, and axe-core (``npm install axe-core``: node_modules/axe-core/axe.min.js). Exit code 1 if anything is
found.
"""

from __future__ import annotations

import contextlib
import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from documentation.folders import judgements
from made_text import parallel_text, write_spoilt_lists

from lasw.scripts.main import main

GRID = """
[comparison]
seeds = [1, 2, 3]
measures = ["BLEU", "TER", "CHRF"]
samples = 100
[development.dev]
references = ["dev.ref"]
lists = ["dev.nbest"]
[test.test]
references = ["test.ref"]
lists = ["test.nbest"]
[system.untuned]
optimiser = "none"
[system."a system with a very long name that no narrow screen has room for"]
optimiser = "pro"
draws = 100
[system.WRO]
optimiser = "wro"
draws = 100
"""
PAGES = ["run/report.html", "both.html", "ter/report.html", "cmp/report.html", "dev.html", "agree.html"]
# A page within a page, as windows are 500 pixels wide at least; what is found goes into its text, for --dump-dom.
PROBE = """<!DOCTYPE html><html><body style="margin: 0">
<iframe src="PAGE" style="width: WIDTHpx; height: 900px; border: 0; color-scheme: SCHEME"></iframe><pre id="seen"></pre>
<script>
onload = async () => {
  const frame = document.querySelector("iframe"), page = frame.contentDocument, seen = {};
  const script = page.createElement("script");
  script.src = "AXE";
  await new Promise(done => { script.onload = done; page.head.append(script); });
  const found = await frame.contentWindow.axe.run(page.documentElement);
  seen.axe = found.violations.map(one => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`);
  seen.passed = found.passes.length;
  seen.texts = [];
  for (const svg of page.querySelectorAll(".chart svg")) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
    texts.forEach(([text, box], k) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1) seen.texts.push(`cut off: ${text}`);
      for (const [other, at] of texts.slice(k + 1))
        if (box.left < at.right - 1 && at.left < box.right - 1 && box.top < at.bottom - 2 && at.top < box.bottom - 2)
          seen.texts.push(`overlap: ${text} and ${other}`);
    });
  }
  seen.wider = page.documentElement.scrollWidth - page.documentElement.clientWidth;
  seen.dark = frame.contentWindow.matchMedia("(prefers-color-scheme: dark)").matches;
  seen.height = page.documentElement.scrollHeight;
  document.getElementById("seen").textContent = JSON.stringify(seen);
};
</script></body></html>
"""


def make(folder: Path) -> None:
    """The reports."""
    with contextlib.chdir(folder):
        for name, seed in (("dev", 6), ("test", 7)):
            write_spoilt_lists(folder, name, seed=seed, sentences=200, words=9)
        tune = (
            "tune --decoder replay --lists dev.nbest --source dev.ref --references dev.ref --nbest 10 --optimiser wro"
        )
        for name, more in (("run", ""), ("ter", "--dev-metric TER --metric TER")):
            assert main(f"{tune} --run {name} --iterations 6 --quiet {more}".split()) == 0
            assert main(["report", name]) == 0
        assert main(["report", "run", "ter", "--output", "both.html"]) == 0
        Path("grid.toml").write_text(GRID)
        assert main(["compare", "grid.toml", "--run", "cmp", "--quiet"]) == 0
        for side, lines in zip(("de", "en"), parallel_text(3000), strict=True):
            Path(f"pool.{side}").write_text("".join(f"{line}\n" for line in lines))
        select = "select --source pool.de --target pool.en --output dev --words 2000 --low 2 --quiet"
        assert main(select.split()) == 0
        judgements(Path("people"))
        agree = "agree -m BLEU+1 -m CHRF -m TER --tau 13 people/cs-en people/de-en --report agree.html"
        assert main(agree.split()) == 0


def browse(folder: Path, *words: str) -> str:
    """What chromium prints."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
    quiet += ["--allow-file-access-from-files", f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=20000"]
    return subprocess.run([program, *quiet, *words], capture_output=True, text=True, check=True, timeout=300).stdout


def look(folder: Path, page: Path, axe: Path, width: int, scheme: str) -> list[str]:
    """What is wrong with a page; its picture goes into a file."""
    probe = folder / "probe.html"
    text = PROBE.replace("PAGE", page.as_uri()).replace("WIDTH", str(width)).replace("AXE", axe.as_uri())
    probe.write_text(text.replace("SCHEME", scheme))
    colours = f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}"
    size = max(width, 500)
    printed = browse(folder, colours, f"--window-size={size},900", "--dump-dom", probe.as_uri())
    found = re.search(r'<pre id="seen">(.+?)</pre>', printed, re.DOTALL)
    if found is None:
        return ["the browser told nothing"]
    seen: dict[str, Any] = json.loads(html.unescape(found[1]))
    picture = f"{page.parent.name}-{page.stem}-{width}-{scheme}.png"
    probe.write_text(re.sub("height: 900px", f"height: {seen['height']}px", probe.read_text()).partition("<script>")[0])
    browse(
        folder, colours, f"--window-size={size},{seen['height']}", f"--screenshot={folder / picture}", probe.as_uri()
    )
    wrong = [*seen["axe"], *seen["texts"]]
    wrong += [f"{seen['wider']} pixels too wide"] if seen["wider"] > 0 else []
    wrong += [] if seen["dark"] == (scheme == "dark") else [f"it is not {scheme}"]
    return wrong if seen["passed"] else ["axe-core looked at nothing"]


def run(folder: Path, axe: Path) -> int:
    """All of it; 1 if anything is wrong."""
    folder.mkdir(parents=True)
    make(folder)
    failed = False
    for name in PAGES:
        page = folder / name
        for width in (1280, 390):
            for scheme in ("light", "dark"):
                wrong = look(folder, page, axe, width, scheme)
                failed |= bool(wrong)
                print(f"{name}, {width}, {scheme}: {'; '.join(wrong) or 'nothing found'}", flush=True)
        browse(folder, f"--print-to-pdf={folder / f'{page.parent.name}-{page.stem}.pdf'}", page.as_uri())
    return int(failed)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()))
