"""A model, a race, and a clock that counts steps."""

from types import SimpleNamespace

import pytest

import sgmc
from sgmc.tuning import race, tuner

from .races import frame


@pytest.fixture(scope="module")
def model():
    """A logistic regression."""
    return sgmc.Logit.from_formula("y ~ a + b", frame())


@pytest.fixture(scope="module")
def tuned(model):
    """A race of 27 arms."""
    return sgmc.tune(model, budget_steps=600, seed=1)


@pytest.fixture
def clock_of_steps(monkeypatch):
    """A step of any arm takes 10 microseconds, and nothing else takes any time."""
    racing, real, rival = [], tuner.runners_of, tuner.rival_of
    clock = SimpleNamespace(
        perf_counter=lambda: 1e-5 * sum(runner.chain.steps for runner in racing)
    )

    def runners_of(*arguments):
        runners = real(*arguments)
        racing.extend(runners)
        return runners

    def rival_of(*arguments, **how):
        racing.append(rival(*arguments, **how))
        return racing[-1]

    monkeypatch.setattr(tuner, "runners_of", runners_of)
    monkeypatch.setattr(tuner, "rival_of", rival_of)
    for room in (tuner, race):
        monkeypatch.setattr(room, "time", clock)
