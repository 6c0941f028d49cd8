"""Users' models whose posteriors are known."""

import numpy as np
import pandas as pd
from scipy import stats

import sgmc

from .known import Known

EXACT = 400_000  # independent draws: their quantiles are right to 0.01 half-widths


class Density(sgmc.Model):
    """A density of one parameter, given by its log and its slope, without data."""

    n, prior = 1, "flat"

    def __init__(self, log_density, slope, constraint=None):
        self.parameters = {"x": ()}
        self.constraints = {} if constraint is None else {"x": constraint}
        self.log_density, self.slope = log_density, slope

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        return float(self.log_density(theta["x"]))

    def grad(self, theta, rows):
        """See `sgmc.Model`."""
        return {"x": float(self.slope(theta["x"]))}


def law(frozen, log_density, slope, constraint=None):
    """A posterior that is a law of scipy.stats."""
    return lambda: Density(log_density, slope, constraint), lambda: Known.of_laws({"x": frozen})


def log_normal(s):
    """log x is normal(0, s)."""
    return law(
        stats.lognorm(s),
        lambda x: -np.log(x) - 0.5 * (np.log(x) / s) ** 2,
        lambda x: -(1 + np.log(x) / s**2) / x,
        "positive",
    )


def student(df):
    """Student's t."""
    return law(
        stats.t(df),
        lambda x: -(df + 1) / 2 * np.log1p(x**2 / df),
        lambda x: -(df + 1) * x / (df + x**2),
    )


def gamma(a):
    """Gamma of shape a."""
    return law(
        stats.gamma(a), lambda x: (a - 1) * np.log(x) - x, lambda x: (a - 1) / x - 1, "positive"
    )


def beta(a, b):
    """Beta."""
    return law(
        stats.beta(a, b),
        lambda x: (a - 1) * np.log(x) + (b - 1) * np.log1p(-x),
        lambda x: (a - 1) / x - (b - 1) / (1 - x),
        ("interval", 0, 1),
    )


def inverse_gamma(a):
    """Inverse gamma of shape a: a tail index of 1 / a."""
    return law(
        stats.invgamma(a),
        lambda x: -(a + 1) * np.log(x) - 1 / x,
        lambda x: -(a + 1) / x + 1 / x**2,
        "positive",
    )


def two_normals(weight, at, sd):
    """(1 - w) N(0, 1) + w N(at, sd^2)."""

    def parts(x):
        near = np.log1p(-weight) - 0.5 * x**2
        far = np.log(weight / sd) - 0.5 * ((x - at) / sd) ** 2
        return near, far, np.logaddexp(near, far)

    def slope(x):
        near, far, both = parts(x)
        return -x * np.exp(near - both) - (x - at) / sd**2 * np.exp(far - both)

    def known():
        grid = np.linspace(-6, at + 6, 60_001)
        return Known.of_grid({"x": grid}, parts(grid)[2])

    return lambda: Density(lambda x: parts(x)[2], slope), known


class Cancelling(sgmc.Model):
    """Cubic terms that cancel in all first and second moments and widen x0."""

    n = m = 20
    parameters, prior = {"x0": (), "u": (20,), "v": (20,)}, {"*": sgmc.normal(0, 1)}

    def __init__(self, c):
        self.c = c

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        gap = np.sum(theta["u"][rows] ** 2) - np.sum(theta["v"][rows] ** 2)
        return 0.5 * np.tanh(self.c * theta["x0"]) * gap

    def grad(self, theta, rows):
        """See `sgmc.Model`."""
        t, u, v = np.tanh(self.c * theta["x0"]), np.zeros(20), np.zeros(20)
        u[rows], v[rows] = t * theta["u"][rows], -t * theta["v"][rows]
        gap = np.sum(theta["u"][rows] ** 2) - np.sum(theta["v"][rows] ** 2)
        return {"x0": 0.5 * self.c * (1 - t**2) * gap, "u": u, "v": v}


def cancelling(c):
    """By the integral over u and v: (1 - t)^-10 (1 + t)^-10, t = tanh(c x0)."""

    def known():
        grid = np.linspace(-40, 40, 80_001)
        t = np.tanh(c * grid)
        return Known.of_grid({"x0": grid}, -0.5 * grid**2 - 10 * np.log((1 - t) * (1 + t)))

    return lambda: Cancelling(c), known


class Banana(sgmc.Model):
    """x is normal(0, 1), y given x normal(bend (x^2 - 1), width)."""

    n, parameters, prior = 1, {"x": (), "y": ()}, "flat"

    def __init__(self, bend, width):
        self.bend, self.width = bend, width

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        x, y = theta["x"], theta["y"]
        return -0.5 * x**2 - 0.5 * ((y - self.bend * (x**2 - 1)) / self.width) ** 2

    def grad(self, theta, rows):
        """See `sgmc.Model`."""
        x, y = theta["x"], theta["y"]
        away = (y - self.bend * (x**2 - 1)) / self.width**2
        return {"x": -x + 2 * self.bend * x * away, "y": -away}


def banana(bend, width=0.5):
    """By independent draws."""

    def known():
        rng = np.random.default_rng(0)
        x = rng.normal(size=EXACT)
        y = bend * (x**2 - 1) + width * rng.normal(size=EXACT)
        return Known.of_draws(pd.DataFrame({"x": x, "y": y}), slack=0.01)

    return lambda: Banana(bend, width), known


class Rosenbrock(sgmc.Model):
    """Rosenbrock's function over 20: x is normal of variance 10 around 1, y of 0.1 around x^2."""

    n, parameters, prior = 1, {"x": (), "y": ()}, "flat"

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        x, y = theta["x"], theta["y"]
        return -0.05 * (1 - x) ** 2 - 5 * (y - x**2) ** 2

    def grad(self, theta, rows):
        """See `sgmc.Model`."""
        x, y = theta["x"], theta["y"]
        away = 10 * (y - x**2)
        return {"x": 0.1 * (1 - x) + 2 * x * away, "y": -away}


def rosenbrock():
    """By independent draws."""

    def known():
        rng = np.random.default_rng(0)
        x = 1 + np.sqrt(10) * rng.normal(size=EXACT)
        y = x**2 + np.sqrt(0.1) * rng.normal(size=EXACT)
        return Known.of_draws(pd.DataFrame({"x": x, "y": y}), slack=0.01)

    return Rosenbrock, known


EFFECTS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


class Schools(sgmc.Model):
    """Effects of eight schools (Rubin 1981) and their scale, which is half normal(0, 10): the
    effects themselves ("centred"), or in units of the scale.
    """

    n = 8
    parameters, constraints = {"mu": (), "tau": (), "z": (8,)}, {"tau": "positive"}

    def __init__(self, centred):
        self.centred = centred

    def log_prior(self, theta):
        """See `sgmc.Model`."""
        tau, z = theta["tau"], theta["z"]
        scale = tau if self.centred else 1.0
        away = (z - theta["mu"]) if self.centred else z
        return float(
            -0.5 * (tau / 10) ** 2
            - 0.5 * (theta["mu"] / 20) ** 2
            - 0.5 * np.sum((away / scale) ** 2)
            - len(z) * np.log(scale)
        )

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        z = theta["z"]
        effect = z if self.centred else theta["mu"] + theta["tau"] * z
        return float(-0.5 * np.sum(((EFFECTS - effect)[rows] / ERRORS[rows]) ** 2))

    def grad_log_prior(self, theta):
        """See `sgmc.Model`."""
        tau, z, mu = theta["tau"], theta["z"], theta["mu"]
        if not self.centred:
            return {"mu": -mu / 400, "tau": -tau / 100, "z": -z}
        away = (z - mu) / tau**2
        slope = -tau / 100 + np.sum(away * (z - mu)) / tau - len(z) / tau
        return {"mu": -mu / 400 + np.sum(away), "tau": slope, "z": -away}

    def grad(self, theta, rows):
        """See `sgmc.Model`."""
        z = theta["z"]
        effect = z if self.centred else theta["mu"] + theta["tau"] * z
        slope = np.zeros(8)
        slope[rows] = ((EFFECTS - effect) / ERRORS**2)[rows]
        if self.centred:
            return {"mu": 0.0, "tau": 0.0, "z": slope}
        return {"mu": slope.sum(), "tau": np.sum(slope * z), "z": theta["tau"] * slope}


def schools(centred):
    """By draws of tau on a grid, of mu given tau and of effects given both."""

    def known():
        rng = np.random.default_rng(0)
        grid = (np.arange(20_000) + 0.5) / 20_000 * 60
        variance = ERRORS[:, None] ** 2 + grid**2
        precision = (1 / variance).sum(axis=0) + 1 / 400
        at = (EFFECTS[:, None] / variance).sum(axis=0) / precision
        log_p = (
            -0.5 * (grid / 10) ** 2
            - 0.5 * np.log(variance).sum(axis=0)
            - 0.5 * (EFFECTS[:, None] ** 2 / variance).sum(axis=0)
            + 0.5 * precision * at**2
            - 0.5 * np.log(precision)
        )
        p = np.exp(log_p - log_p.max())
        k = rng.choice(len(grid), EXACT, p=p / p.sum())
        tau = grid[k] + (rng.random(EXACT) - 0.5) * (grid[1] - grid[0])
        mu = at[k] + rng.normal(size=EXACT) / np.sqrt(precision[k])
        weight = 1 / ERRORS**2 + 1 / tau[:, None] ** 2
        middle = (EFFECTS / ERRORS**2 + (mu / tau**2)[:, None]) / weight
        effect = middle + rng.normal(size=(EXACT, 8)) / np.sqrt(weight)
        z = effect if centred else (effect - mu[:, None]) / tau[:, None]
        draws = {"mu": mu, "tau": tau, **{f"z[{j}]": z[:, j] for j in range(8)}}
        return Known.of_draws(pd.DataFrame(draws), slack=0.01)

    return lambda: Schools(centred), known


class Coin(sgmc.Model):
    """Tosses: a probability with a flat prior; `slope` times too steep a gradient, or rows whose
    numbers are ignored.
    """

    parameters, constraints, prior = {"p": ()}, {"p": ("interval", 0, 1)}, "flat"

    def __init__(self, n=50, heads=15, slope=1.0, ignores=False):
        self.n, self.y = n, (np.arange(n) < heads).astype(float)
        self.slope, self.ignores = slope, ignores
        self.checked = slope == 1 and not ignores  # mistakes are for the verdict to find

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        y = self.y[rows]
        return float(y.sum() * np.log(theta["p"]) + (1 - y).sum() * np.log1p(-theta["p"]))

    def grad(self, theta, rows):
        """See `sgmc.Model`."""
        y = self.y[:10] if self.ignores else self.y[rows]
        slope = y.sum() / theta["p"] - (1 - y).sum() / (1 - theta["p"])
        return {"p": float(self.slope * slope)}


def coin(**how):
    """A beta law."""
    return lambda: Coin(**how), lambda: Known.of_laws({"p": stats.beta(16, 36)})


class Walled(sgmc.Model):
    """N(0, 1) up to 1, where the density ends: NaN, or -inf as it should be."""

    n, parameters, prior = 1, {"x": ()}, "flat"

    def __init__(self, beyond):
        self.beyond = beyond

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        x = float(theta["x"])
        return -0.5 * x**2 if x < 1 else self.beyond

    def grad(self, theta, rows):
        """See `sgmc.Model`."""
        return {"x": -float(theta["x"])}


def walled(beyond):
    """A normal law that is cut off."""
    return lambda: Walled(beyond), lambda: Known.of_laws({"x": stats.truncnorm(-np.inf, 1)})


# name: a model, and what is known of it
# whose gradients, or sums over rows, are not those of their log density
CONTRADICTORY = {"coin, steep", "coin, flat", "coin, few rows", "wall, nan"}
# where a mode lies that chains may never visit
FAR_MODES = {"narrow mode apart": 3.3, "far modes": 6.0}
# whose chains do not move between the modes, so that right numbers are those of the starts
BY_STARTS = {"far modes"}

USERS = {
    **{f"log-normal, sd {s:g}": log_normal(s) for s in (0.2, 0.5, 1.0, 2.0)},
    **{f"t, {df} df": student(df) for df in (1, 2, 3, 5, 10)},
    **{f"gamma {a:g}": gamma(a) for a in (0.5, 1.5, 20.0)},
    **{f"beta {a:g}, {b:g}": beta(a, b) for a, b in ((0.5, 0.5), (2.0, 5.0), (30.0, 1.0))},
    **{f"inverse gamma {a:g}": inverse_gamma(a) for a in (0.8, 1.5, 5.0)},
    "narrow mode apart": two_normals(0.1, 3.5, 0.05),
    "wide mode apart": two_normals(0.3, 4.0, 1.0),
    "far modes": two_normals(0.5, 12.0, 1.0),
    "shoulder": two_normals(0.3, 2.0, 0.7),
    "cancelling, 0.1": cancelling(0.1),
    "cancelling, 0.2": cancelling(0.2),
    "banana 0.2": banana(0.2),
    "banana 1": banana(1.0),
    "banana 3, thin": banana(3.0, 0.1),
    "rosenbrock": rosenbrock(),
    "schools, centred": schools(centred=True),
    "schools, in units": schools(centred=False),
    "coin": coin(),
    "coin, steep": coin(slope=1.3),
    "coin, flat": coin(slope=0.7),
    "coin, few rows": coin(ignores=True),
    "wall, nan": walled(np.nan),
    "wall, -inf": walled(-np.inf),
}
