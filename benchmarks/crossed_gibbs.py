"""Gibbs sampling by factor of regressions with two or more crossed intercepts, in numpy: the rival
of `crossed_designs.py`.

Papaspiliopoulos, Roberts & Zanella (2020, Biometrika 107:25, doi:10.1093/biomet/asz058).  A sweep
costs O(rows).  Priors are the package's defaults: normal coefficients at centred predictors,
half-t(3) sds, and for normal outcomes an exponential sigma.
"""

import numpy as np

DF = 3  # of the sds' half-t prior
SHOWN = 4  # effects of a factor
BURN_IN = 300  # sweeps; scales of proposals are adapted in them
WISHED = 0.44  # accepted share of random walks in one dimension


def sliced(log_density, x, random, width=0.5, most=20):
    """A slice-sampling update of a number (Neal 2003, doi:10.1214/aos/1056562461)."""
    level = log_density(x) - random.exponential()
    low = x - width * random.random()
    high = low + width
    for _ in range(most):
        if log_density(low) < level:
            break
        low -= width
    for _ in range(most):
        if log_density(high) < level:
            break
        high += width
    while True:
        new = random.uniform(low, high)
        if log_density(new) >= level:
            return new
        low, high = (new, high) if new < x else (low, new)


class Gibbs:
    """What both families share: rows, priors, and the traces.

    Parameters
    ----------
    y, x : array (n,)
        Outcomes, and a centred predictor.
    codes : list of array (n,) of int
        Levels of each factor.
    unit : float
        In which the sds' prior has scale 2.5.
    centre : float
        Mean of the intercept's prior.
    seed : int
    """

    passes = 1.0  # over the rows, of a sweep

    def __init__(self, y, x, codes, unit, centre, seed):
        self.y, self.X, self.codes = y, np.column_stack([np.ones(len(x)), x]), codes
        self.levels = [code.max() + 1 for code in codes]
        self.scale, self.random = 2.5 * unit, np.random.default_rng(seed)
        self.prior = (self.scale * np.array([1.0, 1 / x.std(ddof=1)])) ** -2
        self.pull = self.prior * [centre, 0.0]
        self.beta, self.sds = np.array([centre, 0.0]), np.full(len(codes), 0.3 * unit)
        self.effects = [np.zeros(m) for m in self.levels]

    def sums(self, k, values):
        """Sums of some values (n,) by level."""
        return np.bincount(self.codes[k], values, self.levels[k])

    def log_prior(self, log_sd):
        """Of the log of an sd."""
        return log_sd - 0.5 * (DF + 1) * np.log1p((np.exp(log_sd) / self.scale) ** 2 / DF)

    def state(self):
        """Coefficients, sds, the mean effect of each factor, and its first SHOWN effects."""
        means = [u.mean() for u in self.effects]
        return [*self.beta, *self.sds, *means, *np.concatenate([u[:SHOWN] for u in self.effects])]

    def run(self, sweeps):
        """Traces (sweeps, parameters) after the burn-in."""
        for t in range(BURN_IN):
            self.sweep(adapt=(t + 1) ** -0.6)
        return np.array([self.sweep() or self.state() for _ in range(sweeps)])


class Normal(Gibbs):
    """Normal outcomes: for each factor its sd with effects and coefficients integrated out, the
    coefficients with its effects integrated out, and its effects.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.unit, self.sigma = self.scale / 2.5, self.y.std()
        self.square = self.X.T @ self.X
        self.by_level = [
            np.column_stack([self.sums(k, x) for x in self.X.T]) for k in range(len(self.codes))
        ]
        self.rest = self.y - self.X @ self.beta  # what neither effects nor coefficients explain

    def given(self, k, log_sd, rest, by_level):
        """Log density of an sd; precision and slope of the coefficients; precision of effects."""
        t, F = self.sigma**-2, self.by_level[k]
        own = t * F[:, 0] + np.exp(-2 * log_sd)
        Q = np.diag(self.prior) + t * self.square - t**2 * (F / own[:, None]).T @ F
        b = self.pull + t * rest - t**2 * F.T @ (by_level / own)
        value = self.log_prior(log_sd) - self.levels[k] * log_sd - 0.5 * np.log(own).sum()
        value += 0.5 * t**2 * (by_level**2 / own).sum() + 0.5 * b @ np.linalg.solve(Q, b)
        return value - 0.5 * np.linalg.slogdet(Q)[1], Q, b, own

    def sweep(self, adapt=0.0):
        """Update everything once."""
        for k, code in enumerate(self.codes):
            free = self.rest + self.X @ self.beta + self.effects[k][code]
            data = self.X.T @ free, self.sums(k, free)
            log_sd = sliced(
                lambda one, k=k, data=data: self.given(k, one, *data)[0],
                np.log(self.sds[k]),
                self.random,
            )
            _, Q, b, own = self.given(k, log_sd, *data)
            root = np.linalg.cholesky(np.linalg.inv(Q))
            self.sds[k] = np.exp(log_sd)
            self.beta = np.linalg.solve(Q, b) + root @ self.random.normal(size=len(b))
            mean = (data[1] - self.by_level[k] @ self.beta) / (self.sigma**2 * own)
            self.effects[k] = mean + self.random.normal(size=len(own)) / np.sqrt(own)
            self.rest = free - self.X @ self.beta - self.effects[k][code]
        square, n = self.rest @ self.rest, len(self.y)
        self.sigma = np.exp(
            sliced(
                lambda v: (1 - n) * v - 0.5 * square * np.exp(-2 * v) - np.exp(v) / self.unit,
                np.log(self.sigma),
                self.random,
                2 / np.sqrt(n),
            )
        )


class Logit(Gibbs):
    """Outcomes of 0 and 1.  Effects of a factor by a Newton proposal for each level (Gamerman 1997,
    doi:10.1023/A:1018509429360), centred at the intercept, which is drawn given them; each sd given
    its effects, and given these in units of it (interwoven, Yu & Meng 2011,
    doi:10.1198/jcgs.2011.203main); coefficients together by a Newton proposal.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.walks = np.zeros(len(self.codes))  # logs of the random walks' scales
        self.eta = self.X @ self.beta
        self.passes = 3.0 * len(self.codes) + 2

    def rows(self, eta):
        """Log density, slope and curvature of each row."""
        p = 1 / (1 + np.exp(-eta))
        return self.y * eta - np.logaddexp(0, eta), self.y - p, p * (1 - p)

    def update_effects(self, k):
        """One Newton proposal for each level of a factor, accepted level by level."""
        code, mean, t = self.codes[k], self.beta[0], self.sds[k] ** -2
        here = mean + self.effects[k]

        def looked(point, eta):
            value, slope, bend = (self.sums(k, one) for one in self.rows(eta))
            own = bend + t
            value -= 0.5 * t * (point - mean) ** 2
            return value, point + (slope - t * (point - mean)) / own, own

        value, towards, own = looked(here, self.eta)
        new = towards + self.random.normal(size=len(own)) / np.sqrt(own)
        eta = self.eta + (new - here)[code]
        other, back, precision = looked(new, eta)
        ratio = other - value + 0.5 * own * (new - towards) ** 2 - 0.5 * np.log(own)
        ratio += 0.5 * np.log(precision) - 0.5 * precision * (here - back) ** 2
        here = np.where(self.random.exponential(size=len(own)) > -ratio, new, here)
        self.eta += (here - mean - self.effects[k])[code]
        # of the intercept given the sums of intercept and effects: no row is needed
        precision = self.prior[0] + len(here) * t
        self.beta[0] = (self.pull[0] + t * here.sum()) / precision
        self.beta[0] += self.random.normal() / np.sqrt(precision)
        self.effects[k] = here - self.beta[0]

    def update_sd(self, k, adapt):
        """An sd given its effects, then together with them."""
        u = self.effects[k]
        square, m = u @ u, len(u)
        log_sd = sliced(
            lambda v: self.log_prior(v) - m * v - 0.5 * square * np.exp(-2 * v),
            np.log(self.sds[k]),
            self.random,
        )
        new = log_sd + np.exp(self.walks[k]) * self.random.normal()
        moved = u * np.expm1(new - log_sd)
        eta = self.eta + moved[self.codes[k]]
        ratio = (self.y * (eta - self.eta)).sum() + self.log_prior(new) - self.log_prior(log_sd)
        ratio += (np.logaddexp(0, self.eta) - np.logaddexp(0, eta)).sum()
        self.walks[k] += adapt * (np.exp(min(ratio, 0.0)) - WISHED)
        if self.random.exponential() > -ratio:
            log_sd, self.eta, self.effects[k] = new, eta, u + moved
        self.sds[k] = np.exp(log_sd)

    def update_coefficients(self):
        """One Newton proposal for all coefficients."""

        def looked(beta, eta):
            value, slope, bend = self.rows(eta)
            Q = np.diag(self.prior) + (self.X * bend[:, None]).T @ self.X
            total = value.sum() - 0.5 * self.prior @ beta**2 + self.pull @ beta
            slope = self.X.T @ slope - self.prior * beta + self.pull
            return total, beta + np.linalg.solve(Q, slope), Q

        value, towards, Q = looked(self.beta, self.eta)
        z = self.random.normal(size=len(Q))
        new = towards + np.linalg.solve(np.linalg.cholesky(Q).T, z)
        eta = self.eta + self.X @ (new - self.beta)
        other, back, P = looked(new, eta)
        away = self.beta - back
        ratio = other - value + 0.5 * z @ z - 0.5 * away @ P @ away
        ratio += 0.5 * (np.linalg.slogdet(P)[1] - np.linalg.slogdet(Q)[1])
        if self.random.exponential() > -ratio:
            self.beta, self.eta = new, eta

    def sweep(self, adapt=0.0):
        """Update everything once."""
        for k in range(len(self.codes)):
            self.update_effects(k)
            self.update_sd(k, adapt)
        self.update_coefficients()
