"""Functions that formulas from outside, and those in files, may call: all of them only compute.

A function has a name that does not depend on where its library keeps it: ``"numpy.log"``, or
``"formula.poly"`` for the words of formulas.
"""

import builtins
import importlib
import math
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import patsy.builtins

from sgmc.formula.evaluation.functions import FUNCTIONS

OF_NUMPY = """
where clip round around isin digitize searchsorted select nan_to_num interp mean
median average std var ptp min max amin amax sum prod cumsum cumprod diff percentile
quantile nanmean nanmedian nanstd nanvar nanmin nanmax nansum nanpercentile nanquantile
asarray ravel isclose real sinc i0 unwrap float64 float32 int64 int32 bool_
""".split()
NUMBERS = ("pi", "e", "inf", "nan", "euler_gamma")
OF_PANDAS = ("cut", "qcut", "isna", "isnull", "notna", "notnull", "to_numeric", "to_datetime")
OF_PANDAS += ("Categorical",)
OF_PYTHON = ("abs", "round", "min", "max", "sum", "len", "float", "int", "bool")
NOT_OF_MATH = ("factorial", "comb", "perm", "prod")  # of numbers so large that they do not end
# functions of one order whose time for a number is bounded, whatever the number; others have series
# and searches that are as long as an argument is large
OF_SPECIAL = """
boxcox boxcox1p cbrt cosdg cosm1 digamma entr erf erfc erfcinv erfcx erfi erfinv exp10 exp2 expit
expm1 exprel gamma gammaln huber i0 i0e i1 i1e inv_boxcox inv_boxcox1p j0 j1 k0 k0e k1 k1e kl_div
log1p log_expit log_ndtr logit ndtr ndtri ndtri_exp pseudo_huber psi rel_entr rgamma sindg tandg
xlog1py xlogy y0 y1
""".split()
CONTRASTS = ("Treatment", "Sum", "Helmert", "Diff", "Poly")
NOT_WORDS = ("Q", "np")  # a column by its name, which is one before a formula is read; a module
MODULES = ("numpy", "math", "pandas", "patsy", "scipy", "scipy.special")


@cache
def names_of(module: str) -> frozenset[str]:
    """The names of a module of `MODULES` that are listed, a frozenset."""
    if module == "numpy":
        ufuncs = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
        return frozenset({*ufuncs, *OF_NUMPY, *NUMBERS})
    if module == "math":
        return frozenset(name for name in dir(math) if name[0] != "_" and name not in NOT_OF_MATH)
    if module == "scipy.special":
        special = importlib.import_module(module)
        return frozenset(name for name in OF_SPECIAL if hasattr(special, name))  # old releases
    if module == "pandas":
        return frozenset(OF_PANDAS)
    if module == "patsy":
        return frozenset({*patsy.builtins.__all__} - {*NOT_WORDS})
    return frozenset({"special"} if module == "scipy" else ())


@cache
def modules() -> dict[str, ModuleType]:
    """The modules that formulas from outside may name, as they name them: name -> module."""
    found = {name: importlib.import_module(name) for name in MODULES if "." not in name}
    importlib.import_module("scipy.special")
    return {**found, "np": found["numpy"], "pd": found["pandas"]}


def words() -> frozenset[str]:
    """Names of the words of formulas: patsy's functions and those of R, as they are here."""
    return frozenset({*FUNCTIONS} - {*NOT_WORDS})


@cache
def _by_identity() -> dict[int, str]:
    """Name of each listed function and module, by its `id`; all of them live as long."""
    found = {}
    for module in ("math", "pandas", "scipy.special", "patsy", "numpy"):
        home = importlib.import_module("patsy.builtins" if module == "patsy" else module)
        for name in sorted(names_of(module)):
            value = getattr(home, name)
            if callable(value):
                found[id(value)] = f"{module}.{name}"
    found |= {id(getattr(builtins, name)): f"python.{name}" for name in OF_PYTHON}
    mine = {id(FUNCTIONS[name]): f"formula.{name}" for name in sorted(words())}
    return {**mine, **found}


def name_of(value: Any) -> str | None:
    """The name of a listed function, class of contrasts or module; None for any other."""
    if isinstance(value, ModuleType):
        return value.__name__ if value.__name__ in MODULES else None
    return _by_identity().get(id(value))


def function_of(name: str) -> Any:
    """The function or module of a name, see `name_of`; None where it is not listed.

    The name is looked for among those listed, and never imported or looked up as it stands.
    """
    if name in MODULES:
        return importlib.import_module(name)
    home, _, last = str(name).rpartition(".")
    if home == "formula":
        return FUNCTIONS[last] if last in words() else None
    if home == "python":
        return getattr(builtins, last) if last in OF_PYTHON else None
    if home not in MODULES or last not in names_of(home):
        return None
    return getattr(importlib.import_module("patsy.builtins" if home == "patsy" else home), last)


def own(functions: Mapping[str, Any]) -> dict[str, Any]:
    """Those of some functions, a dict by name, that are the user's and not listed."""
    return {name: one for name, one in functions.items() if name_of(one) is None}
