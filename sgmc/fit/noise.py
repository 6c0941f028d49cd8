"""The noise of mini-batches: seen before sampling, changed by the scheme that draws the rows,
reported, and followed by batches that adapt.
"""

import math
from dataclasses import dataclass

import numpy as np

from sgmc import registry
from sgmc.core.engine import evaluate, full_many
from sgmc.core.expansion import block_effect, leverages, row_noise, row_sizes
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import RateEstimator
from sgmc.core.system.storage import spans, too_many
from sgmc.core.targets.bounds import reach
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit import tolerance
from sgmc.fit.tolerance import SMALLEST_BATCH, VARIANCE_TOLERANCE, Noise
from sgmc.subsampling.uniform import FullBatch

PAIRS = 8  # of draws of the pilot
SHAPE_PAIRS = 64  # where the shape is what the answer rests on: its error is then about a sixth
# looked at where control values leave little to each; rows are in random order
PILOT_ROWS = 200_000
LITTLE_NOISE_ROWS = 25_000  # of these, where the smallest batch has noise to spare
# V1 with which it has: half of what it may have at a whole step (V h / 4 <= VARIANCE_TOLERANCE)
LITTLE_NOISE = 2 * SMALLEST_BATCH * VARIANCE_TOLERANCE
MAX_EXACT_SHARE = 0.2  # of the rows that may be computed at every step
MAX_EXACT = 1 << 20  # the most of these in tables that lie in files
# posterior sd of a linear predictor beyond which no expansion serves: always computed
MAX_EXPANDED_SD = 3.0
SINGLE_ROWS = 500  # of models without scores, whose rows are gone through one by one
# of these at a later draw, others at each, once the first draw's have shown noise so far below
# LITTLE_NOISE that some times as much would change nothing
FEW_SINGLE_ROWS, FAR_LESS_NOISE = 50, 1 / 8
MAX_STRATA = 8  # most strata of an outcome, and strata of what has more levels
# of the rows: longer blocks have their design effect computed, shorter ones are close to 1
BLOCK_SHARE = 0.005
LOOKS = 40  # of batches that adapt at the noise, evenly over warmup
SLACK = 0.02  # of the size: smaller changes are left until the last look


# ---- the pilot -----------------------------------------------------------------------------------

# A look at the posterior before sampling: gradient noise and shape, at draws of the Laplace
# approximation.  The draws come in pairs z, -z.  At each the exact gradient and the covariance of
# the estimator's row terms are computed, which is all that step size, batch size and warnings need.


@dataclass(frozen=True)
class Pilot:
    """What the pilot saw; everything in units of the Laplace approximation's sds.

    Attributes
    ----------
    noise : array (strata, d)
        V1 a parameter: variance of the gradient estimate from one row, relative to the posterior
        precision, in stationarity: what is seen with control values at the mode, times the
        estimator's `staleness`.  One row, but for stratified sampling.
    covariance : array (strata, d, d)
        Of that estimate's noise, in the sampler's coordinates.
    mean_shift, sd_ratio : array (d,)
        The posterior's mean minus the mode in sds, and its sd over the Laplace sd, to first order
        in the departure from a Gaussian: what skewness does to the sd is of second order, and shows
        in the shift long before.
    """

    noise: np.ndarray
    covariance: np.ndarray
    mean_shift: np.ndarray
    sd_ratio: np.ndarray

    def worst_noise(self, factors=1.0):
        """Largest noise of a parameter, for factors of V1 (one a stratum); V1 itself by default."""
        return float((np.reshape(factors, (-1, 1)) * self.noise).sum(axis=0).max())

    def widest_noise(self, factors=1.0):
        """The same over all directions of the sampler's coordinates:
        the largest eigenvalue of the noise's covariance.
        """
        return float(np.linalg.eigvalsh(self.total(factors))[-1])

    def tau(self, factors=1.0):
        """Standard deviation of the gradient estimate, a coordinate of the sampler, (d,)."""
        return np.sqrt(np.maximum(np.diagonal(self.total(factors)), 0.0))

    def total(self, factors):
        """Covariance of the noise for factors of V1 (one a stratum)."""
        return (np.reshape(factors, (-1, 1, 1)) * self.covariance).sum(axis=0)

    @property
    def departure(self):
        """How far the posterior is from the Laplace approximation:
        the largest shift or relative change of sd.
        """
        return float(max(np.abs(self.mean_shift).max(), np.abs(self.sd_ratio - 1).max()))


def draws_of_laplace(entropy, d, pairs=PAIRS):
    """Draws z of N(0, I), (pairs, d), to be used with both signs."""
    return Rng(seed_sequence(entropy, "pilot")).normals(pairs * d).reshape(pairs, d)


def pilot_rows(n, entropy, given, grouped, most=PILOT_ROWS):
    """Rows that tell the noise where control values leave little to each, for `row_noise`.

    The first `most` of a table in random order; of one in the order that the user gave, random
    ones, or with strata all.
    """
    if not given or n <= most:
        return min(most, n)
    random = np.random.Generator(np.random.PCG64(seed_sequence(entropy, "pilot", 2)))
    return 0 if grouped else random.choice(n, most, replace=False)


def pilot(gradient, coordinates, z, noisy=True, shared=None, rows=PILOT_ROWS, at_once=False):
    """Measure noise and shape with a gradient estimator of the wanted kind.

    Under log pi(x) = -|x|^2/2 + e(x) with small e, Stein's identity gives E_pi x = E e'(x) and
    Var_pi x_jk - I = E x_j d_k e(x), both under N(0, I), with e' the exact gradient plus x.

    Parameters
    ----------
    gradient : Gradient
    coordinates : Coordinates
    z : array (pairs, d)
    noisy : bool
        Whether noise is wanted, besides shape.
    shared : object, optional
        What the subsamplers share: noise is then that of rows with its probabilities, or within its
        strata.
    rows : int or array of int
        Looked at where control values are at hand; see `pilot_rows`.
    at_once : bool
        Whether gradients in whitened coordinates are computed by products of matrices, where no
        noise is wanted.
    """
    white = coordinates.white
    d, both = z.shape[1], np.concatenate([z, -z])
    weight, groups = (None, None) if shared is None or not noisy else (shared.weight, shared.groups)
    shift, spread = np.zeros(d), np.zeros((d, d))
    rows = 0 if gradient.anchor is None and gradient.model.width else rows
    pace = RateEstimator(2.0 * gradient.model.n * d)
    together = None if noisy or not at_once else full_many(gradient, both)[1]

    def look(one, rows):
        """The gradient in whitened coordinates, and the noise's covariance in natural ones."""
        x = coordinates.from_white(one)
        y = coordinates.natural(x)
        g, covariance = pace.run(lambda: row_noise(gradient, y, rows, noisy, weight, groups))
        return x, coordinates.pull_white(x, g), gradient.staleness * covariance

    def relative(x, noise):
        """Noise of the parameters in units of their variance by the approximation."""
        half = white if coordinates.whitened else white @ coordinates.spread(x).T
        return diagonal(half, noise) / (white**2).sum(axis=1)

    x = coordinates.from_white(both[0])
    if np.ndim(rows) == 0 and rows == PILOT_ROWS and noisy and shared is None:
        x, _, covariance = look(both[0], LITTLE_NOISE_ROWS)
        if relative(x, noise_in_x(coordinates, x, covariance)).max() < LITTLE_NOISE:
            rows = LITTLE_NOISE_ROWS
    straight = coordinates.map is None or coordinates.map.affine  # the same slopes everywhere
    noise = np.zeros((1 if groups is None else len(groups), d, d))
    few = False
    for k, one in enumerate(both):
        if together is None:
            x, g, covariance = look(one, some_of(rows, k) if few else rows)
        else:
            g = together[k]
        if k == 0 and noisy and shared is None and not gradient.model.width:
            first = relative(x, noise_in_x(coordinates, x, covariance)).max()
            few = first < FAR_LESS_NOISE * LITTLE_NOISE
        if noisy:
            here = covariance if straight else noise_in_x(coordinates, x, covariance)
            noise += here / len(both)
        e = g + one
        shift += e / len(both)
        spread += np.outer(one, e) / len(both)
    if noisy and straight:
        noise = noise_in_x(coordinates, x, noise)
    variance = (white**2).sum(axis=1)
    ratio = 1 + diagonal(white, spread) / variance
    return Pilot(
        relative(x, noise),
        noise,
        white @ shift / np.sqrt(variance),
        np.sqrt(np.maximum(ratio, 0.05)),
    )


def some_of(rows, k):
    """The k-th FEW_SINGLE_ROWS of a list of rows, over and over, or so many instead of a number."""
    if np.ndim(rows) == 0:
        return min(rows, FEW_SINGLE_ROWS)
    start = k * FEW_SINGLE_ROWS % len(rows)
    return rows[start : start + FEW_SINGLE_ROWS]


def diagonal(A, M):
    """The diagonal of A M A', or of each of a stack of them."""
    return np.einsum("...jk,jk->...j", A @ M, A)


def noise_in_x(coordinates, x, covariance):
    """Covariance of the gradient's noise in the sampler's coordinates from that in natural ones,
    (..., d, d).

    A Langevin step in whitened coordinates moves theta by white times it.
    """
    if coordinates.map is None or coordinates.map.diagonal:
        slope = 1.0 if coordinates.map is None else coordinates.map.slopes(x)
        return covariance * np.outer(slope, slope)
    matrix = coordinates.map.jacobian(x)
    return matrix.T @ covariance @ matrix


# ---- the rows of mini-batches --------------------------------------------------------------------


def subsampler(choice, batch):
    """A subsampler for one chain."""
    shared = shared_rows(choice)
    scheme = choice.settings.scheme
    return scheme(choice.problem.model.n, batch, *([] if shared is None else [shared]))


def shared_rows(choice):
    """What the subsamplers of a fit share, made at first use, for the estimator chosen; None for
    schemes without needs.

    It depends on the data, the estimator and the seed alone.  For samplers that thin events below
    bounds the rows' sizes are those of their bounds.

    Raises
    ------
    ArgumentError
        Where batch_size is less than the scheme needs.
    """
    problem, settings, gradient = choice.problem, choice.settings, choice.gradient
    cls = settings.scheme
    if not cls.needs:
        return None
    key = cls.name, gradient, settings.seed
    if key not in problem.workspace.shared:
        with one_blas_thread():
            known = known_rows(problem, gradient, settings.seed, cls.needs)
            if "sizes" in known and settings.sampler is not None and settings.sampler.needs_bounds:
                known["sizes"] = reach(
                    problem.model, problem.coordinates.map, problem.model.dim, gradient == "cv"
                )
            problem.workspace.shared[key] = cls.share(**known)
    made = problem.workspace.shared[key]
    if settings.batch_size is not None and settings.batch_size < made.fewest:
        raise ArgumentError(
            f"batch_size={settings.batch_size} is less than the {made.fewest} strata of "
            f"subsample={cls.name!r}; a batch has a row of each"
        )
    return made


def known_rows(problem, name, entropy, needs):
    """What a scheme needs, by name: at the pilot's draws of the Laplace approximation, with an
    estimator of that name.
    """
    where, z = problem.coordinates, draws_of_laplace(entropy, problem.dim)
    gradient = problem.gradient(
        name, FullBatch(problem.model.n), Rng(seed_sequence(entropy, "pilot", 1))
    )
    points = [where.natural(where.from_white(one)) for one in np.concatenate([z, -z])]
    found = {}
    if "sizes" in needs:
        found["sizes"] = row_sizes(gradient, where.inner, points)
    if "strata" in needs or "spread" in needs:
        strata, most = problem.rows.strata(), PILOT_ROWS if problem.rows.shuffled else 0
        found["strata"] = strata
        found["spread"] = spread_within(gradient, where.inner, points, strata, most)
    return {need: found[need] for need in needs}


def spread_within(gradient, white, points, strata, rows):
    """S_h: root mean square, over the points, of the sd within each stratum of the row terms in
    whitened coordinates.

    The first `rows` of each stratum are looked at; 0: all.
    """
    groups = [np.flatnonzero(strata == h) for h in np.unique(strata)]
    total = np.zeros(len(groups))
    for x in points:
        covariance = row_noise(gradient, x, rows, groups=groups)[1]
        total += np.einsum("jk,hjl,lk->h", white, covariance, white, optimize=True)
    return np.sqrt(np.maximum(total, 0.0) / len(points)) / [len(rows) for rows in groups]


def groups_of(y, most=MAX_STRATA):
    """Strata by numbers, one a row: their levels;
    where there are more than `most`, MAX_STRATA groups by quantiles.
    """
    levels, place = np.unique(y, return_inverse=True)
    if len(levels) <= most:
        return place
    return np.searchsorted(
        np.unique(np.quantile(y, np.arange(1, MAX_STRATA) / MAX_STRATA)), y, side="left"
    )


# ---- the noise of a plan -------------------------------------------------------------------------


@dataclass(frozen=True)
class GradientNoise:
    """Noise of the gradient estimates of a plan's batches, at stationarity.

    Attributes
    ----------
    worst : float
        V, the variance relative to the posterior precision, of the worst parameter.
    widest : float
        The largest variance of any direction of the sampler's coordinates, in the same units.
    tau : array (d,)
        The sd of each of these coordinates, in their own units.
    """

    worst: float
    widest: float
    tau: np.ndarray

    def as_seen(self, searches, rows):
        """The same, but as chains that adapted their batches saw it, in the mean over chains.

        Parameters
        ----------
        searches : list of BatchSearch or None
            One a chain.
        rows : list of Subsampler
        """
        if searches[0] is None:
            return self
        seen = np.mean([s.noise(r) for s, r in zip(searches, rows) if s.looks], axis=0)
        worst = float(seen.max())
        anisotropy = self.widest / self.worst if self.worst else 1.0
        return GradientNoise(worst, worst * anisotropy, np.sqrt(seen * searches[0].max_precision))


def noise_of_plan(plan, chains):
    """The `GradientNoise` of a plan; gives long blocks of its chains their design effect."""
    n, d = plan.size
    if not plan.spec.noisy:
        return GradientNoise(0.0, 0.0, np.zeros(d))
    if plan.pilot is None:  # nobody looked
        return GradientNoise(np.nan, np.nan, np.full(d, np.nan))
    known = noise_of(plan)
    worst = known.of(plan.batch, n)
    if worst == 0:
        return GradientNoise(0.0, 0.0, np.zeros(d))
    effect = share_design_effect(plan, chains)
    mean = float(effect.mean())
    return GradientNoise(
        worst * mean,
        worst * mean * known.anisotropy,
        plan.pilot.tau() * np.sqrt(worst / known.one_row * effect),
    )


def noise_of(choice):
    """Noise and cost of the estimator chosen, of whose kind the pilot was, under the subsampling
    scheme of the fit.
    """
    problem, gradient, seen = choice.problem, choice.gradient, choice.pilot
    cls, rows = registry.lookup("gradients", gradient, "gradient"), choice.settings.scheme
    common = cls.block_noise if rows.name == "block" else 0.0
    each = cls.row_cost + (0 if problem.model.width else cls.recomputes)
    each *= getattr(problem.model, "row_cost", 1.0)  # more where rows share work when all are taken
    # an exact sampler's pilot looks for none; and rows that are all alike have none
    if seen is None or not seen.worst_noise():
        return Noise(0.0, problem.always_computed(gradient), each, common)
    shared = shared_rows(choice)

    def law(m):
        return seen.worst_noise(1 / m if shared is None else shared.factors(m))

    return Noise(
        seen.worst_noise(),
        problem.always_computed(gradient),
        each,
        common,
        law if rows.replaces or shared is not None else None,
        seen.widest_noise() / problem.coordinates.max_precision / seen.worst_noise(),
        cancels(choice),
    )


def cancels(choice):
    """Whether the errors of a sweep's batches add up to zero; not with control values that change
    on the way.
    """
    cls = registry.lookup("gradients", choice.gradient, "gradient")
    return choice.settings.scheme.sweeps and cls.staleness == 1


def share_design_effect(plan, chains):
    """Give long blocks their design effect a coordinate, computed once at a draw of the Laplace
    approximation; returns it.
    """
    problem, settings, (n, d) = plan.problem, plan.settings, plan.size
    if (
        not problem.model.width  # no scores to compute it from
        or settings.subsample != "block"
        or plan.batch <= BLOCK_SHARE * n  # it is close to 1
        or plan.batch == n  # no noise is left
    ):
        return np.ones(d)
    z = draws_of_laplace(settings.seed, d)[0]
    natural = problem.coordinates.natural(problem.coordinates.from_white(z))
    effect = block_effect(chains[0].gradient, natural, plan.batch)
    for chain in chains:
        chain.gradient.rows.set_design_effect(effect)
    return effect


# ---- batches that adapt --------------------------------------------------------------------------


def without_noise(problem, other):
    """What to do where the noise of single coordinates is not to be had; `other` where there are
    no coordinates but those that mix.
    """
    return other if problem.defaults.unsurveyed else "use precondition='diag'"


def batch_search(plan):
    """What adapts the batches of a chain."""
    n, d = plan.size
    reason = plan.spec.noise_refusal(plan.problem.coordinates.map)
    if reason:
        advice = without_noise(plan.problem, "leave batch_size=None")
        raise NotSupported(f"batch_size='adaptive': {reason}; {advice}", because="limit")
    shared = shared_rows(plan)
    smallest = (
        tolerance.SMALLEST_BATCH if shared is None else max(tolerance.SMALLEST_BATCH, shared.fewest)
    )
    return BatchSearch(
        tolerance.tolerable_noise(plan.spec, plan.langevin_time),
        plan.max_precision,
        plan.warmup,
        min(smallest, largest(n)),
        d,
        lambda m: subsampler(plan, m),
    )


class BatchSearch:
    """The least batch of one chain whose noise V is at most `target` in its worst coordinate.

    At fixed step numbers of warmup one more estimate is made, and its sd; V1 of each coordinate is
    the mean of what was seen.  V = V1 (1/m - 1/n), or V1/m for schemes that draw rows with
    replacement; after warmup m stays.

    Parameters
    ----------
    target : float
        V in units of the posterior precision.
    max_precision : float
        Largest precision of the sampler's coordinates.
    warmup, smallest, dim : int
        Steps, rows that a batch must have, and coordinates.
    make : callable
        ``make(m)`` is a subsampler of batches of m rows.
    """

    def __init__(self, target, max_precision, warmup, smallest, dim, make):
        self.target, self.max_precision = target, max_precision
        self.smallest, self.make = smallest, make
        self.every, self.last = max(1, warmup // LOOKS), warmup
        self.looks, self.one_row = 0, np.zeros(dim)

    def until_next(self, step):
        """Steps from `step` to the next look."""
        return self.every - step % self.every

    def adapt(self, chain):
        """Look and choose, if the chain is at such a step."""
        rows, due = chain.gradient.rows, chain.steps // self.every
        if chain.steps > self.last or due == self.looks:
            return
        self.looks = due
        sd = evaluate(chain.gradient, chain.x, chain.rng, True)[1]
        seen = sd**2 / share(rows) / self.max_precision
        self.one_row = self.one_row + (seen - self.one_row) / due
        m = self.size(rows)
        if abs(m - rows.m) > SLACK * rows.m or due == self.last // self.every and m != rows.m:
            self.replace(chain, m)

    def noise(self, rows):
        """V a coordinate of the batches that the chain has now."""
        return self.one_row * share(rows)

    def size(self, rows):
        """The least m for the noise seen; not all rows,
        of which no noise would be seen any more.
        """
        worst = float(np.max(self.one_row))
        m = worst / (self.target + (0 if rows.replaces else worst / rows.n))
        return min(max(math.ceil(m), self.smallest), largest(rows.n))

    def replace(self, chain, m):
        """Give a chain batches of m rows."""
        old, new = chain.gradient.rows, self.make(m)
        new.set_design_effect(old.design_effect)
        chain.gradient.replace_rows(new)

    def state(self, chain):
        """What was seen, and the size that the chain has now."""
        return {"looks": self.looks, "one_row": np.array(self.one_row), "m": chain.gradient.rows.m}

    def set_state(self, chain, state):
        """Continue from a `state()`."""
        self.looks, self.one_row = state["looks"], state["one_row"]
        self.replace(chain, state["m"])


def share(rows):
    """V of a scheme's batches over V1."""
    return 1 / rows.m - (0 if rows.replaces else 1 / rows.n)


def largest(n):
    """Rows of the largest batch that adapts."""
    return max(1, n - 1)


# ---- rows of high leverage -----------------------------------------------------------------------

# A minibatch should not be left to find them: few, and each with much to say about some parameter.


def high_leverage(model, coordinates, anchor, wild_alone=False):
    """Rows to compute at every step, because their second-order residuals would dominate the
    gradient noise.

    The residual of row i is about w_i' eta^2 / 2 with eta ~ N(0, s_i^2), |w_i'| <= w_i exp(2 s_i),
    and moves no parameter by more than s_i sds: it adds at most N (3/4) (w_i exp(2 s_i))^2 s_i^6
    to V1.  The set is the one that needs the fewest rows a step, itself and the batch that keeps
    the rest within the tolerance at h = 1.  With `wild_alone` it has no others than those that no
    expansion serves.

    Returns
    -------
    rows : array of int
    """
    white = None if coordinates.rotated and coordinates.map is None else coordinates.inner
    largest = int(MAX_EXACT_SHARE * model.n) + 1
    large = too_many(model, 2 * model.width)
    if large:  # a list of more is of no use in a step, and may not fit into memory
        largest = min(largest, MAX_EXACT)
    wild, worth, shares = np.empty(0, dtype=int), np.empty(0, dtype=int), np.empty(0)
    for rows in spans(model.n) if large else [slice(0, model.n)]:
        far, found, share = candidates(*leverages(model, white, anchor, rows), model.n)
        wild = np.concatenate([wild, rows.start + far])
        if wild_alone:
            continue
        worth, shares = np.concatenate([worth, rows.start + found]), np.concatenate([shares, share])
        if len(worth) > largest:
            kept = np.sort(np.argsort(-shares, kind="stable")[:largest])
            worth, shares = worth[kept], shares[kept]
    return np.union1d(wild, worth)


def outstanding(s, w, n):
    """The rows of `high_leverage` among those with predictors' sds s and curvatures w, of n rows in
    all, and their shares of the noise; of one that no expansion serves it is infinite.
    """
    wild, worth, share = candidates(s, w, n)
    largest = int(MAX_EXACT_SHARE * n) + 1
    if len(worth) > largest:
        kept = np.argsort(-share, kind="stable")[:largest]
        worth, share = worth[kept], share[kept]
    rows = np.concatenate([wild, worth])
    share = np.concatenate([np.full(len(wild), np.inf), share])
    order = np.argsort(rows)
    return rows[order], share[order]


def candidates(s, w, n):
    """Places of rows beyond any expansion, and of those that are worth their computation, with
    their shares of the noise; of n rows in all.
    """
    # a row is worth it from the share of noise at which a larger batch costs as much
    least = 3 * VARIANCE_TOLERANCE / (0.75 * n)
    # exp(2 s) w s^3 = sqrt(least) for the largest w at some s <= end: nearly all rows are below
    end = (np.sqrt(least) / max(w.max(initial=0.0), 1e-300)) ** (1 / 3)
    low = end * np.exp(-2 / 3 * min(end, MAX_EXPANDED_SD))
    looked = np.flatnonzero(s > min(low, MAX_EXPANDED_SD))
    s, w = s[looked], w[looked]
    wild = s > MAX_EXPANDED_SD
    share = np.where(wild, 0.0, (np.exp(2 * np.minimum(s, MAX_EXPANDED_SD)) * w * s**3) ** 2)
    worth = np.flatnonzero(share > least)
    return looked[wild], looked[worth], share[worth]
