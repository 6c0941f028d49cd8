"""The verdict against the truth: what it states of the ways to sample in `cases`.

``python -m tests.test_verdict [SEEDS]`` prints all of them and the sums, for five seeds each.
"""

import sys
import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np

import sgmc
from sgmc.errors import DataError
from sgmc.results.report.verdict import FEWEST_ERRORS, TRUSTED_END, TRUSTED_ERROR

from .cases import CASES, SEED, Case, known
from .small import IMPROPER
from .users import BY_STARTS, CONTRADICTORY, FAR_MODES

WRONG = 0.15  # error of a mean or sd with which nothing may be called trustworthy
WRONG_END = 0.3  # and of an end of an interval
FEWEST_SEEN = 1e-3  # of draws beyond a mode's edge; half of them are the other mode's

# ---- what is true, and what was said -------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What a fit printed and said.

    Attributes
    ----------
    case : Case
    errors : DataFrame or None
        See `Known.errors`; None for improper posteriors.
    slack : float
    verdict : Verdict or None
        None for a fit that was refused.
    unseen : bool
        There is a mode that no chain has visited.
    effective : Series or None
        Effective sizes of the sds.
    """

    case: Case
    errors: object
    slack: float
    verdict: object
    unseen: bool = False
    effective: object = None

    def worst(self, *kinds):
        """The largest error of some kinds of numbers."""
        return np.inf if self.errors is None else float(self.errors[[*kinds]].abs().max(axis=None))

    @property
    def moments(self):
        """The largest error of means and sds."""
        return self.worst("mean", "sd")

    @property
    def ends(self):
        """The largest error of ends."""
        return self.worst("low", "high")

    @property
    def trusted(self):
        """Whether it is called trustworthy."""
        return self.verdict is not None and self.verdict.trustworthy

    @property
    def within(self):
        """Whether all numbers are within the limits."""
        return self.moments <= TRUSTED_ERROR and self.ends <= TRUSTED_END

    @property
    def wrong(self):
        """Whether some number is so far off that trust is a mistake."""
        return self.moments > WRONG + self.slack or self.ends > WRONG_END + self.slack

    @property
    def kept(self):
        """Whether what was promised holds."""
        return not self.trusted or (
            self.moments <= self.verdict.error + self.slack
            and self.ends <= self.verdict.ends + self.slack
        )

    def __str__(self):
        mark = "WRONG" if self.trusted and self.wrong else "" if self.kept else "promise"
        mark = "unseen" if self.trusted and self.unseen else mark
        mark = mark or ("refused" if self.within and not self.trusted else "ok")
        return (
            f"{mark:8} {self.case!s:72.72} {self.worst('mean'):6.3f} {self.worst('sd'):6.3f} "
            f"{self.ends:6.3f}  "
            f"{'refused' if self.verdict is None else self.verdict!s:.100}"
        )


def outcome_of(case, seed=SEED):
    """Fit a case and compare."""
    try:
        results = case.fit(seed)
    except DataError:
        return Outcome(case, None, 0.0, None)
    if case.posterior in IMPROPER:
        return Outcome(case, None, 0.0, results.verdict)
    truth = known(case.posterior)
    beyond = FAR_MODES.get(case.posterior)
    unseen = beyond is not None and bool((results.draws > beyond).mean() < FEWEST_SEEN)
    errors, effective = truth.errors(results), results.ess("sd")
    return Outcome(case, errors, truth.slack, results.verdict, unseen, effective)


def good(runs):
    """Whether a way to sample is good: every number is within the limits with confidence, 2.5 times
    its error, as the verdict allows for 2.5 standard errors; the numbers exist, the model agrees
    with itself, and chains move between modes.

    An error is the root mean square over the runs, and of an sd not below that of as many
    independent draws as the runs' effective ones, by the posterior's own kurtosis: of long tails a
    few runs show too little.
    """
    case = runs[0].case
    if case.posterior in {*IMPROPER, *CONTRADICTORY, *BY_STARTS}:
        return False
    truth = known(case.posterior)
    if truth.sd.isna().any():
        return False
    typical = np.sqrt(np.mean([one.errors.to_numpy() ** 2 for one in runs], axis=0)).max(axis=0)
    effective = np.mean([one.effective[truth.kurtosis.index] for one in runs], axis=0)
    independent = np.sqrt((truth.kurtosis - 1) / 4 / effective).max()
    limits = [TRUSTED_ERROR, TRUSTED_ERROR, TRUSTED_END, TRUSTED_END]
    return bool((FEWEST_ERRORS * np.maximum(typical, [0, independent, 0, 0]) <= limits).all())


def sums(ways):
    """Counts of runs, a dict by what they show; `ways` are lists of runs of one case."""
    count = Counter()
    for runs in ways:
        right = good(runs)
        for one in runs:
            count["runs"] += 1
            count["trusted"] += one.trusted
            count["trusted and wrong"] += one.trusted and one.wrong and not one.unseen
            count["wrong by a mode that no chain visited"] += one.trusted and one.unseen
            count["promises kept"] += one.trusted and one.kept and not one.unseen
            count["of good ways"] += right
            count["refused though good"] += right and not one.trusted
    return dict(count)


def print_record(seeds=5):
    """All cases and their sums, by group."""
    warnings.simplefilter("ignore")
    groups = {}
    for case in CASES:
        runs = [outcome_of(case, seed) for seed in range(SEED, SEED + seeds)]
        print(*runs, sep="\n", flush=True)
        groups.setdefault(case.group, []).append(runs)
    for group, ways in groups.items():
        for runs in ways:
            if good(runs) and not all(one.trusted for one in runs):
                print(f"refused though good: {runs[0].case}")
        print(f"\n{group}: {len(ways)} cases, {sums(ways)}")
    ways = [runs for some in groups.values() for runs in some]
    print(f"\nall: {len(ways)} cases, {sums(ways)}")
    print(f"sgmc {sgmc.__version__}, Python {sys.version.split()[0]}, numpy {np.__version__}")
