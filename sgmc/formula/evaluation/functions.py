"""The functions that formulas may call besides the user's: patsy's, and R's."""

from typing import Any

import numpy as np
import patsy
import patsy.builtins

from sgmc.arguments.data.limited import cens, trunc
from sgmc.arguments.data.survival import Surv
from sgmc.arguments.types import Same
from sgmc.errors import FormulaError
from sgmc.formula.evaluation.monotone import Monotonic
from sgmc.formula.evaluation.r_words import NaturalTerm, Poly, Relevel
from sgmc.formula.evaluation.transforms import BSplines, Categories, Center, Standardize


def cs(*columns: Any) -> Any:
    """Refuse category-specific effects where no sequential model has taken them off."""
    raise FormulaError(
        "cs(z) has an effect for each stage of a sequential model: add it as a term of its own, "
        "'y ~ x + cs(z)', in sgmc.ordinal(formula, data, kind='sequential')"
    )


# ours take the place of patsy's functions of the same name
FUNCTIONS = {name: getattr(patsy.builtins, name) for name in patsy.builtins.__all__} | {
    "np": np,
    "Surv": Surv,
    "cens": cens,
    "trunc": trunc,
    "C": patsy.stateful_transform(Categories),
    "bs": patsy.stateful_transform(BSplines),
    "center": patsy.stateful_transform(Center),
    "scale": patsy.stateful_transform(Standardize),
    "standardize": patsy.stateful_transform(Standardize),
    "factor": patsy.stateful_transform(Categories),
    "relevel": patsy.stateful_transform(Relevel),
    "mo": patsy.stateful_transform(Monotonic),
    "cs": cs,
    "poly": patsy.stateful_transform(Poly),
    "ns": patsy.stateful_transform(NaturalTerm),
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "exp": np.exp,
}
# patsy's own, by the `id`, which users may have imported: ours, that take their place
OURS = {id(getattr(patsy.builtins, name)): FUNCTIONS[name] for name in patsy.builtins.__all__}


# of responses that are known in part: a column may lack a value where it has no meaning
IN_PART = ("Surv", "cens", "trunc")
CALLS_IN_PART = tuple(f"{name}(" for name in IN_PART)


def ours(value: Same) -> Same:
    """The function of formulas in the place of one of patsy's; any other as it is."""
    return OURS.get(id(value), value)
