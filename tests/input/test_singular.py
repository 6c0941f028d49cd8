"""Singular matrices: data and models that lead to them get an error or a warning with a name, and
no call of linear algebra is left to raise its own.
"""

import ast
import warnings
from pathlib import Path

import numpy as np
import pytest

import sgmc
from sgmc.errors import (
    ArgumentError,
    DataError,
    ExactFitWarning,
    ModeWarning,
    SGMCError,
    SGMCWarning,
)

from ..general.broken_models import Right

PACKAGE = Path(sgmc.__file__).parent
SHORT = dict(seed=1, draws=50, warmup=50, chains=2)
RAISING = ("cholesky", "cho_factor", "eigh", "eigvalsh", "inv", "lstsq", "matrix_rank", "solve")
RAISING = (*RAISING, "svd")
SAFE = {  # calls outside of a try, and why they do not raise
    "core/stationary.py": "of recursions with finite entries; solved where they are stable",
    "coordinates/whitened/free.py": "its callers have factored the same matrix (`peak.has_root`)",
    "coordinates/whitened/score_covariance.py": "of finite curvatures at a mode",
    "coordinates/identification/recession.py": "of finite tables",
    "coordinates/independent/integrated.py": "tabulated in a try; a table's precisions have roots",
    "coordinates/independent/grid.py": "its callers tabulate within a try",
    "models/regression/rows/effect_sums.py": "as in coordinates/independent/integrated.py",
    "coordinates/whitened/whole.py": "triangular with a unit diagonal, or a rotation",
    "models/regression/latent/integrated/direct.py": (
        "of a mode's precision, whose eigenvalues are positive"
    ),
    "models/regression/latent/integrated/given_sd.py": (
        "of such a precision; nodes are made within a try"
    ),
    "models/regression/rows/summed.py": "least squares, and roots that were looked at",
    "results/effects/sums.py": "of finite averages",
    "coordinates/shapes/shrinkage.py": "the whitener refuses a singular one first",
    "coordinates/shapes/separation_transform.py": "triangular with a unit diagonal",
    "coordinates/whitened/whitening.py": "invertible as made; a finite matrix has eigenvalues",
    "models/regression/mode/bounded.py": "blocks of a mode's precision; slopes within margins",
    "models/regression/prior_outcomes.py": "triangular with a unit diagonal",
    "priors/joint.py": "of a covariance that has a root",
    "results/priors/distributions.py": "of a precision whose inverse has a root",
    "results/priors/sensitivity.py": "triangular with a unit diagonal",
    "diagnostics/scores/finite_set.py": "of finite draws",
    "diagnostics/scores/implied.py": "solved before, within the try",
    "diagnostics/scores/zero_variance.py": "of finite draws and scores",
    "fit/noise.py": "`choose_sampler` puts zeros for noise that is not finite",
    "fit/plan.py": "infinite where the noise is not finite",
    "formula/designs/blocks.py": "of a finite contrast",
    "formula/evaluation/r_words.py": "triangular, with a diagonal that was looked at",
    "models/communities/start.py": "of a table of zeros and ones",
    "models/regression/latent/sampled/centre/correlation.py": (
        "of a posterior's precision, which has a root"
    ),
    "models/regression/latent/sampled/centre/search.py": (
        "of finite slopes, and of sds that are kept from zero"
    ),
    "models/ica/model.py": "of finite channels with finite squares",
    "models/ica/results.py": "the rank of the start is checked",
    "models/regression/latent/integrated/coordinates.py": (
        "of a mode's precision, whose eigenvalues are positive"
    ),
    "models/regression/latent/effects/left_out.py": "of a covariance made larger than rounding",
    "models/regression/latent/effects/random_effects.py": (
        "of correlations, with a diagonal larger by rounding"
    ),
    "models/regression/latent/integrated/search.py": (
        "of finite curvatures, whose eigenvalues are made positive"
    ),
    "models/mixture/results.py": "triangular with a unit diagonal",
    "models/regression/mode/trimmed.py": "of finite tables",
    "models/regression/latent/shrunk/coordinates.py": (
        "of a precision that expectation propagation has factored"
    ),
    "models/regression/latent/shrunk/rotated.py": "of a finite precision",
    "models/regression/updated/account.py": "of finite precisions; those of modes have roots",
    "models/regression/updated/prior.py": "of a mode's precision, scaled to a unit diagonal",
    "models/regression/updated/taylor.py": "of coordinates that were solved for by the fit",
    "models/regression/updated/weighed.py": "undoes the centring: triangular with a unit diagonal",
    "results/checks/differences.py": "a Cholesky factor or positive sds",
    "results/checks/scores/printed.py": "of coordinates' scales; the rest is within a try",
    "results/checks/scores/second_order.py": "of finite scores",
    "results/checks/visited.py": "a root of a covariance",
    "splines/bases.py": "of a finite penalty",
    "splines/smooth.py": "of finite columns",
}


class Ends(Right):
    """Gradient and density are NaN a few sds from the mode."""

    def log_lik(self, theta, rows):
        return super().log_lik(theta, rows) + 0 * np.sqrt(1.05 - theta["b"][0])

    def grad(self, theta, rows):
        g = super().grad(theta, rows)
        return {**g, "b": g["b"] + 0 * np.sqrt(1.05 - theta["b"][0])}


class Twice(Right):
    """The same predictor twice, with a prior that does not tell them apart."""

    prior = {"*": sgmc.normal(0, 1e9)}

    def __init__(self):
        super().__init__()
        self.X = self.X[:, [0, 0]]


def quiet(call):
    """The value of a call, and its warnings."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always", SGMCWarning)
        return call(), [one.category for one in caught]


def test_gradients_that_end_are_left_to_an_exact_sampler():
    done, _ = quiet(lambda: Ends().fit(**SHORT))
    assert done._fit.plan.spec.exact
    assert "not finite some sds from the mode" in done._fit.plan.reason


@pytest.mark.parametrize("sampler", ["sgld", "vsgbd"])
def test_minibatches_that_would_go_there_are_refused(sampler):
    with pytest.raises(ArgumentError, match=f"sampler='{sampler}': the gradient is not finite"):
        quiet(lambda: Ends().fit(sampler=sampler, **SHORT))


@pytest.mark.parametrize("modes", ["one", "search"])
def test_a_ridge_has_no_gaussian_around_it(modes):
    """Cholesky factors of the precision exist, those with a unit diagonal do not."""
    done, caught = quiet(lambda: Twice().fit(modes=modes, sampler="mala", **SHORT))
    assert ModeWarning in caught and not done._fit.problem.coordinates.scaled


def frame(n=60):
    """Outcomes without an error."""
    x = np.random.default_rng(0).normal(size=(2, n))
    return {"x": x[0], "z": x[1], "y": 1 + 2 * x[0]}


def test_a_robust_fit_of_exact_outcomes():
    done, _ = quiet(lambda: sgmc.rlm("y ~ x + z", frame(), **SHORT))
    assert done._fit.plan.spec.exact and not done.verdict.trustworthy
    # scales end at the rounding errors of the outcomes, where gradients are finite
    done, caught = quiet(lambda: sgmc.rlm("y ~ x + z", frame(), sampler="sgld", **SHORT))
    assert ExactFitWarning in caught and np.isfinite(done.draws).all()
    assert not done.verdict.trustworthy and "no noise left" in done.verdict.text


@pytest.mark.parametrize("unit", [1e200, 1e-200, 0.0])
def test_channels_whose_squares_are_no_numbers(unit):
    X = np.random.default_rng(0).normal(size=(80, 3)) * [1, unit, 1]
    with pytest.raises(DataError, match="X: .*column 1 is (beyond|constant).*; (rescale|leave)"):
        sgmc.ICA(X, scale=None)


HARD = {
    "collinear": lambda d: {**d, "z": d["x"]},
    "nearly": lambda d: {**d, "z": d["x"] * (1 + 1e-15)},
    "constant": lambda d: {**d, "z": np.ones(60)},
    "huge": lambda d: {**d, "z": d["z"] * 1e200},
    "tiny": lambda d: {**d, "z": d["z"] * 1e-200},
    "tiny outcomes": lambda d: {**d, "y": d["y"] * 1e-200},
    "exact": lambda d: d,
}


@pytest.mark.cover(1)
@pytest.mark.parametrize("prior", [None, "flat", "horseshoe", "cauchy"])
@pytest.mark.parametrize("how", ["plain", "robust", "search"])
@pytest.mark.parametrize("verb", ["ols", "rlm"])
@pytest.mark.parametrize("data", HARD)
def test_hard_tables_give_results_or_an_error_by_name(data, verb, how, prior):
    arguments = {"plain": {}, "robust": {"cov_type": "robust"}, "search": {"modes": "search"}}[how]
    if prior is not None:
        arguments["prior"] = prior

    def fitted():
        return getattr(sgmc, verb)("y ~ x + z", HARD[data](frame()), **SHORT, **arguments)

    try:
        done, _ = quiet(fitted)
    except SGMCError as error:
        assert str(error)
    else:
        assert done.draws.shape[1] == 50


def bare_calls(path):
    """Calls of linear algebra in a file that are in no try, by name."""
    tree, guarded = ast.parse(path.read_text()), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            guarded |= {id(one) for part in node.body for one in ast.walk(part)}
    return [
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in RAISING
        and "linalg" in ast.unparse(node.func.value)
        and id(node) not in guarded
    ]


@pytest.mark.extended
def test_calls_that_may_raise_are_guarded_or_known_to_be_safe():
    found = {str(p.relative_to(PACKAGE)) for p in PACKAGE.rglob("*.py") if bare_calls(p)}
    assert found == set(SAFE)


def test_a_bare_call_is_seen(tmp_path):
    file = tmp_path / "bare.py"
    file.write_text("try:\n    a = np.linalg.inv(A)\nexcept E:\n    pass\nb = linalg.solve(A, c)\n")
    assert bare_calls(file) == ["solve"]
