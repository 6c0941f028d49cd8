"""The posterior mode by Newton's method, in tiles of rows."""

from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from scipy import linalg

from sgmc.coordinates.approximations.newton import Target, find_mode
from sgmc.coordinates.whitened.whitening import whitener
from sgmc.core.contract import Anchor
from sgmc.core.expansion import expand
from sgmc.core.numerics.limits import MAX_LOG
from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime, RateEstimator
from sgmc.core.system.storage import too_many
from sgmc.errors import DataError, ModeWarning

WARM_START_ROWS = 20_000  # rows of the first warm start, when there are several times as many
MORE_ROWS = 10  # times as many rows has the next one
SEVERAL = 5  # times as many rows has the table, at least
WARM = 0.5  # distance at which a warm start ends: the mode of more rows is farther away
NEAR = 0.1  # distance from which one step more is likely to end the search
FEWEST_ROWS, FEWEST_CELLS = 50, 2e8  # of the rows looked at where there is time for no pass
TINY = 1e-12  # precision of what so few rows say nothing about
MODE_TOLERANCE = 1e-6  # distance to the mode in posterior sds at which Newton stops
STEP_LEFT = 1e-3  # distance from which a single step leads to about the square of it
# a Laplace prior's |b| is sqrt(b^2 + (0.1 scale)^2) for the search alone: it has no curvature at 0
SMOOTHING = 0.1


@dataclass(frozen=True)
class Mode:
    """Mode, and the posterior's precision there, split into likelihood and prior.

    `whole` is false where the time was up before the search had ended.  `anchor` has the rows'
    scores and curvatures there, where the search has made it.
    """

    theta: np.ndarray
    likelihood: np.ndarray
    prior: np.ndarray
    whole: bool = True
    anchor: Anchor | None = field(default=None, compare=False, repr=False)

    @property
    def precision(self):
        """Minus the Hessian of the log posterior."""
        return self.likelihood + self.prior

    @cached_property
    def axes(self):
        """The whitening matrix, and the prior's share of each direction's precision."""
        return whitener(self)

    def without_rows(self):
        """This mode without the anchor."""
        other = replace(self, anchor=None)
        if "axes" in vars(self):
            vars(other)["axes"] = self.axes
        return other


@dataclass(frozen=True)
class PosteriorExpansion:
    """The log posterior around a place, see `newton.Evaluation`.

    Attributes
    ----------
    value : float
        Infinite where the anchor was made instead: so close to the mode nothing is compared.
    gradient : array (dim,)
        Of the log posterior.
    likelihood, prior : array (dim, dim)
        Curvatures.
    anchor : Anchor or None
    """

    value: float
    gradient: np.ndarray
    likelihood: np.ndarray
    prior: np.ndarray
    anchor: Anchor | None = None


class PriorTerms:
    """Value, gradient and (positive) curvature of the log prior for the search;
    pivots and logs as in `Separable`.

    A horseshoe has no curvature where it matters: a normal law stands for it, at first with its
    scale for an sd; `stand_in` sets another.  `widened` multiplies all scales; `bent` is that of
    `Separable`.
    """

    def __init__(self, table, shift, widened=1.0, bent=None):
        self.bent = np.zeros(len(table.names)) if bent is None else np.asarray(bent)
        self.table = table
        self.location, self.scale, self.df = (
            np.array(table.columns(a), dtype=float) for a in ("location", "scale", "df")
        )
        self.family, self.logged = np.array(table.families), table.logged
        self.family[table.shrunk] = "normal"
        self.scale = self.scale * widened
        self.rows = np.eye(len(table.names))
        d = np.shape(shift)[-1]
        for j, own in zip(table.intercepts, np.broadcast_to(shift, (len(table.intercepts), d))):
            first = j - j % d
            self.rows[j, first : first + d] += own
        self.tied = (self.rows != np.eye(len(self.rows))).any(axis=1)  # not to one parameter alone

    def stand_in(self, places, sds):
        """Put normal laws in the place of the horseshoes."""
        self.location[self.table.shrunk], self.scale[self.table.shrunk] = places, sds

    def slope_of(self, theta, places):
        """The gradient of the log density of the normal priors at some places alone."""
        rows = self.rows[places]
        return -rows.T @ ((rows @ theta - self.location[places]) / self.scale[places] ** 2)

    def __call__(self, theta):
        """(log density, gradient, precision matrix) at theta;
        curvatures are those of quadratic majorisers.
        """
        linear = self.rows @ theta
        natural = np.where(self.logged, np.exp(np.minimum(linear, MAX_LOG)), linear)
        unit, turned = np.where(self.logged, natural, 1.0), np.tanh(linear)
        bent = self.bent > 0
        natural[bent] = self.bent[bent] * np.sinh(linear[bent])
        unit[bent] = self.bent[bent] * np.cosh(linear[bent])
        e = (natural - self.location) / self.scale
        value, weight = np.zeros_like(e), np.zeros_like(e)
        is_ = {
            name: self.family == name
            for name in ("normal", "student_t", "laplace", "gamma", "inverse_gamma", "lognormal")
        }
        value[is_["normal"]], weight[is_["normal"]] = -0.5 * e[is_["normal"]] ** 2, 1.0
        t, nu = e[is_["student_t"]], self.df[is_["student_t"]]
        value[is_["student_t"]] = -0.5 * (nu + 1) * np.log1p(t**2 / nu)
        weight[is_["student_t"]] = (nu + 1) / (nu + t**2)
        smooth = np.hypot(e[is_["laplace"]], SMOOTHING)
        value[is_["laplace"]], weight[is_["laplace"]] = -smooth, 1 / smooth
        lkj = self.family == "lkj"
        value[lkj] = -2 * self.df[lkj] * np.logaddexp(0, -2 * np.abs(e[lkj]))
        value[lkj] -= 2 * self.df[lkj] * np.abs(e[lkj])
        slope = -weight * e / self.scale * unit
        with np.errstate(over="ignore", invalid="ignore"):  # too long steps are taken back
            beyond = np.where(self.logged | bent, natural, 0.0) * (natural - self.location)
            curvature = weight / self.scale**2 * (unit**2 + beyond)
        slope[lkj] = -2 * self.df[lkj] * turned[lkj]
        curvature[lkj] = 2 * self.df[lkj] * (1 - turned[lkj] ** 2)
        gamma = is_["gamma"]  # of logs: a u - exp(u) / scale in all
        # exp(u) may be 0 where u overshoots
        shape, log_e = self.df[gamma], linear[gamma] - np.log(self.scale[gamma])
        value[gamma], slope[gamma] = (shape - 1) * log_e - e[gamma], shape - 1 - e[gamma]
        curvature[gamma] = e[gamma]
        inverse = is_["inverse_gamma"]  # of logs: -a u - scale exp(-u) in all
        shape, log_e = self.df[inverse], linear[inverse] - np.log(self.scale[inverse])
        curvature[inverse] = np.exp(np.minimum(-log_e, MAX_LOG))
        value[inverse] = -(shape + 1) * log_e - curvature[inverse]
        slope[inverse] = curvature[inverse] - shape - 1
        spread = is_["lognormal"]  # of logs: -(u - log scale)^2 / (2 sd^2) in all
        sd, log_e = self.df[spread], linear[spread] - np.log(self.scale[spread])
        value[spread], slope[spread] = -0.5 * (log_e / sd) ** 2 - log_e, -log_e / sd**2 - 1
        curvature[spread] = sd**-2.0
        gradient = self.rows.T @ (slope + self.logged + turned * bent)
        curvature = np.maximum(curvature, 0.0) - (1 - turned**2) * bent
        own, tied = np.where(self.tied, 0.0, curvature), self.rows[self.tied]
        total = value.sum() + linear[self.logged].sum() + np.log(np.cosh(linear[bent])).sum()
        precision = np.diag(own) + tied.T @ (curvature[self.tied, None] * tied)
        for one in self.table.together:
            apart = theta[one.places] - one.location
            pull = one.precision @ apart
            total -= 0.5 * apart @ pull
            gradient[one.places] -= pull
            precision[np.ix_(one.places, one.places)] += one.precision
        return total, gradient, precision


def solve(precision, vector):
    """precision^-1 vector with unit-diagonal scaling; DataError where the posterior is improper."""
    diagonal = np.diag(precision)
    if not np.isfinite(vector).all():
        raise DataError(
            "the posterior has no gradient: numbers overflow; rescale predictors and outcomes, or "
            "give tighter priors"
        )
    if not (np.isfinite(precision).all() and (diagonal > 0).all()):
        raise DataError(
            "the posterior is improper: the data do not determine the coefficient of a predictor "
            "with a flat prior; drop it or give it a prior, e.g. prior=sgmc.normal(0, 2.5)"
        )
    scale = np.sqrt(diagonal)
    try:
        factor = linalg.cho_factor(precision / np.outer(scale, scale))
    except (linalg.LinAlgError, ValueError):  # a ValueError where scaling overflows
        raise DataError(
            "the posterior is improper: predictors with flat priors are collinear, or separate the "
            "outcomes; drop one of them or give them a prior, e.g. prior=sgmc.normal(0, 2.5)"
        ) from None
    return linalg.cho_solve(factor, vector / scale) / scale


class Posterior(Target):
    """Log-likelihood of rows plus log prior, in tiles of rows, with dense steps.

    Where the curvature is not positive definite, as it may be far from the mode if the density is
    not log-concave, a step uses the expected one (Fisher scoring).  Close to the mode the search
    also ends where a step leads no nearer: gradients are then not more than rounding errors.

    Parameters
    ----------
    model : Model
    prior : PriorTerms
    rows : int
        The first so many, scaled to all; 0: all.
    tolerance : float
    free : int, optional
        Only the first so many parameters move.
    anchored : bool
        The last pass over all rows keeps their scores and curvatures, as an `Anchor`.
    near : bool
        That may be the first pass.
    """

    def __init__(
        self,
        model,
        prior,
        rows=0,
        tolerance=MODE_TOLERANCE,
        free=None,
        anchored=False,
        near=False,
    ):
        self.model, self.prior, self.rows, self.tolerance = model, prior, rows, tolerance
        self.free, self.anchored, self.near = slice(free), anchored, near
        self.many, self.pace, self.curved = rows or model.n, None, False

    def evaluate(self, theta, distance):
        """See `Target`."""
        if self.pace is None:
            self.pace, few = RateEstimator(), few_rows(self.model)
            if deadline.current().set and self.many > few:
                self.pace.measured(lambda: expand(self.model, theta, few), few)
        value, gradient, curvature = self.prior(theta)
        if self.anchored and (self.near or distance < NEAR):
            self.near = False
            anchor = self.pace.run(lambda: Anchor(self.model, theta, True), self.many)
            slope, likelihood = np.asarray(anchor.full), np.asarray(anchor.hessian)
            return PosteriorExpansion(np.inf, slope + gradient, likelihood, curvature, anchor)
        work = partial(expand, self.model, theta, self.rows)
        log, slope, likelihood = self.pace.run(work, self.many)
        return PosteriorExpansion(log + value, slope + gradient, likelihood, curvature)

    def step(self, theta, here):
        """See `Target`."""
        total, free = here.gradient[self.free], self.free
        try:
            move, self.curved = solve((here.likelihood + here.prior)[free, free], total), True
        except DataError:
            expected = expand(self.model, theta, self.rows, expected=True)[2]
            move, self.curved = solve((expected + here.prior)[free, free], total), False
        step = np.zeros(len(theta))
        step[free] = move
        return step, float(np.sqrt(max(total @ move, 0.0)))

    def found(self, here, distance, last):
        """See `Target`."""
        return distance < self.tolerance or last <= distance < STEP_LEFT


def newton(model, prior, start, limit=100, **options):
    """The `ModeResult` of a `Posterior`, with its options.

    Raises
    ------
    DataError
        Where the posterior is improper.
    OutOfTime
    """
    target = Posterior(model, prior, **options)
    found = find_mode(target, start, limit)
    if not target.curved:
        free = target.free
        own = found.here.prior[free, free]
        try:
            solve(found.here.likelihood[free, free] + own, found.here.gradient[free])
        except DataError as error:
            if not (np.diag(own) > 0).all():
                raise
            # each coefficient has a proper prior: it is the search that did not arrive
            raise DataError(
                "the search for the posterior mode did not arrive: outcomes far from all others "
                "may be the reason; look at the smallest and the largest, or give tighter priors"
            ) from error
    return found


def posterior_mode(model, prior, start, shuffled=True, single=None):
    """The posterior mode and its curvature; warm starts on subsets of the rows when there are many,
    in random order.

    Parameters
    ----------
    model : Model
    prior : PriorTerms
    start : array (dim,)
    shuffled : bool
        Whether the rows are in random order.
    single : Model, optional
        The same with curvatures in float32, in half the time: they lead as near to the mode as
        gradients tell, and `model` is asked for the curvature there.

    Returns
    -------
    mode : Mode
    warnings : list of SGMCWarning
    """
    warm, near = None, False
    try:
        for rows in subsets(model) if shuffled else ():
            try:
                warm = newton(model, prior, start, limit=25, rows=rows, tolerance=WARM)
                start = warm.theta
            except DataError:
                pass  # the subset alone may be collinear or separated; all rows decide
        if single is not None:
            try:
                warm = newton(single, prior, start, limit=25, tolerance=STEP_LEFT)
                start = warm.ahead
                near = True
            except DataError:
                pass  # what float32 cannot tell apart
        found = newton(
            model, prior, start, tolerance=settled(model), anchored=model.width > 0, near=near
        )
    except OutOfTime as up:
        return unfinished(model, prior, start, up.reached or warm), []
    here = found.here
    mode = Mode(found.theta, here.likelihood, here.prior, anchor=here.anchor)
    return mode, distant(found.distance)


def unfinished(model, prior, start, reached=None):
    """The `Mode` of a search whose time is up: where its last step leads, or one by few rows."""
    if reached is None:
        value, slope, likelihood = expand(model, start, few_rows(model), expected=True)
        more, gradient, known = prior(start)
        here = PosteriorExpansion(value + more, slope + gradient, likelihood, known)
    else:
        here = reached.here
    likelihood, known = here.likelihood, here.prior
    try:
        step = solve(likelihood + known, here.gradient)
    except DataError:  # of so few rows, or so far from the mode
        likelihood = np.diag(np.maximum(np.diag(likelihood), TINY))
        known, step = np.diag(np.maximum(np.diag(known), TINY)), 0.0
    place = start + step if reached is None else reached.ahead
    return Mode(place, likelihood, known, whole=False)


def settled(model):
    """The distance at which the search ends: of float32 tables with so many rows gradients are
    right to about 1e-4 posterior sds, and each pass counts.
    """
    large = too_many(model, 2 * model.width) and model.X.table.dtype == np.float32
    return STEP_LEFT if large else MODE_TOLERANCE


def few_rows(model):
    """Rows of which an expansion takes some hundredths of a second."""
    return min(model.n, max(FEWEST_ROWS, int(FEWEST_CELLS / model.dim**2)))


def subsets(model):
    """Rows of warm starts, in turn; none where the table has too few to bother."""
    rows, found = max(WARM_START_ROWS, 50 * model.dim), []
    while model.n >= SEVERAL * rows:
        found.append(rows)
        rows *= MORE_ROWS
    return found


def distant(distance):
    """A ModeWarning, in a list, where the search stopped away from the mode."""
    return (
        []
        if distance < 1e-3
        else [
            ModeWarning(
                f"the search for the posterior mode stopped {distance:.2g} posterior sds away from "
                "it.",
                "Rescale or drop extreme predictors, or give a tighter prior.",
            )
        ]
    )
