"""Every Python block of README and of the pages in docs/ runs as in an empty notebook: the blocks
of a page in their order, in one namespace, in an empty folder.
"""

import ast
import re
import warnings
from pathlib import Path

import pytest

from sgmc.errors import SGMCWarning

ROOT = Path(__file__).resolve().parents[1]
FILES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "api").glob("*.rst")]
MARKDOWN = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)
RST = re.compile(
    r"^\.\. (?:code-block:: python|plot::\n   :include-source:)\n\n((?:(?:   .*)?\n)+)", re.M
)
NEEDS = re.compile(r"\b(dask|polars|pyarrow|sklearn|jax|arviz|matplotlib|numba)\b")
MODULES = {"arviz": "arviz_base", "dask": "distributed"}
QUICK = {"README", "api/datasets", "api/errors", "api/priors", "api/verbs", "glossary", "words"}


def blocks(path):
    """Return the Python blocks of a page, with the numbers of the lines before them; those of Spark
    are run by tests/cluster/test_spark.py, where there is Java.
    """
    text = path.read_text()
    found = (RST if path.suffix == ".rst" else MARKDOWN).finditer(text)
    code = [(text[: one.start(1)].count("\n"), dedented(one[1])) for one in found]
    return [(line, block) for line, block in code if "spark" not in block]


def dedented(code):
    """Return the code of a directive without its indent."""
    if code.startswith("   "):
        return "\n".join(line[3:] for line in code.splitlines()) + "\n"
    return code


def run(page, code):
    """Run (line, code) pairs in one new namespace; a last expression is shown, as in a notebook."""
    names = {"__name__": "__main__"}
    for line, block in code:
        tree = ast.parse("\n" * line + block, str(page))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(page), "exec"), names)
        if last is not None:
            shown = eval(compile(ast.Expression(last.value), str(page), "eval"), names)
            assert isinstance(repr(shown), str)
    return names


def needed(code):
    """Return the optional packages that a page's code uses."""
    text = "\n".join(block for _, block in code)
    plots = ["matplotlib"] if re.search(r"\bplot(_\w+)?\(", text) else []
    return {MODULES.get(name, name) for name in [*NEEDS.findall(text), *plots]}


def name_of(path):
    """Return how a page is called: README, groups, api/verbs."""
    return path.relative_to(ROOT).with_suffix("").as_posix().removeprefix("docs/")


PAGES = {name_of(path): path for path in FILES if path.is_file()}
CODE = {
    name: pytest.param(name, marks=() if name in QUICK else pytest.mark.extended)
    for name, path in sorted(PAGES.items())
    if blocks(path)
}


@pytest.mark.extended("api/priors")
@pytest.mark.parametrize("name", CODE.values())
def test_the_code_of_a_page_runs(name, tmp_path, monkeypatch):
    code = blocks(PAGES[name])
    for module in needed(code):
        pytest.importorskip(module)
    if "matplotlib" in needed(code):
        import matplotlib

        matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        run(PAGES[name], code)


def test_code_is_marked_by_its_language():
    """A block without a language, or in another spelling, would not be run."""
    for path in FILES:
        if path.suffix == ".md":
            fences = re.findall(r"^ *(`{3,}|~{3,})(\S*)", path.read_text(), re.M)[::2]
            known = {"python", "text", "sh", "{toctree}", "{literalinclude}", "{include}"}
            known |= {"{glossary}", "{code-cell}", "{eval-rst}"}
            assert {language for _, language in fences} <= known, path.name


def test_lines_of_code_fit_a_small_window():
    """Code of pages has at most 88 columns; README, which a phone shows first, 80."""
    for name, path in PAGES.items():
        most = 80 if name in ("README", "tour") else 88
        rows = [row for _, code in blocks(path) for row in code.splitlines()]
        assert [row for row in rows if len(row) > most] == [], name


def test_the_readme_is_short_and_has_the_two_commands():
    text = PAGES["README"].read_text()
    assert len(text.splitlines()) < 120
    assert 'pip install . && sgmc fit "affairs > 0 ~ ." dataset:fair\n' in text
    assert 'pip install ".[test]" && pytest -n auto\n' in text


def test_a_broken_example_is_found(tmp_path):
    """A planted mistake: a name that an earlier page has, and this one has not."""
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nx = 1\n```\n\n```python\nx + 1\nprint(df)\n```\n")
    with pytest.raises(NameError) as info:
        run(page, blocks(page))
    assert info.traceback[-1].lineno == 8
    page.write_text(page.read_text().replace("print(df)", "x"))
    assert run(page, blocks(page))["x"] == 1
