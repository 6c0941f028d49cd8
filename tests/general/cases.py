"""Small instances of every model of the package that is no regression, and short runs of them: the contract tests go over these."""
import numpy as np

import sgmc

from .models import Line

SHORT = dict(draws=60, warmup=40, thin=2, chains=2, seed=5)


def tied_means():
    """Thirty numbers."""
    return sgmc.TiedMeans(np.random.default_rng(0).normal(size=30))


def gaussian_mixture():
    """Sixty rows of two numbers, in two groups."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    return sgmc.GaussianMixture(X + 4 * (np.arange(60) % 2)[:, None], 2, covariance="full", ordered=True)


def lda():
    """Twelve documents of six words, of five."""
    return sgmc.LDA(np.random.default_rng(0).multinomial(6, [0.4, 0.3, 0.1, 0.1, 0.1], 12), 2, alpha=0.5, beta=0.5, sweeps="exact")


# name -> (model, arguments of a short run with minibatches)
MODELS = {"Line": (Line, dict(sampler="sgld", step_size=0.1, batch_size=50)),
          "TiedMeans": (tied_means, dict(sampler="sgld", step_size=0.01, batch_size=10)),
          "GaussianMixture": (gaussian_mixture, dict(sampler="sgld", step_size=0.1, batch_size=20)),
          "LDA": (lda, dict(sampler="sgrld", step_size=0.01, batch_size=5))}
BASES = {"Model", "JaxModel", "CompiledModel"}                 # public, but no models themselves
