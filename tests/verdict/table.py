"""The verdict against the truth: cases whose posterior is known from long exact runs, with right
and wrong ways to sample it.

``python -m tests.verdict.table [SEEDS]`` prints the whole table and the confusions, for one seed or
more; the tests take every second case.  Of the whole table one verdict is wrong, out of caution: of
few draws of an exact sampler, which happen to be good.
"""

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pandas as pd

from sgmc import diagnostics
from sgmc.api import verbs
from sgmc.models.regression import problem as problems
from sgmc.results.report.verdict import TRUSTED_ERROR

from .data import DATA, SLACK, WRONG, reference, table

# ---- cases ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A way to sample a posterior; `misplaced` moves the mode that the fit goes by, in Laplace sds,
    and `stretched` its sds.
    """

    data: str
    how: dict = field(default_factory=dict)
    misplaced: float = 0.0
    stretched: float = 1.0

    def __str__(self):
        how = ", ".join(f"{k}={v}" for k, v in self.how.items()) or "default"
        return (
            f"{self.data}: {how}"
            + (f", mode off by {self.misplaced:g}" if self.misplaced else "")
            + (f", sds x {self.stretched:g}" if self.stretched != 1 else "")
        )

    def fit(self, seed=5):
        """The results."""
        verb, _, prior = DATA[self.data]
        with misspecified(self.misplaced, self.stretched):
            return getattr(verbs, verb)(
                "y ~ .", table(self.data), prior=prior, **{"seed": seed, **self.how}
            )


@contextmanager
def misspecified(shift, stretch):
    """Within it, the search for the mode finds a wrong one."""
    real = problems.searched

    def wrong(*arguments):
        found = real(*arguments)
        sd = 1 / np.sqrt(np.diag(found.mode.precision))
        mode = replace(
            found.mode,
            theta=found.mode.theta + shift * sd,
            likelihood=found.mode.likelihood / stretch**2,
        )
        return replace(found, mode=mode)

    problems.searched = real if (shift, stretch) == (0, 1) else wrong
    try:
        yield
    finally:
        problems.searched = real


def sgld(h, gradient=None, batch=None, **more):
    """Arguments of an SGLD fit."""
    how = {"sampler": "sgld", "step_size": h, "gradient": gradient, "batch_size": batch, **more}
    return {k: v for k, v in how.items() if v is not None}


NOISY = sgld(0.1, "simple", 20)


CASES = [
    *(Case(data) for data in DATA),
    *(
        Case(data, sgld(h))
        for data in (
            "large",
            "small",
            "tiny",
            "separated",
            "heavy",
            "counts",
            "errors",
            "outliers",
            "three kinds",
        )
        for h in (0.1, 1.0)
    ),
    *(
        Case(data, {"sampler": "laplace"})
        for data in (
            "large",
            "correlated",
            "rare",
            "small",
            "tiny, flat",
            "heavy",
            "counts",
            "errors",
        )
    ),
    *(Case(data, NOISY) for data in ("large", "correlated", "rare", "heavy", "three kinds")),
    *(Case(data, sgld(0.1, "cv", 100)) for data in ("large", "correlated", "rare", "three kinds")),
    *(
        Case("large", sgld(h, gradient, 500))
        for h, gradient in ((0.02, "simple"), (0.02, "cv"), (0.1, "saga"))
    ),
    *(
        Case("large", {"sampler": s})
        for s in ("sghmc", "sgnht", "vsgbd", "csgbd", "esgbd", "psgld", "sgd")
    ),
    *(
        Case("correlated", sgld(h, gradient, 1000, precondition=None, thin=100))
        for h in (3e-4, 1e-2)
        for gradient in ("simple", "cv")
    ),
    *(
        Case("large", {"sampler": "sghmc", "gradient": "simple", "batch_size": 100, "step_size": e})
        for e in (0.03, 0.3)
    ),
    *(Case(data, {"draws": 30}) for data in ("large", "small")),
    *(Case(data, {"sampler": "mala", "draws": 60}) for data in ("correlated", "heavy")),
    Case(
        "correlated",
        sgld(
            1e-4, "cv", 1000, precondition=None, warmup=0, draws=200, thin=1, init=np.full(21, 1.0)
        ),
    ),
    Case("tiny, flat", {"sampler": "mala"}),
    *(
        Case(data, {"sampler": "lmsgld"}, misplaced=shift)
        for data in ("large", "small", "counts")
        for shift in (0.5, 3.0)
    ),
    *(
        Case(data, {"sampler": sampler}, stretched=stretch)
        for data, sampler in (("large", "laplace"), ("large", "lmsgld"), ("small", "sgld"))
        for stretch in (0.7, 1.5)
    ),
    Case("large", {"sampler": "laplace"}, misplaced=0.5),
]


@dataclass(frozen=True)
class Outcome:
    """What is true and what was said."""

    case: Case
    mean: float
    sd: float
    verdict: object

    @property
    def good(self):
        """Whether means and sds are within the limit."""
        return max(self.mean, self.sd) <= TRUSTED_ERROR

    @property
    def right(self):
        """Whether the verdict says so."""
        return self.verdict.trustworthy == self.good

    @property
    def kept(self):
        """Whether a promise holds."""
        return not self.verdict.trustworthy or max(self.mean, self.sd) <= self.verdict.error + SLACK


def outcome_of(case, seed=5):
    """Fit a case and compare."""
    results = case.fit(seed)
    mean, sd = reference(case.data)
    errors = [
        np.abs(diagnostics.standardised_mean_error(results, (mean, sd))).max(),
        np.abs(results.bse / sd - 1).max(),
    ]
    return Outcome(case, *(np.inf if np.isnan(e) else float(e) for e in errors), results.verdict)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    outcomes, seeds = [], int(sys.argv[1]) if len(sys.argv) > 1 else 1
    for case, seed in product(CASES, range(5, 5 + seeds)):
        o = outcome_of(case, seed)
        outcomes.append(o)
        print(
            f"{'ok' if o.right else 'NO'} {'' if o.kept else 'promise!'} {o.case!s:75} mean "
            f"{o.mean:6.3f} sd {o.sd:6.3f}  {str(o.verdict)[:110]}",
            flush=True,
        )
    counts = pd.crosstab(
        pd.Series([o.good for o in outcomes], name="good"),
        pd.Series([o.verdict.trustworthy for o in outcomes], name="trusted"),
    )
    print(
        counts,
        f"\nright: {sum(o.right for o in outcomes)} of {len(outcomes)}; promises kept: "
        f"{sum(o.kept for o in outcomes if o.verdict.trustworthy)} of "
        f"{sum(o.verdict.trustworthy for o in outcomes)}",
    )
    print(
        "trusted with an sd off by more than 15 %:",
        sum(o.verdict.trustworthy and o.sd > WRONG for o in outcomes),
    )
