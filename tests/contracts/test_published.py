"""Forms of samplers that their papers print beside the default ones: Barker dynamics with one sign
or with steps of the noise alone.
"""

import numpy as np
import pytest
from _ext.toys import GaussianLocation
from scipy.special import expit

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.recorders import Keep
from sgmc.core.schedules import Constant
from sgmc.errors import ArgumentError
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import Uniform

from .cases import stream
from .montecarlo import LIMIT, standard_errors

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
    chain.recorder = Keep(steps // thin, dim, thin)
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
