"""Make RESULTS.md of the vignettes' results: ``python vignettes/report.py``.

Numbers come from ``results/*.json``.  What the papers claim, and what the figures show, is written
in ``papers.md``: for each page a title, a paragraph, and a line for each figure.
"""

import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAPERS = ("sgld", "sgbd", "sbps", "review", "mamba")
INTRO = """# Results of the papers and of the tutorials

The package contains the methods of five papers on Bayesian inference with mini-batches. This page \
lists what the papers state and what came out here, first in words, then statement by statement. \
A statement **holds** if a number computed here meets a criterion that was fixed in the script. \
Statements that do not hold are listed with the reason, as far as it is known. The last part has \
the same lists for the tutorials.

Abbreviations: *sd*, standard deviation; *effective draws*, the number of independent draws that \
are worth as much; *data pass* or *epoch*, as many gradients of rows as the table has rows; *KSD*, \
kernel Stein discrepancy, a distance between draws and posterior; *control variates*, a \
correction of mini-batch gradients that reduces their noise.

Samplers: *SGLD*, *SGHMC*, *SGNHT*, stochastic gradient Langevin, Hamiltonian and thermostat \
dynamics (*-CV* with control variates); *SGBD*, stochastic gradient Barker dynamics in three \
variants; *SBPS*, stochastic bouncy particle sampler; *MALA*, *HMC*, exact samplers that use all \
rows.

This page is written by `python vignettes/report.py` from full runs of the scripts in this folder.
"""
NAMES = {
    "vsgbd": "vanilla SGBD",
    "csgbd": "corrected SGBD",
    "esgbd": "extreme SGBD",
    "csgld": "corrected SGLD",
    "lmsgld-taylor": "Leimkuhler-Matthews SGLD (Taylor control variates)",
    "lmsgld-cv": "Leimkuhler-Matthews SGLD (control variates)",
    "lmsgld-simple": "Leimkuhler-Matthews SGLD (no control variates)",
    "lmsgld": "Leimkuhler-Matthews SGLD",
    "zzcv": "zig-zag with control variates",
    "msgnht": "mSGNHT",
    "psbps": "preconditioned SBPS",
    "hmc": "HMC",
    "bpmf": "BPMF",
    "sgd": "SGD",
    **{name: name.upper() for name in "sgld sghmc sgnht sbps mala ula baoab".split()},
    "cv": "CV",
}
NAME = re.compile(rf"(?<![\w'])({'|'.join(sorted(NAMES, key=len, reverse=True))})(?![\w=])")
WORDS = [  # a word of the scripts, and what a reader finds here
    (r"\bthe others' least ESS\b", "smallest ESS of the others"),
    (r"\b(epochs|rows|row gradients) an? effective draw\b", r"\1 per effective draw"),
    (r"\bepochs a draw\b", "epochs per effective draw"),
    (r"\bnats a (row|rating)\b", r"nats per \1"),
    (r"\brows a draw\b", "rows per effective draw"),
    (r"\beffective draws a unit\b", "effective draws per unit"),
    (r"\bCPU time an epoch\b", "CPU time per epoch"),
    (r"\brows touched\b", "rows used"),
    (r"\btouches\b", "uses"),
    (r"\bminibatch", "mini-batch"),
    (r"\((nan|inf): [^)]*\)", ""),
    (r"\bnan\b", "diverged"),
    (r"\btakes inf\b|ZZ-SS inf\b", "ZZ-SS did not arrive within 3,000"),
    (r"\bsds\b(?= off| apart| away)", "sd"),
    (r"\*\*", ""),
    (r"\|", "\\|"),
]


def plain(text):
    """A text of a claim in words of the field."""
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    return " ".join(NAME.sub(lambda found: NAMES[found[1]], text).split())


def place(name):
    """Order of a page: papers first, the parts of one together, then the tutorials."""
    paper = name.split("-")[0]
    return (PAPERS.index(paper) if paper in PAPERS else len(PAPERS)), name


def is_paper(found):
    """Whether results are of a paper's page."""
    return place(found["name"])[0] < len(PAPERS)


def descriptions(text):
    """Name of a page -> its title, its paragraph, and what each figure shows."""
    pages = {}
    for part in re.split(r"(?m)^# ", text)[1:]:
        name, rest = part.split("\n", 1)
        title, words = re.match(r"\s*## ([^\n]*)\n(.*)", rest, re.DOTALL).groups()
        prose, *figures = re.split(r"(?m)^- ", words)
        shown = (" ".join(figure.split()).split(": ", 1) for figure in figures)
        pages[name.strip()] = (title, prose.strip(), dict(shown))
    return pages


def where(text):
    """A place in a paper, written out."""
    text = text.replace("(headline)", "").replace(", headline", "").strip()
    text = re.sub(r"\bfig(s?) ", r"figure\1 ", text)
    return text[:1].upper() + text[1:]


def sentence(text):
    """A text with a capital, unless it begins with a symbol or a name such as pSBPS."""
    word = text.split()[0]
    ordinary = word == "a" or (word.isalpha() and word[1:].islower())
    return text[:1].upper() + text[1:] if ordinary else text


def counted(found):
    """How many statements hold."""
    held = sum(claim["holds"] for claim in found["claims"])
    return held, len(found["claims"]) - held


def statements(claims):
    """Lines of a list: what is stated, and what came out."""
    for claim in claims:
        yield f"- **{where(claim['where'])}.** {sentence(plain(claim['paper']))}."
        result = f"Here: {plain(claim['here'])}."
        if claim["holds"]:
            yield f"  *Holds.* {result}"
        else:
            reason = f" Reason: {plain(claim['why'])}." if claim["why"] else ""
            yield f"  ***Does not hold.*** {result}{reason}"
    yield ""


def section(found, pages):
    """The heading, the paragraph, the figures and the statements of a page."""
    name = found["name"]
    title, prose, shown = pages.get(name, (name, "", {}))
    held, not_held = counted(found)
    yield f"### {title}"
    yield ""
    if prose:
        yield from (prose, "")
    yield f"Statements that hold: {held}; that do not: {not_held}. Script: [{name}.py]({name}.py)."
    yield ""
    for note in found["notes"]:
        yield f"- Note: {plain(note)}."
    if found["notes"]:
        yield ""
    if shown:
        yield "Figures:"
        yield ""
    for file in found["figures"]:
        label = file.removeprefix(name + "-").removesuffix(".png")
        yield f"- [{label.replace('-', ' ')}](results/{file})" + (
            f": {shown[label]}" if label in shown else ""
        )
    yield ""
    failed = [claim for claim in found["claims"] if not claim["holds"]]
    if failed:
        yield from ("#### What does not hold", "", *statements(failed))
    yield from (
        "#### What holds",
        "",
        *statements([claim for claim in found["claims"] if claim["holds"]]),
    )


def overview(results):
    """A table of three columns."""
    yield from ("| page | hold | do not |", "|---|---|---|")
    for found in results:
        held, not_held = counted(found)
        yield f"| [{found['name']}]({found['name']}.py) | {held} | {not_held} |"
    held, not_held = map(sum, zip(*map(counted, results)))
    yield from (f"| all | {held} | {not_held} |", "")


def report(results, pages):
    """The whole text, of results in their order."""
    results = sorted(results, key=lambda found: place(found["name"]))
    lines = [INTRO, *overview(results)]
    for title, some in (
        ("## The papers", [found for found in results if is_paper(found)]),
        ("## The tutorials", [found for found in results if not is_paper(found)]),
    ):
        lines += [title, ""]
        for found in some:
            lines.extend(section(found, pages))
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    (HERE / "RESULTS.md").write_text(
        report(
            [json.loads(path.read_text()) for path in sorted((HERE / "results").glob("*.json"))],
            descriptions((HERE / "papers.md").read_text()),
        )
    )
