"""The stub is what the generator gives, its signatures are the real ones, and a type checker
accepts the README and the tour with it.
"""

import ast
import builtins
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sgmc
from sgmc.api import stubs

PACKAGE = Path(sgmc.__file__).parent
STUB = PACKAGE / "__init__.pyi"
ROOT = Path(__file__).parents[2]
README, TOUR = (
    re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.S | re.M)
    for name in ("README.md", "docs/tour.md")
)
BLOCKS = [*README, "\n".join(TOUR)]
TREE = ast.parse(STUB.read_text())  # which is that of the generator, by the first test
RES = 'res = sgmc.logit("y ~ x", {})\nres1 = res2 = res\n'


def test_the_stub_is_what_the_generator_gives():
    assert STUB.read_text() == stubs.text()
    assert (PACKAGE / "py.typed").exists()


def stubbed():
    """Functions and classes of the stub: name -> node."""
    return {
        node.name: node for node in TREE.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }


def test_every_public_name_is_in_the_stub():
    imported = {
        alias.asname
        for node in TREE.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(sgmc.__all__) | {"__version__"} <= set(stubbed()) | imported


def shape(node):
    """Names, kinds and defaults of a function of the stub."""
    a = node.args
    required = [inspect.Parameter.empty] * (len(a.args) - len(a.defaults))
    found = dict(
        zip((one.arg for one in a.args), [*required, *map(value, a.defaults)], strict=True)
    )
    by_name = zip((one.arg for one in a.kwonlyargs), a.kw_defaults, strict=True)
    return found, {name: value(default) for name, default in by_name}


def value(node):
    """A default of the stub; required where there is none."""
    return inspect.Parameter.empty if node is None else ast.literal_eval(node)


def real(thing, first=()):
    """The same of an object."""
    parameters = inspect.signature(thing).parameters.values()
    positional = {p.name: p.default for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD}
    positional = dict.fromkeys(first, inspect.Parameter.empty) | positional
    plain = lambda one: one if isinstance(one, (*stubs.SIMPLE, tuple, type)) else ...
    return (
        {name: plain(one) for name, one in positional.items()},
        {p.name: plain(p.default) for p in parameters if p.kind is p.KEYWORD_ONLY},
    )


FUNCTIONS = [name for name, node in stubbed().items() if isinstance(node, ast.FunctionDef)]
CLASSES = [name for name in stubbed() if name in sgmc.__all__ and name not in FUNCTIONS]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_their_real_signature(name):
    assert shape(stubbed()[name]) == real(getattr(sgmc, name))
    assert ast.get_docstring(stubbed()[name]) == inspect.getdoc(getattr(sgmc, name))


@pytest.mark.parametrize("name", CLASSES)
def test_classes_have_their_real_signatures(name):
    cls = getattr(sgmc, name)
    methods = {node.name: node for node in stubbed()[name].body if hasattr(node, "args")}
    if "__init__" in methods and name not in ("Constant", "Cyclical", "Polynomial"):
        assert shape(methods["__init__"]) == real(cls, ["self"])
    if "from_formula" in methods and name != "BNN":
        assert shape(methods["from_formula"]) == real(cls.from_formula, ["cls"])
    if hasattr(cls, "fit"):
        holder = methods.get("fit") or next(
            node for node in stubbed()["_Regression"].body if getattr(node, "name", "") == "fit"
        )
        assert shape(holder) == real(cls.fit)


@pytest.mark.parametrize(
    "model, kind",
    [
        (sgmc.LDA([[1, 2], [2, 0], [1, 1]], 2), "LDAResults"),
        (sgmc.TiedMeans([0.0, 1.0]), "ModelResults"),
        (sgmc.HMM([0.1, 0.4, 2.0, 2.2], 2), "HMMResults"),
    ],
)
def test_fits_return_what_the_stub_says(model, kind):
    node = stubbed()[type(model).__name__]
    fit = next(one for one in node.body if getattr(one, "name", "") == "fit")
    assert ast.unparse(fit.returns) == kind == model.result_class().__name__


def unknown_names(code):
    """Names that a block uses and does not make."""
    nodes = list(ast.walk(ast.parse(code)))
    made = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    made |= {n.name for n in nodes if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    made |= {a.arg for a in nodes if isinstance(a, ast.arg)}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            made |= {alias.asname or alias.name for alias in node.names}
    used = {n.id for n in nodes if isinstance(n, ast.Name)}
    return sorted(used - made - set(dir(builtins)) - {"sgmc", "res", "res1", "res2"})


def checked(code, folder):
    """What mypy says of a text."""
    # a file of its own: to mypy's cache, another text of one size in one second is the same
    path = folder / f"block{len(list(folder.glob('block*.py')))}.py"
    path.write_text(code)
    return mypy(path, folder)


def mypy(path, folder):
    """What mypy says of a file."""
    pytest.importorskip("mypy", reason="mypy is not installed: pip install sgmc[test-all]")
    options = ["--follow-imports=silent", "--check-untyped-defs", "--ignore-missing-imports"]
    installed = "site-packages" in PACKAGE.parts
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", str(folder / "cache"), str(path)],
        env={**os.environ, **({} if installed else {"MYPYPATH": str(PACKAGE.parent)})},
        capture_output=True,
        text=True,
        cwd=folder,
    )
    return done.stdout + done.stderr


def as_module(code):
    """A block of a page with declarations of the names that it assumes."""
    declared = "".join(f"{name}: Any\n" for name in unknown_names(code))
    made = "" if re.search(r"^res = ", code, re.M) else RES
    return f"from typing import Any\nimport sgmc\n{declared}{made}{code}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a cache that the checks share."""
    return tmp_path_factory.mktemp("types")


@pytest.mark.cover(0)
@pytest.mark.parametrize("k", range(len(BLOCKS)))
def test_a_type_checker_accepts_the_readme(k, folder):
    assert checked(as_module(BLOCKS[k]), folder).startswith("Success")


@pytest.mark.extended
@pytest.mark.parametrize(
    "code, told",
    [
        ('sgmc.logit("y ~ x", {}, draw=10)', 'Unexpected keyword argument "draw" for "logit"'),
        (
            'sgmc.logit("y ~ x", {}, draws="10")',
            'Argument "draws" to "logit" has incompatible type',
        ),
        ('sgmc.logit("y ~ x", {}, subsample="blok")', 'Argument "subsample" to "logit"'),
        ('sgmc.logit("y ~ x", {}, exposure="e")', 'Unexpected keyword argument "exposure"'),
        ("sgmc.Logit([0, 1], [[1], [2]]).fit(draw=10)", 'Unexpected keyword argument "draw"'),
        ("sgmc.LDA([[1]], 2).fit(cov_type='robust')", 'Unexpected keyword argument "cov_type"'),
        ("sgmc.SGHMC(leapfrogs=3)", 'Unexpected keyword argument "leapfrogs"'),
        ('sgmc.logti("y ~ x", {})', 'Module has no attribute "logti"'),
    ],
)
def test_a_type_checker_finds_planted_errors(code, told, folder):
    assert told in checked(f"import sgmc\n{code}\n", folder)


@pytest.mark.extended
def test_a_type_checker_accepts_the_stub_itself(folder):
    """A copy: mypy takes the folder of a file that it is given for a source tree."""
    copy = folder / "stub.pyi"
    copy.write_text(STUB.read_text())
    assert mypy(copy, folder).startswith("Success")


ABSENT = (
    "arviz_base arviz_stats jax matplotlib narwhals pandas patsy polars pooch pyarrow sklearn "
    "statsmodels threadpoolctl tqdm"
).split()


@pytest.mark.extended
def test_the_generator_needs_numpy_and_scipy_alone(tmp_path):
    code = (
        "import sys\n"
        f"for name in {ABSENT}: sys.modules[name] = None\n"
        "from sgmc.api import stubs\n"
        f"stubs.write({str(tmp_path)!r})"
    )
    place = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "__init__.pyi").read_text() == stubs.text()
