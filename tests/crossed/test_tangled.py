"""Two factors that are nearly one: a fit is right, or it is not trusted."""

import pytest

from ..verdict import tangled
from ..verdict.cases import Case
from ..verdict.record import WRONG, outcome_of

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning", "ignore::RuntimeWarning")


def test_correlations_are_above_99_percent():
    assert all(tangled.second_correlation(name) > 0.99 for name in tangled.TANGLED)


@pytest.mark.extended
def test_a_ring_of_levels_is_sampled_rightly():
    """4,000 nearly independent draws: their errors are 0.02 sd, and five of them are allowed."""
    seen = outcome_of(Case("ring of levels"))
    assert seen.trusted and seen.kept and seen.moments < 0.1


@pytest.mark.extended
@pytest.mark.mistake("crossed factors, rho_2 above 0.99: {mistake}")
@pytest.mark.parametrize("name, factor, mistake", [("ring of levels", 2**0.5, "sigma x sqrt 2")])
def test_a_wrong_model_is_seen(name, factor, mistake):
    """The known numbers tell a fit with a larger sigma, which agrees with itself."""
    found = tangled.fit(name, tangled.SIGMA * factor, seed=5)
    assert tangled.known(name).errors(found)[["mean", "sd"]].abs().max(axis=None) > (2 * WRONG)


@pytest.mark.extended
@pytest.mark.parametrize("how", [{"draws": 60, "thin": 1}, {"sampler": "mala"}], ids=str)
def test_strays_are_not_trusted_where_they_are_wrong(how):
    """Effects of few rows tell the factors apart, so that only the sum of the variances is known
    well: chains move slowly along it.
    """
    seen = outcome_of(Case("strays", how))
    assert not (seen.trusted and seen.wrong) and seen.kept
