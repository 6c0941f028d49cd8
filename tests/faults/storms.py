"""A child that fits again and again while Ctrl-C is pressed: ``python -m tests.faults.storms``.

It prints how each fit ended, and fails where a later fit of the same process has other bits, or
where a thread, a limit of BLAS, a time limit, a bar or a half-written file is left behind.
"""

import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from contextlib import redirect_stderr

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

import sgmc
from sgmc.core.system import blas, deadline, interrupts, phases

N = 400
SHORT = dict(draws=200, warmup=100, seed=3, chains=4, threads=4)


def table():
    """With a factor of few levels."""
    rng = np.random.default_rng(5)
    made = pd.DataFrame({"x": rng.normal(size=N), "g": rng.choice(list("abcdef"), N)})
    return made.assign(y=(rng.random(N) < 1 / (1 + np.exp(0.5 - made.x))).astype(int))


class Own(sgmc.Model):
    """A user's model in Python."""

    parameters = {"b": 2}
    n = N

    def __init__(self, df):
        self.X, self.y = np.column_stack([np.ones(N), df.x]), df.y.to_numpy(float)

    def log_lik(self, theta, rows):
        """Of logistic regression."""
        eta = self.X[rows] @ theta["b"]
        return float(self.y[rows] @ eta - np.logaddexp(0, eta).sum())

    def grad(self, theta, rows):
        """Its gradient."""
        X = self.X[rows]
        return {"b": X.T @ (self.y[rows] - 1 / (1 + np.exp(-X @ theta["b"])))}


def actions(df, place):
    """What is interrupted: functions that return an array."""
    path = os.path.join(place, "run")

    def fit(formula="y ~ x + g", **how):
        return sgmc.logit(formula, df, **{**SHORT, **how})

    def with_checkpoint():
        """The file of a fit that was interrupted is gone on from."""
        found = fit(sampler="mala", thin=100, checkpoint=path)
        if not found.interrupted:
            os.unlink(path)
        return found

    def saved():
        found = fit(sampler="laplace")
        for _ in range(20):
            found.save(os.path.join(place, "fit"))
        return sgmc.load(os.path.join(place, "fit"))

    def prepared():
        file = os.path.join(place, "table.sgmc")
        made = sgmc.prepare("y ~ x + g", df, file, seed=1)
        os.unlink(file)
        return made

    return {
        "minibatches": lambda: fit(sampler="lmsgld", batch_size=20, thin=500),
        "exact": lambda: fit(sampler="mala", thin=100),
        "user": lambda: Own(df).fit(**{**SHORT, "draws": 50}),
        "groups": lambda: fit("y ~ x + (1 | g)", draws=50),
        "bar": lambda: fit(sampler="mala", progress=True),
        "limit": lambda: fit(sampler="mala", time_limit=1000),
        "tune": lambda: fit(sampler="sgld", tune="mamba"),
        "checkpoint": with_checkpoint,
        "save": saved,
        "prepare": prepared,
    }


def left_behind(place, threads=1):
    """What a call must not leave, but for threads that were there: of bars, tqdm keeps one."""
    until = time.monotonic() + 20
    while threading.active_count() > threads and time.monotonic() < until:
        time.sleep(0.005)  # threads that are about to end
    return {
        "threads": threading.active_count(),
        "BLAS": [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"],
        "inside": len(blas._inside),
        "time limit": deadline.current(),
        "bar": phases._current.get(),
        "handler": signal.getsignal(signal.SIGINT),
        "unbroken": interrupts.STATE.depth,
        "half": [one for one in os.listdir(place) if one.startswith("run.") or "fit." in one],
    }


def numbers(found):
    """What must be the same."""
    return np.asarray(found.X if hasattr(found, "X") else found.draws)


def stormed(action, times, rng, seconds):
    """How the action ended, and what it returned: Ctrl-C is pressed by a thread from a random
    moment on, within milliseconds.
    """
    delay, gaps = rng.uniform(0, seconds), rng.exponential(0.002, times)
    begun, over, found, how = [], [], None, "KeyboardInterrupt"

    def press():
        while not begun:
            time.sleep(0.0005)
        time.sleep(delay)
        for gap in gaps:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(gap)
        over.append(True)

    def go():
        nonlocal found, how
        if not begun:
            begun.append(True)
            found = action()
            how = getattr(found, "interrupted", "") or "whole"
        while not over:  # Python 3.11 takes a thread whose `join` is interrupted for ended
            time.sleep(0.002)
        thread.join()

    thread = threading.Thread(target=press)
    thread.start()
    survived(lambda: survived(go))  # Ctrl-C may come where the inner one has just caught one
    return how, found


def survived(go):
    """Go on until it ends: what comes after the action must not end the test."""
    while True:
        try:
            return go()
        except KeyboardInterrupt:
            continue


def main(name, storms, seed):
    """Interrupt an action so many times."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    rng, ends = np.random.default_rng(seed), Counter()
    with (
        open(os.devnull, "w") as nowhere,
        redirect_stderr(nowhere),  # bars
        tempfile.TemporaryDirectory() as place,
    ):
        action = actions(table(), place)[name]
        whole = numbers(action())
        begun = time.perf_counter()
        action()
        seconds = 1.1 * (time.perf_counter() - begun)
        before = left_behind(place)
        for _ in range(storms):
            how, found = stormed(action, int(rng.integers(1, 31)), rng, seconds)
            ends[how] += 1
            if found is not None and how == "whole":
                assert np.array_equal(numbers(found), whole), "other bits"
            elif found is not None:
                kept = found.draws.shape[1]
                rows = [chain.tobytes() for chain in whole[:, :kept]]
                assert all(chain.tobytes() in rows for chain in found.draws), "no prefix"
            after = left_behind(place, before["threads"])
            assert after == before, {k: v for k, v in after.items() if v != before[k]}
            assert np.array_equal(numbers(action()), whole), "a later fit has other bits"
    print(dict(ends))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
