"""Ratings of MovieLens (100k, split u1) by factorisations: accuracy against seconds, beside an
exact Gibbs sampler of the same model.

    python benchmarks/factorization.py [--quick] [--seconds S] [--skip-memory]

Bayesian probabilistic matrix factorisation with d = 20, alpha = 3 and Gamma(1, 5) precisions
(Mauri & Zanella, section 5.3; review, section 6.3), one chain on one core.  Each sampler runs for S
seconds (10; ``--quick``: 2).  Printed, first table: seconds until the root mean square error of the
posterior mean predictions of the 20,000 test ratings is at most 0.96 and 0.945, and what it is
after some seconds; the mean posterior sd of these predictions over that of the Gibbs sampler (1000
sweeps; ``--quick``: 60, too few), which says how far a sampler's posterior is from the exact one;
and the time of a step.  Clocks run from the start of the chain; every draw that is kept is also
used to predict, which is part of the time.  The Gibbs sampler is plain numpy: one user and one item
after the other.

Second table: Poisson factorisation, d = 20 (the paper: 100): log density of the test ratings at
single draws' rates and at their mean.  Third: the peak memory of a fit of 10,000 draws.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before numpy reads them

import numpy as np  # noqa: E402

import sgmc  # noqa: E402

WARMUP = 200  # gradients before the first draw that counts
LEVELS = (0.96, 0.945)
TIMES = (0.25, 0.5, 1, 2, 5, 10)
BPMF = {
    "sgld, n=800": (sgmc.SGLD(), 8e-4, 800, 10),
    "sgld, n=8000": (sgmc.SGLD(), 2e-3, 8000, 10),
    "vsgbd, n=800": (sgmc.VSGBD(), 0.03, 800, 10),
    "vsgbd, n=8000": (sgmc.VSGBD(), 0.05, 8000, 10),
    "esgbd, n=800": (sgmc.ESGBD(noise="batch"), 0.05, 800, 10),
    "sgnht, n=4000": (sgmc.SGNHT(diffusion=10.0), 0.02, 4000, 10),
    "sghmc, n=800": (sgmc.SGHMC(friction=60.0), 0.02, 800, 2),
    "sghmc, n=4000": (sgmc.SGHMC(friction=10.0), 0.02, 4000, 2),
    "baoab, n=4000": (sgmc.BAOAB(friction=20.0), 0.04, 4000, 10),
    "baoab, n=8000": (sgmc.BAOAB(friction=10.0), 0.03, 8000, 5),
    "baoab, default": (None, None, None, 5),
    "baoab, all rows": (sgmc.BAOAB(friction=3.0), 0.05, 80_000, 2),
}
PPMF = {
    "sgld, n=800": (sgmc.SGLD(), 1e-3, 800, 10),
    "vsgbd, n=800": (sgmc.VSGBD(), 0.03, 800, 10),
    "esgbd, n=800": (sgmc.ESGBD(noise="batch"), 0.03, 800, 10),
    "sghmc, n=4000": (sgmc.SGHMC(friction=4.0), 0.05, 4000, 2),
    "baoab, default": (None, None, None, 5),
}


def run(model, case, seconds):
    """Seconds of each draw, accuracies (draw, average), the results;
    None where the chain was lost.
    """
    spec, step, batch, thin = case
    given = {} if spec is None else {"sampler": spec, "step_size": step, "batch_size": batch}
    warmup = WARMUP // getattr(spec, "leapfrog", 1)
    try:
        res = model.fit(
            seed=1, chains=1, warmup=warmup, thin=thin, draws=100_000, time_limit=seconds, **given
        )
    except sgmc.errors.ArgumentError as error:
        print(f"    {error}")
        return None
    path = res.accuracy_path().to_numpy()
    steps = warmup + thin * np.arange(1, len(path) + 1)
    return (
        res._fit.run.seconds * steps / steps[-1],
        path,
        res,
        1e6 * res._fit.run.seconds / steps[-1],
    )


def first(seconds, values, level):
    """When values first are at most `level`, as text."""
    below = np.flatnonzero(values <= level)
    return f"{seconds[below[0]]:.2f}" if len(below) else "-"


def line(label, seconds, values, sd, exact, step):
    """A row of the first table."""
    at = [f"{values[np.searchsorted(seconds, t)]:.4f}" if t <= seconds[-1] else "-" for t in TIMES]
    print(
        f"{label:18s}"
        + "".join(f"{first(seconds, values, level):>8s}" for level in LEVELS)
        + "".join(f"{one:>8s}" for one in at)
        + f"{values[-1]:9.4f}{sd / exact:7.2f}{step:10.0f}",
        flush=True,
    )


def groups(index, n):
    """Rows of each of n users or items."""
    return np.split(
        np.argsort(index, kind="stable"), np.cumsum(np.bincount(index, minlength=n))[:-1]
    )


def redraw(own, other, rows, partner, y, alpha, rng):
    """lambda and mu of a side, then its factors one by one, from their laws given all else (a = 1,
    b = 5, mu0 = 0, c = 1); returns factors of one more, who has no ratings.
    """
    n, d = own.shape
    mean = own.mean(axis=0)
    rate = 5 + 0.5 * (((own - mean) ** 2).sum() + n / (n + 1) * (mean**2).sum())
    precision = rng.gamma(1 + n * d / 2) / rate
    mu = rng.normal(n * mean / (n + 1), ((n + 1) * precision) ** -0.5)
    for i, r in enumerate(rows):
        X = other[partner[r]]
        P = alpha * X.T @ X
        P.flat[:: d + 1] += precision
        L = np.linalg.cholesky(P)
        z = np.linalg.solve(L, alpha * (X.T @ y[r]) + precision * mu)
        own[i] = np.linalg.solve(L.T, z + rng.normal(size=d))
    return rng.normal(mu, precision**-0.5)


def gibbs(model, sweeps, warmup=5):
    """Seconds, accuracies of mean predictions,
    and the mean sd of the predictions by an exact Gibbs sampler.
    """
    user, item, value = model.ratings
    rng, test = np.random.default_rng(0), model.test
    U, V = (
        0.1 * rng.normal(size=(len(labels), model.dim)) for labels in (model.users, model.items)
    )
    sides, e = (groups(user, len(U)), groups(item, len(V))), value - model.centre
    new = [(w >= len(one))[:, None] for w, one in ((test.user, U), (test.item, V))]
    user_at, item_at = (np.minimum(test.user, len(U) - 1), np.minimum(test.item, len(V) - 1))
    took, seconds, errors, mean, square, kept = 0.0, [], [], 0.0, 0.0, 0
    for s in range(sweeps):
        begun = time.perf_counter()
        some_user = redraw(U, V, sides[0], item, e, model.hyper["alpha"], rng)
        some_item = redraw(V, U, sides[1], user, e, model.hyper["alpha"], rng)
        took += time.perf_counter() - begun
        if s < warmup:
            continue
        u = np.where(new[0], some_user, U[user_at])
        v = np.where(new[1], some_item, V[item_at])
        p = np.clip(model.centre + (u * v).sum(axis=1), model.low, model.high)
        if s == sweeps // 4:  # burn-in of what sds are made of; means begin earlier, for speed
            later, square, kept = 0.0, 0.0, 0
        mean = mean + (p - mean) / (s - warmup + 1)
        if s >= sweeps // 4:
            later, square, kept = later + p, square + p * p, kept + 1
        seconds.append(took)
        errors.append(np.sqrt(np.mean((mean - test.value) ** 2)))
    sd = np.sqrt(np.maximum(square / kept - (later / kept) ** 2, 0)).mean()
    return np.array(seconds), np.array(errors), sd, 1e6 * took / sweeps


def peak(draws):
    """Peak memory of a process that fits so many draws of one chain, in MB, and its seconds."""
    code = (
        "import sgmc, resource, warnings, time; warnings.simplefilter('ignore')\n"
        "train, test = (sgmc.datasets.load(f'movielens-100k-u1-{k}') for k in ('train', 'test'))\n"
        f"t = time.time(); res = sgmc.BPMF(train, test=test, hyper={{'alpha': 3.0}}).fit("
        f"seed=1, chains=1, draws={draws}, thin=1)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, time.time() - t, "
        "res.rmse)"
    )
    return tuple(
        map(
            float,
            subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True, text=True
            ).stdout.split(),
        )
    )


def main():
    """Print the three tables."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--quick", action="store_true")
    options.add_argument("--seconds", type=float)
    options.add_argument("--skip-memory", action="store_true")
    given = options.parse_args()
    seconds = given.seconds or (2.0 if given.quick else 10.0)
    warnings.simplefilter("ignore")
    train, test = (sgmc.datasets.load(f"movielens-100k-u1-{part}") for part in ("train", "test"))

    model = sgmc.BPMF(train, test=test, hyper={"alpha": 3.0})
    when, errors, exact, sweep = gibbs(model, 60 if given.quick else 1000)
    print(
        f"{'BPMF, d = 20':18s}"
        + "".join(f"{f's to {level}':>8s}"[-8:] for level in LEVELS)
        + "".join(f"{f'{t} s':>8s}" for t in TIMES)
        + f"{'end':>9s}{'sd/ex.':>7s}{'us/step':>10s}"
    )
    line("Gibbs (numpy)", when, errors, exact, exact, sweep)
    for label, case in BPMF.items():
        done = run(model, case, seconds)
        if done is not None:
            line(
                label, done[0], done[1][:, 1], done[2].get_prediction()["sd"].mean(), exact, done[3]
            )

    model = sgmc.PPMF(train, test=test)
    print(
        "\n"
        f"{'PPMF, d = 20':18s}{'best draw':>12s}{'last draw':>12s}{'mean':>12s}{'RMSE':>9s}"
        f"{'us/step':>10s}"
    )
    for label, case in PPMF.items():
        done = run(model, case, seconds)
        if done is not None:
            _, path, res, step = done
            print(
                f"{label:18s}{path[:, 0].max():12.0f}{path[-1, 0]:12.0f}{res.test_log_lik:12.0f}"
                f"{res.rmse:9.4f}{step:10.0f}",
                flush=True,
            )

    if not given.skip_memory:
        few, many = peak(100), peak(1000 if given.quick else 10_000)
        print(
            f"\npeak memory of a fit of 100 draws {few[0]:.0f} MB, of "
            f"{1000 if given.quick else '10,000'} {many[0]:.0f} MB ({many[1]:.0f} s, RMSE "
            f"{many[2]:.4f})"
        )
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
