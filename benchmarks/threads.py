"""Chains in threads: wall time of two and of four chains on one thread over their time on two.

    python benchmarks/threads.py [--rounds 10]

A logit with 100,000 rows and 10 predictors; chains are built and timed without the fit around them.
Rounds alternate between one thread and two, and the best of each counts.  2 is perfect.  The
control, two series of hashes in the same way, says what the machine gives at that moment: another
program on either core shows there, too.
"""

import argparse
import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

import sgmc
from sgmc.fit import run as fitting
from sgmc.fit.chains import Watch, build_chain, run_chains

N, D = 100_000, 10
STEPS = {"lmsgld": 200_000, "mala": 150}


def caught(sampler):
    """The plan of a fit, for `build_chain`."""
    kept, real = [], fitting.fit

    def spy(problem, settings, begun, saved):
        done = real(problem, settings, begun, saved)
        kept.append(done.plan)
        return done

    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(N), rng.normal(size=(N, D))])
    y = rng.random(N) < 1 / (1 + np.exp(-X @ rng.normal(0, 0.3, D + 1)))
    fitting.fit = spy
    try:
        sgmc.Logit(y, X).fit(seed=1, sampler=sampler, draws=1000)
    finally:
        fitting.fit = real
    return kept[0]


def seconds(plan, steps, chains, threads):
    """Wall time of that many chains of that many steps."""
    built = [build_chain(plan, k) for k in range(chains)]
    alone = replace(plan.settings, threads=threads, draws=0)
    plan = replace(plan, warmup=steps, step_origin="given", settings=alone)
    for chain in built:
        chain.run(1, False)
    begun = time.perf_counter()
    run = run_chains(built, plan, Watch())
    assert run.statuses == ["ok"] * chains
    return time.perf_counter() - begun


def control(threads, buffer=bytes(1 << 26)):
    """Wall time of two series of hashes, which release the interpreter lock and share nothing."""
    begun = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: [hashlib.sha256(buffer) for _ in range(4)], range(2)))
    return time.perf_counter() - begun


def report(what, measure, rounds):
    """Times on one thread and on two, in turns, and their ratio."""
    times = np.array([[measure(threads) for threads in (1, 2)] for _ in range(rounds)])
    one, two = times.min(axis=0)
    print(
        f"{what:<18}{one:.2f} s on one thread, {two:.2f} s on two, ratio {one / two:.2f} "
        f"(rounds {np.array2string(np.sort(times[:, 0] / times[:, 1]), precision=2)})",
        flush=True,
    )


def main():
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    print(
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f} at the start; best of {rounds} "
        "rounds"
    )
    report("control", control, rounds)
    for sampler, steps in STEPS.items():
        parts = caught(sampler)
        for chains in (2, 4):
            report(
                f"{sampler} {chains} chains",
                lambda threads: seconds(parts, steps, chains, threads),
                rounds,
            )
    report("control", control, rounds)


if __name__ == "__main__":
    main()
