"""`sgmc.plan` predicts what comes: draws, effective draws, rows."""

import dataclasses

import numpy as np
import pytest

import sgmc
from sgmc.core.stationary import LinearLaw
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit import stopping

from .cases import FRAME

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
MODEL = sgmc.Logit.from_formula("z ~ a + b + c", FRAME)
WITH_LAW = ["lmsgld", "sgld", "sghmc", "baoab"]
# by a law: effective sizes of 2500 draws are known to about a tenth, the worst of four is less; by
# 250 draws per chain they are predicted no better than that either
NEARLY, BY_DRAWS = 0.25, 0.4
ACCURATE = 0.05


def compared(sampler, thin):
    """A plan, the fit of as many draws, and effective draws of the means, their mean over
    parameters and the worst, over what was predicted.
    """
    plan = sgmc.plan(MODEL, ACCURATE, sampler=sampler, seed=3, thin=thin, draws=100_000)
    found = MODEL.fit(**{**plan.arguments, "accuracy": None, "draws": plan.draws})
    size = found.ess("mean")
    return plan, found, np.array([size.mean(), size.min()]) / plan.effective_draws


@pytest.mark.cover(0)
@pytest.mark.parametrize("thin", [None, 1])
@pytest.mark.parametrize("sampler", [*WITH_LAW, "mala", "laplace"])
def test_what_is_predicted_comes(sampler, thin):
    plan, found, ratios = compared(sampler, thin)
    assert np.abs(ratios - 1).max() < (NEARLY if sampler in WITH_LAW else BY_DRAWS)
    used = sum(chain.data_passes for chain in found._chains) * len(FRAME)
    assert plan.rows == pytest.approx(used, rel=1e-12)
    assert plan.data_passes == pytest.approx(plan.rows / len(FRAME))
    assert plan.sd_change == pytest.approx(found._fit.sd_change, abs=1e-3)
    assert plan.seconds > 0 and plan.accuracy == ACCURATE
    tried = "by 250 draws per chain"
    assert plan.basis == ("by the sampler's law" if sampler in WITH_LAW else tried)
    taken = MODEL.fit(**plan.arguments).draws.shape[1]
    assert plan.draws / 2 <= taken <= 2 * plan.draws  # a look earlier or later


@pytest.mark.mistake("every draw counted as independent of the others")
@pytest.mark.parametrize("name", ["sghmc"])
def test_draws_that_are_taken_for_independent_are_told_apart(name, monkeypatch):
    monkeypatch.setattr(LinearLaw, "time", lambda self, thin=1: 1.0)
    assert np.abs(compared(name, 1)[2] - 1).max() > NEARLY


@pytest.mark.extended
def test_the_plan_runs_the_same_chains():
    for sampler in ("auto", "sgld", "hmc"):
        plan = sgmc.plan(MODEL, 0.06, sampler=sampler, seed=3, prior="flat")
        plain = MODEL.fit(accuracy=0.06, sampler=sampler, seed=3, prior="flat")
        np.testing.assert_array_equal(MODEL.fit(**plan.arguments).draws, plain.draws)


def test_it_is_printed_and_frozen():
    plan = sgmc.plan(MODEL, sampler="sghmc", seed=3, chains=2)
    text = str(plan)
    assert isinstance(plan, sgmc.FitPlan) and plan.accuracy == 0.05 and plan.chains == 2
    for part in ("Plan of a fit to 0.05 posterior sd", "SGHMC", "data passes", "seconds"):
        assert part in text
    drawn = f"{plan.draws} per chain, {plan.effective_draws:.0f} effective (by the sampler's law)"
    assert drawn in text
    assert max(map(len, text.split("\n"))) < 100
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.draws = 3
    looser = sgmc.plan(MODEL, 0.2, sampler="sghmc", seed=3, chains=2)
    assert looser.draws < plan.draws and looser.rows < plan.rows
    assert plan.draws in stopping.looks(20_000)


class Location(sgmc.Model):
    """y ~ N(mu, 1)."""

    parameters = {"mu": ()}
    n = len(FRAME)

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        return -0.5 * ((FRAME.y.to_numpy()[rows] - theta["mu"]) ** 2).sum()


@pytest.mark.extended
def test_models_that_are_no_regressions_are_planned():
    plan = sgmc.plan(Location(), 0.2, sampler="mala", seed=1)
    assert plan.basis == "by 250 draws per chain" and plan.arguments["seed"] == 1
    assert Location().fit(**plan.arguments).draws.shape[1] == plan.draws
    with pytest.raises(NotSupported, match="mean nothing one by one in this model"):
        sgmc.plan(sgmc.TiedMeans(FRAME.y.to_numpy()), 0.2, sampler="mala")


@pytest.mark.parametrize(
    ("how", "kind", "match"),
    [
        (dict(accuracy=1.5), ArgumentError, "accuracy=1.5 must be a number between 0 and 1"),
        (dict(accuracy=1e-4), ArgumentError, "needs more than draws=20000 per chain"),
        (dict(sampler="zigzag"), NotSupported, "accuracy does not go with zigzag"),
        (dict(warmup="threshold"), NotSupported, "warmup='threshold' is found while chains run"),
        (
            dict(sampler="sgld", step_size=sgmc.Polynomial(0.5, 10, 0.33)),
            NotSupported,
            "with decreasing steps draws become ever more dependent",
        ),
        (dict(time_limit=3), TypeError, "'time_limit'; it is an argument of fit"),
        (dict(drws=3), TypeError, "did you mean 'draws'"),
    ],
    ids=str,
)
def test_what_no_plan_is_made_of_is_refused(how, kind, match):
    with pytest.raises(kind, match=match):
        sgmc.plan(MODEL, **how)


def test_a_model_is_needed():
    with pytest.raises(ArgumentError, match="plan needs a model such as sgmc.Logit"):
        sgmc.plan(FRAME)
