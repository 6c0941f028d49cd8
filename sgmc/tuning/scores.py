"""What arms are judged by: a number of all their draws, the smaller the better."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.diagnostics.chains import moments
from sgmc.diagnostics.scores.finite_set import fssd
from sgmc.diagnostics.scores.stein import ksd
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.results.checks.scores.stein import scores_by, with_scores
from sgmc.results.outcomes.data.rows import auxiliary_of, evenly, rows_of_table

FEWEST_JUDGED = 10  # draws: fewer say nothing
# rows up to which scores use all of them; else minibatches by Taylor control values, unbiased too
EXACT_ROWS = 2000
# draws that a Stein discrepancy looks at, in the last rung and in any: time grows with their square
LAST_RUNG_DRAWS, RUNG_DRAWS = 4000, 250
LOSS_ROWS = 5000  # rows of the fit that the log-loss looks at, evenly
LOSS_DRAWS = 100


@dataclass(frozen=True)
class TuningMetric:
    """A function of draws (n, d) in the sampler's coordinates.

    Attributes
    ----------
    name : str
    function : callable
    serial : bool
        Is called in the caller's thread alone, arm after arm: functions of users need not bear
        threads.
    weighted : bool
        The function takes weights of the draws too, and how many draws it is to look at.  Others
        get weighted draws resampled, so that all count alike.
    most : int
        How many that is.
    """

    name: str
    function: Callable
    serial: bool = False
    weighted: bool = False
    most: int = LAST_RUNG_DRAWS

    def in_rung(self, rung, rungs):
        """The same for a rung: LAST_RUNG_DRAWS draws in the last, half as many in the one before,
        where there are more arms, and so on.
        """
        return replace(self, most=max(LAST_RUNG_DRAWS >> (rungs - 1 - rung), RUNG_DRAWS))

    def __call__(self, x, weights=None):
        """The score; infinite for draws that are too few or not finite,
        and where it is not a number.
        """
        if len(x) < FEWEST_JUDGED or not np.isfinite(x).all():
            return np.inf
        alike = x if weights is None or self.weighted else x[moments.systematic(weights, len(x))]
        with np.errstate(all="ignore"):
            value = self.function(x, weights, self.most) if self.weighted else self.function(alike)
        return np.inf if np.isnan(value) else float(value)


def metric_of(metric, problem, family, entropy):
    """A Metric from ``metric=``, a name or a function of the reported coefficients (n, d)."""
    if callable(metric):
        return TuningMetric(
            getattr(metric, "__name__", type(metric).__name__), user(metric, problem), True
        )
    choices = {
        "ksd": lambda: stein(ksd, problem, entropy),
        "fssd": lambda: stein(fssd, problem, entropy),
        "fssd-opt": lambda: stein(fssd, problem, entropy, locations="optimised"),
        "fssd-max": lambda: stein(fssd, problem, entropy, locations="maximised"),
        "log_loss": lambda: log_loss(problem, family),
    }
    one_of("metric", metric, choices, ", or a function of draws (n, d)")
    if metric == "log_loss" and family is None:
        raise ArgumentError(
            "metric='log_loss' belongs to regressions; use 'ksd', 'fssd' or a function of draws"
        )
    return TuningMetric(metric, choices[metric](), weighted=metric != "log_loss")


def stein(discrepancy, problem, entropy, **options):
    """A Stein discrepancy in whitened coordinates, of so many draws spread evenly over the run
    (`results.stein.with_scores`).

    Where nobody knows the scale of the coordinates they are taken as they are, as in the MAMBA
    paper.

    Arms of many draws so have the same number in the sum: its part of order n^(-1/2), which exact
    draws have too, is then no matter of who thinned when.  With 1000 a chain of 1500 effective
    draws looks no better than one of 5000.
    """
    kind = "exact" if problem.model.n <= EXACT_ROWS else problem.defaults.estimator

    def score(x, weights, most):
        kept = evenly(len(x), most)
        # in this thread alone: arms have threads of their own
        found = scores_by(problem, np.ascontiguousarray(x[kept]), entropy, kind)
        some = with_scores(problem, x, kept, found, kind, weights, alone=False)
        if not np.isfinite(some.scores).all():
            return np.inf
        try:
            return discrepancy(
                some.draws, some.scores, weights=some.weights, scale=some.scale, **options
            )
        except (np.linalg.LinAlgError, ArgumentError, DataError):
            return np.inf  # no covariance or median distance: draws all alike, or hardly finite

    return score


def log_loss(problem, family):
    """Mean of -log p(y_i) under predictions averaged over draws (Nemeth & Fearnhead 2021, section
    6.1), at rows of the fit.
    """
    if problem.rows.grouped:
        raise NotSupported(
            "metric='log_loss' does not apply to group terms; use metric='ksd'", because="limit"
        )

    coefficients = len(problem.priors.names) - problem.priors.auxiliary

    def score(x):
        kept = x[evenly(len(x), LOSS_DRAWS)] if len(x) > LOSS_DRAWS else x
        extra = auxiliary_of(family, problem.coordinates.reported(kept))
        rows = rows_of_table(problem, family, kept, coefficients, extra)
        rows = rows.among(evenly(rows.n, LOSS_ROWS)) if rows.n > LOSS_ROWS else rows
        loss = [
            np.logaddexp.reduce(rows.log_density(at, eta), axis=1) - np.log(rows.m)
            for at, eta in rows.blocks()
        ]
        return -np.mean(np.concatenate(loss))

    return score


def user(function, problem):
    """A function of users, given the coefficients as they are reported."""

    def score(x):
        value = function(problem.coordinates.reported(x))
        if np.ndim(value) != 0 or not isinstance(value, (int, float, np.number)):
            raise ArgumentError(f"metric must return a number, not {value!r}")
        return value

    return score
