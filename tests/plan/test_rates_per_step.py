"""Friction and diffusion per step: the same chains as with rates per unit of time, step by step."""

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError

from .cases import frame

RUN = dict(gradient="simple", batch_size=20, draws=20, warmup=5, thin=1, chains=1, seed=1)
SPECS = [
    sgmc.SGHMC(leapfrog=3, friction=0.01, resample=True, per="step"),
    sgmc.SGNHT(diffusion=0.01, per="step"),
    sgmc.MSGNHT(diffusion=0.1, per="step"),
    sgmc.BADODAB(diffusion=0.1, per="step"),
]
quiet = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def per_time(spec, rate):
    """The specification with a rate per unit of time."""
    return type(spec)(**{**spec.values(), spec.rate_name: rate, "per": "time"})


@quiet
@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_rate_per_step_is_that_over_the_step(spec):
    """Bit by bit; a rate that is not divided by the step gives other draws."""
    step, rate = 0.05, getattr(spec, spec.rate_name)
    how = dict(data=frame(), step_size=step, **RUN)
    given = sgmc.logit("y ~ a + b", sampler=spec, **how)
    assert given.sampler == per_time(spec, rate / step)
    assert (given.draws == sgmc.logit("y ~ a + b", sampler=given.sampler, **how).draws).all()
    wrong = sgmc.logit("y ~ a + b", sampler=per_time(spec, rate), **how)
    assert (given.draws != wrong.draws).any()
    longer = sgmc.logit("y ~ a + b", sampler=spec, **{**how, "draws": 30})
    assert (given.resume(draws=10).draws == longer.draws).all()


@quiet
def test_arms_of_a_race_have_rates_of_their_own():
    spec, steps = SPECS[0], [0.01, 0.1]
    race = sgmc.tune(
        sgmc.Logit.from_formula("y ~ a + b", frame()),
        spec,
        "grid",
        grid={"step_size": steps},
        seed=1,
        batch_size=20,
        budget_steps=60,
    )
    assert race.best["sampler"] == spec and race.best["step_size"] in steps
    assert list(race.arms["step_size"]) == steps
    best = sgmc.logit("y ~ a + b", frame(), **race.best, draws=20, seed=1)
    assert best.sampler.friction == spec.friction / race.best["step_size"]


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_it_needs_a_constant_step(spec):
    goes = "goes with steps of one size; give a constant step_size"
    for how in ({}, {"step_size": sgmc.Polynomial(0.01, 10, 0.55)}, {"tune": "heuristic"}):
        with pytest.raises(ArgumentError, match=goes):
            sgmc.logit("y ~ a + b", frame(), sampler=spec, seed=1, **how)
    most = type(spec)(**{**spec.values(), spec.rate_name: 1.0})
    with pytest.raises(ArgumentError, match="must be below 1"):
        sgmc.logit("y ~ a + b", frame(), sampler=most, step_size=0.1, seed=1)


@pytest.mark.extended
@quiet
def test_little_friction_lets_noise_in():
    """Coullon, South & Nemeth (2023), dt = e^2 = 1/N, a tenth of the rows and ten leapfrog steps:
    the noise of plain gradients makes sds several times too large (their table 1: 3,000 %; by the
    formula, of curvatures N p (1 - p), at least 150 %), with control variates they are right to 10
    % (4 Monte Carlo errors of 3,000 draws).  Much friction hides it.
    """
    rng = np.random.default_rng(0)
    n, theta = 10_000, np.array([1.0, -0.5, 0.3, 0.0])
    X = rng.normal(size=(n, 4))
    model = sgmc.Logit((rng.random(n) < 1 / (1 + np.exp(-X @ theta))).astype(int), X)
    exact = model.fit(sampler="mala", seed=1, draws=3000)
    how = dict(step_size=n**-0.5, batch_size=n // 10, precondition=None, thin=3, draws=3000, seed=1)

    def error(gradient, **rate):
        spec = sgmc.SGHMC(leapfrog=10, resample=True, **rate)
        found = model.fit(sampler=spec, gradient=gradient, chains=1, **how)
        return sgmc.diagnostics.relative_sd_error(
            (found.params, found.bse), (exact.params, exact.bse)
        )

    assert error("simple", friction=0.01, per="step") > 1.5
    assert error("cv", friction=0.01, per="step") < 0.1
    assert error("simple", friction=0.5, per="step") < 1
