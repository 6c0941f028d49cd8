"""Batches that go forward and backward through a random partition of the rows: what they are, the
exact law of linear samplers with them on a Gaussian, and the share of the noise that plans expect.
"""

import math
from functools import cache

import numpy as np
import pytest
from _ext.probes import Scripted, draw
from _ext.toys import GaussianLocation

from sgmc.coordinates.transforms.maps import Scaling
from sgmc.core.engine import Chain, evaluate
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.subsampling.uniform import FullBatch

from .cases import GRADIENTS, SAMPLERS, SCHEMES, estimator, normal_prior, regression, stream, table
from .montecarlo import LIMIT, standard_errors
from .test_combinations import LogitOfTwo, standardised
from .test_combinations import gradient_of as gradient_on

# ---- what is drawn -------------------------------------------------------------------------------


def sweeps(n, m, many=3):
    """Row lists of several sweeps, forward and backward: (many, 2 k lists)."""
    rows, rng = SCHEMES["symmetric"](n, m), stream(3)
    return [[draw(rows, rng)[0].rows for _ in range(2 * math.ceil(n / m))] for _ in range(many)]


def symmetric(n, m, swept):
    """Whether each sweep is a partition into parts of sizes N/k rounded up or down, and then the
    same parts backwards; and no two sweeps have the same first part.
    """
    k = math.ceil(n / m)
    for parts in swept:
        if sorted(sum(parts[:k], ())) != list(range(n)) or list(parts[k:]) != parts[:k][::-1]:
            return False
        if {len(part) for part in parts} - {n // k, -(-n // k)}:
            return False
    return k == 1 or len({parts[0] for parts in swept}) == len(swept)


@pytest.mark.parametrize("n, m", [(60, 10), (50, 7), (50, 49), (7, 1), (20, 20)])
def test_batches_go_through_a_partition_and_back(n, m):
    assert symmetric(n, m, sweeps(n, m))


MISTAKES = {
    "not reversed": lambda swept: [parts[:6] * 2 for parts in swept],
    "one partition for all": lambda swept: [swept[0]] * 3,
    "parts overlap": lambda swept: [
        [a[:-1] + b[:1] for a, b in zip(parts, parts[1:] + parts[:1])] for parts in swept
    ],
}


@pytest.mark.mistake("sweeps: {mistake}")
@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("name", ["symmetric"])
def test_sweeps_that_are_none_are_caught(name, mistake):
    assert not symmetric(60, 10, MISTAKES[mistake](sweeps(60, 10)))


@pytest.mark.parametrize("name", [k for k, cls in GRADIENTS.items() if cls.staleness == 1])
def test_errors_of_a_sweep_add_up_to_zero(name):
    """Of 50 rows in parts of 6 and 7, to rounding; and the scale of independent batches, N/n, is
    off by more than a thousandth.
    """
    model, rng, at = regression("logit", table(50, 3)), stream(2), np.array([0.5, -1.0, 0.2])

    def summed(rows):
        made = estimator(GRADIENTS[name], model, rows, rng, prior=normal_prior(3))
        return np.mean([evaluate(made, at, rng)[0] for _ in range(8)], axis=0)

    exact = summed(FullBatch(50))
    np.testing.assert_allclose(summed(SCHEMES["symmetric"](50, 7)), exact, rtol=1e-10, atol=1e-10)
    rows = SCHEMES["symmetric"](50, 7)
    wrong = [tuple(run._replace(scale=50 / run.m) for run in draw(rows, rng)) for _ in range(8)]
    if name == "simple":
        assert np.abs(summed(Scripted(50, wrong)) / exact - 1).max() > 1e-3


def test_batches_of_no_or_too_many_rows_are_refused():
    for m in (0, 8):
        with pytest.raises(ValueError, match=f"a batch of {m} of 7 rows without replacement"):
            SCHEMES["symmetric"](7, m)


# ---- exact laws on a Gaussian --------------------------------------------------------------------
# z' = A z + b n + injected noise, where z has the position first and n is the error of a batch.


def underdamped(e, C):
    """A and b of a step of `baoab`: kick, half a drift, friction, half a drift."""
    drift, keep = np.array([[1, e / 2], [0, 1]]), np.diag([1, math.exp(-C * e)])
    after = drift @ keep @ drift
    return after @ np.array([[1, 0], [-e, 1]]), after @ np.array([0, e])


def frictional(e, C):
    """The same of a leapfrog step of `sghmc`."""
    drift = np.array([[1, e / 2], [0, 1]])
    return drift @ np.array([[1, 0], [-e, 1 - e * C]]) @ drift, drift @ np.array([0, e])


def overdamped(h, _):
    """The same of `sgld` and `lmsgld`, whose normals make no difference to the noise's part."""
    return np.array([[1 - h / 2]]), np.array([h / 2])


STEPS = {"sgld": overdamped, "lmsgld": overdamped, "baoab": underdamped, "sghmc": frictional}


def left(A, b, k, backward=True):
    """Variance that errors of variance one add to the position, in the mean over a sweep's steps:
    errors of different batches have covariance -1 / (k - 1), those of different sweeps none.
    """
    order = [*range(k), *(reversed(range(k)) if backward else range(k))]
    C, d = np.eye(k) * k / (k - 1) - 1 / (k - 1), len(b)
    weights = [np.zeros((d, k))]
    for batch in order:
        weights.append(A @ weights[-1] + np.outer(b, np.eye(k)[batch]))
    whole = np.linalg.matrix_power(A, 2 * k)
    start = np.linalg.solve(
        np.eye(d * d) - np.kron(whole, whole), (weights[-1] @ C @ weights[-1].T).ravel()
    ).reshape(d, d)
    found = []
    for w in weights[1:]:
        start_now = np.linalg.matrix_power(A, len(found) + 1)
        found.append((start_now @ start @ start_now.T + w @ C @ w.T)[0, 0])
    return np.mean(found)


def alone(A, b):
    """The same of independent errors."""
    d = len(b)
    return np.linalg.solve(np.eye(d * d) - np.kron(A, A), np.outer(b, b).ravel())[0]


@pytest.mark.parametrize("friction", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("name", STEPS)
def test_the_share_of_noise_that_is_left_bounds_the_exact_one(name, friction):
    """At steps where V = k adds at most 1 % to the variance, as plans have them, the exact variance
    is at most the formula's, and at least a twelfth of it (`sgld`: half); independent errors are
    more than five times the formula there.
    """
    cls = SAMPLERS[name]
    spec = cls(friction=friction) if name in ("baoab", "sghmc") else cls()
    for k in (4, 10, 40):
        for e in np.geomspace(0.02, 1.0, 30) / k:
            h = spec.langevin_time(e)
            A, b = STEPS[name](e, friction)
            formula = spec.inflation(h, k) - spec.inflation(h, 0.0)
            share = spec.noise_left(h, k)
            if formula * share > 0.01:
                break
            exact = k * left(A, b, k)
            least = 0.5 if "ld" in name else 1 / 12
            assert least * share * formula < exact < 1.02 * share * formula, (k, e)
            assert k * alone(A, b) > 5 * share * formula


ROWS, BATCH, DIM, V = 200, 20, 64, 10.0


@cache
def noisy_normal():
    """Rows of a location in 64 coordinates whose batches of 20 have noise V around N(0, I)."""
    y = np.random.default_rng(5).normal(size=(ROWS, DIM))
    y = (y - y.mean(axis=0)) / y.std(axis=0, ddof=1)
    y *= np.sqrt(4 * BATCH * V / (1 - BATCH / ROWS))
    return GaussianLocation(y, 0.5 / ROWS)


def departure(name, h, scheme, expected):
    """Of the mean square from what is expected, in Monte Carlo errors; 100,000 steps."""
    spec = SAMPLERS[name]()
    step = spec.from_langevin(h)
    gradient = GRADIENTS["simple"](
        noisy_normal(),
        normal_prior(DIM, np.sqrt(2), 1.0),
        SCHEMES[scheme](ROWS, BATCH),
        stream(1),
        map=Scaling(np.full(DIM, 0.5), np.ones(DIM)),
    )
    chain = Chain(np.zeros(DIM), spec.build(DIM, step), gradient, stream(2), Constant(step))
    chain.run(1000, False)
    # 7 steps apart, which meets every place of sweeps of 20
    chain.recorder = FullRecorder(15_000, DIM, 7)
    chain.run(105_000)
    squares = (np.asarray(chain.recorder.draws) ** 2).mean(axis=1)[:, None]
    return standard_errors(squares, expected).max()


@pytest.mark.extended
@pytest.mark.mistake("sweeps: independent batches")
@pytest.mark.parametrize("name, h", [("sgld", 0.15), ("lmsgld", 0.15), ("baoab", 0.2)])
def test_chains_have_the_exact_variance(name, h):
    """Noise of ten batches: `lmsgld` 1.1 % wider, `baoab` 1.4 %; with independent batches 40 % and
    27 %, which is seen.
    """
    spec, k = SAMPLERS[name](), ROWS // BATCH
    A, b = STEPS[name](spec.from_langevin(h), 2.0)
    expected = 1 + spec.inflation(h, 0.0) + V * left(A, b, k)
    assert departure(name, h, "symmetric", expected) < LIMIT
    assert departure(name, h, "uniform", expected) > LIMIT


class Longer(LogitOfTwo):
    steps = 240_000


@pytest.mark.mistake("sweeps on a logit: independent batches")
@pytest.mark.parametrize("name", ["baoab"])
def test_curvatures_of_batches_differ_and_the_posterior_is_the_right_one(name):
    """On a logit of 200 rows in batches of 10, e = 0.05: means within 0.03 sd, variances within 5 %
    besides Monte Carlo errors, as in test_combinations.  Independent batches widen it by some 25 %.
    """

    def off(scheme):
        gradient = gradient_on("logit", "simple", SCHEMES[scheme](200, 10))
        z = standardised(SAMPLERS[name](), gradient, Longer)
        return standard_errors(np.column_stack([z, z**2]), [0, 0, 1, 1], [0.03] * 2 + [0.05] * 2)

    assert off("symmetric").max() < LIMIT
    assert off("uniform").max() > LIMIT
