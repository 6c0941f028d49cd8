"""Crossed factors on seven designs: Hamiltonian Monte Carlo beside Gibbs sampling by factor.

    python benchmarks/crossed_designs.py [--family ols|logit] [--sweeps 4000]

Of each design rho_2, the second largest squared canonical correlation of the incidence, and the
largest autocorrelation of a sweep that the summary's details predict; integrated autocorrelation
times, in draws and in sweeps, of the slowest of intercept, slope, sds and mean effects, and of the
slowest of eight effects; and how many times more effective draws HMC has per pass over the data and
per second of sampling.  A sweep of Gibbs sampling for normal outcomes counts as one pass, for
others as one per evaluation of all rows.  HMC runs at default settings.  Seconds of the rival are
numpy's: per second only orders of magnitude count.  Means of both agree within 5 standard errors,
or the exit status is 1.
"""

import argparse
import os
import sys
import time
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
from crossed_gibbs import SHOWN, Logit, Normal

import sgmc
from sgmc.diagnostics.chains.convergence import ess
from sgmc.models.regression.latent.sampled.centre.correlation import at_centre

SHORT, LONG, CHAINS = 200, 300, 4  # draws of a chain: those with all effects, and more of them
SD, OTHER = 0.8, 0.5  # of the effects
AGREE = 5.0  # standard errors


def balanced(rng):
    """Each of 100 levels with each of 100."""
    return np.divmod(np.arange(100 * 100), 100)


def sparse(rng):
    """Four rows a level."""
    return rng.integers(0, 800, 3200), rng.integers(0, 800, 3200)


def power_law(rng):
    """Rows of the k-th level in proportion to 1 / k."""
    share = [1 / np.arange(1.0, m + 1) for m in (1000, 500)]
    return [rng.choice(len(p), 10_000, p=p / p.sum()) for p in share]


def nearly_nested(rng):
    """500 levels in 50, but for 5 % of the rows."""
    first = rng.integers(0, 500, 10_000)
    return first, np.where(rng.random(10_000) < 0.05, rng.integers(0, 50, 10_000), first // 10)


def halves(rng):
    """Two halves of both factors with 0.2 % of the rows between them."""
    side, other = rng.random(10_000) < 0.5, rng.random(10_000) < 0.002
    return rng.integers(0, 100, 10_000) + 100 * side, rng.integers(0, 100, 10_000) + 100 * (
        side ^ other
    )


def neighbours(rng):
    """A ring of 200 levels, each with its neighbour in the other factor."""
    first = rng.integers(0, 200, 10_000)
    return first, (first + rng.integers(0, 2, 10_000)) % 200


def tiny(rng):
    """1,000 levels beside 4."""
    return rng.integers(0, 1000, 10_000), rng.integers(0, 4, 10_000)


DESIGNS = {
    "balanced": balanced,
    "sparse": sparse,
    "power law": power_law,
    "nearly nested": nearly_nested,
    "two halves": halves,
    "neighbours": neighbours,
    "one factor tiny": tiny,
}


def table(design, family):
    """Rows of a design: outcome, centred predictor, levels."""
    rng = np.random.default_rng(1)
    codes = [np.unique(code, return_inverse=True)[1] for code in design(rng)]
    x = rng.normal(size=len(codes[0]))
    x -= x.mean()
    u, v = (sd * rng.normal(size=code.max() + 1)[code] for sd, code in zip((SD, OTHER), codes))
    eta = 0.3 * x + u + v
    noise = rng.normal(size=len(x)) if family == "ols" else rng.logistic(size=len(x))
    y = eta + noise
    return pd.DataFrame(
        {"y": y if family == "ols" else (y > 0).astype(int), "x": x, "g": codes[0], "h": codes[1]}
    )


def second_correlation(frame):
    """rho_2 of the incidence matrix."""
    W = pd.crosstab(frame["g"], frame["h"]).to_numpy(float)
    scaled = W / np.sqrt(np.outer(W.sum(axis=1), W.sum(axis=0)))
    smaller = scaled.T @ scaled if W.shape[1] < W.shape[0] else scaled @ scaled.T
    return np.sort(np.linalg.eigvalsh(smaller))[-2]


def passes_of(fit):
    """Passes over the data, of all chains."""
    return fit.chain_diagnostics()["data_passes"].sum()


def by_hmc(frame, family):
    """Draws per effective draw, passes and seconds per draw, seconds before; means and errors."""
    verb = getattr(sgmc, family)
    begun = time.perf_counter()
    first = verb("y ~ x + (1 | g) + (1 | h)", frame, seed=1, draws=SHORT, chains=CHAINS, threads=1)
    before = time.perf_counter() - begun
    effects = [first.ranef_draws(name)[..., 0] for name in ("g", "h")]
    means = np.stack([one.mean(axis=1) for one in effects], axis=1)
    single = np.concatenate([one[:, :SHOWN] for one in effects], axis=1)
    means, single = (one.reshape(CHAINS, SHORT, -1) for one in (means, single))
    begun = time.perf_counter()
    longer = first.resume(draws=LONG)
    seconds = (time.perf_counter() - begun) / (LONG * CHAINS)
    passes = (passes_of(longer) - passes_of(first)) / (LONG * CHAINS)
    size = CHAINS * longer.draws.shape[1]
    slowest = max(size / longer.ess().min(), SHORT * CHAINS / ess(means).min())
    of_effects = SHORT * CHAINS / ess(single).min()
    return (slowest, of_effects), passes, seconds, before - seconds * SHORT * CHAINS, longer


def by_gibbs(frame, family, sweeps):
    """Sweeps per effective draw, passes and seconds per sweep; traces."""
    y = frame["y"].to_numpy(float)
    codes = [frame["g"].to_numpy(), frame["h"].to_numpy()]
    unit, centre = (y.std(ddof=1), y.mean()) if family == "ols" else (1.0, 0.0)
    sampler = {"ols": Normal, "logit": Logit}[family](
        y, frame["x"].to_numpy(), codes, unit, centre, 1
    )
    begun = time.perf_counter()
    traces = sampler.run(sweeps)
    seconds = (time.perf_counter() - begun) / sweeps
    effective, shown = ess(traces[None]), 2 * SHOWN
    slowest = sweeps / effective[:-shown].min(), sweeps / effective[-shown:].min()
    return slowest, sampler.passes, seconds, traces


def differences(fit, traces):
    """Largest difference of the means of coefficients and sds, in standard errors."""
    error = np.hypot(
        fit.bse[:4] / np.sqrt(fit.ess()[:4]),
        traces[:, :4].std(axis=0) / np.sqrt(ess(traces[None])[:4]),
    )
    return float((np.abs(fit.params[:4] - traces[:, :4].mean(axis=0)) / error).max())


def pair(numbers):
    """Two numbers as text."""
    return "".join(f"{one:8.2g}" for one in numbers)


def main():
    """Print a line a design; 1 if the samplers disagree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", choices=["ols", "logit"], action="append")
    parser.add_argument("--sweeps", type=int, default=4000)
    parser.add_argument("--design", choices=DESIGNS, action="append")
    given, apart = parser.parse_args(), 0.0
    warnings.simplefilter("ignore")
    for family in given.family or ["ols", "logit"]:
        print(f"{family}; IAT and HMC over Gibbs: of parameters, of effects")
        print(f"{'':16s} rho_2  rate predicted |     IAT, sweeps |    IAT, draws passes |"
              "        per pass |      per second | start, s")  # fmt: skip
        for name in given.design or DESIGNS:
            frame = table(DESIGNS[name], family)
            draws, passes, seconds, before, fit = by_hmc(frame, family)
            sweeps, each, took, traces = by_gibbs(frame, family, given.sweeps)
            rate = max(at_centre(fit._fit.problem).values())
            gain = np.array(sweeps) / np.array(draws)
            print(
                f"{name:16s}{second_correlation(frame):6.3f}{rate:6.3f}"
                f"{(1 + rate) / (1 - rate):10.1f} |{pair(sweeps)} |{pair(draws)}{passes:6.1f} |"
                f"{pair(gain * each / passes)} |{pair(gain * took / seconds)} |{before:9.1f}   "
                f"{differences(fit, traces):.1f} se; {fit.verdict!s:.40}",
                flush=True,
            )
            apart = max(apart, differences(fit, traces))
    return int(apart > AGREE)


if __name__ == "__main__":
    sys.exit(main())
