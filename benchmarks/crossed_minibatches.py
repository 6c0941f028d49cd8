"""Mini-batches for crossed factors: the bias of standard deviations, and the cost, in numpy.

    python benchmarks/crossed_minibatches.py [--quick]

A simulated crossed logit: 20,000 rows, 300 x 200 levels.  Parameters are the intercept, a slope,
the logs of both sds, and effects in units of these.  Steps are preconditioned by the posterior
variances of a long exact run, in which step sizes h are given.

1. SGLD (Welling & Teh 2011) on everything, rows at random in batches.
2. The same with control variates at the posterior means (Baker et al. 2019,
   doi:10.1007/s11222-018-9826-2).
3. Local effects exactly, global parameters by mini-batches: effects are drawn given the rest by
   Newton proposals for each level, from all rows, and then the four global parameters take steps by
   mini-batches with these effects fixed, as many as cost one pass over the rows.

Printed: the largest bias of a posterior mean in sds and the largest relative bias of an sd, over
intercept, slope, log sds (global) and all effects (local); passes over the data per effective draw
of the slowest global parameter.  The last line is HMC at default settings.
"""

import argparse
import os
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
from crossed_gibbs import Logit

import sgmc
from sgmc.diagnostics.chains.convergence import ess

ROWS, LEVELS, SDS = 20_000, (300, 200), (0.8, 0.5)
SCALE, DF = 2.5, 3
GLOBAL = 4  # intercept, slope, log sds
PASSES, QUICK = 1500, 300


def table():
    """Outcome, centred predictor, levels."""
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, m, ROWS) for m in LEVELS]
    x = rng.normal(size=ROWS)
    x -= x.mean()
    eta = 0.3 * x + sum(sd * rng.normal(size=m)[c] for sd, m, c in zip(SDS, LEVELS, codes))
    return (rng.random(ROWS) < 1 / (1 + np.exp(-eta))).astype(float), x, codes


class Target:
    """The posterior of (intercept, slope, log sds, effects in units of the sds)."""

    def __init__(self, y, x, codes):
        self.y, self.x, self.codes = y, x, codes
        self.prior = np.array([1.0, x.std(ddof=1)]) ** 2 / SCALE**2
        self.places = np.split(np.arange(GLOBAL, GLOBAL + sum(LEVELS)), [LEVELS[0]])

    def of_rows(self, theta, rows):
        """The gradient of the log-likelihood of some rows, by everything."""
        sds = np.exp(theta[2:4])
        v = [theta[place][code[rows]] for place, code in zip(self.places, self.codes)]
        eta = theta[0] + theta[1] * self.x[rows] + sum(s * one for s, one in zip(sds, v))
        slope = self.y[rows] - 1 / (1 + np.exp(-eta))
        out = np.empty(len(theta))
        out[:2] = slope.sum(), slope @ self.x[rows]
        for k, (place, code) in enumerate(zip(self.places, self.codes)):
            out[2 + k] = sds[k] * (slope @ v[k])
            out[place] = sds[k] * np.bincount(code[rows], slope, LEVELS[k])
        return out

    def of_prior(self, theta):
        """The gradient of the log prior density."""
        square = np.exp(2 * theta[2:4]) / SCALE**2 / DF
        of_sds = 1 - (DF + 1) * square / (1 + square)
        return np.concatenate([-self.prior * theta[:2], of_sds, -theta[GLOBAL:]])


def in_units(state):
    """Draws of a Gibbs sampler as `Target` has them."""
    units = [u / sd for u, sd in zip(state.effects, state.sds)]
    return np.concatenate([state.beta, np.log(state.sds), *units])


def reference(y, x, codes, sweeps):
    """Means and variances of a long exact run."""
    sampler = Logit(y, x, codes, 1.0, 0.0, 3)
    sampler.run(0)
    draws = np.array([sampler.sweep() or in_units(sampler) for _ in range(sweeps)])
    return draws.mean(axis=0), draws.var(axis=0), ess(draws[None])


def sgld(target, mean, variance, batch, h, passes, variates):
    """Traces of SGLD on everything, one state a pass."""
    rng, theta = np.random.default_rng(2), mean.copy()
    n, steps = len(target.y), max(1, len(target.y) // batch)
    everything = target.of_rows(mean, np.arange(n)) if variates else 0.0
    out = np.empty((passes, len(theta)))
    for t in range(passes):
        for _ in range(steps):
            rows = rng.integers(0, n, batch)
            slope = target.of_rows(theta, rows)
            if variates:
                slope = slope - target.of_rows(mean, rows)
            slope = everything + n / batch * slope + target.of_prior(theta)
            noise = rng.normal(size=len(theta))
            theta = theta + 0.5 * h * variance * slope + np.sqrt(h * variance) * noise
        out[t] = theta
        if not np.isfinite(theta).all():
            return None
    return out


def local_exactly(target, mean, variance, batch, h, passes):
    """Traces of effects drawn by all rows, then global steps by mini-batches with these fixed."""
    y, x, codes = target.y, target.x, target.codes
    state, rng = Logit(y, x, codes, 1.0, 0.0, 4), np.random.default_rng(2)
    n, steps = len(y), max(1, len(y) // batch)
    state.beta, state.sds = mean[:2].copy(), np.exp(mean[2:4])
    state.effects = [s * mean[place] for s, place in zip(state.sds, target.places)]
    out = np.empty((passes, len(mean)))
    for t in range(passes):
        state.eta = state.X @ state.beta + sum(u[c] for u, c in zip(state.effects, codes))
        for k in range(len(codes)):
            state.update_effects(k)
        theta = in_units(state)
        for _ in range(steps):
            rows = rng.integers(0, n, batch)
            slope = n / batch * target.of_rows(theta, rows) + target.of_prior(theta)
            noise = np.sqrt(h * variance[:GLOBAL]) * rng.normal(size=GLOBAL)
            theta[:GLOBAL] += 0.5 * h * variance[:GLOBAL] * slope[:GLOBAL] + noise
        if not np.isfinite(theta).all():
            return None
        state.beta, state.sds = theta[:2].copy(), np.exp(theta[2:4])
        state.effects = [s * theta[place] for s, place in zip(state.sds, target.places)]
        out[t] = theta
    return out


def shown(name, batch, h, traces, known, cost):
    """Print a line; `cost` is in passes per state of the traces."""
    mean, variance, effective = known
    if traces is None:
        print(f"{name:28s}{batch:7d}{h:7.3f}   diverged", flush=True)
        return
    traces = traces[len(traces) // 5 :]
    size = ess(traces[None])
    shift = np.abs(traces.mean(axis=0) - mean) / np.sqrt(variance)
    ratio = traces.std(axis=0) / np.sqrt(variance) - 1
    parts = slice(0, GLOBAL), slice(GLOBAL, None)
    cells = [f"{shift[one].max():8.2f}{ratio[one][np.abs(ratio[one]).argmax()]:9.0%}"
             for one in parts]  # fmt: skip
    middle = np.median(ratio[GLOBAL:])
    print(
        f"{name:28s}{batch:7d}{h:7.3f}{cells[0]} |{cells[1]}{middle:8.0%} |"
        f"{cost * len(traces) / size[:GLOBAL].min():10.0f}",
        flush=True,
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    passes = QUICK if parser.parse_args().quick else PASSES
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    y, x, codes = table()
    target = Target(y, x, codes)
    known = reference(y, x, codes, 2 * passes)
    mean, variance, effective = known
    print(f"reference: {effective.min():.0f} effective draws of the slowest")
    print(
        f"{'':28s}{'batch':>7s}{'h':>7s}  global: mean, sd |   local: mean, sd, median sd | passes"
    )
    for batch, h in ((200, 0.01), (200, 0.001), (2000, 0.1), (2000, 0.01), (20_000, 0.1)):
        for variates in (False, True):
            name = "SGLD, control variates" if variates else "SGLD"
            traces = sgld(target, mean, variance, batch, h, passes, variates)
            shown(name, batch, h, traces, known, 1.0)
    for batch, h in ((200, 0.1), (200, 0.01), (2000, 0.1), (2000, 0.01), (20_000, 0.1)):
        traces = local_exactly(target, mean, variance, batch, h, passes)
        shown("local exactly, global SGLD", batch, h, traces, known, 1.0 + 2 * len(codes))
    frame = pd.DataFrame({"y": y.astype(int), "x": x, "g": codes[0], "h": codes[1]})
    fit = sgmc.logit("y ~ x + (1 | g) + (1 | h)", frame, seed=1)
    used = fit.chain_diagnostics()["data_passes"].sum() / fit.ess().min()
    logs = np.log(fit.draws[..., 2:4]).reshape(-1, 2)
    flat = np.column_stack([fit.draws[..., :2].reshape(-1, 2), logs])
    shift = np.abs(flat.mean(axis=0) - mean[:GLOBAL]) / np.sqrt(variance[:GLOBAL])
    ratio = flat.std(axis=0) / np.sqrt(variance[:GLOBAL]) - 1
    print(
        f"{'HMC, default':42s}{shift.max():8.2f}{ratio[np.abs(ratio).argmax()]:9.0%} |{used:36.0f}"
    )


if __name__ == "__main__":
    main()
