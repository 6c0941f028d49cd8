"""A summary as JSON: numbers are numbers, and what is no number is null.

Keys and their meaning are in docs/command-line.md.  A key that goes, or changes its meaning, raises
`SCHEMA`; new keys do not.
"""

import json
import math
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from sgmc.results.report.shown import formulas_of
from sgmc.version import __version__

if TYPE_CHECKING:
    from sgmc.results.results import Results
    from sgmc.tuning.result import TuneResult


SCHEMA = 1  # of the object that `as_json` makes
JUDGED = "trustworthy", "error", "text", "ends"  # of a verdict; what it rests on is a note
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


def as_json(results: "Results") -> str:
    """Return the summary as one JSON object: model, run, diagnostics, verdict, coefficients,
    warnings, and what a race chose (null: there was none); `facts` and `notes` are its texts.
    """
    left, right, lines, details = results.header
    tuning = None if results.tuning is None else tuning_facts(results.tuning)
    found = {
        "schema": SCHEMA,
        "sgmc": __version__,
        "model": model_values(results),
        "run": run_values(results),
        "diagnostics": diagnostic_values(results),
        "facts": {name: fact(text) for name, text in [*left, *right]},
        "notes": [*lines, *details],
        "verdict": {k: v for k, v in asdict(results.verdict).items() if k in JUDGED},
        "coefficients": results.summary_frame().to_dict(orient="index"),
        "warnings": [
            {"code": w.code, "message": w.message, "advice": w.advice} for w in results.warnings
        ],
        "tuning": tuning,
        "seed": results.seed,
        "nobs": results.nobs,
        "interrupted": results.interrupted,
    }
    return json.dumps(finite(found), indent=2, allow_nan=False)


def model_values(results: "Results") -> dict[str, Any]:
    """What was fitted: name, formula, outcome, link, rows."""
    model = results.model
    family = model.family
    return {
        "name": family.name,
        "title": model.title,
        "formula": formulas_of(model) or None,
        "outcome": str(model.endog_names),
        "link": family.link,
        "rows": results.nobs,
        "rows_dropped": model.dropped,
        "parameters": len(results.names),
        "cov_type": results.cov_type,
    }


def run_values(results: "Results") -> dict[str, Any]:
    """How the draws were made."""
    fit: Any = results._fit
    plan, batches = fit.plan, [chain.batch_size for chain in fit.chains]
    steps = plan.spec.uses_gradient and not plan.spec.independent
    return {
        "sampler": plan.spec.name,
        "gradient": plan.gradient if plan.spec.minibatches else None,
        "exact": bool(plan.spec.exact),
        "step_size": fit.step_size if steps else None,
        "batch_size": max(batches) if plan.spec.minibatches else None,
        "chains": fit.x.shape[0],
        "draws": fit.x.shape[1],
        "warmup": plan.warmup,
        "thin": None if plan.spec.continuous else plan.thinning,
        "seed": results.seed,
        "seconds": fit.seconds,
        "data_passes": fit.passes,
        "acceptance": fit.acceptance,
        "interrupted": results.interrupted,
        "stand_in": results.stand_in,
    }


def diagnostic_values(results: "Results") -> dict[str, Any]:
    """The least effective sample size, the largest R-hat, and the Stein discrepancy."""
    ess, rhat = (np.asarray(one, dtype=float) for one in (results._ess, results._rhat))
    return {
        "min_ess_bulk": ess[np.isfinite(ess)].min(initial=math.inf),
        "max_r_hat": rhat[np.isfinite(rhat)].max(initial=-math.inf),
        "ksd": results._ksd,
    }


def fact(text: str) -> int | float | str | None:
    """A fact of the summary's head: a number where its text is one, None for a dash."""
    if text == "-":
        return None
    if not NUMBER.fullmatch(text):
        return text
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def finite(value: Any) -> Any:
    """The same of values that JSON knows; numbers that are not finite are None."""
    if isinstance(value, dict):
        return {str(name): finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    number = float(value)
    return number if math.isfinite(number) else None


def tuning_facts(result: "TuneResult") -> dict[str, Any]:
    """What `TuneResult` says of the race, and of the arm that it chose."""
    return {
        "method": result.method,
        "metric": result.metric,
        "budget": result.budget,
        "reproducible": result.reproducible,
        "arms": len(result.arms),
        "arm": result.winner,
        "sampler": repr(result.best["sampler"]),
        **result.arms.loc[result.winner].drop("diverged"),
    }
