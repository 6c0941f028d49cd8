"""An independent answer: the old draws weighed by the likelihood of the new rows."""

from dataclasses import dataclass

import numpy as np

from sgmc.core.expansion import of_rows
from sgmc.core.system.blas import one_blas_thread
from sgmc.diagnostics.chains import convergence
from sgmc.diagnostics.chains.pareto import fitted_shape, tail_size
from sgmc.errors import UpdateWarning
from sgmc.results.outcomes.data.rows import evenly

FINITE_VARIANCE = 0.5  # shape of the weights' tail below which errors of weighted means are known
WEIGHED_WORK = 1e9  # rows x draws x parameters
FEWEST_OLD_DRAWS = 400
AGREED = 0.05  # sd: half of what a verdict allows for
SURELY_APART = 3.5  # errors of a difference: the largest of 100 is beyond in one of 20 updates


@dataclass(frozen=True)
class Weighed:
    """Moments of the posterior of all rows by importance weights.

    Attributes
    ----------
    shape : float
        k of the weights' tail.
    mean, sd, mean_error, sd_error : array (d,)
        Of parameters, auxiliary ones as logs; errors are Monte Carlo errors.
    """

    shape: float
    mean: np.ndarray
    sd: np.ndarray
    mean_error: np.ndarray
    sd_error: np.ndarray

    @property
    def usable(self):
        """Whether the weights have a variance, and more than one draw has a share of them."""
        return self.shape < FINITE_VARIANCE and bool((self.sd > 0).all())

    def apart(self, theta, weights):
        """Differences from draws (chain, draw, d): of means in sds, of sds relative to them, and
        their errors, (2, d) each.
        """
        flat = theta.reshape(-1, theta.shape[2])
        mean = np.average(flat, axis=0, weights=weights)
        sd = np.sqrt(np.average((flat - mean) ** 2, axis=0, weights=weights))
        size = [convergence.ess(theta, method=method) for method in ("mean", "sd")]
        apart = np.array([(mean - self.mean) / sd, sd / self.sd - 1])
        errors = np.hypot(
            [self.mean_error / sd, self.sd_error / sd],
            [1 / np.sqrt(size[0]), 1 / np.sqrt(2 * size[1])],
        )
        return apart, errors

    def concern(self, apart, errors, names):
        """An UpdateWarning where the two answers differ, or None."""
        beyond = np.abs(apart) - SURELY_APART * errors
        kind, j = np.unravel_index(np.argmax(beyond), beyond.shape)
        if not beyond[kind, j] > AGREED:
            return None
        size = apart[kind, j]
        what = f"mean {abs(size):.2g} sd" if kind == 0 else f"sd {100 * abs(size):.2g} %"
        return UpdateWarning(
            f"the old draws, weighed by the likelihood of the new rows (k {self.shape:.2g}), "
            f"have another posterior: {names[j]}'s {what} apart.",
            "Fit all rows together, or update results whose rows are still in memory.",
        )


def weighed(results, model, back):
    """`Weighed` of old results by the compiled model of new rows, theta = T phi; None where there
    is too much to do, or too few draws.
    """
    draws = results.draws
    theta = results.model.family.sampled(draws.reshape(-1, draws.shape[2])).copy()
    logged = results.priors.logged
    theta[:, logged] = np.log(theta[:, logged])
    most = int(WEIGHED_WORK / (model.n * model.dim))
    kept = evenly(len(theta), most)
    if len(kept) < FEWEST_OLD_DRAWS:
        return None
    base = np.ones(len(kept))
    if results.flat_weights is not None:
        base = results.flat_weights[kept] / results.flat_weights[kept].mean()
    with one_blas_thread(), np.errstate(all="ignore"):
        theta = theta[kept]
        phi = np.linalg.solve(back, theta.T).T
        log_weight = np.array([of_rows(model, one, slope=False)[0] for one in phi])
    if not np.isfinite(log_weight).all():
        return None
    size = float(np.nanmean(convergence.ess(draws, method="mean", weights=results.weights)))
    efficiency = min(size / draws[..., 0].size * len(theta) / len(kept), 1.0)
    return moments(theta, base, log_weight, max(efficiency, 1e-3))


def moments(theta, base, log_weight, efficiency):
    """`Weighed` of draws (m, d) with weights of their own."""
    ratio = np.exp(log_weight - log_weight.max())
    ordered = np.sort(base * ratio)
    size = min(tail_size(len(ordered), efficiency), len(ordered) // 5)
    excess = ordered[-size:] - ordered[-size - 1]
    shape = fitted_shape(excess) if excess[0] > 0 else 0.0
    if ordered[-size] == 0:  # a few draws have all of the weight, and the others none
        shape = np.inf
    w = base * ratio / (base * ratio).sum()
    mean = w @ theta
    e = theta - mean
    variance = w @ e**2
    sd = np.sqrt(variance)
    loss = np.sqrt(efficiency)
    error = np.sqrt(w**2 @ (e**2 - variance) ** 2) / loss
    sd_error = np.divide(error, 2 * sd, where=sd > 0, out=np.full(len(sd), np.inf))
    return Weighed(shape, mean, sd, np.sqrt(w**2 @ e**2) / loss, sd_error)
