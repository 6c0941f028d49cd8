"""Ways to sample posteriors that are known, right and wrong ones."""

from dataclasses import dataclass, field
from functools import cache
from itertools import product

import numpy as np

import sgmc
from sgmc.api import verbs

from . import curved, ended, grouped, rising, scaled, several, tangled
from .curved import CURVED
from .data import DATA, reference, table
from .ended import ENDED, ENDS_MISTAKEN, ENDS_WAYS
from .grouped import GROUPED
from .known import Known
from .misspecified import misspecified
from .rising import RISING, RISING_WAYS
from .scaled import SCALED, WAYS
from .several import SEVERAL
from .small import IMPROPER, SMALL
from .tangled import TANGLED
from .users import BY_STARTS, FAR_MODES, USERS

MAKERS = (
    (GROUPED, grouped),
    (TANGLED, tangled),
    (CURVED, curved),
    (SCALED, scaled),
    (ENDED, ended),
    (SEVERAL, several),
    (RISING, rising),
)
MADE_BY = {name: made for names, made in MAKERS for name in names}
KINDS = {scaled: "learned scales", ended: "priors with ends", several: "several predictors"}
KINDS[rising] = "monotonic effects"
SEED = 5

# ---- a way to sample -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A way to sample a posterior.

    Attributes
    ----------
    posterior : str
        Of DATA, GROUPED, TANGLED, CURVED, SCALED, ENDED, SEVERAL, RISING, SMALL, USERS or IMPROPER.
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
    *(
        Case(name, {"sampler": sgmc.NUTS(target_accept=0.95, metric="diag"), "draws": 2000})
        for name in ("banana 3, thin", "rosenbrock")
    ),
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

GROUPS += [
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

# effects and learned scales among the parameters, beside mini-batches and the approximation
BESIDE = (
    {"sampler": "lmsgld"},
    {"sampler": "sbps"},
    {"sampler": "imh"},
    {"sampler": "laplace"},
    sgld(0.1),
    sgld(1.0),
    sgld(0.1, "simple", 20),
    {"sampler": "lmsgld", "gradient": "cv"},
)
# priors whose ends and poles straight lines do not go with
POLES = ("crossed, horseshoe", "crossed, ends")
GROUPS += [
    Case(name, how)
    for name in GROUPED
    if name.startswith("crossed")
    for how in BESIDE
    if not (name in POLES and how["sampler"] == "sbps")
]
GROUPS += [Case(name, how) for name in CURVED for how in BESIDE]

GROUPS += [Case(name, how) for name, ways in tangled.WAYS.items() for how in ways]
GROUPS += [Case(name, how) for name in CURVED for how in curved.WAYS]

LEARNED = [Case(name, how) for name in SCALED for how in (*WAYS, *BESIDE)]
PREDICTORS = [Case(name, how) for name in SEVERAL for how in several.WAYS]
PREDICTORS += [Case(name, how) for name in several.FIXED for how in several.WAYS_OF_FIXED]
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
RISES = [Case(*way) for way in product(RISING, RISING_WAYS)]
CASES = [
    *BETWEEN,
    *RISES,
    *INDEPENDENT,
    *NEWER,
    *SKEW,
    *REGRESSIONS,
    *GROUPS,
    *LEARNED,
    *PREDICTORS,
    *FEW_ROWS,
    *OWN,
    *UNSEEN,
]
CASES += [Case(name) for name in IMPROPER]
