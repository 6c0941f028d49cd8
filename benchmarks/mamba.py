"""Section 4.1 of Coullon, South and Nemeth (2023): six samplers of a logistic regression, tuned in
five ways and by the derived default.

    python benchmarks/mamba.py [--quick] [--rows N] [--seeds K] [--samplers sgld,sghmc-cv]

N = 1e6 rows, 10 columns, prior N(0, 10); raw coordinates; R = 1 s of the winner (a race of M arms
then has M R / 13 s a rung for M = 56); their grids: log10(dt) from -1 to -7.5 by halves,
minibatches of 100, 10, 1 and 0.1 %, 5 or 10 leapfrog steps.  Their dt is h/2 of Langevin steps
here, and e^2 of those with momentum; friction and diffusion, which their paper does not tune, are 2
sqrt(N/10), about critical.  ``--quick``: N = 1e5, R = 0.3 s, three seeds.  The fits that are
compared run for 10 R.

Printed: tables 1 and 6 (relative error of the posterior sds against MALA, KSD in the coefficients
as the paper has it and in brackets in whitened coordinates, kept draws), table 5 (what was chosen),
seconds of each way, and for some seeds the arm that MAMBA chose and how it does in 3 R.  "default"
is no tuning at all:
the derived step and minibatch in whitened coordinates, for the same 10 R.
"""

import argparse
import os
import time
import warnings
from dataclasses import dataclass

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before numpy reads them

import numpy as np  # noqa: E402

import sgmc  # noqa: E402
from sgmc.results.checks.scores.stein import scored  # noqa: E402

LOG_STEPS = np.arange(-1.0, -7.6, -0.5)
SHARES = (1.0, 0.1, 0.01, 0.001)
SAMPLERS = ("sgld", "sgld-cv", "sghmc", "sghmc-cv", "sgnht", "sgnht-cv")


@dataclass
class Case:
    """A sampler with its grids, and how long things run."""

    label: str
    n: int
    R: float
    short: int  # steps of each arm of the grid search by log-loss

    @property
    def spec(self):
        """The specification."""
        critical = 2 * np.sqrt(self.n / 10)
        return {
            "sgld": sgmc.SGLD(),
            "sghmc": sgmc.SGHMC(friction=critical),
            "sgnht": sgmc.SGNHT(diffusion=critical),
        }[self.label.split("-")[0]]

    @property
    def how(self):
        """Arguments of all ways but the derived default."""
        return {
            "sampler": self.spec,
            "gradient": "cv" if self.label.endswith("-cv") else "simple",
            "precondition": None,
            "threads": 1,
        }

    @property
    def grid(self):
        """Steps and leapfrog steps."""
        dt = 10.0**LOG_STEPS
        steps = 2 * dt if self.label.startswith("sgld") else np.sqrt(dt)
        return {"step_size": list(steps)} | (
            {"leapfrog": [5, 10]} if self.label.startswith("sghmc") else {}
        )

    @property
    def full_grid(self):
        """The same and minibatches."""
        return self.grid | {"batch_size": [int(self.n * share) for share in SHARES]}

    def race_seconds(self):
        """Seconds of a race on one thread whose winner has run for R."""
        arms = int(np.prod([len(v) for v in self.full_grid.values()]))
        rungs = int(np.log(arms) / np.log(3))
        return self.R * arms * rungs / sum(3.0 ** np.arange(rungs))

    def ways(self):
        """Name of each way of tuning -> arguments of `sgmc.tune`."""
        arms = int(np.prod([len(v) for v in self.full_grid.values()]))
        mamba = dict(self.how, grid=self.full_grid, time_limit=self.race_seconds())
        return {
            "MAMBA-KSD": mamba,
            "MAMBA-FSSD": dict(mamba, metric="fssd-opt"),
            "grid log-loss": dict(
                self.how,
                grid=self.grid,
                batch_size=self.n // 10,
                method="grid",
                metric="log_loss",
                budget_steps=self.short,
            ),
            "heuristic": dict(
                {k: v for k, v in self.how.items() if k != "precondition"},
                method="heuristic",
                budget_steps=100,
            ),
            "grid KSD": dict(
                self.how, grid=self.full_grid, method="grid", time_limit=self.R * arms
            ),
            "default": {"sampler": self.label, "method": "default", "budget_steps": 100},
        }


def simulated(n, seed=0):
    """A logistic regression of ten standard normal columns."""
    rng = np.random.default_rng(seed)
    X, theta = rng.normal(size=(n, 10)), rng.normal(size=10)
    return sgmc.Logit((rng.random(n) < 1 / (1 + np.exp(-X @ theta))).astype(int), X)


def measured(model, best, sd, seconds):
    """Relative sd error in %, the paper's KSD and ours, and number of draws, of one chain from the
    Laplace approximation, as text.
    """
    try:
        fit = model.fit(
            **best,
            prior=PRIOR,
            chains=1,
            draws=100_000,
            thin=THIN,
            warmup=0,
            time_limit=seconds,
            seed=7,
        )
    except sgmc.errors.ArgumentError:
        return "diverged" + 47 * " "
    error = 100 * np.linalg.norm(fit.bse - sd) / np.linalg.norm(sd)
    return (
        f"sd error {error:7.1f} %  KSD {raw_ksd(fit):9.3g} ({fit.ksd():.3f})  draws "
        f"{fit.draws.shape[1]:7,}"
    )


def raw_ksd(results):
    """KSD in the coefficients themselves, as the paper has it, of at most 10,000 draws."""
    some = scored(results._fit, 1, "taylor", 10_000)
    white = results._fit.problem.coordinates.white
    scores = np.linalg.solve(white.T, some.scores.T).T if some.scale is None else some.scores
    return sgmc.diagnostics.ksd(results.flat[some.kept], scores)


PRIOR = sgmc.normal(0, 10**0.5)
THIN = 10  # as in the paper


def shown(best, n):
    """What was chosen, in the paper's terms."""
    spec, step = best["sampler"], best["step_size"]
    dt = step / 2 if spec.name == "sgld" else step**2
    leapfrog = f" L={spec.leapfrog}" if spec.name == "sghmc" else ""
    where = "" if best["precondition"] is None else " (whitened)"
    return (
        f"log10(dt)={np.log10(dt):5.2f} batch={100 * best['batch_size'] / n:6.3g} %{leapfrog}"
        f"{where}"
    )


def main():
    """Everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--samplers", default=",".join(SAMPLERS))
    asked = parser.parse_args()
    n, R, short = (10**5, 0.3, 500) if asked.quick else (10**6, 1.0, 5000)
    n, seeds = asked.rows or n, asked.seeds or (3 if asked.quick else 10)
    warnings.simplefilter("ignore", sgmc.SGMCWarning)
    model = simulated(n)
    sd = np.asarray(
        model.fit(sampler="mala", prior=PRIOR, seed=1, draws=500 if asked.quick else 1000).bse
    )
    for label in asked.samplers.split(","):
        case = Case(label, n, R, short)
        print(f"\n{label}, N={n:,}, R={R:g} s", flush=True)
        for way, how in case.ways().items():
            begun = time.perf_counter()
            result = sgmc.tune(model, prior=PRIOR, seed=1, **how)
            spent = time.perf_counter() - begun
            print(
                f"  {way:<14} {measured(model, result.best, sd, 10 * R)}  tuned in {spent:6.2f} s  "
                f"{shown(result.best, n)}",
                flush=True,
            )
        for seed in range(seeds):
            best = sgmc.tune(model, prior=PRIOR, seed=seed, **case.ways()["MAMBA-KSD"]).best
            print(
                f"  MAMBA-KSD, seed {seed}: {measured(model, best, sd, 3 * R)}  {shown(best, n)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
