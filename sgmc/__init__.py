"""Scalable Bayesian inference in one line: ``sgmc.logit("y ~ .", df).summary()``.

Everything public is here by name and loaded at first use, so that importing the package costs no more than numpy.
"""
import importlib

from sgmc.version import __version__  # noqa: F401

try:
    import sgmc.core.contract as _contract  # noqa: F401  (the compiled core)
except ModuleNotFoundError as _error:
    if not (_error.name or "").startswith("sgmc"):
        raise
    raise ImportError("sgmc is not built here: this is its source tree, without the compiled modules.\n"
                      "Run `pip install .` in it (or `python setup.py build_ext --inplace`), or leave the folder.") from None

_HOMES = {
    "sgmc.verbs": ("ols", "rlm", "logit", "probit", "cloglog", "loglog", "cauchit", "poisson", "negativebinomial", "mnlogit", "glm",
                   "sample"),
    "sgmc.regressions": ("OLS", "RLM", "Logit", "Probit", "Cloglog", "Loglog", "Cauchit", "Poisson", "NegativeBinomial", "MNLogit",
                         "Gamma", "InverseGaussian", "GaussianLog"),
    "sgmc.model": ("Model",),
    "sgmc.external": ("JaxModel", "CompiledModel"),
    "sgmc.model_check": ("check_model",),
    "sgmc.mixtures": ("TiedMeans", "GaussianMixture"),
    "sgmc.lda": ("LDA",),
    "sgmc.factorization": ("BPMF", "PPMF"),
    "sgmc.hmm": ("HMM",),
    "sgmc.statespace": ("LinearGaussian",),
    "sgmc.networks": ("BNN",),
    "sgmc.components": ("ICA",),
    "sgmc.priors": ("normal", "student_t", "laplace", "cauchy", "horseshoe", "flat", "exponential", "gamma",
                    "inverse_gamma", "dirichlet"),
    "sgmc.samplers.langevin": ("SGLD", "LMSGLD", "ULA"),
    "sgmc.samplers.corrected": ("CSGLD", "MSGLD", "SGD"),
    "sgmc.samplers.psgld": ("PSGLD",),
    "sgmc.samplers.sglrw": ("SGLRW",),
    "sgmc.samplers.hamiltonian": ("SGHMC", "BAOAB"),
    "sgmc.samplers.thermostats": ("SGNHT", "MSGNHT", "BADODAB"),
    "sgmc.samplers.riemannian": ("SGRLD", "SGRHMC"),
    "sgmc.samplers.scir": ("SCIR",),
    "sgmc.samplers.recipe": ("Recipe",),
    "sgmc.samplers.sgbd": ("VSGBD", "CSGBD", "ESGBD"),
    "sgmc.samplers.mala": ("MALA",),
    "sgmc.samplers.barker": ("Barker",),
    "sgmc.samplers.hmc": ("HMC",),
    "sgmc.samplers.rwm": ("RWM",),
    "sgmc.samplers.mmala": ("MMALA",),
    "sgmc.samplers.laplace": ("Laplace",),
    "sgmc.samplers.zigzag": ("ZigZag", "StickyZigZag", "ZZSS", "ZZCV"),
    "sgmc.samplers.bouncy": ("BPS", "LipSBPS"),
    "sgmc.samplers.sbps": ("SBPS", "PSBPS"),
    "sgmc.samplers.sgpdmp": ("SGPDMP", "StickySGPDMP"),
    "sgmc.core.schedules": ("Constant", "Polynomial", "Cyclical"),
    "sgmc.results.results": ("Results",),
    "sgmc.results.files": ("load",),
    "sgmc.results.loo": ("compare",),
    "sgmc.tuning.tuner": ("tune",),
    "sgmc.tuning.result": ("TuneResult",),
    "sgmc.registry": ("register",),
    "sgmc.errors": ("SGMCError", "SGMCWarning"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_ROOMS = ("datasets", "diagnostics", "errors", "registry")
__all__ = [*_HOME, *_ROOMS]


def __getattr__(name):
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"sgmc.{name}")
    else:
        raise AttributeError(f"module 'sgmc' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__])
