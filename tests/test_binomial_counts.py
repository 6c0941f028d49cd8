"""Counts of successes and failures: densities, posteriors on real data, trials apart from frequency
weights, separation.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import sparse, stats

import sgmc
from _ext.probes import Probe, block
from sgmc.core.design import design
from sgmc.errors import SeparationWarning
from sgmc.coordinates.mode import PriorTerms, find_mode
from sgmc.models.regression.prepare import Table
from sgmc.coordinates.sandwich import score_covariance
from sgmc.coordinates.separation import complete_separation, lopsided_columns
from sgmc.coordinates.prior_table import Scales, resolve
from sgmc.models.regression.data import RegressionData

from .families.tables import FAMILIES, FOLDER, LINKS
from .families.test_posteriors import newton


def log_prior(theta, X, prior):
    """The default one of binary models, or none; theta (n, d)."""
    if prior == "flat":
        return np.zeros(len(theta))
    slopes = theta[:, 1:] * X[:, 1:].std(axis=0, ddof=1) / 2.5
    return -0.5 * (slopes**2).sum(axis=1) - 0.5 * ((theta @ X.mean(axis=0)) / 2.5) ** 2


LINK = {
    "logit": LINKS.Logit(),
    "probit": LINKS.Probit(),
    "cloglog": LINKS.CLogLog(),
    "loglog": LINKS.LogLog(),
    "cauchit": LINKS.Cauchy(),
}
ETA = {
    "logit": (-8, 8),
    "probit": (-4, 4),
    "cloglog": (-8, 2.5),
    "loglog": (-2.5, 8),
    "cauchit": (-50, 50),
}

# Collett (1991), p. 75, and Bliss (1935): moths and beetles killed by a poison
BUDWORM = pd.DataFrame(
    {
        "ldose": [0.0, 1, 2, 3, 4, 5] * 2,
        "sex": ["M"] * 6 + ["F"] * 6,
        "dead": [1, 4, 9, 13, 18, 20, 0, 2, 6, 10, 12, 16],
    }
).assign(alive=lambda t: 20 - t.dead)
BEETLES = (
    pd.DataFrame(
        {
            "dose": [1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839],
            "killed": [6, 13, 18, 28, 52, 53, 61, 60],
            "n": [59, 60, 62, 56, 63, 59, 62, 60],
        }
    )
    .assign(spared=lambda t: t.n - t.killed)
    .drop(columns="n")
)


@cache
def data(name):
    """A real table of counts."""
    if name == "womensrole":
        if not FOLDER.is_dir():
            pytest.skip("the R data sets are not here: SGMC_DATA names no folder that has them")
        return pd.read_csv(FOLDER / "HSAUR_womensrole.csv", index_col=0)
    return {
        "star98": lambda: sm.datasets.star98.load_pandas().data,
        "budworm": lambda: BUDWORM,
        "beetles": lambda: BEETLES,
    }[name]()


ROLE, MOTHS = "agree + disagree ~ education * sex", "dead + alive ~ ldose * sex"
STARS = (
    "NABOVE + NBELOW ~ LOWINC + PERASIAN + PERBLACK + PERHISP + PERMINTE + AVYRSEXP + AVSALK + "
    "PERSPENK + PTRATIO + PCTAF + PCTCHRT"
)
CASES = {
    f"{name} {verb}": (name, verb, formula)
    for name, verbs, formula in [
        ("womensrole", LINK, ROLE),
        ("star98", ["logit", "cauchit"], STARS),
        ("budworm", ["logit", "cauchit"], MOTHS),
        ("beetles", LINK, "killed + spared ~ dose"),
    ]
    for verb in verbs
}


def pieces(results, table):
    """(design, successes, trials) of a formula's counts."""
    y = table[results.model.endog_names.split(" + ")].to_numpy(float)
    return results.model.spec.matrix(table), y[:, 0], y.sum(axis=1)


@cache
def fitted(name, prior="default"):
    """Defaults only."""
    table, verb, formula = CASES[name]
    return getattr(sgmc, verb)(
        formula, data(table), seed=1, **({"prior": "flat"} if prior == "flat" else {})
    )


@cache
def reference(name, prior, draws=20_000):
    """Means and sds by importance sampling from a t with 10 degrees of freedom at the mode,
    and the effective size.
    """
    X, y, n = pieces(fitted(name, prior), data(CASES[name][0]))
    link = LINK[CASES[name][1]]

    def log_posterior(theta):
        with np.errstate(divide="ignore"):
            return np.array(
                [stats.binom.logpmf(y, n, link.inverse(X @ t)).sum() for t in theta]
            ) + log_prior(theta, X, prior)

    tried = n > 0
    start = sm.GLM(
        np.column_stack([y, n - y])[tried], X[tried], family=sm.families.Binomial(link)
    ).fit()
    centre, scale = newton(log_posterior, start.params, np.linalg.cholesky(start.cov_params()))
    t = stats.multivariate_t(df=10, shape=np.eye(X.shape[1]), seed=5)
    z = t.rvs(draws).reshape(draws, -1)
    theta = centre + z @ scale.T
    log_weight = log_posterior(theta) - t.logpdf(z)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ theta
    return mean, np.sqrt(weight @ (theta - mean) ** 2), 1 / (weight**2).sum()


def errors(results, name, prior="default"):
    """Largest error of a mean, in posterior sds, and largest relative one of an sd."""
    mean, sd, size = reference(name, prior)
    assert size > 5000  # the reference's own errors: below 0.02 sd and 1.5 %
    return np.abs((results.params - mean) / sd).max(), np.abs(results.bse / sd - 1).max()


# ---- densities and kernels -----------------------------------------------------------------------


@pytest.mark.parametrize("name", LINK)
def test_densities_are_scipys(name):
    eta = np.linspace(*ETA[name], 9)
    for y, n in [(0, 0), (0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (150, 400)]:
        found = (
            FAMILIES[name].of_trials(np.full(9, float(n))).log_density(np.full(9, float(y)), eta)
        )
        np.testing.assert_allclose(
            found, stats.binom.logpmf(y, n, LINK[name].inverse(eta)), rtol=1e-10, atol=1e-10
        )


def counted(name, seed=0, rows=12):
    """(model of shares weighted by trials, model of the same single outcomes, number of these)."""
    random = np.random.default_rng(seed)
    X, n = np.ascontiguousarray(random.normal(size=(rows, 2))), random.integers(1, 9, rows)
    y = random.binomial(n, 0.4)
    single = np.concatenate([np.r_[np.ones(a), np.zeros(b)] for a, b in zip(y, n - y)])
    kernel = FAMILIES[name].kernel
    return (
        kernel(design(X), y / n, None, n * 1.0),
        kernel(design(np.repeat(X, n, axis=0)), single),
        len(single),
    )


@pytest.mark.parametrize("name", LINK)
def test_a_row_of_counts_is_so_many_single_outcomes(name):
    shares, singles, total = counted(name)
    at = np.array([0.7, -1.1])
    for what in ("value", "gradient", "hessian"):
        one, other = (
            getattr(Probe(m), what)(at, block(0, n)) for m, n in ((shares, 12), (singles, total))
        )
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", LINK)
def test_gradient_and_curvature_are_derivatives(name):
    probe, at, rows, step = Probe(counted(name)[0]), np.array([0.7, -1.1]), block(0, 12), 1e-5
    e = step * np.eye(2)
    slope = [(probe.value(at + d, rows) - probe.value(at - d, rows)) / (2 * step) for d in e]
    differences = [
        (probe.gradient(at - d, rows) - probe.gradient(at + d, rows)) / (2 * step) for d in e
    ]
    np.testing.assert_allclose(probe.gradient(at, rows), slope, rtol=1e-6)
    np.testing.assert_allclose(probe.hessian(at, rows), differences, rtol=1e-6)


@pytest.mark.parametrize("eta", [-800.0, 800.0])
@pytest.mark.parametrize("name", LINK)
def test_shares_at_extreme_predictors_have_finite_numbers(name, eta):
    probe = Probe(
        FAMILIES[name].kernel(
            design(np.ones((3, 1))), np.array([0.1, 0.5, 0.9]), None, np.array([10.0, 2, 10])
        )
    )
    for what in (probe.value, probe.gradient, probe.hessian):
        assert np.isfinite(what([eta], block(0, 3))).all()


@pytest.mark.parametrize("eta", [-800.0, -30.0, 30.0, 800.0])
def test_tails_of_the_new_links_are_exact(eta):
    """Against their leading terms: log P of the unlikely outcome."""
    unlikely = float(eta < 0)
    cauchit = FAMILIES["cauchit"].log_density(np.array([unlikely]), np.array([eta]))[0]
    assert cauchit == pytest.approx(np.log(np.arctan(1 / abs(eta)) / np.pi), rel=1e-14)
    loglog = FAMILIES["loglog"].log_density(np.array([unlikely]), np.array([eta]))[0]
    assert loglog == pytest.approx(-np.exp(min(-eta, 700)) if eta < 0 else -eta, rel=1e-12)
    assert loglog == FAMILIES["cloglog"].log_density(np.array([1 - unlikely]), np.array([-eta]))[0]


# ---- posteriors ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
@pytest.mark.parametrize("prior", ["default", "flat"])
@pytest.mark.parametrize("name", CASES)
def test_posteriors_on_real_data_are_right_at_default_settings(name, prior):
    """0.1 sd for means, 5 % for sds: what is promised.

    Moths under cauchit have long tails, of which the fit warns.
    """
    mean, sd = errors(fitted(name, prior), name, prior)
    assert mean < 0.1 and sd < 0.05


MISTAKES = {
    "trials left out": property(lambda table: table.weight),
    "failures instead of trials": property(lambda table: table.trials - table.y),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_planted_mistakes_in_the_weight_of_a_row_are_seen(mistake, monkeypatch):
    monkeypatch.setattr(Table, "multiplicity", MISTAKES[mistake])
    mean, sd = errors(sgmc.logit(MOTHS, BUDWORM, seed=1), "budworm logit")
    assert mean > 0.5 or sd > 0.25


def test_another_link_is_another_posterior():
    """Planted: the complementary log-log's reference, the fit of its mirror image."""
    wrong = sgmc.loglog(ROLE, data("womensrole"), seed=1)
    assert errors(wrong, "womensrole cloglog")[0] > 1


@pytest.mark.parametrize("trials", [1, 10])
def test_the_mode_is_found_where_the_log_likelihood_is_not_concave(trials):
    """Cauchit with large coefficients: Newton's method begins at zero,
    and rows far out bend the other way.
    """
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = np.column_stack([np.ones(20), random.normal(size=(20, 3)) * random.choice([1, 5], 3)])
        model = FAMILIES["cauchit"].kernel(
            design(X),
            random.binomial(trials, LINK["cauchit"].inverse(X @ random.normal(size=4) * 10))
            / trials,
            None,
            np.full(20, trials * 1.0),
        )
        data = RegressionData(np.zeros(20), list("abcd"), {}, 0, "y", X)
        terms = PriorTerms(
            resolve(None, data, FAMILIES["cauchit"], Scales(X.std(axis=0, ddof=1))),
            np.r_[0, X.mean(axis=0)[1:]],
        )
        mode, concerns = find_mode(model, terms, np.zeros(4))
        slope = Probe(model).gradient(mode.theta, block(0, 20)) + terms(mode.theta)[1]
        assert not concerns and np.linalg.eigvalsh(mode.precision).min() > 0
        assert np.sqrt(slope @ np.linalg.solve(mode.precision, slope)) < 1e-3


def test_many_rows_are_fitted_by_minibatches():
    random = np.random.default_rng(2)
    table = pd.DataFrame({"x": random.normal(size=30_000), "n": random.integers(0, 30, 30_000)})
    table["y"] = random.binomial(table.n, 1 / (1 + np.exp(1 - table.x)))
    found = sgmc.logit(
        "y + z ~ x", table.assign(z=table.n - table.y), seed=1, prior="flat", sampler="lmsgld"
    )
    tried = table[table.n > 0]
    expected = sm.GLM(
        np.column_stack([tried.y, tried.n - tried.y]),
        sm.add_constant(tried[["x"]]),
        family=sm.families.Binomial(),
    ).fit()
    assert np.abs((found.params.to_numpy() - expected.params) / expected.bse).max() < 0.1
    assert np.abs(found.bse.to_numpy() / expected.bse - 1).max() < 0.05


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
@pytest.mark.parametrize(
    "how",
    [
        dict(subsample="stratified", batch_size=64),
        dict(subsample="preferential"),
        dict(precondition=None),
        dict(dtype="float32"),
        dict(precondition="diag", subsample="uniform"),
    ],
    ids=str,
)
@pytest.mark.parametrize("storage", [np.ascontiguousarray, sparse.csr_array], ids=["dense", "csr"])
def test_every_way_to_the_rows_has_their_trials(storage, how):
    """Modes and curvatures are those of single outcomes; float32 rounds the design to 1e-7."""
    random = np.random.default_rng(4)
    X, n = np.column_stack([np.ones(400), random.normal(size=(400, 2))]), random.integers(0, 6, 400)
    y = random.binomial(n, 1 / (1 + np.exp(-X @ [0.3, 1, -1])))
    counted = sgmc.Probit(np.column_stack([y, n - y]), storage(X)).fit(
        seed=1, draws=50, prior="flat", **how
    )
    single = np.concatenate([np.r_[np.ones(a), np.zeros(b)] for a, b in zip(y, n - y)])
    expected = sm.Probit(single, np.repeat(X, n, axis=0)).fit(disp=0)
    mode, covariance = at_mode(counted)
    np.testing.assert_allclose(mode, expected.params, atol=1e-5)
    np.testing.assert_allclose(covariance, expected.cov_params(), rtol=1e-4, atol=1e-7)


# ---- trials, frequency weights, robust covariance ------------------------------------------------


def at_mode(results):
    """Mode and curvature's covariance in the user's coefficients: no Monte Carlo error."""
    where, d = results._fit.problem.coordinates, len(results.params)
    return where.theta(where.from_white(np.zeros(d))), results._fit.problem.curvature_covariance


def assert_same_posterior(one, other):
    for a, b in zip(at_mode(one), at_mode(other)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


HOW = dict(seed=1, draws=100, prior={"*": sgmc.normal(0, 2), "Intercept": sgmc.normal(0, 5)})


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_frequency_weights_count_rows_and_trials_do_not():
    twice = pd.concat([BUDWORM, BUDWORM.iloc[:4]], ignore_index=True)
    weighted = sgmc.logit(MOTHS, BUDWORM.assign(w=[2.0] * 4 + [1.0] * 8), weights="w", **HOW)
    repeated = sgmc.logit(MOTHS, twice, **HOW)
    assert_same_posterior(weighted, repeated)
    assert weighted.nobs == repeated.nobs == 16 and fitted("budworm logit").nobs == 12
    np.testing.assert_allclose(
        [weighted.llf - weighted.null_deviance], [repeated.llf - repeated.null_deviance], rtol=0.01
    )


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_rows_without_trials_say_nothing():
    empty = pd.DataFrame({"ldose": [9.0, 0], "sex": ["M", "F"], "dead": 0, "alive": 0})
    more = sgmc.logit(MOTHS, pd.concat([BUDWORM, empty], ignore_index=True), **HOW)
    assert_same_posterior(more, sgmc.logit(MOTHS, BUDWORM, **HOW))
    loo = more.loo()
    assert more.nobs == 14 and (loo.elpd_i[-2:] == 0).all() and (loo.elpd_i[:-2] < 0).all()
    assert (more.resid_response[-2:] == 0).all() and (more.resid_deviance[-2:] == 0).all()
    assert np.isnan(more.resid_pearson[-2:]).all() and np.isfinite(more.resid_pearson[:-2]).all()
    assert np.isfinite(more.pp_check(groups=3)["observed"]).all()


@pytest.mark.parametrize("weight", [None, 3.0])
def test_the_robust_covariance_is_of_rows_with_all_their_trials(weight):
    """HC0 of statsmodels, at its estimate; planted:
    trials taken for frequency weights give another matrix.
    """
    table = data("star98")
    results = sgmc.logit(
        STARS,
        table,
        seed=1,
        prior="flat",
        cov_type="robust",
        weights=None if weight is None else np.full(303, weight),
    )
    X, y, n = pieces(results, table)
    mle = sm.GLM(np.column_stack([y, n - y]), X, family=sm.families.Binomial()).fit(cov_type="HC0")
    expected = mle.cov_params() / (weight or 1)
    where = results._fit.problem.coordinates
    assert np.linalg.norm(where.white @ where.white.T - expected) < 0.01 * np.linalg.norm(expected)
    problem = results._fit.problem
    right, wrong = (
        score_covariance(problem.model, np.zeros(len(X.T)), w)
        for w in (problem.table.weight, problem.table.multiplicity)
    )
    assert np.linalg.norm(right - wrong) > 0.9 * np.linalg.norm(right)


# ---- separation ----------------------------------------------------------------------------------


def grouped(contrary):
    """Two-valued g; all of the failures where it is 1 are `contrary`, spread over rows of many
    successes.
    """
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "g": [1.0] * 4 + [0.0] * 8,
            "x": random.normal(size=12),
            "y": [25, 30, 20, 28, 9, 12, 4, 15, 11, 7, 8, 10],
            "z": [contrary, 0, 0, 0, 10, 9, 12, 5, 9, 14, 8, 13],
        }
    )
    n = (table.y + table.z).to_numpy()
    single = table.loc[np.repeat(table.index, n), ["g", "x"]].assign(
        s=np.concatenate([np.r_[np.ones(a), np.zeros(b)] for a, b in zip(table.y, table.z)])
    )
    return table, single


@pytest.mark.parametrize("contrary", [0, 1, 4, 6])
def test_walls_are_of_trials(contrary):
    table, single = grouped(contrary)
    found = lopsided_columns(
        table[["g", "x"]].to_numpy(), table.y.to_numpy(float), table.z.to_numpy(float)
    )
    assert found == lopsided_columns(
        single[["g", "x"]].to_numpy(), single.s.to_numpy(), 1 - single.s.to_numpy()
    )
    assert [w.contrary for w in found] == ([contrary] if contrary < 5 else [])


def test_a_value_without_trials_is_no_wall():
    X = np.array([[1.0, 0], [0, 1], [0, 2], [0, 3]])
    assert lopsided_columns(X, np.array([0.0, 9, 8, 7]), np.array([0.0, 8, 8, 8])) == []


@pytest.mark.parametrize("contrary", [0, 2])
def test_lopsided_counts_have_the_posterior_of_their_single_outcomes(contrary):
    """To Monte Carlo error: 0.1 sd and 5 %."""
    table, single = grouped(contrary)
    how = dict(seed=1, draws=4000, prior={"*": sgmc.normal(0, 3), "Intercept": sgmc.normal(0, 5)})
    if contrary:
        one = sgmc.logit("y + z ~ g + x", table, **how)
        other = sgmc.logit("s ~ g + x", single, **how)
    else:
        with pytest.warns(SeparationWarning, match="one value of g goes with a single outcome"):
            one = sgmc.logit("y + z ~ g + x", table, **how)
        with pytest.warns(SeparationWarning):
            other = sgmc.logit("s ~ g + x", single, **how)
    assert np.abs((one.params - other.params) / other.bse).max() < 0.1
    assert np.abs(one.bse / other.bse - 1).max() < 0.05


def test_complete_separation_is_of_trials_and_not_of_the_majority_of_a_row():
    with pytest.warns(SeparationWarning, match="completely"):
        sgmc.logit(
            "y + z ~ x",
            pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [0, 0, 5, 9], "z": [8, 6, 0, 0]}),
            seed=1,
        )
    majority = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [1, 1, 5, 9], "z": [8, 6, 1, 2]})
    results = sgmc.logit("y + z ~ x", majority, seed=1)
    assert not [w for w in results.warnings if isinstance(w, SeparationWarning)]
    problem, eta = results._fit.problem, np.array([-1.0, -1, 1, 1])
    assert not complete_separation(
        problem.model, None, None, (majority.y.to_numpy(), majority.z.to_numpy()), 0 * eta
    )
    assert complete_separation(problem.model, None, None, ((eta > 0) * 5.0, (eta < 0) * 5.0), eta)
