"""Smooths: seconds, effective draws and memory beside a point estimate by statsmodels' GLMGam.

    python benchmarks/smooths.py [--quick]

Two curves of ten basis functions each, simulated tables of 10,000 and 100,000 rows, normal and
binary outcomes, from a table to ``str(summary())`` at default settings on one core.  The rival has
the same number of cubic B-splines and penalties that are given, not learned: its time is a floor.
"""

import argparse
import os
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
import statsmodels.api as sm
from measured import timed
from statsmodels.gam.api import BSplines, GLMGam

import sgmc

ROWS, QUICK, PENALTY = (10_000, 100_000), (5_000,), 1.0


def table(rows):
    """Two curves, normal and binary outcomes."""
    rng = np.random.default_rng(0)
    x, z = rng.uniform(size=(2, rows))
    eta = np.sin(6 * x) + np.cos(4 * z)
    y = eta + rng.normal(size=rows)
    binary = (rng.uniform(size=rows) < 1 / (1 + np.exp(-eta))).astype(int)
    return pd.DataFrame({"x": x, "z": z, "y": y, "b": binary})


def rival(outcome, frame, family):
    """statsmodels' penalised estimate."""
    splines = BSplines(frame[["x", "z"]], df=[10, 10], degree=[3, 3])
    model = GLMGam(frame[outcome], np.ones(len(frame)), splines, [PENALTY] * 2, family=family)
    return str(model.fit().summary())


def main():
    """Print a line for each table and verb."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--quick", action="store_true", help="5,000 rows")
    quick = arguments.parse_args().quick
    warnings.simplefilter("ignore")
    sgmc.ols("y ~ s(x)", table(500), seed=0)  # what is loaded at first use
    for rows in QUICK if quick else ROWS:
        frame = table(rows)
        for verb, outcome, family in (
            ("ols", "y", sm.families.Gaussian()),
            ("logit", "b", sm.families.Binomial()),
        ):
            fit = getattr(sgmc, verb)
            seconds, megabytes, results = timed(
                lambda fit=fit, outcome=outcome, frame=frame: told(
                    fit(f"{outcome} ~ s(x) + s(z)", frame, seed=1)
                )
            )
            theirs = timed(
                lambda outcome=outcome, frame=frame, family=family: rival(outcome, frame, family)
            )[0]
            print(
                f"{rows:9,} rows  {verb:5s}  {seconds:6.2f} s, {results.ess().min():5.0f} effective"
                f" draws, {megabytes:4.0f} MB; GLMGam's estimate {theirs:.2f} s: "
                f"{seconds / theirs:.1f}",
                flush=True,
            )


def told(results):
    """The results, their summary printed into nothing."""
    str(results.summary())
    return results


if __name__ == "__main__":
    main()
