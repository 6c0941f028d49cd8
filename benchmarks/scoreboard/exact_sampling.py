"""Exact answers by importance sampling around the mode: no code of sgmc.

Pairs of opposite draws from a normal or Student t law at the mode are weighted by density ratios.
The law's own mean and covariance are known, so that only the weights' departure from equality adds
error.  The Monte Carlo error is that of 20 batches; the largest weights are looked at by the Pareto
shape (`arviz_stats`), which must be below 0.5.
"""

import numpy as np
from arviz_stats.base import array_stats
from scipy import optimize, sparse, special

ROWS, BATCHES = 4096, 20  # rows of a tile; batches for the Monte Carlo error


# ---- log densities of columns of theta (d, k) ----------------------------------------------------


def design(problem):
    """The design matrix, sparse where there are factors: ones, dummies, numbers."""
    X = problem.X
    if not problem.factors:
        return X
    parts = [sparse.csr_array(X[:, :1])]
    for factor in problem.factors:
        codes, size = problem.codes(factor)
        dummies = sparse.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)))
        parts.append(dummies[:, 1:size])
    return sparse.csr_array(sparse.hstack([*parts, X[:, 1:]]))


def normal_prior(theta, scale):
    """Independent normals, up to a constant."""
    return -np.square(theta / scale).sum(axis=0) / 2


def half_normal(x, scale):
    """Log density up to a constant, -inf below 0."""
    return np.where(x > 0, -np.square(x / scale) / 2, -np.inf)


def tiles(X, *columns):
    """Blocks of rows."""
    for start in range(0, X.shape[0], ROWS):
        rows = slice(start, start + ROWS)
        yield (X[rows], *(c[rows, None] for c in columns))


class Regression:
    """Coefficients, and beside them what the family has, in the parameters' own units."""

    def __init__(self, problem):
        self.problem, self.family, self.X = problem, problem.family, design(problem)
        self.offset = np.broadcast_to(problem.offset, len(problem.y)).astype(float)
        self.d = self.X.shape[1]

    def rows(self, eta, y, extra):
        """Log likelihoods of rows."""
        if self.family == "logit":
            return y * eta - np.maximum(eta, 0) - np.log1p(np.exp(-np.abs(eta)))
        if self.family == "poisson":
            return y * eta - np.exp(eta)
        if self.family == "negbin":  # variance mu + alpha mu^2
            size = 1 / extra[0]
            constant = special.gammaln(y + size) - special.gammaln(size)
            return constant + y * eta - y * np.log(size) - (y + size) * np.log1p(np.exp(eta) / size)
        sigma, df = extra
        constant = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - np.log(df) / 2
        z = (y - eta) / sigma
        return constant - np.log(sigma) - (df + 1) / 2 * np.log1p(z * z / df)

    def log_prior(self, theta):
        """Of all parameters."""
        prior, extra = self.problem.prior, theta[self.d :]
        value = normal_prior(theta[: self.d], prior["coef"])
        if self.family == "negbin":
            value = value + half_normal(extra[0], prior["alpha"])
        if self.family == "studentt":  # df: gamma(2, rate 0.1)
            df = np.where(extra[1] > 0, extra[1], 1.0)
            value = value + half_normal(extra[0], prior["sigma"]) + np.log(df) - 0.1 * df
            value = np.where(extra[1] > 0, value, -np.inf)
        return value

    def __call__(self, theta):
        """Log density up to a constant."""
        value = self.log_prior(theta)
        good = np.isfinite(value)
        theta, total = theta[:, good], 0.0
        for X, y, offset in tiles(self.X, self.problem.y, self.offset):
            eta = X @ theta[: self.d] + offset
            total = total + self.rows(eta, y, theta[self.d :]).sum(axis=0)
        value[good] += total
        return value


def newton(regression):
    """Mode and curvature of a logit or poisson regression."""
    X, y, scale = regression.X, regression.problem.y, regression.problem.prior["coef"]
    theta = np.zeros(regression.d)
    theta[0] = np.log(y.mean() / (1 - y.mean() if regression.family == "logit" else 1))
    for _ in range(50):
        eta = X @ theta + regression.offset
        mean = special.expit(eta) if regression.family == "logit" else np.exp(eta)
        weight = mean * (1 - mean) if regression.family == "logit" else mean
        scaled = sparse.diags_array(weight) @ X if sparse.issparse(X) else weight[:, None] * X
        curvature = X.T @ scaled
        curvature = curvature.toarray() if sparse.issparse(curvature) else curvature
        curvature = curvature + np.eye(regression.d) / scale**2
        step = np.linalg.solve(curvature, X.T @ (y - mean) - theta / scale**2)
        theta = theta + step
        if step @ curvature @ step < 1e-14:
            return theta, curvature
    raise RuntimeError("Newton's method did not end")


def differences(log_density, start, scales, search=True, steps=4):
    """Mode and curvature of a density of few parameters by finite differences, taken together in
    one call; `scales` are about the posterior sds, and Newton's steps begin where a simplex search
    ended, if there is one.
    """
    d = len(start)
    pairs = [(i, j) for i in range(d) for j in range(i)]

    def at(theta):
        unit = np.eye(d) * 0.05
        moves = [*unit, *-unit]
        moves += [a * unit[i] + b * unit[j] for i, j in pairs for a in (1, -1) for b in (1, -1)]
        points = theta[:, None] + (scales * np.array([np.zeros(d), *moves])).T
        value = log_density(points)
        plus, minus = value[1 : d + 1], value[d + 1 : 2 * d + 1]
        gradient = (plus - minus) / 0.1
        hessian = np.diag((plus + minus - 2 * value[0]) / 0.05**2)
        for (i, j), four in zip(pairs, value[2 * d + 1 :].reshape(-1, 4)):
            hessian[i, j] = hessian[j, i] = (four[0] - four[1] - four[2] + four[3]) / 0.1**2
        return gradient, -hessian

    def negative(theta):
        value = log_density((theta * scales)[:, None])[0]
        return -value if np.isfinite(value) else 1e300

    theta = np.array(start, float)
    if search:
        found = optimize.minimize(negative, theta / scales, method="Nelder-Mead", options=SEARCH)
        theta = found.x * scales
    for _ in range(steps):
        gradient, curvature = at(theta)
        theta = theta + scales * np.linalg.solve(curvature, gradient)
    return theta, curvature / np.outer(scales, scales)


SEARCH = {"maxiter": 4000, "xatol": 1e-2, "fatol": 1e-3, "adaptive": True}


# ---- the sampler ---------------------------------------------------------------------------------


def importance(log_density, mode, curvature, draws, df=None, seed=0, batch=100):
    """Means and sds of the parameters with their Monte Carlo errors, and the Pareto shape.

    Parameters
    ----------
    log_density : callable
        Of columns of parameters (d, k).
    df : float, optional
        Degrees of freedom of the proposal; None is normal.
    """
    rng, d = np.random.default_rng(seed), len(mode)
    root = np.linalg.inv(np.linalg.cholesky(curvature)).T
    covariance = root @ root.T * (1.0 if df is None else df / (df - 2))
    moves, ratios = [], []
    for _ in range(-(-draws // (2 * batch))):
        z = rng.standard_normal((d, batch))
        if df is not None:
            z = z * np.sqrt(df / rng.chisquare(df, batch))
        square = np.square(z).sum(axis=0)
        proposal = -square / 2 if df is None else -(df + d) / 2 * np.log1p(square / df)
        move = root @ z
        both = np.concatenate([mode[:, None] + move, mode[:, None] - move], axis=1)
        ratios.append(np.stack(np.split(log_density(both), 2)) - proposal)
        moves.append(move)
    moves, ratios = np.concatenate(moves, axis=1), np.concatenate(ratios, axis=1)
    shape = pareto_shape(ratios.ravel())
    if not shape < 0.5:
        raise RuntimeError(f"the proposal does not cover the posterior: Pareto shape {shape:.2f}")
    weights = np.exp(ratios - ratios.max())
    whole = moments(moves, weights, covariance)
    parts = np.array_split(np.arange(moves.shape[1]), BATCHES)
    each = np.array([moments(moves[:, p], weights[:, p], covariance) for p in parts])
    error = each.std(axis=0, ddof=1) / np.sqrt(BATCHES)
    mean, sd = whole
    return mode + mean, sd, error[0] / sd, error[1] / sd, shape


def pareto_shape(log_ratios):
    """Pareto shape of the largest weights."""
    return float(array_stats.psislw(-log_ratios)[1])


def moments(moves, weights, covariance):
    """Mean (from the mode) and sd by pairs, whose proposal has this covariance."""
    weights = weights / weights.sum()
    n = moves.shape[1]
    mean = moves @ (weights[0] - weights[1])
    square = np.square(moves) @ (weights.sum(axis=0) - 1 / n) + np.diag(covariance)
    return np.stack([mean, np.sqrt(square - mean**2)])


# ---- regressions with an intercept per group -----------------------------------------------------


class GroupedLogit:
    """(coefficients, sd): intercepts per group are integrated out by Gauss-Hermite quadrature, with
    nodes around the groups' conditional modes at one place.
    """

    def __init__(self, problem, nodes=9):
        [(column, _)] = problem.groups
        codes, self.groups = problem.codes(column)
        order = np.argsort(codes, kind="stable")
        self.X, self.y, self.codes = problem.X[order], problem.y[order], codes[order]
        self.starts = np.searchsorted(self.codes, np.arange(self.groups))
        self.prior, self.d = problem.prior, self.X.shape[1]
        self.x, weight = np.polynomial.hermite_e.hermegauss(nodes)
        self.log_weight = np.log(weight) + np.square(self.x) / 2
        self.centre, self.scale = np.zeros(self.groups), np.ones(self.groups)

    def sums(self, rows):
        """Of rows, by group."""
        return np.add.reduceat(rows, self.starts)

    def recentre(self, theta):
        """Nodes around the groups' modes at theta."""
        eta, u = self.X @ theta[:-1], np.zeros(self.groups)
        for _ in range(30):
            p = special.expit(eta + u[self.codes])
            curvature = self.sums(p * (1 - p)) + theta[-1] ** -2
            u = u + (self.sums(self.y - p) - u / theta[-1] ** 2) / curvature
        self.centre, self.scale = u, curvature**-0.5

    def __call__(self, theta):
        """Log density of columns of theta."""
        return np.array([self.one(column) for column in theta.T])

    def one(self, theta):
        """At one theta."""
        sd = theta[-1]
        if sd <= 0:
            return -np.inf
        eta, parts = self.X @ theta[:-1], []
        for x, log_weight in zip(self.x, self.log_weight):
            u = self.centre + self.scale * x
            at = eta + u[self.codes]
            rows = self.y * at - np.maximum(at, 0) - np.log1p(np.exp(-np.abs(at)))
            parts.append(self.sums(rows) - np.square(u / sd) / 2 - np.log(sd) + log_weight)
        value = special.logsumexp(parts, axis=0) + np.log(self.scale)
        prior = normal_prior(theta[:-1], self.prior["coef"]) + half_normal(sd, self.prior["sd"])
        return float(value.sum() + prior)
