"""Mean-field variational inference (ADVI) beside the Laplace approximation and SGLD.

    python benchmarks/advi.py

The baseline of the review's experiments (Nemeth & Fearnhead 2021, section 6), by blackjax: a normal
with independent coordinates, fitted by Adam to the evidence lower bound (Kucukelbir, Tran,
Ranganath, Gelman & Blei 2017).  Logistic regressions with the review's correlated columns.
Printed: the largest error of a mean, in sds, and the range of sds over those of `hmc`; seconds of
the processor.
"""

import time
import warnings

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import optax

import sgmc

ROWS, STEPS, SAMPLES = 10_000, 3_000, 10


def regression(d, seed=6):
    """Rows and outcomes, with the review's random correlations (section 6.1)."""
    rng = np.random.default_rng(seed + d)
    apart = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    upper = np.triu(rng.uniform(-0.4, 0.4, (d, d)) ** np.maximum(apart, 1), 1)
    root = np.linalg.cholesky(upper + upper.T + np.eye(d))
    X = rng.normal(size=(ROWS, d)) @ root.T
    slopes = rng.normal(0, np.sqrt(10 / d), d)
    return X, (rng.random(ROWS) < 1 / (1 + np.exp(-X @ slopes))).astype(int)


def advi(X, y):
    """Mean and sds of the mean-field approximation."""
    X, y = jnp.asarray(X), jnp.asarray(y)

    def log_density(theta):
        eta = X @ theta
        return jnp.sum(y * eta - jnp.logaddexp(0.0, eta)) - theta @ theta / 20

    rule = blackjax.meanfield_vi(log_density, optax.adam(0.01), SAMPLES)
    step = jax.jit(rule.step)
    state, key = rule.init(jnp.zeros(X.shape[1])), jax.random.key(0)
    for _ in range(STEPS):
        key, now = jax.random.split(key)
        state, _ = step(now, state)
    return np.asarray(state.mu), np.exp(np.asarray(state.rho))


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)  # of Laplace's errors, printed below
    print("   d  method       mean  sd from    to  seconds")
    for d in (10, 50):
        X, y = regression(d)
        model, how = sgmc.Logit(y, X), {"prior": {"*": sgmc.normal(0, 10**0.5)}, "seed": 1}
        truth = model.fit(sampler="hmc", **how)
        found = {}
        for name, fit in (
            ("advi", lambda: advi(X, y)),
            ("laplace", lambda: model.fit(sampler="laplace", **how)),
            ("sgld", lambda: model.fit(sampler="sgld", **how)),
        ):
            begun = time.process_time()
            made = fit()
            spent = time.process_time() - begun
            mean, sd = made if name == "advi" else (made.params.to_numpy(), made.bse.to_numpy())
            off = np.abs(mean - truth.params.to_numpy()) / truth.bse.to_numpy()
            ratio = sd / truth.bse.to_numpy()
            print(
                f"{d:4}  {name:8}{off.max():9.2f}{ratio.min():9.2f}{ratio.max():6.2f}{spent:9.1f}"
            )
