"""Vignettes run in their fast mode and leave figures and claims; tutorials run when pasted."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "vignettes"
pytest.importorskip("matplotlib", reason="figures of vignettes need Matplotlib")


def loaded(name):
    """A script of the folder, as a module, its neighbours importable while it is loaded."""
    spec = importlib.util.spec_from_file_location(f"vignettes_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        spec.loader.exec_module(module)
    return module


check, report, stamps = loaded("check"), loaded("report"), loaded("stamps")

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
    described = [f for f in results if report.is_paper(f) or f["name"] == report.BEYOND]
    assert set(pages) == {found["name"] for found in described}
    for found in described:
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
    assert "Reason: none was found." in "\n".join(report.statements([claim | {"why": ""}]))


def test_a_reason_is_the_first_that_the_run_shows():
    because = loaded("story").because
    assert because((False, "a"), (True, "b"), (True, "c")) == "b"
    assert because((False, "a")) == ""


def test_the_size_of_an_effect_is_beside_the_papers():
    claim = {"where": "table 1", "paper": "it fails", "here": "it does", "holds": True, "why": ""}
    text = "\n".join(report.statements([claim | {"effect": [3000.0, 334.9]}]))
    assert "Size of the effect: 334.9 here, 3,000 in the paper." in text


# ---- settings of stored results ------------------------------------------------------------------


@pytest.fixture
def copied(tmp_path):
    """The folder without its pictures."""
    shutil.copytree(FOLDER, tmp_path / "vignettes", ignore=shutil.ignore_patterns("*.png"))
    return tmp_path / "vignettes"


def reported(folder):
    """What report.py of a folder answers: its exit code and its words."""
    run = subprocess.run(
        [sys.executable, folder / "report.py"],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONSAFEPATH": ""},
    )
    return run.returncode, run.stderr


CHANGED = {
    "sgld": ("batch_size=1,\n    draws=20_000", "batch_size=2,\n    draws=20_000"),
    "sgbd": ("story.pick(20_000, 3_000)", "story.pick(10_000, 3_000)"),
    "review": ('abs(noise["simple"] - 2) < 0.15', 'abs(noise["simple"] - 2) < 0.16'),
}


def test_the_page_is_what_the_stored_results_make_of_it(copied):
    assert reported(copied) == (0, "")
    assert (copied / "RESULTS.md").read_text() == (FOLDER / "RESULTS.md").read_text()


@pytest.mark.mistake("a constant of {name} is another than in the stored run")
@pytest.mark.parametrize("name", CHANGED)
def test_results_of_other_settings_are_refused(name, copied):
    script = copied / f"{name}.py"
    text = script.read_text()
    before, after = CHANGED[name]
    assert text.count(before) >= 1
    script.write_text(text.replace(before, after, 1))
    code, words = reported(copied)
    assert code == 1 and f"vignettes/{name}.py has now" in words
    assert f"run it again, python vignettes/{name}.py" in words and len(words.splitlines()) == 1


def test_words_and_pictures_may_change(copied):
    script = copied / "sgld.py"
    text = script.read_text()
    prose = text.replace("# # Stochastic gradient", "# # On stochastic gradient")
    drawn = prose.replace("figsize=(9.6, 3.3)", "figsize=(9.6, 4.3)").replace(
        "story.pick((1_000_000, 24), (100_000, 3))", "story.pick((1_000_000, 24), (50_000, 2))"
    )
    assert len({text, prose, drawn}) == 3
    script.write_text(drawn)
    assert reported(copied) == (0, "")


def test_constants_of_imported_tools_count(copied):
    before = {name: stamps.stamp(name, copied) for name in ("mamba", "sbps")}
    tools = copied / "tools.py"
    tools.write_text(tools.read_text().replace("LITTLE = 0.01", "LITTLE = 0.02"))
    assert stamps.stamp("mamba", copied) != before["mamba"]
    assert stamps.stamp("sbps", copied) == before["sbps"]  # it imports no Case


def test_pictures_without_a_script_are_refused(copied):
    (copied / "results" / "sgld-9-other.png").write_bytes(b"")
    code, words = reported(copied)
    assert code == 1 and "results/sgld-9-other.png: no script draws it" in words


def test_results_without_a_hash_are_refused(copied):
    """The planted mistake: a stored run from before hashes were kept."""
    path = copied / "results" / "sgld.json"
    found = json.loads(path.read_text())
    found.pop("constants")
    path.write_text(json.dumps(found))
    code, words = reported(copied)
    assert code == 1 and words.startswith("results/sgld.json was made with other settings")
