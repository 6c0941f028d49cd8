"""Ratios of times over commits: does sgmc become slower?

    python benchmarks/history.py                 # measures this tree, adds a line to the file
    python benchmarks/history.py --tree FOLDER   # another one that is built in place
    python benchmarks/history.py --plot out.png  # draws the file

Each number is the time of something of sgmc over that of fixed work of numpy, scipy or statsmodels
in the same process, the two in turn and the median of both: the machine's speed and what else it
does cancel, for the most part.  A line of the file is a commit.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
FILE = Path(__file__).with_name("history.jsonl")
ROWS, COLUMNS = 20_000, 10


def seconds(work):
    """What a call takes, in CPU seconds of this process, which others do not lengthen much."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def ratio(ours, theirs, times):
    """The median time of one over that of the other, each run in turn, after one run of both."""
    ours(), theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(times)]
    return statistics.median(a for a, _ in pairs) / statistics.median(b for _, b in pairs)


def child_seconds(code):
    """CPU seconds of a fresh process."""
    report = "; import time; print(time.process_time())"
    done = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def measured(times):
    """Ratios by name, for the tree that is first in the path."""
    import statsmodels.api as sm

    import sgmc

    random = np.random.default_rng(1)
    X = np.column_stack([np.ones(ROWS), random.normal(size=(ROWS, COLUMNS - 1))])
    y = (random.random(ROWS) < 1 / (1 + np.exp(-X @ random.normal(size=COLUMNS) / 2))).astype(float)
    model, frame = sgmc.Logit(y, X), sgmc.datasets.load("fair")
    beta = np.zeros(COLUMNS)

    def passes():
        """So many gradients as `mala` computes, by numpy."""
        for _ in range(200):
            X.T @ (y - 1 / (1 + np.exp(-X @ beta)))

    def fit(**how):
        return lambda: model.fit(seed=1, chains=1, threads=1, **how)

    classical = lambda: sm.Logit(y, X).fit(disp=False)
    imports = [(child_seconds("import sgmc"), child_seconds("import numpy")) for _ in range(times)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
        return {
            "import / numpy's": statistics.median(a for a, _ in imports)
            / statistics.median(b for _, b in imports),
            "formula to summary / statsmodels' fit": ratio(
                lambda: str(sgmc.logit("affairs > 0 ~ .", frame, seed=1, threads=1).summary()),
                classical,
                times,
            ),
            "default fit / statsmodels' fit": ratio(fit(), classical, times),
            "200 steps of mala / gradients of numpy": ratio(
                fit(sampler="mala", draws=180, warmup=20, thin=1), passes, times
            ),
            "sgld / gradients of numpy": ratio(
                fit(sampler="sgld", gradient="cv", draws=1000), passes, times
            ),
        }


def commit(tree):
    """The commit of a tree, with a mark if files are changed."""
    out = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=8"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    )
    return out.stdout.strip()


def plot(lines, path):
    """A curve for each ratio, over commits; each divided by its first value."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for name in lines[-1]["ratios"]:
        values = [line["ratios"].get(name, np.nan) for line in lines]
        first = next(value for value in values if np.isfinite(value))
        axes.plot(np.array(values) / first, marker="o", label=f"{name} ({values[-1]:.2g})")
    axes.axhline(1.25, color="0.7", linestyle="--", label="needs a reason")
    axes.set_xticks(range(len(lines)), [line["commit"] for line in lines], rotation=45)
    axes.set_ylabel("ratio, over that of the first commit")
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=100)


def main():
    """Measure, or draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--times", type=int, default=5, help="runs of each of a pair")
    parser.add_argument("--tree", type=Path, default=ROOT, help="what is measured")
    parser.add_argument("--plot", type=Path, help="draw what is in the file instead")
    asked = parser.parse_args()
    if asked.plot:
        plot([json.loads(line) for line in asked.file.read_text().splitlines()], asked.plot)
        return
    sys.path.insert(0, str(asked.tree.resolve()))
    os.environ["PYTHONPATH"] = sys.path[0]
    line = {
        "commit": commit(asked.tree),
        "date": time.strftime("%Y-%m-%d"),
        "ratios": measured(asked.times),
    }
    with open(asked.file, "a") as file:
        file.write(json.dumps(line) + "\n")
    print(json.dumps(line, indent=2))


if __name__ == "__main__":
    main()
