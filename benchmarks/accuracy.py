"""Accuracy of posteriors at default settings, against an independent exact reference.

    SGMC_DATA=... python benchmarks/accuracy.py REFERENCES [--cases fair a9a] [--samplers auto mala]
    [--seeds 5]

REFERENCES is the folder that `benchmarks/reference.py` wrote.  For each case and sampler: the
largest error of a posterior mean in posterior sds, the range of the sds' ratios to the reference,
over all coefficients, worst of the seeds; seconds of the slowest fit; and the warnings that every
seed's fit gave.  A row is marked MISS where it leaves the tolerance of its case, and UNWARNED where
a seed that missed had no warning of the kind that explains it.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

import sgmc
from sgmc.errors import (
    GradientNoiseWarning,
    LowESSWarning,
    ShapeWarning,
    SpreadWarning,
    StepSizeWarning,
)

SAMPLERS = (
    "auto",
    "sgld",
    "lmsgld",
    "vsgbd",
    "csgbd",
    "esgbd",
    "mala",
    "laplace",
    "lmsgld-cv",
    "sgld-simple",
)
FORMULAS = {
    "fair": ("fair", "affairs > 0 ~ ."),
    "default": ("default", "default ~ ."),
    "sepsis": (
        "sepsis",
        "hospital_outcome_1alive_0dead ~ age_years + sex_0male_1female + episode_number",
    ),
    "a9a": ("a9a", "y ~ ."),
    "flights": ("flights", "arr_delay > 15 ~ carrier + origin + distance + hour + month"),
}
TOLERANCES = {"a9a": (0.15, 0.90, 1.10)}
USUAL = (0.10, 0.95, 1.05)  # error of the means in sds, least and largest ratio of sds
EXPLAIN = (GradientNoiseWarning, LowESSWarning, ShapeWarning, SpreadWarning, StepSizeWarning)


def compare(results, reference):
    """Largest error of a mean, least and largest ratio of sds, over the coefficients of a
    reference.
    """
    names = [str(n) for n in reference["names"]]
    mean, sd = results.params[names].to_numpy(), results.bse[names].to_numpy()
    ratio = sd / reference["sd"]
    return np.abs((mean - reference["mean"]) / reference["sd"]).max(), ratio.min(), ratio.max()


def row(case, sampler, seeds, reference, data):
    """One line of the table."""
    worst, seconds, codes, unwarned = np.array([0.0, np.inf, -np.inf]), 0.0, set(), False
    limits = TOLERANCES.get(case, USUAL)
    for seed in range(seeds):
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sgmc.SGMCWarning)
            results = sgmc.logit(FORMULAS[case][1], data, sampler=sampler, seed=seed)
        seconds = max(seconds, time.perf_counter() - begun)
        error, low, high = compare(results, reference)
        explained = any(isinstance(w, EXPLAIN) for w in results.warnings)
        unwarned |= missed((error, low, high), limits) and not explained
        codes |= {w.code for w in results.warnings}
        worst = np.array([max(worst[0], error), min(worst[1], low), max(worst[2], high)])
    verdict = ("MISS" if missed(worst, limits) else "ok") + (" UNWARNED" if unwarned else "")
    print(
        f"{case:8s} {sampler:12s} mean {worst[0]:6.3f}  sd {worst[1]:5.3f}..{worst[2]:<6.3f} "
        f"{seconds:6.2f} s  {verdict:5s} {' '.join(sorted(codes))}",
        flush=True,
    )
    return "MISS" in verdict, unwarned


def missed(figures, limits):
    """Whether (error, low, high) leaves the tolerance."""
    return figures[0] > limits[0] or figures[1] < limits[1] or figures[2] > limits[2]


def main():
    """Print the table."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("references", type=Path)
    arguments.add_argument("--cases", nargs="+", default=list(FORMULAS))
    arguments.add_argument("--samplers", nargs="+", default=list(SAMPLERS))
    arguments.add_argument("--seeds", type=int, default=5)
    options = arguments.parse_args()
    for case in options.cases:
        reference = dict(np.load(options.references / f"{case}.npz"))
        data = sgmc.datasets.load(FORMULAS[case][0])
        for sampler in options.samplers:
            row(case, sampler, options.seeds, reference, data)


if __name__ == "__main__":
    main()
