"""Neural networks on MNIST: what a step costs, test error and calibration against seconds, and the
small network of the SBPS paper.

    SGMC_DATA=... python benchmarks/bnn.py [--quick]

1. Milliseconds of a step of the 784-100-10 network at n = 500, float32 and float64: its gradient,
   that of the prior, the two products with the inputs by numpy's BLAS, and what a sampler adds.
2. Test error, log-loss and expected calibration error of the average over draws, as the run goes
   on, of samplers whose steps were chosen among a few; seconds of the processor, one chain, without
   those of the test rows.  The target: error <= 2.5 %, ECE <= 1.5 %.
3. Four digits of 7 x 7 pixels (Pakman et al. 2017, section 7.3: a softmax, d = 192 and four
   biases here): means and sds by sgld and sbps against mala, in posterior sds and relative.
"""

import os
import sys
import time
import warnings

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.engine import evaluate
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import Uniform

QUICK = "--quick" in sys.argv
BATCH = 500
# draws, a step of sghmc or five of the others apart
PARTS = (200, 400, 800) if QUICK else (200, 400, 800, 1600, 3200)
RELU, WEIGHTS = dict(activation="relu"), {"W1": sgmc.normal(0, 0.3), "*": sgmc.normal(0, 1)}
HYPER = dict(hyperprior=sgmc.gamma(1, rate=1))
RIVALS = {  # name -> (network, arguments of fit)
    "sghmc, W1 ~ N(0, 0.3)": (
        RELU,
        dict(sampler=sgmc.SGHMC(friction=20.0), step_size=6e-4, prior=WEIGHTS),
    ),
    "  svrg": (
        RELU,
        dict(sampler=sgmc.SGHMC(friction=20.0), step_size=6e-4, prior=WEIGHTS, gradient="svrg"),
    ),
    "sghmc, gamma(1, 1)": (
        {**RELU, **HYPER},
        dict(sampler=sgmc.SGHMC(friction=50.0), step_size=6e-4),
    ),
    "  sigmoid": (HYPER, dict(sampler=sgmc.SGHMC(friction=20.0), step_size=1.2e-3)),
    "  sigmoid, N(0, 1)": (
        {},
        dict(sampler=sgmc.SGHMC(friction=10.0), step_size=1e-3, prior=sgmc.normal(0, 1)),
    ),
    "sgld, W1 ~ N(0, 0.3)": (RELU, dict(sampler="sgld", step_size=1e-5, prior=WEIGHTS, thin=5)),
    "csgld, same": (RELU, dict(sampler="csgld", step_size=1e-5, prior=WEIGHTS, thin=5)),
    "sgnht, same": (RELU, dict(sampler="sgnht", step_size=6e-4, prior=WEIGHTS, thin=5)),
    "vsgbd, same": (RELU, dict(sampler="vsgbd", step_size=3e-3, prior=WEIGHTS, thin=5)),
}


def digits(name):
    """Images as bytes and labels of a part of MNIST."""
    frame = sgmc.datasets.load(name)
    return np.ascontiguousarray(frame.iloc[:, 1:].to_numpy()), frame["label"].to_numpy()


def milliseconds(function, times=20 if QUICK else 100):
    """Of the processor, of a call."""
    function()
    begun = time.process_time()
    for _ in range(times):
        function()
    return 1e3 * (time.process_time() - begun) / times


def show_steps(X, y):
    """Print the first table."""
    print(f"784-100-10, n = {BATCH}: milliseconds\n")
    print(
        f"{'':<10}{'gradient':>10}{'of this prior':>15}{'with squares':>14}{'X W and X^T D':>15}"
        f"{'step of sgld':>14}"
    )
    for dtype in ("float32", "float64"):
        model = sgmc.BNN(X, y, dtype=dtype)
        kernel, theta = model.kernel(), model.starts(np.random.default_rng(0))
        checked = sgmc.fit.settings.check_settings(
            sampler="sgld", step_size=1e-5, seed=1, subsample="uniform"
        )
        prior, stream = model.problem(None, checked).prior, Rng(seed_sequence(1, "chain", 0))
        whole, plain, tiny = (
            Simple(kernel, p, Uniform(len(y), n), stream)
            for p, n in ((prior, BATCH), (Prior(kernel.dim), BATCH), (prior, 1))
        )
        x, w = np.random.rand(BATCH, 784).astype(dtype), np.random.rand(784, 100).astype(dtype)
        delta = x @ w
        spent = [
            milliseconds(lambda: evaluate(whole, theta, stream)),
            milliseconds(lambda: evaluate(whole, theta, stream))
            - milliseconds(lambda: evaluate(plain, theta, stream)),
            milliseconds(lambda: evaluate(whole, theta, stream, True)),
            milliseconds(lambda: (x @ w, x.T @ delta)),
        ]
        how = dict(
            sampler="sgld",
            step_size=1e-5,
            batch_size=BATCH,
            chains=1,
            threads=1,
            seed=1,
            warmup=0,
            keep=["b2"],
        )
        runs = []
        for steps in (20, 320):
            begun = time.process_time()
            model.fit(draws=steps, **how)
            runs.append(time.process_time() - begun)
        spent.append(1e3 * (runs[1] - runs[0]) / 300)
        print(
            f"{dtype:<10}"
            + "".join(f"{ms:>{width}.2f}" for ms, width in zip(spent, (10, 15, 14, 15, 14))),
            flush=True,
        )


def show_errors(X, y, test, labels):
    """Print the second table."""
    print(f"\nMNIST test set, steps of {BATCH} rows; the first half of each run is left out\n")
    print(
        f"{'sampler':<24}{'steps':>7}{'gradients':>11}{'seconds':>9}{'error %':>9}{'log-loss':>10}"
        f"{'ECE %':>8}{'one draw %':>12}"
    )
    for name, (network, how) in RIVALS.items():
        for draws in PARTS:
            begun = time.process_time()
            results = sgmc.BNN(X, y, **network).fit(
                draws=draws // 2,
                warmup=draws // 2 * how.get("thin", 1),
                batch_size=BATCH,
                chains=1,
                threads=1,
                seed=1,
                keep=["b2"],
                **{"thin": 1, **how},
            )
            seconds = time.process_time() - begun
            found = results.calibration(test, labels, most=100)
            one = results.calibration(test, labels, most=1)
            steps = draws * how.get("thin", 1)
            gradients = steps * (5 if "sghmc" in str(how["sampler"]).lower() else 1)
            print(
                f"{name:<24}{steps:>7}{gradients:>11}{seconds:>9.1f}{100 * found['error']:>9.2f}"
                f"{found['log_loss']:>10.4f}{100 * found['ece']:>8.2f}{100 * one['error']:>12.2f}",
                flush=True,
            )


def show_small(X, y):
    """Print the third table."""
    kept = np.flatnonzero(y < 4)[:8340]
    pooled = X[kept].reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)).reshape(len(kept), 49)
    pooled = pooled[:, pooled.any(axis=0)]
    model = sgmc.BNN(pooled, y[kept], hidden=(), scale="table")
    prior = sgmc.normal(0, 1 / np.sqrt(2 * 0.001))
    print(f"\n7 x 7 pixels, four digits: N={model.n}, d={model.layout().size}\n")
    print(
        f"{'sampler':<10}{'h':>6}{'mean':>8}{'sd':>8}{'passes':>10}{'seconds':>9}   errors of "
        "log-odds at 50 rows"
    )
    wanted = None
    rivals = [("mala", dict(draws=500 if QUICK else 4000))]
    rivals += [
        ("sgld", dict(draws=250, step_size=h, thin=100, batch_size=BATCH, gradient="simple"))
        for h in (0.002, 0.01, 0.05)
    ]
    for name, how in [*rivals, ("sbps", dict(draws=50, warmup=2000, batch_size=BATCH))]:
        begun = time.process_time()
        results = model.fit(prior=prior, sampler=name, seed=1, threads=1, **how)
        seconds = time.process_time() - begun
        p = np.log(results.outputs(pooled[:50], most=1000)[:, :, :2])
        odds = p[:, :, 1] - p[:, :, 0]
        mean, sd = odds.mean(axis=0), odds.std(axis=0)
        wanted = (mean, sd) if wanted is None else wanted
        off, wide = np.abs((mean - wanted[0]) / wanted[1]).max(), np.abs(sd / wanted[1] - 1).max()
        print(
            f"{name:<10}{how.get('step_size', ''):>6}{off:>8.2f}{wide:>8.2f}"
            f"{results._fit.passes:>10.0f}{seconds:>9.1f}",
            flush=True,
        )


if __name__ == "__main__":
    import sgmc.fit.settings

    warnings.simplefilter("ignore")
    images = digits("mnist")
    show_steps(*images)
    show_small(*images)
    show_errors(*images, *digits("mnist-test"))
