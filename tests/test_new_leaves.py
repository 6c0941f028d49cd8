"""A family and a sampler that are new, one file each: the examples of docs/extending.md, compiled
beside the package and found by its registry.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sgmc

ROOT = Path(__file__).parents[1]
LEAVES = ROOT / "examples" / "leaves"
HOMES = {"geometric": "sgmc.models.regression.families", "tula": "sgmc.samplers"}
SETUP = f"""
import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

homes = {HOMES!r}
setup(
    py_modules=[],
    ext_modules=cythonize(
        [
            Extension(f"{{home}}.{{name}}", [f"{{name}}.pyx"], include_dirs=[numpy.get_include()])
            for name, home in homes.items()
        ],
        language_level=3,
    ),
)
"""
# what a build in place does for a leaf: its folder holds it, and the public names list it
PLUGIN = f"""
import importlib
import sys
from pathlib import Path

import sgmc
from sgmc.api import names

for home in {sorted(HOMES.values())!r}:
    package = importlib.import_module(home)
    package.__path__.append(str(Path(__file__).parent.joinpath("built", *home.split("."))))
found = names.public_names()
sgmc._HOMES.update(found)
sgmc.__all__.extend(sorted(set(found) - set(sgmc.__all__)))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the leaves built, and a module `leaves` that puts them into their rooms."""
    pytest.importorskip("Cython")
    if not LEAVES.exists() or shutil.which("cc") is None and shutil.which("gcc") is None:
        pytest.skip("no compiler, or no examples")
    folder = tmp_path_factory.mktemp("leaves")
    for leaf in LEAVES.glob("*.pyx"):
        shutil.copy(leaf, folder)
    (folder / "setup.py").write_text(SETUP)
    (folder / "leaves.py").write_text(PLUGIN)
    done = python(folder, "setup.py", "-q", "build_ext", "--build-lib", "built", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def python(place, *arguments, **how):
    """Run Python with the package and that folder in its path."""
    home = str(Path(sgmc.__file__).parents[1])
    path = os.pathsep.join([str(place), home, os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-P", *arguments],  # -P: not the tree, where it is not built
        text=True,
        capture_output=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": path},
        **how,
    )


def run(place, code):
    """Run code in which the leaves are in their rooms; return what it prints."""
    done = python(place, "-c", f"import leaves\n{code}", cwd=place)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_examples_are_one_file_for_each_leaf():
    assert {leaf.stem for leaf in LEAVES.iterdir()} == set(HOMES)


DATA = """
import numpy as np, pandas as pd, sgmc
rng = np.random.default_rng(5)
df = pd.DataFrame({"x": rng.normal(size=600)})
df["y"] = rng.geometric(1 / (1 + np.exp(0.5 + 0.8 * df.x))) - 1
"""


@pytest.mark.extended
def test_the_verb_has_the_posterior_of_the_negative_binomial_with_that_dispersion(place):
    """The same model where alpha = 1: means within five Monte Carlo errors, sds within 15 %."""
    code = """
one, two = (verb("y ~ x", df, seed=seed, sampler="mala", **known)
            for verb, seed, known in ((sgmc.geometric, 1, {}),
                                      (sgmc.negativebinomial, 2, {"alpha": 1.0})))
a, b = (fit.draws.reshape(-1, 2) for fit in (one, two))
error = sum(np.square(sgmc.diagnostics.mcse(fit.draws)) for fit in (one, two)) ** 0.5
ratio = a.std(axis=0) / b.std(axis=0)
print(np.abs(a.mean(axis=0) - b.mean(axis=0)) / error, np.abs(np.log(ratio)))
"""
    found = [float(x) for x in run(place, DATA + code).replace("[", "").replace("]", "").split()]
    assert len(found) == 4 and max(found[:2]) < 5 and max(found[2:]) < 0.15


@pytest.mark.extended
def test_glm_the_command_line_and_the_sampler_by_name_have_the_leaves(place):
    code = """
import sys
from sgmc.api import cli
how = dict(seed=3, draws=200, chains=2, sampler="tula")
found = sgmc.glm("y ~ x", df, family="geometric", link="log", **how)
again = sgmc.geometric("y ~ x", df, **{**how, "sampler": sgmc.TULA()})
assert np.array_equal(found.draws, again.draws)
df.to_csv("table.csv", index=False)
assert cli.main(["fit", "y ~ x", "table.csv", "--model", "geometric", "--sampler", "tula"]) == 0
assert cli.main(["families"]) == cli.main(["samplers"]) == 0
"""
    printed = run(place, DATA + code)
    assert "Geometric Posterior Summary" in printed
    assert "\ngeometric: Bayesian geometric regression of counts: E[y] = mu" in printed
    assert "\ntula: Tamed unadjusted Langevin algorithm" in printed


@pytest.mark.extended
def test_the_pages_list_the_leaves(place):
    pages = ["api/verbs.rst", "api/models.rst", "api/samplers.rst", "families.md", "defaults.md"]
    code = f"""
import sys
from pathlib import Path
docs = Path({str(ROOT / "docs")!r})
sys.path.insert(0, str(docs))
import registered
for page in {pages}:
    print(registered.filled(docs.joinpath(page).read_text()))
"""
    printed = run(place, code)
    for line in (
        ".. autofunction:: sgmc.geometric\n",
        ".. autoclass:: sgmc.Geometric\n",
        ".. autoclass:: sgmc.TULA\n",
        (
            "| `geometric` | counts | E[y] = mu = exposure exp(x . theta + offset), Var[y] = mu + "
            "mu^2 |"
        ),
        "\n| `tula` | - | ",
    ):
        assert line in printed


@pytest.mark.extended
def test_the_contract_tests_take_the_leaves_up(place):
    """Those of the families' densities and models, and of a sampler's chains and stationary law."""
    files = [
        "families/test_densities.py",
        "contracts/test_models.py",
        "contracts/test_chains.py",
        "contracts/test_stationary.py",
        "contracts/test_golden.py",
        "architecture/test_registry.py",
        "plan/test_derived.py",
    ]
    done = python(
        place,
        *("-m", "pytest", "--all", "-p", "leaves", "-p", "no:cacheprovider", "-p", "no:xdist"),
        *("--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"), "-rA", "--tb=short"),
        *("-k", "geometric or tula", *(str(ROOT / "tests" / name) for name in files)),
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    passed = [line for line in done.stdout.splitlines() if line.startswith("PASSED")]
    assert all(any(name in line for line in passed) for name in files if "golden" not in name)
    assert len([line for line in passed if "geometric" in line]) > 30
    assert len([line for line in passed if "tula" in line]) > 50
