"""Laws of outcomes given what the last layer says, eta (n, units), in the units of the data: one
class a law.
"""

from dataclasses import dataclass

import numpy as np

from sgmc.arguments.data.arrays import numeric, shaped, vector
from sgmc.arguments.data.tables import finite_table
from sgmc.arguments.data.values import counts
from sgmc.arguments.messages import label_text
from sgmc.arguments.names import column_names
from sgmc.errors import DataError
from sgmc.models.network.activations import softmax

TINY, EPSILON = np.finfo(float).tiny, np.finfo(float).eps


@dataclass(frozen=True)
class Softmax:
    """p(y = k) = exp(eta_k) / sum_l exp(eta_l).

    Attributes
    ----------
    levels : tuple
        Labels of the classes.
    """

    levels: tuple
    outcomes, judged = 1, ("",)

    @property
    def units(self):
        """Of the last layer."""
        return len(self.levels)

    @classmethod
    def read(cls, y, scale):
        """(law, numbers of the classes (n, 1)); DataError where outcomes are no classes."""
        from sgmc.formula.outcomes import category, category_codes

        codes, levels = category_codes("y", y, category)
        codes = np.asarray(codes, dtype=float)
        if len(levels) < 2:
            raise DataError(
                f"y is {label_text(levels[0])} in every row; at least two classes are needed"
            )
        if len(levels) > max(20, np.sqrt(len(codes))):
            raise DataError(
                f"y has {len(levels)} different values, too many for classes; for numbers give "
                "outcome='gaussian' or 'poisson'"
            )
        return cls(tuple(levels)), codes[:, None]

    def inside(self, y):
        """Outcomes as the compiled network takes them."""
        return y

    def expected(self, eta):
        """Probabilities of the classes, (n, k)."""
        return softmax(eta)

    def predictor(self, eta, sigma, y):
        """The log-odds of the classes of y, (n, 1)."""
        p = softmax(eta)[np.arange(len(y)), y[:, 0].astype(int)].astype(float)
        p = np.clip(p, TINY, 1 - EPSILON)
        return np.log(p / (1 - p))[:, None]

    def simulate(self, eta, sigma, rng):
        """The number of a class for each row."""
        return (rng.random((len(eta), 1)) > softmax(eta).cumsum(axis=1)[:, :-1]).sum(axis=1)


@dataclass(frozen=True)
class NumericOutcome:
    """Base of laws of numbers: eta times `factor`, plus `shift`, is in the units of the outcomes.

    Attributes
    ----------
    names : tuple of str
        Of several outcomes; empty where a row has one.
    shift, factor : array (outcomes,)
    """

    names: tuple
    shift: np.ndarray
    factor: np.ndarray
    levels = None

    @property
    def outcomes(self):
        """How many a row has."""
        return max(len(self.names), 1)

    @property
    def units(self):
        """Of the last layer."""
        return self.outcomes

    @property
    def judged(self):
        """What `predictor` has of a row, in words."""
        return self.names or ("",)

    def one(self, values):
        """(n,) in the place of (n, 1)."""
        return values if self.names else values[:, 0]

    def inside(self, y):
        """Outcomes as the compiled network takes them."""
        return y

    def new(self, outcomes, n):
        """Outcomes of n new rows, (n, k); ArgumentError where they are not like the fit's."""
        wanted = (n, self.outcomes) if self.names else (n,)
        found = shaped("outcomes", numeric("outcomes", outcomes), wanted)
        return found.reshape(n, self.outcomes)


class Gaussian(NumericOutcome):
    """y_k ~ N(eta_k, sigma_k^2) in standardised units."""

    @classmethod
    def read(cls, y, scale):
        """(law, outcomes (n, k)); they are standardised unless `scale` is None."""
        table, names = responses(y)
        for k, constant in enumerate(np.ptp(table, axis=0) == 0):
            if constant and scale is not None:
                which = f"y, column {names[k]!r}," if names else "y"
                raise DataError(
                    f"{which} is {table[0, k]:g} in every row: there is nothing to explain"
                )
        if scale is None:
            return cls(names, np.zeros(table.shape[1]), np.ones(table.shape[1])), table
        return cls(names, table.mean(axis=0), table.std(axis=0)), table

    def inside(self, y):
        # standardised
        return (y - self.shift) / self.factor

    def means(self, eta):
        """E[y], (n, k)."""
        return eta[:, : self.outcomes] * self.factor + self.shift

    def sds(self, eta, sigma):
        """Of y given the network, (k,) or (n, k)."""
        return sigma * self.factor

    def expected(self, eta):
        """E[y], (n,), or (n, k) of several outcomes."""
        return self.one(self.means(eta))

    def predictor(self, eta, sigma, y):
        """E[y], (n, k)."""
        return self.means(eta)

    def simulate(self, eta, sigma, rng):
        """An outcome, or several, of each row."""
        return self.one(rng.normal(self.means(eta), self.sds(eta, sigma)))

    def log_density(self, eta, sigma, y):
        """Of outcomes y (n, k), each."""
        from scipy.stats import norm

        return norm.logpdf(y, self.means(eta), self.sds(eta, sigma))

    def shares(self, eta, sigma, y):
        """P(Y < y) and P(Y <= y), each (n, k)."""
        from scipy.stats import norm

        below = norm.cdf(y, self.means(eta), self.sds(eta, sigma))
        return below, below


class Heteroscedastic(Gaussian):
    """y_k ~ N(eta_k, exp(2 eta_K+k)) in standardised units, of K outcomes."""

    @property
    def units(self):
        # means, then logs of sds
        return 2 * self.outcomes

    @property
    def judged(self):
        logs = [f"log sd {name}".strip() for name in super().judged]
        return (*super().judged, *logs)

    def sds(self, eta, sigma):
        return np.exp(eta[:, self.outcomes :]) * self.factor

    def predictor(self, eta, sigma, y):
        """E[y] and the log of its sd, (n, 2k)."""
        return np.hstack([self.means(eta), np.log(self.sds(eta, sigma))])


class PoissonOutcome(NumericOutcome):
    """y ~ Poisson(exp(eta + shift))."""

    @classmethod
    def read(cls, y, scale):
        """(law, counts (n, 1)); the mean is taken out of eta unless `scale` is None."""
        values = vector("y", y)
        counts("y with outcome='poisson'", values)
        if scale is not None and not values.any():
            raise DataError("y is 0 in every row: there is nothing to explain")
        shift = np.log(values.mean()) if scale is not None else 0.0
        return cls((), np.array([shift]), np.ones(1)), values[:, None]

    def expected(self, eta):
        """E[y], (n,)."""
        return np.exp(eta[:, 0] + self.shift[0])

    def predictor(self, eta, sigma, y):
        """log E[y], (n, 1)."""
        return eta + self.shift

    def simulate(self, eta, sigma, rng):
        """A count for each row."""
        return rng.poisson(self.expected(eta))

    def log_density(self, eta, sigma, y):
        """Return the log density of outcomes y (n, k), each."""
        from scipy.stats import poisson

        return poisson.logpmf(y, np.exp(eta + self.shift))

    def shares(self, eta, sigma, y):
        """Return P(Y < y) and P(Y <= y), each (n, k)."""
        from scipy.stats import poisson

        rate = np.exp(eta + self.shift)
        return poisson.cdf(y - 1, rate), poisson.cdf(y, rate)


LAWS = {
    "softmax": Softmax,
    "gaussian": Gaussian,
    "heteroscedastic": Heteroscedastic,
    "poisson": PoissonOutcome,
}


def responses(y):
    """Outcomes as (n, k), and names of several of them (empty for one)."""
    table = numeric("y", y)
    if table.ndim != 2 or table.shape[1] == 1:
        return vector("y", table.ravel() if table.ndim == 2 else y)[:, None], ()
    count = table.shape[1]
    framed = hasattr(y, "columns")
    names = tuple(
        column_names(None, y, count, "y") if framed else (f"y{k + 1}" for k in range(count))
    )
    return finite_table("y", np.ascontiguousarray(table, dtype=float), names), names
