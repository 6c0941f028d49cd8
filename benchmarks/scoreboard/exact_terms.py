"""Exact answers of models with smooths and structured effects: no code of sgmc.

With normal outcomes all coefficients and effects are integrated out in closed form.  Otherwise the
sd of the one term is on a grid, and at each of its points the coefficients and effects are drawn by
importance sampling around their mode, which gives the density of that sd as well.
"""

import numpy as np
from exact_linear import conditional
from exact_sampling import BATCHES, pareto_shape
from scipy import special

POINTS, DEEP = 41, 14.0  # of the grid; it ends where the log density is so far below its largest
MASS = 0.01  # of the density, relative to its largest: points below are not asked for their shape


def whole(problem):
    """The design matrix of coefficients and effects."""
    return np.concatenate([problem.X, *(one.rows() for one in problem.bases)], axis=1)


class Penalised:
    """Normal outcomes; phi = log sds of the terms, log sigma."""

    def __init__(self, problem):
        self.prior, self.d, W = problem.prior, problem.X.shape[1], whole(problem)
        self.n, self.WW, self.Wy = len(W), W.T @ W, W.T @ problem.y
        self.yy = problem.y @ problem.y
        self.sizes = [one.Z.shape[1] for one in problem.bases]
        self.numbers = np.concatenate([np.eye(self.d, W.shape[1]), problem.values])

    def scales(self, phi):
        """Sds, sigma."""
        return np.exp(phi)

    def at(self, phi):
        """(log density of phi, conditional means and variances of coefficients and values)."""
        *sds, sigma = np.exp(phi)
        spread = np.r_[[self.prior["coef"]] * self.d, np.repeat(sds, self.sizes)]
        precision = self.WW / sigma**2 + np.diag(spread**-2.0)
        inverse = np.linalg.inv(precision)
        mean = inverse @ self.Wy / sigma**2
        value = -self.n * phi[-1] - np.log(spread).sum() - np.linalg.slogdet(precision)[1] / 2
        value -= (self.yy - self.Wy @ mean) / sigma**2 / 2
        value += phi.sum() - np.square(sigma / self.prior["sigma"]) / 2
        value -= np.square(np.array(sds) / self.prior["sd"]).sum() / 2
        variance = np.einsum("ia,ab,ib->i", self.numbers, inverse, self.numbers)
        return value, self.numbers @ mean, variance


def normal(problem, draws):
    """Of normal outcomes."""
    return conditional(Penalised(problem), np.full(len(problem.terms) + 1, -0.5), draws)


class Counted:
    """Coins or counts, given the sd of the one term."""

    def __init__(self, problem):
        self.problem, self.W, self.coins = problem, whole(problem), problem.family == "logit"
        self.d, self.offset = problem.X.shape[1], np.zeros(len(self.W)) + problem.offset
        self.numbers = np.concatenate([np.eye(self.d, self.W.shape[1]), problem.values])

    def precision(self, sd):
        """Of the prior."""
        spread = np.full(self.W.shape[1], float(sd))
        spread[: self.d] = self.problem.prior["coef"]
        return spread**-2.0

    def mode(self, sd, start):
        """Mode and curvature by Newton's method."""
        theta, precision = start, self.precision(sd)
        for _ in range(100):
            eta = self.W @ theta + self.offset
            mean = special.expit(eta) if self.coins else np.exp(eta)
            weight = mean * (1 - mean) if self.coins else mean
            curvature = self.W.T @ (weight[:, None] * self.W) + np.diag(precision)
            step = self.W.T @ (self.problem.y - mean) - precision * theta
            step = np.linalg.solve(curvature, step)
            theta = theta + step
            if step @ curvature @ step < 1e-16:
                return theta, curvature
        raise RuntimeError("Newton's method did not end")

    def log_density(self, theta, sd):
        """Of columns of theta and of log sd, but for a constant."""
        eta, y = self.W @ theta + self.offset[:, None], self.problem.y[:, None]
        rows = y * eta - (np.logaddexp(0, eta) if self.coins else np.exp(eta))
        precision = self.precision(sd)
        prior = np.log(precision).sum() / 2 - precision @ np.square(theta) / 2
        return rows.sum(axis=0) + prior + np.log(sd) - np.square(sd / self.problem.prior["sd"]) / 2


def laplace(model, sd, start):
    """(log density of log sd, mode, curvature) by Laplace's method."""
    mode, curvature = model.mode(sd, start)
    value = model.log_density(mode[:, None], sd)[0] - np.linalg.slogdet(curvature)[1] / 2
    return value, mode, curvature


def grid(model):
    """Even steps of log sd over where its density is."""
    rough, start, values = np.linspace(-5, 2.5, 60), np.zeros(model.W.shape[1]), []
    for one in rough[::-1]:
        value, start, _ = laplace(model, np.exp(one), start)
        values.append(value)
    high = np.array(values[::-1]) > max(values) - DEEP
    return np.linspace(rough[high].min() - 0.15, rough[high].max() + 0.15, POINTS)


def counted(problem, draws, seed=0):
    """Of coins and counts with one term, draws by pairs."""
    model, rng = Counted(problem), np.random.default_rng(seed)
    start, sums, shapes = np.zeros(model.W.shape[1]), [], []
    phis, size = grid(model), -(-draws // (2 * POINTS * BATCHES))
    for phi in phis[::-1]:
        sd = np.exp(phi)
        base, start, curvature = laplace(model, sd, start)
        shift = np.linalg.inv(np.linalg.cholesky(curvature)).T
        covariance = model.numbers @ np.linalg.inv(curvature) @ model.numbers.T
        centre, ratios, moves = model.numbers @ start, [], []
        for _ in range(BATCHES):
            z = rng.standard_normal((len(start), size))
            move = shift @ z
            both = np.concatenate([start[:, None] + move, start[:, None] - move], axis=1)
            value = model.log_density(both, sd) - np.linalg.slogdet(curvature)[1] / 2
            ratios.append(np.stack(np.split(value, 2)) + np.square(z).sum(axis=0) / 2 - base)
            moves.append(model.numbers @ move)
        shapes.append(pareto_shape(np.concatenate(ratios, axis=1).ravel()))
        each = []
        for ratio, move in zip(ratios, moves):  # the law of the draws is known: only departures add
            w = np.exp(ratio)
            first = move @ (w[0] - w[1]) / (2 * size)
            second = np.square(move) @ (w.sum(axis=0) - 2) / (2 * size) + np.diag(covariance)
            second = second + 2 * centre * first + centre**2 * w.mean()
            each.append(
                np.stack([first + centre * w.mean(), second, np.full(len(first), w.mean())])
            )
        sums.append((base, sd, np.array(each)))
    top = max(base for base, _, _ in sums)
    weight = np.array([np.exp(base - top) for base, _, _ in sums])
    sds, each = np.array([sd for _, sd, _ in sums]), np.array([found for _, _, found in sums])

    def answer(batches):
        total = np.einsum("g,gbkj->kj", weight, each[:, batches])
        mean, square = total[0] / total[2], total[1] / total[2]
        at = weight * each[:, batches, 2, 0].sum(axis=1)
        at = at / at.sum()
        sd = at @ sds
        mean = np.insert(mean, model.d, sd)
        square = np.insert(square, model.d, at @ np.square(sds))
        return np.stack([mean, np.sqrt(square - mean**2)])

    mean, spread = answer(np.arange(BATCHES))
    parts = np.array([answer([b]) for b in range(BATCHES)])
    error = parts.std(axis=0, ddof=1) / np.sqrt(BATCHES) / spread
    shape = max(one for one, w in zip(shapes, weight) if w > MASS)
    if not shape < 0.5:
        raise RuntimeError(f"the proposals do not cover the posterior: Pareto shape {shape:.2f}")
    return mean, spread, *error, shape
