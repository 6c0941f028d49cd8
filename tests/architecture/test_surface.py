"""What an import costs, what is public, and what an unbuilt source tree answers."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest

import sgmc

from .sources import PACKAGE, SOURCES

HEAVY = {
    "pandas",
    "scipy",
    "statsmodels",
    "matplotlib",
    "arviz_stats",
    "patsy",
    "tqdm",
    "pooch",
    "sklearn",
    "narwhals",
    "polars",
    "pyarrow",
}


def python(code, **how):
    """Run code in a fresh interpreter outside the source tree."""
    return subprocess.run(
        [sys.executable, "-c", code], text=True, capture_output=True, timeout=60, **how
    )


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "code",
    [
        "import sgmc",
        "import sgmc; sgmc.normal(0, 1); sgmc.MALA(); sgmc.errors; sgmc.registry",
        "import sgmc; dir(sgmc); sgmc.__all__",
    ],
)
def test_an_import_loads_nothing_heavy(code):
    done = python(f"{code}\nimport sys; print(*sorted(m for m in sys.modules if '.' not in m))")
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stdout.split()) == set()


SLOW = {f"scipy.{name}" for name in ("stats", "optimize", "interpolate", "integrate")}


def test_no_module_imports_what_is_slow_at_its_top():
    """These take half a second together: functions import them."""
    found = {
        f"{path.name}: {name}"
        for path in SOURCES
        for node in (ast.parse(path.read_text()).body if path.suffix == ".py" else ())
        for name in imported(node)
        if any(name == one or name.startswith(f"{one}.") for one in SLOW)
    }
    assert found == set()


def imported(node):
    """Dotted names that a statement imports, modules and what is taken from them."""
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
    return []


@pytest.mark.extended
@pytest.mark.parametrize("verb", ["logit", "poisson", "ols"])
def test_a_plain_fit_and_its_summary_load_nothing_slow(verb):
    done = python(
        "import numpy as np, sgmc, sys\n"
        "rng = np.random.default_rng(1)\n"
        "x = rng.normal(size=500)\n"
        "y = (rng.random(500) < 1 / (1 + np.exp(-x))) * 1.0\n"
        f"print(sgmc.{verb}('y ~ .', {{'x': x, 'y': y}}, seed=1).summary())\n"
        "print(*sorted(sys.modules))"
    )
    assert done.returncode == 0 and "Verdict: trustworthy" in done.stdout, done.stderr
    assert (SLOW | {"arviz_stats", "matplotlib"}) & set(
        done.stdout.splitlines()[-1].split()
    ) == set()


def test_public_names_resolve_and_have_docstrings():
    for name in sgmc.__all__:
        value = getattr(sgmc, name)
        assert len(inspect.getdoc(value)) > 20, name
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__module__.startswith("sgmc") and name in dir(sgmc), name


def test_unknown_public_names():
    with pytest.raises(AttributeError, match="module 'sgmc' has no attribute 'logti'"):
        sgmc.logti
    assert len(set(sgmc.__all__)) == len(sgmc.__all__)
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", sgmc.__version__)


def test_a_source_tree_that_is_not_built_says_so(tmp_path):
    for path in PACKAGE.rglob("*.py"):
        target = tmp_path / path.relative_to(PACKAGE.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    assert not list(tmp_path.rglob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}"))
    done = python("import sgmc", cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    message = done.stderr.split("ImportError: ")[1].strip().split("\n")
    assert len(message) == 2 and "not built" in message[0] and "pip install ." in message[1]
    assert "During handling" not in done.stderr
