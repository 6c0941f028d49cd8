"""``seed=`` and SPEC 7's ``rng=``."""

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # the runs are short
random = np.random.default_rng(0)
X = np.column_stack([np.ones(60), random.normal(size=60)])
MODEL = sgmc.Logit(random.integers(0, 2, 60), X)


def drawn(**how):
    """Draws of a short exact fit."""
    return MODEL.fit(sampler="laplace", draws=30, **how).draws


@pytest.mark.parametrize(
    "made",
    [
        lambda: 5,
        lambda: np.int64(5),
        lambda: np.random.SeedSequence(5),
        lambda: np.random.PCG64(5),
        lambda: np.random.default_rng(5),
    ],
    ids=["int", "numpy int", "SeedSequence", "BitGenerator", "Generator"],
)
def test_rng_gives_the_draws_of_seed(made):
    np.testing.assert_array_equal(drawn(rng=made()), drawn(seed=made()))


def test_ints_and_sequences_agree_and_generators_go_on():
    np.testing.assert_array_equal(drawn(rng=5), drawn(rng=np.random.SeedSequence(5)))
    np.testing.assert_array_equal(
        drawn(rng=np.random.PCG64(5)), drawn(rng=np.random.default_rng(5))
    )
    generator = np.random.default_rng(5)
    assert (drawn(rng=generator) != drawn(rng=generator)).any()
    assert (drawn(rng=None) != drawn(rng=None)).any()


def test_both_are_refused():
    with pytest.raises(ArgumentError, match="seed and rng are both given: leave one of them out"):
        drawn(seed=1, rng=1)
    assert drawn(seed=None, rng=1).shape == drawn(seed=1, rng=None).shape


@pytest.mark.parametrize("value", ["a", -1, 1.5, True, [1, 2]])
def test_what_is_no_seed_is_refused_by_name(value):
    with pytest.raises(ArgumentError, match="^rng=.* must be a whole number, at least 0, or a nu"):
        drawn(rng=value)


def test_every_way_to_call_takes_it():
    table = dict(y=MODEL.data.y, x=X[:, 1])
    how = dict(rng=3, draws=30, sampler="laplace")
    expected = sgmc.logit("y ~ x", table, seed=3, draws=30, sampler="laplace").draws
    for results in (
        sgmc.logit("y ~ x", table, **how),
        sgmc.glm("y ~ x", table, family="binomial", **how),
        sgmc.sample(sgmc.Logit.from_formula("y ~ x", table), **how),
    ):
        np.testing.assert_array_equal(results.draws, expected)
        assert results.seed == 3


def test_races_and_other_models_take_it():
    races = [
        sgmc.tune(MODEL, **how, grid={"step_size": [0.1, 0.5]}, budget_steps=60)
        for how in (dict(seed=2), dict(rng=2))
    ]
    assert races[0].seed == races[1].seed == 2
    np.testing.assert_array_equal(races[0].history.metric, races[1].history.metric)
    means = sgmc.TiedMeans(random.normal(size=50))
    how = dict(draws=20, step_size=0.01, batch_size=10, sampler="sgld")
    np.testing.assert_array_equal(means.fit(rng=2, **how).draws, means.fit(seed=2, **how).draws)


def test_a_run_resumes_from_its_rng():
    whole = MODEL.fit(rng=4, draws=60, sampler="mala")
    np.testing.assert_array_equal(
        MODEL.fit(rng=4, draws=40, sampler="mala").resume(draws=20).draws, whole.draws
    )
