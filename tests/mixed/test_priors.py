"""Priors of sds and correlations: as the user writes them, and in the sampler's coordinates."""

import re

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.coordinates.approximations.mode import PriorTerms
from sgmc.core.expansion import of_prior
from sgmc.errors import ArgumentError
from sgmc.fit.settings import check_settings

from .groups import mixed
from .tables import slopes
from .test_posteriors import case, problem_of


def both():
    """The prior of the search and that of the sampler, and a place near the mode."""
    problem = problem_of("ols with slopes")
    prior = problem.prior
    shift = np.asarray(prior.shift)[: case("ols with slopes")[0].data.d]
    terms = PriorTerms(problem.priors, shift, bent=np.asarray(prior.bent))
    return terms, prior, problem.mode.theta + 0.1


def test_the_search_and_the_sampler_have_one_prior():
    """Gradients of both by differences of both values, which differ by a constant."""
    terms, prior, theta = both()
    gradient = terms(theta)[1]
    assert np.allclose(gradient, slopes(lambda at: terms(at)[0], theta), atol=1e-7)
    assert np.allclose(gradient, slopes(lambda at: of_prior(prior, at)[0], theta), atol=1e-7)
    assert np.allclose(gradient, of_prior(prior, theta)[1], atol=1e-9)


def told(prior):
    """The priors of the sds and the correlation of a model with slopes."""
    model = case("ols with slopes")[0]
    priors = model.problem(prior, check_settings(seed=1)).priors
    return {name: str(one) for name, one in zip(priors.names, priors.specified)}


def test_priors_by_name_and_by_kind():
    found = told(
        {"sd": sgmc.exponential(scale=2), "sd(x1|g)": sgmc.half_normal(3), "cor": sgmc.lkj(4)}
    )
    assert found["sd(1|g)"].startswith("exponential")
    assert found["sd(x1|g)"] == "half_normal(3)"
    assert found["cor(1,x1|g)"] == "lkj(4)"
    assert told(None)["sd(1|g)"] == "half_t(3, 2.5*)"


@pytest.mark.parametrize(
    "prior, what",
    [
        ({"sd(x9|g)": sgmc.half_t()}, "sd\\(x9\\|g\\)"),
        ({"sd": sgmc.gamma(2)}, "does not suit"),
        ({"sd": sgmc.normal(1, 2)}, "does not suit"),
        ({"cor": sgmc.normal(0, 1)}, "does not suit"),
        ({"x1": sgmc.lkj(2)}, "lkj"),
        ({"sd": sgmc.truncated(sgmc.half_t(3), high=2)}, "does not suit"),
    ],
)
def test_priors_that_do_not_suit_are_refused(prior, what):
    with pytest.raises(ArgumentError, match=what):
        told(prior)


def test_an_informative_prior_of_the_sd_is_used():
    """A half-normal prior far below what the data say pulls the sd down."""
    frame = case("ols")[1]
    model = mixed(sgmc.OLS, "y ~ x1 + x2", frame, "g")
    modes = [
        abs(model.problem({"sd": sgmc.half_normal(scale)}, check_settings(seed=1)).mode.theta[3])
        for scale in (0.05, 10)
    ]
    assert modes[0] < 0.5 * modes[1]


@pytest.mark.parametrize(
    ("prior", "used"),
    [
        ({}, ["half_t(3, 5)", "half_t(3, 2.5)", "lkj(1)"]),
        ({"sd": sgmc.half_normal(0.5)}, ["half_normal(0.5)", "half_normal(0.5)", "lkj(1)"]),
        (
            {"sd(x|g)": sgmc.exponential(scale=3), "cor": sgmc.lkj(4)},
            ["half_t(3, 5)", "exponential(scale=3)", "lkj(4)"],
        ),
        ({"sd(1|g)": sgmc.normal(0, 2)}, ["half_normal(2)", "half_t(3, 2.5)", "lkj(1)"]),
    ],
)
def test_priors_of_sds_are_shown_as_the_densities_of_sds(prior, used):
    """Not as those of signed ones: a half-normal prior was printed as a normal one, an exponential
    one as that of Laplace.
    """
    y = np.repeat([-2.0, 2.0], 40)
    x = np.sqrt(79 / 80) * np.tile([-2.0, 2.0], 40)  # its sd has n - 1
    frame = pd.DataFrame({"x": x, "g": np.arange(80) // 2 % 10, "y": y})
    found = sgmc.ols("y ~ x + (x | g)", frame, prior=prior, prior_only=True, seed=1)
    shown = found.prior_summary().loc[["sd(1|g)", "sd(x|g)", "cor(1,x|g)"], "used"]
    assert list(shown) == used


@pytest.mark.parametrize("key", ["1|g", "(1|g)", "(1 | g)", "sd(1 | g)", "sd(g)"])
def test_terms_as_keys_are_refused_by_the_name_of_their_sd(key):
    """Their message had the columns of the design, of which none was meant."""
    frame = pd.DataFrame({"g": np.arange(20) % 5, "y": np.arange(20.0) ** 0.5})
    message = f"prior: there is no {key!r}; did you mean 'sd(1|g)'"
    with pytest.raises(ArgumentError, match=re.escape(message)):
        sgmc.ols("y ~ (1 | g)", frame, prior={key: sgmc.half_normal(1)}, seed=1)
