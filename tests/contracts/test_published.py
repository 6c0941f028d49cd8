"""Forms of samplers that their papers print beside the default ones: Barker dynamics with one sign
or with steps of the noise alone; metrics of the place alone, and friction by the metric.
"""

import numpy as np
import pytest
import scipy.linalg
from _ext.probes import Probe, block, metric_at
from _ext.toys import GaussianLocation, KnownSigma
from scipy.special import expit

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.designs.design import design
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.errors import ArgumentError
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import Uniform

from .cases import normal_prior, stream
from .montecarlo import LIMIT, distance, standard_errors
from .test_recipe import chain as recipe_chain
from .test_recipe import distance as recipe_distance
from .test_recipe import riemannian, statistics
from .test_riemannian import LOGIT_STEP, information, logit_posterior, slopes
from .test_riemannian import draws as chain_of

ROWS, BATCH = 200, 8
ONE_SIGN = {
    f"{cls.name}-{law}": cls(sign="global", increment=law)
    for cls in (sgmc.VSGBD, sgmc.CSGBD)
    for law in ("bimodal", "normal")
}


def standard_normal(dim, noise, seed=1):
    """The gradient of N(0, I), with normal noise of that variance from batches of BATCH rows."""
    y = np.random.default_rng(5).normal(size=(ROWS, dim))
    y = (y - y.mean(axis=0)) / y.std(axis=0, ddof=1)
    y *= np.sqrt(noise * BATCH / (1 - BATCH / ROWS))
    rows = Uniform(ROWS, BATCH if noise else ROWS)
    return Simple(GaussianLocation(y, 1 / ROWS), Prior(dim), rows, stream(seed))


def draws(spec, dim, noise, step, steps, thin=4):
    """Positions of one chain after a warmup."""
    chain = Chain(
        np.zeros(dim),
        spec.build(dim, step),
        standard_normal(dim, noise),
        stream(2),
        Constant(step),
    )
    chain.run(2000, False)
    chain.recorder = FullRecorder(steps // thin, dim, thin)
    chain.run(steps)
    return np.asarray(chain.recorder.draws)


# ---- one sign for all coordinates ----------------------------------------------------------------

PLACE, STEP = np.array([1.5, -0.4]), 0.9


def moves(spec, noise, count=40_000):
    """First moves from PLACE, and their product."""
    chain = Chain(PLACE, spec.build(2, STEP), standard_normal(2, noise), stream(3), Constant(STEP))
    found = np.empty((count, 2))
    for k in range(count):
        np.asarray(chain.x)[:] = PLACE
        chain.run(1, False)
        found[k] = chain.x
    found -= PLACE
    return np.column_stack([found, found[:, 0] * found[:, 1]])


def expected_move(law):
    """E z_j tanh(z . g / 2) by quadrature over both z, and E z_1 z_2 = 0."""
    node, w = np.polynomial.hermite_e.hermegauss(40)
    w = w / w.sum()
    if law == "bimodal":
        node, w = np.concatenate([1 + 0.1 * node, -1 - 0.1 * node]), np.tile(w / 2, 2)
    z1, z2 = np.meshgrid(STEP * node, STEP * node, indexing="ij")
    turned = np.outer(w, w) * np.tanh(-(z1 * PLACE[0] + z2 * PLACE[1]) / 2)
    return np.array([(turned * z1).sum(), (turned * z2).sum(), 0.0])


@pytest.mark.parametrize("name", ["vsgbd-bimodal", "vsgbd-normal"])
def test_moves_with_one_sign_have_the_means_of_their_rule(name):
    expected = expected_move(name.split("-")[1])
    assert standard_errors(moves(ONE_SIGN[name], 0.0), expected).max() < LIMIT


@pytest.mark.mistake("a sign for each coordinate")
@pytest.mark.parametrize("name", ["vsgbd-bimodal", "vsgbd-normal"])
def test_signs_of_their_own_are_another_rule(name):
    law = name.split("-")[1]
    other = moves(sgmc.VSGBD(increment=law), 0.0)
    assert standard_errors(other, expected_move(law)).max() > LIMIT


NOISE = 0.8


@pytest.mark.parametrize("name", ["csgbd-bimodal", "csgbd-normal"])
def test_one_corrected_sign_moves_as_without_noise(name):
    """Within 0.019 |z| of the exact gradient's moves (proposition 4), where the uncorrected rule
    loses a tenth of the larger one.
    """
    expected = expected_move(name.split("-")[1])
    slack = np.array([0.019 * STEP, 0.019 * STEP, 0.0])
    assert standard_errors(moves(ONE_SIGN[name], NOISE), expected, slack).max() < LIMIT
    plain = moves(ONE_SIGN[name.replace("csgbd", "vsgbd")], NOISE)
    assert standard_errors(plain, expected, slack).max() > LIMIT


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", ONE_SIGN)
def test_the_spread_with_one_sign_is_the_documented_one(name):
    """(d - 1 + k)(h/4)(1 + V), to a fifth of itself: the formula is of first order in h = 0.05.
    That of a sign for each coordinate, k (h/4)(1 + V), is far outside.
    """
    spec, h = ONE_SIGN[name].fitted_to(True, 6), 0.05
    square = draws(spec, 6, 1.0, spec.from_langevin(h), 800_000) ** 2
    inflation = spec.inflation(h, 1.0)
    average = square.mean(axis=1)[:, None]
    assert standard_errors(average, [1 + inflation], 0.2 * inflation).max() < LIMIT
    own = type(spec)(increment=spec.increment).inflation(h, 1.0)
    assert standard_errors(average, [1 + own], 0.2 * own).max() > LIMIT


def four_slopes(sampler, **how):
    """A fit of 300 rows and four coefficients."""
    rng = np.random.default_rng(0)
    frame = {f"x{j}": rng.normal(size=300) for j in range(3)}
    frame["y"] = (rng.random(300) < 1 / (1 + np.exp(-frame["x0"] + frame["x1"]))).astype(int)
    return sgmc.logit("y ~ .", frame, sampler=sampler, seed=1, **how)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning", "ignore::RuntimeWarning")
def test_a_derived_step_with_one_sign_falls_with_the_number_of_coordinates():
    """Four of them leave it a quarter of the time (1.04 / 4.04), where the noise is the same."""
    times = [
        four_slopes(one, draws=1, batch_size=150, gradient="simple")._fit.plan.langevin_time
        for one in (sgmc.VSGBD(), sgmc.VSGBD(sign="global"))
    ]
    assert 3 < times[0] / times[1] < 5


@pytest.mark.extended
@pytest.mark.parametrize("precondition", ["mode", None])
def test_one_sign_is_right_in_whitened_and_in_raw_coordinates(precondition):
    """Means within 5 Monte Carlo errors of the exact ones, sds within 10 %."""
    exact = four_slopes("mala", draws=3000)
    one = four_slopes(
        sgmc.VSGBD(sign="global"), gradient="simple", precondition=precondition, draws=1000
    )
    off = np.abs(one.params - exact.params) / np.hypot(one.mcse(), exact.mcse())
    assert off.max() < LIMIT
    assert np.abs(one.bse / exact.bse - 1).max() < 0.1


@pytest.mark.parametrize("adaptive", [True, "published"])
def test_one_sign_has_no_steps_of_its_coordinates_own(adaptive):
    with pytest.raises(ArgumentError, match=f"CSGBD: adaptive={adaptive!r} .* sign='global'"):
        sgmc.CSGBD(sign="global", adaptive=adaptive)


# ---- steps that the noise alone sets -------------------------------------------------------------


def stationary_variance(sigma, tau, corrected):
    """Of one coordinate under N(0, 1) with noise N(0, tau^2), by powers of the transition on a
    grid; z is normal around sigma.
    """
    x = np.arange(-9, 9.001, 0.03)
    node, w = np.polynomial.hermite_e.hermegauss(30)
    w = w / w.sum()
    matrix = np.zeros((len(x), len(x)))
    for z, weight in zip(sigma * (1 + 0.1 * node[8:22]), w[8:22] / w[8:22].sum()):
        slope = z * (-x[:, None] + tau * node)
        if corrected and tau * z < 1.702:
            slope *= 1.702 / np.sqrt(1.702**2 - tau**2 * z**2)
        elif corrected:
            slope = np.where(slope > 0, np.inf, -np.inf)
        up = expit(slope) @ w
        for move, chance in ((z, up), (-z, 1 - up)):
            to = np.clip((x + move - x[0]) / 0.03, 0, len(x) - 1.001)
            low = to.astype(int)
            rows = np.arange(len(x))
            np.add.at(matrix, (rows, low), weight * chance * (1 - to + low))
            np.add.at(matrix, (rows, low + 1), weight * chance * (to - low))
    for _ in range(8):
        matrix = matrix @ matrix
    return matrix[len(x) // 2] @ x**2


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", ["vsgbd", "csgbd"])
@pytest.mark.parametrize("tau", [1.5, 3.0])
def test_published_steps_have_the_law_of_their_transition(name, tau):
    """sigma = 1.702 / (1.233 tau), a given step of 0.01 notwithstanding: the variance within 5
    Monte Carlo errors, and 1 % for a tau that is estimated, of that by quadrature.
    """
    cls = getattr(sgmc, name.upper())
    spec = cls(adaptive="published", beta=0.01)
    expected = stationary_variance(1.702 / (1.233 * tau), tau, name == "csgbd")
    square = draws(spec, 32, tau**2, 0.01, 20_000) ** 2
    average = square.mean(axis=1)[:, None]
    assert standard_errors(average, [expected], 0.01 * expected).max() < LIMIT
    wrong = stationary_variance(1.702 / (2.576 * tau), tau, name == "csgbd")
    assert standard_errors(average, [wrong], 0.01 * wrong).max() > LIMIT


@pytest.mark.mistake("sigma = min(step, .)")
@pytest.mark.parametrize("name", ["vsgbd", "csgbd"])
def test_the_smaller_of_two_steps_is_another_law(name):
    spec = getattr(sgmc, name.upper())(adaptive=True, beta=0.01)
    expected = stationary_variance(1.702 / (1.233 * 1.5), 1.5, name == "csgbd")
    average = (draws(spec, 32, 2.25, 0.3, 20_000) ** 2).mean(axis=1)[:, None]
    assert standard_errors(average, [expected], 0.01 * expected).max() > LIMIT


def logit(**how):
    """A fit of a few hundred rows with plain minibatches of ten."""
    rng = np.random.default_rng(3)
    frame = {"x": rng.normal(size=400)}
    frame["y"] = (rng.random(400) < 1 / (1 + np.exp(-frame["x"]))).astype(int)
    usual = dict(gradient="simple", batch_size=10, draws=200, seed=1)
    return sgmc.logit("y ~ x", frame, **{**usual, **how})


def test_a_fit_states_the_step_that_the_noise_settles_and_what_it_does():
    """The step is 1.702 / (1.233 tau) of the coordinate with most noise, in the header, in the
    breadth of moves and in the warning.
    """
    with pytest.warns(sgmc.errors.GradientNoiseWarning, match="gradient noise widens the draws by"):
        results = logit(sampler=sgmc.VSGBD(adaptive="published"))
    tau = results.gradient_noise().tau.max()
    step = 1.702 / (1.233 * tau)
    header = dict(pair for side in results.header[:2] for pair in side)
    assert header["Step size"] == f"{results._fit.step_size:.3g} (by the noise)"
    assert results._fit.step_size == pytest.approx(step, rel=0.05)


@pytest.mark.parametrize(
    "how, message",
    [
        (dict(step_size=0.1), "step_size does not apply to CSGBD.adaptive='published'.: the noise"),
        (dict(batch_size=400), "has no step where gradients have no noise: take a batch_size"),
    ],
)
def test_published_steps_need_noise_and_nothing_else(how, message):
    with pytest.raises(ArgumentError, match=message):
        logit(sampler=sgmc.CSGBD(adaptive="published"), **how)


# ---- metrics and frictions of the review's table 1 -----------------------------------------------

E_STEP, C = 0.5, 0.5
SCALES = np.array([1.5, 0.8])


def gaussian_regression():
    """Gradient of a posterior N(m, L^-1) with minibatches, its L and m, and the covariance of the
    gradient's noise, which hardly depends on theta.
    """
    X = np.array([[1.0, 0.4], [-0.3, 0.9], [0.5, -1.1], [-0.8, 0.2]] * 10) / 100
    y = 30 * np.random.default_rng(0).normal(size=40)
    gradient = Simple(KnownSigma(design(X), y), normal_prior(2, SCALES), Uniform(40, 8), stream(1))
    L = X.T @ X + np.diag(1 / SCALES**2)
    m = np.linalg.solve(L, X.T @ y)
    return gradient, L, m, 40**2 / 8 * (1 - 8 / 40) * np.cov((X * (y - X @ m)[:, None]).T)


def by_metric(M):
    """What a momentum keeps of itself, and the covariance of what is new: D = C M to second
    order.
    """
    B, eye = E_STEP * C * M, np.eye(2)
    return eye - B + B @ B / 2, 2 * B @ np.linalg.matrix_power(eye - B / 2, 2)


def by_friction(M):
    """The same for D = C."""
    return np.exp(-E_STEP * C) * np.eye(2), (1 - np.exp(-2 * E_STEP * C)) * np.eye(2)


def by_information(M):
    """The same for D = C G."""
    return by_metric(np.linalg.inv(M))


def friction_law(L, V, friction):
    """Covariance of theta under steps of sgrhmc with the metric L^-1: a linear recursion."""
    R = np.linalg.inv(np.linalg.cholesky(L)).T
    keep, fresh = friction(R @ R.T)
    eye, zero = np.eye(2), np.zeros((2, 2))
    kick = np.block([[eye, zero], [-E_STEP * R.T @ L, eye]])
    turn = np.block([[eye, E_STEP / 2 * R @ (eye + keep)], [zero, keep]])
    add = np.vstack([E_STEP / 2 * R, eye])
    pushed = turn @ np.vstack([zero, E_STEP * R.T])
    source = add @ fresh @ add.T + pushed @ V @ pushed.T
    return scipy.linalg.solve_discrete_lyapunov(turn @ kick, source)[:2, :2]


def friction_departure(spec, friction):
    """Of the covariance of theta from that of the recursion, in Monte Carlo errors."""
    gradient, L, m, V = gaussian_regression()
    chain = Chain(m, spec.build(2, E_STEP), gradient, stream(2), Constant(E_STEP))
    chain.run(1000, False)
    chain.recorder = FullRecorder(150_000, 2, 2)
    chain.run(300_000)
    return distance(np.asarray(chain.recorder.draws), m, friction_law(L, V, friction))


@pytest.mark.extended
def test_a_friction_by_the_metric_has_its_closed_form_law():
    """Noise of minibatches makes the covariance depend on the friction, C G^-1 or C."""
    assert friction_departure(sgmc.SGRHMC(diffusion="metric", friction=C), by_metric) < LIMIT
    assert friction_departure(sgmc.SGRHMC(friction=C), by_friction) < LIMIT


@pytest.mark.cover(0)
@pytest.mark.mistake("another friction")
@pytest.mark.parametrize("wrong", [by_friction, by_information])
@pytest.mark.parametrize("name", ["sgrhmc"])
def test_another_friction_is_another_law(name, wrong):
    assert friction_departure(sgmc.SGRHMC(diffusion="metric", friction=C), wrong) > LIMIT


def test_a_friction_by_the_metric_needs_a_step():
    with pytest.raises(ArgumentError, match="step_size: sgrhmc has no default"):
        logit(sampler=sgmc.SGRHMC(diffusion="metric"))


@pytest.mark.parametrize("rows", [150, 10**6])
def test_a_metric_that_is_not_anchored_is_the_information_at_the_place(rows):
    """Of the rows looked at, times N over their number; that of all rows is what `mmala` has."""
    for place in (np.zeros(4), np.array([0.5, -1.0, 0.3, 0.8])):
        metric, gradient = information(rows=rows)
        metric_at(metric, np.full(4, 0.7))  # a first place, which must leave no trace
        released, _ = information(rows=rows)
        released.release()
        metric_at(released, np.full(4, 0.7))
        seen = range(0, 600, 600 // min(rows, 600))
        G = sum(Probe(gradient.model).hessian(place, block(i, 1)) for i in seen)
        G = G * 600 / len(seen) + np.eye(4)
        M = metric_at(released, place)[0]
        np.testing.assert_allclose(M @ G, np.eye(4), atol=1e-7)
        assert abs(metric_at(metric, place)[0] @ G - np.eye(4)).max() > 0.01  # half of it stays


def test_the_divergence_of_a_metric_that_is_not_anchored_is_its_own():
    """By differences along the columns of its root, to 1e-6 of the largest."""
    released, _ = information(rows=150)
    released.release()
    place = np.array([0.5, -1.0, 0.3, 0.8])
    gamma = metric_at(released, place)[3]
    expected = np.einsum("jij->i", slopes(released, place, 0))
    np.testing.assert_allclose(gamma, expected, atol=1e-6 * abs(expected).max())


@pytest.mark.cover(0)
@pytest.mark.parametrize("cls", [sgmc.SGRLD, sgmc.SGRHMC])
def test_published_metrics_have_the_posterior_of_few_rows(cls):
    """Means within 0.03 sd and covariances within 6 % of a sum over a grid; without Gamma means
    are off.
    """
    gradient, mean, covariance = logit_posterior()
    sd = np.sqrt(np.diag(covariance))
    how = dict(anchored=False, metric_rows=10**6)
    right, wrong = (
        chain_of(cls(divergence=gamma, **how), gradient, mean, LOGIT_STEP[cls.name], 200_000)
        for gamma in (True, False)
    )
    assert abs((right.mean(axis=0) - mean) / sd).max() < 0.03
    assert abs((np.cov(right.T) - covariance) / np.outer(sd, sd)).max() < 0.06
    assert abs((wrong.mean(axis=0) - mean) / sd).max() > 0.03


def test_the_published_sgrhmc_is_the_recipe_of_the_table():
    """D = M, Q of its root: stationary moments of a skewed law in both, within 5 Monte Carlo
    errors and 1 % for the steps' errors of second order.
    """
    steps = 40_000
    mine = recipe_chain(
        sgmc.SGRHMC(diffusion="metric", friction=1.0), "skew", 0.2, 8 * steps, warmup=2000
    )
    theirs = recipe_chain(riemannian("skew"), "skew", 0.4, steps, seed=2)
    assert recipe_distance(statistics(mine, ()), statistics(theirs, ()), 0.01) < LIMIT
