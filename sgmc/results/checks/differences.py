"""Whether a user's log density, its gradient and its sums over rows agree where the draws are.

The slope of the log posterior f along a direction of length one in whitened coordinates is compared
with central differences (`sgmc.core.numerics.slopes`).  With a third derivative of order one,
LONG_STEP leaves h^2 / 6 = 4e-5, and rounding errors 1e-16 |f| stay below that for |f| up to 1e9.
Only where that difference is apart from the slope by MATTERS / 2 are smaller steps taken.
Disagreement is in posterior sds of score: the slopes of a standard normal have an sd of one.
"""

from dataclasses import dataclass

import numpy as np

from sgmc.core.engine import density, full
from sgmc.core.expansion import of_rows
from sgmc.core.numerics.slopes import diverged_index, surely_apart
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.system import deadline
from sgmc.results.checks.breaks import BREAK_HALVINGS, INTERVALS, broken
from sgmc.results.checks.scores.stein import MOST_LEARNED, spread_of
from sgmc.results.outcomes.data.rows import evenly
from sgmc.subsampling.uniform import FullBatch

MATTERS = 0.05  # disagreement of a slope that moves a mean or an sd by a twentieth
LONG_STEP, SHORT_STEP = 2.0**-6, 2.0**-11  # in posterior sds
OUTWARDS = 0.5  # posterior sds from an outer draw to where the density is looked at
OUTER = 0.02  # share of draws farther out than an outer one
MOST_DIRECTIONS = 10  # each takes five evaluations of all rows
FEWEST_DIRECTIONS = 2
# rows x parameters x evaluations: of many rows two or three directions, in which a gradient that is
# off by an sd is right to MATTERS once in some thousand fits
WORK = 3e7
LOOKED_AT = 1000  # draws among which outer ones are chosen
ONE_CALL = 1000  # rows that any model is given at once
SUMS_DIFFER = 1e-6  # relative error of sums over rows that are the same but for rounding
BEYOND = {  # what is found there, and advice
    "nan": (
        f"the log density is not a number {OUTWARDS:g} posterior sds beyond the outer draws of "
        "{!r}.",
        "Return -inf where parameters are impossible, or constrain them; find the boundary of what "
        "log_lik and log_prior take logs or roots of.",
    ),
    "end": (
        f"the log density is -inf {OUTWARDS:g} posterior sds beyond the outer draws of "
        "{!r}: no gradient turns chains back from there, and scores cannot tell how far they are "
        "from the posterior.",
        "Constrain the parameter ('positive', ('interval', low, high))",
    ),
}
EXACT_ALONE = {  # further advice: by whether an accept-reject step has made the draws right
    False: ", or take an exact sampler such as sampler='mala'.",
    True: "; exact samplers hold for it all the same, with errors by effective draws.",
}


@dataclass(frozen=True)
class Disagreement:
    """What is wrong with a log density.

    Attributes
    ----------
    kind : {"gradient", "rows", "nan", "end", "jump", "kink"}
        The last three are no mistakes.  "end": the density is zero from somewhere on, "jump": it
        jumps, so that its scores say nothing of how far draws are from it (Stein's identity has a
        term of the boundary).  "kink": its gradient jumps.
    size : float
        Of a gradient: in posterior sds of score.  Of rows: relative error of their sum.  Of jumps
        and kinks: see `Break`.  NaN for "nan" and "end".
    parameter : str
        The one most concerned; empty where none is.
    text, advice : str
        What was found, and what to do.
    """

    kind: str
    size: float
    parameter: str
    text: str
    advice: str

    @property
    def breaks(self):
        """Whether the density ends or jumps where draws are, so that Stein's identity fails."""
        return self.kind in ("end", "jump")


@dataclass(frozen=True)
class Place:
    """An outer draw, and the direction in which it is one.

    Attributes
    ----------
    x : array (d,)
        In the sampler's coordinates.
    outward : array (d,)
        Step of x that leads outward by one posterior sd.
    along : array (d,)
        Step of x of length one in whitened coordinates, along which slopes are compared.
    parameter : int
        The one that `along` changes alone; -1 for a random direction.
    """

    x: np.ndarray
    outward: np.ndarray
    along: np.ndarray
    parameter: int


def disagreement(fit, entropy):
    """What is wrong with the log density of a fit's model, as `Disagreement`; None where nothing
    is, or nothing can be said.

    It costs at most about 60 evaluations of all rows, about 20 more on each of at most
    MOST_DIRECTIONS segments where breaks are looked for, and fewer where these take long.
    Densities of the package itself are tested, and not looked at (`Problem.foreign`).

    Parameters
    ----------
    fit : Fit
    entropy : int
    """
    problem = fit.problem
    unknown = fit.settings.robust or fit.plan.spec.sticky or problem.partial
    if not problem.foreign or unknown or problem.model.refreshes:
        return None
    look = DensityComparison(fit, np.random.default_rng(seed_sequence(entropy, "diagnostics", 1)))
    with np.errstate(all="ignore"):
        return look.rows_apart() or look.slopes_apart() or look.boundary() or look.broken()


class DensityComparison:
    """Comparisons at the outer draws of a fit.

    Parameters
    ----------
    fit : Fit
    rng : numpy.random.Generator
    """

    def __init__(self, fit, rng):
        self.problem, self.rng, self.spec = fit.problem, rng, fit.plan.spec
        self.n, self.d = fit.problem.model.n, fit.problem.dim
        self.names = fit.problem.free_names
        rows = FullBatch(self.n)
        stream = Rng(seed_sequence(0, "diagnostics"))
        self.exact = fit.problem.gradient("simple", rows, stream)
        x = fit.x.reshape(-1, self.d)
        self.x = x[evenly(len(x), LOOKED_AT)]
        self.white = self.problem.coordinates.white
        if self.white is None:
            learned = self.d <= MOST_LEARNED and len(x) > 2 * self.d
            self.white = spread_of(x) if learned else np.diag(np.maximum(x.std(axis=0), 1e-300))
        self.places = self.outer_places()

    # ---- where -----------------------------------------------------------------------------------

    def outer_places(self):
        """Two outer draws for each of some directions: those of the parameters where they are few,
        else random ones.
        """
        most = int(np.clip(WORK / (5 * self.n * self.d), FEWEST_DIRECTIONS, MOST_DIRECTIONS))
        theta = self.problem.coordinates.theta(self.x)
        z = np.linalg.solve(self.white, (theta - theta.mean(axis=0)).T).T
        if self.d <= MOST_DIRECTIONS:
            chosen = np.sort(self.rng.permutation(self.d)[:most])
            towards = [unit(self.white[j]) for j in chosen]
            along = [unit(np.linalg.solve(self.white, axis(j, self.d))) for j in chosen]
        else:
            chosen = np.full(most, -1)
            towards = along = [unit(v) for v in self.rng.normal(size=(most, self.d))]
        return [
            self.place(z @ t, share, sign, t, a, int(j))
            for j, t, a in zip(chosen, towards, along)
            for share, sign in ((1 - OUTER, 1.0), (OUTER, -1.0))
        ]

    def place(self, projected, share, sign, towards, along, parameter):
        """The draw at a quantile of its projections."""
        x = self.x[np.argsort(projected, kind="stable")[int(share * (len(projected) - 1))]]
        root = self.root(x)
        return Place(x, sign * root @ towards, root @ along, parameter)

    def root(self, x):
        """A, where the covariance of the sampler's coordinates at x is about A A'."""
        where = self.problem.coordinates
        if where.whitened:
            return np.eye(self.d)
        return where.spread(x) if where.scaled else self.white

    def value(self, x):
        """Log posterior at x; NaN where the user's code raises."""
        deadline.check()
        try:
            return density(self.exact, x)
        except Exception:  # whatever it raises: it is undefined there
            return np.nan

    # ---- rows ------------------------------------------------------------------------------------

    def rows_apart(self):
        """Whether two halves of the rows do not add up to all of them: once as slices, once as
        lists of random rows.

        Looked at only where parts of the rows are asked for: with mini-batches, or many rows.
        """
        if self.n < 2 or not (self.spec.minibatches or self.n > ONE_CALL):
            return None
        half, order = self.n // 2, self.rng.permutation(self.n)
        splits = (slice(0, half), slice(half, self.n)), (order[:half], order[half:])
        for place, parts in zip(self.places, splits):
            theta = self.problem.coordinates.natural(place.x)
            found = self.sums_apart(theta, parts)
            if found is not None:
                return found
        return None

    def sums_apart(self, theta, parts):
        """The same for one division of the rows."""
        deadline.check()
        slope = not self.problem.differenced
        whole, first, second = (
            of_rows(self.problem.model, theta, rows, slope) for rows in (None, *parts)
        )
        for k, name in enumerate(("log_lik", "grad")[: 1 + slope]):
            size = np.max(np.abs(first[k])) + np.max(np.abs(second[k])) + 1e-300
            off = np.abs(first[k] + second[k] - whole[k]) / size
            if np.max(off) > SUMS_DIFFER:
                worst = int(np.argmax(off))
                parameter = self.problem.priors.names[worst] if k else ""
                return Disagreement(
                    "rows",
                    float(np.max(off)),
                    parameter,
                    f"{name} of two halves of the rows does not add up to that of all rows"
                    + (f", most for {parameter!r}" if parameter else "")
                    + f": {np.ravel(first[k])[worst]:.6g} and {np.ravel(second[k])[worst]:.6g} "
                    f"against {np.ravel(whole[k])[worst]:.6g}.",
                    "Use only the rows that are asked for and return their sum; "
                    "sgmc.check_model says more.",
                )
        return None

    # ---- slopes ----------------------------------------------------------------------------------

    def slopes_apart(self):
        """Whether slopes disagree with differences, the worst of all places."""
        if self.problem.differenced:  # there is no gradient but differences
            return None
        enlarged = 1.0 if self.d <= MOST_DIRECTIONS else np.sqrt(self.d)
        worst, at = MATTERS, None
        for place in self.places[:: 1 if len(self.places) <= MOST_DIRECTIONS else 2]:
            slope = full(self.exact, place.x)[1] @ place.along
            size = enlarged * self.apart(place.x, place.along, slope, MATTERS / enlarged)
            if size > worst:
                worst, at = size, place
        if at is None:
            return None
        name = self.names[at.parameter if at.parameter >= 0 else self.diverged_index(at.x)]
        return Disagreement(
            "gradient",
            float(worst),
            name,
            f"the gradient disagrees with differences of the log density by {worst:.2g} (slopes of "
            f"the posterior have an sd of about 1), most for {name!r}.",
            "Correct grad or log_lik; sgmc.check_model compares them number by number.",
        )

    def apart(self, x, step, slope, matters):
        """By how much a slope is surely off."""
        return surely_apart(
            lambda h: self.difference(x, step, h) - slope, matters, LONG_STEP, (SHORT_STEP,)
        )

    def difference(self, x, step, h):
        """The central one."""
        return (self.value(x + h * step) - self.value(x - h * step)) / (2 * h)

    def diverged_index(self, x):
        """The parameter most concerned."""
        g, root = full(self.exact, x)[1], self.root(x)
        sds = np.sqrt((self.white**2).sum(axis=1)) * self.rng.choice([-1.0, 1.0], self.d)

        def error(among):
            moved = np.zeros(self.d)
            moved[among] = sds[among]
            step = root @ unit(np.linalg.solve(self.white, moved))
            return abs(self.difference(x, step, LONG_STEP) - g @ step)

        return diverged_index(error, self.d)

    # ---- boundaries ------------------------------------------------------------------------------

    def boundary(self):
        """Whether the log density is not a number, or -inf, a little farther out than outer
        draws.
        """
        beyond = [self.value(place.x + OUTWARDS * place.outward) for place in self.places]
        for kind, there in (("nan", np.isnan(beyond)), ("end", np.equal(beyond, -np.inf))):
            if there.any():
                name = self.names[self.moved(self.places[int(np.argmax(there))])]
                text, advice = BEYOND[kind]
                if kind == "end":
                    advice += EXACT_ALONE[self.spec.exact]
                return Disagreement(kind, np.nan, name, text.format(name), advice)
        return None

    def broken(self):
        """Whether the log density or its gradient jumps between outer draws."""
        each = (INTERVALS + 1 + 2 * BREAK_HALVINGS) * (
            2 * self.d + 1 if self.problem.differenced else 1
        )
        most = int(WORK / (self.n * self.d * each))
        ends = [(low.x, high.x) for high, low in zip(self.places[::2], self.places[1::2])]
        found = broken(self.exact, ends[:most])
        if found is None:
            return None
        theta = self.problem.coordinates.theta
        sds = np.sqrt((self.white**2).sum(axis=1))
        worst = int(np.argmax(np.abs(theta(found.x) - theta(found.first)) / sds))
        name, sd = self.names[worst], sds[worst]
        at = sd * np.round(theta(found.x)[worst] / sd, 4) + 0.0  # digits that mean something
        if found.kind == "jump":
            return Disagreement(
                "jump",
                found.size,
                name,
                f"the log density jumps by {found.size:.2g} near {name} = {at:.4g}: its gradient "
                "does not show that, so that scores cannot tell how far draws are from the "
                "posterior.",
                "Make log_lik and log_prior continuous where you can"
                + EXACT_ALONE[self.spec.exact],
            )
        return Disagreement(
            "kink", found.size, name, f"the gradient jumps (a kink) near {name} = {at:.4g}", ""
        )

    def moved(self, place):
        """The parameter that changes most from an outer draw to a place farther out."""
        if place.parameter >= 0:
            return place.parameter
        theta = self.problem.coordinates.theta
        step = theta(place.x + OUTWARDS * place.outward) - theta(place.x)
        return int(np.argmax(np.abs(step) / np.sqrt((self.white**2).sum(axis=1))))


def unit(v):
    """A vector of length one."""
    return v / np.linalg.norm(v)


def axis(j, d):
    """The j-th unit vector."""
    return np.eye(1, d, j)[0]
