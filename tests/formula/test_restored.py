"""Fitted transforms and bases of saved fits: a file in which one of their numbers was changed, so
that a shape, a knot or a degree is none that a fit makes, does not open.
"""

import copy

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import CubicSpline

import sgmc
from sgmc.core.system.files import read_sealed, write_sealed
from sgmc.errors import ArgumentError
from sgmc.formula.evaluation.restored import check_restored
from sgmc.results.files import KIND

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
RNG = np.random.default_rng(3)
FRAME = pd.DataFrame({"x": RNG.normal(size=90), "z": RNG.random(90), "g": RNG.choice([*"ab"], 90)})
FRAME["y"] = FRAME.x + RNG.normal(size=90)
FRAME["t"] = np.arange(90) % 7.0
GRAPH = {k: [(k + 1) % 7, (k + 6) % 7] for k in range(7)}
KNOWN = (np.eye(2) + 0.3, ["a", "b"])
FORMULAS = {
    "BSplines": "y ~ bs(x, df=5)",
    "CR": "y ~ cr(x, df=4, constraints='center')",
    "CC": "y ~ cc(x, df=4)",
    "TE": "y ~ te(cr(x, df=3), cr(z, df=3), constraints='center')",
    "Poly": "y ~ poly(x, 3)",
    "NaturalTerm": "y ~ ns(x, 4)",
    "Standardize": "y ~ standardize(x)",
    "Center": "y ~ center(x)",
    "Categories": "y ~ C(g)",
    "Relevel": "y ~ relevel(g, 'b')",
    "Basis": "y ~ s(x, k=6)",
    "term WalkBasis": "y ~ rw2(t)",
    "term GraphBasis": "y ~ bym2(t, GRAPH)",
    "term StepBasis": "y ~ ar1(t)",
    "term RootBasis": "y ~ gr(g, cov=KNOWN)",
    "term WaveBasis": "y ~ gp(x, scale=2)",
    "Smooth": "y ~ te(x, z, k=4, bs='bs')",
    "wide": "y ~ bs(x, df=120)",
}
NAN, LONG = np.array([0.0, np.nan, 1.0, 2.0]), np.arange(100_000.0)
CHANGES = {
    "BSplines": [
        *({"_degree": one} for one in (21, 11, -1, 3.0, True, None, "3", 10**30)),
        *({"_all_knots": one} for one in (NAN, LONG, LONG[:7], LONG[:10][::-1], None, "knots")),
        {"_all_knots": np.zeros((4, 4))},
        {"_all_knots": np.array([*"abcdefghijkl"])},
    ],
    "CR": [
        *({"_all_knots": one} for one in (NAN, LONG, LONG[:1], LONG[:4][::-1], np.zeros(4), 3)),
        *({"_constraints": one} for one in (np.ones((1, 99)), np.ones((9, 5)), np.ones(4), "c")),
        {"_cyclic": True},
    ],
    "CC": [{"_all_knots": LONG[:1]}, {"_cyclic": False}, {"_constraints": np.full((1, 4), np.inf)}],
    "TE": [{"_constraints": one} for one in (np.ones(9), np.ones((9, 9)), np.full((1, 9), np.nan))],
    "Poly": [
        *({"triangle": one} for one in (np.eye(4) * np.nan, np.zeros((4, 4)), np.ones((2, 4)), 1)),
        *({"scale": one} for one in (0.0, -1.0, np.inf, None)),
        {"middle": np.nan},
    ],
    "NaturalTerm": [{"basis": None}, {"basis": 3}],
    "NaturalSplines": [
        *({"knots": one} for one in (NAN, LONG, np.array([0.1, -0.1, 0.2]), np.array([99.0]))),
        *({"ends": {"is": "tuple", "of": one}} for one in ([1.0, 0.0], [0.0], [0.0, float("nan")])),
        {"intercept": 7},
    ],
    "Standardize": [{"count": -1}, {"mean": np.zeros((2, 2))}, {"squares": np.zeros(7)}],
    "Center": [{"mean": "0"}, {"count": 0.5}],
    "Categories": [{"levels": None}, {"levels": 3}],
    "Relevel": [{"levels": "ab"}],
    "Basis": [
        *({"knots": one} for one in (NAN, LONG, np.zeros(6), None)),
        *({"low": one} for one in (np.nan, 1e9)),
        {"curves": None},
    ],
    "term WalkBasis": [
        *({"knots": one} for one in (NAN, LONG, np.zeros(6), np.linspace(0, 1, 1001), None)),
        *({"low": one} for one in (np.nan, 1e9)),
        *({"flat": one} for one in (0, 3, 1.5, "2", None)),
    ],
    "term GraphBasis": [
        *({"edges": one} for one in (NAN, np.ones((3, 2)), [[0, 1]], -np.eye(2, dtype=int))),
        {"edges": np.array([[0, 9]])},
        *({"high": one} for one in (5.0, 7.0, 6.5, np.nan, 1e9)),
        *({"independent": one} for one in (None, 1)),
        {"low": 1.0},
    ],
    "term StepBasis": [
        *({"step": one} for one in (0.0, -1.0, np.nan, 1e-9, 1e9, None, "s")),
        *({"rho": one} for one in (1.0, -2.0, np.nan, "s")),
    ],
    "term WaveBasis": [
        *({"waves": one} for one in (0, 10**9, 3.5, None)),
        *({"scale": one} for one in (0.0, np.nan, None)),
        *({"learned": one} for one in (-1.0, 99.0, np.nan, None)),
    ],
    "term RootBasis": [
        *({"root": one} for one in (NAN, np.eye(3), np.full((2, 2), np.nan), None)),
        {"high": 2.0},
    ],
    "LabelColumn": [{"labels": None}, {"labels": 3}, {"name": 3}],
    "Smooth": [{"centre": np.zeros(3)}, {"scale": np.zeros(2)}, {"bases": []}, {"roots": []}],
    "SmoothBlock": [{"turn": np.eye(77)}, {"line": np.ones((9, 9))}, {"by": 5}, {"by": -1}],
    "cubic": [
        {"x": LONG[:6][::-1]}, {"x": np.zeros(6)}, {"c": np.zeros((4, 2, 6))},
        {"c": np.zeros((900, 5, 6))}, {"c": np.full((4, 5, 6), np.nan)},
    ],
    "spline": [
        {"k": 40}, {"k": 0}, {"t": LONG[:3]}, {"t": NAN}, {"c": np.eye(2)}, {"t": LONG[:8][::-1]},
    ],
}  # fmt: skip
INSIDE = {"NaturalSplines": "NaturalTerm", "cubic": "Basis", "spline": "Smooth"}
INSIDE |= {"SmoothBlock": "Smooth", "LabelColumn": "term GraphBasis"}


def nodes(tree):
    """All dicts of a tree."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [tree] * isinstance(tree, dict) + [one for part in parts for one in nodes(part)]


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """Of a fit with each: its predictions, and the tree of its file."""
    found, folder = {}, tmp_path_factory.mktemp("fits")
    for name, formula in FORMULAS.items():
        fit = sgmc.ols(formula, FRAME, seed=1, draws=20, chains=1)
        fit.save(folder / name)
        found[name] = fit.predict(FRAME[:9]), read_sealed(folder / name, KIND)
    return found


@pytest.mark.extended("BSplines")
@pytest.mark.parametrize("name", FORMULAS)
def test_files_of_fits_open(trees, name, tmp_path):
    right, tree = trees[name]
    assert name == "wide" or any(node.get("class") == name for node in nodes(tree))
    write_sealed(tmp_path / "fit", KIND, tree)
    np.testing.assert_array_equal(sgmc.load(tmp_path / "fit").predict(FRAME[:9]), right)


@pytest.mark.parametrize("name, change", [(k, one) for k, them in CHANGES.items() for one in them])
def test_changed_files_do_not(trees, name, change, tmp_path):
    tree = copy.deepcopy(trees[INSIDE.get(name, name)][1])
    changed = [node for node in nodes(tree) if name in (node.get("class"), node.get("is"))]
    for node in changed[:1]:
        node["state"].update(change)
    assert changed
    write_sealed(tmp_path / "evil", KIND, tree)
    with pytest.raises(ArgumentError, match="evil (is not a file|was saved)"):
        sgmc.load(tmp_path / "evil")


def test_transforms_of_users_are_left_alone():
    assert check_restored(CubicSpline([0, 1, 2], [0, 1, 0])) is None
