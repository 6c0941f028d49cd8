"""The verdict against the truth: ways to sample posteriors that are known, right and wrong ones.

``python -m tests.test_verdict [SEEDS]`` prints all of them and the sums, for five seeds each.
"""

import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import product

import numpy as np

import sgmc
from sgmc.api import verbs
from sgmc.errors import DataError
from sgmc.results.report.verdict import FEWEST_ERRORS, TRUSTED_END, TRUSTED_ERROR

from . import curved, ended, grouped, scaled, tangled
from .curved import CURVED
from .data import DATA, reference, table
from .ended import ENDED, ENDS_MISTAKEN, ENDS_WAYS
from .grouped import GROUPED
from .known import Known
from .misspecified import misspecified
from .scaled import SCALED, WAYS
from .small import IMPROPER, SMALL
from .tangled import TANGLED
from .users import BY_STARTS, CONTRADICTORY, FAR_MODES, USERS

MAKERS = (GROUPED, grouped), (TANGLED, tangled), (CURVED, curved), (SCALED, scaled), (ENDED, ended)
MADE_BY = {name: made for names, made in MAKERS for name in names}
KINDS = {scaled: "learned scales", ended: "priors with ends"}
WRONG = 0.15  # error of a mean or sd with which nothing may be called trustworthy
WRONG_END = 0.3  # and of an end of an interval
FEWEST_SEEN, SEED = 1e-3, 5  # of draws beyond a mode's edge; half of them are the other mode's

# ---- a way to sample -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A way to sample a posterior.

    Attributes
    ----------
    posterior : str
        Of DATA, GROUPED, TANGLED, CURVED, SCALED, ENDED, SMALL, USERS or IMPROPER.
    how : dict
        Arguments of the fit.
    misplaced, stretched : float
        Mistakes in the mode that a regression goes by: moved by so many of its sds, with sds as
        many times as large.
    """

    posterior: str
    how: dict = field(default_factory=dict)
    misplaced: float = 0.0
    stretched: float = 1.0

    def __str__(self):
        how = ", ".join(f"{k}={v}" for k, v in self.how.items()) or "default"
        moved = f", mode off by {self.misplaced:g}" if self.misplaced else ""
        return f"{self.posterior}: {how}{moved}" + (
            f", sds x {self.stretched:g}" if self.stretched != 1 else ""
        )

    def fit(self, seed=SEED):
        """The results."""
        how = {"seed": seed, **self.how}
        if self.posterior in DATA:
            verb, _, prior = DATA[self.posterior]
            with misspecified(self.misplaced, self.stretched):
                return getattr(verbs, verb)("y ~ .", table(self.posterior), prior=prior, **how)
        if self.posterior in MADE_BY:
            with misspecified(self.misplaced, self.stretched):
                return MADE_BY[self.posterior].fit(self.posterior, **how)
        if self.posterior in SMALL:
            return SMALL[self.posterior][0](**how)
        if self.posterior in IMPROPER:
            return IMPROPER[self.posterior](**how)
        return USERS[self.posterior][0]().fit(**how)

    @property
    def group(self):
        """What kind of posterior it is."""
        if self.posterior in DATA:
            return "regressions"
        if self.posterior in MADE_BY:
            return KINDS.get(MADE_BY[self.posterior], "grouped data")
        if self.posterior in IMPROPER:
            return "improper posteriors"
        if self.posterior in SMALL:
            return "few rows, separation, heavy priors"
        return "users' models"


@cache
def known(posterior):
    """What is known of a posterior."""
    if posterior in DATA:
        return Known.of_long_run(reference(posterior))
    if posterior in MADE_BY:
        return MADE_BY[posterior].known(posterior)
    return (SMALL if posterior in SMALL else USERS)[posterior][1]()


# ---- all of them ---------------------------------------------------------------------------------


def sgld(h, gradient=None, batch=None, **more):
    """Arguments of an SGLD fit."""
    how = {"sampler": "sgld", "step_size": h, "gradient": gradient, "batch_size": batch, **more}
    return {k: v for k, v in how.items() if v is not None}


NOISY = sgld(0.1, "simple", 20)
NOISY_SGHMC = {"sampler": "sghmc", "gradient": "simple", "batch_size": 100}
STUCK = sgld(1e-4, "cv", 1000, precondition=None, warmup=0, draws=200, thin=1, init=np.ones(21))
MISTAKES = ((0.5, 1.0), (3.0, 1.0), (0.0, 0.7), (0.0, 1.5))

REGRESSIONS = [
    *(Case(data, how) for data in DATA for how in (
        {},
        {"sampler": "mala"},
        {"sampler": "hmc"},
        {"sampler": "laplace"},
        {"sampler": "rwm", "draws": 500},
        sgld(0.1),
        sgld(1.0),
        {"sampler": "mala", "draws": 60},
    ) if not (data == "horseshoe" and how.get("sampler") in ("laplace", "rwm"))),
    *(Case(data, NOISY) for data in ("large", "correlated", "rare", "heavy", "three kinds")),
    *(Case(data, sgld(0.1, "cv", 100)) for data in ("large", "correlated", "rare", "three kinds")),
    *(
        Case("large", sgld(h, gradient, 500))
        for h, gradient in ((0.02, "simple"), (0.02, "cv"), (0.1, "saga"))
    ),
    *(
        Case("large", {"sampler": s})
        for s in ("sghmc", "sgnht", "vsgbd", "csgbd", "esgbd", "psgld", "sgd", "zzcv", "bps")
    ),
    *(
        Case("correlated", sgld(h, gradient, 1000, precondition=None, thin=100))
        for h in (3e-4, 1e-2)
        for gradient in ("simple", "cv")
    ),
    *(Case("large", {**NOISY_SGHMC, "step_size": e}) for e in (0.03, 0.3)),
    *(Case(data, {"draws": 30}) for data in ("large", "small")),
    Case("correlated", STUCK),
    *(
        Case(data, {"sampler": sampler}, *mistake)
        for data in ("large", "small", "counts")
        for sampler in ("lmsgld", "laplace")
        for mistake in MISTAKES
    ),
]  # fmt: skip

FEW_ROWS = [
    *(Case(name, {"sampler": s} if s else {}) for name in SMALL for s in (None, "mala", "hmc")),
    *(
        Case(name, {"sampler": "mala", "draws": 10_000})
        for name in SMALL
        if name.startswith(("separated slope", "level of zeros", "least"))
    ),
    *(Case(name, sgld(0.3)) for name in SMALL if name.startswith(("separated", "least"))),
]

# independent proposals, also of other Gaussians than the one at the mode
INDEPENDENT = [
    *(Case(name, {"sampler": "imh"}) for name in (*DATA, *SMALL)),
    *(
        Case(data, {"sampler": "imh"}, *mistake)
        for data in ("large", "small", "counts")
        for mistake in (*MISTAKES, (0.0, 0.5))
    ),
]

# paths that end where they turn back, of densities of users; exact draws by few rows, in right and
# in wrong coordinates; mini-batches whose errors cancel; fits that stop by themselves
NEWER = [
    *(Case(name, {"sampler": "nuts"}) for name in (*USERS, "large", "small")),
    *(Case(name, {"sampler": "mhss"}) for name in ("large", "small", "counts", "correlated")),
    *(Case("large", {"sampler": "mhss"}, *mistake) for mistake in MISTAKES),
    *(
        Case("large", {**NOISY, "sampler": s, "subsample": "symmetric", "step_size": step})
        for s, step in (("sgld", 0.1), ("sgld", 1.0), ("lmsgld", 0.3), ("baoab", 0.3))
    ),
    *(Case(name, {"accuracy": 0.05, "draws": 4000}) for name in (*DATA, *SMALL)),
]

# draws of the approximation with the posterior's skewness
SKEWED = {"sampler": sgmc.Laplace(skew=True)}
SKEW = [
    *(Case(name, SKEWED) for name in (*DATA, *SMALL) if name != "horseshoe"),
    *(
        Case(name, SKEWED)
        for name in USERS
        if name not in (*BY_STARTS, *FAR_MODES, "schools, centred")  # which has no mode
    ),
    *(Case(data, SKEWED, *how) for data in ("large", "small", "counts") for how in MISTAKES),
]

GROUPS = [
    Case(name, how)
    for name in GROUPED
    if not name.startswith("crossed")
    for how in (
        {},
        {"sampler": "mala"},
        {"sampler": "hmc"},
        {"sampler": "imh"},
        {"sampler": "laplace"},
        sgld(0.1),
        sgld(1.0),
        sgld(0.1, "simple", 4),
        {"sampler": "mala", "draws": 60},
    )
]

GROUPS += [  # mini-batches and draws of the approximation are refused there
    Case(name, how)
    for name in GROUPED
    if name.startswith("crossed")
    for how in (
        {},
        {"sampler": "mala"},
        {"sampler": "hmc"},
        {"sampler": "rwm"},
        {"draws": 60},
        {"sampler": "mala", "step_size": 0.01, "draws": 300},
    )
]

GROUPS += [Case(name, how) for name, ways in tangled.WAYS.items() for how in ways]
GROUPS += [Case(name, how) for name in CURVED for how in curved.WAYS]

LEARNED = [Case(name, how) for name in SCALED for how in WAYS]
SEARCH = {"modes": "search"}
OWN = [
    *(
        Case(name, {**SEARCH, **how})
        for name in USERS
        for how in ({}, {"sampler": "mala"}, {"sampler": "hmc"})
    ),
    *(
        Case(name, {**SEARCH, "sampler": "sgld", "step_size": h})
        for name in ("log-normal, sd 0.5", "gamma 20", "beta 2, 5", "coin", "t, 10 df", "shoulder")
        for h in (0.1, 1.0)
    ),
    *(Case(name, {"init": "dispersed"}) for name in ("wide mode apart", "narrow mode apart")),
    *(Case("narrow mode apart", {"sampler": "mala", "chains": c}) for c in (2, 8)),
    *(Case(name, {"sampler": "laplace"}) for name in ("cancelling, 0.1", "cancelling, 0.2")),
]

# a mode that no chain finds: said by the verdict ("one start"), and in the documentation
UNSEEN = [Case("far modes"), Case("narrow mode apart", {"sampler": "hmc"})]
BETWEEN = [Case(*way) for way in [*product(ENDED, ENDS_WAYS), *ENDS_MISTAKEN]]
CASES = [
    *BETWEEN,
    *INDEPENDENT,
    *NEWER,
    *SKEW,
    *REGRESSIONS,
    *GROUPS,
    *LEARNED,
    *FEW_ROWS,
    *OWN,
    *UNSEEN,
]
CASES += [Case(name) for name in IMPROPER]

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
        print(f"\n{group}: {len(ways)} cases, {sums(ways)}")
    ways = [runs for some in groups.values() for runs in some]
    print(f"\nall: {len(ways)} cases, {sums(ways)}")
    print(f"sgmc {sgmc.__version__}, Python {sys.version.split()[0]}, numpy {np.__version__}")
