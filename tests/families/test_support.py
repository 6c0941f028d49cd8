"""Each family's support is what its `check` accepts: over these outcomes, and no others, the
density is positive and sums to one.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc.errors import DataError
from sgmc.models.regression.bases.family import Counts
from sgmc.models.regression.families.poisson import PoissonLog
from sgmc.models.regression.model import Regression

from ..test_docs_code import blocks, run
from .tables import FAMILIES
from .test_densities import moderate

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
CANDIDATES = [-1e3, -1.0, -1e-6, 0.0, 1e-6, 0.5, 1 - 1e-6, 1.0, 2.0, 3.0, 1e3]
ETA = (-1.0, 0.4)
FAR = np.linspace(-30, 30, 60_001)


def accepts(family, y, others):
    """Whether a family takes an outcome beside others, which it takes."""
    family.check(np.array(others), "y")
    try:
        family.check(np.append(others, y), "y")
    except DataError:
        return False
    return True


def predictor(family, eta, rows):
    """Linear predictors of some rows, all of one value; of counts with zeros of their own two."""
    return np.full((2, rows, 1) if family.parts else (rows, 1), eta)


def support(family, extra=None):
    """The candidates and the counts that a family accepts; whether it takes no fractions."""
    others = family.simulate(predictor(family, 0.0, 50), np.random.default_rng(1), extra)
    others = np.unique(others)
    accepted = [y for y in CANDIDATES if accepts(family, y, others)]
    counts = [y for y in np.arange(2000.0) if accepts(family, y, others)]
    return accepted, counts, not accepts(family, 0.5, others)


def outcomes_and_widths(accepted, counts, whole):
    """Accepted outcomes, and what each counts in a sum or an integral over all that are accepted:
    on the scale of sinh of real numbers, of exp of positive ones, of expit of proportions.
    """
    step = FAR[1] - FAR[0]
    if whole:
        return np.array(counts), np.ones(len(counts))
    if min(accepted) < 0:
        return np.sinh(FAR), np.cosh(FAR) * step
    if max(accepted) > 1:
        return np.exp(FAR), np.exp(FAR) * step
    y = special.expit(FAR)
    return y, y * special.expit(-FAR) * step


def wrong(family, extra=None):
    """What is not so of a family: texts."""
    accepted, counts, whole = support(family, extra)
    y, widths = outcomes_and_widths(accepted, counts, whole)
    found = []
    for eta in ETA:
        at_accepted, at_all = (
            family.log_density(np.reshape(one, (-1, 1)), predictor(family, eta, len(one)), extra)
            for one in (accepted, y)
        )
        if not np.isfinite(at_accepted).all():
            found.append(f"eta={eta}: an accepted outcome has no density")
        if not np.isclose(widths @ np.exp(at_all[:, 0]), 1, rtol=1e-8):
            found.append(f"eta={eta}: the density over what is accepted does not sum to one")
    return found


@pytest.mark.parametrize("name", FAMILIES)
def test_the_support_is_what_check_accepts(name):
    assert wrong(*moderate(name)) == []


@pytest.mark.parametrize("model", [sgmc.ZeroInflated, sgmc.Hurdle])
def test_the_support_of_counts_with_zeros_is_what_check_accepts(model):
    assert wrong(model.family) == []


@pytest.mark.parametrize(
    "name, accepted",
    [
        ("logit", [0.0, 1.0]),
        ("poisson", [0.0, 1.0, 2.0, 3.0, 1e3]),
        ("gamma", [1e-6, 0.5, 1 - 1e-6, 1.0, 2.0, 3.0, 1e3]),
        ("beta", [1e-6, 0.5, 1 - 1e-6]),
        ("ols", CANDIDATES),
    ],
)
def test_supports_are_found(name, accepted):
    assert support(*moderate(name))[0] == accepted


# ---- the example of docs/extending.md ------------------------------------------------------------


@pytest.fixture(scope="module")
def truncated():
    """The zero-truncated family of the page, with outcomes to check it by and a kernel that no fit
    comes to.
    """
    family = run(PAGE, blocks(PAGE))["ZeroTruncatedFamily"]

    def simulate(eta, rng, extra=None):
        return 1.0 + rng.poisson(Counts.mean(eta))

    return type("Made", (family,), {"simulate": staticmethod(simulate), "kernel": PoissonLog})


def test_the_example_has_the_support_that_it_checks(truncated):
    assert wrong(truncated) == []
    y, eta = np.arange(1.0, 200)[:, None], np.array([[-3.0, 0.4, 2.0]])
    p = np.exp(truncated.log_density(y, eta))
    np.testing.assert_allclose((p * y).sum(axis=0), truncated.mean(eta)[0], rtol=1e-9)


@pytest.mark.parametrize("at_zero", ["as the formula has it", "-inf"])
def test_the_example_without_its_check_is_seen(truncated, at_zero):
    """A planted mistake: `Counts.check` accepts zeros."""
    planted = unchecked(truncated, at_zero)
    assert len(wrong(planted)) >= len(ETA)


def unchecked(family, at_zero):
    """The family with the check of its base, and its density at zero."""

    def log_density(y, eta, extra=None):
        found = family.log_density(y, eta)
        return np.where(np.equal(y, 0), -np.inf, found) if at_zero == "-inf" else found

    made = {"check": staticmethod(Counts.check), "log_density": staticmethod(log_density)}
    return type("Unchecked", (family,), made)


def regression(family):
    """A regression class of a family."""
    return type("Made", (Regression,), {"family": family, "__doc__": "Of a test."})


@pytest.fixture
def with_zeros():
    """Counts of which some are 0."""
    rng = np.random.default_rng(2)
    return pd.DataFrame({"x": rng.normal(size=50), "y": rng.poisson(1.5, 50)})


def test_a_fit_refuses_what_check_refuses(truncated, with_zeros):
    made = regression(truncated)
    zeros = (with_zeros.y == 0).sum()
    with pytest.raises(DataError, match=f"'y' is 0 in {zeros} rows: zero-truncated counts"):
        made.from_formula("y ~ x", with_zeros)
    assert made.from_formula("y ~ x", with_zeros[with_zeros.y > 0]).data.n == 50 - zeros


@pytest.mark.parametrize("at_zero", ["as the formula has it", "-inf"])
def test_a_fit_refuses_a_count_without_a_probability(truncated, with_zeros, at_zero):
    made = regression(unchecked(truncated, at_zero))
    with pytest.raises(DataError, match="'y' is 0 in some rows, where the density of zerotrunc"):
        made.from_formula("y ~ x", with_zeros)
    assert made.from_formula("y ~ x", with_zeros[with_zeros.y > 0]).data.n
