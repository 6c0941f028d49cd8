"""Make RESULTS.md of the vignettes' results: ``python vignettes/report.py``."""

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAPERS = {
    "sgld": "Welling & Teh (2011), stochastic gradient Langevin dynamics",
    "sgbd": "Mauri & Zanella (2024), stochastic gradient Barker dynamics",
    "sbps": "Pakman et al. (2017), stochastic bouncy particle sampler",
    "review": "Nemeth & Fearnhead (2021), review of stochastic gradient MCMC",
    "mamba": "Coullon, South & Nemeth (2023), MAMBA",
}
INTRO = """# Every claim, checked

Made by `python vignettes/report.py` from the files in `vignettes/results`, which the vignettes write in their full mode. A claim holds
where a number computed by the vignette meets the criterion that is written in it. What does not hold is shown as well, with why.
"""


def place(name):
    """Where a vignette comes: papers in their order, the parts of one together, then the others."""
    paper = name.split("-")[0]
    return (list(PAPERS).index(paper) if paper in PAPERS else len(PAPERS)), name


def cell(text):
    """A text that fits between the bars of a table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def plain(value):
    """A setting in words: what is in a dict as names and values, ranges as such."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {plain(part)}" for name, part in value.items())
    return " ".join(map(plain, value)) if isinstance(value, list) else str(value)


def table(claims, *first):
    """Claims as lines of a table, by its first columns."""
    yield f"| {' | '.join(first)} | the claim | here | holds |"
    yield "|---" * (len(first) + 3) + "|"
    for claim in claims:
        verdict = (
            "yes" if claim["holds"] else "**no**" + (f": {claim['why']}" if claim["why"] else "")
        )
        yield (
            f"| {' | '.join(cell(claim[name]) for name in (*first, 'paper', 'here'))} | "
            f"{cell(verdict)} |"
        )
    yield ""


def section(found):
    """The heading, the settings, the figures and the table of a vignette."""
    held = sum(claim["holds"] for claim in found["claims"])
    paper = PAPERS.get(found["name"].split("-")[0])
    yield f"## {found['name']}" + (f": {paper}" if paper else "")
    yield ""
    yield (
        f"[`{found['name']}.py`]({found['name']}.py): {held} of {len(found['claims'])} claims "
        f"hold; {found['seconds']:.0f} s (budget {found['budget_seconds']:.0f} s). "
        + "; ".join(f"{key} {plain(value)}" for key, value in found["settings"].items())
    )
    yield ""
    for note in found["notes"]:
        yield f"- {note}"
    if found["notes"]:
        yield ""
    labels = {
        name: name.removeprefix(found["name"] + "-").removesuffix(".png")
        for name in found["figures"]
    }
    yield "Figures: " + ", ".join(f"[{label}](results/{name})" for name, label in labels.items())
    yield ""
    yield from table(found["claims"], "where")


def report(results):
    """The whole text, of results in their order."""
    results = sorted(results, key=lambda found: place(found["name"]))
    lines = [
        INTRO,
        "| vignette | claims | held | not held | figures | seconds | budget | simulated |",
        "|---" * 8 + "|",
    ]
    for found in results:
        held = sum(claim["holds"] for claim in found["claims"])
        lines.append(
            f"| {found['name']} | {len(found['claims'])} | {held} | {len(found['claims']) - held} "
            f"| {len(found['figures'])} | {found['seconds']:.0f} | {found['budget_seconds']:.0f} | "
            f"{', '.join(found['simulated']) or '-'} |"
        )
    claims = [claim for found in results for claim in found["claims"]]
    lines.append(
        f"| all | {len(claims)} | {sum(claim['holds'] for claim in claims)} | "
        f"{sum(not claim['holds'] for claim in claims)} | "
        f"{sum(len(found['figures']) for found in results)} | "
        f"{sum(found['seconds'] for found in results):.0f} | "
        f"{sum(found['budget_seconds'] for found in results):.0f} | |"
    )
    lines += ["", "## The headlines", ""]
    lines += table(
        [
            claim | {"vignette": found["name"]}
            for found in results
            for claim in found["claims"]
            if "headline" in claim["where"]
        ],
        "vignette",
        "where",
    )
    for found in results:
        lines.extend(section(found))
    return "\n".join(lines)


if __name__ == "__main__":
    (HERE / "RESULTS.md").write_text(
        report([json.loads(path.read_text()) for path in sorted((HERE / "results").glob("*.json"))])
    )
