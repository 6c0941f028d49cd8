"""Draws of a fit with scores that the data allow, and its Stein discrepancy."""

from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.numbers import whole
from sgmc.core.engine import full_many
from sgmc.core.engine import scores as estimates
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.system import deadline
from sgmc.core.system.interrupts import came, unbroken
from sgmc.core.system.threads import Threads
from sgmc.diagnostics.scores.implied import DRAWS_PER_DIMENSION, FEWEST_PER_DIMENSION
from sgmc.diagnostics.scores.stein import ksd
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit import POLL_SECONDS
from sgmc.fit.choose import WIDE
from sgmc.fit.tolerance import SMALLEST_BATCH
from sgmc.results.checks.scores.whole import all_kept, positions, whole_draws
from sgmc.results.outcomes.data.rows import evenly
from sgmc.subsampling.block import CircularBlock
from sgmc.subsampling.uniform import FullBatch, Uniform

MAX_QUADRATIC_DRAWS = 1000  # draws in a double sum
MAX_LINEAR_DRAWS = 10_000  # draws in what takes linear time
SCORE_WORK = 1e8  # rows x parameters x draws of exact scores
WORK_UNASKED = 1 / 4  # of that, where draws are independent, and no verdict rests on their scores
SHARE_OF_PASSES = 1 / 4  # of an exact fit's own, that scores by products of matrices may take
POINTS_AT_ONCE = 256
FEWEST_SCORED = 200  # draws: below, control-variate scores of more draws say more
SCORE_BATCH = 1000
# variance that the batch of a score may add, of densities of users, to that of scores, 1: 0.01 sd
# for a draw, and less than a thousandth for a mean over hundreds
SCORE_NOISE = 1e-4
FEWEST_BATCHED = 100  # draws, where a batch is groups of many rows
SCORE_KINDS = ("exact", "taylor", "cv", "simple")
PARTS_OF_POINTS = 8
CELLS_BETWEEN_LOOKS = 1e7  # rows x parameters x draws between looks at the clock
# draws a dimension with exact scores: what these have besides a line is not noise, and small where
# independent proposals or walkers were chosen
EXACT_PER_DIMENSION = 3
MOST_LEARNED = 500  # coordinates whose covariance draws can tell
# pairs of draws x coordinates, a second or two, that a summary's discrepancy may take where the
# verdict has no scores; a discrepancy of fewer draws would be another number
PAIRED_WORK = 1e9
ROBUST = "a robust posterior is no density"
STICKY = "a posterior with mass at zero has no density"
PARTIAL = "only some parameters were kept"


@dataclass(frozen=True)
class Scored:
    """An evenly thinned part of a fit's draws, in the sampler's coordinates, and gradients of the
    log posterior there: what functions of `sgmc.diagnostics` take.

    Attributes
    ----------
    draws, scores : array (n, d)
        Without coordinates that have updates of their own in the place of gradients.
    weights : array (n,) or None
    scale : array (d, d), (d,) or None
        What whitens the coordinates, or their sds, where they are not white.
    kept : array (n,)
        Numbers of the draws, chains one after the other.
    kind : str
        Of the scores.
    """

    draws: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None
    scale: np.ndarray | None
    kept: np.ndarray
    kind: str


def scored(
    fit,
    entropy,
    kind=None,
    most=MAX_QUADRATIC_DRAWS,
    fewest=FEWEST_SCORED,
    alone=True,
    batch=SCORE_BATCH,
):
    """Draws and their scores.

    Parameters
    ----------
    fit : Fit
    entropy : int
    kind : str, optional
        One of SCORE_KINDS; default: exact where `fewest` draws are worth SCORE_WORK, else minibatch
        estimates by Taylor control values.
    most, fewest : int
        Draws.
    alone : bool
        Coordinates of no known scale get the draws' own.  Draws that are compared with others
        have none: it would make a chain that hardly moved look like one that went everywhere.
    batch : int
        Rows of minibatch scores.
    """
    problem = fit.problem
    d = problem.dim
    x = positions(fit, whole_draws(fit)) if problem.partial else fit.x
    chains, x = x.shape[0], x.reshape(-1, d)
    count = min(len(x), most)
    affordable = int(min(count, most_scores(fit)))
    exact = affordable >= min(fewest, len(x)) if kind is None else kind == "exact"
    label = kind if kind is not None else "exact" if exact else problem.defaults.estimator
    weights = None if fit.weights is None else np.tile(fit.weights, chains)
    if problem.rows.grouped:  # of which each may have more rows than a batch
        batch = max(1, round(batch * problem.model.n / max(len(problem.table.y), 1)))
        cells = batch * problem.rows.cells / problem.model.n
        if not exact:
            # no verdict rests on scores of independent draws
            most, work = (FEWEST_SCORED, WORK_UNASKED) if fit.plan.spec.direct else (count, 1.0)
            count = min(count, most, max(FEWEST_BATCHED, int(work * SCORE_WORK / cells)))
        elif fit.plan.spec.direct and kind is None and affordable < count:
            affordable = min(affordable, FEWEST_SCORED)
    kept = evenly(len(x), affordable if exact and kind is None else count)
    points = np.ascontiguousarray(x[kept])
    found = scores_at(fit, points, entropy, label, batch)
    return with_scores(problem, x, kept, found, label, weights, alone)


def with_scores(problem, x, kept, found, label, weights, alone=True):
    """`Scored` of the scores found of some of the draws x (n, d), by their numbers, with the
    weights of all.
    """
    points = np.ascontiguousarray(x[kept])
    if problem.model.refreshes:
        moved = (found != 0).any(axis=0)
        x, points, found = x[:, moved], points[:, moved], found[:, moved]
    where = problem.coordinates
    scale = (
        None
        if where.whitened
        else where.spread(points[0])
        if where.scaled
        else spread_of(x)
        if alone
        else None
    )
    weights = None if weights is None else weights[kept]
    return Scored(points, found, weights, scale, kept, label)


def by_products(problem):
    """Whether densities of a wide table are computed by products of matrices."""
    return problem.products and problem.dim >= WIDE


def most_scores(fit):
    """How many points may have exact scores, or densities."""
    rows = fit.problem.few.rows
    count = SCORE_WORK / (rows.cells * rows.row_terms)
    if by_products(fit.problem) and fit.plan.spec.all_rows:
        return max(count, SHARE_OF_PASSES * fit.passes)
    return count


def scores_at(fit, points, entropy, kind, batch=SCORE_BATCH):
    """Scores at points (n, d) of the sampler's coordinates, "exact" or of minibatches by an
    estimator, (n, d): in parts with streams of their own, so that threads change no digit.
    """
    problem = fit.problem.few if kind == "exact" else fit.problem
    problem = problem.computed(fit.plan.single and kind == "exact")
    return scores_by(problem, points, entropy, kind, batch, fit.settings.threads)


def scores_by(problem, points, entropy, kind, batch=SCORE_BATCH, threads=1):
    """The same of a problem, as it is computed."""
    parts = np.array_split(points, min(PARTS_OF_POINTS, len(points)))
    problem.rows.will_read(random=kind != "exact")
    estimators = [estimator(problem, entropy, k, kind, batch) for k in range(len(parts))]
    end = deadline.current()  # threads do not inherit it
    rows = problem.model.n if kind == "exact" else min(problem.model.n, batch)
    few = max(1, int(CELLS_BETWEEN_LOOKS / (rows * problem.dim))) if end.set else len(points)
    products = kind == "exact" and by_products(problem)
    few = min(max(few, POINTS_AT_ONCE // 2), POINTS_AT_ONCE) if products else few

    def scores_of(of, part):
        found = []
        for a in range(0, len(part), few):
            end.check()
            some = part[a : a + few]
            found.append(full_many(of[0], some)[1] if products else estimates(of[0], some, of[1]))
        return np.concatenate(found)

    with unbroken(), Threads(threads) as pool:
        futures = [pool.submit(scores_of, *one) for one in zip(estimators, parts)]
        while wait(futures, POLL_SECONDS, FIRST_EXCEPTION).not_done and not came():
            if any(one.done() and one.exception() for one in futures):
                break
        for one in futures:
            one.cancel()  # where Ctrl-C or an error ended the wait; all are done otherwise
        if came():
            raise KeyboardInterrupt
        for one in sorted(futures, key=Future.cancelled):
            one.result()  # an error comes before what was cancelled for it
        return np.concatenate([one.result() for one in futures])


def estimator(problem, entropy, part, kind, batch=SCORE_BATCH):
    """A gradient estimator and its stream."""
    n, rng = problem.model.n, Rng(seed_sequence(entropy, "scores", part))
    exact = kind == "exact"
    rows = (
        FullBatch(n)
        if exact
        else (CircularBlock if problem.rows.shuffled else Uniform)(n, min(n, batch))
    )
    name = kind if not exact else "simple" if by_products(problem) else problem.defaults.estimator
    return problem.gradient(name, rows, rng), rng


def checked(fit, entropy):
    """Draws with scores for the summary's checks, as `Scored`; None where there are none.

    The sandwich is no density that draws could be compared with, nor is a posterior with mass at
    zero.  Nor are there scores of draws that were not kept as a whole, or of parameters that have
    updates of their own in the place of gradients.  Independent draws of the posterior itself need
    no check.  Draws from conditional distributions have none either: in their coordinates densities
    have spikes, where scores tell less than the draws do.  Nor have proposals whose weights are not
    by the rows: these were compared before, and their scores would take longer than the draws.
    """
    if (
        fit.settings.robust
        or without_rows(fit)
        or fit.plan.spec.direct
        or fit.plan.spec.conditional
        or fit.plan.spec.sticky
        or fit.problem.partial
        or fit.problem.model.refreshes
    ):
        return None
    d, count = fit.problem.dim, fit.x.shape[0] * fit.x.shape[1]
    enough = count >= FEWEST_PER_DIMENSION * d
    if not fit.problem.coordinates.scaled and (d > MOST_LEARNED or not enough):
        return None
    if enough and by_products(fit.problem) and fit.plan.spec.all_rows:
        most, fewest = EXACT_PER_DIMENSION * d, FEWEST_PER_DIMENSION * d
    else:
        wanted = DRAWS_PER_DIMENSION * d if enough else MAX_QUADRATIC_DRAWS
        most, fewest = max(MAX_QUADRATIC_DRAWS, wanted), max(FEWEST_SCORED, wanted)
    share = (
        fit.problem.model.n * d / fit.problem.rows.cells
    )  # fewer rows where each is made of many
    batch = max(1, round(SCORE_BATCH * min(1.0, share)))
    if fit.problem.foreign:  # each row is a call of their code, or passes through it
        batch = enough_for_scores(fit.plan, batch)
    some = scored(fit, entropy, None, most, fewest, batch=batch)
    return some if len(some.kept) >= 2 and np.isfinite(some.scores).all() else None


def enough_for_scores(plan, most):
    """Rows of a batch that add `SCORE_NOISE` to scores by the default estimator, at most so many;
    these where the pilot has not looked at its noise.
    """
    if plan.pilot is None or plan.gradient != plan.problem.defaults.estimator:
        return most
    noise = plan.pilot.worst_noise()
    if not noise > 0:  # nobody looked
        return most
    return int(np.clip(np.ceil(noise / SCORE_NOISE), min(SMALLEST_BATCH, most), most))


def without_rows(fit):
    """Whether weights of proposals were not computed by the rows."""
    moved = fit.problem.transport
    return moved is not None and moved.cells is not None


def spread_of(x):
    """A with the covariance of draws (n, d) as A A', or of few or many coordinates their sds, where
    nobody knew their scale beforehand.
    """
    if x.shape[1] > MOST_LEARNED:
        return np.maximum(x.std(axis=0), 1e-300)
    covariance = np.atleast_2d(np.cov(x.T))
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return np.diag(np.sqrt(np.maximum(np.diagonal(covariance), 1e-300)))


@dataclass(frozen=True)
class Discrepancy:
    """The kernel Stein discrepancy of a fit's draws.

    Attributes
    ----------
    value : float or None
    scores : str
        The kind of the scores; empty where there are none.
    missing : str
        Why there is no value; empty where there is one.
    """

    value: float | None
    scores: str = ""
    missing: str = ""

    def __str__(self):
        if self.value is None:
            return f"KSD not available ({self.missing})"
        return f"KSD {self.value:.2g}"


def stein_discrepancy(fit, some=None, most=PAIRED_WORK):
    """KSD in whitened coordinates of at most MAX_QUADRATIC_DRAWS draws.

    Parameters
    ----------
    fit : Fit
    some : Scored, optional
        What the verdict has, of which these draws are then a part.
    most : float
        Pairs of draws x coordinates beyond which none is computed without these.

    Returns
    -------
    Discrepancy
    """
    reason = undefined(fit)
    draws = fit.x.shape[0] * fit.x.shape[1]
    pairs = min(draws, MAX_QUADRATIC_DRAWS) ** 2 / 2
    if not reason and some is None and pairs * fit.problem.dim > most:
        reason = f"{fit.problem.dim:,} parameters take long: see ksd()"
    if not reason and without_rows(fit) and np.isfinite(most):
        reason = "gradients of all rows take long: see ksd()"
    if reason:
        return Discrepancy(None, missing=reason)
    some = some or scored(fit, fit.settings.seed)
    if not np.isfinite(some.scores).all():
        return Discrepancy(None, missing="gradients at some draws are not finite")
    if some.scale is not None and not np.isfinite(some.scale).all():  # of a single draw
        return Discrepancy(None, missing="one draw has no spread")
    kept = evenly(len(some.draws), MAX_QUADRATIC_DRAWS)
    weights = None if some.weights is None else some.weights[kept]
    value = ksd(some.draws[kept], some.scores[kept], weights=weights, scale=some.scale)
    return Discrepancy(float(value), some.kind)


def undefined(fit):
    """Why draws of a fit have no Stein discrepancy, in a few words; empty where they have one."""
    problem = fit.problem
    if fit.settings.robust:
        return ROBUST
    if fit.plan.spec.sticky:
        return STICKY
    if problem.partial and whole_draws(fit) is None:
        return PARTIAL
    # Stein's identity needs densities that vanish at the ends of the coordinates, without jumps
    if problem.forms.unbounded(problem) is not problem:
        return "the sampler's coordinates end at probabilities of zero"
    apart = fit.computed.get("apart")
    return "" if apart is None or not apart.breaks else "the density jumps or ends"


def scored_draws(results, what, kind, draws, linear=False, batch=SCORE_BATCH, aligned=False):
    """`scored` of results, for a method named `what`; `linear`: it takes linear time,
    and wants many draws; `aligned`: it wants the rows of the table of draws that belong to them.

    Raises
    ------
    ArgumentError
        Without the data of the fit, or for unknown scores.
    NotSupported
        For a sandwich, and where no whole draws were kept.
    """
    refusal = no_scores(results, what, aligned)
    if refusal is not None:
        raise refusal
    if kind is not None:
        one_of("scores", kind, SCORE_KINDS)
    most = (
        (MAX_LINEAR_DRAWS if linear else MAX_QUADRATIC_DRAWS)
        if draws is None
        else whole("draws", draws, 2)
    )
    fewest = most if linear else FEWEST_SCORED
    return scored(results._fit, results.seed, kind, most, fewest, batch=batch)


def no_scores(results, what, aligned=False):
    """The error where draws of results have no scores, see `scored_draws`; None where they have."""
    if results.cov_type != "nonrobust":
        return NotSupported(
            f"{what}: {ROBUST} whose scores draws could be compared with", because="mathematics"
        )
    if results.sampler.sticky:
        return NotSupported(
            f"{what}: {STICKY} whose scores draws could be compared with", because="mathematics"
        )
    fit = results._fit
    if fit is None:
        return ArgumentError(
            f"{what} needs the data of the fit: these results were loaded from a file, or saved "
            "without theirs"
        )
    problem = fit.problem
    if problem.partial and (aligned and not all_kept(problem) or whole_draws(fit) is None):
        return NotSupported(f"{what} needs draws of all parameters; {PARTIAL}", because="limit")
    return None
