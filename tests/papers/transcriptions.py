"""The papers' algorithms in plain numpy, written from their text alone.

Each moves walkers (w, d) by one step: ``move(x, memory, rows, rng)`` returns the new positions and
memory.  ``rows`` is a `Rows`: gradients of a logistic regression with a normal prior.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit


@dataclass
class Rows:
    """The posterior of a logistic regression, and mini-batches of its rows.

    ``factor`` multiplies the sum over a batch (planted: other than 1), ``shrink`` the prior's part.
    """

    X: np.ndarray
    y: np.ndarray
    sd: float  # of the normal prior
    n: int
    factor: float = 1.0
    shrink: float = 1.0

    def log_posterior(self, x):
        """Up to a constant, (w,)."""
        eta = x @ self.X.T
        prior = (x**2).sum(axis=1) / (2 * self.sd**2)
        return (self.y * eta - np.logaddexp(0, eta)).sum(axis=1) - self.shrink * prior

    def whole(self, x):
        """Gradient by all rows, (w, d)."""
        return (self.y - expit(x @ self.X.T)) @ self.X - self.shrink * x / self.sd**2

    def drawn(self, x, rng):
        """Gradients of the likelihood's terms of n rows without replacement, (w, n, d)."""
        some = np.argpartition(rng.random((len(x), len(self.y))), self.n, axis=1)[:, : self.n]
        eta = np.einsum("wnd,wd->wn", self.X[some], x)
        return (self.y[some] - expit(eta))[:, :, None] * self.X[some], some

    def estimate(self, x, rng):
        """N/n times the batch's sum and the prior's part, and the sd of that estimate."""
        terms, _ = self.drawn(x, rng)
        N = len(self.y)
        spread = terms.std(axis=1, ddof=1) * N / np.sqrt(self.n) * np.sqrt(1 - self.n / N)
        total = self.factor * N / self.n * terms.sum(axis=1)
        return total - self.shrink * x / self.sd**2, spread

    def noise_covariance(self, x, rng):
        """The estimate, and the covariance of its noise, (w, d, d)."""
        terms, _ = self.drawn(x, rng)
        N = len(self.y)
        off = terms - terms.mean(axis=1, keepdims=True)
        C = np.einsum("wni,wnj->wij", off, off) / (self.n - 1)
        total = self.factor * N / self.n * terms.sum(axis=1)
        return total - self.shrink * x / self.sd**2, C * N**2 / self.n * (1 - self.n / N)

    def controlled(self, x, mode, rng):
        """Sum of all terms at the mode, and N/n times the batch's differences from there."""
        _, some = self.drawn(x, rng)
        there = self.y - expit(self.X @ mode)
        here = self.y[some] - expit(np.einsum("wnd,wd->wn", self.X[some], x))
        moved = ((here - there[some])[:, :, None] * self.X[some]).sum(axis=1)
        total = there @ self.X + self.factor * len(self.y) / self.n * moved
        return total - self.shrink * x / self.sd**2


# ---- Langevin ------------------------------------------------------------------------------------


def sgld(x, memory, rows, rng, h, noise=1.0):
    """Welling & Teh, eq. 4."""
    g, _ = rows.estimate(x, rng)
    return x + h / 2 * g + noise * np.sqrt(h) * rng.normal(size=x.shape), memory


def sgld_cv(x, memory, rows, rng, h, noise=1.0):
    """Nemeth & Fearnhead, section 2.3; memory is the mode."""
    g = rows.controlled(x, memory, rng)
    return x + h / 2 * g + noise * np.sqrt(h) * rng.normal(size=x.shape), memory


def csgld(x, memory, rows, rng, h, noise=1.0, beta=0.1):
    """Mauri & Zanella, Algorithm 7; memory is the running sd, and h their h squared."""
    g, sd = rows.estimate(x, rng)
    tau = sd if memory is None else (1 - beta) * memory + beta * sd
    injected = np.sqrt(np.maximum(h - tau**2 * h**2 / 4, 0))
    return x + h / 2 * g + noise * injected * rng.normal(size=x.shape), tau


def msgld(x, memory, rows, rng, h, noise=1.0, beta=0.1):
    """Mauri & Zanella, Algorithm 6; the covariance is a running mean, as tau of Algorithm 7."""
    g, C = rows.noise_covariance(x, rng)
    C = C if memory is None else (1 - beta) * memory + beta * C
    values, vectors = np.linalg.eigh(C)
    kept = np.maximum(1 - h / 2 * values, 0)
    xi = np.einsum("wij,wj->wi", np.swapaxes(vectors, 1, 2), rng.normal(size=x.shape))
    injected = np.sqrt(h) * np.einsum("wij,wj->wi", vectors, kept * xi)
    return x + h / 2 * g + noise * injected, C


def ula(x, memory, rows, rng, h, noise=1.0):
    """Nemeth & Fearnhead, eq. 3."""
    return x + h / 2 * rows.whole(x) + noise * np.sqrt(h) * rng.normal(size=x.shape), memory


def mala(x, memory, rows, rng, h, noise=1.0):
    """The same, accepted or rejected (Nemeth & Fearnhead, section 2.2)."""
    there, _ = ula(x, memory, rows, rng, h, noise)
    forth = ((there - x - h / 2 * rows.whole(x)) ** 2).sum(axis=1)
    back = ((x - there - h / 2 * rows.whole(there)) ** 2).sum(axis=1)
    ratio = rows.log_posterior(there) - rows.log_posterior(x) + (forth - back) / (2 * h)
    taken = np.log(rng.random(len(x))) < ratio
    return np.where(taken[:, None], there, x), memory


# ---- Barker --------------------------------------------------------------------------------------


def increments(x, rng, sigma, noise):
    """z ~ N(sigma, (0.1 sigma)^2) of each coordinate."""
    return sigma * noise * (1 + 0.1 * rng.normal(size=x.shape))


def flipped(x, z, chance, rng):
    """x + b z, b = 1 with that chance, else -1."""
    return x + np.where(rng.random(x.shape) < chance, z, -z)


def vsgbd(x, memory, rows, rng, sigma, noise=1.0):
    """Mauri & Zanella, Algorithm 2."""
    g, _ = rows.estimate(x, rng)
    z = increments(x, rng, sigma, noise)
    return flipped(x, z, expit(z * g), rng), memory


def csgbd(x, memory, rows, rng, sigma, noise=1.0, beta=0.1):
    """Algorithm 3, with the extreme estimator beyond the breaking point."""
    g, sd = rows.estimate(x, rng)
    tau = sd if memory is None else (1 - beta) * memory + beta * sd
    z = increments(x, rng, sigma, noise)
    left = 1.702**2 - tau**2 * z**2
    alpha = 1.702 / np.sqrt(np.where(left > 0, left, 1))
    chance = np.where(left > 0, expit(z * alpha * g), z * g > 0)
    return flipped(x, z, chance, rng), tau


def esgbd(x, memory, rows, rng, sigma, noise=1.0):
    """Algorithm 4."""
    g, _ = rows.estimate(x, rng)
    z = increments(x, rng, sigma, noise)
    return flipped(x, z, z * g > 0, rng), memory


def barker(x, memory, rows, rng, sigma, noise=1.0):
    """Algorithm 1, with its Metropolis-Hastings step (Livingstone & Zanella 2022)."""
    g, z = rows.whole(x), increments(x, rng, sigma, noise)
    there = flipped(x, z, expit(z * g), rng)
    moved = there - x
    log_ratio = np.logaddexp(0, -moved * g) - np.logaddexp(0, moved * rows.whole(there))
    ratio = rows.log_posterior(there) - rows.log_posterior(x) + log_ratio.sum(axis=1)
    taken = np.log(rng.random(len(x))) < ratio
    return np.where(taken[:, None], there, x), memory


# ---- momentum ------------------------------------------------------------------------------------


def sghmc(x, memory, rows, rng, e, noise=1.0, C=2.0, leaps=5):
    """Chen, Fox & Guestrin, Algorithm 2, B-hat = 0: momenta anew, then drift and kick."""
    p = rng.normal(size=x.shape)
    for _ in range(leaps):
        x = x + e * p
        g, _ = rows.estimate(x, rng)
        p = (1 - e * C) * p + e * g + noise * np.sqrt(2 * e * C) * rng.normal(size=x.shape)
    return x, memory


def sghmc_euler(x, memory, rows, rng, e, noise=1.0, alpha=0.01, leaps=5):
    """The order of the MAMBA authors' software: both by the former values."""
    p = rng.normal(size=x.shape)
    for _ in range(leaps):
        g, _ = rows.estimate(x, rng)
        pushed = (1 - alpha) * p + e * g + noise * np.sqrt(2 * alpha) * rng.normal(size=x.shape)
        x, p = x + e * p, pushed
    return x, memory


def thermostat(x, memory, rows, rng, e, noise, A, shared):
    """Ding et al. 2014: kick, drift, and the friction's own step; memory is p and z."""
    p, z = (rng.normal(size=x.shape), np.full(x.shape, A)) if memory is None else memory
    g, _ = rows.estimate(x, rng)
    p = p + e * (g - z * p) + noise * np.sqrt(2 * e * A) * rng.normal(size=x.shape)
    heat = (p**2).mean(axis=1, keepdims=True) if shared else p**2
    return x + e * p, (p, z + e * (heat - 1))


def sgnht(x, memory, rows, rng, e, noise=1.0, A=1.0):
    """Nemeth & Fearnhead, table 1: one friction."""
    return thermostat(x, memory, rows, rng, e, noise, A, True)


def msgnht(x, memory, rows, rng, e, noise=1.0, A=1.0):
    """Pakman et al., section 7.1: a friction for each coordinate."""
    return thermostat(x, memory, rows, rng, e, noise, A, False)
