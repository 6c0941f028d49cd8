"""Rare outcomes and separation: random tables of several factors and 0/1 columns.

Two parts.  The first fits random tables with few draws, under every binary family and several
priors, and counts exceptions, verdicts and seconds.  The second compares default fits with long
runs of a sampler of its own, Hamiltonian Monte Carlo of many chains in numpy over the cells of the
table, which shares no code with the package: Means within 0.1 posterior sd and sds within 5 %
beyond the Monte Carlo error of both, else a wrong fit; a wrong one that is trusted is a defect.

    python benchmarks/separated.py [fast|full] [--first K] [--last K]
"""

import argparse
import time
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import patsy
from scipy import special

import sgmc

FAMILIES = ("logit", "probit", "cloglog", "loglog", "cauchit")
PRIORS = {
    "default": None,
    "normal(0, 2.5)": sgmc.normal(0, 2.5),
    "normal(0, 50)": sgmc.normal(0, 50),
    "student_t(4, 0, 2.5)": sgmc.student_t(4, 0, 2.5),
    "laplace(2.5)": sgmc.laplace(2.5),
    "cauchy": "cauchy",
}
SIZES = {"fast": (100, 6), "full": (2000, 40)}
MEAN_OFF, SD_OFF = 0.1, 0.05  # posterior sds; relative
CHAINS, WARMUP, WINDOW = 40, 300, 100
PATH, MOST_LEAPS = 2.0, 200  # length of a path in posterior sds, and steps of it at most
EXACT_TO, LONGEST = 0.01, 150_000  # Monte Carlo error in sds; leaps of all chains at most


# ---- random tables -------------------------------------------------------------------------------


def table(number, largest=10_000):
    """A formula and a data frame of two to six factors and 0/1 columns with rare outcomes."""
    rng = np.random.default_rng([7, number])
    n = int(np.exp(rng.uniform(np.log(20), np.log(largest))))
    columns, eta = {}, np.zeros(n)
    for k in range(rng.integers(2, 7)):
        levels = int(rng.choice([2, 2, 3, 5, 8, 16]))
        shares = rng.dirichlet(np.full(levels, 1.5))
        codes = rng.choice(levels, n, p=shares)
        eta += rng.normal(0, 0.7, levels)[codes]
        columns[f"x{k}"] = (
            codes if levels == 2 and rng.random() < 0.6 else np.char.add("l", codes.astype(str))
        )
    rate = np.exp(rng.uniform(np.log(0.001), np.log(0.2)))
    eta += special.logit(rate) - eta.mean()
    y = (rng.random(n) < special.expit(eta)).astype(int)
    if rng.random() < 0.15:
        y = 1 - y
    if y.min() == y.max():
        y[rng.integers(n)] = 1 - y[0]
    frame = pd.DataFrame({**columns, "y": y})
    return "y ~ " + " + ".join(columns), frame


def setting(number):
    """The family and the prior of a table."""
    return FAMILIES[number % 5], list(PRIORS)[number // 5 % len(PRIORS)]


# ---- the long run --------------------------------------------------------------------------------


def outcomes(family, eta):
    """log p and log(1 - p) and their derivatives."""
    match family:
        case "logit":
            up, down = -np.logaddexp(0, -eta), -np.logaddexp(0, eta)
            return up, down, special.expit(-eta), -special.expit(eta)
        case "probit":
            up, down = special.log_ndtr(eta), special.log_ndtr(-eta)
            density = -0.5 * eta**2 - 0.5 * np.log(2 * np.pi)
            return up, down, np.exp(density - up), -np.exp(density - down)
        case "cloglog":
            mu = np.exp(np.minimum(eta, 300.0))
            small = mu < 1e-8
            up = np.where(small, eta, np.log(-np.expm1(-np.where(small, 1.0, mu))))
            return up, -mu, np.where(small, 1.0, mu / np.expm1(np.minimum(mu, 700.0))), -mu
        case "loglog":
            down, up, less, more = outcomes("cloglog", -eta)
            return up, down, -more, -less
        case "cauchit":
            p, q = np.arctan2(1.0, -eta) / np.pi, np.arctan2(1.0, eta) / np.pi
            slope = 1 / (np.pi * (1 + eta**2))
            return np.log(p), np.log(q), slope / p, -slope / q


def log_prior(spec, b):
    """Log density of a prior and its derivative."""
    e = (b - spec.location) / spec.scale
    match spec.family:
        case "normal":
            return -0.5 * e**2, -e / spec.scale
        case "student_t":
            falls = (spec.df + 1) * e / (spec.df + e**2) / spec.scale
            return -0.5 * (spec.df + 1) * np.log1p(e**2 / spec.df), -falls
        case "laplace":
            return -np.abs(e), -np.sign(e) / spec.scale


class Posterior:
    """Of the cells of a table: theta as the package reports it, the intercept first.

    Parameters
    ----------
    X : array (n, d)
    y : array (n,)
    family : str
    priors : list of PriorSpec
        The intercept's speaks of centred predictors.
    """

    def __init__(self, X, y, family, priors):
        self.X, place = np.unique(X, axis=0, return_inverse=True)
        self.up = np.bincount(place.ravel(), y)
        self.down = np.bincount(place.ravel(), 1 - y)
        self.family, self.priors = family, priors
        self.rows = np.eye(X.shape[1])
        self.rows[0] = X.mean(axis=0)

    def __call__(self, theta):
        """Log densities (m,) and gradients (m, d) at points (m, d)."""
        up, down, rise, fall = outcomes(self.family, theta @ self.X.T)
        with np.errstate(invalid="ignore"):  # no outcomes where the density is 0
            value = np.where(self.up > 0, self.up * up, 0).sum(axis=1)
            value += np.where(self.down > 0, self.down * down, 0).sum(axis=1)
            score = np.where(self.up > 0, self.up * rise, 0)
            score += np.where(self.down > 0, self.down * fall, 0)
        own = theta @ self.rows.T
        parts = [log_prior(spec, own[:, j]) for j, spec in enumerate(self.priors)]
        value += sum(part[0] for part in parts)
        slopes = np.column_stack([part[1] for part in parts])
        return value, score @ self.X + slopes @ self.rows


def long_run(posterior, start, root, seed=0, longest=LONGEST):
    """Draws (draws, CHAINS, d) by Hamiltonian Monte Carlo whose metric is the covariance of all
    chains, until all means are exact to EXACT_TO sds.
    """
    rng = np.random.default_rng(seed)
    d = len(start)
    theta = start + rng.normal(size=(CHAINS, d)) @ root.T
    value, slope = posterior(theta)
    step, kept, spent, k = 0.3, [], 0, 0
    while True:
        momentum = rng.normal(size=theta.shape)
        energy = value - 0.5 * (momentum**2).sum(axis=1)
        place, grad, h = theta, slope, step * rng.uniform(0.5, 1.0, (CHAINS, 1))
        leaps = int(np.clip(PATH / step, 3, MOST_LEAPS))
        with np.errstate(all="ignore"):
            momentum = momentum + 0.5 * h * (grad @ root)
            for leap in range(leaps):
                place = place + h * (momentum @ root.T)
                ahead, grad = posterior(place)
                momentum = momentum + (h if leap < leaps - 1 else 0.5 * h) * (grad @ root)
            gain = np.nan_to_num(ahead - 0.5 * (momentum**2).sum(axis=1) - energy, nan=-np.inf)
        taken = np.log(rng.uniform(size=CHAINS)) < gain
        theta = np.where(taken[:, None], place, theta)
        slope = np.where(taken[:, None], grad, slope)
        value = np.where(taken, ahead, value)
        k, spent = k + 1, spent + leaps
        if k <= WARMUP:
            age = (k - 1) % WINDOW
            step *= np.exp((np.exp(np.minimum(gain, 0)).mean() - 0.85) / np.sqrt(1 + age))
            if age == WINDOW - 1:
                root = np.linalg.cholesky(np.cov(theta.T) + 1e-10 * np.eye(d))
            continue
        kept.append(theta)
        if len(kept) % WINDOW == 0:
            draws = np.array(kept)
            _, sd, error, _ = moments(draws)
            if (error / sd).max() < EXACT_TO or spent > longest:
                return draws


def moments(draws):
    """Means, sds, and Monte Carlo errors of both, from independent chains (draws, chains, d)."""
    mean, square = draws.mean(axis=0), (draws - draws.mean(axis=(0, 1))) ** 2
    sd = np.sqrt(square.mean(axis=(0, 1)))
    error = mean.std(axis=0, ddof=1) / np.sqrt(len(mean))
    of_square = square.mean(axis=0).std(axis=0, ddof=1) / np.sqrt(len(mean))
    return mean.mean(axis=0), sd, error, of_square / (2 * sd)


# ---- the two parts -------------------------------------------------------------------------------


def trusted(results):
    """Whether the verdict is."""
    return "Verdict: trustworthy" in str(results.summary())


def absurd(results):
    """Whether draws are not finite, or so far out that the prior has no such mass."""
    draws = np.asarray(results.draws).reshape(-1, len(results.priors.used))
    far = {"normal": 10.0, "laplace": 40.0}  # in scales; of heavy tails nothing can be said
    return not np.isfinite(draws).all() or any(
        (np.abs(draws[:, j] - spec.location) > far.get(spec.family, np.inf) * spec.scale).any()
        for j, spec in enumerate(results.priors.used)
        if j  # the intercept's speaks of centred predictors
    )


def outcome(number):
    """Family, prior, what became of a fit with few draws, and its seconds."""
    formula, frame = table(number)
    family, prior = setting(number)
    begun = time.perf_counter()
    try:
        results = getattr(sgmc, family)(
            formula, frame, prior=PRIORS[prior], seed=1, draws=50, warmup=50, chains=1
        )
        came = "absurd" if absurd(results) else "trusted" if trusted(results) else "refused"
    except Exception as error:
        came = type(error).__name__
        print(f"table {number} ({family}, {prior}, n={len(frame)}): {error!r}"[:300], flush=True)
    return family, prior, came, time.perf_counter() - begun


def exceptions(numbers):
    """Fit tables with few draws: counts of outcomes by family and prior, and the seconds."""
    found = []
    for number in numbers:
        found.append(outcome(number))
        if len(found) % 25 == 0:
            print(f"{len(found)} tables: {dict(Counter(one[2] for one in found))}", flush=True)
    found = pd.DataFrame(found, columns=["family", "prior", "came", "seconds"])
    for what in ("family", "prior"):
        print(pd.crosstab(found[what], found.came))
    took = found.seconds.quantile((0.5, 0.95, 1.0)).to_numpy()
    print(f"seconds: median {took[0]:.2f}, 95 % {took[1]:.2f}, most {took[2]:.1f}")


def compared(number):
    """The verdict of a default fit and its largest errors beyond Monte Carlo error."""
    formula, frame = table(10_000 + number, largest=2000)
    family, prior = setting(number)
    if prior == "cauchy":  # moments are of no use there
        prior = "student_t(4, 0, 2.5)"
    begun = time.perf_counter()
    results = getattr(sgmc, family)(formula, frame, prior=PRIORS[prior], seed=1)
    took = time.perf_counter() - begun
    y, X = (np.asarray(part) for part in patsy.dmatrices(formula, frame))
    y = y[:, -1]
    posterior = Posterior(X, y, family, results.priors.used)
    draws = np.asarray(results.draws).reshape(-1, X.shape[1])
    start, root = draws.mean(axis=0), np.linalg.cholesky(np.cov(draws.T))
    mean, sd, error, sd_error = moments(long_run(posterior, start, root))
    ess = np.maximum(np.asarray(results.ess()), 1.0)
    ours, spread = draws.mean(axis=0), draws.std(axis=0)
    own = np.sqrt((((draws - ours) / spread) ** 4).mean(axis=0) / 4 / ess)  # of the sds
    off, wide = np.abs(ours - mean) / sd, np.abs(spread / sd - 1)
    mean_ok = off < MEAN_OFF + 3 * np.hypot(error / sd, 1 / np.sqrt(ess))
    sd_ok = wide < SD_OFF + 3 * np.hypot(sd_error / sd, own)
    exact = (error / sd).max() < 3 * EXACT_TO  # else chains of the reference have not met
    right = bool(mean_ok.all() and sd_ok.all())
    word = "" if right else "WRONG" if exact else "reference too short"
    print(
        f"{number:3d} {family:8s}{prior:21s}n={len(frame):5d} d={X.shape[1]:3d} "
        f"events={int(y.sum()):4d} {took:5.1f} s {type(results.sampler).__name__:7s} "
        f"{'trusted' if trusted(results) else 'refused':8s} mean {off.max():.2f} "
        f"sd {wide.max():.2f} ess {ess.min():5.0f} reference +-{(error / sd).max():.3f}, sd "
        f"+-{(sd_error / sd).max():.3f} {word}",
        flush=True,
    )
    return trusted(results), right or not exact, off.max(), wide.max()


def main():
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", nargs="?", default="fast", choices=SIZES)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int)
    parser.add_argument("--part", choices=("exceptions", "compared", "both"), default="both")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    many, few = SIZES[given.size]
    if given.part != "compared":
        exceptions(range(given.first, many if given.last is None else given.last))
    if given.part != "exceptions":
        found = [compared(k) for k in range(given.first, few if given.last is None else given.last)]
        trust = np.array([one[0] for one in found])
        right = np.array([one[1] for one in found])
        print(
            f"trusted {trust.sum()} of {len(trust)}; wrong {(~right).sum()}, of these trusted: "
            f"{(trust & ~right).sum()}"
        )


if __name__ == "__main__":
    main()
