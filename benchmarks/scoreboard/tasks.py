"""The tasks, each simulated from its own seed; real tables where SGMC_DATA has them."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from problem import Problem
from terms import Term

USUAL = {"coef": 2.5, "sigma": 5.0, "sd": 2.0, "alpha": 2.0}
# published estimates and standard errors: Rubin (1981), doi:10.3102/10769986006004377
SCHOOLS = [28, 8, -3, 7, -1, 1, 18, 12], [15, 10, 16, 11, 9, 11, 10, 18]


class Absent(Exception):
    """A task whose table is not here."""


def table(rng, rows, numbers):
    """Standard normal columns x0, x1, ..., their slopes, and the linear predictor."""
    X = rng.normal(size=(rows, numbers))
    slopes = rng.normal(size=numbers) * 0.5 / np.sqrt(max(numbers / 4, 1))
    names = [f"x{j}" for j in range(numbers)]
    return pd.DataFrame(X, columns=names), names, X @ slopes


def coins(rng, eta):
    """0 or 1 with these log-odds."""
    return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(np.int64)


def logit(name, title, rows, numbers, seed):
    """A logistic regression on numbers."""
    rng = np.random.default_rng(seed)
    frame, names, eta = table(rng, rows, numbers)
    frame["y"] = coins(rng, eta - 0.5)
    return Problem(name, title, "regression", "logit", frame, names, prior=USUAL)


def poisson(name, title, rows, numbers, seed):
    """Counts with exposures between 0.5 and 2."""
    rng = np.random.default_rng(seed)
    frame, names, eta = table(rng, rows, numbers)
    frame["time"] = rng.uniform(0.5, 2, rows)
    frame["y"] = rng.poisson(frame["time"] * np.exp(eta - 0.5))
    return Problem(name, title, "regression", "poisson", frame, names, exposure="time", prior=USUAL)


def ols(name, title, rows, numbers, seed):
    """Normal errors with sd 1.5."""
    rng = np.random.default_rng(seed)
    frame, names, eta = table(rng, rows, numbers)
    frame["y"] = 1 + eta + 1.5 * rng.normal(size=rows)
    return Problem(name, title, "regression", "ols", frame, names, prior=USUAL)


def factors(name, title, rows, levels, seed):
    """A logistic regression on a number and factors of many levels."""
    rng = np.random.default_rng(seed)
    frame, names, eta = table(rng, rows, 1)
    eta, columns = eta - 0.5, []
    for k, size in enumerate(levels):
        codes = rng.integers(0, size, rows)
        eta = eta + 0.4 * rng.normal(size=size)[codes]
        frame[f"f{k}"] = pd.Categorical.from_codes(codes, [f"v{j:03d}" for j in range(size)])
        columns.append(f"f{k}")
    frame["y"] = coins(rng, eta)
    return Problem(name, title, "factor-rich", "logit", frame, names, columns, prior=USUAL)


def grouped_logit(name, title, rows, groups, seed):
    """An intercept per group."""
    rng = np.random.default_rng(seed)
    frame, names, eta = table(rng, rows, 4)
    frame["g"] = rng.integers(0, groups, rows)
    frame["y"] = coins(rng, eta - 0.5 + 0.7 * rng.normal(size=groups)[frame["g"]])
    return Problem(name, title, "grouped", "logit", frame, names, groups=[("g", [])], prior=USUAL)


def slopes(name, title, groups, each, seed):
    """Correlated intercepts and slopes per group, normal errors."""
    rng = np.random.default_rng(seed)
    frame, names, eta = table(rng, groups * each, 2)
    frame["g"] = np.repeat(np.arange(groups), each)
    cov = np.array([[0.64, 0.12], [0.12, 0.16]])
    effects = rng.multivariate_normal([0, 0], cov, groups)[frame["g"]]
    frame["y"] = 1 + eta + effects[:, 0] + effects[:, 1] * frame["x0"] + rng.normal(size=len(eta))
    return Problem(name, title, "grouped", "ols", frame, names, groups=[("g", ["x0"])], prior=USUAL)


def sleepstudy(name, title, seed):
    """Reaction times of 18 subjects on ten days (Belenky et al. 2003), in units of 100 ms."""
    path = Path(os.environ.get("SGMC_DATA", "")) / "grouped" / "sleepstudy.csv"
    if not path.exists():
        raise Absent(f"no grouped/{path.name} in SGMC_DATA")
    found = pd.read_csv(path)
    frame = pd.DataFrame(
        {"Days": found["Days"].astype(float), "g": found["Subject"], "y": found["Reaction"] / 100}
    )
    return Problem(
        name, title, "grouped", "ols", frame, ["Days"], groups=[("g", ["Days"])], prior=USUAL
    )


def crossed(name, title, rows, sizes, seed):
    """Two crossed factors, normal errors."""
    rng = np.random.default_rng(seed)
    frame, names, eta = table(rng, rows, 2)
    for column, size, sd in zip("si", sizes, (0.6, 0.4)):
        frame[column] = rng.integers(0, size, rows)
        eta = eta + sd * rng.normal(size=size)[frame[column]]
    frame["y"] = 1 + eta + rng.normal(size=rows)
    return Problem(
        name, title, "grouped", "ols", frame, names, groups=[("s", []), ("i", [])], prior=USUAL
    )


def heavy(name, title, rows, numbers, seed):
    """Student t errors with four degrees of freedom, which are learned."""
    rng = np.random.default_rng(seed)
    frame, names, eta = table(rng, rows, numbers)
    frame["y"] = 1 + eta + rng.standard_t(4, rows)
    return Problem(name, title, "regression", "studentt", frame, names, prior=USUAL)


def negbin(name, title, rows, numbers, seed):
    """Counts with variance mu + 0.5 mu^2."""
    rng = np.random.default_rng(seed)
    frame, names, eta = table(rng, rows, numbers)
    frame["y"] = rng.poisson(np.exp(eta + 0.5) * rng.gamma(2, 0.5, rows))
    return Problem(name, title, "regression", "negbin", frame, names, prior=USUAL)


def curved(name, title, family, rows, seed):
    """A sine of x beside a straight line of z, coins or normal errors."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"z": rng.normal(size=rows), "x": rng.uniform(-1, 1, rows)})
    eta = 0.5 * frame["z"].to_numpy() + np.sin(4 * frame["x"].to_numpy())
    frame["y"] = coins(rng, eta - 0.5) if family == "logit" else 1 + eta + rng.normal(size=rows)
    terms = [Term("s", "x", (-0.9, -0.4, 0.0, 0.4, 0.9))]
    return Problem(name, title, "smooth", family, frame, ["z", "x"], terms=terms, prior=USUAL)


def walked(name, title, rows, times, seed):
    """A random walk over the times, normal errors."""
    rng = np.random.default_rng(seed)
    path = np.cumsum(0.3 * rng.normal(size=times))
    frame = pd.DataFrame({"z": rng.normal(size=rows), "t": rng.integers(0, times, rows)})
    frame["y"] = 1 + 0.5 * frame["z"] + path[frame["t"]] + rng.normal(size=rows)
    places = tuple(int(one) for one in np.linspace(0, times - 1, 5))
    terms = [Term("rw1", "t", places)]
    return Problem(name, title, "structured", "ols", frame, ["z"], terms=terms, prior=USUAL)


def mapped(name, title, rows, side, seed):
    """Counts in the squares of a board, whose risks vary smoothly."""
    rng = np.random.default_rng(seed)
    graph = {}
    for i in range(side):
        for j in range(side):
            near = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
            graph[side * i + j] = [
                side * a + b for a, b in near if 0 <= min(a, b) <= max(a, b) < side
            ]
    risk = np.array([0.6 * np.sin(k // side / 2) + 0.4 * np.cos(k % side / 2) for k in graph])
    frame = pd.DataFrame({"z": rng.normal(size=rows), "r": np.arange(rows) % side**2})
    frame["time"] = rng.uniform(0.5, 2, rows)
    frame["y"] = rng.poisson(frame["time"] * np.exp(0.3 * frame["z"] + risk[frame["r"]]))
    places = (0, side - 1, side**2 // 2, side * (side - 1), side**2 - 1)
    return Problem(
        name, title, "structured", "poisson", frame, ["z"], exposure="time",
        terms=[Term("car", "r", places, graph)], prior=USUAL,
    )  # fmt: skip


def schools(name, title, seed):
    """Eight schools, non-centred: mu ~ N(0, 5), tau ~ half-Cauchy(5)."""
    frame = pd.DataFrame({"y": np.array(SCHOOLS[0], float), "se": np.array(SCHOOLS[1], float)})
    return Problem(name, title, "density", "schools", frame)


def curve(name, title, seed):
    """Growth a - b c^x of 27 animals, the model of the dugongs of BUGS, on simulated rows:
    a, b ~ N(0, 10), c ~ U(0.5, 0.95), sigma ~ half-normal(1).
    """
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(1, 30, 27))
    y = 2.65 - 0.97 * 0.87**x + 0.1 * rng.normal(size=27)
    return Problem(name, title, "density", "curve", pd.DataFrame({"x": x, "y": y}))


TASKS = {  # name: builder, title, arguments; the seed is last
    "logit": (logit, "logit, 10,000 x 10", 10_000, 10, 1),
    "logit_million": (logit, "logit, 1,000,000 x 10", 1_000_000, 10, 2),
    "poisson": (poisson, "poisson with exposure, 100,000 x 5", 100_000, 5, 3),
    "ols": (ols, "ols, 100,000 x 20", 100_000, 20, 4),
    "wide": (logit, "logit, 20,000 x 200", 20_000, 200, 5),
    "factors": (
        factors, "logit, factors of 50 and 300 levels, 100,000 rows", 100_000, (50, 300), 6,
    ),
    "factors_million": (
        factors, "logit, factors of 50 and 300 levels, 1,000,000 rows", 1_000_000, (50, 300), 7,
    ),
    "grouped": (grouped_logit, "logit, (1 | g), 100,000 rows, 1,000 groups", 100_000, 1000, 8),
    "slopes": (slopes, "ols, (1 + x | g), 5,000 rows, 500 groups", 500, 10, 9),
    "sleepstudy": (sleepstudy, "ols, sleepstudy, (1 + Days | Subject), 180 rows", 0),
    "crossed": (crossed, "ols, (1 | s) + (1 | i), 20,000 rows, 400 x 100", 20_000, (400, 100), 10),
    "heavy": (heavy, "Student t errors, df learned, 10,000 x 5", 10_000, 5, 11),
    "negbin": (negbin, "negative binomial, 10,000 x 5", 10_000, 5, 12),
    "smooth": (curved, "ols, s(x) + z, 20,000 rows", "ols", 20_000, 15),
    "smooth_logit": (curved, "logit, s(x) + z, 20,000 rows", "logit", 20_000, 16),
    "walk": (walked, "ols, rw1(t) + z, 10,000 rows, 60 times", 10_000, 60, 17),
    "map": (mapped, "poisson, car(r) + z, 5,000 rows, 100 regions", 5_000, 10, 18),
    "schools": (schools, "density: eight schools, non-centred", 0),
    "curve": (curve, "density: growth curve, 27 rows", 13),
    "tiny": (logit, "logit, 500 x 3 (quick mode)", 500, 3, 14),
}  # fmt: skip
QUICK = ["tiny", "schools"]


def problem(name):
    """The task of this name; `Absent` if its table is not here."""
    build, title, *arguments = TASKS[name]
    return build(name, title, *arguments)
