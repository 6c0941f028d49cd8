"""Types of the attributes of classes whose objects files hold: what their annotations do not say.

The names of classes are those in files.  ``Annotated[int, (0, 10)]`` is a number within a span.
"""
# ruff: noqa: F821  which are looked up by `sgmc.saved.types.wrong`
# mypy: disable-error-code="name-defined, type-arg"

from typing import Annotated, Any, Literal, Optional, Union

import numpy as np
import pandas as pd

from sgmc.arguments.declared.covariances import COV_TYPES

COUNT = Annotated[int, (0, 2**53)]
ARRAY = np.ndarray
NUMBERS = Annotated[np.ndarray, "biuf"]  # of these kinds of numpy's types
CODE = {
    "code": str,
    "label": str,
    "quoted": str,
    "inputs": dict[str, str],
    "is_column": bool,
    "levels": tuple | None,
    "width": Annotated[int, (0, 100_000)] | None,
    "functions": dict[str, object],
    "transforms": dict[str, object],
    "places": None,
    "settled": bool,
    "across": bool,
}
DESIGN = {
    "formula": Union[str, "SafeFormula"],
    "endog_name": str,
    "expanded": str,
    "exog_names": list[str],
    "term_slices": dict[str, slice],
}
INFO = {
    "title": str,
    "formula": Union[str, "SafeFormula", None],
    "shapes": dict[str, tuple[COUNT, ...]],
    "slices": dict[str, slice],
    "constraints": dict[str, tuple],
    "notes": list[str],
    "labels": Optional["RowLabels"],
}
FIELDS: dict[str | None, dict[str, Any]] = {
    "Factor": CODE,
    "Response": CODE | {"summands": tuple[str, ...], "labels": dict[str, str]},
    "ImputedResults": {"_of_fits": NUMBERS},
    "ImputedMixedResults": {"_of_fits": NUMBERS},
    "ImputedCrossedResults": {"_of_fits": NUMBERS},
    "DesignSpec": DESIGN
    | {
        "levels": tuple | None,
        "offset": Optional["Offset"],
        "paired": bool,
        "_factors": list["Factor"],
        "_blocks": list["Block"],
        "coding": Optional["Coding"],
    },
    "Block": {
        "factors": tuple["Factor", ...],
        "contrasts": tuple[Optional["Contrast"], ...],
        "term": tuple["Factor", ...],
    },
    "Contrast": {"suffixes": list[str], "dense": NUMBERS},
    "GroupSpec": {"terms": list["TermSpec"], "factors": list["Levels"], "smooths": list["Smooth"]},
    "TermSpec": {"design": "DesignSpec"},
    "Levels": {"columns": tuple[str, ...]},
    "PriorTable": {
        "names": list[str],
        "specified": list["PriorSpec"],
        "used": list["PriorSpec"],
        "intercepts": list[COUNT],
        "auxiliary": COUNT,
        "together": list[Union["Together", "Monotone"]],
    },
    "Recipe": {"sizes": list[COUNT], "names": list[str], "spec": Optional["DesignSpec"]},
    "PartsSpec": DESIGN | {"specs": tuple["DesignSpec", ...], "first": COUNT, "second": str},
    "StagesSpec": DESIGN
    | {
        "specs": tuple["DesignSpec", ...],
        "first": COUNT,
        "second": str,
        "stages": list[str],
        "centre": NUMBERS,
    },
    "GeneralInfo": INFO | {"dims": dict[str, list[str]], "coords": dict[str, list]},
    "NetworkInfo": {"recipe": "Recipe"},
    "SourcesInfo": {
        "centre": NUMBERS,
        "unit": NUMBERS,
        "reference": NUMBERS,
        "variances": NUMBERS,
        "start": str,
    },
    "FactorInfo": {
        "users": pd.Index,
        "items": pd.Index,
        "form": dict[str, object],
        "columns": tuple[str, ...],
        "seen": NUMBERS,
        "test": Optional["RatingTable"],
        "hyper": dict[str, object],
        "newcomers": Union["NormalGamma", "GammaGamma"],
        "judged": tuple,
    },
    "LDAInfo": {"alpha": float, "vocabulary": object, "held_out": object, "unused": COUNT},
    "ModelInfo": INFO
    | {
        "kind": type,
        "options": dict[str, object],
        "family_name": str,
        "spec": Union["DesignSpec", "PartsSpec", "StagesSpec", "Split", None],
        "levels": tuple | None,
        "inputs": dict[str, object],
        "endog_names": str,
        "exog_names": list[str],
        "equations": COUNT,
        "df_model": COUNT,
        "given": tuple[str, ...],
        "dropped": COUNT,
        "read_here": str,
    },
    "MixedInfo": {
        "effects": "Effects",
        "groups": "GroupSpec",
        "factor_levels": list[pd.Index],
        "sizes": list[NUMBERS],
    },
    "CrossedInfo": {
        "effects": "CrossedEffects",
        "groups": "GroupSpec",
        "factor_levels": list[pd.Index],
        "sizes": list[NUMBERS],
    },
    "Population": {"sizes": NUMBERS, "roots": NUMBERS},
    "Results": {
        "draws": NUMBERS,
        "weights": NUMBERS | None,
        "names": list[str],
        "warnings": list[Warning],
        "seed": int | None,
        "header": tuple[list[str | tuple[str, ...]], ...],
        "nobs": float,
        "interrupted": str,
        "stand_in": str,
        "_unknown": bool,
        "model": object,
        "priors": "PriorTable",
        "verdict": "Verdict",
        "judged_by": str,
        "_accuracy": pd.DataFrame | None,
        "_ksd": float | None,
        "_ess": NUMBERS,
        "_rhat": NUMBERS | None,
        "_tails": NUMBERS,
        "_untold": tuple[NUMBERS, ...],
        "_asked": COUNT,
        "_stopping": Optional["Stopping"],
        "step_size": float | None,
        "_chains": list["ChainFacts"],
        "_threshold": float | None,
        "_noise": pd.DataFrame | None,
        "cov_type": Literal[COV_TYPES],
        "_paths": list["Travelled"] | None,
        "starts": NUMBERS | None,
        "_curvature_covariance": NUMBERS | None,
        "_moments": pd.DataFrame | None,
        "_continuation": Optional["Continuation"],
        "memory": Optional["Used"],
        "_past": Union[str, "Past"],
        "tuning": Optional["TuneResult"],
        "warmup": Optional["Warmup"],
        "curve_draws": Optional["CurveDraws"],
        "freedom": dict[str, object],
        "_levels": Optional["SavedLevels"],
        "updates": tuple[COUNT, ...],
        "drift": float,
        "neglected": float,
        "buffer": COUNT,
    },
}
# of these, what only some objects have
OPTIONAL = set(
    "settled across coding _moments _past memory tuning warmup curve_draws freedom _levels updates "
    "drift neglected buffer notes formula shapes slices constraints "
    "labels term".split()
)
