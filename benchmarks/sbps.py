"""The stochastic bouncy particle paper's experiments (Pakman, Gilboa, Carlson & Paninski 2017), and sticky samplers beside enumeration.

    python benchmarks/sbps.py [--quick]

Section 7.1: a logit of 20 columns and 1,000 rows, slopes from Unif[-5, 5], one column of variance 6, minibatches of 100 random rows, raw
coordinates.  The paper names no prior; here it is N(0, 10^2).  An epoch is as many rows touched as there are.  Everyone starts at the same
five random places.

Figure 4: mean negative log likelihood a row, over the five; autocorrelations, at lags in epochs, and epochs an effective draw in the
directions of the largest and of the smallest eigenvalue of the Laplace approximation's covariance, of five points an epoch after the first
part of a run; sds there over those of `mala`.  `psbps` learns its preconditioner in that first part.  Velocities are
drawn anew at bounces alone, as in the paper, where nothing else is said.  The paper's steps are 0.01 and 0.1
(`sgld`) and 0.1 (`msgnht`), in units that it does not name; h and e here are those of the posterior of all rows, in raw coordinates, and
those steps over N (e over its root) stand beside them.

Figure 1: a standard normal in two dimensions, gradients exact and with noise N(0, 5^2) a component (the paper shows, but does not name, its
density).  Figure 5: the mean of sin((w_1 - its mean) / r) along the path and at as many points of it as there were bounces, b the mean
length of a line along w_1: mean absolute errors over runs, where the truth is zero up to skewness (`mala`: in the table).
"""
import argparse
import os
import time
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import sgmc
from sgmc._toy_paths import PathMoments
from sgmc._toys import GaussianLocation
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.paths import Path
from sgmc.core.recorders import Keep
from sgmc.core.rng import Rng, seed_sequence
from sgmc.core.schedules import Constant
from sgmc.diagnostics import ess
from sgmc.fitting.fit import build_chain
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import Uniform
from tests.contracts.enumeration import inclusions, simulated

N, D, BATCH, STARTS = 1000, 20, 100, 5
STEPS = dict(gradient="simple", batch_size=BATCH, subsample="uniform")
SAMPLERS = {"sbps": dict(sampler=sgmc.SBPS(refresh=1e-9), **STEPS), "psbps": dict(sampler=sgmc.PSBPS(refresh=1e-9), **STEPS),
            "sbps, refresh 0.2": dict(sampler="sbps", **STEPS),
            **{f"{name} {step:g}": dict(sampler=name, step_size=step, thin=1, **STEPS)
               for name, step in (("sgld", 1e-5), ("sgld", 1e-4), ("sgld", 0.001), ("sgld", 0.01), ("sgld", 0.1), ("msgnht", 0.01),
                                  ("msgnht", 0.1))},
            "lipsbps": dict(sampler="lipsbps"), "zzss": dict(sampler="zzss")}
EPOCHS = (1, 3, 10, 30, 100, 300, 1000, 3000)
AN_EPOCH = 5              # points of a path


def paper():
    """(X, y, slopes), labels as in section 7.1."""
    rng = np.random.default_rng(71)
    X, slopes = rng.normal(size=(N, D)), rng.uniform(-5, 5, D)
    X[:, 0] *= np.sqrt(6)
    return X, (rng.random(N) < 1 / (1 + np.exp(-X @ slopes))).astype(int), slopes


def fitted(**how):
    """A fit of the paper's posterior without its warnings."""
    X, y, _ = paper()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sgmc.Logit(y, X).fit(**{"precondition": None, "prior": {"*": sgmc.normal(0, 10)}, "seed": 1, "draws": 2, "warmup": 2,
                                       "chains": STARTS, **how})


def chain_of(results, k, start):
    """A fresh chain of a fit at a place, without recorder; it adapts if it can."""
    fit = results._fit
    chain = build_chain(fit.problem, fit.plan, fit.settings, k)
    np.asarray(chain.x)[:] = fit.problem.coordinates.from_theta(start)
    chain.sampler.warming = True
    return chain


def run_to(chain, epochs, record=False):
    """Run on until that many epochs are used up."""
    while chain.gradient.touched < epochs * N:
        if chain.run(1 + int((epochs * N - chain.gradient.touched) / chain.gradient.rows.m / 2), record):
            return False
    return True


def loss(theta):
    """Negative log likelihood a row; NaN once lost."""
    X, y, _ = paper()
    with np.errstate(invalid="ignore", over="ignore"):
        eta = X @ theta
        if not np.isfinite(eta).all():
            return float("nan")
    return float(np.mean(np.logaddexp(0, eta) - y * eta))


# ---- figure 4 ---------------------------------------------------------------------------------------------------------------

def convergence(fits, last):
    """Print losses by epochs."""
    starts = np.random.default_rng(4).normal(size=(STARTS, D))
    epochs = [e for e in EPOCHS if e <= last]
    print("| sampler | " + " | ".join(map(str, epochs)) + " |\n|---|" + "---|" * len(epochs))
    for name, results in fits.items():
        table = np.full((STARTS, len(epochs)), np.nan)
        for k, start in enumerate(starts):
            chain = chain_of(results, k, start)
            for j, epoch in enumerate(epochs):
                if not run_to(chain, epoch):
                    break
                table[k, j] = loss(results._fit.problem.coordinates.theta(np.array(chain.x)))
        print(f"| {name} | " + " | ".join(f"{v:.4f}" for v in table.mean(axis=0)) + " |", flush=True)


def mixing(fits, reference, burn, epochs):
    """Print autocorrelations, epochs an effective draw, sds and seconds."""
    where = fits["sbps"]._fit.problem.coordinates
    values, vectors = np.linalg.eigh(where.white @ where.white.T)
    ends = vectors[:, [-1, 0]]
    right = (reference.flat @ ends).std(axis=0)
    print(f"\nsds of the Laplace approximation there: {np.sqrt(values[-1]):.3g}, {np.sqrt(values[0]):.3g}; by mala: {right[0]:.3g}, "
          f"{right[1]:.3g}\n")
    print("| sampler | acf, largest: 1, 5, 20 epochs | smallest | epochs a draw, largest | smallest | sd, largest | smallest | "
          "seconds, 100 epochs |\n|---|---|---|---|---|---|---|---|")
    for name, results in fits.items():
        chain = chain_of(results, 0, where.theta(where.from_white(np.zeros(D))))
        run_to(chain, burn)
        chain.sampler.warming = False
        points, begun = AN_EPOCH * epochs, time.process_time()
        if chain.continuous:
            chain.recorder = PathMoments(D)
            run_to(chain, burn + epochs // 10, True)
            chain.recorder = Path(points, D, chain.recorder.time / (epochs // 10) / AN_EPOCH)
        else:
            chain.recorder = Keep(points, D, N // BATCH // AN_EPOCH)
        before = chain.gradient.touched
        while not chain.recorder.full and chain.run(10_000) == 0:
            pass
        if not chain.recorder.full:
            print(f"| {name} | diverged |")
            continue
        seconds = (time.process_time() - begun) / (chain.gradient.touched - before) * N * 100
        x = where.theta(np.asarray(chain.recorder.draws)[:chain.recorder.kept]) @ ends
        lags = [[acf(x[:, j], lag * AN_EPOCH) for lag in (1, 5, 20)] for j in (0, 1)]
        each = epochs / ess(x[None], method="mean")
        print(f"| {name} | {lags[0][0]:.2f}, {lags[0][1]:.2f}, {lags[0][2]:.2f} | {lags[1][0]:.2f}, {lags[1][1]:.2f}, {lags[1][2]:.2f} | "
              f"{each[0]:,.0f} | {each[1]:.2g} | " + " | ".join(f"{v:.2f}" for v in x.std(axis=0) / right) + f" | {seconds:.4f} |",
              flush=True)


def acf(x, lag):
    """Autocorrelation at a lag."""
    x = x - x.mean()
    return float(x[:-lag] @ x[lag:] / (x @ x))


def confidences(reference, draws):
    """Print what k does: violations, what is missed, sds."""
    print("\n| k | violations | expected | missed | sds over mala's | rows a draw of time |\n|---|---|---|---|---|---|")
    for k in (1.0, 2.0, 3.0, 5.0):
        spec = sgmc.SBPS(confidence=k, refresh=1e-9)
        found = fitted(sampler=spec, draws=draws, warmup=None, chains=4, **STEPS)
        table, ratio = found.chain_diagnostics(), found.bse / reference.bse
        length = (table.spacing * draws).sum()
        print(f"| {k:g} | {table.violations.mean():.4f} | {spec.expected():.4f} | {table.missed.mean():.4f} | "
              f"{ratio.min():.2f} to {ratio.max():.2f} | {table.data_passes.sum() * N / length:,.0f} |", flush=True)


# ---- figures 1 and 5 --------------------------------------------------------------------------------------------------------

def resilience(events):
    """Print times between bounces and moments, with and without noise."""
    print("\n| gradient | time between bounces | variances | kurtosis | acf of x_1, 5 bounces |\n|---|---|---|---|---|")
    rows, batch = 2000, 40
    y = np.random.default_rng(0).normal(size=(rows, 2))
    y = (y - y.mean(axis=0)) / y.std(axis=0) * 5 * np.sqrt(batch / (1 - batch / rows))
    for label, m in (("exact", rows), ("noise 5", batch)):
        rng = Rng(seed_sequence(1, "chain", 0))
        model = GaussianLocation(y, 1 / rows)
        gradient = Simple(model, Prior(2), Uniform(rows, m), rng)
        chain = Chain(np.zeros(2), sgmc.SBPS(confidence=4.0).build(2, 1.0), gradient, rng, Constant(1.0), velocity=True)
        chain.recorder = Path(200_000, 2, 0.2)
        chain.run(events)
        time_each = chain.recorder.time / chain.sampler.accepted
        x = np.asarray(chain.recorder.draws)[:chain.recorder.kept]
        lag = max(1, round(5 * time_each / 0.2))
        kurtosis = ((x - x.mean(axis=0)) ** 4).mean() / x.var() ** 2
        print(f"| {label} | {time_each:.3f} | {x.var(axis=0).round(3)} | {kurtosis:.2f} | {acf(x[:, 0], lag):.2f} |", flush=True)


def expectations(fits, reference, burn, epochs, runs):
    """Print mean absolute errors of E sin by paths and by points of them."""
    where = fits["sbps"]._fit.problem.coordinates
    w, centre = reference.flat[:, 0], reference.flat[:, 0].mean()
    errors = {r: [] for r in (1.0, 0.1, 0.01)}
    for k in range(runs):
        chain = chain_of(fits["sbps"], k, where.theta(where.from_white(np.zeros(D))))
        run_to(chain, burn)
        chain.sampler.warming = False
        chain.recorder = Path(1, D, 1e9, 0, 1 << 22)
        run_to(chain, burn + epochs, True)
        state = chain.recorder.skeleton.state()
        t, x = state["times"], where.theta(state["positions"])[:, 0]
        b = np.abs(np.diff(x)).mean()
        grid = np.interp(np.linspace(0, t[-1], len(t)), t, x)
        for r in errors:
            r_b, span, move = r * b, np.diff(t), np.diff(x) / (r * b)
            ends = np.cos((x[:-1] - centre) / r_b) - np.cos((x[1:] - centre) / r_b)
            along = np.where(np.abs(move) > 1e-9, ends / np.where(move == 0, 1, move), np.sin((x[:-1] - centre) / r_b))
            errors[r].append([abs(along @ span) / t[-1], abs(np.sin((grid - centre) / r_b).mean()), np.sin((w - centre) / r_b).mean(), b])
    print("\n| r / b | along the path | at as many points | by mala | b |\n|---|---|---|---|---|")
    for r, found in errors.items():
        path, points, mala, b = np.mean(found, axis=0)
        print(f"| {r:g} | {path:.5f} | {points:.5f} | {mala:+.4f} | {b:.3g} |", flush=True)


# ---- sticky -----------------------------------------------------------------------------------------------------------------

def sticky(draws):
    """Print inclusion probabilities by enumeration and by the sticky samplers."""
    X, y = simulated(300, 10)
    columns = {"enumeration": inclusions(X, y, 1.0, 2.5, 0.4)}
    facts = []
    for name, cls in (("stickyzigzag", sgmc.StickyZigZag), ("stickysgpdmp", sgmc.StickySGPDMP)):
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = sgmc.Logit(y.astype(int), np.column_stack([np.ones(300), X]), names=["Intercept", *(f"x{j}" for j in range(10))]).fit(
                sampler=cls(inclusion=0.4), prior={"*": sgmc.normal(0, 1), "Intercept": sgmc.normal(0, 2.5)}, draws=draws, seed=1)
        found = results.inclusion()
        z = (found.inclusion - columns["enumeration"]) / np.maximum(found.mcse, 1e-3)
        columns[name] = found.inclusion.to_numpy()[-10:]
        facts.append(f"{name}: largest |z| {np.abs(z).max():.1f}, mcse up to {found.mcse.max():.4f}, "
                     f"{results.chain_diagnostics().data_passes.sum():,.0f} data passes, {time.process_time() - begun:.1f} s")
    print("\n| inclusion | " + " | ".join(f"x{j}" for j in range(10)) + " |\n|---|" + "---|" * 10)
    for name, values in columns.items():
        print(f"| {name} | " + " | ".join(f"{v:.3f}" for v in values) + " |")
    print("\n".join(["", *facts]), flush=True)


def main():
    """Run everything, or a quick look."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    fits = {name: fitted(**how) for name, how in SAMPLERS.items()}
    reference = fitted(sampler="mala", precondition="mode", draws=2000 if quick else 20_000, warmup=None, chains=4)
    a_draw = np.mean([loss(theta) for theta in reference.flat[::97]])
    print(f"mala: {loss(reference.params.to_numpy()):.4f} at the mean, {a_draw:.4f} a draw; truth: {loss(paper()[2]):.4f}\n")
    convergence(fits, 30 if quick else 3000)
    mixing(fits, reference, 20 if quick else 3000, 200 if quick else 50_000)
    confidences(reference, 100 if quick else 2000)
    resilience(20_000 if quick else 400_000)
    expectations(fits, reference, 50, 100 if quick else 1000, 2 if quick else 10)
    sticky(500 if quick else 10_000)


if __name__ == "__main__":
    main()
