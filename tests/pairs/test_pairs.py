"""Every public method of results against the slow reference, over pairs of features."""

import pytest

from .checks import CHECKS
from .factors import cases
from .made import make


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where files are written."""
    return tmp_path_factory.mktemp("pairs")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", cases(), ids=str)
def test_results_are_those_of_the_reference(case, check, folder):
    check(make(case, folder))
