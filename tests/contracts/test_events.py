"""Piecewise-deterministic samplers have the posterior along their paths, and leave it invariant;
planted mistakes do not.

Posteriors of two parameters, their moments by quadrature on a grid of sampler coordinates.  A run
of one long path compares its integrals with these moments, in Monte Carlo errors of 50 pieces;
independent draws of the posterior must be draws of it after a while on the path.  LIMIT is that of
all such tests; seeds are fixed.
"""

from functools import cache

import numpy as np
import pytest
from _ext.mistakes import Astray
from _ext.probes import Misscaled, Probe, block
from _ext.toy_paths import PathMoments
from _ext.toys import KnownSigma
from scipy import sparse

from sgmc.coordinates.priors.densities import FAMILIES, Pulled, Quadratic, Separable
from sgmc.coordinates.transforms.maps import Affine, Scaling
from sgmc.core.contract import Prior
from sgmc.core.designs.design import design
from sgmc.core.engine import STATUS_NAMES, Chain, full
from sgmc.core.recorders import MomentsRecorder
from sgmc.core.schedules import Constant
from sgmc.core.targets.bounds import Bounds
from sgmc.models.regression.families.logit import BernoulliLogit
from sgmc.registry import room
from sgmc.samplers.bases.piecewise.paths import Path
from sgmc.subsampling.uniform import FullBatch

from .cases import (
    CONTINUOUS,
    GRADIENTS,
    REGRESSIONS,
    SCHEMES,
    event_gradient,
    normal_prior,
    stream,
    table,
)
from .montecarlo import BATCHES, LIMIT, standard_errors

ROWS, DIM = 30, 2
TABLE = np.ascontiguousarray(2 * table(ROWS, DIM) + [0.0, 0.3])
TURN = Affine(np.array([0.3, -0.2]), np.array([[0.5, 0.0], [0.2, 0.4]]))
WIDE = np.linspace(-9, 9, 181)


def independent(family, scale=0.7, df=2.0):
    """A prior of one family, for both coefficients."""
    ones = np.ones(DIM)
    return Separable(
        [FAMILIES[family]] * DIM, 0.2 * ones, scale * ones, df * ones, [1], np.array([0.4, 0.0])
    )


def regression(name, **more):
    """A regression with outcomes of one kind, and weights that differ."""
    rng = np.random.default_rng(3)
    y = rng.normal(size=ROWS) if name == "known sigma" else (rng.random(ROWS) < 0.3).astype(float)
    return REGRESSIONS[name](design(more.get("X", TABLE)), y, None, np.arange(ROWS) % 3 * 0.5)


POSTERIORS = {  # model, prior, map, half width of the grid over 9
    "normal": (regression("known sigma"), normal_prior(DIM), None, 0.25),
    "normal, affine": (regression("known sigma"), independent("normal"), TURN, 0.6),
    "logit": (regression("logit"), normal_prior(DIM, 2.0), TURN, 1.7),
    "logit, diagonal": (
        regression("logit"),
        Quadratic([0.5, 2.0], [0.3, -0.1]),
        Scaling([0.1, 0.2], [0.6, 0.7]),
        1.0,
    ),
    "logit, laplace": (regression("logit"), independent("laplace"), TURN, 1.5),
    "logit, student": (regression("logit"), Pulled(independent("student_t"), TURN), None, 1.5),
    "logit, sparse": (
        REGRESSIONS["logit"](
            design(sparse.csr_array(TABLE)), np.arange(ROWS) % 4 // 3 * 1.0, np.full(ROWS, 0.2)
        ),
        normal_prior(DIM),
        TURN,
        1.3,
    ),
    "probit": (regression("probit"), normal_prior(DIM), TURN, 1.2),
    "cauchit": (regression("cauchit"), normal_prior(DIM), TURN, 1.7),
}
BY_ROWS = [name for name, spec in CONTINUOUS.items() if spec.minibatches]
# in each of 50 pieces
EVENTS = {
    "zigzag": 3000,
    "stickyzigzag": 3000,
    "bps": 3000,
    "zzcv": 60_000,
    "zzss": 200_000,
    "lipsbps": 200_000,
}


@cache
def grid(name):
    """Points (m, 2) and probabilities of a posterior in sampler coordinates."""
    model, prior, map, width = POSTERIORS[name]
    gradient = GRADIENTS["simple"](model, prior, FullBatch(ROWS), stream(0), map=map)
    x = np.stack(np.meshgrid(width * WIDE, width * WIDE), axis=-1).reshape(-1, 2)
    value = np.array([full(gradient, point)[0] for point in x])
    p = np.exp(value - value.max())
    edge = p.reshape(len(WIDE), -1)
    # nothing is cut off
    assert max(edge[0].max(), edge[-1].max(), edge[:, 0].max(), edge[:, -1].max()) < 1e-8
    return x, p / p.sum()


def particle(
    spec, name, *, rows=None, prior=None, bounds=None, transition=None, start=None, rng=None
):
    """A chain on a posterior, some of it spoilt; with a start it is given, else at the mean."""
    model, right, map, _ = POSTERIORS[name]
    x, p = grid(name)
    rng = stream(8) if rng is None else rng
    bounds = bounds or Bounds(model, right, map, p @ x, True)
    gradient = event_gradient(
        spec,
        model,
        prior or right,
        rng,
        map=map,
        centre=np.asarray(bounds.centre),
        rows=rows,
        bounds=bounds,
    )
    made = spec.build(DIM, 1.0) if transition is None else transition(spec.build(DIM, 1.0))
    return Chain(
        p @ x if start is None else start, made, gradient, rng, Constant(1.0), velocity=True
    )


def departure(chain, name, events):
    """Departure of path integrals from time x moments, in Monte Carlo errors of 50 pieces of the
    path; `caught` by a status, too.
    """
    x, p = grid(name)
    mean, second = p @ x, np.einsum("i,ij,ik->jk", p, x, x)
    chain.recorder = PathMoments(DIM)
    ends = np.zeros((BATCHES + 1, 1 + DIM + DIM * DIM))
    for k in range(BATCHES):
        if chain.run(events):
            return STATUS_NAMES[chain.status]
        path = chain.recorder
        ends[k + 1] = path.time, *path.first, *np.ravel(path.second)
    time, first, square = np.split(np.diff(ends, axis=0), [1, 1 + DIM], axis=1)
    return standard_errors(
        np.hstack([first - time * mean, square - time * second.ravel()]), 0
    ).max()


def caught(found):
    """Whether a mistake shows: in the moments, or in a rate above its bound."""
    return found == "bound exceeded" or found > LIMIT


@pytest.mark.cover(0)
@pytest.mark.parametrize("posterior", POSTERIORS)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_posterior_is_what_paths_have(name, posterior):
    assert departure(particle(CONTINUOUS[name], posterior), posterior, EVENTS[name]) < LIMIT


@pytest.mark.parametrize("posterior", ["normal, affine", "logit"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_while_on_the_path_leaves_draws_of_the_posterior(name, posterior):
    """2,000 draws, and where they are 1.3 later: first, second and third moments."""
    (x, p), own, rng = grid(posterior), np.random.default_rng(9), stream(9)
    first = particle(CONTINUOUS[name], posterior, rng=rng)
    after, step = np.empty((2000, DIM)), x[1, 0] - x[0, 0]
    for k, at in enumerate(own.choice(len(x), len(after), p=p)):
        start = x[at] + step * (own.random(DIM) - 0.5)
        chain = Chain(
            start,
            CONTINUOUS[name].build(DIM, 1.0),
            first.gradient,
            rng,
            Constant(1.0),
            velocity=True,
        )
        chain.recorder = Path(1, DIM, 1.3)
        assert STATUS_NAMES[chain.run(10**6)] == "full"
        after[k] = chain.recorder.draws

    def powers(e):
        return np.column_stack([e, e**2, e**3, e.prod(axis=1)])

    centre = p @ x
    assert standard_errors(powers(after - centre), p @ powers(x - centre)).max() < LIMIT


@pytest.mark.extended
@pytest.mark.parametrize("scheme", ["block", "uniform", "replacement"])
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("name", BY_ROWS)
def test_batches_of_any_equally_likely_rows(name, batch, scheme):
    chain = particle(CONTINUOUS[name], "logit", rows=SCHEMES[scheme](ROWS, batch))
    assert departure(chain, "logit", EVENTS[name] // 2) < LIMIT


def preferential(name, weighted=True):
    """A chain that meets rows with probabilities of their own,
    with bounds that know of it or not.
    """
    cls = room("subsampling")["preferential"]
    # the least likely rows have the largest weights
    shared = cls.share(sizes=2.2 - np.arange(ROWS) % 3)
    (x, p), (model, prior, map, _) = grid("logit"), POSTERIORS["logit"]
    bounds = Bounds(model, prior, map, p @ x, True, shared.weight if weighted else None)
    return particle(CONTINUOUS[name], "logit", rows=cls(ROWS, 1, shared), bounds=bounds)


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", BY_ROWS)
def test_rows_with_probabilities_of_their_own(name):
    assert departure(preferential(name), "logit", EVENTS[name]) < LIMIT


@pytest.mark.mistake("events: bound of likely rows")
@pytest.mark.parametrize("name", BY_ROWS)
def test_bounds_that_do_not_know_of_probabilities_are_caught(name):
    assert departure(preferential(name, weighted=False), "logit", EVENTS[name]) == "bound exceeded"


@pytest.mark.cover(0)
@pytest.mark.mistake("events: scale x {factor}")
@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_wrong_scale_is_caught(name, factor):
    spec = CONTINUOUS[name]
    rows = Misscaled(SCHEMES["block"](ROWS, ROWS if spec.all_rows else 1), factor)
    assert caught(
        departure(particle(spec, "normal, affine", rows=rows), "normal, affine", EVENTS[name])
    )


@pytest.mark.cover(0)
@pytest.mark.mistake("events: prior dropped")
@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_dropped_prior_is_caught(name):
    assert caught(
        departure(particle(CONTINUOUS[name], "logit", prior=Prior(DIM)), "logit", EVENTS[name])
    )


@pytest.mark.cover(0)
@pytest.mark.mistake("events: sign of the reflection")
@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_wrong_sign_of_the_reflection_is_caught(name):
    assert caught(
        departure(particle(CONTINUOUS[name], "logit", transition=Astray), "logit", EVENTS[name])
    )


@pytest.mark.mistake("events: bound too low")
@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_bound_that_is_too_low_is_a_status(name):
    """A tenth of the largest scores and curvatures."""
    low = type("Low", (BernoulliLogit,), {"score_bound": 0.1, "curvature_bound": 0.025})
    X, (_, _, map, _) = TABLE, POSTERIORS["logit"]
    y = (np.random.default_rng(3).random(ROWS) < 0.3).astype(float)
    bounds = Bounds(
        low(design(X), y, None, np.arange(ROWS) % 3 * 0.5),
        Prior(DIM),
        map,
        grid("logit")[1] @ grid("logit")[0],
        True,
    )
    assert (
        departure(particle(CONTINUOUS[name], "logit", bounds=bounds), "logit", EVENTS[name])
        == "bound exceeded"
    )


@pytest.mark.mistake("events: no refreshment")
@pytest.mark.parametrize("name", ["bps"])
def test_a_missing_refreshment_is_caught(name):
    """On an isotropic Gaussian reflections keep x v' - v x': a path that begins far out on a
    tangent never comes near.
    """
    spec = CONTINUOUS[name]
    isotropic = KnownSigma(design(np.zeros((4, DIM))), np.zeros(4))

    def share(refresh):
        """Of time spent within 0.2 of the mean,
        by draws, less the expected one in Monte Carlo errors.
        """
        rng = stream(4)
        gradient = event_gradient(spec, isotropic, normal_prior(DIM), rng)
        chain = Chain(
            [2.0, 0.0],
            type(spec)(refresh=refresh).build(DIM, 1.0),
            gradient,
            rng,
            Constant(1.0),
            velocity=True,
        )
        chain.recorder = Path(50_000, DIM, 1.0)
        chain.run(10**7)
        near = (np.asarray(chain.recorder.draws) ** 2).sum(axis=1) < 0.04
        return (
            100.0 if not near.any() else standard_errors(near[:, None] * 1.0, 1 - np.exp(-0.02))[0]
        )

    assert share(0.5) < LIMIT < share(1e-9)


@pytest.mark.mistake("events: positions at events for draws")
@pytest.mark.parametrize("name", ["zigzag", "bps"])
def test_events_are_not_draws(name):
    chain = particle(CONTINUOUS[name], "normal")
    chain.recorder = MomentsRecorder(DIM)
    chain.run(50_000)
    x, p = grid("normal")
    right = np.einsum("i,ij,ik->jk", p, x - p @ x, x - p @ x)
    assert np.abs(np.diag(chain.recorder.covariance()) / np.diag(right) - 1).max() > 0.1


# ---- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, kernel in REGRESSIONS.items()
        if np.isfinite(getattr(kernel, "curvature_bound", np.inf))
    ],
)
def test_declared_bounds_hold_and_are_not_loose(name):
    """On predictors from -60 to 60, of both outcomes; the largest curvature, and score if it is
    bounded, within a tenth per cent.
    """
    eta = np.concatenate([np.linspace(-60, 60, 4001), np.linspace(-3, 3, 6001)])
    for y in (0.0, 1.0):
        probe = Probe(REGRESSIONS[name](design(eta[:, None].copy()), np.full(len(eta), y)))
        score = probe.scores([1.0], block(0, len(eta)))[0]
        sharpest = probe.curvatures([1.0], block(0, len(eta)))
        bounds = REGRESSIONS[name]
        assert (
            0.999 * bounds.curvature_bound
            <= np.abs(sharpest).max()
            <= bounds.curvature_bound * (1 + 1e-12)
        )
        if np.isfinite(bounds.score_bound):
            assert (
                0.999 * bounds.score_bound
                <= np.abs(score).max()
                <= bounds.score_bound * (1 + 1e-12)
            )


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_bounds_are_those_of_the_formulas(posterior):
    """By numpy: rows through the map, weights included."""
    model, prior, map, _ = POSTERIORS[posterior]
    centre = np.array([0.1, -0.3])
    bounds = Bounds(model, prior, map, centre, True)
    J = np.eye(DIM) if map is None else np.asarray(map.jacobian(None))
    steep, sharpest = model.row_bounds()
    Z, size = TABLE @ J, np.linalg.norm(TABLE @ J, axis=1)
    assert np.allclose(
        bounds.curvature, ROWS * (np.abs(Z) * (size * sharpest)[:, None]).max(axis=0)
    )
    R, curvature, _, jump = prior.ridges()
    R = R @ J if map is not None else R
    assert np.allclose(bounds.hessian, (Z.T * sharpest) @ Z + (R.T * curvature) @ R)
    assert np.allclose(bounds.jump, 2 * jump @ np.abs(R))
    if np.isfinite(model.score_bound):
        assert np.allclose(bounds.score, ROWS * (np.abs(Z) * steep[:, None]).max(axis=0))
        assert np.isclose(bounds.whole[0], ROWS * (size * steep).max())
    gradient = GRADIENTS["simple"](model, prior, FullBatch(ROWS), stream(0), map=map)
    assert np.allclose(bounds.slope, np.abs(full(gradient, centre)[1]))
