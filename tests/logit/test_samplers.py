"""Every sampler and every way of computing has the logit's posterior."""

import numpy as np
import pytest
from scipy import optimize, sparse, special, stats

import sgmc
from sgmc.errors import SpreadWarning
from sgmc.registry import room

from .cases import default_priors, departure, expected, outcomes, table, with_ones

# ---- every sampler -------------------------------------------------------------------------------

ASYMPTOTIC = sorted(
    name
    for name, cls in room("samplers").items()
    if not (cls().distortion or cls.probabilities or cls.direct)
)


DISTORTED = [
    *sorted(name for name, cls in room("samplers").items() if cls().distortion),
    sgmc.ESGBD(noise="batch"),
]


@pytest.fixture(scope="module")
def medium():
    """400 rows and their posterior under the default priors."""
    df = table(400, shift=1.0)
    return df, expected(with_ones(df.x), df.y.to_numpy(), default_priors(df.x), centre=df.x.mean())


# laplace, at 0.07 sd, speaks up before it is wrong
@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.ShapeWarning")
@pytest.mark.parametrize("sampler", ASYMPTOTIC)
def test_every_sampler_at_its_defaults(sampler, medium):
    df, reference = medium
    draws = 10_000 if sampler == "rwm" else 1000  # a random walk forgets ten times as slowly
    assert departure(sgmc.logit("y ~ x", df, sampler=sampler, seed=1, draws=draws), reference) < 1


# sgd, without noise of its own, hardly moves
@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
@pytest.mark.parametrize("sampler", DISTORTED, ids=str)
def test_a_sampler_with_a_spread_of_its_own_says_so_and_has_the_mean(sampler, medium):
    df, (mean, sd) = medium
    with pytest.warns(SpreadWarning, match=getattr(sampler, "name", sampler)):
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


@pytest.mark.cover(0)
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


@pytest.mark.cover(0)
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


@pytest.mark.extended
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


@pytest.mark.extended("{'precondition': 'diag'}", "{'precondition': None}")
@pytest.mark.parametrize(
    "how",
    [dict(), dict(precondition="diag"), dict(precondition=None), dict(sampler="mala")],
    ids=str,
)
def test_sparse_arrays(how, medium):
    df, reference = medium
    X = sparse.csr_array(with_ones(df.x))
    assert departure(sgmc.Logit(df.y, X).fit(seed=3, **how), reference) < 1


@pytest.mark.extended
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
