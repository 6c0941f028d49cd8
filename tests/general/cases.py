"""Small instances of every model of the package that is no regression, and short runs of them: the
contract tests go over these.
"""

import numpy as np
import pandas as pd

import sgmc

from .models import Line

SHORT = dict(draws=60, warmup=40, thin=2, chains=2, seed=5)


def tied_means():
    """Thirty numbers."""
    return sgmc.TiedMeans(np.random.default_rng(0).normal(size=30))


def ratings():
    """Sixty ratings of six items by twelve users, in a table, and some held out."""
    rng = np.random.default_rng(3)
    pairs = rng.permutation(12 * 6)
    table = pd.DataFrame(
        {"user": [f"u{p // 6}" for p in pairs], "item": pairs % 6, "rating": rng.integers(1, 6, 72)}
    )
    return table.iloc[:60], table.iloc[60:]


def bpmf():
    """With biases."""
    kept, held_out = ratings()
    return sgmc.BPMF(kept, dim=2, test=held_out, biases=True)


def ppmf():
    """Of the same table."""
    kept, held_out = ratings()
    return sgmc.PPMF(kept, dim=2, test=held_out)


def hmm():
    """Sixty numbers in windows with buffers that reach the ends:
    halves of the rows then add up to all of them.
    """
    return sgmc.HMM(np.random.default_rng(0).normal(size=60), 2, window=6, buffer=60)


def linear_gaussian():
    """The same as a hidden autoregression."""
    return sgmc.LinearGaussian(
        np.random.default_rng(0).normal(size=60).cumsum(), window=6, buffer=60
    )


def stochastic_volatility(particles=None):
    """The same as returns, on the grid or by particles."""
    return sgmc.StochasticVolatility(
        np.random.default_rng(0).normal(size=60), window=6, buffer=60, particles=particles
    )


def network():
    """Forty rows of three classes, three hidden units."""
    rng = np.random.default_rng(0)
    return sgmc.BNN(rng.normal(size=(40, 2)), rng.integers(0, 3, 40), hidden=(3,))


def components():
    """Sixty rows of two channels."""
    return sgmc.ICA(np.random.default_rng(0).laplace(size=(60, 2)), start="whitening")


def gaussian_mixture():
    """Sixty rows of two numbers, in two groups."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    return sgmc.GaussianMixture(
        X + 4 * (np.arange(60) % 2)[:, None], 2, covariance="full", ordered=True
    )


def lda():
    """Twelve documents of six words, of five."""
    return sgmc.LDA(
        np.random.default_rng(0).multinomial(6, [0.4, 0.3, 0.1, 0.1, 0.1], 12),
        2,
        alpha=0.5,
        beta=0.5,
        sweeps="exact",
    )


def communities():
    """Twelve nodes in two rings, of which two are linked."""
    ring = [[i + 6 * r, (i + 1) % 6 + 6 * r] for r in range(2) for i in range(6)]
    return sgmc.MMSB([*ring, [0, 6]], 2)


# name -> (model, arguments of a short run with minibatches)
MODELS = {
    "Line": (Line, dict(sampler="sgld", step_size=0.1, batch_size=50)),
    "BPMF": (
        bpmf,
        dict(
            keep=[
                "U",
                "V",
                "a",
                "b",
                *(f"{kind}_{of}" for kind in ("mu", "lambda") for of in "UVab"),
            ]
        ),
    ),
    "PPMF": (ppmf, dict(keep=["U", "V", "e", "f"])),
    "TiedMeans": (tied_means, dict(sampler="sgld", step_size=0.01, batch_size=10)),
    "HMM": (hmm, dict(sampler="sgld", step_size=0.05, batch_size=4)),
    "LinearGaussian": (linear_gaussian, dict(sampler="sgld", step_size=0.05, batch_size=4)),
    "StochasticVolatility": (
        stochastic_volatility,
        dict(sampler="sgld", step_size=0.05, batch_size=4),
    ),
    "StochasticVolatility by particles": (
        lambda: stochastic_volatility(20),
        dict(step_size=0.05, batch_size=4),
    ),
    "BNN": (network, dict(sampler="sghmc", step_size=0.05, batch_size=20)),
    "ICA": (components, dict(sampler="sgrld", step_size=0.05, batch_size=20)),
    "GaussianMixture": (gaussian_mixture, dict(sampler="sgld", step_size=0.1, batch_size=20)),
    "LDA": (lda, dict(sampler="sgrld", step_size=0.01, batch_size=5)),
    "MMSB": (communities, dict(sampler="sgrld", step_size=0.01, batch_size=6)),
}
# public, but no models themselves
BASES = {"Model", "JaxModel", "NumbaModel", "PyMCModel", "CompiledModel"}
