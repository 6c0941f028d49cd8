"""Awkward densities of one's own at the defaults: what is trusted, and whether it is right.

    python benchmarks/awkward.py [--seeds 2] [--only NAME]

Each is a `sgmc.NumbaModel` whose means and sds are known.  It is right where means are within 0.15
sd and sds within 20 %.  Verdicts fall into: trusted and right, not trusted (with the advice given),
trusted with modes that no chain visited (the verdict then says from how many starts modes were
looked for), and trusted and wrong, of which there must be none.
"""

import argparse
import math
import warnings
from collections import Counter
from typing import NamedTuple

import numpy as np

import sgmc

MEAN_RIGHT, SD_RIGHT = 0.15, 0.2
UNIT = ("interval", 0.0, 1.0)
SCHOOLS = [28.0, 8, -3, 7, -1, 1, 18, 12], [15.0, 10, 16, 11, 9, 11, 10, 18]


class Density(NamedTuple):
    """One of them."""

    log_lik: object
    parameters: dict
    truth: dict  # name -> (mean, sd); empty where there is no sd
    constraints: dict = {}
    prior: object = "flat"
    data: tuple = ()
    modes: bool = False  # far apart
    log_prior: object = None


def by_sums(log_density, low, high, points=400_001):
    """Mean and sd of a density on an interval."""
    x = np.linspace(low, high, points)
    value = log_density(x)
    weight = np.exp(value - value.max())
    weight /= weight.sum()
    mean = weight @ x
    return mean, math.sqrt(weight @ (x - mean) ** 2)


def in_the_plane(log_density, reach, points=2001):
    """Means and sds of x and y."""
    at = np.linspace(-reach, reach, points)
    x, y = np.meshgrid(at, at, indexing="ij")
    value = log_density(x, y)
    weight = np.exp(value - value.max())
    weight /= weight.sum()
    means = {"x": (weight * x).sum(), "y": (weight * y).sum()}
    return {
        name: (means[name], math.sqrt((weight * (one - means[name]) ** 2).sum()))
        for name, one in (("x", x), ("y", y))
    }


def funnel(t):
    """Neal's, of any number of widths."""
    total = -0.5 * (t.v / 3) ** 2
    for j in range(len(t.x)):
        total += -0.5 * t.x[j] ** 2 * np.exp(-t.v) - 0.5 * t.v
    return total


def school(t, y, se, j):
    """An outcome of eight schools."""
    return -0.5 * ((y - t.effect[j]) / se) ** 2


def centred(t):
    """Prior of effects around mu with sd tau."""
    total = -0.5 * (t.mu / 5) ** 2 - np.log(1 + (t.tau / 5) ** 2)
    for j in range(len(t.effect)):
        total += -0.5 * ((t.effect[j] - t.mu) / t.tau) ** 2 - np.log(t.tau)
    return total


def banana(bend, width):
    """A parabola around a standard normal."""

    def log_lik(t):
        return -0.5 * t.x**2 - 0.5 * ((t.y - bend * (t.x**2 - 1)) / width) ** 2

    truth = {"x": (0, 1), "y": (0, math.sqrt(2 * bend**2 + width**2))}
    return Density(log_lik, {"x": (), "y": ()}, truth)


def rosenbrock(t):
    """Its function."""
    return -0.05 * (1 - t.x) ** 2 - 5 * (t.y - t.x**2) ** 2


def laplaces(t):
    """Double exponentials of falling sds."""
    total = 0.0
    for j in range(5):
        total -= abs(t.x[j]) * (j + 1)
    return total


def step(t):
    """A normal ten times as high on one side."""
    return -0.5 * t.x**2 + (2.3 if t.x > 0 else 0.0)


def stairs(t):
    """A normal with three steps."""
    level = 0.0
    if t.x > 1:
        level = -1.0
    if t.x > 2:
        level = -3.0
    if t.x < -1:
        level = -1.5
    return -0.1 * t.x**2 + level


def steps(x):
    """The same in numpy."""
    level = np.where(x > 2, -3.0, np.where(x > 1, -1.0, np.where(x < -1, -1.5, 0.0)))
    return -0.1 * x**2 + level


def wall(t):
    """A normal that ends."""
    return -0.5 * t.x**2 if t.x > -0.5 else -np.inf


def corner(t):
    """A normal with a step across."""
    return -0.5 * (t.x**2 + t.y**2) + (1.5 if t.x + t.y > 1 else 0.0)


def two_normals(a, share, sd_a, b, sd_b, modes=True):
    """A mixture of two normals."""

    def log_lik(t):
        return np.logaddexp(
            np.log(share) - np.log(sd_a) - 0.5 * ((t.x - a) / sd_a) ** 2,
            np.log(1 - share) - np.log(sd_b) - 0.5 * ((t.x - b) / sd_b) ** 2,
        )

    mean = share * a + (1 - share) * b
    square = share * (sd_a**2 + a**2) + (1 - share) * (sd_b**2 + b**2)
    truth = {"x": (mean, math.sqrt(square - mean**2))}
    return Density(log_lik, {"x": ()}, truth, modes=modes)


def scales(t):
    """Normals with sds from 1e-6 to 1e6."""
    total = 0.0
    for j in range(13):
        total -= 0.5 * (t.x[j] * 10.0 ** (6 - j)) ** 2
    return total


def heavy(t):
    """A t distribution in five dimensions."""
    total = 0.0
    for j in range(5):
        total += t.x[j] ** 2
    return -5.0 * np.log1p(total / 5)


def ring(t):
    """Mass on a circle."""
    return -0.5 * ((np.sqrt(t.x**2 + t.y**2) - 3) / 0.2) ** 2


def one(log_lik, truth, constraint=None, **more):
    """A density of one number x."""
    limits = {"x": constraint} if constraint else {}
    return Density(log_lik, {"x": ()}, {"x": truth} if truth else {}, limits, **more)


def plane(log_lik, truth, constraints=None):
    """A density of x and y."""
    return Density(log_lik, {"x": (), "y": ()}, truth, constraints or {})


def densities():
    """All of them by name."""
    root = math.sqrt
    found = {
        f"funnel {d + 1}": Density(funnel, {"v": (), "x": d}, {"v": (0, 3)}) for d in (1, 4, 9)
    }
    found["schools, centred"] = Density(
        school,
        {"mu": (), "tau": (), "effect": 8},
        {"mu": (4.397, 3.318), "tau": (3.598, 3.220)},  # by quadrature
        {"tau": "positive"},
        None,
        (*map(np.array, SCHOOLS), np.arange(8)),
        log_prior=centred,
    )
    for bend, width in ((1.0, 1.0), (1.0, 0.3), (3.0, 0.1)):
        found[f"banana {bend} {width}"] = banana(bend, width)
    found["rosenbrock"] = plane(rosenbrock, {"x": (1, root(10)), "y": (11, root(0.1 + 40 + 200))})
    falling = {f"x[{j}]": (0, root(2) / (j + 1)) for j in range(5)}
    normals = {f"x[{j}]": (0, 10.0 ** (j - 6)) for j in range(13)}
    correlated = {"x": (0, 1), "y": (0, 1)}
    found |= {
        "laplace": one(lambda t: -abs(t.x), (0, root(2))),
        "laplace 5": Density(laplaces, {"x": 5}, falling),
        "laplace, skewed": one(lambda t: -max(4 * t.x, -0.5 * t.x), (-1.75, root(4.0625))),
        "kink": one(
            lambda t: -0.5 * t.x**2 - 3 * abs(t.x - 1),
            by_sums(lambda x: -0.5 * x**2 - 3 * abs(x - 1), -8, 8),
        ),
        "step": one(step, by_sums(lambda x: -0.5 * x**2 + 2.3 * (x > 0), -9, 9)),
        "stairs": one(stairs, by_sums(steps, -18, 18)),
        "wall": one(wall, by_sums(lambda x: -0.5 * x**2, -0.5, 9)),
        "step, plane": plane(
            corner, in_the_plane(lambda x, y: -0.5 * (x**2 + y**2) + 1.5 * (x + y > 1), 7)
        ),
        "beta 0.5 0.5": one(
            lambda t: -0.5 * np.log(t.x) - 0.5 * np.log(1 - t.x), (0.5, root(0.125)), UNIT
        ),
        "beta 50 0.7": one(
            lambda t: 49 * np.log(t.x) - 0.3 * np.log(1 - t.x),
            (50 / 50.7, root(35 / (50.7**2 * 51.7))),
            UNIT,
        ),
        "uniform": one(lambda t: 0.0 * t.x, (0.5, root(1 / 12)), UNIT),
        "gamma 0.3": one(lambda t: -0.7 * np.log(t.x) - t.x, (0.3, root(0.3)), "positive"),
        "exponential": one(lambda t: -t.x, (1, 1), "positive"),
        "half-normal": one(
            lambda t: -0.5 * t.x**2, (root(2 / math.pi), root(1 - 2 / math.pi)), "positive"
        ),
        "modes 2 sds off": two_normals(-2, 0.5, 1, 2, 1),
        "modes 4 sds off": two_normals(-4, 0.5, 1, 4, 1),
        "modes 10 sds off": two_normals(-10, 0.5, 1, 10, 1),
        "modes, 1 to 4": two_normals(-5, 0.2, 1, 5, 1),
        "narrow in wide": two_normals(0, 0.5, 0.1, 0, 3, modes=False),
        "narrow beside wide": two_normals(-6, 0.3, 0.2, 3, 1),
        "scales 1e-6 to 1e6": Density(scales, {"x": 13}, normals),
        "sd 1e-6 at 1000": one(lambda t: -0.5 * ((t.x - 1000.0) * 1e6) ** 2, (1000, 1e-6)),
        "sd 1e6": one(lambda t: -0.5 * (t.x * 1e-6) ** 2, (0, 1e6)),
        "mean 1e6": one(lambda t: -0.5 * (t.x - 1e6) ** 2, (1e6, 1)),
        "correlation 0.9999": plane(
            lambda t: -0.5 * (t.x**2 - 1.9998 * t.x * t.y + t.y**2) / (1 - 0.9999**2), correlated
        ),
        "default prior far off": one(
            lambda t, y: -0.5 * (t.x - y) ** 2,
            (500 / (1 + 1 / 2000), root(1 / 20)),
            prior=None,
            data=(np.full(20, 500.0),),
        ),
        "rates 1e-6 and 1e6": plane(
            lambda t: -(t.x * 1e6) - (t.y * 1e-6),
            {"x": (1e-6, 1e-6), "y": (1e6, 1e6)},
            {"x": "positive", "y": "positive"},
        ),
        "t3": one(lambda t: -2 * np.log1p(t.x**2 / 3), (0, root(3))),
        "t5 in 5": Density(heavy, {"x": 5}, {f"x[{j}]": (0, root(5 / 3)) for j in range(5)}),
        "cauchy": one(lambda t: -np.log1p(t.x**2), None),
        "t2": one(lambda t: -1.5 * np.log1p(t.x**2 / 2), None),
        "gumbel": one(lambda t: -t.x - np.exp(-t.x), (np.euler_gamma, math.pi / root(6))),
        "lognormal": one(
            lambda t: -np.log(t.x) - 0.5 * (np.log(t.x) / 1.5) ** 2,
            (math.exp(1.125), root(math.expm1(2.25) * math.exp(2.25))),
            "positive",
        ),
        "quartic": plane(
            lambda t: -(t.x**4) - t.y**4 - 0.5 * (t.x * t.y) ** 2,
            in_the_plane(lambda x, y: -(x**4) - y**4 - 0.5 * (x * y) ** 2, 4),
        ),
        "ring": plane(ring, in_the_plane(lambda x, y: -0.5 * ((np.hypot(x, y) - 3) / 0.2) ** 2, 6)),
    }
    return found


def judged(density, results):
    """Which of four a fit is, and its largest errors."""
    errors = [
        (abs(results.params[name] - mean) / sd, abs(results.bse[name] / sd - 1))
        for name, (mean, sd) in density.truth.items()
    ]
    off, spread = np.max(errors, axis=0) if errors else (np.inf, np.inf)
    right = off < MEAN_RIGHT and spread < SD_RIGHT
    if not results.verdict.trustworthy:
        return "not trusted", off, spread
    said = density.modes and "Modes: one start" in results.verdict.text
    return "right" if right else "modes not visited" if said else "WRONG", off, spread


def main():
    """Print a line for each fit, and the sums."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only")
    asked, sums = parser.parse_args(), Counter()
    for name, density in densities().items():
        if asked.only and name != asked.only:
            continue
        given = {"constraints": density.constraints, "log_prior": density.log_prior}
        if density.prior is not None:
            given["prior"] = density.prior
        model = sgmc.NumbaModel(
            density.log_lik, density.data, parameters=density.parameters, **given
        )
        for seed in range(1, asked.seeds + 1):
            results = model.fit(seed=seed)
            kind, off, spread = judged(density, results)
            sums[kind] += 1
            sampler = type(results.sampler).__name__
            said = results.verdict.text.partition(":")[2][:70] if kind == "not trusted" else ""
            line = f"{name:22s} seed {seed} {sampler:5s} mean off {off:6.3f} sd off {spread:6.3f}"
            print(f"{line} {kind} {said}", flush=True)
    print(dict(sums))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
