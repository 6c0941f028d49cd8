"""What `auto` chooses on a grid of rows, columns and families, with the time of each alternative.

    python benchmarks/choices.py [--large]

Columns are seconds of one core per 1,000 effective draws, from the posterior's mode on: pilot,
warmup and sampling, divided by the least bulk effective size of all means.  The last number is the
time of what `auto` chose over that of the fastest.
"""

import sys
import time
import warnings

import numpy as np

import sgmc
from sgmc.core.system.blas import one_blas_thread
from sgmc.diagnostics import ess
from sgmc.fit.run import fit
from sgmc.fit.settings import check_settings

ALTERNATIVES = {
    "lmsgld": {"sampler": "lmsgld"},
    "mala": {"sampler": "mala"},
    "hmc x 32": {"sampler": sgmc.HMC(walkers=32)},
    "imh": {"sampler": "imh"},
    "auto": {},
}
GRID = [
    *(("logit", n, d) for n, d in [(2000, 10), (20_000, 10), (2000, 64), (20_000, 64)]),
    *(("logit", n, d) for n, d in [(5000, 100), (5000, 200), (20_000, 200)]),
    *((family, 10_000, 100) for family in ("poisson", "probit", "ols")),
]
LARGE = [
    ("logit", 100_000, 64),
    ("logit", 100_000, 200),
    ("logit", 10_000, 400),
    ("poisson", 50_000, 64),
]


def table(family, n, d, seed=1):
    """Standard normal columns whose predictor has an sd of one half."""
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d))
    eta = X @ rng.normal(size=d) / (2 * np.sqrt(d))
    draw = {
        "logit": lambda: rng.random(n) < 1 / (1 + np.exp(-eta)),
        "probit": lambda: rng.random(n) < 1 / (1 + np.exp(-1.7 * eta)),
        "poisson": lambda: rng.poisson(np.exp(eta)),
        "ols": lambda: eta + rng.normal(size=n),
    }[family]
    return X, draw().astype(float)


def seconds(model, options, draws=1000):
    """Seconds of one core per 1,000 effective draws, and the plan."""
    settings = check_settings(seed=1, threads=1, draws=draws, **options)
    with one_blas_thread():
        problem = model.problem(None, settings)
    begun = time.process_time()
    done = fit(problem, settings, time.perf_counter())
    spent = time.process_time() - begun
    size = ess(problem.kept(done.x)[0]).min()
    return 1000 * spent / size, done.plan


def main():
    """Print the grid."""
    print(
        f"{'family':8} {'rows':>7} {'columns':>7}",
        *(f"{name:>10}" for name in ALTERNATIVES),
        " over fastest   auto",
    )
    for family, n, d in LARGE if "--large" in sys.argv else GRID:
        X, y = table(family, n, d)
        model = {
            "logit": sgmc.Logit,
            "probit": sgmc.Probit,
            "poisson": sgmc.Poisson,
            "ols": sgmc.OLS,
        }[family](y, X)
        found = {name: seconds(model, options) for name, options in ALTERNATIVES.items()}
        fastest = min(time for time, _ in found.values())
        plan = found["auto"][1]
        print(
            f"{family:8} {n:7} {d:7}",
            *(f"{time:10.2f}" for time, _ in found.values()),
            f"{found['auto'][0] / fastest:8.2f}   {plan.spec!r} thin {plan.thin}, {plan.reason}",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
