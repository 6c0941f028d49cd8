"""The covariance of a batch's gradient estimate, and the samplers that take it off."""

import numpy as np
import pytest
from _ext.probes import Scripted
from _ext.toys import GaussianLocation

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.covariance import evaluate_covariance
from sgmc.core.engine import Chain, evaluate
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import Uniform

from .cases import (
    GRADIENTS,
    SCHEMES,
    estimator,
    from_here,
    law,
    make_map,
    normal_prior,
    regression,
    stream,
    table,
)
from .montecarlo import LIMIT, distance, standard_errors

N, M, D = 6, 3, 3
AT, CENTRE = np.array([0.8, -1.1, 0.6]), np.array([0.1, 0.2, -0.3])
MODELS = {
    "logit": lambda: regression("logit", table(N, D)),
    "location": lambda: GaussianLocation(np.random.default_rng(1).normal(size=(N, D)), 0.7),
    "no scores": lambda: sgmc.TiedMeans(np.random.default_rng(2).normal(size=N)).kernel(),
}


def made(name, model, map, draws):
    """An estimator of one of the models whose batches are the draws."""
    model = MODELS[model]()
    d = model.dim
    return estimator(
        GRADIENTS[name],
        model,
        Scripted(N, draws),
        stream(0),
        prior=normal_prior(d, 2.0, 0.5),
        map=make_map(map, d),
        centre=CENTRE[:d],
    )


COMBINATIONS = [
    (name, model, map)
    for name in ("simple", "cv", "taylor", "saga")
    for model in MODELS
    for map in ("none", "affine", "positive")
    if name != "taylor" or model != "no scores"
]


@pytest.mark.cover
@pytest.mark.parametrize("name, model, map", COMBINATIONS)
@pytest.mark.parametrize("scheme", ["uniform", "replacement", "preferential"])
def test_the_covariance_of_a_batch_is_unbiased_and_its_diagonal_the_variances(
    scheme, name, model, map
):
    """Its average over all draws is the covariance of their estimates, to rounding; estimate and
    variances are those of `Gradient.estimate` from the same batch.
    """
    draws, p, _ = law(SCHEMES[scheme], N, M)
    gradient = made(name, model, map, draws)
    at, rng = AT[: gradient.dim], stream(0)
    found = from_here(gradient, draws, lambda: evaluate_covariance(gradient, at, rng))
    plain = from_here(gradient, draws, lambda: evaluate(gradient, at, rng, map != "affine"))
    for (g, C), (other, sd) in zip(found, plain):
        np.testing.assert_allclose(g, other, rtol=1e-9, atol=1e-9)
        if sd is not None:
            np.testing.assert_allclose(np.diag(C), sd**2, rtol=1e-8, atol=1e-9)
    estimates = np.array([g for g, _ in found])
    e = estimates - p @ estimates
    expected = np.einsum("b,bi,bj->ij", p, e, e)
    average = np.einsum("b,bij->ij", p, np.array([C for _, C in found]))
    np.testing.assert_allclose(average, expected, rtol=1e-7, atol=1e-12)


# ---- laws with correlated noise ------------------------------------------------------------------

ROWS, BATCH, H = 400, 20, 0.4
NOISE = np.array([[2.0, 1.8], [1.8, 2.0]])


def chain(spec, step, steps, seed=1, thin=4):
    """Positions of a chain under N(0, I) with gradient noise of covariance NOISE."""
    y = np.random.default_rng(5).normal(size=(ROWS, 2))
    y -= y.mean(axis=0)
    y = np.linalg.solve(np.linalg.cholesky(np.cov(y.T)), y.T).T
    y = y @ np.linalg.cholesky(NOISE * BATCH / (1 - BATCH / ROWS)).T
    gradient = Simple(GaussianLocation(y, 1 / ROWS), Prior(2), Uniform(ROWS, BATCH), stream(seed))
    made = Chain(np.zeros(2), spec.build(2, step), gradient, stream(seed + 1), Constant(step))
    made.run(5000, False)
    made.recorder = FullRecorder(steps // thin, 2, thin)
    made.run(steps)
    return np.asarray(made.recorder.draws)


def stationary(injected):
    """Of x <- (1 - h/2) x + N(0, injected + h^2/4 NOISE)."""
    return (injected + H**2 / 4 * NOISE) / (H * (1 - H / 4))


ROOT = np.sqrt(H) * (np.eye(2) - H / 2 * NOISE)
INJECTED = {"csgld": H * np.eye(2) - H**2 / 4 * NOISE, "msgld": ROOT @ ROOT}


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", INJECTED)
def test_the_whole_covariance_is_taken_off(name):
    """The stationary covariance in closed form, within 5 Monte Carlo errors of 400,000 steps; the
    running mean of C with beta = 0.002 is off by a few per cent, which csgld averages out and msgld
    squares: 1 % of a variance as slack.
    """
    spec = getattr(sgmc, name.upper())(covariance="full", beta=0.002)
    draws = chain(spec, H, 400_000)
    expected = stationary(INJECTED[name])
    products = np.column_stack([draws**2, draws[:, 0] * draws[:, 1]])
    moments = [expected[0, 0], expected[1, 1], expected[0, 1]]
    assert standard_errors(products, moments, 0.01).max() < LIMIT


@pytest.mark.mistake("variances alone")
@pytest.mark.parametrize("name", INJECTED)
def test_variances_alone_leave_the_correlation(name):
    draws = chain(getattr(sgmc, name.upper())(beta=0.002), H, 400_000)
    expected = stationary(INJECTED[name])
    products = np.column_stack([draws**2, draws[:, 0] * draws[:, 1]])
    moments = [expected[0, 0], expected[1, 1], expected[0, 1]]
    assert standard_errors(products, moments, 0.01).max() > LIMIT


def test_noise_beyond_what_can_be_taken_off_leaves_no_injected_noise():
    """At h = 3 msgld leaves 1 - h lambda / 2 < 0 of the sd where lambda is 3.8, and 0.7 where it is
    0.2: the first direction has the gradient's noise alone.
    """
    draws = chain(sgmc.MSGLD(covariance="full", beta=0.002), 3.0, 100_000)
    along = draws @ np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    values = np.array([3.8, 0.2])
    injected = 3.0 * np.maximum(1 - 3.0 / 2 * values, 0) ** 2
    expected = (injected + 9 / 4 * values) / (3.0 * (1 - 3.0 / 4))
    assert standard_errors(along**2, expected, 0.02 * expected).max() < LIMIT


@pytest.mark.parametrize("corrected", ["full", True])
def test_a_recipe_takes_off_the_whole_covariance(corrected):
    """Langevin dynamics, whose law is then that of the step alone, 1 / (1 - h/4); with variances
    alone the correlation stays.
    """
    draws = chain(sgmc.Recipe(corrected=corrected), H, 100_000, thin=2)
    caught = distance(draws, np.zeros(2), np.eye(2) / (1 - H / 4)) > LIMIT
    assert caught == (corrected is True)


def test_a_momentum_is_cleared_of_correlated_noise_too():
    """Recipe of SGHMC in blocks: the covariance of theta is that without noise to 6 %, and
    correlated with variances alone.
    """
    d = 2
    curl = np.kron([[0, -1], [1, 0]], np.eye(d))
    how = dict(
        D=np.diag([0.0, 0, 3, 3]),
        Q=curl,
        extra=np.zeros,
        blocks=lambda d: (range(d, 2 * d), range(d)),
    )
    found = {
        corrected: np.cov(chain(sgmc.Recipe(corrected=corrected, **how), 0.6, 200_000).T)
        for corrected in ("full", True, False)
    }
    assert abs(found["full"][0, 1]) < 0.03 < 0.08 < found[True][0, 1]
    assert np.abs(np.diag(found["full"]) - 1).max() < 0.06
    assert np.diag(found[False]).min() > 1.1


@pytest.mark.parametrize("cls", [sgmc.CSGLD, sgmc.MSGLD])
def test_a_run_goes_on_where_it_was(cls):
    """State and all: as if it had not stopped."""
    frame = {"x": np.arange(60.0) % 7, "y": (np.arange(60) % 3 == 0).astype(int)}
    how = dict(
        sampler=cls(covariance="full"), batch_size=10, step_size=0.1, thin=1, warmup=5, seed=4
    )
    with pytest.warns(sgmc.errors.SGMCWarning):
        whole = sgmc.logit("y ~ x", frame, draws=40, **how)
        half = sgmc.logit("y ~ x", frame, draws=20, **how).resume(draws=20)
    np.testing.assert_array_equal(whole.draws, half.draws)


@pytest.mark.extended
def test_dense_coordinates_are_no_obstacle_to_the_whole_covariance():
    """Sparse tables are not rotated, so that coordinates whitened at the mode mix the noise; the
    diagonal form refuses them.
    """
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.normal(size=(400, 3)) * (rng.random((400, 3)) < 0.5))
    y = (rng.random(400) < 1 / (1 + np.exp(-(X @ [1, -1, 0.5])))).astype(int)
    model = sgmc.Logit(y, X)
    how = dict(prior=sgmc.normal(0, 1), gradient="simple", precondition="dense", seed=1)
    with pytest.raises(sgmc.errors.NotSupported, match="csgld needs the noise of single coord"):
        model.fit(sampler="csgld", **how)
    full = model.fit(sampler=sgmc.CSGLD(covariance="full"), draws=500, **how)
    exact = model.fit(sampler="mala", prior=sgmc.normal(0, 1), draws=2000, seed=2)
    assert np.abs((full.params - exact.params) / exact.bse).max() < 0.15
    assert np.abs(full.bse / exact.bse - 1).max() < 0.1
