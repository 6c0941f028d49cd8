"""Exact posteriors of Bayesian logistic regressions, by a second hand:
nothing here comes from sgmc.

Usage: ``python benchmarks/reference.py OUT [--case NAME ...]`` writes ``OUT/NAME.npz`` for the
named cases, or all.  The data are read from the folder in the environment variable ``SGMC_DATA``.

Priors follow sgmc's default: slopes normal(0, 2.5 / sd(x_j)) of numbers and normal(0, 2.5) of
columns of 0 and 1; normal(0, 2.5) on the intercept that belongs to centred predictors. All results
are about the coefficients as the formula has them, that is, uncentred.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from arviz_stats.base import array_stats
from reference_tables import cases
from scipy.linalg import cho_factor, cho_solve, solve_triangular

ROWS = 2048  # rows of the design in one tile: tile times chains stays in the cache
CHAINS = 64
FEW = 5  # a column whose rarer outcome is seen fewer times than this gets exact updates of its own


class Posterior:
    """Logistic regression with independent normal priors, equal rows of the design merged.

    Parameters
    ----------
    X : (n, d) array
        Design; its first column is the intercept if `centred`.
    y : (n,) array
        Outcomes, 0 or 1.
    prior_mean, prior_sd : (d,) arrays
        Independent normal priors.
    centred : bool
        The first prior is about the intercept of centred predictors.
    """

    def __init__(self, X, y, prior_mean, prior_sd, centred=False):
        self.X, group = np.unique(X, axis=0, return_inverse=True)
        self.trials = np.bincount(group).astype(float)
        self.successes = np.bincount(group, weights=y)
        self.to_prior = np.eye(X.shape[1])
        if centred:
            self.to_prior[0, 1:] = X[:, 1:].mean(axis=0)
        scaled = self.to_prior / np.square(prior_sd)[:, None]
        self.precision = self.to_prior.T @ scaled
        self.shift = scaled.T @ prior_mean

    def _tiles(self):
        for start in range(0, len(self.X), ROWS):
            rows = slice(start, start + ROWS)
            yield self.X[rows], self.successes[rows, None], self.trials[rows, None]

    def log_density(self, theta):
        """Log density up to a constant of each column of `theta` (d, k)."""
        value = (theta * (self.shift[:, None] - self.precision @ theta / 2)).sum(axis=0)
        for X, successes, trials in self._tiles():
            value += log_likelihood(X @ theta, successes, trials).sum(axis=0)
        return value

    def gradient(self, theta):
        """Gradient of the log density at each column of `theta` (d, k)."""
        value = self.shift[:, None] - self.precision @ theta
        for X, successes, trials in self._tiles():
            value += X.T @ (successes - trials * probability(X @ theta))
        return value

    def curvature(self, theta, bounded=()):
        """Negative Hessian at `theta` (d,); rows that touch a column in `bounded` count as much as
        they ever can.
        """
        p = probability(self.X @ theta)
        weight = p * (1 - p)
        weight[self.X[:, list(bounded)].any(axis=1)] = 0.25
        return self.precision + self.X.T @ ((weight * self.trials)[:, None] * self.X)

    def mode(self):
        """Maximum of the density, by Newton's method with halved steps."""
        theta = np.zeros((self.X.shape[1], 1))
        value = self.log_density(theta)
        for _ in range(200):
            gradient = self.gradient(theta)
            step = cho_solve(cho_factor(self.curvature(theta[:, 0])), gradient)
            decrement = (step * gradient).sum()
            if decrement < 1e-16:
                return theta[:, 0]
            while (new := self.log_density(theta + step)) < value - 1e-9:
                step = step / 2
            theta, value = theta + step, new
        raise RuntimeError(f"Newton's method did not reach the mode: decrement {decrement:.1e}")

    def few(self):
        """Columns in which one of the outcomes is (nearly)
        missing among the rows where they are not zero.
        """
        present = self.X != 0
        ones = present.T @ self.successes
        zeros = present.T @ (self.trials - self.successes)
        return np.flatnonzero(np.minimum(ones, zeros) < FEW)


def probability(eta):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-eta))


def log_likelihood(eta, successes, trials):
    return successes * eta - trials * (np.maximum(eta, 0) + np.log(1 + np.exp(-np.abs(eta))))


def square_root(precision):
    """C with C C' = inverse of `precision`."""
    lower = np.linalg.cholesky(precision)
    return solve_triangular(lower, np.eye(len(lower)), lower=True).T


def importance_sampling(posterior, mode, rng, ess, df=30, batch=256, pilot=8, most=1600):
    """Weighted draws from a multivariate Student-t at the mode,
    or None if it does not cover the posterior.

    Returns
    -------
    draws, weights, khat, effective sizes of mean and squared deviation per coefficient
    """
    C = square_root(posterior.curvature(mode))
    d = len(mode)
    draws, log_ratio = [], []
    wanted = pilot
    while True:
        while len(draws) < wanted:
            z = rng.standard_normal((d, batch)) * np.sqrt(df / rng.chisquare(df, batch))
            theta = mode[:, None] + C @ z
            log_proposal = -(df + d) / 2 * np.log1p((z * z).sum(axis=0) / df)
            draws.append(theta)
            log_ratio.append(posterior.log_density(theta) - log_proposal)
        # takes minus the log ratio
        log_weights, khat = array_stats.psislw(-np.concatenate(log_ratio))
        theta = np.concatenate(draws, axis=1)
        weights = np.exp(log_weights - log_weights.max())
        weights /= weights.sum()
        deviation = theta - (theta @ weights)[:, None]
        sizes = [weighted_size(deviation, weights), weighted_size(deviation**2, weights)]
        reached = np.min(sizes)
        if khat < 0.5 and reached >= ess:
            return theta, weights, float(khat), *sizes
        needed = int(1.1 * ess / reached * len(draws)) + 1
        if khat >= 0.5 or needed > most:
            return None
        wanted = max(needed, len(draws) + 1)


def weighted_size(values, weights):
    """Number of independent draws that would estimate the mean of each row of `values` as well."""
    deviation = values - (values @ weights)[:, None]
    return (deviation**2 @ weights) / (deviation**2 @ weights**2)


def slice_update(posterior, theta, column, rows, rng):
    """Update one coefficient of all chains in place, given the others:
    slice sampling on its few rows.

    The bracket has a fixed width, a random place and is only shrunk, which needs no tuning to be
    exact.
    """
    x = posterior.X[rows, column, None]
    successes, trials = posterior.successes[rows, None], posterior.trials[rows, None]
    eta = posterior.X[rows] @ theta
    quadratic = posterior.precision[column, column]
    linear = posterior.shift[column] - posterior.precision[column] @ theta

    def log_density(t):
        return (
            linear * t
            - quadratic * t * t / 2
            + log_likelihood(eta + x * t, successes, trials).sum(axis=0)
        )

    chains = theta.shape[1]
    level = log_density(np.zeros(chains)) - rng.exponential(size=chains)
    width = 8 / np.sqrt(quadratic)
    low = -width * rng.random(chains)
    high = low + width
    t = np.zeros(chains)
    outside = np.ones(chains, dtype=bool)
    while outside.any():
        t = np.where(outside, low + (high - low) * rng.random(chains), t)
        outside &= log_density(t) < level
        low = np.where(outside & (t < 0), t, low)
        high = np.where(outside & (t > 0), t, high)
    theta[column] += t


def hamiltonian(posterior, mode, rng, ess, warmup=150, block=100, most=6000):
    """Draws (chain, draw, coefficient) by Hamiltonian Monte Carlo, all chains in one pass over the
    data per step.

    Coordinates are whitened at the mode.  Columns with few outcomes, whose posterior can be very
    long on one side, are whitened by a bound on the curvature instead, and moved far by exact slice
    updates.
    """
    few = posterior.few()
    few_rows = [np.flatnonzero(posterior.X[:, j]) for j in few]
    C = square_root(posterior.curvature(mode, few))
    theta = mode[:, None] + C @ rng.standard_normal((len(mode), CHAINS)) * 1.5
    log_step = np.log(0.5)
    kept = []
    while True:
        for j, rows in zip(few, few_rows):
            slice_update(posterior, theta, j, rows, rng)
        path = np.pi / 2 * rng.uniform(0.7, 1.3)
        leaps = int(np.ceil(path / np.exp(log_step)))
        theta, acceptance = hmc_step(posterior, theta, C, path / leaps, leaps, rng)
        warmup -= 1
        if warmup >= 0:
            log_step += 0.1 * (acceptance - 0.85)
            continue
        kept.append(theta.T.copy())
        if len(kept) % block == 0:
            draws = np.stack(kept, axis=1)
            sizes = chain_sizes(draws)
            if np.min(sizes) >= ess:
                return draws, *sizes
            if len(kept) >= most:
                raise RuntimeError(
                    f"Only {np.min(sizes):.0f} effective draws after {most} iterations"
                )


def hmc_step(posterior, theta, C, step, leaps, rng):
    """One Metropolis-adjusted trajectory of every chain;
    the new state and the mean acceptance probability.
    """
    momentum = rng.standard_normal(theta.shape)
    before = posterior.log_density(theta) - (momentum**2).sum(axis=0) / 2
    end = theta
    momentum = momentum + step / 2 * C.T @ posterior.gradient(end)
    for leap in range(leaps):
        end = end + step * C @ momentum
        kick = step if leap < leaps - 1 else step / 2
        momentum += kick * C.T @ posterior.gradient(end)
    after = posterior.log_density(end) - (momentum**2).sum(axis=0) / 2
    log_ratio = np.minimum(after - before, 0)
    accept = np.log(rng.random(len(log_ratio))) < log_ratio
    return np.where(accept, end, theta), np.exp(log_ratio).mean()


def chain_sizes(draws):
    """Effective sizes, per coefficient, of the mean and of the squared deviation."""
    deviation = draws - draws.mean(axis=(0, 1))
    return [
        np.array([array_stats.ess(values[:, :, j], method="mean") for j in range(draws.shape[2])])
        for values in (deviation, deviation**2)
    ]


def reference(
    X, y, prior_mean, prior_sd, *, seed, centred=False, method=None, is_ess=20_000, hmc_ess=20_000
):
    """Posterior mean, sd and skewness of every coefficient, with known Monte Carlo error.

    Importance sampling where it is reliable (Pareto k-hat below 0.5), else Hamiltonian Monte Carlo.

    Parameters
    ----------
    X, y, prior_mean, prior_sd, centred
        As for `Posterior`.
    seed : int
        Seed of the random numbers.
    method : {"is", "hmc"}, optional
        Insist on one method.
    is_ess, hmc_ess : float
        Effective draws that each coefficient must reach, for its mean and for its squared
        deviation.

    Returns
    -------
    dict
        mean, sd, skew, ess_mean, ess_sd (squared deviation), mcse (of the mean), mode, laplace_sd:
        one number per coefficient; intercept_centred: mean and sd; method, khat, rhat (largest),
        merged_rows.
    """
    rng = np.random.default_rng(seed)
    posterior = Posterior(X, y, prior_mean, prior_sd, centred)
    mode = posterior.mode()
    laplace_sd = np.sqrt(np.diag(np.linalg.inv(posterior.curvature(mode))))
    weighted = importance_sampling(posterior, mode, rng, is_ess) if method != "hmc" else None
    if weighted is not None:
        method, rhat = "is", np.nan
        theta, weights, khat, ess_mean, ess_sd = weighted
    elif method == "is":
        raise RuntimeError("Importance sampling does not cover this posterior")
    else:
        method, khat = "hmc", np.nan
        draws, ess_mean, ess_sd = hamiltonian(posterior, mode, rng, hmc_ess)
        rhat = max(array_stats.rhat(draws[:, :, j]) for j in range(len(mode)))
        theta = draws.reshape(-1, len(mode)).T
        weights = np.full(theta.shape[1], 1 / theta.shape[1])
    mean, sd, skew = moments(theta, weights)
    intercept_centred = np.ravel(moments(posterior.to_prior[:1] @ theta, weights)[:2])
    return dict(
        mean=mean, sd=sd, skew=skew, ess_mean=ess_mean, ess_sd=ess_sd, mcse=sd / np.sqrt(ess_mean),
        mode=mode, laplace_sd=laplace_sd, intercept_centred=intercept_centred,
        method=method, khat=khat, rhat=rhat, merged_rows=len(posterior.X),
    )  # fmt: skip


def moments(values, weights):
    """Mean, standard deviation and skewness of each row."""
    mean = values @ weights
    deviation = values - mean[:, None]
    sd = np.sqrt(deviation**2 @ weights)
    return mean, sd, deviation**3 @ weights / sd**3


def default_prior(X):
    """Means and sds of sgmc's default prior for `X` with the intercept first;
    to be used with ``centred=True``.
    """
    numbers = X[:, 1:]
    zero_one = ((numbers == 0) | (numbers == 1)).all(axis=0)
    scale = np.where(zero_one, 1.0, numbers.std(axis=0, ddof=1))
    return np.zeros(X.shape[1]), np.concatenate([[2.5], 2.5 / scale])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="folder for the .npz files")
    parser.add_argument(
        "--case", nargs="+", choices=list(cases()), default=list(cases()), help="default: all"
    )
    parser.add_argument("--method", choices=["is", "hmc"])
    parser.add_argument("--seed", type=int, default=20_240_901)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.case:
        X, y, names = cases()[name]()
        start = time.perf_counter()
        result = reference(
            X, y, *default_prior(X), seed=args.seed, centred=True, method=args.method
        )
        seconds = time.perf_counter() - start
        np.savez(args.out / f"{name}.npz", names=names, **result)
        report(name, X.shape, result, seconds)


def report(name, shape, result, seconds):
    """One line on a case."""
    ratio = result["laplace_sd"] / result["sd"]
    shift = np.abs(result["mode"] - result["mean"]) / result["sd"]
    print(
        f"{name}: n={shape[0]} d={shape[1]} merged={result['merged_rows']} "
        f"method={result['method']} khat={result['khat']:.2f} rhat={result['rhat']:.4f} min ESS "
        f"mean={result['ess_mean'].min():.0f} sd={result['ess_sd'].min():.0f} "
        f"seconds={seconds:.1f} max|mode-mean|/sd={shift.max():.3f} "
        f"laplace_sd/sd={ratio.min():.3f}..{ratio.max():.3f} "
        f"max|skew|={np.abs(result['skew']).max():.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
