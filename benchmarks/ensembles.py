"""Deep ensembles and SWAG in JAX, for `networks.py`.

Networks are those of `sgmc.BNN` with relu units: one array of weights and one of biases a layer,
inputs that are standardised.  Both rivals minimise the mean of -log p(y | x) plus a weight decay.

Deep ensembles (Lakshminarayanan, Pritzel & Blundell 2017, arXiv:1612.01474): so many networks from
different starts by Adam; predictions are the average of theirs.  SWAG (Maddox et al. 2019,
arXiv:1902.02476): one network by Adam, then SGD with a constant step, whose iterates, one an epoch,
give a Gaussian, half of its covariance diagonal and half of rank RANK; predictions are the average
over draws from it.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

MEMBERS, RANK, DRAWS = 5, 20, 30


def started(key, sizes):
    """Weights N(0, 2 / inputs) (He et al. 2015) and biases of zero."""
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (d, h)) * jnp.sqrt(2 / d), jnp.zeros(h))
        for k, d, h in zip(keys, sizes, sizes[1:])
    ]


def last_layer(weights, X):
    """What the last layer says of rows."""
    *hidden, (W, b) = weights
    for V, c in hidden:
        X = jax.nn.relu(X @ V + c)
    return X @ W + b


def classes(eta, y):
    """-log p of classes."""
    return -jnp.take_along_axis(jax.nn.log_softmax(eta), y[:, None], 1)[:, 0]


def numbers(eta, y):
    """-log p of numbers by a mean and the log of an sd."""
    return 0.5 * jnp.square((y - eta[:, 0]) * jnp.exp(-eta[:, 1])) + eta[:, 1]


def epoch_of(loss, decay, optimizer, batch):
    """A compiled function (key, weights, state, X, y) -> (weights, state): one pass in minibatches
    of random rows.
    """

    def objective(weights, X, y):
        squares = sum(jnp.sum(jnp.square(W)) for W, _ in weights)
        return jnp.mean(loss(last_layer(weights, X), y)) + decay * squares

    @jax.jit
    def epoch(key, weights, state, X, y):
        count = len(y) // batch
        order = jax.random.permutation(key, len(y))[: count * batch].reshape(count, batch)

        def step(carry, rows):
            weights, state = carry
            change, state = optimizer.update(
                jax.grad(objective)(weights, X[rows], y[rows]), state, weights
            )
            return (optax.apply_updates(weights, change), state), None

        (weights, state), _ = jax.lax.scan(step, (weights, state), order)
        return weights, state

    return epoch


def trained(key, weights, epochs, epoch, state, data):
    """Weights after each of so many epochs."""
    found = []
    for k in jax.random.split(key, epochs):
        weights, state = epoch(k, weights, state, *data)
        found.append(weights)
    return found


def ensemble(seed, sizes, data, loss, decay, epochs, batch, rate=1e-3):
    """Networks from MEMBERS starts by Adam."""
    adam = optax.adam(rate)
    epoch = epoch_of(loss, decay, adam, batch)
    members = []
    for key in jax.random.split(jax.random.key(seed), MEMBERS):
        first, rest = jax.random.split(key)
        weights = started(first, sizes)
        members.append(trained(rest, weights, epochs, epoch, adam.init(weights), data)[-1])
    return members


def swag(seed, sizes, data, loss, decay, epochs, batch, rate=1e-3, sgd_rate=0.02):
    """DRAWS networks from the Gaussian of the iterates of SGD, as many epochs of it as of Adam."""
    first, second, third, fourth = jax.random.split(jax.random.key(seed), 4)
    adam, sgd = optax.adam(rate), optax.sgd(sgd_rate, momentum=0.9)
    weights = started(first, sizes)
    epoch = epoch_of(loss, decay, adam, batch)
    weights = trained(second, weights, epochs, epoch, adam.init(weights), data)[-1]
    epoch = epoch_of(loss, decay, sgd, batch)
    iterates = trained(third, weights, epochs, epoch, sgd.init(weights), data)
    flat, unravel = zip(*(jax.flatten_util.ravel_pytree(w) for w in iterates))
    points = np.array(flat)
    mean = points.mean(axis=0)
    variance = np.maximum((points**2).mean(axis=0) - mean**2, 1e-12)
    last = (points - mean)[-RANK:]
    rng = np.random.default_rng(int(jax.random.randint(fourth, (), 0, 2**30)))
    diagonal = rng.normal(size=(DRAWS, len(mean))) * np.sqrt(variance / 2)
    low = rng.normal(size=(DRAWS, len(last))) @ last / np.sqrt(2 * max(len(last) - 1, 1))
    return [unravel[0](jnp.asarray(mean + z, jnp.float32)) for z in diagonal + low]


def said(networks, X):
    """What the last layers say of rows, (networks, n, units)."""
    X = jnp.asarray(X, jnp.float32)
    return np.stack([np.asarray(jax.jit(last_layer)(w, X), dtype=float) for w in networks])


RIVALS = {"deep ensemble": ensemble, "SWAG": swag}
CLASSES, NUMBERS = partial(classes), partial(numbers)
