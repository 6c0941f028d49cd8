"""Table 1 of the review (Nemeth & Fearnhead 2021) written as recipes, against the samplers written
by hand; what is no recipe.

Two samplers are compared in law: means, squares, cubes and products with the next two draws of both
coordinates, by the errors of both chains.  sgld, sgrld, sghmc (read as the mean of two neighbouring
positions, the middle of a drift) and sgnht are then the same Markov chain, for any step; sgrhmc is
another discretisation of that diffusion but for the friction: only stationary laws are compared.
"""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from _ext.toy_densities import SkewNormal
from _ext.toys import GaussianLocation

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.errors import ArgumentError, SGMCWarning
from sgmc.gradients.simple import Simple
from sgmc.samplers.recipe import RecipeMatrices
from sgmc.subsampling.uniform import Uniform

from .cases import stream
from .montecarlo import BATCHES, LIMIT

ROWS, BATCH, D = 100, 10, 2
A, C = 1.0, 1.5  # diffusion of sgnht, friction of the others
BEND = {"gaussian": 0.1, "skew": 0.5}  # the toys' metrics are M = diag(1 + BEND sin x)
EYE, NONE = np.eye(D), np.zeros((D, D))


def posterior(target, rng):
    """The gradient of a Gaussian posterior with noise of about four times its precision, or of a
    skewed law without noise.
    """
    model = SkewNormal(D, 3.0)
    if target == "gaussian":
        y = np.random.default_rng(1).normal(size=(ROWS, D))
        model = GaussianLocation(6 * (y - y.mean(axis=0)), 1 / ROWS)
    return Simple(model, Prior(D), Uniform(model.n, min(model.n, BATCH)), rng)


def chain(spec, target, step, steps, seed=1, warmup=500):
    """Positions after each step."""
    rng = stream(seed)
    made = Chain(np.zeros(D), spec.build(D, step), posterior(target, rng), rng, Constant(step))
    made.run(warmup, False)
    made.recorder = FullRecorder(steps, D, 1)
    made.run(steps)
    return np.asarray(made.recorder.draws)


def statistics(x, lags=(1, 2)):
    """Averages over blocks of a chain: (BATCHES, number of statistics)."""
    ends = len(x) - max(lags, default=0)
    columns = [x, x**2, x**3, (x[:, 0] * x[:, 1])[:, None]]
    columns = [c[:ends] for c in columns] + [x[:ends] * x[lag : ends + lag] for lag in lags]
    columns = np.hstack(columns)[: ends // BATCHES * BATCHES]
    return columns.reshape(BATCHES, -1, columns.shape[1]).mean(axis=1)


def distance(one, other, slack=0.0):
    """Largest difference of two chains' statistics, less the slack,
    in Monte Carlo errors of both.
    """
    means = [s.mean(axis=0) for s in (one, other)]
    errors = [s.std(axis=0, ddof=1) / np.sqrt(BATCHES) for s in (one, other)]
    return (np.maximum(abs(means[0] - means[1]) - slack, 0) / np.hypot(*errors)).max()


# ---- the rows of table 1 -------------------------------------------------------------------------


def momentum_first(d):
    """Then theta."""
    return range(d, 2 * d), range(d)


def thermostat_last(d):
    """Momentum, theta, thermostat: the order of sgnht."""
    return range(d, 2 * d), range(d), [2 * d]


def thermostat_begin(d):
    """Momentum zero, thermostat at A."""
    return np.append(np.zeros(d), A)


def thermostat_slope(extra):
    """Of |rho|^2/2 + d (eta - A)^2/2: with it the drift of rho is -grad U - eta rho.

    The table prints (eta - A)^2/(2d).
    """
    return np.append(extra[:-1], D * (extra[-1] - A))


def printed_slope(extra):
    """Of what the table prints: the drift of rho has (eta - A)
    rho / d^2 in it instead of (eta - A) rho.
    """
    return np.append(extra[:-1], (extra[-1] - A) / D)


def thermostat_curl(z):
    """[[0, -I, 0], [I, 0, rho/d], [0, -rho'/d, 0]]"""
    Q = np.zeros((2 * D + 1, 2 * D + 1))
    Q[:D, D : 2 * D], Q[D : 2 * D, :D] = -EYE, EYE
    Q[D : 2 * D, -1], Q[-1, D : 2 * D] = z[D : 2 * D] / D, -z[D : 2 * D] / D
    return Q


def thermostat_gamma(z):
    """d(-rho_j/d)/drho_j, summed: -1 for the thermostat."""
    return np.append(np.zeros(2 * D), -1.0)


def scale(target, z):
    """The diagonal of M = G^-1 at theta."""
    return 1 + BEND[target] * np.sin(z[:D])


def riemannian(target, **rest):
    """SGRPMC as printed: the root of M, which is symmetric, in Q, and M in D."""

    def curl(z):
        R = np.diag(np.sqrt(scale(target, z)))
        return np.block([[NONE, -R], [R, NONE]])

    def gamma(z):
        return np.append(
            np.zeros(D), BEND[target] * np.cos(z[:D]) / (2 * np.sqrt(scale(target, z)))
        )

    def friction(z):
        return np.diag(np.append(np.zeros(D), scale(target, z)))

    return sgmc.Recipe(
        **{**dict(D=friction, Q=curl, extra=np.zeros, gamma=gamma, blocks=momentum_first), **rest}
    )


CANONICAL = np.block([[NONE, -EYE], [EYE, NONE]])
THERMOSTAT = dict(
    D=np.diag([0, 0, A, A, 0]),
    Q=thermostat_curl,
    extra=thermostat_begin,
    slope=thermostat_slope,
    gamma=thermostat_gamma,
    blocks=thermostat_last,
)
# name -> the sampler by hand, and its recipe for a target
TABLE = {
    "sgld": (sgmc.SGLD(), lambda target, **rest: sgmc.Recipe(**rest)),
    "sgrld": (
        sgmc.SGRLD(),
        lambda target, **rest: sgmc.Recipe(**{"D": lambda z: np.diag(scale(target, z)), **rest}),
    ),
    "sghmc": (
        sgmc.SGHMC(leapfrog=1, friction=C),
        lambda target, **rest: sgmc.Recipe(
            **{
                **dict(D=np.diag([0, 0, C, C]), Q=CANONICAL, extra=np.zeros, blocks=momentum_first),
                **rest,
            }
        ),
    ),
    "sgnht": (
        sgmc.SGNHT(diffusion=A),
        lambda target, **rest: sgmc.Recipe(**{**THERMOSTAT, **rest}),
    ),
}
# of eq. 11; momenta have leapfrog steps of half of it
H = {"sgld": 0.8, "sgrld": 0.4, "sghmc": 1.0, "sgnht": 0.3}
STEPS = {"sgld": 200_000, "sgrld": 30_000, "sghmc": 200_000, "sgnht": 60_000}


def departure(name, target, by_hand=None, **changed):
    """Of the recipe, changed or as in the table, from the sampler by hand."""
    known, recipe = TABLE[name]
    h = H[name]
    mine = chain(recipe(target, **changed), target, h, STEPS[name], seed=2)
    step = h if name in ("sgld", "sgrld") else h / 2
    if name == "sghmc":
        mine = (mine[1:] + mine[:-1]) / 2
    return distance(
        statistics(mine), statistics(chain(by_hand or known, target, step, 4 * STEPS[name]))
    )


@pytest.mark.extended
@pytest.mark.parametrize("target", BEND)
@pytest.mark.parametrize("name", TABLE)
def test_recipes_of_the_table_are_the_samplers_by_hand(name, target):
    assert departure(name, target) < LIMIT


@pytest.mark.extended
def test_noise_is_taken_out_as_by_hand():
    """B = (D + Q) V (D + Q)' / 4: of the kick e^2 V, e = h/2; where it is left in,
    the draws are wider.
    """
    corrected = sgmc.SGHMC(leapfrog=1, friction=C, corrected=True)
    assert departure("sghmc", "gaussian", corrected, corrected=True) < LIMIT
    assert departure("sghmc", "gaussian", corrected) > LIMIT


@pytest.mark.extended
@pytest.mark.parametrize(
    "name, target, mistake",
    [
        ("sgld", "gaussian", dict(D=2 * EYE)),
        ("sghmc", "gaussian", dict(D=np.diag([0, 0, 2 * C, 2 * C]))),
        ("sgrld", "skew", dict(D=lambda z: 2 * np.diag(scale("skew", z)))),
        ("sgrld", "skew", dict(gamma=lambda z: np.zeros(D))),
        ("sghmc", "skew", dict(Q=1.2 * CANONICAL)),
        ("sghmc", "skew", dict(blocks=None)),
        ("sgnht", "skew", dict(D=np.diag([0, 0, 2 * A, 2 * A, 0]))),
        ("sgnht", "gaussian", dict(gamma=lambda z: np.zeros(2 * D + 1))),
    ],
    ids=[
        "sgld D doubled",
        "sghmc D doubled",
        "sgrld D doubled",
        "sgrld no Gamma",
        "sghmc Q too large",
        "sghmc all at once",
        "sgnht D doubled",
        "sgnht no Gamma",
    ],
)
def test_planted_mistakes_are_caught(name, target, mistake):
    assert not departure(name, target, **mistake) < LIMIT  # NaN where a chain has left all bounds


def test_the_sign_of_all_of_q_does_not_matter():
    """It is that of the momentum; a wrong sign of one half of Q is no recipe, and refused."""
    assert departure("sghmc", "skew", Q=-CANONICAL) < LIMIT
    with pytest.raises(ArgumentError, match="Q is not skew-symmetric"):
        chain(TABLE["sghmc"][1]("skew", Q=abs(CANONICAL)), "skew", 0.1, 1)


@pytest.mark.extended
def test_the_printed_energy_of_the_thermostat_is_another_sampler():
    """Mean of eta: as by hand with d (eta - A)^2/2; with the printed one, which is right for d = 1
    alone, it is d^2 times as far from A.  The mean of 700 places is known to 5 %, of which half and
    twice are far.
    """

    def excess(spec, key, step):
        rng = stream(3)
        made = Chain(
            np.zeros(D), spec.build(D, step), posterior("gaussian", rng), rng, Constant(step)
        )
        seen = []
        for _ in range(800):
            made.run(20, False)
            seen.append(np.ravel(made.sampler.state()[key])[-1] - A)
        return np.mean(seen[100:])

    by_hand = excess(sgmc.SGNHT(diffusion=A), "z", 0.2)
    mine, printed = (
        excess(sgmc.Recipe(**{**THERMOSTAT, "slope": slope}), "extra", 0.4)
        for slope in (thermostat_slope, printed_slope)
    )
    assert mine == pytest.approx(by_hand, rel=0.2)
    assert printed == pytest.approx(D**2 * by_hand, rel=0.2)


@pytest.mark.extended
def test_sgrpmc_as_printed_has_the_law_of_sgrhmc():
    """At h = 0.4 and e = 0.15; slack for their errors, of first and of second order.

    Without Gamma the law is another one.
    """
    by_hand = statistics(chain(sgmc.SGRHMC(), "skew", 0.15, 400_000), lags=())

    def far(**changed):
        mine = chain(riemannian("skew", **changed), "skew", 0.4, 40_000, seed=2)
        return distance(statistics(mine, lags=()), by_hand, slack=0.005)

    assert far() < LIMIT
    assert far(gamma=lambda z: np.zeros(2 * D)) > LIMIT


def test_the_recipe_of_sgld_is_sgld_bit_by_bit():
    for target in BEND:
        np.testing.assert_array_equal(
            chain(sgmc.Recipe(), target, 0.1, 300), chain(sgmc.SGLD(), target, 0.1, 300)
        )


def test_gamma_by_differences_is_the_derived_one():
    """To 1e-8: h^2/6 of third derivatives of order one, and rounding over h, h = 6e-6."""
    z = np.random.default_rng(0).normal(size=2 * D + 1)
    for spec, at in ((sgmc.Recipe(**THERMOSTAT), z), (riemannian("skew"), z[:-1])):
        by_differences = sgmc.Recipe(**{**spec.values(), "gamma": None})
        found = [RecipeMatrices(one, D, len(at)).divergence(at) for one in (spec, by_differences)]
        np.testing.assert_allclose(*found, atol=1e-8)


# ---- what users meet -----------------------------------------------------------------------------

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"x": RNG.normal(size=200)})
FRAME["y"] = (RNG.random(200) < 1 / (1 + np.exp(-FRAME.x))).astype(int)
GIVEN = dict(step_size=0.2, draws=50, thin=5, warmup=20, chains=2, seed=1, batch_size=50)


def fit(spec, more=0, **changed):
    """A short fit, resumed for more draws or not, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        results = sgmc.logit("y ~ x", FRAME, sampler=spec, **{**GIVEN, **changed})
        return results.resume(more) if more else results


@pytest.mark.extended
def test_a_recipe_is_a_sampler_of_the_verbs():
    spec = sgmc.Recipe(
        D=thermostat_friction,
        Q=thermostat_curl,
        extra=thermostat_begin,
        slope=thermostat_slope,
        blocks=thermostat_last,
    )
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert hash(spec) == hash(pickle.loads(pickle.dumps(spec)))
    assert f"D={__name__}.thermostat_friction, " in repr(spec)  # no address: checkpoints compare it
    results = fit(spec)
    np.testing.assert_array_equal(fit(spec, threads=1).draws, results.draws)
    np.testing.assert_array_equal(fit(spec, draws=20, more=30).draws, results.draws)
    assert fit(spec, batch_size=None).summary().as_text().count("recipe") == 1


def thermostat_friction(z):
    """A on the momentum."""
    return np.diag([0, 0, A, A, 0])


def test_a_recipe_has_no_default_step_and_no_name():
    with pytest.raises(ArgumentError, match="step_size: recipe has no default"):
        fit(sgmc.Recipe(), step_size=None)
    with pytest.raises(ArgumentError, match="sampler='recipe' is not known"):
        fit("recipe")


@pytest.mark.parametrize(
    "wrong, text",
    [
        (
            dict(D=np.eye(3)),
            r"D has shape \(3, 3\); for 2 parameters and 0 extra variables it must be \(2, 2\)",
        ),
        (dict(D=lambda z: np.ones(2)), r"D has shape \(2,\)"),
        (dict(D=lambda z: "a"), "D must be numbers, not str"),
        (dict(D=lambda z: np.full((2, 2), np.nan)), "D is not finite"),
        (dict(D=np.triu(np.ones((2, 2)))), "D is not symmetric"),
        (dict(D=-np.eye(2)), "D is not positive semidefinite"),
        (dict(Q=np.eye(2)), "Q is not skew-symmetric"),
        (dict(gamma=lambda z: 0.0), r"gamma has shape \(\)"),
        (dict(gamma=lambda z: np.full(2, np.inf)), "gamma is not finite"),
        (dict(extra=np.zeros, slope=lambda extra: extra[:1]), r"slope has shape \(1,\)"),
        (dict(extra=np.eye), "finite numbers in one dimension"),
        (dict(blocks=lambda d: []), r"blocks\(2\) must have"),
        (dict(blocks=lambda d: [[0]]), r"blocks\(2\) must have each of 0 .. 1 once"),
        (dict(D=np.ones((2, 2)), blocks=lambda d: [[0], [1]]), "D has an entry between two blocks"),
    ],
)
def test_what_is_no_recipe_is_refused(wrong, text):
    with pytest.raises(ArgumentError, match=f"Recipe: .*{text}"):
        fit(sgmc.Recipe(**wrong))


@pytest.mark.parametrize(
    "wrong, text",
    [
        (dict(D="x"), "D must be a function, a square matrix or None, not str"),
        (dict(Q=np.zeros((2, 3))), r"not ndarray of shape \(2, 3\)"),
        (dict(extra=3), "extra must be a function or None, not int"),
        (dict(corrected=2), "corrected=2"),
        (dict(friction=1), "no parameter 'friction'"),
    ],
)
def test_arguments_of_another_kind_are_refused(wrong, text):
    with pytest.raises(ArgumentError, match=text):
        sgmc.Recipe(**wrong)


def test_an_exception_in_a_function_surfaces():
    called = []

    def friction(z):
        called.append(z)
        return np.eye(2) if len(called) < 50 else 1 // 0

    with pytest.raises(ZeroDivisionError):
        fit(sgmc.Recipe(friction))
