"""`accuracy=` and `sgmc.plan` against what comes: how many of 200 fits keep the accuracy, and the
seconds, draws and effective draws of plans beside those of their fits.

    PYTHONPATH=. python benchmarks/plan.py [--quick]        from the source tree
"""

import sys
import warnings

import numpy as np
import pandas as pd
from scipy import special

import sgmc
from sgmc.errors import SGMCWarning
from tests.accuracy.cases import ACCURACY, errors, fit

FITS = 200
FACTOR = 1.5  # within which seconds are to be
CASES = (
    ("ols", {}),
    ("logit", {}),
    ("logit", {"sampler": "mala"}),
    ("logit", {"sampler": "sghmc"}),
)
SAMPLERS = ("lmsgld", "sgld", "sghmc", "baoab", "mala", "hmc")


def coverage(fits):
    """How many fits have all means within the accuracy, and the mean square of their errors over
    what is allowed for.
    """
    print(f"{'family':8} {'sampler':8} kept of {fits}   errors / allowed   draws a chain")
    for family, how in CASES:
        found = [fit(family, seed, **how) for seed in range(fits)]
        off = np.array([errors(one, family) for one in found])
        kept = (np.abs(off).max(axis=1) <= ACCURACY).sum()
        allowed = ACCURACY / special.ndtri((1 + 0.95 ** (1 / off.shape[1])) / 2)
        draws = sorted({one.draws.shape[1] for one in found})
        size = np.sqrt(np.mean((off / allowed) ** 2))
        print(f"{family:8} {how.get('sampler', 'auto'):8} {kept:8} {size:17.2f}       {draws}")


def seconds(rows):
    """Plans of a logistic regression beside their fits."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, 10))).add_prefix("x")
    logits = frame.to_numpy() @ rng.normal(size=10) / 3
    frame["y"] = (rng.random(rows) < special.expit(logits)).astype(int)
    model = sgmc.Logit.from_formula("y ~ .", frame)
    model.fit(draws=10, seed=1)  # files and pages are warm from here on
    print(f"\n{'sampler':8} {'draws':>12} {'effective':>14} {'seconds':>16}   ratio")
    for sampler in SAMPLERS:
        plan = sgmc.plan(model, 0.03, sampler=sampler, seed=1)
        found = model.fit(**plan.arguments)
        took, size = found._fit.seconds, found.ess("mean").mean()
        ratio = plan.seconds / took
        missed = "" if 1 / FACTOR <= ratio <= FACTOR else f"  beyond {FACTOR}"
        print(
            f"{sampler:8} {plan.draws:6} {found.draws.shape[1]:5} {plan.effective_draws:8.0f} "
            f"{size:5.0f} {plan.seconds:9.2f} {took:6.2f} {ratio:7.2f}{missed}"
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore", SGMCWarning)
    quick = "--quick" in sys.argv
    coverage(20 if quick else FITS)
    seconds(20_000 if quick else 200_000)
