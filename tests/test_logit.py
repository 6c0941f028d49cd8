"""Posteriors of small logits against quadrature and importance sampling done here,
with numpy and scipy alone.

A fit agrees if every mean is within 0.1 posterior sd and every sd within 5 %, what the package
promises, plus four Monte Carlo standard errors: with some 200 comparisons at fixed seeds, one in
16,000 by chance.  Mistakes planted in the reference must be rejected by the same rule.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse, special, stats

import sgmc
from sgmc.errors import ConditionWarning, DataError, SeparationWarning, ShapeWarning, SpreadWarning
from sgmc.registry import room

FLAT = None


def expected(X, y, priors, weights=1.0, offset=0.0, centre=0.0):
    """Posterior means and sds of a logit with one or two coefficients,
    by quadrature on a grid wide enough to hold it.

    `priors` are scipy distributions (or FLAT) of the coefficients; the first is of theta_0 +
    centre * theta_1.
    """
    X, d = np.asarray(X, dtype=float), np.shape(X)[1]

    def log_posterior(theta):
        eta = theta @ X.T + offset
        seen = theta.copy()
        if d == 2:
            seen[..., 0] += centre * theta[..., 1]
        prior = sum(p.logpdf(seen[..., j]) for j, p in enumerate(priors) if p is not FLAT)
        return (weights * (y * eta - np.logaddexp(0, eta))).sum(axis=-1) + prior

    def margins(low, high, size):
        axes = [np.linspace(a, b, size) for a, b in zip(low, high)]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        density = np.concatenate([log_posterior(part) for part in np.array_split(grid, 20)])
        density = np.exp(density - density.max())
        sums = [density.sum(axis=tuple(k for k in range(d) if k != j)) for j in range(d)]
        return axes, [m / m.sum() for m in sums]

    mode = optimize.minimize(
        lambda t: -log_posterior(t), np.zeros(d), method="Nelder-Mead", options={"maxiter": 2000}
    ).x
    low, high = mode - 1.0, mode + 1.0
    for _ in range(30):  # widen and narrow until the tails are just inside
        axes, weight = margins(low, high, 61)
        held = [np.flatnonzero(m > 1e-9)[[0, -1]] for m in weight]
        if all(a > 0 and b < 60 and b - a > 20 for a, b in held):
            break
        for j, (a, b) in enumerate(held):
            width = axes[j][b] - axes[j][a] + 2 * (axes[j][1] - axes[j][0])
            low[j] = axes[j][a] - (0.5 if a == 0 else 0.05) * width
            high[j] = axes[j][b] + (0.5 if b == 60 else 0.05) * width
    else:
        raise AssertionError("the grid does not hold the posterior")
    axes, weight = margins(low, high, 201)
    mean = np.array([a @ m for a, m in zip(axes, weight)])
    return mean, np.sqrt([(a - t) ** 2 @ m for a, t, m in zip(axes, mean, weight)])


def departure(results, reference):
    """The largest error of a mean or an sd over what is allowed; below 1 is agreement."""
    mean, sd = reference
    error, sd_error = results.mcse().to_numpy(), results.mcse("sd").to_numpy()
    assert (error < 0.05 * sd).all() and (sd_error < 0.03 * sd).all(), (
        "too few draws for the comparison to mean anything"
    )
    return max(
        (np.abs(results.params - mean) / (0.1 * sd + 4 * error)).max(),
        (np.abs(results.bse - sd) / (0.05 * sd + 4 * sd_error)).max(),
    )


def outcomes(eta, seed):
    """Bernoulli outcomes of linear predictors."""
    return (np.random.default_rng(seed).random(len(eta)) < special.expit(eta)).astype(int)


def table(n, truth=(-0.4, 0.9), shift=0.0, seed=0):
    """A frame with columns y and x, x having mean about `shift`."""
    x = np.random.default_rng([seed, n]).normal(shift, 1, n)
    return pd.DataFrame({"y": outcomes(truth[0] + truth[1] * (x - shift), seed), "x": x})


def with_ones(x):
    """The design of an intercept and x."""
    return np.column_stack([np.ones(len(x)), x])


def default_priors(x):
    """Those of the package: N(0, 2.5) for the intercept at the mean of x, N(0, 2.5 / sd(x))
    for the slope.
    """
    return [stats.norm(0, 2.5), stats.norm(0, 2.5 / np.std(x, ddof=1))]


# ---- every sampler -------------------------------------------------------------------------------

ASYMPTOTIC = sorted(
    name for name, cls in room("samplers").items() if not cls.distortion and not cls.probabilities
)
DISTORTED = sorted(name for name, cls in room("samplers").items() if cls.distortion)


@pytest.fixture(scope="module")
def medium():
    """400 rows and their posterior under the default priors."""
    df = table(400, shift=1.0)
    return df, expected(with_ones(df.x), df.y.to_numpy(), default_priors(df.x), centre=df.x.mean())


# laplace, at 0.07 sd, speaks up before it is wrong
@pytest.mark.filterwarnings("ignore::sgmc.errors.ShapeWarning")
@pytest.mark.parametrize("sampler", ASYMPTOTIC)
def test_every_sampler_at_its_defaults(sampler, medium):
    df, reference = medium
    draws = 10_000 if sampler == "rwm" else 1000  # a random walk forgets ten times as slowly
    assert departure(sgmc.logit("y ~ x", df, sampler=sampler, seed=1, draws=draws), reference) < 1


# sgd, without noise of its own, hardly moves
@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
@pytest.mark.parametrize("sampler", DISTORTED)
def test_a_sampler_with_a_spread_of_its_own_says_so_and_has_the_mean(sampler, medium):
    df, (mean, sd) = medium
    with pytest.warns(SpreadWarning, match=sampler):
        results = sgmc.logit("y ~ x", df, sampler=sampler, seed=1)
    assert (np.abs(results.params - mean) < 0.1 * sd + 4 * results.mcse()).all()
    assert departure(results, (mean, sd)) > 1
    assert "[SpreadWarning]" in results.summary().as_text()


@pytest.mark.parametrize(
    "how",
    [
        dict(dtype="float32"),
        dict(precondition=None),
        dict(precondition="diag"),
        dict(precondition="dense"),
        dict(gradient="simple"),
        dict(gradient="cv"),
        dict(gradient="taylor", subsample="uniform"),
        dict(subsample="replacement"),
    ],
    ids=str,
)
def test_ways_of_computing_agree(how, medium):
    df, reference = medium
    assert departure(sgmc.logit("y ~ x", df, sampler="lmsgld", seed=2, **how), reference) < 1


@pytest.mark.parametrize("subsample", ["block", "uniform", "replacement"])
@pytest.mark.parametrize("gradient", ["saga", "svrg"])
def test_control_values_that_follow_the_chain(gradient, subsample, medium):
    df, reference = medium
    assert (
        departure(
            sgmc.logit("y ~ x", df, sampler=f"sgld-{gradient}", subsample=subsample, seed=2),
            reference,
        )
        < 1
    )


@pytest.mark.parametrize("gradient", ["saga", "svrg"])
def test_their_noise_corrects_barker_steps(gradient, medium):
    df, reference = medium
    model = sgmc.Logit(df.y, sparse.csr_array(with_ones(df.x)))
    assert (
        departure(
            model.fit(gradient=gradient, sampler="csgbd", precondition="diag", seed=3), reference
        )
        < 1
    )


@pytest.fixture(scope="module")
def fair():
    """Survey data with nine coefficients, and their posterior by an exact sampler."""
    df = sgmc.datasets.load("fair")
    return df, sgmc.logit("affairs > 0 ~ .", df, sampler="mala", seed=1, draws=8000)


@pytest.mark.parametrize("subsample", ["block", "uniform", "replacement"])
@pytest.mark.parametrize("sampler", ["sgld", "lmsgld"])
@pytest.mark.parametrize("gradient", ["saga", "svrg"])
def test_a_survey_with_control_values_that_follow_the_chain(gradient, sampler, subsample, fair):
    df, exact = fair
    results = sgmc.logit(
        "affairs > 0 ~ .",
        df,
        sampler=f"{sampler}-{gradient}",
        subsample=subsample,
        seed=2,
        draws=4000,
    )
    assert (np.abs(results.params - exact.params) < 0.1 * exact.bse).all()
    assert (np.abs(results.bse / exact.bse - 1) < 0.06).all()
    assert dict(results.header[0])["Sampler"] == f"{sampler}-{gradient}" and results.warnings == []


@pytest.mark.parametrize(
    "how",
    [dict(), dict(precondition="diag"), dict(precondition=None), dict(sampler="mala")],
    ids=str,
)
def test_sparse_arrays(how, medium):
    df, reference = medium
    X = sparse.csr_array(with_ones(df.x))
    assert departure(sgmc.Logit(df.y, X).fit(seed=3, **how), reference) < 1


def test_many_rows_against_importance_sampling():
    rng = np.random.default_rng(5)
    n, truth = 8000, np.array([-1.0, 0.5, -0.5, 1.0])
    X = with_ones(rng.normal(size=(n, 3)) @ [[1, 0.7, 0], [0, 1, 0], [0, 0, 1]])
    y = outcomes(X @ truth, 6)
    results = sgmc.Logit(y, X).fit(
        seed=1, prior={"*": sgmc.normal(0, 1), "const": sgmc.normal(0, 1)}
    )
    assert results.sampler.name == "lmsgld"

    def log_posterior(theta):
        eta = theta @ X.T
        return (y * eta - np.logaddexp(0, eta)).sum(axis=-1) - 0.5 * (theta**2).sum(axis=-1)

    mode = optimize.minimize(lambda t: -log_posterior(t), truth, method="BFGS").x
    p = special.expit(X @ mode)
    law = stats.multivariate_t(
        mode, np.linalg.inv((X.T * (p * (1 - p))) @ X + np.eye(4)), df=20, seed=7
    )
    theta = law.rvs(4000)
    log_weight = np.concatenate([log_posterior(t) for t in np.array_split(theta, 40)]) - law.logpdf(
        theta
    )
    weight = special.softmax(log_weight)
    # of 4000: errors of 2 % of an sd, well inside the allowance
    assert 1 / (weight**2).sum() > 3000
    mean = weight @ theta
    assert departure(results, (mean, np.sqrt(weight @ (theta - mean) ** 2))) < 1


# ---- priors --------------------------------------------------------------------------------------

PRIORS = {
    "normal": (sgmc.normal(1, 0.4), stats.norm(1, 0.4)),
    "student_t": (sgmc.student_t(4, 1, 0.3), stats.t(4, 1, 0.3)),
    "laplace": (sgmc.laplace(0, 0.2), stats.laplace(0, 0.2)),
    "cauchy": (sgmc.cauchy(0, 0.2), stats.cauchy(0, 0.2)),
    "flat": (sgmc.flat(), FLAT),
}


@pytest.mark.parametrize("name", PRIORS)
def test_priors_of_one_coefficient(name):
    df, (ours, theirs) = table(60, (0.0, 0.5)), PRIORS[name]
    results = sgmc.logit("y ~ 0 + x", df, prior=ours, draws=4000, seed=1)
    assert departure(results, expected(df[["x"]], df.y.to_numpy(), [theirs])) < 1
    if theirs is not FLAT:  # a mistake: the prior forgotten
        assert departure(results, expected(df[["x"]], df.y.to_numpy(), [FLAT])) > 1


@pytest.mark.parametrize("name", PRIORS)
def test_priors_of_slope_and_intercept(name):
    df, (ours, theirs) = table(60, (0.3, 0.5), shift=2.0), PRIORS[name]
    X, y = with_ones(df.x), df.y.to_numpy()
    results = sgmc.logit("y ~ x", df, prior=ours, draws=4000, seed=1)
    # one prior is for the slopes; flat for all
    intercept = FLAT if name == "flat" else stats.norm(0, 2.5)
    assert departure(results, expected(X, y, [intercept, theirs], centre=df.x.mean())) < 1
    if theirs is not FLAT:
        assert departure(results, expected(X, y, [intercept, FLAT], centre=df.x.mean())) > 1


@pytest.mark.parametrize("name", ["laplace", "cauchy"])
def test_the_laplace_approximation_under_a_sharp_prior_is_warned_of(name):
    with pytest.warns(ShapeWarning, match="mala"):
        sgmc.logit(
            "y ~ 0 + x", table(60, (0.0, 0.5)), prior=PRIORS[name][0], sampler="laplace", seed=1
        )


@pytest.mark.filterwarnings("ignore::sgmc.errors.ShapeWarning")
@pytest.mark.parametrize("sampler", ["sgld", "lmsgld", "vsgbd", "csgbd"])
@pytest.mark.parametrize("name", ["laplace", "cauchy"])
def test_unadjusted_steps_under_a_sharp_prior_are_right_or_warned_of(name, sampler):
    df, (ours, theirs) = table(60, (0.0, 0.5)), PRIORS[name]
    results = sgmc.logit("y ~ 0 + x", df, prior=ours, sampler=sampler, draws=4000, seed=1)
    right = departure(results, expected(df[["x"]], df.y.to_numpy(), [theirs])) < 1
    assert right or any(isinstance(w, ShapeWarning) for w in results.warnings)


def test_auto_under_a_sharp_prior_with_heavy_tails():
    df, (ours, theirs) = table(60, (0.0, 0.5)), PRIORS["cauchy"]
    results = sgmc.logit("y ~ 0 + x", df, prior=ours, chains=16, seed=1)
    mean, sd = expected(df[["x"]], df.y.to_numpy(), [theirs])
    # of 16 chains the Monte Carlo error is 2 %
    assert abs(results.bse.iloc[0] / sd[0] - 1) < 0.05 or results.warnings


def test_intercept_prior_by_name_is_the_formulas_intercept():
    df = table(60, (0.5, 0.5), shift=2.0)
    X, y, priors = with_ones(df.x), df.y.to_numpy(), [stats.norm(1.5, 0.3), stats.norm(0, 1)]
    given, centred = expected(X, y, priors), expected(X, y, priors, centre=df.x.mean())
    prior = {"Intercept": sgmc.normal(1.5, 0.3), "x": sgmc.normal(0, 1)}
    results = sgmc.logit("y ~ x", df, prior=prior, draws=2000, seed=1)
    assert departure(results, given) < 1 < departure(results, centred)


def test_default_intercept_prior_is_at_centred_predictors():
    df = table(60, (0.5, 0.5), shift=5.0)
    X, y, priors = with_ones(df.x), df.y.to_numpy(), [stats.norm(0, 2.5), stats.norm(0, 0.5)]
    results = sgmc.logit("y ~ x", df, prior={"x": sgmc.normal(0, 0.5)}, draws=2000, seed=1)
    assert (
        departure(results, expected(X, y, priors, centre=df.x.mean()))
        < 1
        < departure(results, expected(X, y, priors))
    )


def test_prior_by_term_and_by_column():
    df = table(80).assign(g=lambda t: np.where(t.x > 0.2, "b", "a"))
    X, y = np.column_stack([df.g == "a", df.g == "b"]), df.y.to_numpy()
    cases = {
        "g": [stats.norm(1, 0.3)] * 2,
        "g[a]": [stats.norm(1, 0.3), stats.norm(0, 2)],
        "*": [stats.norm(1, 0.3)] * 2,
    }
    references = {}
    for key, priors in cases.items():
        prior = {"*": sgmc.normal(0, 2), key: sgmc.normal(1, 0.3)}
        results = sgmc.logit("y ~ 0 + g", df, prior=prior, draws=2000, seed=1)
        references[key] = expected(X, y, priors)
        assert departure(results, references[key]) < 1
    assert departure(results, references["g[a]"]) > 1


def test_autoscale_divides_by_the_sd_of_the_predictor():
    df = table(60, (0.3, 0.5)).assign(x=lambda t: 100 * t.x)
    X, y, scale = with_ones(df.x), df.y.to_numpy(), 0.4 / df.x.std()
    results = sgmc.logit("y ~ x", df, prior=sgmc.normal(0, 0.4, autoscale=True), draws=2000, seed=1)
    assert (
        departure(
            results, expected(X, y, [stats.norm(0, 2.5), stats.norm(0, scale)], centre=df.x.mean())
        )
        < 1
    )
    assert (
        departure(
            results, expected(X, y, [stats.norm(0, 2.5), stats.norm(0, 0.4)], centre=df.x.mean())
        )
        > 1
    )


# ---- weights and offset --------------------------------------------------------------------------

OWN = {"Intercept": sgmc.normal(0, 2), "x": sgmc.normal(0, 2)}
THEIRS = [stats.norm(0, 2), stats.norm(0, 2)]


@pytest.mark.parametrize("sampler", ["auto", "lmsgld", "sgld"])
def test_weights_are_repeated_rows(sampler):
    df = table(120).assign(w=lambda t: 1 + 4 * t.y)
    X, y = with_ones(df.x), df.y.to_numpy()
    many = np.repeat(np.arange(len(df)), df.w)
    reference, ignored = expected(X[many], y[many], THEIRS), expected(X, y, THEIRS)
    results = sgmc.logit("y ~ x", df, weights="w", prior=OWN, sampler=sampler, seed=1)
    repeated = sgmc.logit("y ~ x", df.iloc[many].reset_index(), prior=OWN, sampler=sampler, seed=1)
    assert departure(results, reference) < 1 < departure(results, ignored)
    assert departure(repeated, reference) < 1


def test_weight_zero_leaves_rows_out():
    df = table(120).assign(w=lambda t: (np.arange(len(t)) % 3 > 0).astype(float))
    some = df[df.w > 0]
    reference = expected(with_ones(some.x), some.y.to_numpy(), THEIRS)
    assert (
        departure(sgmc.logit("y ~ x", df, weights="w", prior=OWN, draws=2000, seed=1), reference)
        < 1
    )


@pytest.mark.parametrize("sampler", ["auto", "lmsgld", "sgld"])
def test_offset(sampler):
    df = table(120, (-1.0, 0.9)).assign(o=lambda t: np.where(t.index % 2, 2.0, -1.0))
    df["y"] = outcomes(-0.4 + 0.9 * df.x + df.o, 8)
    X, y = with_ones(df.x), df.y.to_numpy()
    results = sgmc.logit("y ~ x", df, offset="o", prior=OWN, sampler=sampler, seed=1)
    assert (
        departure(results, expected(X, y, THEIRS, offset=df.o.to_numpy()))
        < 1
        < departure(results, expected(X, y, THEIRS))
    )
    arrays = sgmc.Logit(y, X, offset=df.o, names=["Intercept", "x"]).fit(
        prior=OWN, sampler=sampler, seed=1
    )
    np.testing.assert_allclose(arrays.params, results.params, rtol=1e-10)


# ---- lopsided and separated outcomes -------------------------------------------------------------


def lopsided(contrary, rows, n=300):
    """A dummy that is 1 in `rows` rows, `contrary` of which have the rarer outcome 1."""
    d = np.repeat([1, 0], [rows, n - rows])
    y = np.concatenate([np.arange(rows) < contrary, np.arange(n - rows) % 5 < 2]).astype(int)
    return pd.DataFrame({"y": y, "d": d}).sample(frac=1, random_state=1, ignore_index=True)


@cache
def lopsided_reference(contrary, rows):
    """Posterior of `lopsided` under the default priors."""
    df = lopsided(contrary, rows)
    return expected(with_ones(df.d), df.y.to_numpy(), default_priors(df.d), centre=df.d.mean())


@pytest.mark.parametrize("sampler", ["auto", "mala", "lmsgld", "sgld", "vsgbd"])
@pytest.mark.parametrize("contrary, rows", [(0, 7), (1, 12), (3, 40)])
def test_few_or_no_contrary_outcomes(contrary, rows, sampler):
    df = lopsided(contrary, rows)
    if contrary:
        results = sgmc.logit("y ~ d", df, sampler=sampler, draws=2000, seed=1)
    else:
        with pytest.warns(SeparationWarning, match="^one value of d goes with a single outcome"):
            results = sgmc.logit("y ~ d", df, sampler=sampler, draws=2000, seed=1)
        assert "[SeparationWarning]" in results.summary().as_text()
    assert departure(results, lopsided_reference(contrary, rows)) < 1


def test_laplace_says_where_it_is_wrong():
    df = lopsided(1, 12)
    with pytest.warns(ShapeWarning, match="mala"):
        results = sgmc.logit("y ~ d", df, sampler="laplace", seed=1)
    assert departure(results, lopsided_reference(1, 12)) > 1


@pytest.mark.parametrize("gap", [1.0, 0.0])  # with 0 the mode itself does not classify every row
def test_complete_separation(gap):
    df = table(60, seed=3).assign(y=lambda t: (t.x > 0.1).astype(int))
    df["x"] += gap * df.y
    reference = expected(with_ones(df.x), df.y.to_numpy(), default_priors(df.x), centre=df.x.mean())
    with pytest.warns(SeparationWarning, match="completely"):
        results = sgmc.logit("y ~ x", df, draws=2000, seed=1)
    assert departure(results, reference) < 1


def test_collinear_columns():
    df = table(200).assign(twice=lambda t: 2 * t.x)
    with pytest.warns(ConditionWarning, match="x, twice|twice, x"):
        results = sgmc.logit("y ~ x + twice", df, prior=sgmc.normal(0, 1), seed=1)
    # a priori N(0, 5); the likelihood sees it alone
    sum_of_both = results.draws[..., 1] + 2 * results.draws[..., 2]
    mean, sd = expected(
        with_ones(df.x),
        df.y.to_numpy(),
        [stats.norm(0, 2.5), stats.norm(0, 5**0.5)],
        centre=df.x.mean(),
    )
    assert abs(sum_of_both.mean() - mean[1]) < 0.1 * sd[1]
    assert abs(sum_of_both.std() / sd[1] - 1) < 0.05
    other = 2 * results.draws[..., 1] - results.draws[..., 2]  # the prior alone: N(0, 5)
    assert abs(other.mean()) < 0.1 * 5**0.5 and abs(other.std() / 5**0.5 - 1) < 0.05


@pytest.mark.parametrize("formula", ["y ~ x + twice", "y ~ x + ones"])
def test_flat_priors_of_collinear_columns_are_improper(formula):
    df = table(200).assign(twice=lambda t: 2 * t.x, ones=1.0)
    with pytest.raises(DataError, match="improper"):
        sgmc.logit(formula, df, prior="flat", seed=1)
