"""Steps of stochastic-gradient samplers in JAX, and by BlackJAX, for `per_step.py`.

Each function gives a contestant: a function of the number of steps, which all run in one compiled
loop, in float32 (JAX's default) with the state on the device and nothing recorded.  The model is
the logistic regression with N(0, 1) priors.  Those here use the score by hand, the products in
several forms and JAX's fastest random generator; BlackJAX differentiates a mean of log densities,
with JAX's default generator.
"""

from functools import partial

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from blackjax.sgmcmc import gradients
from jax import lax

LEAPFROG = 5  # gradients in a step of sghmc, the default of sgmc
PRODUCTS = {  # form: (linear predictors of some rows, sum of the rows times r)
    "product": (lambda X, theta: X @ theta, lambda X, r: X.T @ r),
    "reduce": (lambda X, theta: (X * theta).sum(1), lambda X, r: (X * r[:, None]).sum(0)),
    "columns": (lambda X, theta: theta @ X, lambda X, r: X @ r),
}
FORMS = {"gather": ("product", "reduce"), "block": ("product", "reduce", "columns")}


def estimate_of(X, y, n, batch, form, control):
    """(estimate(key, theta, data), data): "gather" draws n random rows as the packages do, "block"
    n consecutive ones.

    `form` is how products are written, "columns" with the table transposed.  With `control`, scores
    at zero and their full gradient are kept and serve as control variates; packages compute the
    former again.
    """
    N, d = X.shape
    axis = 1 if form == "columns" else 0
    predictors, weighted_sum = PRODUCTS[form]
    scores = y - 0.5 if control else np.zeros(0)
    known = jnp.asarray(X.T @ scores if control else np.zeros(d), jnp.float32)
    data = [jnp.asarray(a, jnp.float32) for a in (X.T if axis else X, y, scores)]

    def pick(key, table, y, scores):
        if batch == "gather":
            rows = jax.random.randint(key, (n,), 0, N)
            return jnp.take(table, rows, axis), y[rows], scores[rows] if control else 0.0
        start = jax.random.randint(key, (), 0, N - n + 1)
        cut = partial(lax.dynamic_slice_in_dim, start_index=start, slice_size=n)
        return cut(table, axis=axis), cut(y), cut(scores) if control else 0.0

    def estimate(key, theta, data):
        table, outcome, stored = pick(key, *data)
        return (
            known
            + N
            / n
            * weighted_sum(table, outcome - jax.nn.sigmoid(predictors(table, theta)) - stored)
            - theta
        )

    return estimate, data


def langevin(key, state, gradient, h):
    """theta <- theta + h/2 g + sqrt(h) xi."""
    which, noise = jax.random.split(key)
    theta, *rest = state
    return theta + h / 2 * gradient(which, theta) + h**0.5 * jax.random.normal(
        noise, theta.shape
    ), *rest


def hamiltonian(key, state, gradient, h, friction=1.0):
    """LEAPFROG times theta <- theta + e p, p <- (1 - e C) p + e g + N(0, 2 e C), from a fresh
    momentum; e = sqrt(h).
    """
    e = h**0.5
    theta, p, z = state
    first, rest = jax.random.split(key)

    def kick(pair, key):
        theta, p = pair
        which, noise = jax.random.split(key)
        theta = theta + e * p
        p = (
            (1 - e * friction) * p
            + e * gradient(which, theta)
            + (2 * e * friction) ** 0.5 * jax.random.normal(noise, p.shape)
        )
        return (theta, p), None

    (theta, p), _ = lax.scan(
        kick, (theta, jax.random.normal(first, theta.shape)), jax.random.split(rest, LEAPFROG)
    )
    return theta, p, z


def thermostat(key, state, gradient, h, diffusion=1.0):
    """p <- p + e g - e z p + N(0, 2 e A), theta <- theta + e p, z <- z + e (|p|^2 / d - 1);
    e = sqrt(h).
    """
    e = h**0.5
    which, noise = jax.random.split(key)
    theta, p, z = state
    xi = jax.random.normal(noise, theta.shape)
    p = (1 - e * z) * p + e * gradient(which, theta) + (2 * e * diffusion) ** 0.5 * xi
    return theta + e * p, p, z + e * (p @ p / len(p) - 1)


KERNELS = {"sgld": langevin, "sghmc": hamiltonian, "sgnht": thermostat}


def looped(step, state, data=(), generator="rbg"):
    """The contestant that repeats step(key, state, data) -> state."""

    def body(_, carry, data):
        key, state = carry
        key, now = jax.random.split(key)
        return key, step(now, state, data)

    @jax.jit
    def loop(steps, state, data):
        return lax.fori_loop(
            0, steps, partial(body, data=data), (jax.random.key(1, impl=generator), state)
        )

    return lambda steps: jax.block_until_ready(loop(steps, state, data))


def jax_steps(kernel, X, y, n, h, *, batch="gather", form="product", control=False):
    """One of KERNELS."""
    estimate, data = estimate_of(X, y, n, batch, form, control)
    nought = jnp.zeros(X.shape[1])

    def step(key, state, data):
        return KERNELS[kernel](key, state, partial(estimate, data=data), h)

    return looped(step, (nought, nought, jnp.ones(())), data)


def jax_wide(d, generator, h=1e-3):
    """SGLD on a standard normal: gradient -x."""
    return looped(
        lambda key, state, data: langevin(key, state, lambda which, x: -x, h),
        (jnp.zeros(d),),
        generator=generator,
    )


def blackjax_steps(kernel, X, y, n, h, control=False):
    """BlackJAX's own kernel on rows drawn with replacement, one batch for all gradients of a
    step.
    """
    N, d = X.shape
    data = jnp.asarray(X, jnp.float32), jnp.asarray(y, jnp.float32)

    def log_density(theta, row):
        eta = row[0] @ theta
        return row[1] * eta - jax.nn.softplus(eta)

    gradient = gradients.grad_estimator(lambda theta: -0.5 * theta @ theta, log_density, N)
    if control:
        gradient = gradients.control_variates(gradient, jnp.zeros(d), data)
    sampler = getattr(blackjax, kernel)(gradient, *([LEAPFROG] if kernel == "sghmc" else []))
    state = sampler.init(jnp.zeros(d), jax.random.key(2))

    def step(key, state, data):
        which, noise = jax.random.split(key)
        rows = jax.random.choice(which, N, (n,))
        return sampler.step(noise, state, tuple(a[rows] for a in data), h)

    return looped(step, state, data, "threefry2x32")
