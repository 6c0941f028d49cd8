"""What rows that stand for others add to a verdict."""

from types import SimpleNamespace

import pytest

from sgmc.results.report import allowances, verdict

DRAWS = verdict.Verdict(True, 0.02, "trustworthy to about 0.02 sd", 0.03, "draws")


@pytest.mark.parametrize("mean, sd", [(0.05, 0.001), (0.001, 0.05)])
def test_the_larger_of_both_errors_is_added(mean, sd):
    rows = SimpleNamespace(mean=mean, sd=sd, what="the reservoir", advice="Keep more rows.")
    found = allowances.beside(DRAWS, rows)
    assert found.trustworthy and found.error == verdict.at_most(0.07)
    worse = SimpleNamespace(
        mean=2 * mean, sd=2 * sd, what="the reservoir", advice="Keep more rows."
    )
    found = allowances.beside(DRAWS, worse)
    assert not found.trustworthy and "Keep more rows." in found.text and "0.12" in found.text


def test_without_such_rows_a_verdict_stays():
    assert allowances.beside(DRAWS, None) is DRAWS
