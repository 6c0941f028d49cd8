"""Likelihoods at the maximum that lme4 found, against its deviances."""

import numpy as np
import pytest
from _ext import probes

import sgmc
from sgmc.core.expansion import of_rows
from sgmc.fit.settings import check_settings
from sgmc.models.regression.latent.sampled.setup import set_up

from .tables import published

# formula of the group terms, coefficients, sds, sigma, -2 log L, and what the digits of the
# estimates leave of it
INSTEVAL = (
    "(1 | s) + (1 | d) + (1 | dept)",
    {"1": 3.2826, "service": -0.0926},
    [0.3255, 0.5150, 0.0785],
    1.1775,
    237721.7688,
    0.02,
)
VERBAGG = (
    "(1 | id) + (1 | item)",
    {
        "1": 0.1993,
        "Anger": 0.0574,
        "Gender == 'M'": 0.3206,
        "btype == 'scold'": -1.0587,
        "btype == 'shout'": -2.1051,
        "situ == 'self'": -1.0553,
    },
    [1.3395, 0.4952],
    None,
    8151.4005,
    0.02,
)


def deviance(model, frame, outcome, case, scale=1.0):
    """-2 log L by Laplace's approximation, which is exact for normal outcomes: coefficients are in
    the offset, and that of the intercept besides is held at zero by its prior.
    """
    terms, beta, sds, sigma, *_ = case
    offset = sum(b * (frame.eval(term) * np.ones(len(frame))) for term, b in beta.items())
    fitted = model.from_formula(
        f"{outcome} ~ {terms}", frame.assign(offset=offset), offset="offset"
    )
    held = {"Intercept": sgmc.normal(0, 1e-6)}
    one = set_up(fitted.data, fitted.family, fitted.grouping, held, check_settings(seed=1))
    loading, blocks, place = one.effects.loading, one.rows.blocks, one.starts[0].copy()
    place[:1] = 0.0
    place[blocks.phi][: loading.q] = loading.curved(scale * np.array(sds))
    if sigma:
        place[-1] = np.log(sigma)
    found = one.centre.settled(place, 1e-8)
    value = of_rows(one.model, one.centre.loaded(found.place), slope=False)[0]
    v = found.place[1 : 1 + blocks.effects]
    # log |L| of all, whose square is 1 / |H|, without that of the intercept; each of phi has 1
    root = probes.mapped(found.map, found.place, found.place)[1] + np.log(1e6)
    constant = len(frame) * np.log(2 * np.pi) if sigma else 0.0
    return constant - 2 * (value - 0.5 * v @ v + root)


@pytest.mark.parametrize(
    "name, model, outcome, case",
    [("verbagg", sgmc.Logit, "r2", VERBAGG), ("insteval", sgmc.OLS, "y", INSTEVAL)],
    ids=["VerbAgg", "InstEval"],
)
def test_deviances_are_those_of_lme4(name, model, outcome, case):
    frame = published(name)
    *_, right, within = case
    assert deviance(model, frame, outcome, case) == pytest.approx(right, abs=within)


@pytest.mark.mistake("deviances of crossed effects: {mistake}")
@pytest.mark.parametrize("name, mistake", [("VerbAgg", "sds x sqrt 2")])
def test_mistakes_show_in_deviances(name, mistake):
    frame = published("verbagg")
    assert deviance(sgmc.Logit, frame, "r2", VERBAGG, 2**0.5) > VERBAGG[4] + 1
