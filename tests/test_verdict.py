"""The record of the verdict; ``python -m tests.test_verdict [SEEDS]`` prints all of it."""

import hashlib
import sys

import numpy as np
import pytest

from sgmc.results import results
from sgmc.results.checks.scores import printed
from sgmc.results.report import accuracy

from .verdict.cases import CASES, UNSEEN, Case
from .verdict.record import outcome_of, print_record

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning", "ignore::RuntimeWarning")


def lot(case):
    """A number of a case that does not depend on which others there are."""
    return hashlib.sha256(str(case).encode()).digest()[0]


@pytest.mark.cover(0)
@pytest.mark.parametrize("case", [case for case in CASES if lot(case) % 5 == 0], ids=str)
def test_no_trust_is_misplaced(case):
    seen = outcome_of(case)
    assert not (seen.trusted and seen.wrong) or seen.unseen


def test_the_record_has_400_cases():
    assert len(set(map(str, CASES))) == len(CASES) >= 400


@pytest.mark.parametrize("case", UNSEEN, ids=str)
def test_what_no_draw_shows_is_said_not_to_have_been_looked_for(case):
    text = case.fit().verdict.text
    assert "Modes: one start (modes='search' looks for others)" in text


# ---- planted mistakes ----------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_wrong_scores_do_not_pass(factor, monkeypatch):
    """The scores of N/n times the rows, or of half the rows, against good draws."""
    real = printed.implied_moments
    monkeypatch.setattr(printed, "implied_moments", lambda x, s, **how: real(x, factor * s, **how))
    assert not Case("small").fit().verdict.trustworthy


SEEDS = range(5, 15)


def caught(names, how, seeds=SEEDS):
    """Whether the record has trust that is misplaced among some posteriors."""
    runs = [outcome_of(Case(name, how), seed) for name in names for seed in seeds]
    return any(one.trusted and one.wrong for one in runs)


@pytest.mark.extended
def test_tails_that_are_cut_are_caught(monkeypatch):
    """A verdict that takes all tails for short ones, of draws without an sd."""
    names = "separated slope, t3", "t, 3 df", "log-normal, sd 2", "least squares, 6 x 2"
    assert not caught(names, {"sampler": "hmc"})
    monkeypatch.setattr(accuracy, "tail_index", lambda draws, *more: 0 * draws[0, 0])
    monkeypatch.setattr(accuracy, "far_out", lambda draws, *more: np.zeros(draws.shape[2], bool))
    monkeypatch.setattr(printed, "edge_index", lambda fit, draws, *more: np.zeros(draws.shape[2]))
    assert caught(names, {"sampler": "hmc"})


@pytest.mark.extended
def test_a_mode_that_is_hidden_from_the_verdict_is_caught(monkeypatch):
    """A verdict that is not shown the draws at a mode that chains visited."""
    name, how = "narrow mode apart", {"sampler": "mala", "chains": 2, "draws": 2000}
    visited = [seed for seed in SEEDS if (Case(name, how).fit(seed).draws > 3.3).any()]
    assert len(visited) > 4 and not caught([name], how, visited)
    real = results.Seen

    def hiding(names, x, *more):
        rest = np.where(x > 3.3, np.roll(x, 500, axis=1), x)
        shown = (np.full(x.shape[2], v) for v in (2e3, 2e3, 1.0, 0.0))
        return real(names, rest, more[0], *shown, accuracy.quantiles_of(rest, more[0]))

    monkeypatch.setattr(results, "Seen", hiding)
    assert caught([name], how, visited)


if __name__ == "__main__":
    print_record(*map(int, sys.argv[1:]))
