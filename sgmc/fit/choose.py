"""Which sampler and gradient estimator draw, and what takes their place where chains diverge.

A sampler that is left open is chosen by what is known of the posterior, by the gradient noise that
the pilot sees, and on wide tables by work that is counted in flops and bytes before anything is
sampled.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from sgmc import registry
from sgmc.arguments.declared.keywords import SETTINGS
from sgmc.coordinates.independent.transport import Standard, WeightedTransport, spread_at_most
from sgmc.core.engine import full_many
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.system import phases
from sgmc.core.system.blas import one_blas_thread
from sgmc.errors import ArgumentError, NotSupported, ReplacedSamplerWarning
from sgmc.fit import stopping, tolerance
from sgmc.fit.noise import (
    PAIRS,
    PILOT_ROWS,
    SHAPE_PAIRS,
    SINGLE_ROWS,
    draws_of_laplace,
    noise_of,
    pilot,
    pilot_rows,
    shared_rows,
    without_noise,
)
from sgmc.fit.parts import Evidence
from sgmc.fit.plan import (
    KEPT_TIME,
    LOCKSTEP_WARMUP,
    WARMUP_TIME,
    Choice,
    CostEstimate,
    Plan,
    make_plan,
)
from sgmc.subsampling.uniform import FullBatch

AUTO = "lmsgld"  # what "auto" takes where minibatches do; a problem names the exact sampler
GIBBS = "gibbs"  # where parameters can be drawn in turn
DIRECT = "direct"  # where the posterior has independent draws
CONJUGATE = (
    "Direct draws chosen: given sigma and the sd of effects the coefficients are normal, so that "
    "draws are independent"
)
IN_TURNS = (
    "Gibbs sampler chosen: given sigma and their scales the coefficients are normal, so that no "
    "proposal is rejected"
)
AUTO_DEPARTURE = 0.6  # departure from a Gaussian beyond which "auto" wants an exact sampler
# sd of the log of an auxiliary parameter beyond which its skewness matters, and the same holds
SKEWED = 0.35
FEW_PAIRS, FEW_ROWS = 2, 2000  # of a look at the noise, when other samplers may be cheaper
FEW_TELL = 0.7  # of the cost that they tell, which the whole pilot rarely finds to be less

MOST_SURVEYED = 2000  # parameters of a pilot where none is needed: its work grows as their square
WIDE = 64  # parameters from which products of matrices are thought of
WALKERS = 32  # of each chain of hmc: more gain little, and each needs its warmup
WALKERS_WORTH = 0.7  # of their draws, in independent ones
SAME_POSTERIOR = 0.03  # sd of log weights, at which an approximation is taken for the posterior
WORTH_WEIGHING = 0.1  # the same of skewed proposals: above, few of them may have most of the weight
CHEAPLY_THINNED = 4  # times as many proposals, where weights take no rows and vary
WEIGHED_CELLS = 2e4  # of the rows, whose densities take half a second at 4,000 draws
SECONDS_A_CELL = 3e-9  # of the rows at one point, of models that integrate effects
FEW_PROPOSALS, MANY_CELLS = 16, 2e5  # where a density takes a millisecond and more
# of log weights without skewness, up to which a draw by one density is worth more than half of one
# by two: about exp(-7 0.2^2), 0.76 of it
PLAIN_ENOUGH = 0.2
# of the limit, below which few weights do: their sd may be half the posterior's and less
SURELY_SAME = 0.25
PROPOSALS = 64  # whose weights are looked at: their variance is then known to a sixth
SINGLE_ENOUGH = 1e-3  # nats: acceptance rates are right to as much
IMH_WARMUP = 24  # draws' worth of steps: chains start at draws of a Gaussian that is near
MOST_VARIANCE = 16.0  # of log weights up to which it tells how many rotations a path takes
# seconds on one core of about 3 GHz: only their ratios matter
FLOP = 2.2e-11  # in products of matrices that fit the cache
NUMBER = 2.5e-10  # of the table, where a row serves one point: read twice, multiplied and added
CURVATURE = 5e-10  # of the Hessian that control variates are multiplied by
PILOT_NOISE = 3e-11  # of a row's part of the noise's covariance
ROW = 1e-9  # of a model's `nanoseconds`: a row's terms at one point
SMALL_STEP = 5e-7  # of mini-batches, besides their rows

INDEPENDENT = "Independent draws taken: the sandwich's Gaussian itself is known"
BATCHES_ASKED = "Mini-batch sampler chosen: arguments for mini-batches are given"
REPLACED = "Exact sampler chosen: chains of mini-batches diverged"
UNTOLD = "Exact sampler chosen: errors of draws by mini-batches are large or cannot be told"
REPLACED_STEPS = 4  # of the exact sampler for a draw, with its warmup
SUSPECT = 10.0  # Laplace sds beyond sqrt(d), the usual distance: draws farther out are looked at
# log density lost between mode and draw, and more a parameter, that no posterior's draws lose: in d
# dimensions they lose about d / 2, under t priors some times the log of a distance
LOST, LOST_EACH = 50.0, 20.0


def plan_fit(problem, settings) -> Plan:
    """Choose a sampler, and plan its chains."""
    phases.begin(phases.PILOT)
    choice = choose_sampler(problem, stopping.usual(settings))
    stopping.refuse_choice(choice.choice(settings=settings))
    spec = choice.spec
    refusal = spec.refusal(problem.coordinates.map)
    if refusal and spec.needs_noise:  # which another map could have, if there is one
        advice = without_noise(problem, "use sampler='lmsgld', which does without")
        raise NotSupported(f"{refusal}; {advice}", because="limit")
    if refusal:  # what there is moves parameters of one kind alone
        raise NotSupported(refusal, because="mathematics")
    # proposals from a Gaussian, and walkers in step, want the one that is nearest to the posterior
    if choice.spec.independent or choice.spec.walkers > 1:
        choice = replace(choice, problem=choice.problem.nearest)
    return replace(make_plan(choice), settings=settings)


def choose_sampler(problem, settings) -> Choice:
    """Choose sampler and gradient estimator where they are left open."""
    given = settings.sampler
    all_rows = given is not None and not given.minibatches
    if all_rows and settings.gradient:
        raise ArgumentError(
            f"gradient={settings.gradient!r} does not apply to {settings.sampler.name}: it uses "
            "all rows"
        )
    if isinstance(problem.transport, WeightedTransport):
        return weighed(problem, settings)
    if problem.transport is not None:  # the settings leave room for draws that need no chain
        why = "" if given else CONJUGATE
        spec = given or direct()
        return Choice(problem=problem, settings=settings, gradient="simple", spec=spec, reason=why)
    if given is not None and given.direct and not problem.defaults.nearly_normal:
        raise NotSupported(
            f"{given.name} draws from the posterior of a linear regression with normal errors "
            "(ols), normal or flat priors of its coefficients or one ridge, at most one effect of "
            "each group or three sds of crossed factors and smooths, and predictors that are not "
            "nearly collinear, or of other regressions with effects of groups; use sampler='auto'",
            because="mathematics",
        )
    if problem.conditionals is not None:
        why = "" if given else IN_TURNS
        spec = given or registry.room("samplers")[GIBBS]()
        return Choice(problem=problem, settings=settings, gradient="simple", spec=spec, reason=why)
    if given is not None and given.conditional:
        raise NotSupported(
            f"{given.name} draws from conditional distributions, which linear regressions with "
            "normal errors and horseshoe(learned=True) or r2d2() have, where the priors of other "
            "coefficients are normal or flat; use sampler='auto'",
            because="mathematics",
        )
    name = settings.gradient or getattr(given, "estimator", "") or problem.defaults.estimator
    choice = Choice(problem=problem, settings=settings, gradient=name, spec=given)
    if of_sandwich(settings):
        given, all_rows = registry.room("samplers")["laplace"](), True
        choice = replace(choice, spec=given, reason=INDEPENDENT)
    if not problem.coordinates.scaled:  # there is no Gaussian whose draws a pilot could look at
        return unscaled(choice)
    if problem.defaults.unsurveyed:  # a pilot costs more than it tells, but for these
        if not settings.approximate:
            return exact_alone(replace(choice, gradient="simple"))
        refuse_many(problem, given)
    if given is None and problem.summed is not None:
        return exact(choice, "few rows have the sums of all")
    rng = Rng(seed_sequence(settings.seed, "pilot", 1))
    if problem.defaults.nearly_normal and (given is None or given.direct):
        found = independent(choice, rng)
        if found is not None:
            return found
    # draws without gradients are of the approximation: its shape is all that the answer rests on
    rests_on_shape = given is not None and not given.uses_gradient
    z = draws_of_laplace(settings.seed, problem.dim, SHAPE_PAIRS if rests_on_shape else PAIRS)
    counted = products(problem, settings) if choosable(problem, settings) else None
    other = minibatch_cost(choice, rng, z, counted) if counted else None
    by_work = other is not None and counted.seconds < other.margin * other.seconds
    # no noise is looked for where no mini-batches will run; nor are control values wanted then
    seen = look(choice, rng, z, all_rows or by_work, at_once=by_work)
    lost = not np.isfinite(seen.covariance).all()
    if lost:  # exact samplers alone may run, which ask for no noise
        refuse_minibatches(settings)
        d = problem.dim
        seen = replace(seen, noise=np.zeros((1, d)), covariance=np.zeros((1, d, d)))
    choice = replace(choice, pilot=seen)
    if given is not None:
        return choice
    if by_work:  # even the least that mini-batches may cost is more
        return for_its_cost(choice, counted, other)
    return automatic(choice, counted, lost)


def weighed(problem, settings) -> Choice:
    """The choice of a transport's proposals, thinned as those of `products` are, or of these
    themselves, as in `independent`.
    """
    plain, skewed = problem.transport.plain_sd, problem.transport.skewed_sd
    how = dict(settings=settings, gradient="simple")
    cells = problem.transport.cells or problem.rows.cells
    if plain <= SAME_POSTERIOR and cells > WEIGHED_CELLS:
        return unweighed(problem, plain, **how)
    spec = registry.room("samplers")["imh"]()
    thin = problem.transport.thin
    if problem.transport.cells and skewed > WORTH_WEIGHING:  # draws cost more than proposals
        thin *= CHEAPLY_THINNED
    steps = IMH_WARMUP * thin + settings.draws * (settings.thin or thin)
    seconds = 2 * settings.chains * steps * cells * SECONDS_A_CELL
    counted = CostEstimate(spec.name, spec, thin, seconds, None, IMH_WARMUP * thin)
    why = f"Independent proposals chosen: {problem.transport.why}"
    return Choice(problem=problem, spec=spec, reason=why, counted=counted, **how)


def unweighed(problem, sd, **how) -> Choice:
    """The choice of a transport's draws, whose log weights have that sd."""
    why = f"Independent draws chosen: log weights have an sd of {sd:.2g}"
    # its sd includes the errors of the densities, and the first evidence is the one in the verdict
    nearly = replace(problem, evidence=(Unweighed(sd), *problem.evidence))
    return Choice(problem=nearly, spec=direct(), reason=why, **how)


def of_sandwich(settings):
    """Whether independent draws of the sandwich's Gaussian, which is all that a robust fit is of,
    are the default: nothing is given that is for mini-batches.
    """
    usual = settings.subsample == SETTINGS["subsample"]
    return settings.robust and settings.sampler is None and left_open(settings) and usual


def direct():
    """The specification of draws that need no chain."""
    return registry.room("samplers")[DIRECT]()


def look(choice, rng, z, whole, at_once):
    """The `Pilot` at draws z: of the shape alone where all rows are used (`whole`), by products of
    matrices where `at_once`.
    """
    problem, settings = choice.problem, choice.settings
    shared = None if whole else shared_rows(choice)
    noisy = not whole and (settings.sampler is None or settings.sampler.noisy)
    with one_blas_thread():
        rows = pilot_rows(
            problem.model.n,
            settings.seed,
            not problem.rows.shuffled,
            shared is not None and shared.groups is not None,
            enough_rows(problem),
        )
        name = "simple" if at_once else choice.gradient
        gradient = problem.gradient(name, FullBatch(problem.model.n), rng)
        return pilot(gradient, problem.coordinates, z, noisy, shared, rows, at_once)


def enough_rows(problem):
    """Rows of the pilot: fewer where each is made of many numbers."""
    most = PILOT_ROWS if problem.model.width else SINGLE_ROWS
    return max(1, int(most * min(1.0, problem.model.n * problem.dim / problem.rows.cells)))


def automatic(choice, counted, lost) -> Choice:
    """The choice of ``sampler="auto"``, by what is known of the posterior and by what the pilot
    saw; `counted` is what products of matrices would cost, `lost` whether the gradient is not
    finite at some draws of the pilot.
    """
    problem, settings, seen = choice.problem, choice.settings, choice.pilot
    stochastic = replace(choice, spec=registry.room("samplers")[AUTO]())
    # arguments of mini-batches are given: see `of_sandwich` and `Settings.approximate`
    if settings.robust or problem.defaults.unsurveyed:
        return replace(stochastic, reason=BATCHES_ASKED)
    why = why_exact(problem, lost)
    if why:  # mini-batches would be biased, or diverge, whatever they cost
        return exact(choice, why)
    if seen.departure > AUTO_DEPARTURE:  # steps without accept-reject are biased there
        return exact(choice, f"the posterior is {seen.departure:.2g} sd from a Gaussian")
    noise, n = noise_of(choice), problem.model.n
    if counted is not None:  # both costs are known in seconds: the smaller decides
        h, rows = tolerance.derive(stochastic.spec, noise, n)
        seconds = minibatch_seconds(problem, settings, h, noise.rows(rows))
        batches = CostEstimate("mini-batches", stochastic.spec, None, seconds)
        first, second = sorted((batches, counted), key=lambda one: one.seconds)
        return for_its_cost(choice, first, second)
    # a unit of Langevin time costs (rows a step) / h with minibatches; an exact sampler's steps are
    # as long but partly rejected, and make up for about N/2 (measured on logistic posteriors)
    h, m = tolerance.derive(stochastic.spec, noise, n, settings.batch_size)
    cost, whole, unit = noise.rows(m) / h, n / 2, problem.rows.unit
    counts = f"({cost:,.0f} and about {whole:,.0f} {unit}s per unit of Langevin time)"
    if cost > whole:  # so much noise that all rows are cheaper
        return exact(choice, f"batches would need more {unit}s {counts}")
    fewer = f"about {float(f'{whole / cost:.2g}'):,g} times fewer {unit}s per step than exact MCMC"
    return replace(stochastic, reason=f"Mini-batch sampler chosen: {fewer} {counts}")


def exact(choice, why):
    """The choice of the exact sampler, for this reason."""
    problem, spec = choice.problem, choice.problem.defaults.exact()
    many = problem.coordinates.free is not None and problem.dim >= FEWEST_FREE
    # a hierarchy's mode tells little of its scales
    if spec.turning and many and choice.pilot.departure > FAR_FROM_GAUSSIAN:
        spec = paths_in_free(problem.dim)
        choice = replace(choice, problem=in_free(problem))
    return replace(choice, spec=spec, reason=f"Exact sampler chosen: {why}")


def for_its_cost(choice, counted, other):
    """The choice of a sampler that costs less than another one."""
    why = reason_by_work(counted, [(other.name, other.seconds)])
    return replace(choice, spec=counted.spec, reason=why, counted=counted)


def why_exact(problem, lost=False, tabulated=False):
    """What of a posterior speaks for an exact sampler, whatever the work, in words; empty where
    nothing does.  What a model says of its own sds is none where one is `tabulated`.
    """
    if problem.defaults.why_exact and not tabulated:
        return problem.defaults.why_exact
    if len(problem.priors.shrunk):
        return "a horseshoe prior has a pole at zero"
    if lost:
        return "the gradient is not finite some sds from the mode"
    if problem.coordinates.heavy:
        return "the data do not bound the tails of a t prior"
    spread = problem.coordinates.spread_of_logs
    if spread > SKEWED:  # a tail that draws of a Gaussian at the mode do not see
        return f"the log of an auxiliary parameter has an sd of {spread:.2g}, and is skewed"
    if problem.searched.found > 1:
        return f"the posterior has {problem.searched.found} modes"
    return ""


def refuse_many(problem, given):
    """NotSupported for a pilot of more parameters than it takes."""
    if problem.dim > MOST_SURVEYED:
        what = "mini-batches" if given is None else given.name
        raise NotSupported(
            f"{what} with {problem.dim:,} parameters, {problem.defaults.unsurveyed} among them: "
            f"gradient noise is measured of at most {MOST_SURVEYED:,}; use sampler='hmc' or 'mala'",
            because="limit",
        )


def exact_alone(choice) -> Choice:
    """The choice, without a pilot, where exact samplers alone run."""
    problem, sampler = choice.problem, choice.spec
    if sampler is None:  # the problem knows one whose paths suit its many parameters
        why = "Exact sampler chosen: it updates all parameters at once"
        return replace(choice, spec=problem.defaults.sampler, reason=why)
    return choice


def unscaled(choice) -> Choice:
    """The choice, without a pilot, where the posterior's scale is not known beforehand."""
    sampler = choice.spec
    if sampler is None:  # a step that adapts is the only one to be had
        why = "Sampler chosen because its step adapts: the posterior's scale is not known before"
        spec, d = choice.problem.defaults.exact(), choice.problem.dim
        if spec.turning and d >= FEWEST_FREE:  # whose scales are then learned, too
            spec = paths_in_free(d)
        return replace(choice, spec=spec, reason=why)
    if sampler.continuous:
        raise NotSupported(
            f"{sampler.name} needs the posterior's scale for its warmup, which is not known "
            "beforehand here; use sampler='mala'",
            because="mathematics",
        )
    if not sampler.uses_gradient or sampler.independent:
        raise NotSupported(
            f"{sampler.name} draws from the Gaussian approximation at the mode, of which there is "
            "none here; use sampler='mala'",
            because="mathematics",
        )
    if sampler.estimator and choice.gradient != sampler.estimator:
        raise ArgumentError(
            f"gradient={choice.gradient!r} does not apply to {sampler.name}: it takes "
            f"{sampler.estimator!r} alone"
        )
    return choice


def refuse_minibatches(settings):
    """ArgumentError where mini-batches are asked for, and would lead to gradients that are not
    finite.
    """
    if settings.sampler is None and not settings.robust:
        return
    asked = (
        f"cov_type={settings.cov_type!r}"
        if settings.robust
        else f"sampler={settings.sampler.name!r}"
    )
    raise ArgumentError(
        f"{asked}: the gradient is not finite at some draws of the Gaussian approximation at the "
        "mode, and mini-batches would lead there. Constrain parameters or rescale data so that it "
        "is, or use sampler='mala'"
    )


# ---- counted work --------------------------------------------------------------------------------

# `auto` compares three: mini-batches, whose control variates cost d^2 a step; `imh`; and `hmc` with
# many walkers a chain.  The last two compute densities by products of matrices, and how they mix is
# told by the variance of the log weights of a few proposals.


def choosable(problem, settings):
    """Whether counted work may choose the sampler: where it is left open, and nothing but the work
    speaks for one.
    """
    return settings.sampler is None and not settings.robust and not why_exact(problem)


def products(problem, settings):
    """The cheaper of `imh` and walkers of `hmc`, with its cost; None where products of matrices
    do not apply, or log weights vary so much that nothing is known of how these mix.

    Both are in the coordinates of the nearest Gaussian.  With variance v of the log weights of
    skewed proposals the worst parameter's draw of `imh` is worth about 0.9 exp(-7 v) independent
    ones, as chains stay at places of large weight: draws are thinned until each is worth more than
    a half.  Energies of `hmc` change by about 1.1 sqrt(v) / k^2 over a path of k rotations, and
    draws are worth as much where this is below a half: measured for 64 to 1,000 parameters.
    """
    n, d = problem.model.n, problem.dim
    if d < WIDE or not (problem.products and problem.coordinates.whitened and left_open(settings)):
        return None
    near = problem.nearest
    v, error = variance_of_weights(near, settings)
    if not v < MOST_VARIANCE:
        return None
    error = error if error < SINGLE_ENOUGH else None
    flop = FLOP if error is None else FLOP / 2
    samplers = registry.room("samplers")
    chains, draws = settings.chains, settings.draws
    thin = max(1, math.ceil(0.6 * math.exp(min(7 * v, 100.0))))
    steps = IMH_WARMUP * thin + draws * (settings.thin or thin)
    map, row = near.coordinates.map, ROW * problem.model.nanoseconds
    mapped = 0.0 if map is None else 2.0 * d * d * FLOP  # a point
    # points reflected in a centre have products that are told by each other
    flops = (2 if map is None or map.affine else 4) * d
    seconds = chains * steps * (n * (2 * row + flops * flop) + 2 * mapped)
    imh = CostEstimate("imh", samplers["imh"](), thin, seconds, error, IMH_WARMUP * thin)
    steps = LOCKSTEP_WARMUP + math.ceil(draws / WALKERS) * (settings.thin or 1)
    rotations = math.ceil(1.5 * v**0.25)
    hmc = CostEstimate(
        f"hmc with {WALKERS} walkers",
        samplers["hmc"](walkers=WALKERS),
        1,
        chains * steps * rotations * WALKERS * (n * (row + 4 * d * flop) + 2 * mapped),
        error,
    )
    worth = min(0.9, 0.9 * thin * math.exp(-min(7 * v, 100.0)))
    return imh if imh.seconds / worth < hmc.seconds / WALKERS_WORTH else hmc


def independent(choice, rng) -> Choice | None:
    """The choice of independent draws, where coordinates make the posterior nearly standard normal;
    None where log weights vary too much.

    Draws of the standard normal itself, without their densities, where log weights have an sd of
    SAME_POSTERIOR at most: by Cauchy and Schwarz's inequality no mean is further off, in sds.
    Numbers of draws do not decide, so that they are the first ones of a longer run.
    """
    problem, settings, given = choice.problem, choice.settings, choice.spec
    plain, skewed = np.inf, np.inf
    if problem.rows.cells * problem.rows.row_terms > MANY_CELLS:
        plain, skewed = spreads_of_weights(problem, settings, FEW_PROPOSALS)
    by_laws = problem.defaults.by_laws if given is None else None
    # of too large a spread, more weights would cost more than densities without rows
    if by_laws is not None and SAME_POSTERIOR < plain < np.inf:
        moved = by_laws(problem)
        if moved.transport is not None:
            return weighed(moved, settings)
        by_laws = None
    if not plain <= SURELY_SAME * SAME_POSTERIOR:
        plain, skewed = spreads_of_weights(problem, settings, PROPOSALS)
    if given is not None and not plain <= SAME_POSTERIOR:
        raise NotSupported(
            f"{given.name}: log weights of its draws have an sd of {plain:.2g}, and they are taken "
            f"for draws of the posterior up to {SAME_POSTERIOR:g}; use sampler='auto'",
            because="limit",
        )
    if not skewed < WORTH_WEIGHING or given is None and why_exact(problem, tabulated=True):
        return None
    # of many rows, what densities would correct is not worth them
    if plain <= SAME_POSTERIOR and (given is not None or problem.rows.cells > WEIGHED_CELLS):
        nearly = replace(problem, transport=Standard())
        found = unweighed(nearly, plain, settings=settings, gradient="simple")
        return replace(found, reason="") if given else found
    if by_laws is not None:
        moved = by_laws(problem)
        if moved.transport is not None:
            return weighed(moved, settings)
    # where a density is dear, a second one has to gain as much
    rows = problem.rows
    dear = rows.cells * rows.repeated * rows.grid > MANY_CELLS
    skew = not (dear and plain <= PLAIN_ENOUGH)
    spec = registry.room("samplers")["imh"](skew=skew)
    seen = look(choice, rng, draws_of_laplace(settings.seed, problem.dim, PAIRS), True, False)
    why = f"Independent proposals chosen: log weights have an sd of {skewed if skew else plain:.2g}"
    steps = settings.chains * (settings.draws * (settings.thin or 1) + IMH_WARMUP)
    seconds = (1 + skew) * steps * problem.rows.cells * SECONDS_A_CELL
    counted = CostEstimate(spec.name, spec, 1, seconds, None, IMH_WARMUP)
    return replace(choice, spec=spec, reason=why, counted=counted, pilot=seen)


def spreads_of_weights(problem, settings, pairs: int) -> tuple[float, float]:
    """What the sd of the log weights of pairs z, -z of standard normal draws may be, and that of
    those that proposals with the posterior's skewness have.
    """
    z = draws_of_laplace(settings.seed, problem.dim, pairs)
    both = np.concatenate([z, -z])
    with one_blas_thread(), np.errstate(invalid="ignore", over="ignore"):
        value = full_many(problem.all_rows(), both, slopes=False)[0] + 0.5 * (both**2).sum(axis=1)
        here, there = np.split(value, 2)
        return spread_at_most(value), float(np.std(np.logaddexp(here, there)))


@dataclass(frozen=True)
class Unweighed(Evidence):
    """Independent draws that are taken for those of the posterior.

    Attributes
    ----------
    spread : float
        Sd of their log weights.
    """

    spread: float

    def error_allowance(self, fit):
        return self.spread, "draws without weights"


def left_open(settings):
    """Whether no argument is given that is for mini-batches."""
    given = (settings.gradient, settings.batch_size, settings.step_size)
    return all(one is None for one in given) and not settings.adaptive


def variance_of_weights(problem, settings):
    """Variance of the log weights of skewed proposals, NaN where one is not finite; and the largest
    error of differences of log densities by products in float32, infinite where there are none.
    """
    z = draws_of_laplace(settings.seed, problem.dim, PROPOSALS)
    both = np.concatenate([z, -z])
    with one_blas_thread(), np.errstate(invalid="ignore", over="ignore"):
        value = full_many(problem.all_rows(), both, slopes=False)[0]
        here, there = np.split(value, 2)
        variance = float(np.var(np.logaddexp(here, there) + 0.5 * (z**2).sum(axis=1)))
        if problem.single is None or not variance < MOST_VARIANCE:
            return variance, np.inf
        single = full_many(problem.computed(True).all_rows(), both, slopes=False)[0]
        return variance, float(np.ptp(single - value))


def minibatch_seconds(problem, settings, h=1.0, rows=tolerance.SMALLEST_BATCH):
    """Seconds of mini-batches with steps of Langevin time h and so many rows each, with the pilot
    that derives both: at the defaults, the least that it may be.
    """
    n, d = problem.model.n, problem.dim
    pilot = 2 * PAIRS * min(n, PILOT_ROWS) * d * d * PILOT_NOISE
    steps = settings.chains * (WARMUP_TIME + KEPT_TIME * settings.draws) / h
    row = ROW * problem.model.nanoseconds + d * NUMBER
    return pilot + steps * (SMALL_STEP + rows * row + d * d * CURVATURE)


def reason_by_work(chosen, others):
    """Why a sampler was chosen, for the summary."""
    rest = ", ".join(f"{name} about {seconds:.2g} s" for name, seconds in others)
    found = "Sampler chosen by estimated time, from counted flops and bytes: "
    found += f"{chosen.name} about {chosen.seconds:.2g} s, {rest}"
    if chosen.error is None:
        return found
    return f"{found}; products in float32 move log densities by {chosen.error:.1g} at most"


@dataclass(frozen=True)
class MinibatchCost:
    """What mini-batches would take, before their noise is known: with what name, and a `margin`
    within which it may be less.
    """

    name: str
    seconds: float
    margin: float


def minibatch_cost(choice, rng, z, counted):
    """The most that is known of the cost of mini-batches: the least that it may be, or, where that
    does not decide, what the noise of few rows tells.
    """
    problem, settings, n = choice.problem, choice.settings, choice.problem.model.n
    least = minibatch_seconds(problem, settings)
    bound = MinibatchCost("mini-batches at least", least, 1.0)
    # the first rows are no sample of a table in the user's order
    if counted.seconds < least or not problem.rows.shuffled:
        return bound
    with one_blas_thread():
        gradient = problem.gradient(choice.gradient, FullBatch(n), rng)
        few = pilot(gradient, problem.coordinates, z[:FEW_PAIRS], rows=min(n, FEW_ROWS))
    if not np.isfinite(few.covariance).all():
        return bound
    noise = noise_of(replace(choice, pilot=few))
    h, rows = tolerance.derive(registry.room("samplers")[AUTO](), noise, n)
    about = minibatch_seconds(problem, settings, h, noise.rows(rows))
    found = MinibatchCost("mini-batches", about, FEW_TELL)
    return max(bound, found, key=lambda one: one.margin * one.seconds)


# ---- another sampler where chains diverge --------------------------------------------------------

# The exact sampler that takes the place of a default one whose chains diverged: to numbers that are
# not finite, or to where the posterior has no mass.


def replaceable(plan):
    """Whether another sampler may take the place of a plan's where its chains diverge."""
    return left_to_us(plan) and not plan.spec.exact


def left_to_us(plan):
    """Whether the user left the choice and everything that depends on it open, and the run has no
    limit and no file.
    """
    settings = plan.settings
    choices = (
        settings.sampler,
        settings.gradient,
        settings.step_size,
        settings.batch_size,
        settings.time_limit,
        settings.max_data_passes,
        settings.checkpoint,
    )
    return (
        all(one is None for one in choices)
        and not (settings.adaptive or settings.robust or settings.tuned)
        and settings.warmup != "threshold"
    )


def replacement(plan, why=REPLACED) -> Plan:
    """The plan of the exact sampler that is the default, for that reason."""
    usual, spec = stopping.usual(plan.settings), plan.problem.defaults.exact()
    other = plan.choice(settings=usual, spec=spec, reason=why, counted=None)
    return replace(make_plan(other), settings=plan.settings)


def replaced(first, second):
    """The warning that a second plan took the place of the first."""
    return ReplacedSamplerWarning(
        f"chains of the default sampler {first.spec.name} diverged; the draws are of "
        f"{second.spec.name} instead.",
        f"Give sampler='{second.spec.name}' to begin with it.",
    )


def diverged(done):
    """Whether chains of a `Fit` left for numbers that are not finite, or for draws that cannot be
    of the posterior: a drift that has no bound leads there long before it overflows.
    """
    if done.run.interrupted:
        return False
    return "diverged" in done.run.statuses or drifted(done.problem, done.x)


def drifted(problem, x):
    """Whether the farthest draw of a chain has hardly any density beside the mode.  The rows are
    read only where a draw is farther out than the Gaussian approximation's are.

    Parameters
    ----------
    problem : Problem
    x : array (chain, draw, d)
    """
    where, d = problem.coordinates, x.shape[-1]
    if not where.scaled:
        return False
    mode = where.from_white(np.zeros(d))
    distance = np.sqrt(where.min_precision) * np.linalg.norm(x - mode, axis=-1)
    farthest = x[np.arange(len(x)), distance.argmax(axis=1)]
    if distance.max() < np.sqrt(d) + SUSPECT:
        return False
    with one_blas_thread(), np.errstate(all="ignore"):
        value, _ = full_many(problem.all_rows(), np.vstack([mode, farthest]), slopes=False)
    return not (value[0] - value[1:] < LOST + LOST_EACH * d).all()


# ---- another sampler where chains forget slowly --------------------------------------------------

# Steps of `mala`, and paths of `hmc` of one length, forget slowly where scales differ from place to
# place, as in funnels and bananas.  Paths of `nuts` are as long as the place asks for.  They cost
# more each, and are not begun before a first look shows that they are worth it.

MANY_TIMES = 4.5  # as many draws, from which other chains are begun instead of more
PATH, MOST_DOUBLINGS = 63, 8  # gradients of a path of `nuts` there, about, and its most doublings
PATHS_ACCEPTED = 0.95  # of these: with 0.8 and 0.9 a banana's were divergent
# hierarchies have many parameters, and scales that are learned by draws; of fewer, as of a thin
# banana or a narrow mode apart, chains in free numbers missed more than at the mode's scales
FEWEST_FREE = 20
FAR_FROM_GAUSSIAN = 3.0  # sds, from which these are begun in free numbers without a look
LARGEST_LEARNED = 1000  # parameters whose covariance draws tell, in the time of their gradients
# of non-centred hierarchies and processes paths of 0.9 cost a third of those of 0.99 an effective
# draw; where they diverge, as in funnels, the longest steps that reach the neck are shorter
FREE_PATHS_ACCEPTED, SHORTER_ACCEPTED = 0.9, 0.99


def slow(done, times):
    """Whether chains of `nuts` are begun in the place of those of a `Fit`, which would take so many
    times as many draws; infinitely many where they diverge.
    """
    plan, spec, settings = done.plan, done.plan.spec, done.settings
    steps = spec.exact and spec.integrates and not (spec.continuous or spec.independent)
    chains = steps and not spec.direct and spec.walkers == 1
    if chains and spec.turning:  # with shorter steps, where they diverge, or other coordinates
        fixed = spec.metric == "identity" and done.problem.coordinates.free is not None
        chains = times == math.inf and spec.target_accept < PATHS_ACCEPTED
        chains |= fixed and done.problem.dim >= FEWEST_FREE
    whole = not (done.problem.partial or done.problem.model.refreshes)
    if not (chains and whole and left_to_us(plan) and stopping.can_go_on(done)):
        return False
    if times < MANY_TIMES:
        return False
    gradient = stopping.counted_work(done) / max(done.passes, 1.0)
    return 2 * settings.begun * settings.chains * PATH * gradient <= stopping.MOST_WORK


def begun_anew(done, verdict, times) -> Plan | None:
    """The plan of chains that are begun in the place of those of a `Fit`; None where none are.

    Parameters
    ----------
    done : Fit
    verdict : Verdict
    times : float
        See `slow`.
    """
    if slow(done, times):
        return livelier(done.plan)
    return replacement(done.plan, UNTOLD) if untold(done, verdict) else None


def untold(done, verdict):
    """Whether a default sampler's steps without accept-reject left draws that are not the
    posterior's, as far as can be told, and an exact sampler's cost little.
    """
    plan, settings = done.plan, done.settings
    if verdict.trustworthy or verdict.shortfall is not None or not replaceable(plan):
        return False
    whole = not (done.problem.partial or done.problem.model.refreshes)
    if not (whole and plan.problem.coordinates.scaled and stopping.can_go_on(done)):
        return False
    gradient = stopping.counted_work(done) / max(done.passes, 1.0)
    steps = REPLACED_STEPS * settings.begun * settings.chains
    return steps * gradient <= stopping.MOST_WORK


def livelier(plan) -> Plan:
    """The plan of chains of `nuts` in the place of others."""
    # a Gaussian at the mode has the directions, but of a funnel it is the narrow end that it fits;
    # maps of quantiles make numbers of long tails normal ones, whose scales are known
    where, shrunk = plan.problem.coordinates, len(plan.problem.priors.shrunk)
    problem, spec = plan.problem, plan.spec
    if spec == paths_in_free(problem.dim):  # these diverged
        spec = paths(SHORTER_ACCEPTED, spec.metric)
    elif problem.dim >= FEWEST_FREE and where.free is not None:
        # what draws tell of all directions is nearer to most of the posterior
        problem, spec = in_free(problem), paths_in_free(problem.dim)
    else:
        plain = where.whitened and not (where.walled or shrunk)
        spec = paths(PATHS_ACCEPTED, "diag" if plain else "auto")
    why = f"Exact sampler chosen: chains of {plan.spec!r} forget slowly here, or diverge"
    settings = replace(plan.settings, draws=plan.settings.begun or plan.settings.draws)
    choice = plan.choice(problem=problem, settings=settings, spec=spec, reason=why, counted=None)
    return make_plan(choice)


def paths(accepted, metric):
    """The specification of `nuts` with that target, and a metric that is learned."""
    nuts = registry.room("samplers")["nuts"]
    return nuts(target_accept=accepted, max_depth=MOST_DOUBLINGS, metric=metric)


def paths_in_free(dim):
    """The specification of `nuts` in coordinates whose scales are not known."""
    return paths(FREE_PATHS_ACCEPTED, "dense" if dim <= LARGEST_LEARNED else "diag")


def in_free(problem):
    """The problem in free numbers, where its coordinates are others."""
    where = problem.coordinates
    return replace(problem, coordinates=where.free, laplace=where) if where.whitened else problem


def as_saved(plan, name) -> Plan:
    """The plan of a run whose sampler is known by its `repr`: the first, or one that took its
    place.
    """
    if name != repr(plan.spec) and left_to_us(plan):
        for other in (replacement(plan), livelier(plan), livelier(livelier(plan))):
            if name == repr(other.spec):
                return other
    return plan
