"""Small instances of every model of the package that is no regression, and short runs of them: the contract tests go over these."""
import numpy as np

import sgmc

from .models import Line

SHORT = dict(draws=60, warmup=40, thin=2, chains=2, seed=5)


def tied_means():
    """Thirty numbers."""
    return sgmc.TiedMeans(np.random.default_rng(0).normal(size=30))


# name -> (model, arguments of a short run with minibatches)
MODELS = {"Line": (Line, dict(sampler="sgld", step_size=0.1, batch_size=50)),
          "TiedMeans": (tied_means, dict(sampler="sgld", step_size=0.01, batch_size=10))}
BASES = {"Model", "JaxModel", "CompiledModel"}                 # public, but no models themselves
