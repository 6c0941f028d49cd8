"""Order of the bias of samplers with exact gradients: errors of two moments against the step, and
slopes on a log-log scale.

    python benchmarks/bias_order.py [--quick] [--samplers sgld lmsgld]

The target has independent coordinates of density exp(-x^2/2 + cos(1.5 x)), whose curvature lies
between -1.25 and 3.25: on a Gaussian lmsgld, baoab and sghmc have no bias at all.  Each line is one
step size: relative errors of the variance and of E cos 3x (which chains forget faster), truth by
quadrature, with Monte Carlo standard errors from 50 blocks of one chain of 256 coordinates.  The
slopes are weighted least squares of log |error| on log step, with the standard errors that this
gives; a slope holds in the limit of short steps, so the next order of the error comes on top.

Why the orders are what they are (see CASES for references):

* sgld is Euler's method.  lmsgld has an error of order 2 at stationarity, though of order 1 at a
  given time.
* baoab is a symmetric splitting; where all momentum is forgotten at each step (friction = infinity)
  it is lmsgld with h = e^2.
* sghmc goes from y and p in the middle of a drift to x = y + e p / 2, p' = (1 - eC) p + e g(x) +
  N(0, 2eC), y' = x + e p' / 2; then y' - y = e (p + p') / 2.  The density K of that noise and that
  of the way back, from (y', -p') to (y, -p), have log K_back / K = (1 - eC/2)(p'^2 - p^2) / 2 -
  g(x) (y' - y).  For the density exp(-U(y) - (1 - eC/2) p^2 / 2), detailed balance fails by U(y') -
  U(y) + g(x) (y' - y) = (e^2 / 8) U''(x) (p'^2 - p^2) + O(e^3) alone: order 2 for positions,
  nothing at all on a Gaussian (U'' is then part of the law of p), though momenta are wrong at
  order 1.  Up to scale it is the method of Bruenger, Brooks & Karplus (1984) with time step e /
  sqrt(1 - eC/2).
* sgnht and msgnht hold momenta after a kick at variance 1, where that step has 1 / (1 - eC/2):
  positions are too narrow at order 1.  badodab is a symmetric splitting.
* vsgbd: E z tanh(z g / 2) = h g / 2 - E z^4 g^3 / 24 + ..: the drift is wrong at order 1 in h = E
  z^2 = 1.01 sigma^2.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from _ext.toy_densities import Wavy
from chains import block_means, estimate, expectation, in_threads

import sgmc

DIM = 256
COST = {1: 2e8, 2: 8e8, 4: 8e8}  # coordinates times steps of a chain, by order


@dataclass(frozen=True)
class Case:
    """A sampler, the order of its bias in its own step, step sizes, and who shows it.

    Attributes
    ----------
    spec : SamplerSpec
    order : int
    steps : tuple of float
    source : str
    """

    spec: object
    order: int
    steps: tuple
    source: str


CASES = {
    "sgld": Case(sgmc.SGLD(), 1, (0.05, 0.1, 0.2), "Talay & Tubaro 1990"),
    "lmsgld": Case(sgmc.LMSGLD(), 2, (0.2, 0.3, 0.45), "Leimkuhler, Matthews & Tretyakov 2014"),
    "baoab": Case(
        sgmc.BAOAB(friction=0.5), 2, (0.2, 0.3, 0.45), "Leimkuhler, Matthews & Stoltz 2016"
    ),
    "baoab-limit": Case(
        sgmc.BAOAB(friction=1000.0), 4, (0.4, 0.5, 0.63), "Leimkuhler & Matthews 2013"
    ),
    "sghmc": Case(sgmc.SGHMC(leapfrog=1, friction=0.5), 2, (0.1, 0.15, 0.22), "see above"),
    "sgnht": Case(sgmc.SGNHT(), 1, (0.025, 0.05, 0.1), "Leimkuhler & Shang 2016"),
    "msgnht": Case(sgmc.MSGNHT(), 1, (0.025, 0.05, 0.1), "Leimkuhler & Shang 2016"),
    "badodab": Case(sgmc.BADODAB(), 2, (0.14, 0.2, 0.28), "Leimkuhler & Shang 2016"),
    "vsgbd": Case(
        sgmc.VSGBD(), 2, (0.2, 0.3, 0.45), "1 in h; Livingstone, Nuesken, Vasdekis & Zhang 2024"
    ),
}


def observe(x):
    """x^2 and cos 3x: the target is symmetric."""
    return [x * x, np.cos(3 * x)]


def log_density(x):
    """Of one coordinate, up to a constant."""
    return -0.5 * x * x + np.cos(1.5 * x)


def slope(steps, errors, spread):
    """Slope of log |error| on log step by weighted least squares, and its standard error."""
    x, y, weight = np.log(steps), np.log(np.abs(errors)), (errors / spread) ** 2
    x = x - np.average(x, weights=weight)
    curve = (weight * x * x).sum()
    return (weight * x * y).sum() / curve, curve**-0.5


def errors(case, cost, seed=1):
    """Relative errors of the two moments and their standard errors, (steps, 2) each."""
    truth = expectation(log_density, observe, 9.0)
    found = in_threads(
        {
            e: lambda e=e: estimate(
                block_means(case.spec, Wavy(DIM), e, int(cost / DIM), observe, seed=seed)
            )
            for e in case.steps
        }
    )
    means, spread = np.array([found[e] for e in case.steps]).transpose(1, 0, 2)
    return means / truth - 1, spread / np.abs(truth)


def main():
    """Print the table."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--quick", action="store_true", help="chains 40 times shorter")
    arguments.add_argument("--samplers", nargs="+", default=list(CASES))
    options = arguments.parse_args()
    print(f"{'sampler':12s} {'step':>6s} {'variance (se)':>22s}{'E cos 3x (se)':>22s}")
    for name in options.samplers:
        case = CASES[name]
        error, spread = errors(case, COST[case.order] / (40 if options.quick else 1))
        for e, *row in zip(case.steps, error, spread):
            cells = "".join(f"{a:+12.5f} ({s:.5f})" for a, s in zip(*row))
            print(f"{name:12s} {e:6g} {cells}")
        cells = "".join(
            "{:+12.2f} ({:.2f})   ".format(*slope(case.steps, error[:, k], spread[:, k]))
            for k in range(2)
        )
        print(f"{name:12s} {'slope':>6s} {cells}   theory {case.order}: {case.source}", flush=True)


if __name__ == "__main__":
    main()
