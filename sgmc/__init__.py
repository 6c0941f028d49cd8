"""Scalable Bayesian inference in one line: ``sgmc.logit("y ~ .", df).summary()``.

Everything public is here by name and loaded at first use, so that importing the package costs no
more than numpy.
"""

import importlib
import sys
from typing import Any

from sgmc.elsewhere import SAME_IN_MODULE, in_module, near
from sgmc.version import __version__  # noqa: F401


def _homes() -> dict[str, str]:
    """Return the public names and their modules: as the build wrote them, or while it does."""
    try:
        from sgmc._names import HOMES
    except ModuleNotFoundError:
        from sgmc.api.names import public_names

        return public_names()
    return HOMES


try:
    import sgmc.core.contract as _contract  # noqa: F401  (the compiled core)

    _HOMES = _homes()
except ModuleNotFoundError as _error:
    if not (_error.name or "").startswith("sgmc"):
        raise
    raise ImportError(
        "sgmc is not built here: this is its source tree, without the compiled modules.\n"
        "Run `pip install .` in it (or `python setup.py build_ext --inplace`), or leave the folder."
    ) from None

_ROOMS = ("datasets", "diagnostics", "errors", "formula", "registry")
__all__ = [*_HOMES, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"sgmc.{name}")
    elif name == "sklearn":  # no public name, as scikit-learn is optional
        value = importlib.import_module("sgmc.sklearn")
    elif (ours := SAME_IN_MODULE.get(name)) is not None:
        return __getattr__(ours)
    elif (told := in_module(name)) is not None:
        raise AttributeError(told)
    else:
        unknown = f"module 'sgmc' has no attribute {name!r}"
        raise AttributeError(unknown + near(name, sys.modules[__name__]))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
