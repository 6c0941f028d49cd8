"""Vignettes run in their fast mode and leave figures and claims; tutorials run when pasted."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "vignettes"
pytest.importorskip("matplotlib", reason="figures of vignettes need Matplotlib")


def loaded(name):
    """A script of the folder, as a module."""
    spec = importlib.util.spec_from_file_location(f"vignettes_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check, report = loaded("check"), loaded("report")

PAPERS = sorted(path.stem for path in FOLDER.glob("*.py") if "story.end(" in path.read_text())
PAPERS.remove("check")
SHORT = ("getting-started", "larger-than-memory")  # of the default tier
ENVIRONMENT = {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def python(*arguments, timeout=300, **how):
    """Run Python, and return what it printed."""
    run = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=timeout, **how
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    return run.stdout


def needed(name):
    """Skip where a package that the vignette needs is absent."""
    if "to_parquet" in (FOLDER / f"{name}.py").read_text():
        pytest.importorskip("pyarrow")


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "name", ["getting-started", *sorted({*PAPERS, *check.TUTORIALS} - {SHORT[0]})]
)
def test_a_vignette_runs(name, tmp_path):
    needed(name)
    script = ("check.py", name) if name in check.TUTORIALS else (f"{name}.py",)
    # a script imports its neighbours, as a run by hand does
    environment = {**os.environ, **ENVIRONMENT, "PYTHONSAFEPATH": ""}
    python(FOLDER / script[0], *script[1:], "--fast", "--out", str(tmp_path), env=environment)
    found = json.loads((tmp_path / f"{name}.json").read_text())
    assert found["mode"] == "fast" and found["claims"] and found["figures"]
    for claim in found["claims"]:
        assert claim["where"] and claim["paper"] and claim["here"], claim
    for figure in found["figures"]:
        assert (tmp_path / figure).stat().st_size > 5_000, figure


@pytest.mark.extended
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in SHORT else pytest.mark.extended)
        for name in check.TUTORIALS
    ],
)
def test_a_tutorial_runs_as_pasted(name, tmp_path):
    """All cells one after another, in an empty folder, with no data beside the package."""
    needed(name)
    pasted = "\n".join(check.cells(check.quick((FOLDER / f"{name}.py").read_text())))
    for hidden in ("SGMC_DATA", "import story", "from story", "tools", "__file__"):
        assert hidden not in pasted
    environment = {k: v for k, v in os.environ.items() if k != "SGMC_DATA"} | ENVIRONMENT
    # the script comes by standard input: no folder of the project is on its path
    python("-", input=pasted, cwd=tmp_path, env=environment | {"PYTHONSAFEPATH": "1"})


def test_quick_values_replace_those_of_the_page():
    text = "ROWS = 1_000_000  # quick: 10_000\nx = 1  # quick reply\n"
    assert check.quick(text) == "ROWS = 10_000\nx = 1  # quick reply\n"


def test_prose_is_not_run():
    text = (
        "# ---\n# header\n# %% [markdown]\n# x = 1\nx = 1\n# %%\nx = 2\n# %% tags=['a']\nx += 1\n"
    )
    page, figures = check.run(text, "example.py")
    assert page.x == 3 and not figures and len(check.cells(text)) == 2


def test_a_page_that_needs_a_neighbour_fails(tmp_path):
    """The planted mistake: what the runner of a pasted page must notice."""
    with pytest.raises(AssertionError, match="No module named 'story'"):
        python("-", input="import story", cwd=tmp_path, env=os.environ | {"PYTHONSAFEPATH": "1"})


# ---- the page of results -------------------------------------------------------------------------


def test_results_are_in_words():
    """Each paper's page has a paragraph and a line for each figure; no sampler has a code name."""
    pages = report.descriptions((FOLDER / "papers.md").read_text())
    results = [json.loads(path.read_text()) for path in (FOLDER / "results").glob("*.json")]
    assert set(pages) == {found["name"] for found in results if report.is_paper(found)}
    for found in results:
        if report.is_paper(found):
            title, prose, shown = pages[found["name"]]
            labels = [f[len(found["name"]) + 1 : -4] for f in found["figures"]]
            assert len(title) < 100 < len(prose) and sorted(shown) == sorted(labels)
    text = report.report(results, pages)
    assert all(line.count("|") <= 4 for line in text.split("\n") if line.startswith("|"))
    papers = text[text.index("## The papers") : text.index("## The tutorials")]
    for name in ("vsgbd", "csgbd", "esgbd", "lmsgld", "rows touched", "epochs an effective"):
        assert name not in papers


def test_a_statement_that_fails_is_shown_with_its_reason():
    claim = {"where": "fig 2", "paper": "esgbd wins", "here": "no", "holds": False, "why": "luck"}
    text = "\n".join(report.statements([claim, claim | {"holds": True}]))
    assert "**Figure 2.** Extreme SGBD wins." in text
    assert text.count("***Does not hold.*** Here: no. Reason: luck.") == 1
    assert text.count("*Holds.* Here: no.") == 1
