"""Every public method of results against the slow reference, over pairs of features."""

import pytest

from sgmc.errors import DataError, FormulaError

from .checks import CHECKS
from .comparing import assert_refused
from .factors import PLAIN, REFUSED, cases
from .made import fitted, make


def pytest_generate_tests(metafunc):
    """Give a covering array of strength 2, and of strength 3 where every test is asked for: to find
    it takes as long as a hundred fits.
    """
    if "case" not in metafunc.fixturenames:
        return
    found, more = cases(), []
    if metafunc.config.getoption("--long"):
        more = [one for one in cases(strength=3, fills=1, seed=2) if one not in found]
    more = [pytest.param(one, marks=pytest.mark.extended) for one in more]
    metafunc.parametrize("case", [*found, *more], ids=str)


@pytest.mark.parametrize("assert_right", CHECKS, ids=lambda check: check.__name__)
def test_results_are_those_of_the_reference(case, assert_right, folder):
    try:
        assert_right(make(case, folder))
    except FormulaError as error:
        # a function of all rows may be refused at other rows than the fit's, by its name
        if case.terms != "centred" or "x.mean()" not in str(error):
            raise
    except DataError as error:
        # log densities of the inverse Gaussian are not concave everywhere
        if (case.family, case.life) != ("inversegaussian", "updated") or "not concave" not in str(
            error
        ):
            raise


@pytest.mark.parametrize("pair", REFUSED, ids=lambda pair: f"{pair[0][1]}-{pair[1][1]}")
def test_what_does_not_go_together_is_refused_by_name(pair, folder):
    case = PLAIN._replace(**dict(pair))
    assert_refused(lambda: fitted(case, folder), *REFUSED[pair])
