"""Shrinkage priors: the horseshoe's density, and posteriors under it and under laplace() against
quadrature and Gibbs samplers.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import sgmc
from sgmc import registry
from sgmc.coordinates.priors.densities import FAMILIES, Separable
from sgmc.coordinates.shapes.shrinkage import tilted
from sgmc.core.designs.design import design
from sgmc.core.engine import full
from sgmc.core.random.rng import Rng
from sgmc.errors import ArgumentError, NotSupported, ShapeWarning
from sgmc.models.regression.families.logit import LogitFamily
from sgmc.subsampling.uniform import FullBatch

ROOT = np.sqrt(2 * np.pi**3)
SCALE, SLAB = 0.3, 1.5
# one row that says nothing: log 1/2
SILENT = LogitFamily.kernel(design(np.zeros((1, 1))), np.ones(1), None, None)
KNOWN = sgmc.gamma(1e4, rate=1e4)  # sigma = 1, to a hundredth


def log_prior(b, scale=SCALE, slab=np.inf):
    """The package's log density of one coefficient, up to the slab's part of the constant,
    and its derivative.
    """
    prior = Separable([FAMILIES["horseshoe"]], [0.0], [scale], [slab / scale])
    estimator = registry.lookup("gradients", "simple", "gradient")(
        SILENT, prior, FullBatch(1), Rng(np.random.SeedSequence(0))
    )
    value, gradient = full(estimator, np.array([b]))
    return value + np.log(2) - np.log(scale * ROOT), gradient[0]


def mixture(b, scale=SCALE, slab=np.inf):
    """The same by its definition: an integral over the log of the local scale."""

    def density(u):
        return stats.norm.pdf(b, 0, scale * np.exp(u)) / (np.pi * np.cosh(u))

    near = np.log(abs(b) / scale)
    parts = [
        integrate.quad(density, a, c, epsabs=0, epsrel=1e-11, limit=200)[0]
        for a, c in ((near - 6, near), (near, near + 40))
    ]
    return sum(parts) * np.exp(-0.5 * (b / slab) ** 2)


# z = 1, where the formula turns, is at 0.424
@pytest.mark.parametrize("b", [1e-9, 1e-4, 0.05, 0.42, 0.43, 1.0, 7.0, 60.0])
@pytest.mark.parametrize("slab", [np.inf, SLAB])
def test_the_density_is_the_scale_mixture(b, slab):
    found = np.exp(log_prior(b, slab=slab)[0])
    assert found == pytest.approx(mixture(b, slab=slab), rel=1e-8, abs=1e-300)
    if 0.04 < b < 2:
        # a mistake: the scale doubled
        assert found != pytest.approx(mixture(b, 2 * SCALE, slab), rel=1e-2)


def test_the_density_is_normalised():
    total = (
        2
        * integrate.quad(
            lambda u: np.exp(log_prior(np.exp(u))[0] + u), -60, 30, epsabs=1e-13, limit=400
        )[0]
    )
    assert total == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("b", [-4.0, -1e-3, 1e-6, 0.1, 0.42, 0.43, 2.0, 5e3, 3e8])
@pytest.mark.parametrize("slab", [np.inf, SLAB])
def test_the_gradient_is_the_derivative(b, slab):
    """By central differences with a relative step of 1e-4, whose own error is below 1e-7 of it."""
    step = 1e-4 * abs(b)
    ends = [log_prior(b + k * step, slab=slab)[0] for k in (-2, -1, 1, 2)]
    assert log_prior(b, slab=slab)[1] == pytest.approx(
        np.array([1, -8, 8, -1]) @ ends / (12 * step), rel=1e-6
    )


def test_the_pole_itself_is_finite():
    value, slope = log_prior(0.0)
    assert np.isfinite(value) and slope == 0


@pytest.mark.cover(0)
@pytest.mark.parametrize("place, sd", [(0.0, 0.1), (0.5, 0.2), (-3.0, 0.4), (1.0, 3.0)])
def test_moments_of_a_horseshoe_times_a_normal(place, sd):
    b = np.exp(np.linspace(-25, 4, 4001))
    b = np.append(-b, b)
    f = np.array([log_prior(one, slab=SLAB)[0] for one in b]) - 0.5 * ((b - place) / sd) ** 2
    f = np.exp(f) * np.abs(b)
    mean = b @ f / f.sum()
    found = tilted(*np.array([[SCALE], [SLAB], [place], [sd**2]]))
    assert found[0][0] == pytest.approx(mean, abs=1e-5)
    assert found[1][0] == pytest.approx((b - mean) ** 2 @ f / f.sum(), rel=1e-4)


def table(n, coefficients, seed=3, binary=True):
    """Predictors and outcomes of a logistic model, or of a linear one with sigma = 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(coefficients)))
    eta = X @ coefficients
    y = (
        (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
        if binary
        else eta + rng.normal(size=n)
    )
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)


def by_quadrature(frame, scale, slab, binary):
    """Mean, sd and P(|b| < 0.05) of one or two coefficients, on a grid that is fine at zero."""
    X, y = frame.drop(columns="y").to_numpy(), frame.y.to_numpy()
    u = np.linspace(-7.5, 7.5, 1200)
    nodes = 0.002 * np.sinh(u)
    own = (
        np.array([log_prior(b, scale, slab)[0] for b in nodes]) + np.log(np.cosh(u))
        if scale
        else np.log(np.cosh(u))
    )
    log = np.zeros([len(u)] * X.shape[1])
    for j in range(X.shape[1]):
        log = log + np.expand_dims(own, tuple(k for k in range(X.shape[1]) if k != j))
    eta = np.zeros_like(log)
    for row, outcome in zip(X, y):
        eta = sum(
            np.expand_dims(row[j] * nodes, tuple(k for k in range(len(row)) if k != j))
            for j in range(len(row))
        )
        log = log + (
            outcome * eta - np.logaddexp(0, eta) if binary else -0.5 * (outcome - eta) ** 2
        )
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    margins = [
        weight.sum(axis=tuple(k for k in range(X.shape[1]) if k != j)) for j in range(X.shape[1])
    ]
    mean = np.array([m @ nodes for m in margins])
    sd = np.sqrt([m @ (nodes - c) ** 2 for m, c in zip(margins, mean)])
    return mean, sd, np.array([m[np.abs(nodes) < 0.05].sum() for m in margins])


def departure(results, expected, d):
    """The largest difference from (mean, sd, probability), over 0.12 sd, 8 % and 0.04: five Monte
    Carlo errors of 3000 draws.
    """
    mean, sd, inside = expected
    draws = results.draws[..., :d].reshape(-1, d)
    return max(
        (np.abs(draws.mean(axis=0) - mean) / sd).max() / 0.12,
        np.abs(draws.std(axis=0) / sd - 1).max() / 0.08,
        np.abs((np.abs(draws) < 0.05).mean(axis=0) - inside).max() / 0.04,
    )


@pytest.mark.cover(0)
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("coefficients", [(0.5,), (0.1,), (0.8, 0.0)])
def test_few_coefficients_are_as_by_quadrature(coefficients, binary):
    frame, d = table(60, coefficients, binary=binary), len(coefficients)
    prior = {"*": sgmc.horseshoe(scale=0.05, slab=1.0, autoscale=False)} | (
        {} if binary else {"sigma": KNOWN}
    )
    results = (sgmc.logit if binary else sgmc.ols)(
        "y ~ 0 + .", frame, prior=prior, seed=1, draws=3000
    )
    assert results.sampler.name == "mala"
    assert departure(results, by_quadrature(frame, 0.05, 1.0, binary), d) < 1
    # mistakes: the scale doubled,
    assert departure(results, by_quadrature(frame, 0.1, 1.0, binary), d) > 1
    assert departure(results, by_quadrature(frame, None, 1.0, binary), d) > 1  # the prior dropped


WIDE = table(300, [1.0, -0.8, 0.6, 0.35, -0.25, *[0.0] * 55], seed=5, binary=False)


def gibbs(frame, local, steps=12_000, slab=np.inf, seed=11):
    """Draws of coefficients with priors N(0, v_j), v_j drawn given b by `local(b, v, rng)`; sigma =
    1, a tenth is left out.
    """
    X, y = frame.drop(columns="y").to_numpy(), frame.y.to_numpy()
    rng, XX, Xy, v = np.random.default_rng(seed), X.T @ X, X.T @ y, np.full(X.shape[1], 0.01)
    kept = np.empty((steps, X.shape[1]))
    for t in range(steps):
        L = np.linalg.cholesky(XX + np.diag(1 / v + 1 / slab**2))
        b = np.linalg.solve(L.T, np.linalg.solve(L, Xy) + rng.normal(size=len(v)))
        v = local(b, v, rng)
        kept[t] = b
    return kept[steps // 10 :]


def half_cauchy(scale):
    """Local scales of a horseshoe (Makalic & Schmidt 2016):
    inverse gammas, given an auxiliary one.
    """

    def draw(b, v, rng):
        auxiliary = (1 + scale**2 / v) / rng.exponential(size=len(b))
        return scale**2 * (1 / auxiliary + b**2 / (2 * scale**2)) / rng.exponential(size=len(b))

    return draw


def exponential(scale):
    """Variances of a Laplace law (Park & Casella 2008): inverse Gaussians."""
    return lambda b, v, rng: 1 / rng.wald(1 / (scale * np.abs(b)), 1 / scale**2)


def assert_same_posterior(results, reference, like=True):
    """Means within 0.15 sd and sds within 12 %, for 60 coefficients:
    4 Monte Carlo errors at 1000 effective draws.
    """
    d = reference.shape[1]
    draws = results.draws[..., :d].reshape(-1, d)
    off = np.abs(draws.mean(axis=0) - reference.mean(axis=0)) / reference.std(axis=0)
    ratio = np.abs(draws.std(axis=0) / reference.std(axis=0) - 1)
    assert (off.max() < 0.15 and ratio.max() < 0.12) == like, (off.max(), ratio.max())


def wide(prior, frame=WIDE, **how):
    """`ols` on a wide table, without an intercept and with sigma known."""
    return sgmc.ols("y ~ 0 + .", frame, prior={"*": prior, "sigma": KNOWN}, seed=1, **how)


@pytest.mark.extended
def test_a_wide_horseshoe_is_as_by_gibbs_sampling():
    results = wide(sgmc.horseshoe(scale=0.01, slab=2.0, autoscale=False), draws=3000)
    assert results.rhat().max() < 1.02
    assert_same_posterior(results, gibbs(WIDE, half_cauchy(0.01), slab=2.0))
    assert_same_posterior(results, gibbs(WIDE, half_cauchy(0.03), slab=2.0, steps=4000), like=False)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.ConditionWarning")
def test_more_slopes_than_rows():
    frame = table(80, [2.0, -1.5, 1.5, *[0.0] * 87], seed=6, binary=False)
    results = wide(sgmc.horseshoe(scale=0.01, slab=3.0, autoscale=False), frame, draws=8000)
    assert_same_posterior(results, gibbs(frame, half_cauchy(0.01), slab=3.0))


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_a_wide_laplace_is_as_by_gibbs_sampling():
    # whitening knows little of kinks: a hundredth is effective
    results = wide(sgmc.laplace(0, 0.05), sampler="mala", draws=12_000)
    assert_same_posterior(results, gibbs(WIDE, exponential(0.05)))
    assert_same_posterior(results, gibbs(WIDE, exponential(0.15), steps=4000), like=False)


# whether a draw of a slope lies far out in its tail depends on rounding
@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.TailWarning")
def test_signals_are_kept_and_noise_is_shrunk():
    """Against the default prior, whose means of noise are least squares',
    with an rms of 1/sqrt(N) = 0.058.
    """
    shrunk, plain = wide("horseshoe", draws=1500), wide(sgmc.normal(0, 2.5))
    signal, noise = slice(0, 3), slice(5, 60)
    assert np.abs(shrunk.params.iloc[signal] - [1.0, -0.8, 0.6]).max() < 0.2
    assert (shrunk.params.iloc[noise] ** 2).mean() < 0.1 * (plain.params.iloc[noise] ** 2).mean()


@pytest.mark.parametrize("family", ["ols", "logit"])
def test_the_scale_that_follows_from_the_number_of_nonzero_slopes(family):
    frame = table(400, (0.0, 0.0, 0.0, 0.0), binary=family == "logit")
    used = getattr(sgmc, family)(
        "y ~ .", frame, prior=sgmc.horseshoe(nonzero=1, slab=3), seed=1
    ).priors.used
    # 1/sqrt(p (1 - p)) at p = 1/2, where the search begins
    spread = frame.y.std() if family == "ols" else 2.0
    assert used[2].scale == pytest.approx(
        spread / (3 * frame.x1.std() * np.sqrt(len(frame))), rel=0.02
    )
    assert used[2].slab == pytest.approx(
        3 * (frame.y.std(ddof=0) if family == "ols" else 1) / frame.x1.std(), rel=1e-6
    )


@pytest.mark.extended("sgld")
@pytest.mark.filterwarnings(
    "ignore::sgmc.errors.LowESSWarning",
    "ignore::sgmc.errors.ConvergenceWarning",
    "ignore::sgmc.errors.TailWarning",
)
@pytest.mark.parametrize("sampler", ["sgld", "lmsgld", "laplace"])
def test_samplers_without_accept_reject_are_warned_of(sampler):
    with pytest.warns(ShapeWarning, match="pole at zero"):
        sgmc.logit(
            "y ~ .",
            table(100, (1.0, 0.0)),
            prior=sgmc.horseshoe(),
            sampler=sampler,
            seed=1,
            draws=500,
        )


def test_the_prior_as_printed():
    results = sgmc.logit(
        "y ~ .",
        table(100, (1.0, 0.0, 0.0)),
        prior={"x0": sgmc.normal(0, 1), "*": "horseshoe"},
        seed=1,
        draws=1500,
    )
    assert "horseshoe(nonzero=5, slab=2.5*)" in str(results.summary())
    assert "chosen: a horseshoe" in str(results.summary(details=True))
    assert results.prior_summary().used["x1"].startswith("horseshoe(0.")
    assert str(sgmc.horseshoe(scale=0.01, slab=4, autoscale=False)) == "horseshoe(0.01, slab=4)"


@pytest.mark.parametrize(
    "make, what",
    [
        (lambda: sgmc.horseshoe(nonzero=0), "nonzero=0 must be a positive number"),
        (lambda: sgmc.horseshoe(nonzero="5"), "nonzero='5' must be a positive number"),
        (lambda: sgmc.horseshoe(slab=-1), "slab=-1 must be a positive number"),
        (lambda: sgmc.horseshoe(scale=0), "scale=0 must be a positive number"),
    ],
)
def test_numbers_out_of_range(make, what):
    with pytest.raises(ArgumentError, match=what):
        make()


def test_what_a_horseshoe_is_not_for():
    frame = table(100, (1.0, 0.0))
    with pytest.raises(ArgumentError, match="'Intercept' is none"):
        sgmc.logit("y ~ .", frame, prior={"Intercept": sgmc.horseshoe()}, seed=1)
    with pytest.raises(NotSupported, match="horseshoe"):
        sgmc.logit("y ~ .", frame, prior=sgmc.horseshoe(), cov_type="robust", seed=1)
