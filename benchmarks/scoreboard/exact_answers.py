"""Make the exact answers, ``exact/NAME.json``: no code of sgmc.

    python benchmarks/scoreboard/exact_answers.py [NAME ...]

Means and sds of everything that is scored, with their Monte Carlo errors, in posterior sds and
relative; an answer whose errors exceed 0.02 is refused.
"""

import argparse
import dataclasses
import json
import time

import exact_linear
import exact_terms
import numpy as np
from exact_sampling import GroupedLogit, Regression, differences, importance, newton
from metric import EXACT
from tasks import TASKS, Absent, problem

LARGEST = 0.02  # Monte Carlo error of a mean in sds, and of an sd relative to it
DRAWS = {
    "walk": 10_000,
    "smooth_logit": 40_000,
    "map": 80_000,
    "factors_million": 400,
    "logit_million": 1000,
    "grouped": 800,
    "crossed": 10_000,
}
CLOSED = {"ols": exact_linear.ols, "schools": exact_linear.schools, "curve": exact_linear.curve}


def small(task, log_density, start, scales, draws):
    """By finite differences and a Student t law."""
    mode, curvature = differences(log_density, start, scales)
    return importance(log_density, mode, curvature, draws, df=10)


def grouped_logit(task, draws):
    """Nodes are moved to where the groups' effects are, at the mode."""
    model = GroupedLogit(task)
    without = Regression(dataclasses.replace(task, groups=[]))
    start, scales = np.r_[newton(without)[0], 0.5], np.r_[0.03, np.full(model.d - 1, 0.01), 0.02]
    for steps in (2, 3):
        model.recentre(start)
        start, curvature = differences(model, start, scales, search=False, steps=steps)
    return importance(model, start, curvature, draws)


def answer(task, draws):
    """(method, mean, sd, mcse of both, Pareto shape) of a problem."""
    if task.groups:
        found = grouped_logit if task.family == "logit" else exact_linear.mixed
        return "integrated, importance sampling", *found(task, draws)
    if task.terms:
        found = exact_terms.normal if task.family == "ols" else exact_terms.counted
        return "integrated, importance sampling", *found(task, draws)
    if task.family in CLOSED:
        mean, sd = CLOSED[task.family](task)
        return "quadrature", mean, sd, 0 * mean, 0 * mean, 0.0
    regression = Regression(task)
    if task.family in ("logit", "poisson"):
        mode, curvature = newton(regression)
        return "importance sampling", *importance(regression, mode, curvature, draws)
    extra = {"negbin": [0.5], "studentt": [1.0, 4.0]}[task.family]
    outcome = task.y if task.family == "studentt" else np.log(task.y + 0.5)
    start = np.r_[np.linalg.lstsq(task.X, outcome, rcond=None)[0], extra]
    scales = np.r_[np.full(regression.d + len(extra) - 1, 0.015), 0.2]
    if task.family == "negbin":
        scales[-1] = 0.015
    return "importance sampling", *small(task, regression, start, scales, draws)


def main():
    """Write the answers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(TASKS))
    for name in parser.parse_args().names:
        try:
            task = problem(name)
        except Absent as reason:
            print(f"{name}: skipped, {reason}")
            continue
        begun = time.perf_counter()
        method, mean, sd, mcse_mean, mcse_sd, shape = answer(task, DRAWS.get(name, 20_000))
        worst = np.abs([mcse_mean, mcse_sd]).max()  # NaN if there is one
        print(
            f"{name}: {method}, Monte Carlo error {worst:.4f}, Pareto shape {shape:.2f}, "
            f"{time.perf_counter() - begun:.1f} s",
            flush=True,
        )
        if not worst < LARGEST:
            raise SystemExit(f"{name}: the Monte Carlo error is above {LARGEST}")
        columns = dict(mean=mean, sd=sd, mcse_mean=mcse_mean, mcse_sd=mcse_sd)
        stored = {key: [float(f"{v:.8g}") for v in value] for key, value in columns.items()}
        record = {"task": name, "method": method, "names": task.names, **stored}
        EXACT.mkdir(exist_ok=True)
        (EXACT / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
