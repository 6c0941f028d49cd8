"""Diagnostics of plain arrays: how far draws are from their target, and how far chains are from each other.

`ksd` takes draws and scores (n, d); `ess`, `rhat`, `mcse` and `autocorr` take draws (chain, draw, parameter).
Names are imported on first use, because arviz-stats alone takes half a second.
"""
from importlib import import_module

_MODULES = {"ksd": "stein", "ess": "convergence", "rhat": "convergence", "mcse": "convergence",
            "autocorr": "convergence"}
__all__ = sorted(_MODULES)


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})
