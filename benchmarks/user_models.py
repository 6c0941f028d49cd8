"""One model four ways: numpy, JAX, numba and Cython, each through the same sampler.

Same draws, and microseconds a step of each.

    python benchmarks/user_models.py [rows] [batch]

The Cython model is examples/cython_model, built in a temporary folder; ways whose packages are
missing are left out.  A step is one of `lmsgld` with control variates, which compute the batch's
gradient twice; one chain, one thread, best of three runs.
"""

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import sgmc

STEPS = 4000
PREDICTORS = 10
ROOT = Path(__file__).parents[1]


def table(n):
    """A linear regression with ten predictors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, PREDICTORS))
    return X, X @ rng.normal(size=PREDICTORS) + 0.8 * rng.normal(size=n)


COMMON = dict(
    parameters={"b": PREDICTORS, "sigma": ()},
    constraints={"sigma": "positive"},
    prior={"b": sgmc.normal(0, 2), "sigma": sgmc.exponential(1)},
)


class Numpy(sgmc.Model):
    """y ~ N(X b, sigma^2)."""

    parameters, constraints, prior = COMMON["parameters"], COMMON["constraints"], COMMON["prior"]

    def __init__(self, X, y):
        self.X, self.y, self.n = X, y, len(y)

    def log_lik(self, theta, rows):
        """Log density of rows."""
        e = (self.y[rows] - self.X[rows] @ theta["b"]) / theta["sigma"]
        return -0.5 * (e @ e) - len(e) * np.log(theta["sigma"])

    def grad(self, theta, rows):
        """Its gradient."""
        X, sigma = self.X[rows], theta["sigma"]
        e = (self.y[rows] - X @ theta["b"]) / sigma
        return np.append(e @ X / sigma, (e @ e - len(e)) / sigma)


def with_jax(X, y):
    """The log density in jax.numpy."""
    import jax.numpy as jnp

    def log_lik(theta, batch):
        X, y = batch
        e = (y - X @ theta["b"]) / theta["sigma"]
        return -0.5 * jnp.sum(e**2) - y.shape[0] * jnp.log(theta["sigma"])

    return sgmc.JaxModel(log_lik, (X, y), **COMMON)


def with_numba(X, y):
    """The address of a cfunc; X and y are one array, whose memory it gets."""
    from numba import carray, cfunc, types

    shape = X.shape[0], X.shape[1] + 1
    d = X.shape[1]

    @cfunc(
        types.double(
            types.int64,
            types.CPointer(types.double),
            types.int64,
            types.CPointer(types.int64),
            types.CPointer(types.double),
            types.CPointer(types.double),
        )
    )
    def log_lik(size, theta, m, rows, grad, data):
        at, slope = carray(theta, size), carray(grad, size)
        chosen, xy = carray(rows, m), carray(data, shape)
        total = 0.0
        for i in chosen:
            e = xy[i, d]
            for j in range(d):
                e -= xy[i, j] * at[j]
            e /= at[d]
            total -= 0.5 * e * e + np.log(at[d])
            for j in range(d):
                slope[j] += e * xy[i, j] / at[d]
            slope[d] += (e * e - 1) / at[d]
        return total

    return sgmc.CompiledModel(log_lik, len(y), data=np.column_stack([X, y]), **COMMON)


def with_cython(X, y):
    """The example package."""
    place = Path(tempfile.mkdtemp()) / "model"
    shutil.copytree(ROOT / "examples" / "cython_model", place)
    home = str(Path(sgmc.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([home, os.environ.get("PYTHONPATH", "")])}
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=place,
        env=env,
        check=True,
        capture_output=True,
    )
    sys.path.insert(0, str(place))
    return importlib.import_module("line_model").Line(X, y)


def measured(model, batch):
    """Draws, and microseconds a step."""
    best, draws = np.inf, None
    for _ in range(3):
        arguments = dict(
            seed=1,
            chains=1,
            threads=1,
            sampler="lmsgld",
            gradient="cv",
            step_size=0.5,
            batch_size=batch,
            warmup=0,
        )
        short = model.fit(draws=200, thin=1, **arguments)._fit.run.seconds
        done = model.fit(draws=200, thin=1 + STEPS // 200, **arguments)
        best, draws = min(best, (done._fit.run.seconds - short) / STEPS), done.draws
    return draws, 1e6 * best


def main(n=100_000, batch=1000):
    """Print the table."""
    X, y = table(n)
    ways = {"numpy": Numpy, "JAX": with_jax, "numba": with_numba, "Cython": with_cython}
    print(f"{n} rows, minibatches of {batch}, {PREDICTORS + 1} parameters")
    first = None
    for name, make in ways.items():
        try:
            model = make(X, y)
        except ImportError as error:
            print(f"{name:8s} left out: {error}")
            continue
        draws, step = measured(model, batch)
        first = draws if first is None else first
        print(
            f"{name:8s} {step:8.1f} us a step   largest difference from the first's draws "
            f"{np.abs(draws - first).max():.1e}"
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*map(int, sys.argv[1:]))
