"""Small instances of every model of the package that is no regression, and short runs of them: the contract tests go over these."""
import numpy as np

import sgmc

from .models import Line

SHORT = dict(draws=60, warmup=40, thin=2, chains=2, seed=5)


def tied_means():
    """Thirty numbers."""
    return sgmc.TiedMeans(np.random.default_rng(0).normal(size=30))


def network():
    """Forty rows of three classes, three hidden units."""
    rng = np.random.default_rng(0)
    return sgmc.BNN(rng.normal(size=(40, 2)), rng.integers(0, 3, 40), hidden=(3,))


def components():
    """Sixty rows of two channels."""
    return sgmc.ICA(np.random.default_rng(0).laplace(size=(60, 2)), start="whitening")


# name -> (model, arguments of a short run with minibatches)
MODELS = {"Line": (Line, dict(sampler="sgld", step_size=0.1, batch_size=50)),
          "TiedMeans": (tied_means, dict(sampler="sgld", step_size=0.01, batch_size=10)),
          "BNN": (network, dict(sampler="sghmc", step_size=0.05, batch_size=20)),
          "ICA": (components, dict(sampler="sgrld", step_size=0.05, batch_size=20))}
BASES = {"Model", "JaxModel", "CompiledModel"}                 # public, but no models themselves
