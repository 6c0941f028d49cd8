"""Make RESULTS.md of the vignettes' results: ``python vignettes/report.py``.

Numbers come from ``results/*.json``.  What the papers claim, and what the figures show, is written
in ``papers.md``: for each page a title, a paragraph, and a line for each figure.

Results carry a hash of the settings that their script had (``stamps.py``).  Where it is not that of
the script as it is, there is no report but a sentence that names the script and the rerun.
"""

import json
import re
from pathlib import Path

from stamps import stamp

HERE = Path(__file__).resolve().parent
PAPERS = ("sgld", "sgbd", "sbps", "review", "mamba")
BEYOND = "beyond"  # samplers of other papers, left out of the package
INTRO = """# Results of the papers and of the tutorials

The package contains the methods of five papers on Bayesian inference with mini-batches. This page \
lists what the papers state and what came out here, first in words, then statement by statement. \
A statement **holds** if a number computed here meets a criterion that was fixed in the script. \
Statements that do not hold are listed with the reason, as far as the run shows one. Where a \
criterion is softer than the paper's number, the sizes of the effect are given beside each other. \
The last part has the same lists for the tutorials, which are counted apart.

Abbreviations: *sd*, standard deviation; *effective draws*, the number of independent draws that \
are worth as much; *data pass* or *epoch*, as many gradients of rows as the table has rows; *KSD*, \
kernel Stein discrepancy, a distance between draws and posterior; *control variates*, a \
correction of mini-batch gradients that reduces their noise.

Samplers: *SGLD*, *SGHMC*, *SGNHT*, stochastic gradient Langevin, Hamiltonian and thermostat \
dynamics (*-CV* with control variates); *SGBD*, stochastic gradient Barker dynamics in three \
variants; *SBPS*, stochastic bouncy particle sampler; *MALA*, *HMC*, exact samplers that use all \
rows.

This page is written by `python vignettes/report.py` from full runs of the scripts in this folder. \
Each run carries a hash of its script's settings, and the page is refused where a script has other \
settings now.
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
    **{name: name.upper() for name in "sgld sghmc sgnht sbps mala ula baoab nuts amagold".split()},
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
    """Order of a page: papers first, the parts of one together, then others, then the tutorials."""
    order, paper = (*PAPERS, BEYOND), name.split("-")[0]
    return (order.index(paper) if paper in order else len(order)), name


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


def refused(found, folder):
    """Why results cannot be reported, or None."""
    name = found["name"]
    program = f"check.py {name}" if "story.end(" not in text_of(name, folder) else f"{name}.py"
    if found["mode"] != "full":
        return (
            f"results/{name}.json is of the {found['mode']} mode: run vignettes/{program} in full"
        )
    if found.get("constants") != stamp(name, folder):
        return (
            f"results/{name}.json was made with other settings than vignettes/{name}.py has now: "
            f"run it again, python vignettes/{program}"
        )
    return None


def text_of(name, folder):
    """The script of a page."""
    return (folder / f"{name}.py").read_text()


def strays(results, folder):
    """Pictures that no result names."""
    named = {figure for found in results for figure in found["figures"]}
    return sorted({path.name for path in (folder / "results").glob("*.png")} - named)


def statements(claims):
    """Lines of a list: what is stated, and what came out."""
    for claim in claims:
        yield f"- **{where(claim['where'])}.** {sentence(plain(claim['paper']))}."
        result = f"Here: {plain(claim['here'])}."
        if "effect" in claim:
            paper, here = claim["effect"]
            result += f" Size of the effect: {here:,.4g} here, {paper:,.4g} in the paper."
        if claim["holds"]:
            yield f"  *Holds.* {result}"
        else:
            reason = plain(claim["why"]) or "none was found"
            yield f"  ***Does not hold.*** {result} Reason: {reason}."
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
    """Tables of three columns: papers, then tutorials."""
    for title, some in parts(results):
        yield from (f"| {title.lower()} | hold | do not |", "|---|---|---|")
        for found in some:
            name, (held, not_held) = found["name"], counted(found)
            yield f"| [{name}]({name}.py) | {held} | {not_held} |"
        held, not_held = map(sum, zip(*map(counted, some)))
        yield from (f"| all | {held} | {not_held} |", "")


def parts(results):
    """Titles with their results: the papers', others', the tutorials'."""
    kinds = {"The papers": [], "Beyond the papers": [], "The tutorials": []}
    for found in results:
        kind = "The tutorials" if found["name"] != BEYOND else "Beyond the papers"
        kinds["The papers" if is_paper(found) else kind].append(found)
    return [(title, some) for title, some in kinds.items() if some]


def report(results, pages):
    """The whole text, of results in their order."""
    results = sorted(results, key=lambda found: place(found["name"]))
    lines = [INTRO, *overview(results)]
    for title, some in parts(results):
        lines += [f"## {title}", ""]
        for found in some:
            lines.extend(section(found, pages))
    return "\n".join(lines).rstrip() + "\n"


def main():
    """Write the page, or say why not."""
    results = [json.loads(path.read_text()) for path in sorted((HERE / "results").glob("*.json"))]
    reasons = [reason for found in results if (reason := refused(found, HERE))]
    reasons += [f"results/{name}: no script draws it, remove it" for name in strays(results, HERE)]
    if reasons:
        raise SystemExit("\n".join(reasons))
    pages = descriptions((HERE / "papers.md").read_text())
    (HERE / "RESULTS.md").write_text(report(results, pages))


if __name__ == "__main__":
    main()
