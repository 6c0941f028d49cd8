"""Arguments, priors and families that samplers in continuous time refuse by name."""

import pytest

import sgmc
from sgmc.errors import ArgumentError, BoundError, NotSupported
from sgmc.fit.paths import refuse_unbounded
from sgmc.models.regression.families.logit import BernoulliLogit

from .cases import FRAME, NAMES, fit

# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how, message",
    [
        (dict(thin=2), "thin does not apply to {}: draws lie on a regular grid"),
        (dict(step_size=0.1), "step_size does not apply to {}"),
        (dict(batch_size="adaptive"), "batch_size='adaptive' does not apply to {}"),
        (dict(gradient="saga"), "gradient='saga' does not apply to {}"),
        (dict(warmup="threshold"), "warmup='threshold' does not apply to {}"),
        (dict(cov_type="robust"), "{}"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_do_not_apply_are_refused_by_name(name, how, message):
    with pytest.raises((ArgumentError, NotSupported), match=message.format(name)):
        fit(name, **how)


@pytest.mark.parametrize("name", NAMES)
def test_priors_and_races_that_do_not_apply(name):
    with pytest.raises(NotSupported, match=f"{name} needs bounds .* horseshoe"):
        fit(name, prior="horseshoe")
    with pytest.raises(ArgumentError, match=f"sampler='{name}' has no step to tune"):
        sgmc.tune(sgmc.Logit.from_formula("y ~ a", FRAME), sampler=name)


@pytest.mark.parametrize("name", ["zzcv", "zzss", "lipsbps"])
def test_strata_are_refused(name):
    with pytest.raises(NotSupported, match=f"subsample='stratified' with {name}"):
        fit(name, subsample="stratified")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "family, verb, formula",
    [
        ("poisson", sgmc.poisson, "count ~ a"),
        ("cloglog", sgmc.cloglog, "y ~ a"),
        ("loglog", sgmc.loglog, "y ~ a"),
        ("ols", sgmc.ols, "b ~ a"),
        ("rlm", sgmc.rlm, "b ~ a"),
        ("negativebinomial", sgmc.negativebinomial, "count ~ a"),
        ("mnlogit", sgmc.mnlogit, "w ~ a"),
    ],
)
def test_families_without_bounds_are_refused_by_name(name, family, verb, formula):
    data = FRAME.assign(w=FRAME.w.astype(str))
    with pytest.raises(
        NotSupported,
        match=(
            f"{name} does not apply to {family}, whose rates of events have no bound: "
            ".*sampler='mala'"
        ),
    ):
        fit(name, verb=verb, formula=formula, data=data)


def test_samplers_without_bounds_refuse_no_family():
    refuse_unbounded(None, None)
    refuse_unbounded(sgmc.MALA(), None)
    assert fit("zigzag").draws.shape == (4, 200, 3)


def test_a_bound_that_does_not_hold_is_an_error_that_names_the_sampler(monkeypatch):
    monkeypatch.setattr(
        "sgmc.models.regression.families.logit.LogitFamily.kernel",
        type("Low", (BernoulliLogit,), {"curvature_bound": 0.01}),
    )
    with pytest.raises(
        BoundError, match=r"zzcv: the rate of an event exceeded its bound in chain \d at event"
    ):
        fit("zzcv")
