"""`Results.arbiter`: right draws pass at the nominal rate, planted wrong ones are caught, and what
it cannot judge is refused.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.checks.arbiter import REJECTED_BELOW, arbiter

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
ROWS, SEEDS = 120, 40
RNG = np.random.default_rng(8)
FRAME = pd.DataFrame({"a": RNG.normal(size=ROWS), "b": RNG.normal(size=ROWS)})
FRAME["y"] = (RNG.random(ROWS) < 1 / (1 + np.exp(-FRAME.a - 0.5))).astype(int)
FRAME["t"] = FRAME.a + RNG.normal(size=ROWS)
PRIOR = sgmc.normal(0, 0.3)


@cache
def fitted(verb="logit", formula="y ~ a + b", **how):
    how = {"seed": 1, "sampler": "mala", "prior": PRIOR, "draws": 2000, "chains": 2} | how
    return getattr(sgmc, verb)(formula, FRAME, **how)


def asked(right, x, seed=0, steps=10):
    """The verdict on draws x of the right fit's coordinates."""
    fit = replace(right._fit, x=np.ascontiguousarray(x))
    return arbiter(fit, right.names, 200, steps, seed, 1e9)


def transplanted(right, wrong):
    """Draws of a wrong fit in the right one's coordinates."""
    back, draws = right._fit.problem.coordinates.from_reported, wrong.draws
    x = np.array([back(one) for one in draws.reshape(-1, draws.shape[2])])
    return x.reshape(draws.shape)


@pytest.mark.extended
@pytest.mark.parametrize("verb, formula", [("logit", "y ~ a + b"), ("ols", "t ~ a + b")])
def test_its_size_is_nominal(verb, formula):
    """40 stretches of one long run, 200 draws of each: p below 0.05 at most 6 times, which more
    than 2 expected ones exceed with probability 0.003; below 0.01 never more than 3 times.
    """
    right = fitted(verb, formula, draws=8000, thin=4)
    stretches = np.array_split(right._fit.x, SEEDS, axis=1)
    p = np.array([asked(right, x, seed).p_value for seed, x in enumerate(stretches)])
    print(verb, np.sort(p)[:6])
    assert (p < 0.05).sum() <= 6
    assert (p < REJECTED_BELOW).sum() <= 3


@pytest.mark.cover(0)
@pytest.mark.parametrize("sampler", ["mala", "mhss", "imh"])
def test_right_fits_are_accepted(sampler):
    found = fitted(sampler=sampler).arbiter()
    assert found.agrees and found.p_value > REJECTED_BELOW
    assert str(found).startswith("The draws agree with the exact sampler")
    assert found.data_passes > 0 and found.sampler == "mhss"
    assert list(found.table.index) == ["Intercept", "a", "b"]


@pytest.mark.cover(0)
@pytest.mark.mistake("arbiter: {mistake}")
@pytest.mark.parametrize("name", ["arbiter"])
@pytest.mark.parametrize(
    "mistake", ["noise times sqrt 2", "likelihood twice", "prior dropped", "step too large"]
)
def test_wrong_draws_are_caught(name, mistake):
    right = fitted()
    x = {
        "noise times sqrt 2": lambda: right._fit.x * np.sqrt(2),
        "likelihood twice": lambda: transplanted(
            right,
            sgmc.logit(
                "y ~ a + b",
                FRAME.assign(w=2.0),
                weights="w",
                seed=1,
                prior=PRIOR,
                sampler="mala",
                draws=2000,
                chains=2,
            ),
        ),
        "prior dropped": lambda: transplanted(right, fitted(prior=None)),
        "step too large": lambda: transplanted(
            right, fitted(sampler="sgld", step_size=1.5, batch_size=ROWS)
        ),
    }[mistake]()
    found = asked(right, x)
    print(mistake, found.p_value)
    assert found.agrees is False
    assert "do not agree" in str(found)


@pytest.mark.extended
def test_the_same_seed_gives_the_same_answer():
    one, two = (fitted().arbiter(seed=3) for _ in range(2))
    pd.testing.assert_frame_equal(one.table, two.table)


def test_its_steps_do_not_depend_on_how_the_fit_ended():
    """A fit with `accuracy` looks at its draws as it goes; the arbiter has the steps asked for."""
    found = fitted(accuracy=0.05, draws=4000).arbiter(steps=4)
    assert found.steps == 4 and found.agrees


def test_few_draws_leave_it_open():
    found = fitted().arbiter(draws=50, steps=2)
    assert found.agrees is None
    assert "cannot be told" in str(found) and "Give more draws" in str(found)


@pytest.mark.extended
def test_what_it_cannot_judge_is_refused(tmp_path):
    for res, why in (
        (fitted(sampler="sgld", step_size=lambda t: 0.1 / (1 + t / 1000)), "weighted"),
        (fitted("quantreg", "t ~ a", sampler="auto", prior=None), "working likelihood"),
        (fitted(sampler="stickyzigzag", draws=500), "spike-and-slab"),
    ):
        with pytest.raises(NotSupported, match=why):
            res.arbiter()
    res = fitted()
    with pytest.raises(ArgumentError, match="draws=10"):
        res.arbiter(draws=10)
    with pytest.raises(ArgumentError, match="steps=1"):
        res.arbiter(steps=1)
    with pytest.raises(ArgumentError, match="independent draws"):
        fitted(sampler="rwm", draws=60).arbiter()
    res.save(tmp_path / "r.sgmc")
    with pytest.raises(ArgumentError, match="needs the data"):
        sgmc.load(tmp_path / "r.sgmc").arbiter()


@pytest.mark.parametrize("formula, many", [("t ~ s(u)", 600), ("t ~ rw1(u)", 60)])
def test_sds_that_may_be_zero_have_no_sign_here(formula, many):
    """Chains cross zero, draws are printed without a sign, and coefficients of the curve are not
    told by what is printed: p was 1e-31 of right draws.  With chains begun at numbers that are
    spread wrongly the mistake is seen.
    """
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"u": rng.permutation(np.arange(many) % 60), "t": rng.normal(size=many)})
    right = sgmc.ols(formula, frame, seed=1)
    found = right.arbiter(seed=1)
    assert found.agrees is not False and found.p_value > REJECTED_BELOW
    assert list(found.table.index) == right.names
    assert asked(right, right._fit.x * np.sqrt(2)).agrees is False


def test_shares_and_covariances_are_compared_as_they_are_printed():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-2, 1, (100, 2)), rng.normal(2, 1, (100, 2))])
    right = sgmc.GaussianMixture(X, components=2).fit(seed=1)
    found = right.arbiter(seed=1)
    assert found.agrees and list(found.table.index) == right.names
    assert asked(right, right._fit.x * np.sqrt(2)).agrees is False
