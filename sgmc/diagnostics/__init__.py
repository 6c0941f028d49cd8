"""Diagnostics of plain arrays: how far draws are from their target, how far chains are from each
other, how good answers are.

`ksd linear_ksd fssd ksd_test stein_thinning control_variates implied_moments` take draws and scores
(n, d), scores being gradients of the log density; `ess rhat mcse autocorr tail_index equal_visits
long_stays` take draws (chain, draw, parameter).  `ece mce log_loss rmse` judge predictions,
`relative_sd_error standardised_mean_error` a posterior beside a reference, `amari_distance
instability` components of an ICA; `breaking_point breaking_interval` say what noise Barker dynamics
bears.  Names are imported on first use, because arviz-stats alone takes half a second.
"""

from importlib import import_module
from typing import Any

_ROOMS = {
    "scores.stein": "ksd linear_ksd",
    "scores.finite_set": "fssd",
    "scores.goodness": "ksd_test",
    "scores.thinning": "stein_thinning",
    "scores.zero_variance": "control_variates",
    "scores.implied": "implied_moments",
    "chains.convergence": "ess rhat mcse autocorr",
    "chains.tails": "tail_index",
    "chains.visits": "equal_visits long_stays",
    "calibration": "ece mce log_loss rmse",
    "agreement": "relative_sd_error standardised_mean_error",
    "ica": "amari_distance instability",
    "breaking": "breaking_point breaking_interval",
}
_MODULES = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
