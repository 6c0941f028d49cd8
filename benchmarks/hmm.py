"""Models of sequences: bias of gradients against buffers, time of a step against the length of the
sequence, and posteriors.

    python benchmarks/hmm.py [--quick]

1. Bias.  The terms of windows with buffers of B steps (Ma, Foti & Fox 2017; Aicher, Ma, Foti &
   Fox 2019) beside those with whole sequences, at the parameters that simulated the data: root mean
   square over windows, relative to the root mean square of the terms, and the bias of their sum in
   posterior sds of the mean that it moves most, C b / sd with C the inverse of the sum of squares
   of the terms.  It is to fall by the same factor with every step.  "limit" is that factor for
   hidden Markov chains whose outcomes tell nothing (the second eigenvalue), others forget faster;
   and what it is for the Kalman filter in its steady state (|a| r^2 / (P + r^2)).
2. Time of a step of sgld on 32 windows and of one exact gradient by the length T: the first is to
   stay, the second grows with T.
3. A posterior by minibatches (the default, lmsgld with control values, and the paper's plain
   estimate with sgld) beside the exact sampler mala: largest difference of means in posterior sds
   and of sds, seconds.

Times are of one thread.  The exit status is 1 if a bias does not fall geometrically (R^2 of its log
on B below 0.98), or if the time of a step grows by more than half from the shortest sequence to the
longest.
"""

import argparse
import os
import sys
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before numpy reads them

import numpy as np  # noqa: E402
from scipy import signal, stats  # noqa: E402

import sgmc  # noqa: E402
from sgmc.core.contract import Prior  # noqa: E402
from sgmc.core.engine import Chain  # noqa: E402
from sgmc.core.expansion import of_rows  # noqa: E402
from sgmc.core.random.rng import Rng, seed_sequence  # noqa: E402
from sgmc.core.schedules import Constant  # noqa: E402
from sgmc.gradients.simple import Simple  # noqa: E402
from sgmc.subsampling.uniform import Uniform  # noqa: E402

BUFFERS = (0, 1, 2, 4, 8, 12, 16, 24, 32)
WINDOW, BATCH = 50, 32
STRAIGHT, FLAT = 0.98, 1.5
PLAIN = 20_000


def chain(T, stay, rng):
    """States of a chain of three that stays with that probability, and its matrix."""
    A = np.full((3, 3), (1 - stay) / 2) + (stay - (1 - stay) / 2) * np.eye(3)
    moves = np.where(rng.random(T) < stay, 0, rng.integers(1, 3, T))
    return np.cumsum(moves) % 3, A


def hmm(T, stay, seed=0):
    """Gaussian outcomes that overlap: model and true theta."""
    rng = np.random.default_rng(seed)
    x, A = chain(T, stay, rng)
    mean, sd = np.array([-1.0, 0.0, 1.0]), np.array([0.9, 0.7, 0.9])
    return sgmc.HMM(rng.normal(mean[x], sd[x]), 3, window=WINDOW), np.r_[A.ravel(), mean, sd]


def state_space(T, a, q=0.5, r=1.0, seed=0):
    """The same of an autoregression."""
    rng = np.random.default_rng(seed)
    x = signal.lfilter([1.0], [1.0, -a], q * rng.normal(size=T + 1000))[1000:]
    return sgmc.LinearGaussian(x + r * rng.normal(size=T), window=WINDOW), np.array([a, q, r, 0.0])


def terms(kernel, theta):
    """Gradients of all windows, (n, d)."""
    return np.array([of_rows(kernel, theta, [i])[1] for i in range(kernel.n)])


def bias(label, model, theta, limit):
    """One row of the first table; returns whether it is straight."""
    kernel, map = model.kernel(), model.layout().map
    jacobian = map.jacobian(map.inverse(theta))
    exact = terms(kernel.buffered(20 * BUFFERS[-1]), theta)
    each = [terms(kernel.buffered(b), theta) - exact for b in BUFFERS]
    sizes = np.array([np.sqrt((e**2).sum(axis=1).mean()) for e in each]) / np.sqrt(
        (exact**2).sum(axis=1).mean()
    )
    C = np.linalg.inv(jacobian.T @ exact.T @ exact @ jacobian)
    shifts = [np.abs(C @ (e.sum(axis=0) @ jacobian) / np.sqrt(np.diag(C))).max() for e in each]
    used = [i for i, b in enumerate(BUFFERS) if b >= 4 and sizes[i] > 1e-10]
    fit = stats.linregress(np.array(BUFFERS)[used], np.log(sizes[used]))
    print(
        f"{label:24s}"
        + "".join(f"{s:10.1e}" for s in sizes)
        + f"{np.exp(fit.slope):9.3f}{limit:8.3f}{fit.rvalue**2:8.4f}"
    )
    print(f"{'  shift of a mean, sd':24s}" + "".join(f"{s:10.1e}" for s in shifts))
    return fit.rvalue**2 > STRAIGHT


def all_biases(T):
    """The first table."""
    print(f"\n1. Bias by buffer, T={T:,}, windows of {WINDOW}")
    print(
        f"{'':24s}"
        + "".join(f"{b:10d}" for b in BUFFERS)
        + f"{'factor':>9s}{'limit':>8s}{'R^2':>8s}"
    )
    good = [
        bias(f"HMM, stays with {stay}", *hmm(T, stay), (3 * stay - 1) / 2)
        for stay in (0.6, 0.8, 0.9, 0.95)
    ]
    for a in (0.5, 0.8, 0.9, 0.95):
        P = np.roots([1, 1 - a**2 - 0.25, -0.25]).max()
        good.append(bias(f"state space, a={a}", *state_space(T, a), a / (P + 1)))
    return all(good)


def seconds_a_step(model, theta, seconds):
    """Least time of a step of sgld that goes nowhere, and of one exact gradient."""
    kernel, rng = model.kernel().buffered(16), Rng(seed_sequence(1, "chain"))
    gradient = Simple(kernel, Prior(kernel.dim), Uniform(kernel.n, BATCH), rng)
    run = Chain(theta, sgmc.SGLD().build(kernel.dim, 1e-14), gradient, rng, Constant(1e-14))
    best, exact, until = np.inf, np.inf, time.process_time() + seconds
    while time.process_time() < until:
        begun = time.process_time()
        run.run(100, record=False)
        best = min(best, (time.process_time() - begun) / 100)
        begun = time.process_time()
        of_rows(kernel, theta)
        exact = min(exact, time.process_time() - begun)
    return best, exact


def all_times(lengths, seconds):
    """The second table."""
    print(
        f"\n2. Time by length: a step of sgld on {BATCH} windows of {WINDOW} with buffers of 16, "
        "and one exact gradient, in microseconds"
    )
    print(f"{'T':>12s}{'HMM step':>12s}{'exact':>12s}{'state space':>14s}{'exact':>12s}")
    table = []
    for T in lengths:
        row = [
            *seconds_a_step(*hmm(T, 0.9), seconds),
            *seconds_a_step(*state_space(T, 0.9), seconds),
        ]
        table.append(row)
        print(f"{T:12,d}" + "".join(f"{1e6 * s:{w}.0f}" for s, w in zip(row, (12, 12, 14, 12))))
    return all(table[-1][k] < FLAT * table[0][k] for k in (0, 2))


def posteriors(T, draws):
    """The third table; the plain estimate, whose batches grow with T, only for shorter
    sequences.
    """
    ways = [
        dict(sampler="mala"),
        dict(sampler="lmsgld"),
        dict(sampler="sgld", gradient="simple", step_size=0.05, thin=20),
    ]
    print(
        f"\n3. Posteriors by minibatches beside mala, T={T:,}, 4 chains of {draws:,} draws, one "
        "thread"
    )
    print(
        f"{'':20s}{'sampler':>14s}{'buffer':>8s}{'mean, sd':>10s}{'sd, %':>8s}{'min ESS':>9s}"
        f"{'seconds':>9s}"
    )
    for label, (model, _) in (
        ("HMM, stays with 0.9", hmm(T, 0.9)),
        ("state space, a=0.9", state_space(T, 0.9)),
    ):
        exact = None
        for arguments in ways[: 3 if T <= PLAIN else 2]:
            begun = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", sgmc.SGMCWarning)
                results = model.fit(seed=1, draws=draws, threads=1, **arguments)
            spent, exact = time.perf_counter() - begun, results if exact is None else exact
            shift = np.abs((results.params - exact.params) / exact.bse).max()
            spread = 100 * np.abs(results.bse / exact.bse - 1).max()
            name = arguments["sampler"] + {"lmsgld": "-cv", "sgld": "-simple"}.get(
                arguments["sampler"], ""
            )
            buffer = results.buffer if arguments["sampler"] != "mala" else "-"
            print(
                f"{label:20s}{name:>14s}{buffer:>8}{shift:10.3f}{spread:8.1f}"
                f"{results.ess().min():9.0f}{spent:9.1f}"
            )


def main():
    """Everything, or with --quick shorter sequences."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    straight = all_biases(20_000 if quick else 50_000)
    flat = all_times(
        (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000), 0.5 if quick else 5.0
    )
    for T in (5_000,) if quick else (PLAIN, 5 * PLAIN):
        posteriors(T, 300 if quick else 1000)
    print(
        f"\nbias falls geometrically: {'yes' if straight else 'no'}; a step does not grow with T: "
        f"{'yes' if flat else 'no'}"
    )
    sys.exit(not (straight and flat))


if __name__ == "__main__":
    main()
