"""The public names of the package and their homes; written to ``sgmc/_names.py`` by the build.

Samplers and regression families are found in their rooms, so that a new one is public without a
line here.  `sgmc/__init__.py` reads the written table: an import then loads no room.
"""

import importlib
import pkgutil
from pathlib import Path

from sgmc.arguments.types import FilePath
from sgmc.registry import ROOMS, belongs, room

FIXED = {
    "sgmc.api.verbs": ("glm", "sample"),
    "sgmc.api.either": ("gamma",),
    "sgmc.api.published": ("published",),
    "sgmc.api.versions": ("show_versions",),
    "sgmc.models.bases.model": ("Model",),
    "sgmc.models.user.in_jax": ("JaxModel",),
    "sgmc.models.user.in_numba": ("NumbaModel",),
    "sgmc.models.user.in_pymc": ("PyMCModel",),
    "sgmc.models.user.compiled": ("CompiledModel",),
    "sgmc.models.user.check": ("check_model",),
    "sgmc.models.mixture.model": ("TiedMeans", "GaussianMixture"),
    "sgmc.models.lda.model": ("LDA",),
    "sgmc.models.communities.model": ("MMSB",),
    "sgmc.models.factorization.model": ("BPMF", "PPMF"),
    "sgmc.models.hmm.model": ("HMM",),
    "sgmc.models.hmm.statespace": ("LinearGaussian",),
    "sgmc.models.hmm.volatility.model": ("StochasticVolatility",),
    "sgmc.models.network.model": ("BNN",),
    "sgmc.models.ica.model": ("ICA",),
    "sgmc.priors": (
        "normal", "student_t", "laplace", "cauchy", "horseshoe", "flat", "exponential",
        "inverse_gamma", "lognormal", "dirichlet", "half_t", "half_normal", "lkj", "ridge", "r2d2",
        "uniform", "truncated", "mvnormal",
    ),
    "sgmc.arguments.data.survival": ("Surv",),
    "sgmc.arguments.data.limited": ("cens", "trunc"),
    "sgmc.core.system.deadline": ("time_limit",),
    "sgmc.core.schedules": ("Constant", "Polynomial", "Cyclical"),
    "sgmc.prepared.prepare": ("prepare",),
    "sgmc.prepared.file.prepared": ("Prepared", "open"),
    "sgmc.results.results": ("Results",),
    "sgmc.results.files": ("load",),
    "sgmc.results.effects.grids": ("datagrid",),
    "sgmc.plots.comparison": ("plot_compare",),
    "sgmc.results.outcomes.criticism.loo": ("compare",),
    "sgmc.results.outcomes.criticism.stacking": ("model_weights",),
    "sgmc.tuning.tuner": ("tune",),
    "sgmc.tuning.result": ("TuneResult",),
    "sgmc.tuning.predicted": ("plan",),
    "sgmc.tuning.fit_plan": ("FitPlan",),
    "sgmc.registry": ("register",),
    "sgmc.errors": ("SGMCError", "SGMCWarning"),
}  # fmt: skip


def public_names() -> dict[str, str]:
    """Return the public names and the modules that hold them: name -> module.

    A fixed name wins over a found one: `sgmc.gamma` is the prior, and with a formula the verb.
    """
    found = samplers()
    for model in room("families").values():
        found |= {model.name: "sgmc.api.verbs", model.__name__: model.__module__}
    fixed = {name: module for module, names in FIXED.items() for name in names}
    return dict(sorted((found | fixed).items()))


def samplers() -> dict[str, str]:
    """Return all sampler specifications, also those that need arguments: class name -> module."""
    package = importlib.import_module(ROOMS["samplers"])
    found: dict[str, str] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if not info.ispkg:
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            specs = [value for value in vars(module).values() if belongs(value, "samplers")]
            found |= {spec.__name__: spec.__module__ for spec in specs}
    return found


def write(folder: FilePath) -> None:
    """Write the table of names into a built package."""
    lines = [f'    "{name}": "{module}",' for name, module in public_names().items()]
    text = '"""Public names and their homes; written by the build."""\n\nHOMES = {\n'
    Path(folder, "_names.py").write_text(text + "\n".join(lines) + "\n}\n", encoding="utf-8")
