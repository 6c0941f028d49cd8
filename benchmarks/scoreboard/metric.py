"""The rule: within 0.1 posterior sd in all means and 5 % in all sds, for every seed."""

import json
from pathlib import Path

import numpy as np

MEAN, SD = 0.1, 0.05
EXACT = Path(__file__).parent / "exact"


def load(name):
    """The exact answer of a task as a dict: names, mean, sd, mcse_mean (in sds), mcse_sd
    (relative), method.
    """
    return json.loads((EXACT / f"{name}.json").read_text())


def errors(answer, exact):
    """(largest error of a mean in exact sds, largest relative error of an sd) over the names that
    are answered; a number that is not finite is an infinite error.
    """
    place = {name: k for k, name in enumerate(exact["names"])}
    chosen = [place[name] for name in answer.names]
    mean, sd = (np.array(exact[key])[chosen] for key in ("mean", "sd"))
    worst = [
        np.abs((np.asarray(answer.mean) - mean) / sd).max(),
        np.abs(np.asarray(answer.sd) / sd - 1).max(),
    ]
    return tuple(float(one) if np.isfinite(one) else float("inf") for one in worst)


def within(error_mean, error_sd):
    """Whether both errors are within the tolerance."""
    return error_mean <= MEAN and error_sd <= SD


def first_length(runs, seeds):
    """The runs of the first length at which every seed is within the tolerance, or None.

    Parameters
    ----------
    runs : list of dict
        With "length", "error_mean" and "error_sd", in the order in which they were run.
    seeds : int
        As many must be within.
    """
    by_length = {}
    for run in runs:
        by_length.setdefault(run["length"], []).append(run)
    for same in by_length.values():
        if sum(within(r["error_mean"], r["error_sd"]) for r in same) == len(same) == seeds:
            return same
    return None


def seconds(runs, seeds):
    """What the scoreboard shows of a contestant on a task, or None where it was never within:
    "length", "run" (mean of all but the first seed, or the first if it is alone) and "first use"
    (what the first took longer).
    """
    found = first_length(runs, seeds)
    if found is None:
        return None
    taken = [run["seconds"] for run in found]
    warm = float(np.mean(taken[1:] or taken))
    return {"length": found[0]["length"], "run": warm, "first_use": max(taken[0] - warm, 0.0)}
