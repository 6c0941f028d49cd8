"""What ends a fit before its draws: the accuracy that was asked for, and the time, some of which
is left to the checks of the draws.

With ``accuracy=`` fits stop once the means are known well enough.  Chains are looked at after 250,
500, 1000, ... draws each, and stop at the first look at which the error of every printed mean is at
most `accuracy` posterior sds with 95 % confidence.  That is a fixed-width rule (Glynn & Whitt 1992,
Annals of Applied Probability 2:180; for chains Flegal & Gong 2015, Statistica Sinica 25:655), with
what a rule that stops at an estimate has to add: the autocorrelation time is taken larger than its
estimate, by so many of its own standard errors, and there is a look only where the draws have
doubled, so that few have a chance to stop by luck.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from sgmc.arguments.declared.keywords import DRAWS_BY_DEFAULT
from sgmc.core.system import deadline
from sgmc.diagnostics.chains.convergence import ess
from sgmc.diagnostics.chains.tails import index_error
from sgmc.diagnostics.chains.visits import BATCHES
from sgmc.errors import AccuracyWarning, ArgumentError, NotSupported

ACCURACY_IS = "it is the error of posterior means that is accepted, in posterior sds, e.g. 0.05"
DRAWS_AT_FIRST = 250  # per chain
# times the default number of draws: the largest number where draws= is not given
LIMIT_BY_DEFAULT = 20
CONFIDENCE = 0.95  # with which all means at once are within the accuracy
# standard errors by which an autocorrelation time may be larger than its estimate
TIME_MARGIN = 2.0
WINDOW = 3  # autocorrelation times over which one is summed up, about
MOST_LOOKED_AT = 1000  # parameters, evenly: each takes about a millisecond a look

GROWTH = 2  # times as many draws at the next look, where their number is left open
MOST_GROWN = 32  # times as many at the last one
FORECAST_ERROR = 4.0  # by which a forecast of draws may be too large
MOST_WORK = 60.0  # seconds on one core, counted
# of a number that a row has, of a model's `nanoseconds`, and of a density besides, also one of
# users: on a core of about 3 GHz
CELL, ROW_TERMS, CALL, USERS_CALL = 4e-9, 1e-9, 2e-6, 5e-5
COMPILED_CALL = 1e-6  # of a density that users have compiled, for each parameter
HAS_SD = 0.5  # tail index below which an sd exists
MOST_BYTES = 1 << 28  # of the draws of all chains
MOST_CHECKED = 1 << 25  # draws of all parameters that checks look at

# parameters, evenly, whose effective sizes and R-hats are computed: they cost a millisecond each
MAX_DIAGNOSED = 1000
CHECKED_PER_SECOND = 150  # of these, of DRAWS_CHECKED draws in all
DRAWS_CHECKED, LEAST_RESERVE = 4000, 0.1
LARGEST_RESERVE = 1 / 3  # of the time that is left


@dataclass(frozen=True)
class Stopping:
    """How a fit with `accuracy` ended.

    Attributes
    ----------
    accuracy : float
        That was asked for, in posterior sds.
    error : float
        Within which all means are with 95 % confidence, by Monte Carlo error alone.
    draws : int
        Of each chain.
    parameters : int
    interrupted : str
        What ended the run before a look; empty where nothing did.
    sd_change : float
        Of the draws, by step and gradient noise, see `Fit.sd_change`.
    """

    accuracy: float
    error: float
    draws: int
    parameters: int
    interrupted: str = ""
    sd_change: float = 0.0

    @property
    def reached(self):
        """Whether a look ended the run."""
        return not self.interrupted and self.error <= self.accuracy

    @property
    def text(self):
        """A line of the summary's details."""
        how = "Stopped on accuracy" if self.reached else "Did not stop on accuracy"
        return (
            f"{how} (accuracy={self.accuracy:g}) after {self.draws} draws per chain: errors of "
            f"all {self.parameters} means are at most {self.error:.2g} posterior sd, with "
            f"{100 * CONFIDENCE:.0f} % confidence, by Monte Carlo error.{self.besides}"
        )

    @property
    def besides(self):
        """What step and gradient noise do to the draws, in words; empty for exact samplers."""
        if math.isnan(self.sd_change):
            return " The bias by step size and gradient noise is unknown."
        if not self.sd_change:
            return ""
        return f" Step size and gradient noise change sds by {100 * self.sd_change:+.2g} %."

    def warnings(self):
        """An AccuracyWarning, in a list, where means are known less well than asked for."""
        if self.error <= self.accuracy:
            return []
        advice = "Give at least draws=1000, or look at R-hat and the trace."
        if math.isfinite(self.error):
            more = math.ceil((self.error / self.accuracy) ** 2 * self.draws / 100) * 100
            advice = f"Call resume(), or give draws={more}, or a larger accuracy."
        return [
            AccuracyWarning(
                f"accuracy={self.accuracy:g} was not reached: "
                f"{self.interrupted or 'the limit of draws'} ended the run after {self.draws} "
                f"draws per chain, where Monte Carlo errors of means are up to {self.error:.2g} "
                "posterior sd.",
                advice,
            )
        ]


def refuse(spec, accuracy, client):
    """NotSupported for what does not go together with `accuracy`; `spec` may be None."""
    if accuracy is None:
        return
    why = ""
    if client is not None:
        why = "client=, whose chains run elsewhere to their end"
    elif spec is not None and spec.continuous:
        why = f"{spec.name}: the spacing of its draws follows from their number"
    elif spec is not None and spec.distortion:
        why = f"{spec.name}: errors are told in posterior sds, which its draws do not have"
    if why:
        raise NotSupported(
            f"accuracy does not go with {why}; leave it out and give draws=", because="limit"
        )


def refuse_choice(choice):
    """Errors for what does not go together with `accuracy`, once model and sampler are known."""
    problem, spec, settings = choice.problem, choice.spec, choice.settings
    refuse(spec, settings.accuracy, settings.client)
    if settings.accuracy is None:
        return
    if problem.functionals is not None:
        raise NotSupported(
            "accuracy is of the means of parameters, which mean nothing one by one in this model "
            f"({problem.functionals.why}); leave it out and give draws=",
            because="mathematics",
        )
    open_ = settings.warmup is None and not spec.exact and spec.uses_gradient
    if open_ and not problem.coordinates.scaled:
        raise ArgumentError(
            "accuracy: warmup is as long as the draws by default here, whose number is not known "
            "beforehand; give warmup= as a number of steps"
        )


def usual(settings):
    """The settings that a plan is derived from: with `accuracy` nobody knows how many draws there
    will be, and it is made for as many as by default.
    """
    return settings if settings.accuracy is None else replace(settings, draws=DRAWS_BY_DEFAULT)


def looks(limit):
    """Numbers of draws per chain at which errors are estimated: doubling, and the limit last."""
    found, draws = [], DRAWS_AT_FIRST
    while draws < limit:
        found.append(draws)
        draws *= 2
    return [*found, limit]


def check_accuracy(plan, x, weights, run):
    """The `Stopping` of draws in sampler coordinates; None without `accuracy`."""
    if plan.settings.accuracy is None:
        return None
    theta, names = plan.problem.kept(x)
    early = run.interrupted
    if not early:
        early = "a chain that diverged" if "diverged" in run.statuses else ""
        early = "max_data_passes" if "spent" in run.statuses else early
    error = error_bound(theta, weights)
    return Stopping(plan.settings.accuracy, error, x.shape[1], len(names), early)


def error_bound(draws, weights=None):
    """The error of the worst mean, in sds, with CONFIDENCE for all of them at once.

    Parameters
    ----------
    draws : array (chain, draw, p)
        As they are printed.
    weights : array (draw,) or None

    Returns
    -------
    float
        Infinite where a mean cannot be told.
    """
    chains, length, p = draws.shape
    places = np.linspace(0, p - 1, min(p, MOST_LOOKED_AT)).astype(int)
    some = draws if len(places) == p else draws[..., places]
    if chains > 1:  # a number that is the same in all chains is no draw
        some = some[..., np.ptp(some, axis=(0, 1)) > 0]
    if not some.size:
        return math.inf
    count = float(chains * length)
    if weights is not None:
        count *= np.sum(weights) ** 2 / (length * np.sum(weights**2))
    size = np.minimum(ess(some, method="mean", weights=weights), count)
    if not np.isfinite(size).all():
        return math.inf
    return quantile(p) * math.sqrt(largest_time(count / size, count).max() / count)


def largest_time(time, draws):
    """What an autocorrelation time may be by its estimate from so many draws: TIME_MARGIN standard
    errors more, whose square is 2 (2 M + 1) / draws of it, summed up over M lags (Madras & Sokal
    1988, Journal of Statistical Physics 50:109).
    """
    return time * (1 + TIME_MARGIN * np.sqrt(2 * (2 * WINDOW * time + 1) / draws))


def quantile(parameters):
    """Standard errors within which so many independent means are, with CONFIDENCE."""
    return float(special.ndtri((1 + CONFIDENCE ** (1 / parameters)) / 2))


# ---- without a number of draws -------------------------------------------------------------------

# Chains whose number of draws is left open go on while Monte Carlo error alone keeps the verdict
# from trusting them.  They are looked at where their draws have doubled.  The first look is that of
# a fit with as many draws; later ones, each of which is another chance to stop by luck, allow for
# the errors of what they rest on: Monte Carlo errors larger by `margin`, and larger tail indices.


def margin(chains):
    """How many times larger a Monte Carlo error by batch means of so many chains may be than it is
    estimated: a standard error of its square, of which each batch is a degree of freedom.

    Looks are few and far apart.  Of chains whose errors are 2 % above the limits at a look, 11 %
    end there without a margin, 0.2 % with this one (`tests/accuracy/test_looks.py`).
    """
    return math.sqrt(1 + math.sqrt(2 / (chains * BATCHES)))


def next_look(done, trustworthy, shortfall, tail=0.0):
    """Draws per chain with which a `Fit` goes on; 0 where it ends.

    Parameters
    ----------
    done : Fit
    trustworthy : bool
        What the verdict is.
    shortfall : float or None
        Times as many draws with which errors would be at the verdict's limits; None where more
        draws are no cure.
    tail : float
        The largest tail index.
    """
    if not can_go_on(done) or shortfall is None:
        return 0
    (chains, draws, _), first = done.x.shape, done.x.shape[1] <= done.settings.begun
    light = tail + TIME_MARGIN * index_error(tail, chains * draws) <= HAS_SD
    if trustworthy and (first or light and suffices(shortfall, chains)):
        return 0
    # it is not begun where it would not suffice, but for the error of that forecast
    most = most_draws(done, MOST_WORK)
    useful = shortfall * draws <= FORECAST_ERROR * most
    # chains that are forecast to be done by the next look would be made a second time if they
    # ended here: a last look may be beyond the limit of work
    if suffices(shortfall / GROWTH, chains):
        most = most_draws(done, GROWTH * MOST_WORK)
    return GROWTH * draws if useful and GROWTH * draws <= most else 0


def suffices(shortfall, chains):
    """Whether errors would also be within the verdict's limits if they were larger by `margin`."""
    return shortfall * margin(chains) ** 2 <= 1


def can_go_on(done):
    """Whether chains of a `Fit` may make more draws than they were asked for at first."""
    settings, run = done.settings, done.run
    # workers make chains from their starts alone; in continuous time the spacing of draws follows
    # from their number
    open_ = settings.begun and settings.client is None and not done.plan.spec.continuous
    whole = not (done.stand_in or run.interrupted or {"diverged", "spent"} & set(run.statuses))
    return bool(open_ and whole)


def most_draws(done, work):
    """Draws per chain within the limits of a fit whose number of draws is left open: of counted
    `work`, in seconds, of memory, and of the checks of the draws.
    """
    settings, (chains, draws, d) = done.settings, done.x.shape
    return min(
        MOST_GROWN * settings.begun,
        draws * work / counted_work(done),
        MOST_BYTES / (8 * chains * d),
        MOST_CHECKED / (chains * min(d, MAX_DIAGNOSED)),
    )


def counted_work(done):
    """Seconds that the steps of a `Fit` take on one core, by the numbers and rows that they read
    and by the densities that they evaluate, not by a clock.
    """
    model, rows = done.problem.model, done.problem.rows
    # an exact step may evaluate several densities; draws of a law that is known, none
    calls = max(done.passes if done.plan.spec.all_rows else 0.0, sum(c.steps for c in done.chains))
    problem, call = done.problem, CALL
    if problem.foreign:  # of users, and maybe in Python
        call = USERS_CALL * (problem.dim if problem.differenced else 1)
        if problem.plain:
            call = min(call, CALL + COMPILED_CALL * problem.dim)
    one_pass = CELL * rows.cells * rows.repeated + ROW_TERMS * model.n * model.nanoseconds
    return done.passes * one_pass + calls * call


def first_look(settings, states):
    """Settings of a run whose chains have been at these states, and whose number of draws is left
    open: with the draws of the first look that it has not gone beyond.
    """
    if not settings.begun:
        return settings
    kept, draws = max(len(one["recorder"]["draws"]) for one in states), settings.begun
    while draws < kept:
        draws *= GROWTH
    return replace(settings, draws=draws)


# ---- time for the checks -------------------------------------------------------------------------


def reserve_of(problem, settings):
    """Seconds of the time of the call that chains leave to the checks of their draws."""
    left = deadline.current().left()
    if left == np.inf:
        return 0.0
    kept = len(problem.record.columns) if problem.partial else problem.dim
    wanted = checks_take(kept, settings.chains * settings.draws)
    return min(wanted, LARGEST_RESERVE * max(left, 0.0))


def checks_take(parameters, draws):
    """Seconds that the checks of so many draws of so many parameters take, about."""
    share = max(draws / DRAWS_CHECKED, 0.25)
    return LEAST_RESERVE + min(parameters, MAX_DIAGNOSED) * share / CHECKED_PER_SECOND
