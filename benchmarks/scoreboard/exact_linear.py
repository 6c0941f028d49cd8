"""Exact answers of models with normal outcomes, whose coefficients and group effects are integrated
out in closed form, and of small densities by quadrature: no code of sgmc.
"""

import numpy as np
from exact_sampling import BATCHES, differences, pareto_shape

GRID = 4001  # points of one-dimensional quadrature


def weighted(mean, variance, weights):
    """Means and sds of a mixture: conditional means and variances (k, d), weights (k,)."""
    weights = weights / weights.sum()
    whole = weights @ mean
    return whole, np.sqrt(weights @ (variance + np.square(mean - whole)))


class Mixed:
    """Normal outcomes with any number of grouping factors, the first with slopes or not.

    phi = log sds of each factor (with atanh of the correlation where there is a slope), log sigma.
    """

    def __init__(self, problem):
        self.prior, self.y, X = problem.prior, problem.y, problem.X
        self.d, rows = X.shape[1], np.arange(len(self.y))
        (first, slopes), *others = problem.groups
        self.q = 1 + len(slopes)
        codes, self.m = problem.codes(first)
        Z = np.column_stack([np.ones(len(rows)), *(problem.frame[s] for s in slopes)])
        right, self.sizes = [X], []
        for column, _ in others:
            indicator = np.zeros((len(rows), problem.codes(column)[1]))
            indicator[rows, problem.codes(column)[0]] = 1
            right.append(indicator)
            self.sizes.append(indicator.shape[1])
        W = np.concatenate(right, axis=1)
        self.WW, self.Wy, self.yy = W.T @ W, W.T @ self.y, self.y @ self.y
        self.ZZ = np.zeros((self.m, self.q, self.q))
        self.ZW, self.Zy = np.zeros((self.m, self.q, W.shape[1])), np.zeros((self.m, self.q))
        np.add.at(self.ZZ, codes, Z[:, :, None] * Z[:, None, :])
        np.add.at(self.Zy, codes, Z * self.y[:, None])
        for j in range(self.q):
            np.add.at(self.ZW[:, j], codes, Z[:, j, None] * W)

    def scales(self, phi):
        """In the order that answers have: sds and correlation of the first factor, sds of others,
        sigma.
        """
        value = np.exp(phi)
        if self.q == 2:
            value[2] = np.tanh(phi[2])
        return value

    def log_prior(self, phi):
        """Half-normal sds and sigma, a uniform correlation; with the Jacobian."""
        value = self.scales(phi)
        kind = np.array(["sd"] * (len(phi) - 1) + ["sigma"])
        total = 0.0
        for k, one in enumerate(value):
            if self.q == 2 and k == 2:
                total += np.log1p(-(one**2))
            else:
                total += phi[k] - np.square(one / self.prior[kind[k]]) / 2
        return total

    def at(self, phi):
        """(log density of phi, conditional mean and variance of the coefficients)."""
        value, sigma = self.scales(phi), np.exp(phi[-1])
        G = np.diag(np.square(value[: self.q]))
        if self.q == 2:
            G[0, 1] = G[1, 0] = value[0] * value[1] * value[2]
        D = self.ZZ / sigma**2 + np.linalg.inv(G)
        solved = np.linalg.solve(D, np.concatenate([self.ZW, self.Zy[:, :, None]], axis=2))
        F, g = self.ZW / sigma**2, solved[:, :, -1] / sigma**2
        sds = value[self.q + (self.q == 2) : -1]
        spread = np.concatenate([[self.prior["coef"]] * self.d, np.repeat(sds, self.sizes)])
        S = self.WW / sigma**2 + np.diag(spread**-2.0)
        S = S - np.einsum("mqa,mqb->ab", F, solved[:, :, :-1], optimize=True) / sigma**2
        b = self.Wy / sigma**2 - np.einsum("mqa,mq->a", F, g)
        inverse = np.linalg.inv(S)
        fit = b @ inverse @ b + (self.Zy * g).sum() / sigma**2
        logdet = np.linalg.slogdet(D)[1].sum() + np.linalg.slogdet(S)[1]
        logdet += self.m * np.linalg.slogdet(G)[1] + 2 * np.log(spread).sum()
        log_density = -len(self.y) * phi[-1] - logdet / 2 - (self.yy / sigma**2 - fit) / 2
        mean = inverse @ b
        return (
            log_density + self.log_prior(phi),
            mean[: self.d],
            np.diag(inverse)[: self.d],
        )


def mixed(problem, draws):
    """Group terms."""
    model = Mixed(problem)
    start = np.full(model.q + (model.q == 2) + len(model.sizes) + 1, -0.5)
    if model.q == 2:
        start[2] = 0.1
    return conditional(model, start, draws)


def conditional(model, start, draws, seed=0, df=5):
    """Importance sampling of phi by a Student t law at its mode, all else given phi in closed form.

    Parameters
    ----------
    model : object
        With ``at(phi)``: log density, conditional means and variances, and ``scales(phi)``, which
        is put after the first ``d`` of these.
    start : array (k,)
        Where the search for the mode of phi begins.
    """
    rng, k = np.random.default_rng(seed), len(start)

    def log_density(columns):
        return np.array([model.at(phi)[0] for phi in columns.T])

    mode, curvature = differences(log_density, start, np.full(k, 0.05))
    root = np.linalg.inv(np.linalg.cholesky(curvature)).T
    z = rng.standard_normal((draws, k)) * np.sqrt(df / rng.chisquare(df, draws))[:, None]
    phi = mode + z @ root.T
    found = [model.at(one) for one in phi]
    ratio = np.array([f[0] for f in found])
    ratio = ratio + (df + k) / 2 * np.log1p(np.square(z).sum(axis=1) / df)
    weights, shape = np.exp(ratio - ratio.max()), pareto_shape(ratio)
    scales = np.array([model.scales(one) for one in phi])
    mean, variance = (np.array([f[j] for f in found]) for j in (1, 2))
    mean = np.insert(mean, [model.d] * scales.shape[1], scales, axis=1)
    variance = np.insert(variance, [model.d] * scales.shape[1], 0, axis=1)
    whole = np.stack(weighted(mean, variance, weights))
    parts = np.array_split(np.arange(draws), BATCHES)
    each = np.array([weighted(mean[p], variance[p], weights[p]) for p in parts])
    error = each.std(axis=0, ddof=1) / np.sqrt(BATCHES) / whole[1]
    return *whole, *error, shape


def ols(problem):
    """Coefficients given sigma in closed form, sigma by quadrature."""
    X, y, scale = problem.X, problem.y, problem.prior["coef"]
    n, d = X.shape
    values, vectors = np.linalg.eigh(X.T @ X)
    b = vectors.T @ (X.T @ y)
    guess = np.std(y - X @ np.linalg.lstsq(X, y, rcond=None)[0])
    sigma = guess * np.exp(np.linspace(-8, 8, GRID) / np.sqrt(2 * n))
    precision = values / sigma[:, None] ** 2 + scale**-2
    inner = b / sigma[:, None] ** 2 / precision
    fit = (inner * b).sum(axis=1) / sigma**2
    log_density = -n * np.log(sigma) - np.log(precision).sum(axis=1) / 2
    log_density += -(y @ y / sigma**2 - fit) / 2 - np.square(sigma / problem.prior["sigma"]) / 2
    weights = np.exp(log_density - log_density.max()) * sigma  # even steps of log sigma
    mean = np.column_stack([inner @ vectors.T, sigma])
    variance = np.column_stack([(1 / precision) @ np.square(vectors).T, 0 * sigma])
    return weighted(mean, variance, weights)


def schools(problem):
    """Quadrature over log tau; mu and theta given tau are normal."""
    y, variance = problem.y, np.square(problem.frame["se"].to_numpy())
    tau = np.exp(np.linspace(-14, 9, 20 * GRID))[:, None]
    total = variance + tau**2
    precision = (1 / total).sum(axis=1) + 1 / 25
    mu = (y / total).sum(axis=1) / precision
    tau = tau[:, 0]
    log_density = -np.log(total).sum(axis=1) / 2 - np.log(precision) / 2
    log_density += -(np.square(y) / total).sum(axis=1) / 2 + mu**2 * precision / 2
    log_density += -np.log1p(np.square(tau / 5)) + np.log(tau)
    weights = np.exp(log_density - log_density.max())
    keep = tau[:, None] ** 2 / total  # theta | mu, tau: keep y + (1 - keep) mu
    theta = keep * y + (1 - keep) * mu[:, None]
    spread = keep * variance + np.square(1 - keep) / precision[:, None]
    mean = np.column_stack([mu, tau, theta])
    return weighted(mean, np.column_stack([1 / precision, 0 * tau, spread]), weights)


def curve(problem):
    """Quadrature over c and log sigma; a and b given these are normal."""
    x, y = problem.frame["x"].to_numpy(), problem.y
    guess = 0.1
    log_sigma = np.log(guess) + np.linspace(-1.5, 3, 400)
    means, variances, logs = [], [], []
    for c in np.linspace(0.5, 0.95, 1202)[1:-1]:
        X = np.column_stack([np.ones(len(x)), -(c**x)])
        values, vectors = np.linalg.eigh(X.T @ X)
        sigma = np.exp(log_sigma)[:, None]
        precision = values / sigma**2 + 0.01
        b = vectors.T @ (X.T @ y) / sigma**2
        inner = b / precision
        fit = (inner * b).sum(axis=1) - y @ y / sigma[:, 0] ** 2
        log_density = fit / 2 - np.log(precision).sum(axis=1) / 2 - (len(x) - 1) * log_sigma
        logs.append(log_density - sigma[:, 0] ** 2 / 2)
        ends = np.column_stack([np.full(len(sigma), c), sigma[:, 0]])
        means.append(np.column_stack([inner @ vectors.T, ends]))
        variances.append(np.column_stack([(1 / precision) @ np.square(vectors).T, 0 * ends]))
    logs = np.concatenate(logs)
    return weighted(np.concatenate(means), np.concatenate(variances), np.exp(logs - logs.max()))
