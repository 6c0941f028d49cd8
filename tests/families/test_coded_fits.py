"""Fits of designs whose factors stay codes are those of the dense design, draw by draw.

Random streams and batches do not depend on how a table is stored, nor do coordinates, but for two
things: columns of factors are not centred, which is felt where coordinates are single coefficients
(`precondition="diag"`), and a whitened coordinate may have the other sign.  All else being equal,
draws at a seed are apart by rounding.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc import formula
from sgmc.api import verbs

N = 400
ROUNDING = 1e-6  # in sds; found: 1e-9 and less
MODELS = {
    "logit": "successes",
    "poisson": "counts",
    "ols": "numbers",
    "gamma": "positive",
    "negativebinomial": "counts",
    "rlm": "numbers",
    "mnlogit": "kinds",
    "beta": "shares",
}


@pytest.fixture(scope="module")
def frame():
    """Outcomes of several kinds, two factors and a number."""
    rng = np.random.default_rng(11)
    g, h, x = rng.integers(0, 6, N), rng.integers(0, 3, N), rng.normal(size=N)
    eta = 0.3 + np.linspace(-1, 1, 6)[g] + 0.5 * x * (h == 1)
    return pd.DataFrame(
        {
            "x": x,
            "g": pd.Categorical.from_codes(g, list("abcdef")),
            "h": np.array(["p", "q", "r"])[h],
            "w": rng.integers(1, 3, N).astype(float),
            "successes": (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(int),
            "counts": rng.poisson(np.exp(eta)),
            "numbers": eta + rng.normal(size=N),
            "positive": np.exp(eta) * rng.gamma(2, size=N),
            "kinds": rng.choice(["u", "v", "w"], N),
            "shares": rng.beta(2 + np.exp(eta), 3),
        }
    )


@pytest.fixture
def both(frame, monkeypatch):
    """``both(verb, predictors, **how)``: the fits of the coded and of the dense design."""

    def fitted(verb, predictors="g + h*x", **how):
        found = []
        for columns in (1, 10**9):
            monkeypatch.setattr(formula.designs.design, "CODED_COLUMNS", columns)
            found.append(
                getattr(verbs, verb)(f"{MODELS[verb]} ~ {predictors}", frame, seed=5, **how)
            )
        assert found[0].model.spec.coding is not None and found[1].model.spec.coding is None
        return found

    return fitted


def apart(one, other):
    """The largest difference of draws, in sds."""
    return (np.abs(one.draws - other.draws) / np.asarray(other.bse)).max()


WAYS = [
    dict(),
    dict(sampler="mala"),
    dict(sampler="hmc", draws=100, warmup=50),
    dict(sampler="sgld", gradient="cv", subsample="uniform"),
    dict(sampler="sghmc", subsample="replacement", batch_size=50),
    dict(sampler="barker", draws=50, warmup=20),  # in long runs its choices make rounding grow
    dict(sampler="sgld", gradient="saga"),
    dict(sampler="lmsgld", gradient="svrg", subsample="preferential"),
    dict(sampler="sgnht", gradient="taylor", subsample="stratified", batch_size=100),
    dict(sampler="zigzag"),
    dict(sampler="laplace"),
    dict(cov_type="robust"),
]


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("how", WAYS, ids=lambda how: " ".join(map(str, how)) or "default")
def test_every_way_of_sampling(both, how):
    one, other = both("logit", **{"draws": 200, **how})
    assert apart(one, other) < ROUNDING


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("verb", MODELS)
def test_every_kind_of_family(both, verb):
    how = dict(draws=200, chains=2)
    if verb in ("ols", "mnlogit"):  # whose whitened coordinates change their signs
        how |= dict(sampler="mala", precondition=None, init=np.ones(12 if verb == "ols" else 22))
    one, other = both(verb, **how)
    assert apart(one, other) < ROUNDING
    if verb != "mnlogit":
        if verb == "ols":
            how["init"] = np.ones(10)
        with_weights = both(verb, "g:x + C(h, Sum)", weights="w", **how)
        assert apart(*with_weights) < ROUNDING


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_results(both, frame):
    one, other = both("logit", draws=300)
    new = frame.head(20).assign(x=[np.nan] + [0.5] * 19)
    for see in (
        lambda r: r.predict(),
        lambda r: r.predict(new),
        lambda r: r.get_prediction(new[1:]).summary_frame(),
        lambda r: r.resid_pearson,
        lambda r: r.log_lik(),
        lambda r: r.loo().elpd,
        lambda r: r.marginal_effects().table if hasattr(r, "marginal_effects") else 0,
        lambda r: r.resume(draws=50).draws,
    ):
        np.testing.assert_allclose(see(one), see(other), rtol=1e-6, atol=1e-8)
    assert one.verdict.text == other.verdict.text


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_single_precision(both):
    """Numbers alone are rounded, to 6e-8: draws are apart by less than a hundredth of an sd."""
    one, other = both("logit", draws=200, dtype="float32")
    assert apart(one, other) < 0.01


@pytest.mark.extended
def test_a_design_that_is_never_dense(monkeypatch, frame):
    """The table of a fit is smaller than the dense one, and nothing asks for that."""

    def refused(*arguments, **keywords):
        raise AssertionError("a dense design was built")

    monkeypatch.setattr(formula.designs.design, "CODED_COLUMNS", 1)
    monkeypatch.setattr(formula.designs.design.DesignSpec, "blocks", refused)
    monkeypatch.setattr(formula.designs.design.DesignSpec, "matrix", refused)
    monkeypatch.setattr(formula.designs.coded.CodedTable, "toarray", refused)
    results = sgmc.logit("successes ~ g*h", frame, seed=1)
    assert str(results.summary()) and len(results.predict(frame)) == N
    assert results.loo().elpd < 0
