"""Random streams: their law, and that they continue and are cut without a bit of difference."""

import pickle

import numpy as np
import pytest
from _ext.probes import draw
from scipy import stats

from sgmc.core.random.rng import PURPOSES, Rng, seed_sequence

from .cases import SCHEMES, stream
from .montecarlo import LIMIT

MANY = 1_000_000


def normality(x):
    """Largest departure of the first four moments and of two tail counts, in standard errors,
    and the p of KS.
    """
    powers = [
        (x.mean(), 0, 1),
        ((x**2).mean(), 1, 2),
        ((x**3).mean(), 0, 15),
        ((x**4).mean(), 3, 96),
    ]
    tails = [((np.abs(x) > t).mean(), p, p) for t in (3, 4) for p in [2 * stats.norm.sf(t)]]
    return max(abs(m - e) / np.sqrt(v / len(x)) for m, e, v in powers + tails), stats.kstest(
        x, "norm"
    ).pvalue


def test_normals():
    departure, p = normality(stream(1).normals(MANY))
    assert departure < LIMIT and p > 1e-4


@pytest.mark.extended
@pytest.mark.parametrize(
    "mistake",
    [
        lambda x, u: 1.01 * x,
        lambda x, u: x + 0.006,
        lambda x, u: np.clip(x, -3.9, 3.9),
        lambda x, u: u.reshape(12, -1).sum(axis=0) - 6,
    ],
)
def test_numbers_that_are_not_normal_are_caught(mistake):
    x = np.random.default_rng(1).normal(size=MANY)
    u = np.random.default_rng(2).random(12 * MANY // 4)
    departure, p = normality(mistake(x, u))
    assert departure > LIMIT or p < 1e-4


@pytest.mark.extended
def test_uniforms():
    u = stream(1).uniforms(MANY)
    assert u.min() >= 0 and u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    for lag in (1, 2, 7, 8, 9, 16):  # lanes of 8: neighbours in a lane and across lanes
        cells = np.histogram2d(u[:-lag], u[lag:], 20, [[0, 1], [0, 1]])[0].ravel()
        assert stats.chisquare(cells).pvalue > 1e-4


def xoshiro(lanes, groups):
    """Uniforms on [0, 1) of xoshiro256+ (Blackman & Vigna 2021) in eight lanes, (groups, 8), by
    numpy's integers.
    """
    a, b, c, d = lanes.reshape(4, 8).copy()
    out = np.empty((groups, 8))
    for k in range(groups):
        out[k] = (a + d >> np.uint64(12)) * 2.0**-52
        t = b << np.uint64(17)
        c, d = c ^ a, d ^ b
        a, b, c = a ^ d, b ^ c, c ^ t
        d = d << np.uint64(45) | d >> np.uint64(19)
    return out


def test_numbers_are_those_of_the_documented_generators():
    """The stream of a seed is fixed: uniforms to the bit, normals by Box & Muller (1958) to
    rounding, 10,000 of each.
    """
    rng, n = stream(3), 9_984
    lanes = {kind: rng.state()[kind][:32] for kind in ("normal", "uniform")}
    assert np.array_equal(rng.uniforms(n), xoshiro(lanes["uniform"], n // 8).ravel())
    unit = xoshiro(lanes["normal"], n // 8)
    radius, angle = np.sqrt(-2 * np.log(1 - unit[::2])), 2 * np.pi * (unit[1::2] - 0.5)
    expected = np.hstack([radius * np.cos(angle), radius * np.sin(angle)]).ravel()
    assert rng.normals(n) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def tail_departures(draw, n=100_000_000, limits=(4.0, 5.0, 6.0)):
    """How many of n normals lie beyond each limit, less the expected number, over the sd of their
    Poisson law.
    """
    block, count, expected = 1 << 17, np.zeros(len(limits)), n * 2 * stats.norm.sf(limits)
    for _ in range(n // block):
        far = np.abs(draw(block))
        far = far[far > limits[0]]
        count += [np.count_nonzero(far > t) for t in limits]
    return np.abs(count - expected * (n // block * block / n)) / np.sqrt(expected)


def test_far_tails():
    """Of 1e8 normals 6,334, 57 and 0.2 are expected beyond 4, 5 and 6 sd;
    within 5 sds of the Poisson law.
    """
    assert tail_departures(stream(0).normals).max() < LIMIT


@pytest.mark.extended
def test_tails_that_are_cut_or_too_heavy_are_caught():
    """Cut at 4.5 sd, or 5 % wider, of which a tenth of the numbers suffices."""
    rng, n = stream(0), 10_000_000
    assert tail_departures(lambda k: np.clip(rng.normals(k), -4.5, 4.5), 10 * n).max() > LIMIT
    assert tail_departures(lambda k: 1.05 * rng.normals(k), n).max() > LIMIT


def from_lanes(a, b):
    """The next 16 normals of a stream whose lanes are in the state (a, b, 0, 0);
    the first output of each is a.
    """
    rng = stream(0)
    state = rng.state()
    state["normal"][:32] = np.concatenate([a, b, np.zeros((2, 8), np.uint64)], axis=None)
    rng.set_state(state)
    return rng.normals(16)


@pytest.mark.parametrize("first", [1, 9, 1000, 1 << 20, 1 << 45, 1 << 52])
def test_normals_of_extreme_uniforms(first):
    """Radius sqrt(-2 log u) for u = k / 2^52 with k from `first` on, up to 8.49: to rounding, at
    angles of all kinds.
    """
    k = np.minimum(np.arange(first, first + 8, dtype=np.uint64), np.uint64(1 << 52))
    a = (np.uint64(1 << 52) - k) << np.uint64(12)
    b = np.random.default_rng(first).integers(0, 1 << 63, 8).astype(np.uint64)
    cosine, sine = from_lanes(a, b).reshape(2, 8)
    assert np.hypot(cosine, sine) == pytest.approx(
        np.sqrt(-2 * np.log(k * 2.0**-52)), rel=1e-13, abs=1e-14
    )
    turn = ((a ^ b) + (b << np.uint64(45) | b >> np.uint64(19)) >> np.uint64(12)) * 2.0**-52 - 0.5
    expected = np.hypot(cosine, sine) * [np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)]
    assert np.array([cosine, sine]) == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_the_grid_of_uniforms_leaves_the_tails_right():
    """P(|z| > t) of Box & Muller with u on multiples of 2^-52, over that of a normal: exact, by
    quadrature of the angle.

    3e-8 short at 6 sd, where one number in 5e8 lies; 2 % short at 8 sd (one in 8e14); none
    beyond 8.49.
    """
    angle = (np.arange(200_000) + 0.5) / 200_000 * np.pi / 2
    for t, tolerance in ((5, 1e-9), (6, 1e-7), (7, 1e-4), (8, 0.03)):
        # of u = k / 2^52 with radius beyond t / cos
        cells = np.floor(2.0**52 * np.exp(-((t / np.cos(angle)) ** 2) / 2))
        assert (cells * 2.0**-52).mean() == pytest.approx(2 * stats.norm.sf(t), rel=tolerance)
    assert np.sqrt(-2 * np.log(2.0**-52)) == pytest.approx(8.4904, abs=1e-4)


@pytest.mark.parametrize("lag", [1, 2, 7, 8, 9, 16])
def test_normals_do_not_follow_each_other(lag):
    x = stream(2).normals(MANY)
    for a, b in ((x[:-lag], x[lag:]), (x[:-lag] ** 2, x[lag:] ** 2)):
        assert abs(np.corrcoef(a, b)[0, 1]) < LIMIT / np.sqrt(MANY)


@pytest.mark.parametrize("kind", ["normals", "uniforms"])
def test_a_stream_does_not_depend_on_how_it_is_cut(kind):
    sizes = [1, 3, 0, 17, 255, 256, 257, 1, 15, 16, 1000, 700, 2]
    pieces = stream(3)
    cut = np.concatenate([getattr(pieces, kind)(n) for n in sizes])
    assert np.array_equal(cut, getattr(stream(3), kind)(sum(sizes)))


def use(rng):
    """Some of every kind of number."""
    return np.concatenate(
        [rng.normals(37), rng.uniforms(5), draw(SCHEMES["replacement"](1000, 9), rng)[0].rows]
    )


def test_a_stream_continues_from_its_pickled_state():
    rng, other = stream(4), stream(5)
    use(rng)
    saved = pickle.dumps(rng.state())
    expected = [use(rng) for _ in range(20)]
    use(other)
    other.set_state(pickle.loads(saved))
    assert all(np.array_equal(a, use(other)) for a in expected)


def test_a_state_of_another_size_is_refused():
    state = stream(4).state()
    with pytest.raises(ValueError, match="another version"):
        stream(4).set_state({**state, "normal": state["normal"][:-1]})


def test_purposes_chains_and_seeds_have_their_own_streams():
    """No two of these streams are correlated, neither in place nor shifted by a few numbers."""
    n = 10_000
    rngs = [stream(seed, purpose, k) for seed in (0, 1) for purpose in PURPOSES for k in range(3)]
    x = np.array([draws(n) for rng in rngs for draws in (rng.normals, rng.uniforms)])
    for shift in (0, 1, 8):
        r = np.corrcoef(x, np.roll(x, shift, axis=1))[: len(x), len(x) :]
        assert np.abs(r[~np.eye(len(x), dtype=bool)]).max() < 5.5 / np.sqrt(n)  # of 15,000 pairs


def test_equal_seeds_give_equal_streams():
    assert np.array_equal(
        use(Rng(seed_sequence(9, "chain", 2))), use(Rng(seed_sequence(9, "chain", 2)))
    )
