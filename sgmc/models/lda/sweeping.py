"""How many Gibbs sweeps over the documents are enough, and how far fewer shift topics."""

import numpy as np

from sgmc import registry
from sgmc.core.contract import Prior
from sgmc.core.engine import scores
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import SweepsWarning
from sgmc.fit.parts import Evidence

TRIED_SWEEPS, LONG_SWEEPS = (
    (8, 16, 32, 64),
    512,
)  # sweeps to choose from, and those that stand for the truth
SWEEPS_AVERAGED, LONG_TIMES = 64, 8  # of each: about the same error, as later sweeps are averaged
SETTLING = 100  # steps of data augmentation from a start to topics as the posterior has them
TOKENS = 5000  # of the documents looked at, about
LARGEST_TOPIC_SHIFT = 0.2  # posterior sds, two standard errors of the estimate included
PILOT_SEED = 3  # seed of what is drawn for a choice that is the data's alone


def some(counts):
    """Evenly spaced documents of about TOKENS tokens, and how many documents each stands for."""
    n = counts.shape[0]
    kept = int(np.clip(n * TOKENS / counts.sum(), min(n, 10), n))
    return counts[np.linspace(0, n - 1, kept).astype(int)], n / kept


def expected(kernel, theta, times, rng):
    """Expected tokens of words in topics over all documents, estimated so many times, flat."""
    deadline.check()
    rows = registry.lookup("subsampling", "uniform", "subsample")(kernel.n, kernel.n)
    simple = registry.lookup("gradients", "simple", "gradient")(
        kernel, Prior(kernel.dim), rows, rng
    )
    return scores(simple, np.tile(theta.ravel(), (times, 1)), rng) * theta.ravel()


def settled(kernel, theta, beta, seed):
    """Topics near those of the posterior: Dirichlet draws given expected counts, again and again
    (data augmentation, Tanner & Wong 1987).
    """
    numbers, rng = np.random.default_rng(seed), Rng(seed_sequence(seed, "pilot", PILOT_SEED))
    for _ in range(SETTLING):
        tokens = expected(kernel, theta, 1, rng).reshape(theta.shape)
        gammas = np.maximum(numbers.gamma(beta + tokens), 1e-300)
        theta = gammas / gammas.sum(axis=1, keepdims=True)
    return theta


def shift(kernel, thorough, each, stands_for, beta, seed):
    """How far sweeps move topics, in posterior sds: an estimate and its standard error.

    Given all assignments, a topic's word is a gamma variable of shape a = beta + tokens: tokens
    that are expected wrongly by e move it by e / sqrt(a) sds, and what of the assignments is not
    known moves it further.  Half of the estimates choose the direction that moves most, the other
    half tell how far: neither adds up noise.

    Parameters
    ----------
    kernel, thorough : Sampled
        With the sweeps that are judged, and with LONG_SWEEPS.
    each : list of array (K, W)
        Topics to look at, by chain.
    stands_for : float
        See `some`.
    beta : float
    seed : int
    """
    rng, along = Rng(seed_sequence(seed, "pilot", PILOT_SEED)), []
    for theta in each:
        truth = expected(thorough, theta, LONG_TIMES, rng)
        unit = np.sqrt(beta + stands_for * truth.mean(axis=0)) / stands_for
        found, truth = expected(kernel, theta, SWEEPS_AVERAGED, rng) / unit, truth / unit
        first = found[::2].mean(axis=0) - truth[::2].mean(axis=0)
        way = first / max(np.linalg.norm(first), 1e-300)
        found, truth = found[1::2] @ way, truth[1::2] @ way
        errors = [one.var(ddof=1) / len(one) for one in (found, truth)]
        along.append((found.mean() - truth.mean(), sum(errors)))
    moved, error = np.mean(along, axis=0)
    return abs(moved), np.sqrt(error / len(along))


def enough(model):
    """The least number of TRIED_SWEEPS sweeps that does not move topics, or the most of them; and
    whether it was found before half of the time was over, which else the chains would lack.
    """
    try:
        with deadline.leaving(deadline.current().left() / 2):
            return least(model), True
    except OutOfTime:
        return TRIED_SWEEPS[-1], False


def least(model):
    """What `enough` returns, without a limit."""
    counts, stands_for = some(model.counts)
    beta, thorough = model.prior["topics"].df, model.sampled(counts, LONG_SWEEPS)
    start = model.starts(np.random.default_rng(PILOT_SEED)).reshape(model.parameters["topics"])
    theta = settled(model.sampled(counts, TRIED_SWEEPS[1]), start, beta, PILOT_SEED)
    for sweeps in TRIED_SWEEPS[:-1]:
        kernel = model.sampled(counts, sweeps)
        moved, error = shift(kernel, thorough, [theta], stands_for, beta, PILOT_SEED)
        if moved + 2 * error <= LARGEST_TOPIC_SHIFT:
            return sweeps
    return TRIED_SWEEPS[-1]


class Sweeps(Evidence):
    """What sweeps over the documents are off by."""

    def __init__(self, model):
        self.model = model

    def extra_checks(self, fit):
        # where sweeps move topics, at the last draws or the means of the chains
        model = self.model
        shape, columns = model.parameters["topics"], fit.problem.record.columns
        if columns is None or len(columns) == np.prod(shape):
            last = (
                fit.problem.coordinates.natural(fit.x[:, -1]) if columns is None else fit.x[:, -1]
            )
        else:
            last = [recorder.mean for recorder in fit.recorders]
        each = [np.reshape(one, shape) for one in last]
        counts, stands_for = some(model.counts)
        pair = [model.sampled(counts, sweeps) for sweeps in (model.used_sweeps, LONG_SWEEPS)]
        beta = model.prior["topics"].df
        moved, error = shift(*pair, each, stands_for, beta, fit.settings.seed)
        if moved + 2 * error <= LARGEST_TOPIC_SHIFT:
            return []
        return [
            SweepsWarning(
                f"{model.used_sweeps} Gibbs sweeps over a document do not forget how its tokens "
                f"were first assigned: they move topics by {moved:.2g} posterior sds (standard "
                f"error {error:.2g}).",
                f"Use more sweeps, LDA(..., sweeps={4 * model.used_sweeps}), or for short "
                "documents and few topics sweeps='exact'.",
            )
        ]
