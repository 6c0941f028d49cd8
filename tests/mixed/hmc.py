"""Posteriors of regressions with group effects by means that share nothing with the package: HMC
in plain numpy over coefficients, signed sds and standardised effects, which are not integrated out.
"""

import numpy as np
from scipy import sparse, special

from tests.prior_scales import prior_scales


def logit(eta, y, trials, _):
    """Log-likelihood of counts of successes and its slopes: in eta, and in the log of the family's
    own parameter.
    """
    value = y * eta - trials * np.logaddexp(0, eta)
    return value.sum(axis=1), y - trials * special.expit(eta), None


def poisson(eta, y, trials, _):
    """Of counts."""
    mean = np.exp(np.minimum(eta, 50))
    return (y * eta - mean).sum(axis=1), y - mean, None


def negativebinomial(eta, y, trials, alpha):
    """Of counts with variance mean + alpha mean^2."""
    r, total = 1 / alpha, np.logaddexp(np.log(1 / alpha), eta)  # log(r + mean)
    value = special.gammaln(y + r) - special.gammaln(r) + r * np.log(r) + y * eta
    value = value - (r + y) * total
    slope = special.digamma(y + r) - special.digamma(r) + np.log(r) + 1 - total
    slope = slope - (r + y) * np.exp(-total)
    return value.sum(axis=1), y - (r + y) * np.exp(eta - total), -r[:, 0] * slope.sum(axis=1)


def ols(eta, y, trials, sigma):
    """Of normal outcomes."""
    e = (y - eta) / sigma
    half = 0.5 * (e**2).sum(axis=1)
    return -half - y.shape[-1] * np.log(sigma[:, 0]), e / sigma, 2 * half - y.shape[-1]


class Factor:
    """Effects of one or two columns by the levels of a factor, correlated."""

    def __init__(self, codes, Z):
        self.Z, self.codes, self.q = Z, codes, Z.shape[1]
        self.levels = codes.max() + 1
        self.sums = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))))
        self.spread = prior_scales(Z)

    def at(self, u, r, z):
        """Contribution to eta (c, n), and the function that turns slopes in eta into slopes in
        signed sds u (c, q), r (c, q - 1), the inverse hyperbolic tangent of the correlation, and
        standardised effects z (c, q, levels).
        """
        unit = z.copy()
        if self.q == 2:
            rho, rest = np.tanh(r), 1 / np.cosh(r)
            unit[:, 1] = rho * z[:, 0] + rest * z[:, 1]
        effects = u[:, :, None] * unit
        eta = sum(effects[:, k][:, self.codes] * self.Z[:, k] for k in range(self.q))

        def back(g):
            of_effects = [(self.sums @ (g * self.Z[:, k]).T).T for k in range(self.q)]
            E = np.stack(of_effects, axis=1)
            of_u, of_unit, of_r = (E * unit).sum(axis=2), E * u[:, :, None], np.zeros_like(r)
            of_z = of_unit.copy()
            if self.q == 2:
                of_z[:, 0] += rho * of_unit[:, 1]
                of_z[:, 1] = rest * of_unit[:, 1]
                turned = z[:, 0] * rest**2 - z[:, 1] * rest * rho
                of_r = (of_unit[:, 1] * turned).sum(axis=1)[:, None]
            return of_u, of_r, of_z

        return eta, back


class Joint:
    """A log posterior under the default priors: normal(0, 2.5) of slopes and of the intercept at
    centred predictors, half_t(3, 2.5) of sds, all in units of the outcomes' sd over what
    `prior_scales` has for columns, uniform correlations, exponential(1) of the own parameter.

    Points are (c, dim): coefficients in an orthogonal basis, signed sds and r of each factor, the
    log of the own parameter, effects.
    """

    def __init__(self, family, X, y, factors, trials=1.0):
        self.family, self.X, self.y, self.trials, self.factors = family, X, y, trials, factors
        normal = family is ols
        self.unit = y.std() if normal else 1.0
        self.location = y.mean() if normal else 0.0
        self.own = family in (ols, negativebinomial)
        self.mean, self.sd = X.mean(axis=0), prior_scales(X[:, 1:])
        self.basis = np.linalg.inv(np.linalg.qr(X)[1]) * np.sqrt(len(y)) * self.unit
        sizes = [X.shape[1], *(f.q + f.q - 1 for f in factors), int(self.own)]
        self.ends = np.cumsum(sizes + [f.q * f.levels for f in factors])
        self.dim, self.printed = self.ends[-1], self.ends[len(sizes) - 1]

    def start(self, chains, rng):
        """Points near the mean outcome, spread."""
        x = 0.2 * rng.normal(size=(chains, self.dim))
        x[:, : self.X.shape[1]] += self.location * (np.linalg.inv(self.basis)[:, 0])
        for a, f in zip(self.ends, self.factors):
            x[:, a : a + f.q] *= self.unit / f.spread
        if self.own:
            x[:, self.printed - 1] += np.log(self.unit)
        return x

    def __call__(self, x):
        """Log densities (c,) and gradients (c, dim)."""
        parts = np.split(x, self.ends[:-1], axis=1)
        k = len(self.factors)
        beta = parts[0] @ self.basis.T
        own = np.exp(parts[k + 1]) if self.own else None
        eta, backs = beta @ self.X.T, []
        for f, some, z in zip(self.factors, parts[1:], parts[k + 2 :]):
            more, back = f.at(some[:, : f.q], some[:, f.q :], z.reshape(-1, f.q, f.levels))
            eta = eta + more
            backs.append(back)
        value, g, of_own = self.family(eta, self.y, self.trials, own)
        wide = 2.5 * self.unit
        level, slopes = (beta @ self.mean - self.location) / wide, beta[:, 1:] * self.sd / wide
        value = value - 0.5 * level**2 - 0.5 * (slopes**2).sum(axis=1)
        of_beta = g @ self.X - level[:, None] * self.mean / wide
        of_beta[:, 1:] -= slopes * self.sd / wide
        out, effects = [of_beta @ self.basis], []
        for f, some, z, back in zip(self.factors, parts[1:], parts[k + 2 :], backs):
            of_u, of_r, of_z = back(g)
            t, r = some[:, : f.q] * f.spread / wide, some[:, f.q :]
            value = value - 2 * np.log1p(t**2 / 3).sum(axis=1) - 2 * np.log(np.cosh(r)).sum(axis=1)
            value = value - 0.5 * (z**2).sum(axis=1)
            out += [of_u - 4 * t / (3 + t**2) * f.spread / wide, of_r - 2 * np.tanh(r)]
            effects.append(of_z.reshape(len(x), -1) - z)
        if self.own:
            value = value + parts[k + 1][:, 0] - own[:, 0] / self.unit
            out.append((of_own + 1 - own[:, 0] / self.unit)[:, None])
        return value, np.concatenate(out + effects, axis=1)

    def natural(self, x):
        """Coefficients, sds, correlations factor by factor, the own parameter: (c, p)."""
        parts = np.split(x[:, : self.printed], self.ends[: len(self.factors) + 1], axis=1)
        sds, cors = [], []
        for f, some in zip(self.factors, parts[1:]):
            sds.append(np.abs(some[:, : f.q]))
            cors.append(np.tanh(some[:, f.q :]) * np.sign(some[:, : f.q].prod(axis=1))[:, None])
        own = [np.exp(parts[-1])] if self.own else []
        return np.concatenate([parts[0] @ self.basis.T, *sds, *cors, *own], axis=1)


def sample(joint, draws, warmup=600, chains=16, seed=0, length=1.6):
    """Draws of `natural`, (chains, draws, p).

    Chains move together; steps and numbers of steps are drawn anew for each path, scales are the
    sds of all chains over the last half of each of three warmups. Chains that got lost in the first
    of them begin anew at others.
    """
    rng = np.random.default_rng(seed)
    x = joint.start(chains, rng)
    value, gradient = joint(x)
    scale, step, kept = np.ones(joint.dim), 0.02, []
    ends, since = [warmup // 6, warmup // 2, warmup], []
    for k in range(warmup + draws):
        h = step * rng.uniform(0.8, 1.2)
        y, p = x, rng.normal(size=x.shape)
        energy, slope = value - 0.5 * (p**2).sum(axis=1), gradient
        for _ in range(min(rng.integers(1, 2 * max(1, round(length / step)) + 1), 300)):
            p = p + 0.5 * h * scale * slope
            y = y + h * scale * p
            there, slope = joint(y)
            p = p + 0.5 * h * scale * slope
        chance = np.exp(np.minimum(there - 0.5 * (p**2).sum(axis=1) - energy, 0))
        chance = np.where(np.isfinite(chance), chance, 0.0)
        moved = rng.random(chains) < chance
        x = np.where(moved[:, None], y, x)
        value, gradient = np.where(moved, there, value), np.where(moved[:, None], slope, gradient)
        if k < warmup:
            step *= np.exp((chance.mean() - 0.8) * 0.3 / (1 + k / 100))
            since.append(x)
            if k + 1 in ends:
                if k + 1 == ends[0]:
                    found = value > value.max() - 3 * joint.dim
                    places = np.where(found, np.arange(chains), rng.choice(np.flatnonzero(found)))
                    x, value, gradient = x[places], value[places], gradient[places]
                    since = [one[found] for one in since]
                scale = np.std(np.concatenate(since[len(since) // 2 :]), axis=0)
                step, since = min(step, 0.3) if k + 1 < warmup else step, []
        else:
            kept.append(joint.natural(x))
    return np.stack(kept, axis=1)
