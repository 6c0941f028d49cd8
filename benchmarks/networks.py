"""Neural networks beside deep ensembles and SWAG: log-loss, calibration and seconds.

    SGMC_DATA=... python benchmarks/networks.py [--quick] [mnist] [boston] [mpg]

MNIST: 784-100-10 relu units; error, log-loss and expected calibration error on the test set.
Boston housing and Auto MPG, two regression tables of the UCI repository: 50 relu units, a mean and
an sd that follow the inputs; RMSE, log-loss and the coverage of 95 % intervals, means over random
splits into 90 % and 10 % and the standard error of the log-loss.  All are run here, on one core;
seconds are of the processor, those of compiling in brackets.  Needs JAX and optax
(`ensembles.py`), for the regression tables mlxtend, which brings them.
"""

import os
import sys
import time
import warnings

os.environ.update(
    OMP_NUM_THREADS="1",
    OPENBLAS_NUM_THREADS="1",
    XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
)
import ensembles
import jax.numpy as jnp
import numpy as np
from scipy.special import log_softmax, logsumexp
from scipy.stats import norm

import sgmc
from sgmc.diagnostics import ece, log_loss

QUICK = "--quick" in sys.argv
SPLITS, EPOCHS = (2, 40) if QUICK else (10, 400)
IMAGES, MNIST_EPOCHS, DRAWS = (5_000, 3, 100) if QUICK else (60_000, 20, 1_600)
HEAD = f"{'':<26}{'error':>9}{'log-loss':>10}{'(se)':>8}{'ECE':>9}{'coverage':>10}{'seconds':>16}"


def timed(function):
    """(what it gives, seconds of the processor)."""
    begun = time.process_time()
    return function(), time.process_time() - begun


def line(name, error, loss, se, ece_or_none, coverage, seconds, compiling=0.0):
    """Print a row."""
    shown = f"{seconds:.1f}" + (f" (+{compiling:.1f})" if compiling else "")
    print(
        f"{name:<26}{error:>9.4g}{loss:>10.4f}{'' if se is None else f'{se:.3f}':>8}"
        f"{'' if ece_or_none is None else f'{ece_or_none:.4f}':>9}"
        f"{'' if coverage is None else f'{coverage:.3f}':>10}{shown:>16}",
        flush=True,
    )


# ---- regression ----------------------------------------------------------------------------------


def uci(name):
    """(X, y) of a table, or None where mlxtend is not there."""
    try:
        from mlxtend import data
    except ImportError:
        return None
    X, y = {"boston": data.boston_housing_data, "mpg": data.autompg_data}[name]()
    X = np.asarray(X, dtype=float)
    # names of the cars are missing there
    return X[:, np.isfinite(X).all(axis=0)], np.asarray(y, dtype=float)


def of_rival(rival, seed, learn, test):
    """(scores, seconds): standardised as `sgmc.BNN` does it; decay as of a N(0, 1) prior."""
    (X, y), (new, truth) = learn, test
    centre, unit, shift, factor = X.mean(axis=0), X.std(axis=0), y.mean(), y.std()
    unit = np.where(unit > 0, unit, 1.0)
    data = jnp.asarray((X - centre) / unit, jnp.float32), jnp.asarray((y - shift) / factor)
    sizes = [X.shape[1], 50, 2]
    how = dict(loss=ensembles.NUMBERS, decay=0.5 / len(y), epochs=EPOCHS, batch=32)
    # SWAG's SGD diverges from 0.005 on where sds follow inputs
    how |= {"sgd_rate": 1e-3} if rival is ensembles.swag else {}
    networks, seconds = timed(lambda: rival(seed, sizes, data, **how))
    eta = ensembles.said(networks, (new - centre) / unit)
    mean, sd = eta[..., 0] * factor + shift, np.exp(eta[..., 1]) * factor
    loss = np.log(len(eta)) - logsumexp(norm.logpdf(truth, mean, sd), axis=0)
    below = norm.cdf(truth, mean, sd).mean(axis=0)
    covered = ((below > 0.025) & (below < 0.975)).mean()
    return (np.sqrt(np.mean((mean.mean(axis=0) - truth) ** 2)), loss.mean(), covered), seconds


def of_bnn(outcome, seed, learn, test):
    """The same for a posterior by `hmc`, which is the default for such tables."""
    model = sgmc.BNN(*learn, hidden=(50,), activation="relu", outcome=outcome)
    how = dict(chains=2, threads=1, draws=100 if QUICK else 300, warmup=200, seed=seed)
    results, seconds = timed(lambda: model.fit(sampler="hmc", **how))
    return tuple(results.calibration(*test)), seconds


def show_regression(name):
    """Print a table."""
    table = uci(name)
    if table is None:
        print(f"\n{name}: mlxtend, which brings the table, is not installed")
        return
    X, y = table
    print(f"\n{name}: {X.shape[0]} rows, {X.shape[1]} inputs, {SPLITS} splits\n{HEAD}")
    contestants = {
        "BNN, gaussian": lambda *rest: of_bnn("gaussian", *rest),
        "BNN, heteroscedastic": lambda *rest: of_bnn("heteroscedastic", *rest),
    }
    for rival, function in ensembles.RIVALS.items():
        contestants[rival] = lambda *rest, function=function: of_rival(function, *rest)
    for contestant, function in contestants.items():
        scores, spent = [], []
        for seed in range(SPLITS):
            order = np.random.default_rng(seed).permutation(len(y))
            new, old = np.split(order, [len(y) // 10])
            score, seconds = function(seed, (X[old], y[old]), (X[new], y[new]))
            scores.append(score)
            spent.append(seconds)
        (error, loss, covered), se = np.mean(scores, axis=0), np.std(scores, axis=0)[1]
        compiling = max(spent[0] - np.median(spent), 0) if contestant in ensembles.RIVALS else 0
        se /= np.sqrt(SPLITS)
        line(contestant, error, loss, se, None, covered, np.median(spent), compiling)


# ---- MNIST ---------------------------------------------------------------------------------------


def digits(name, count):
    """Images and labels of a part of MNIST."""
    frame = sgmc.datasets.load(name).iloc[:count]
    return np.ascontiguousarray(frame.iloc[:, 1:].to_numpy()), frame["label"].to_numpy()


def show_mnist():
    """Print the table of digits."""
    X, y = digits("mnist", IMAGES)
    test, labels = digits("mnist-test", 10_000)
    print(f"\nMNIST: {len(y)} images to learn from, 10,000 to judge by\n{HEAD}")
    model = sgmc.BNN(X, y, hidden=(100,), activation="relu")
    prior = {"W1": sgmc.normal(0, 0.3), "*": sgmc.normal(0, 1)}
    for draws in (DRAWS // 4, DRAWS):
        how = dict(draws=draws // 2, warmup=draws // 2, thin=1, chains=1, threads=1, keep=["b2"])
        run, seconds = timed(
            lambda: model.fit(
                sampler=sgmc.SGHMC(friction=20.0),
                gradient="simple",
                step_size=6e-4,
                batch_size=500,
                prior=prior,
                seed=1,
                **how,
            )
        )
        found = run.calibration(test, labels, most=100)
        name = f"BNN, sghmc, {draws} steps"
        line(name, found["error"], found["log_loss"], None, found["ece"], None, seconds)
    centre, unit = X.mean(), X.std()
    data = jnp.asarray((X - centre) / unit, jnp.float32), jnp.asarray(y)
    how = dict(loss=ensembles.CLASSES, decay=0.5 / len(y), epochs=MNIST_EPOCHS, batch=128)
    for name, rival in ensembles.RIVALS.items():
        networks, seconds = timed(lambda: rival(1, [784, 100, 10], data, **how))
        eta = ensembles.said(networks, (test - centre) / unit)
        p = np.exp(log_softmax(eta, axis=2)).mean(axis=0)
        error = (p.argmax(axis=1) != labels).mean()
        line(name, error, log_loss(p, labels), None, ece(p, labels), None, seconds)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = [a for a in sys.argv[1:] if not a.startswith("-")] or ["boston", "mpg", "mnist"]
    for what in asked:
        show_mnist() if what == "mnist" else show_regression(what)
