"""Chains in continuous time: cut, restored and threaded without a bit of difference; what their
recorder makes of a path.
"""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sgmc.coordinates.transforms.maps import Affine
from sgmc.core.engine import STATUS_NAMES, Chain
from sgmc.core.schedules import Constant
from sgmc.samplers.bases.piecewise.paths import Integrals, Path

from .cases import (
    CONTINUOUS,
    HELD,
    PREDICTED,
    event_gradient,
    normal_prior,
    regression,
    stream,
    table,
)

N, D = 40, 3
MODEL, PRIOR = regression("logit", table(N, D)), normal_prior(D)
MAP = Affine(np.full(D, 0.1), 0.4 * np.eye(D) + 0.1)
# of the others ten times as many
WARMUP, EVENTS = {"zigzag": 600, "bps": 600}, {"zigzag": 2000, "bps": 2000}
MANY = 10
MOVING = CONTINUOUS | PREDICTED | HELD


def chain(name, index=0, draws=100_000, spacing=0.5, turns=100_000):
    """A chain of its own on a posterior that all of them share."""
    rng, spec = stream(6, index=index), MOVING[name]
    gradient = event_gradient(spec, MODEL, PRIOR, rng, map=MAP)
    made = Chain(np.full(D, 0.5), spec.build(D, 1.0), gradient, rng, Constant(1.0), velocity=True)
    made.recorder = Path(draws, D, spacing, warmup(name), turns)
    if spec.sticky:
        made.sampler.set_release(np.full(D, 0.7))
    return made


def warmup(name):
    """Events of warmup."""
    return WARMUP.get(name, MANY * 600)


def outcome(chain):
    """All that a chain is: bytes."""
    return pickle.dumps(chain.state())


def run(chain, name, pieces, until=None):
    """To the end, or so many events, in pieces of these lengths, over and over."""
    lengths, last = itertools.cycle(pieces), warmup(name) + EVENTS.get(name, MANY * 2000)
    until = last if until is None else until
    while chain.steps < until and chain.status == 0:
        chain.sampler.warming = chain.steps < warmup(name)
        edge = warmup(name) if chain.sampler.warming else last
        chain.run(min(next(lengths), edge - chain.steps, until - chain.steps))
    return chain


@pytest.fixture(scope="module")
def whole():
    return {name: outcome(run(chain(name), name, [10**6])) for name in MOVING}


@pytest.mark.parametrize("name", MOVING)
def test_chunks_do_not_matter(name, whole):
    assert outcome(run(chain(name), name, [1, 7, 64, 300])) == whole[name]


@pytest.mark.parametrize("share", [0.5, 0.97, 1.0, 1.01, 2.5])  # of warmup
@pytest.mark.parametrize("name", MOVING)
def test_a_restored_chain_continues_bit_by_bit(name, share, whole):
    first = run(chain(name), name, [10**6], int(share * warmup(name)))
    second = chain(name, index=1)  # another stream, to be replaced
    second.set_state(pickle.loads(outcome(first)))
    assert outcome(run(second, name, [10**6])) == whole[name]


@pytest.mark.cover(0)
@pytest.mark.parametrize("part", ["x", "v", "rng", "t", "recorder"])
@pytest.mark.parametrize("name", MOVING)
def test_a_part_of_the_state_that_is_lost_is_noticed(name, part, whole):
    first, second = run(chain(name), name, [10**6], int(1.5 * warmup(name))), chain(name, index=1)
    second.set_state({**first.state(), part: second.state()[part]})
    assert outcome(run(second, name, [10**6])) != whole[name]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_whatever_a_sampler_keeps_and_changes_is_needed(name, whole):
    state = run(chain(name), name, [10**6], int(1.5 * warmup(name))).state()
    fresh = chain(name, index=1).sampler.state()
    changed = [
        key
        for key, value in state["sampler"].items()
        if repr(value) != repr(fresh[key]) and key != "warming"
    ]
    assert changed
    for key in changed:
        second = chain(name, index=1)
        second.set_state({**state, "sampler": {**state["sampler"], key: fresh[key]}})
        assert outcome(run(second, name, [10**6])) != whole[name], key


@pytest.mark.extended("stickyzigzag", "zzcv", "sbps", "psbps")
@pytest.mark.parametrize("name", MOVING)
def test_chains_in_threads_are_chains_in_turn(name, whole):
    """Eight chains on two threads, sharing model, prior and map."""

    def all_of_it(index):
        return outcome(run(chain(name, index), name, [500]))

    with ThreadPoolExecutor(2) as pool:
        threaded = list(pool.map(all_of_it, range(8)))
    assert threaded == [all_of_it(k) for k in range(8)]
    assert threaded[0] == whole[name] and len(set(threaded)) == 8


# ---- the recorder --------------------------------------------------------------------------------


@pytest.mark.parametrize("spacing", [0.01, 3.0])  # many draws a line, many lines a draw
@pytest.mark.parametrize("name", CONTINUOUS)
def test_more_room_gives_the_draws_of_one_long_run(name, spacing):
    """Where a recorder is full in the middle of a line, the rest of the line waits."""
    long, short = (chain(name, draws=n, spacing=spacing) for n in (60, 7))
    for one in (long, short):
        one.recorder = Path(len(one.recorder.draws), D, spacing, 0, 1000)
        assert STATUS_NAMES[one.run(10**6)] == "full" and one.recorder.full
    state = short.state()
    for draws in (8, 20, 60):
        more = chain(name, index=1)
        more.recorder = Path(draws, D, spacing, 0, 1000)
        more.set_state(pickle.loads(pickle.dumps(state)))
        assert more.recorder.full or STATUS_NAMES[more.run(10**6)] == "full"
        state = more.state()
    np.testing.assert_array_equal(more.recorder.draws, long.recorder.draws)
    assert outcome(more) == outcome(long)


def test_integrals_are_those_of_the_lines_however_often_batches_merge():
    made = run(chain("zigzag"), "zigzag", [10**6])
    points, integrals = made.recorder.skeleton.state(), made.recorder.integrals
    spans, a = np.diff(points["times"]), points["positions"][:-1] - integrals.origin
    b = points["positions"][1:] - integrals.origin
    times, first, second = integrals.batches()
    assert len(spans) > 500 and integrals.every >= 8 and 32 <= len(times) <= 64
    edges = integrals.every * np.arange(len(times))
    right = spans, spans[:, None] * (a + b) / 2, spans[:, None] * (a * a + a * b + b * b) / 3
    for found, expected in zip((times, first, second), right):
        np.testing.assert_allclose(found, np.add.reduceat(expected, edges), rtol=1e-9, atol=1e-12)
    assert made.recorder.time == pytest.approx(times.sum(), rel=1e-12)


def test_the_spacing_is_the_longest_autocorrelation_time_of_the_second_half_of_warmup():
    seen, learned = chain("zigzag"), chain("zigzag")
    for one, known in ((seen, warmup("zigzag") // 2), (learned, warmup("zigzag"))):
        one.recorder = Path(10, D, 0.05, known, 0)
        one.sampler.warming = True
    seen.run(warmup("zigzag") // 2)
    seen.recorder = Path(10**6, D, 1e9, 0, 0)  # from there on, by itself
    seen.run(warmup("zigzag") // 2)
    learned.run(warmup("zigzag"))
    longest = seen.recorder.integrals.correlation_time(32).max()
    # but for the last line
    assert learned.recorder.spacing == pytest.approx(longest, rel=0.05) and longest > 0.05


@pytest.mark.parametrize("events, spacing", [(30, 0.01), (600, 1e3)])
def test_a_warmup_that_is_too_short_leaves_the_spacing(events, spacing):
    made = chain("zigzag")
    made.recorder = Path(10, D, spacing, events, 0)
    made.run(events)
    assert made.recorder.spacing == spacing


def test_the_correlation_time_is_that_of_a_telegraph():
    """0 and 1 in turns for exponential times of mean 1:
    variance 1/4, autocorrelation exp(-2 t), time 1.

    From 64 batches it is known to 18 %, from 8 to 53 %: three times that is allowed.
    """
    waits, integrals = np.random.default_rng(1).exponential(size=(64, 600)), Integrals(1)
    high = waits[:, ::2].sum(axis=1)
    integrals.set_state(
        {
            "first": high[:, None],
            "second": high[:, None],
            "times": waits.sum(axis=1),
            "origin": np.zeros(1),
            "place": [600, 600, 63],
        }
    )
    assert integrals.correlation_time()[0] == pytest.approx(1.0, abs=0.54)
    assert 0.2 < integrals.correlation_time(8)[0] < 2.6
