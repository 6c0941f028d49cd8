"""Linear regression: posteriors with a closed form, scales of the outcomes, more coefficients than
rows.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import integrate, special, stats

import sgmc
from sgmc.coordinates.approximations.mode import PriorTerms, posterior_mode
from sgmc.models.regression.families.ols import GaussianIdentity, OlsFamily


def simulated(n, d, seed=0, scale=3.0):
    """A table with d standard normal predictors and coefficients."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    return frame.assign(y=X @ random.normal(size=d) + scale * random.normal(size=n))


TABLES = {
    "stackloss": lambda: sm.datasets.stackloss.load_pandas().data.rename(
        columns={"STACKLOSS": "y"}
    ),
    # condition number 5e9
    "longley": lambda: sm.datasets.longley.load_pandas().data.rename(columns={"TOTEMP": "y"}),
    "half as many columns as rows": lambda: simulated(100, 50),
    "a tenth": lambda: simulated(1000, 100),
    "many rows": lambda: simulated(60_000, 4),
}


@cache
def fitted(name):
    """Flat priors, all else by default."""
    return sgmc.ols("y ~ .", TABLES[name](), seed=1, prior="flat")


def closed_form(results, frame):
    """Means and sds of the coefficients and sigma under flat priors: sigma^2 ~ inverse gamma((n -
    d - 1)/2, SSR/2), beta | sigma normal.
    """
    X, y = results.model.spec.matrix(frame), frame.y.to_numpy(float)
    # longley: the inverse is of this one
    shifted = X - np.where(np.arange(X.shape[1]) > 0, X.mean(axis=0), 0.0)
    coefficients = np.linalg.lstsq(shifted, y, rcond=None)[0]
    ssr, shape = ((y - shifted @ coefficients) ** 2).sum(), (len(X) - X.shape[1] - 1) / 2
    variance = stats.invgamma(shape, scale=ssr / 2)
    sigma = np.sqrt(ssr / 2) * np.exp(special.gammaln(shape - 0.5) - special.gammaln(shape))
    unit = np.linalg.inv(shifted.T @ shifted)
    back = np.eye(X.shape[1])
    back[0, 1:] = -X.mean(axis=0)[1:]
    sd = np.sqrt(np.diag(back @ unit @ back.T) * variance.mean())
    return np.append(back @ coefficients, sigma), np.append(sd, np.sqrt(variance.mean() - sigma**2))


@pytest.mark.extended("half as many columns as rows", "a tenth", "many rows")
@pytest.mark.parametrize("name", TABLES)
def test_posteriors_are_those_of_the_closed_form(name):
    """0.1 sd for means, 5 % for sds, which is what is promised; longley's sds have 9 degrees of
    freedom and tails of that order.
    """
    results = fitted(name)
    mean, sd = closed_form(results, TABLES[name]())
    assert results.names[-1] == "sigma"
    assert np.abs((results.params - mean) / sd).max() < 0.1
    assert np.abs(results.bse / sd - 1).max() < (0.08 if name == "longley" else 0.05)


def test_the_mode_of_sigma_is_the_marginal_one():
    """Under flat priors u = log sigma has the density exp(-(n - d - 1) u - SSR / 2 exp(-2
    u)); planted: the joint mode, SSR / (n - 1).
    """
    problem = fitted("half as many columns as rows")._fit.problem
    sds = np.sqrt(2 * (100 - 51 - 1))  # 1 / sd(u)
    frame = TABLES["half as many columns as rows"]()
    ssr = sm.OLS.from_formula("y ~ " + " + ".join(frame.columns.drop("y")), frame).fit().ssr
    marginal = 0.5 * np.log(ssr / (100 - 51 - 1))
    joint = posterior_mode(
        problem.model, PriorTerms(problem.priors, np.zeros(51)), problem.mode.theta
    )
    assert abs(problem.mode.theta[-1] - marginal) * sds < 1e-3
    assert abs(joint[0].theta[-1] - 0.5 * np.log(ssr / 99)) * sds < 1e-3
    assert abs(joint[0].theta[-1] - marginal) * sds > 3


def test_the_unit_of_the_outcome_does_not_matter():
    """Whitened directions may change their signs by rounding, so draws do;
    means agree within 0.1 sd.
    """
    frame = simulated(300, 3)
    one = sgmc.ols("y ~ .", frame, seed=1)
    for unit in (1e-8, 1e8):
        other = sgmc.ols("y ~ .", frame.assign(y=frame.y * unit), seed=1)
        assert other.sampler == one.sampler
        assert other.step_size == pytest.approx(one.step_size, rel=1e-5)
        assert (np.abs(other.params / unit - one.params) < 0.1 * one.bse).all()


def test_default_priors_are_rstanarms():
    frame = simulated(200, 2)
    used, spec = sgmc.ols("y ~ .", frame, seed=1).prior_summary(), frame.describe().loc
    sd = spec["std"]
    rule = np.sqrt(np.mean((frame.y - frame.y.mean()) ** 2))
    assert used.used["x0"] == f"normal(0, {2.5 * rule / sd.x0:.4g})"
    assert used.used["sigma"] == f"exponential(scale={rule:.4g})"
    assert used.used["Intercept"] == f"normal({frame.y.mean():.4g}, {2.5 * rule:.4g})"
    assert list(used.specified) == [
        f"normal({frame.y.mean():.4g}, 2.5*)",
        "normal(0, 2.5*)",
        "normal(0, 2.5*)",
        "exponential(1*)",
    ]


@cache
def marginal(prior_scale=2.5):
    """Mean and sd of sigma, and of x0's coefficient, for 10 rows and 20 predictors,
    by quadrature over log sigma.
    """
    frame = simulated(10, 20)
    X, y = frame.drop(columns="y").to_numpy(), frame.y.to_numpy()
    unit = np.sqrt(np.mean((y - y.mean()) ** 2))
    centred = X - X.mean(axis=0)
    prior = np.append(2.5 * unit, prior_scale * unit / X.std(axis=0, ddof=1)) ** 2
    Z, centre = np.column_stack([np.ones(10), centred]), np.append(y.mean(), np.zeros(20))
    spread = (Z * prior) @ Z.T

    def at(u):
        """Log density of u, and moments of x0's coefficient given it."""
        V = spread + np.exp(2 * u) * np.eye(10)
        gain = np.linalg.solve(V, Z * prior)
        mean, e = centre + gain.T @ (y - Z @ centre), y - Z @ centre
        value = -0.5 * (np.linalg.slogdet(V)[1] + e @ np.linalg.solve(V, e)) - np.exp(u) / unit + u
        return value, mean[1], prior[1] - prior[1] * (Z[:, 1] @ gain[:, 1])

    u = np.linspace(np.log(unit) - 14, np.log(unit) + 5, 2001)
    value, mean, variance = (np.array(c) for c in zip(*map(at, u)))
    w = np.exp(value - value.max())
    w /= integrate.trapezoid(w, u)

    def expect(f):
        return integrate.trapezoid(f * w, u)

    sigma, coefficient = expect(np.exp(u)), expect(mean)
    return (sigma, np.sqrt(expect(np.exp(2 * u)) - sigma**2)), (
        coefficient,
        np.sqrt(expect(variance + mean**2) - coefficient**2),
    )


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.DivergentTransitionsWarning")  # 8 of 80,000
def test_more_predictors_than_rows():
    """There the joint mode of coefficients and sigma is at sigma = 0; 0.1 sd and 5 % with 8,000
    draws of R-hat 1.00.
    """
    with pytest.warns(sgmc.SGMCWarning, match="the data do not determine"):
        results = sgmc.ols("y ~ .", simulated(10, 20), seed=1, draws=4000)
    for name, (mean, sd) in zip(("sigma", "x0"), marginal()):
        assert abs(results.params[name] - mean) < 0.1 * sd
        assert abs(results.bse[name] / sd - 1) < 0.05
    (wrong, _), (_, sd) = marginal(5.0)[0], marginal()[0]
    assert abs(results.params["sigma"] - wrong) > 0.1 * sd, "planted: a prior twice as wide"


@pytest.mark.extended
@pytest.mark.parametrize("sampler", ["sgld", "vsgbd", "sghmc", "mala", "hmc", "mmala", "csgld"])
def test_every_kind_of_sampler_takes_it(sampler):
    """Moments of a posterior of 5 parameters within 0.15 sd and 10 %: step errors of defaults are
    below 2 %, Monte Carlo 0.05 sd.
    """
    frame = simulated(2000, 3, seed=4)
    results = sgmc.ols("y ~ .", frame, seed=1, prior="flat", sampler=sampler, draws=2000)
    reference = sgmc.ols("y ~ .", frame, seed=2, prior="flat")
    mean, sd = closed_form(reference, frame)
    assert np.abs((results.params - mean) / sd).max() < 0.15
    assert np.abs(results.bse / sd - 1).max() < 0.1


def test_exact_fits_are_warned_of():
    frame = simulated(50, 2)
    with pytest.warns(sgmc.SGMCWarning, match="the predictors fit the outcomes exactly"):
        results = sgmc.ols("y ~ x0 + x1", frame.assign(y=1 + 2 * frame.x0), seed=1)
    assert np.abs(results.params - [1, 2, 0, 0]).max() < 1e-4 and results.params["sigma"] < 1e-5


def test_statsmodels_members():
    frame = simulated(400, 2)
    results = sgmc.ols("y ~ .", frame, seed=1, prior="flat")
    theirs = sm.OLS.from_formula("y ~ x0 + x1", frame).fit()
    assert (results.df_model, results.df_resid, results.nobs) == (
        theirs.df_model,
        theirs.df_resid,
        theirs.nobs,
    )
    assert results.llf == pytest.approx(theirs.llf, abs=0.05)
    assert results.deviance == pytest.approx(theirs.ssr, rel=1e-3)
    assert results.null_deviance == pytest.approx(theirs.centered_tss, rel=1e-10)
    np.testing.assert_allclose(results.resid_response, theirs.resid, atol=0.02)
    np.testing.assert_allclose(results.resid_pearson, theirs.resid_pearson, atol=0.05)
    mine = results.get_prediction(frame.head()).summary_frame()
    other = theirs.get_prediction(frame.head()).summary_frame()
    np.testing.assert_allclose(
        mine.obs_ci_upper - mine.obs_ci_lower, other.obs_ci_upper - other.obs_ci_lower, rtol=0.1
    )
    assert results.model.exog_names == ["Intercept", "x0", "x1"] and len(results.names) == 4


def test_robust_standard_errors_are_hc0():
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"x": random.normal(size=4000)})
    frame["y"] = 1 + frame.x + np.exp(0.7 * frame.x) * random.normal(size=4000)
    results = sgmc.ols("y ~ x", frame, seed=1, cov_type="robust")
    theirs = sm.OLS.from_formula("y ~ x", frame).fit(cov_type="HC0")
    np.testing.assert_allclose(results.bse[:2], theirs.bse, rtol=0.05)
    assert (
        results.bse[:2] / np.sqrt(np.diag(results.cov_params(cov_type="nonrobust")))[:2]
    ).max() > 1.3


def test_the_kernel_is_the_density():
    assert OlsFamily.kernel is GaussianIdentity
    y, eta = np.array([[1.3], [-2.0]]), np.array([[0.4, 1.0], [0.2, -0.7]])
    np.testing.assert_allclose(
        OlsFamily.log_density(y, eta, np.array([[0.7, 2.0]])),
        stats.norm.logpdf(y, eta, [[0.7, 2.0]]),
        rtol=1e-12,
    )
