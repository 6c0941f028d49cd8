"""Exact samplers beside NumPyro and BlackJAX: effective draws a second on three logistic
posteriors, in one run.

    python benchmarks/exact.py [--quick] [--rounds 3]

Everyone has the same design and the same normal priors in float64, one core, four chains, and as
many warmup steps and draws.  "total" is the time of a call from arrays to draws: for sgmc the mode,
warmup and all that a fit does; for the others warmup and sampling, compiled before by a first call,
whose longer time is "cold".  "sampling" leaves the warmup out: for sgmc it is the time of a fit
less that of one with a single draw, for NumPyro that of a second call which goes on from the first.
The effective size is the least bulk ESS of the coefficients (`sgmc.diagnostics.ess`, for all
alike), of the best round.  z is the largest difference of a posterior mean from that of sgmc's
mala, in Monte Carlo standard errors.  Predictors are standardised, which sgmc does not need.

NumPyro runs NUTS with a dense mass matrix and with a diagonal one, its chains one after another
("sequential") and in lockstep ("vectorized").  BlackJAX runs NUTS by its window adaptation, dense,
and MALA and Barker, for which it has no adaptation: they get dual averaging of the step for the
best acceptance rate, on a target whitened by the dense metric that the window adaptation of NUTS
learned in the same warmup ("whitened", which its time includes), or in the given coordinates
("plain").
"""

import argparse
import os
import time
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from blackjax.adaptation.step_size import dual_averaging_adaptation
from numpyro.infer import MCMC, NUTS

import sgmc
from sgmc.diagnostics import ess, mcse

jax.config.update("jax_enable_x64", True)
CHAINS, SCALE = 4, 2.5  # sd of every coefficient's prior
OURS = ("mala", "hmc", "barker", "mmala", "rwm")
# acceptance rates that dual averaging aims at for BlackJAX
TARGETS = {"mala": 0.574, "barker": 0.4}


# ---- posteriors ----------------------------------------------------------------------------------


def with_intercept(X):
    """A column of ones and the predictors standardised, without which the others hardly move."""
    return np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / X.std(axis=0)])


def fair():
    """The survey that comes with statsmodels, 6,366 x 9."""
    frame = sgmc.datasets.load("fair")
    return with_intercept(frame.drop(columns="affairs").to_numpy(float)), (
        frame["affairs"] > 0
    ).to_numpy(float)


def outcomes(X, theta, random):
    """Coins of a logistic regression."""
    return (random.random(len(X)) < 1 / (1 + np.exp(-X @ theta))).astype(float)


def heavy():
    """10,000 x 10, Cauchy predictors cut at 100; one outcome in twenty."""
    random = np.random.default_rng(1)
    X = with_intercept(np.clip(random.standard_cauchy((10_000, 9)), -100, 100))
    return X, outcomes(X, np.r_[-3.0, random.normal(0, 0.5, 9)], random)


def wide():
    """20,000 x 50, neighbours correlated by 0.9."""
    random = np.random.default_rng(2)
    correlation = 0.9 ** np.abs(np.subtract.outer(np.arange(49), np.arange(49)))
    X = with_intercept(random.standard_normal((20_000, 49)) @ np.linalg.cholesky(correlation).T)
    return X, outcomes(X, np.r_[-1.0, random.normal(0, 0.3, 49)], random)


POSTERIORS = {"fair": fair, "heavy-tailed": heavy, "wide": wide}


@dataclass(frozen=True)
class Run:
    """Draws (chain, draw, d), seconds in all and of sampling."""

    draws: np.ndarray
    total: float
    sampling: float


# ---- sgmc ----------------------------------------------------------------------------------------


def by_sgmc(name, X, y, warmup, draws):
    """A function of a seed that runs one of our samplers."""

    def once(seed, draws):
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sgmc.SGMCWarning)
            results = sgmc.Logit(y, X).fit(
                sampler=name,
                prior={"*": sgmc.normal(0, SCALE)},
                draws=draws,
                warmup=warmup,
                thin=1,
                chains=CHAINS,
                threads=1,
                seed=seed,
            )
        return results.draws, time.perf_counter() - begun

    def run(seed):
        kept, total = once(seed, draws)
        return Run(kept, total, total - once(seed, 1)[1])

    return run


# ---- NumPyro -------------------------------------------------------------------------------------


def regression(X, y):
    """The posterior as NumPyro has it."""
    theta = numpyro.sample("theta", dist.Normal(0, SCALE).expand([X.shape[1]]).to_event(1))
    numpyro.sample("y", dist.BernoulliLogits(X @ theta), obs=y)


def by_numpyro(dense, chain_method, X, y, warmup, draws):
    """NUTS."""
    X, y = jnp.asarray(X), jnp.asarray(y)
    sampler = MCMC(
        NUTS(regression, dense_mass=dense),
        num_warmup=warmup,
        num_samples=draws,
        num_chains=CHAINS,
        chain_method=chain_method,
        progress_bar=False,
    )

    def run(seed):
        begun, sampler.post_warmup_state = time.perf_counter(), None
        sampler.run(jax.random.PRNGKey(seed), X, y)
        kept = np.asarray(sampler.get_samples(group_by_chain=True)["theta"])
        ended, sampler.post_warmup_state = time.perf_counter(), sampler.last_state
        sampler.run(sampler.last_state.rng_key, X, y)
        jax.block_until_ready(sampler.get_samples())
        return Run(kept, ended - begun, time.perf_counter() - ended)

    return run


# ---- BlackJAX ------------------------------------------------------------------------------------


def log_density(X, y, theta):
    """Up to a constant."""
    eta = X @ theta
    return y @ eta - jnp.logaddexp(0, eta).sum() - (theta @ theta) / (2 * SCALE**2)


def kept_states(step, state, key, draws):
    """Positions of a chain."""

    def one(state, key):
        state, _ = step(key, state)
        return state, state.position

    return jax.lax.scan(one, state, jax.random.split(key, draws))[1]


def nuts_chain(X, y, warmup, draws):
    """(warm, sample): functions of a key that learn,
    and of what was learned and a key that draw.
    """
    target, start = partial(log_density, X, y), jnp.zeros(X.shape[1])
    adapt = blackjax.window_adaptation(
        blackjax.nuts,
        target,
        is_mass_matrix_diagonal=False,
        adaptation_info_fn=blackjax.adaptation.base.get_filter_adapt_info_fn(),
    )

    def warm(key):
        (state, parameters), _ = adapt.run(key, start, warmup)
        return state, parameters

    def sample(learned, key):
        state, parameters = learned
        return kept_states(blackjax.nuts(target, **parameters).step, state, key, draws)

    return warm, sample


def langevin_chain(name, whitened, X, y, warmup, draws):
    """MALA or Barker; half of the warmup, where whitened, goes to the metric by the window
    adaptation of NUTS.
    """
    d, family = X.shape[1], getattr(blackjax, name)
    target = partial(log_density, X, y)
    begin, learn, final = dual_averaging_adaptation(TARGETS[name], gamma=0.2)
    metric, _ = nuts_chain(X, y, warmup // 2, draws)

    def moved(learned):
        centre, root = learned
        return lambda z: target(centre + root @ z)

    def warm(key):
        first, second = jax.random.split(key)
        centre, root = jnp.zeros(d), jnp.eye(d)
        if whitened:
            state, parameters = metric(first)
            centre, root = state.position, jnp.linalg.cholesky(parameters["inverse_mass_matrix"])
        kernel, density = family.build_kernel(), moved((centre, root))

        def one(carry, key):
            state, search = carry
            state, info = kernel(key, state, density, jnp.exp(search.log_step_size))
            return (state, learn(search, info.acceptance_rate)), None

        keys = jax.random.split(second, warmup - warmup // 2 if whitened else warmup)
        carry = family.init(jnp.zeros(d), density), begin(0.1 if whitened else 1e-3)
        (state, search), _ = jax.lax.scan(one, carry, keys)
        return state, final(search), centre, root

    def sample(learned, key):
        state, step, centre, root = learned
        density = moved((centre, root))
        return centre + kept_states(family(density, step).step, state, key, draws) @ root.T

    return warm, sample


def by_blackjax(chain, X, y, warmup, draws):
    """Chains one after another, each compiled as a whole."""
    warm, sample = map(jax.jit, chain(jnp.asarray(X), jnp.asarray(y), warmup, draws))

    def run(seed):
        begun = time.perf_counter()
        keys = jax.random.split(jax.random.PRNGKey(seed), 2 * CHAINS)
        learned = [jax.block_until_ready(warm(key)) for key in keys[:CHAINS]]
        warmed = time.perf_counter()
        kept = np.stack([np.asarray(sample(one, key)) for one, key in zip(learned, keys[CHAINS:])])
        ended = time.perf_counter()
        return Run(kept, ended - begun, ended - warmed)

    return run


CONTESTANTS = {
    **{f"sgmc {name}": partial(by_sgmc, name) for name in OURS},
    "NumPyro NUTS dense sequential": partial(by_numpyro, True, "sequential"),
    "NumPyro NUTS dense vectorized": partial(by_numpyro, True, "vectorized"),
    "NumPyro NUTS diagonal sequential": partial(by_numpyro, False, "sequential"),
    "BlackJAX NUTS dense": partial(by_blackjax, nuts_chain),
    **{
        f"BlackJAX {name} {how}": partial(
            by_blackjax, partial(langevin_chain, name, how == "whitened")
        )
        for name in TARGETS
        for how in ("whitened", "plain")
    },
}


# ---- the table -----------------------------------------------------------------------------------


def race(posterior, contestants, warmup, draws, rounds):
    """Print the rows of a posterior."""
    X, y = POSTERIORS[posterior]()
    print(f"\n{posterior}: {X.shape[0]:,} x {X.shape[1]}, {CHAINS} chains of {warmup} + {draws}")
    runs, cold = {}, {}
    for name, make in contestants.items():
        begun = time.perf_counter()
        runs[name] = make(X, y, warmup, draws)
        made = time.perf_counter() - begun
        cold[name] = made + runs[name](0).total
    best = {}
    for seed in range(1, rounds + 1):  # contestants take turns
        for name, run in runs.items():
            new = run(seed)
            speed = ess(new.draws).min() / new.total
            if name not in best or speed > best[name][0]:
                best[name] = speed, new
    table(best, cold)


def table(best, cold):
    """One line a contestant; ratios are those of our mala over it."""
    ours, reference = best["sgmc mala"], best["sgmc mala"][1].draws
    rate = {name: ess(run.draws).min() / run.sampling for name, (_, run) in best.items()}
    print(
        f"{'':34s} {'min ESS':>8s} {'total s':>8s} {'cold s':>7s} {'ESS/s':>9s} {'sampling':>9s} "
        f"{'mala / this':>11s} {'sampling':>8s} {'max|z|':>6s}"
    )
    for name, (speed, run) in best.items():
        size = ess(run.draws).min()
        z = run.draws.mean(axis=(0, 1)) - reference.mean(axis=(0, 1))
        z = (
            np.abs(z / np.hypot(mcse(run.draws), mcse(reference))).max()
            if name != "sgmc mala"
            else np.nan
        )
        print(
            f"{name:34s} {size:8.0f} {run.total:8.3f} {cold[name]:7.2f} {speed:9.1f} "
            f"{rate[name]:9.1f} {ours[0] / speed:11.2f} {rate['sgmc mala'] / rate[name]:8.2f} "
            f"{z:6.1f}",
            flush=True,
        )


def main():
    """Print the tables."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "--quick",
        action="store_true",
        help="half the warmup and draws, one round, the first posterior alone",
    )
    arguments.add_argument("--posteriors", nargs="+", choices=POSTERIORS)
    arguments.add_argument(
        "--without",
        nargs="+",
        default=[],
        help="contestants to leave out, by a part of their names",
    )
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--cpu", type=int, default=0, help="the core to run on (Linux)")
    options = arguments.parse_args()
    for thread in Path("/proc/self/task").iterdir() if hasattr(os, "sched_setaffinity") else ():
        # of JAX, too, which has begun its own
        os.sched_setaffinity(int(thread.name), {options.cpu})
    print(
        f"numpyro {numpyro.__version__}, blackjax {blackjax.__version__}, jax {jax.__version__}, "
        f"sgmc {sgmc.__version__}"
    )
    contestants = {
        name: make
        for name, make in CONTESTANTS.items()
        if not any(part in name for part in options.without)
    }
    warmup, draws = (250, 500) if options.quick else (500, 1000)
    for posterior in options.posteriors or list(POSTERIORS)[: 1 if options.quick else 3]:
        race(posterior, contestants, warmup, draws, 1 if options.quick else options.rounds)


if __name__ == "__main__":
    main()
