"""Chains continue, are cut into chunks and run in threads without a bit of difference."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

from sgmc.coordinates.transforms.maps import Scaling
from sgmc.core.contract import Anchor
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder, MomentsRecorder
from sgmc.core.schedules import Constant, Polynomial

from .cases import GRADIENTS, LEARNING, SCHEMES, STEPPING, normal_prior, regression, stream, table

N, D, M, STEPS = 50, 3, 7, 150
MODEL, PRIOR = regression("logit", table(N, D)), normal_prior(D)
MAP = Scaling(np.full(D, 0.1), np.full(D, 0.8))
ANCHORS = {curvature: Anchor(MODEL, np.full(D, 0.1), curvature) for curvature in (False, True)}
# estimators matter to minibatches alone
COMBINATIONS = [
    c
    for c in itertools.product(LEARNING, GRADIENTS, SCHEMES)
    if LEARNING[c[0]].minibatches or c[1:] == ("simple", "block")
]


def chain(spec, name, scheme, index=0, schedule=Constant, recorder=FullRecorder):
    """A chain of its own on a posterior that all of them share."""
    rng, cls, step = stream(6, index=index), GRADIENTS[name], LEARNING[spec].from_langevin(0.1)
    anchor = ANCHORS["curvature" in cls.needs] if "anchor" in cls.needs else None
    gradient = cls(MODEL, PRIOR, SCHEMES[scheme](N, M), rng, map=MAP, anchor=anchor)
    made = Chain(
        np.full(D, 0.5),
        LEARNING[spec].build(D, step),
        gradient,
        rng,
        Constant(step) if schedule is Constant else Polynomial(step, 1, 0.6),
    )
    made.sampler.plan_warmup(STEPS // 3)
    made.recorder = FullRecorder(STEPS, D, 2) if recorder is FullRecorder else MomentsRecorder(D)
    return made


def outcome(chain):
    """All that a chain is: bytes."""
    return pickle.dumps(chain.state())


def run(chain, pieces):
    """Warm up for a third of STEPS, then record, in pieces of these lengths, over and over."""
    lengths = itertools.cycle(pieces)
    for last, warming in ((STEPS // 3, True), (STEPS, False)):
        chain.sampler.warming = warming
        while chain.steps < last:
            chain.run(min(next(lengths), last - chain.steps), not warming)
    return chain


@cache
def whole(combination):
    """The outcome of a chain in one run."""
    return outcome(run(chain(*combination), [STEPS]))


@pytest.mark.cover
@pytest.mark.parametrize("combination", COMBINATIONS, ids="-".join)
def test_chunks_do_not_matter(combination):
    assert outcome(run(chain(*combination), [1, 7, 64, 3])) == whole(combination)


@pytest.mark.cover
@pytest.mark.parametrize("until", [STEPS // 6, STEPS // 2])  # while warming, and while recording
@pytest.mark.parametrize("combination", COMBINATIONS, ids="-".join)
def test_a_restored_chain_continues_bit_by_bit(combination, until):
    first = interrupted(combination, until)
    second = chain(*combination, index=1)  # another stream, to be replaced
    second.set_state(pickle.loads(outcome(first)))
    assert second.steps == until
    assert outcome(run(second, [STEPS])) == whole(combination)


def interrupted(combination, until):
    """A chain that was stopped after that many steps."""
    made = chain(*combination)
    made.sampler.warming = until < STEPS // 3
    if made.sampler.warming:
        made.run(until, False)
        return made
    made.sampler.warming = True
    made.run(STEPS // 3, False)
    made.sampler.warming = False
    made.run(until - STEPS // 3)
    return made


@pytest.mark.extended
@pytest.mark.parametrize("part", ["x", "rng", "t", "recorder"])
def test_a_part_of_the_state_that_is_lost_is_noticed(part):
    for combination in COMBINATIONS:
        spec = LEARNING[combination[0]]
        if part == "x" and (spec.independent or not spec.uses_gradient):
            continue  # nothing that comes depends on the last draw
        first, second = interrupted(combination, STEPS // 2), chain(*combination, index=1)
        second.set_state({**first.state(), part: second.state()[part]})
        assert outcome(run(second, [STEPS])) != whole(combination)


SET_BY_THE_ENGINE = {"step_size", "warming"}
KEPT = sorted(
    {
        (cls.name, key)
        for cls in STEPPING.values()
        for key in cls().build(D, 1.0).state()
        if key not in SET_BY_THE_ENGINE
    }
)


@pytest.mark.parametrize("name, key", KEPT)
def test_whatever_a_sampler_keeps_is_needed(name, key):
    """State that no variant misses, while warming or recording, is dead weight,
    or a restore that does nothing.
    """

    def misses(combination, until):
        first, second = interrupted(combination, until), chain(*combination, index=1)
        state = first.state()
        state["sampler"] = {**state["sampler"], key: second.sampler.state()[key]}
        second.set_state(state)
        return outcome(run(second, [STEPS])) != whole(combination)

    mine = [c for c in COMBINATIONS if LEARNING[c[0]].name == name]
    assert any(misses(c, until) for c in mine for until in (STEPS // 6, STEPS // 2))


@pytest.mark.extended
@pytest.mark.parametrize(
    "recorder, schedule", [(MomentsRecorder, Constant), (FullRecorder, Polynomial)]
)
def test_other_recorders_and_schedules_continue_too(recorder, schedule):
    for combination in COMBINATIONS:
        options = dict(schedule=schedule, recorder=recorder)
        first, second = chain(*combination, **options), chain(*combination, index=1, **options)
        first.run(40)
        second.set_state(first.state())
        first.run(40)
        second.run(40)
        assert outcome(first) == outcome(second)


@pytest.mark.cover
@pytest.mark.parametrize("combination", COMBINATIONS, ids="-".join)
def test_chains_in_threads_are_chains_in_turn(combination):
    """Eight chains on two threads, sharing model, prior, map and anchor."""

    def all_of_it(index):
        return outcome(run(chain(*combination, index=index), [50]))

    with ThreadPoolExecutor(2) as pool:
        threaded = list(pool.map(all_of_it, range(8)))
    assert threaded == [all_of_it(k) for k in range(8)]
    assert threaded[0] == whole(combination) and len(set(threaded)) == 8
