"""Classes whose objects files may hold: a name in the file to a place in the package.

A name stays when its class moves to another module or gets another name: then only the table
changes.  Samplers, regression families and bases of terms are found in their rooms, those of the
user's that are registered among them.
"""

import importlib
import pkgutil
from functools import cache
from typing import Any

from sgmc import errors
from sgmc.registry import ROOMS, room

MODELS = "sgmc.models"
HOMES = {
    "sgmc.results.results": "Results",
    "sgmc.results.continuation": "Continuation",
    "sgmc.results.outcomes.data.labels": "RowLabels",
    "sgmc.results.report.verdict": "Verdict",
    f"{MODELS}.bases.results": "ModelResults GeneralInfo",
    f"{MODELS}.bases.priors": "NamedPriors OwnPrior",
    f"{MODELS}.regression.results": "RegressionResults",
    f"{MODELS}.regression.imputed": "ImputedResults",
    f"{MODELS}.regression.info": "ModelInfo",
    f"{MODELS}.regression.prior_alone": "PriorsAlone",
    f"{MODELS}.regression.bases.predictors.distributional": "DistributionalFamily",
    f"{MODELS}.regression.bases.errors": "KnownErrors",
    f"{MODELS}.regression.bases.known": "KnownFamily",
    f"{MODELS}.regression.bases.family": "Auxiliary Binomial",
    f"{MODELS}.regression.bases.thresholds": "Thresholds",
    f"{MODELS}.regression.updated.results": "UpdatedResults UpdatedInfo",
    f"{MODELS}.regression.updated.past": "Past",
    f"{MODELS}.regression.updated.prior": "CarriedPriors",
    f"{MODELS}.regression.latent.integrated.results": "MixedResults ImputedMixedResults",
    f"{MODELS}.regression.latent.levels.results": "LevelsResults LevelsInfo",
    f"{MODELS}.regression.latent.integrated.info": "MixedInfo",
    f"{MODELS}.regression.latent.levels.split": "Split",
    f"{MODELS}.regression.latent.covariance.group_effects": "MixedPriors MixedPriorsAlone",
    f"{MODELS}.mixed.loading": "Loading UnitLoading",
    f"{MODELS}.regression.latent.effects.random_effects": "Population",
    f"{MODELS}.regression.latent.effects.saved_effects": "SavedEffects SavedLevels",
    f"{MODELS}.regression.latent.effects.banked": "BankedEffects",
    f"{MODELS}.regression.latent.sampled.results": (
        "CrossedResults CrossedInfo ImputedCrossedResults"
    ),
    f"{MODELS}.regression.latent.covariance.crossed_effects": "CrossedEffects",
    f"{MODELS}.regression.latent.effects.curves": "CurveDraws",
    f"{MODELS}.regression.latent.shrunk.groups": "LearnedPriors Group",
    f"{MODELS}.regression.latent.sampled.learned": "LearnedMixedPriors",
    f"{MODELS}.lda.results": "LDAResults LDAInfo",
    f"{MODELS}.communities.results": "MMSBResults MMSBInfo",
    f"{MODELS}.communities.pairs": "Pairs",
    f"{MODELS}.factorization.results": "FactorResults FactorInfo",
    f"{MODELS}.factorization.data": "RatingTable",
    f"{MODELS}.factorization.bpmf": "NormalGamma",
    f"{MODELS}.factorization.ppmf": "GammaGamma",
    f"{MODELS}.hmm.results": "HMMResults LinearGaussianResults",
    f"{MODELS}.hmm.volatility.results": "VolatilityResults",
    f"{MODELS}.ica.results": "ICAResults SourcesInfo",
    f"{MODELS}.mixture.results": "GaussianMixtureResults",
    f"{MODELS}.network.results": "NetworkResults",
    f"{MODELS}.network.info": "NetworkInfo",
    f"{MODELS}.network.distributions": "Softmax Gaussian Heteroscedastic",
    "sgmc.cluster.results": "PartitionedResults PartitionedInfo",
    "sgmc.cluster.gathering": "Cluster",
    "sgmc.cluster.blocks": "Traffic",
    "sgmc.cluster.fixed_error": "FixedError",
    "sgmc.priors.spec": "PriorSpec",
    "sgmc.priors.increments": "Increment",
    "sgmc.priors.joint": "JointNormal Margin",
    "sgmc.coordinates.priors.prior_table": "PriorTable Together Monotone",
    "sgmc.core.system.memory": "Used",
    "sgmc.core.schedules": "Constant Polynomial Cyclical",
    "sgmc.fit.paths": "Travelled",
    "sgmc.fit.stopping": "Stopping",
    "sgmc.fit.checkpoint": "Saved",
    "sgmc.fit.fitted": "ChainFacts Warmup",
    "sgmc.tuning.result": "TuneResult",
    "sgmc.formula.evaluation.safe": "SafeFormula",
    "sgmc.formula.data.undefined": "Undefined",
    "sgmc.formula.designs.design": "DesignSpec",
    "sgmc.formula.parts": "PartsSpec",
    "sgmc.formula.stages": "StagesSpec",
    "sgmc.formula.designs.factors": "Factor",
    "sgmc.formula.designs.offsets": "Offset",
    "sgmc.formula.response": "Response",
    "sgmc.formula.designs.blocks": "Block Contrast",
    "sgmc.formula.designs.coding": "Coding",
    "sgmc.formula.designs.groups": "GroupSpec Levels TermSpec",
    "sgmc.formula.data.label_column": "LabelColumn",
    "sgmc.formula.evaluation.transforms": "Standardize Center BSplines Categories",
    "sgmc.formula.evaluation.monotone": "Monotonic",
    "sgmc.formula.evaluation.r_words": "Poly NaturalTerm Relevel",
    "sgmc.splines.natural": "NaturalSplines",
    "sgmc.splines.smooth": "Smooth",
    "sgmc.prepared.writers.write_columns": "Study",
    "sgmc.prepared.first_pass.columns": "ColumnFacts",
    "sgmc.prepared.first_pass.facts": "Facts",
    "patsy.mgcv_cubic_splines": "CR CC TE",
}
# where a class has another name now: name in the file -> (module, class)
RENAMED = {
    "SmoothBlock": ("sgmc.splines.smooth", "SmoothBlock"),
    "Basis": ("sgmc.splines.bases", "SplineBasis"),
    "Effects": (f"{MODELS}.regression.latent.covariance.group_effects", "GroupEffects"),
    "KeptColumn": ("sgmc.prepared.file.column_store", "StoredColumn"),
    "Poisson": (f"{MODELS}.network.distributions", "PoissonOutcome"),
    "Recipe": (f"{MODELS}.network.info", "NetworkRecipe"),
    "Taylor": (f"{MODELS}.regression.updated.taylor", "ExpandedRows"),
}
# classes that another one has taken up: name in files of earlier releases -> name
JOINED = {
    "DispersionResults": "RegressionResults",
    "ZeroResults": "RegressionResults",
    "LearnedInfo": "ModelInfo",
}
# classes that refuse a state of its own: what they are made of again
ARGUMENTS = {"Constant": ("h",), "Polynomial": ("a", "b", "gamma"), "Cyclical": ("h", "period")}

HEAP_TYPE = 1 << 9  # a flag of Python's types: made by a class statement


@cache
def places() -> dict[str, tuple[str, str]]:
    """Names in files -> (module, class) of the table."""
    named = {name: (home, name) for home, names in HOMES.items() for name in names.split()}
    return named | RENAMED


@cache
def _names() -> dict[tuple[str, str], str]:
    return {place: name for name, place in places().items()}


@cache
def leaves(kind: str) -> dict[str, type[Any]]:
    """The package's own classes in the files of a room that is found by name: name -> class."""
    found: dict[Any, Any] = {}
    package = importlib.import_module(ROOMS[kind])
    for info in pkgutil.iter_modules(package.__path__):
        if not info.ispkg:
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            values = [one for one in vars(module).values() if isinstance(one, type)]
            found |= {one.__name__: one for one in values if one.__module__ == module.__name__}
    return found


def of_rooms() -> dict[str, type[Any]]:
    """Samplers, regressions and their families, bases of terms, those among them that users have
    registered: name in files -> class.
    """
    samplers = leaves("samplers") | {one.__name__: one for one in room("samplers").values()}
    models = leaves("families") | {one.__name__: one for one in room("families").values()}
    families = (one.family for one in room("families").values())
    classes = (one if isinstance(one, type) else type(one) for one in families)
    models |= {one.__name__: one for one in classes}
    bases = {one.basis.__name__: one.basis for one in room("terms").values()}
    kinds = {"sampler": samplers, "regression": models, "term": bases}
    return {f"{kind} {name}": one for kind, them in kinds.items() for name, one in them.items()}


def name_of(cls: Any) -> str | None:
    """The name of a class in files; None for one that files do not hold."""
    name = cls.__name__
    known = _names().get((cls.__module__, name))
    if known is not None:
        return known
    if issubclass(cls, errors.SGMCWarning):
        return f"warning {name}" if vars(errors).get(name) is cls else None
    for kind in ("sampler", "regression", "term"):
        if of_rooms().get(f"{kind} {name}") is cls:
            return f"{kind} {name}"
    return None


def class_of(name: str) -> Any:
    """The class of a name in a file; None where this release has none of that name.

    The name is looked for in tables, and never imported or looked up as it stands.
    """
    name = JOINED.get(name, name)
    if name in places():
        home, own = places()[name]
        return getattr(importlib.import_module(home), own)
    kind, _, rest = str(name).partition(" ")
    if kind == "warning":
        found = vars(errors).get(rest)
        return found if isinstance(found, type) and issubclass(found, Warning) else None
    return of_rooms().get(str(name))


def by_arguments(cls: Any) -> bool:
    """Whether objects of a class are made of arguments again."""
    return name_of(cls) in ARGUMENTS or cls.__reduce__ is not object.__reduce__


def compiled(cls: Any) -> bool:
    """Whether a class is one of a compiled module, or of a base that is."""
    return any(not base.__flags__ & HEAP_TYPE for base in cls.__mro__[:-1])
