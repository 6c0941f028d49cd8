"""Rows in partitions of a dask cluster beside the same rows in memory.

    python benchmarks/cluster.py [--rows 10000000] [--partitions 40] [--workers 2 4] [--columns 8]

Rows are sorted by the outcome and a predictor, so that partitions differ as much as they can.  A
fit in this process is the reference; then each number of workers fits the partitions, undisturbed
and with a worker killed in each phase.  Printed are bytes and rows that each phase moved, the ratio
of wall time to the fit in memory, the largest differences of means (in sds) and sds from that fit,
what the verdict says of the reservoir, and whether draws are those of the undisturbed fit, bit by
bit.  The exit status is 1 where bits differ, or means are off by 0.1 sd or sds by 5 %.
"""

import argparse
import os
import signal
import sys
import threading
import time
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd

import sgmc

PHASES = ("first look", "survey", "mode", "leverage and check")
MEAN_TARGET, SD_TARGET = 0.1, 0.05


def partition(number, rows, columns, partitions):
    """A partition of a table that is sorted by its first column, made where it is needed."""
    random = np.random.default_rng([7, number])
    X = random.normal(size=(rows, columns))
    low, high = number / partitions, (number + 1) / partitions
    X[:, 0] = 6 * (low + (high - low) * random.random(rows)) - 3
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)])
    frame["g"] = random.choice(list("abcde"), rows, p=[0.5, 0.3, 0.15, 0.0499, 0.0001])
    eta = X @ np.linspace(0.5, -0.3, columns) - 2 + 0.7 * (frame.g == "e")
    frame["y"] = (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(int)
    return frame.sort_values(["y", "x0"]).reset_index(drop=True)


def formula(columns):
    """All columns."""
    return f"y ~ {' + '.join(f'x{j}' for j in range(columns))} + g"


class Killer(threading.Thread):
    """Kills a worker once a phase has tasks that run."""

    def __init__(self, client, phase):
        super().__init__(daemon=True)
        self.client, self.phase = client, phase
        self.pids = sorted(client.run(os.getpid).values())
        self.words = dict(zip(PHASES, ("witness", "survey", "expansion", "inspection")))
        self.killed = False

    def run(self):
        """Wait for a task whose name has the phase's word."""
        word = self.words[self.phase]
        while not self.killed:
            running = [key for keys in self.client.processing().values() for key in keys]
            if any(word in str(key).lower() for key in running):
                os.kill(self.pids[0], signal.SIGKILL)
                self.killed = True
            time.sleep(0.002)


def fitted(asked, client, frame, phase=None):
    """(results, seconds) of a fit of partitions."""
    killer = Killer(client, phase) if phase else None
    if killer:
        killer.start()
    begun = time.perf_counter()
    res = sgmc.logit(formula(asked.columns), frame, client=client, seed=1)
    seconds = time.perf_counter() - begun
    if killer and not killer.killed:
        print(f"  (no task of {phase!r} was seen running: nothing was killed)")
        killer.killed = True
    return res, seconds


def main():
    """Print the table; the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--partitions", type=int, default=40)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    here = os.path.dirname(os.path.abspath(__file__))  # whose sparse.py is not the one of dask
    sys.path = [one for one in sys.path if os.path.abspath(one or ".") != here]
    from dask import dataframe, delayed
    from distributed import Client, LocalCluster

    each = asked.rows // asked.partitions
    shape = each, asked.columns, asked.partitions
    table = pd.concat([partition(k, *shape) for k in range(asked.partitions)], ignore_index=True)
    begun = time.perf_counter()
    whole = sgmc.logit(formula(asked.columns), table, seed=1)
    memory = time.perf_counter() - begun
    meta = table.iloc[:1]
    del table
    failed, first = False, None
    for workers in asked.workers:
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as c,
            Client(c) as client,
        ):
            parts = [delayed(partition)(k, *shape) for k in range(asked.partitions)]
            frame = dataframe.from_delayed(parts, meta=meta, verify_meta=False)
            for phase in (None, *PHASES):
                res, seconds = fitted(asked, client, frame, phase)
                first = first or res
                mean = float((abs(res.params - whole.params) / whole.bse).max())
                sd = float(abs(res.bse / whole.bse - 1).max())
                bits = bool((res.draws == first.draws).all())
                failed |= not bits or mean > MEAN_TARGET or sd > SD_TARGET
                print(
                    f"{workers} workers, killed in {phase or 'no phase'}: {seconds / memory:.2f} "
                    f"of the fit in memory, means {mean:.3f} sd, sds {100 * sd:.1f} %, bits "
                    f"{'equal' if bits else 'DIFFER'}"
                )
            if workers == asked.workers[0]:
                print("\n".join(res.cluster.details()))
                print(res.verdict)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
