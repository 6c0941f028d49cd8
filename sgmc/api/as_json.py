"""A summary as JSON: numbers are numbers, and what is no number is null."""

import json
import math
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sgmc.results.results import Results
    from sgmc.tuning.result import TuneResult


NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


def as_json(results: "Results") -> str:
    """Return the summary as one JSON object: facts, verdict, coefficients, warnings, and what a
    race chose (null: there was none).
    """
    left, right, lines, details = results.header
    tuning = None if results.tuning is None else tuning_facts(results.tuning)
    found = {
        "facts": {name: fact(text) for name, text in [*left, *right]},
        "notes": [*lines, *details],
        "verdict": {k: v for k, v in asdict(results.verdict).items() if k != "basis"},  # a note
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
