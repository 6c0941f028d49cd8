"""Tables whose grouping factors cross, and their posteriors in sampler coordinates."""

import os
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from sgmc import registry
from sgmc.fit.settings import check_settings

from ..verdict import grouped

OUTCOMES = {"logit": grouped.logit, "poisson": grouped.poisson, "ols": grouped.normal}
TERMS = {
    "crossed": "(1 | g) + (1 | h)",
    "slopes": "(1 + x | g) + (1 | h)",
    "two terms": "(1 | g) + (0 + x | g) + (1 | h)",
}


def published(name):
    """A table of the folder SGMC_DATA."""
    path = Path(os.environ.get("SGMC_DATA", "")) / "grouped" / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"no copy of grouped/{name}.csv.gz in SGMC_DATA")
    return pd.read_csv(path)


@cache
def table(verb, rows=200):
    """Rows at random in 12 and 7 levels."""
    frame, rng = grouped.crossing(3, 12, 7, rows, 0.6, 0.4, 0.3)
    return frame.assign(y=OUTCOMES[verb](frame, rng))


@cache
def problem_of(verb, kind="crossed", rows=200, **given):
    """The posterior."""
    model = registry.room("families")[verb]
    fitted = model.from_formula(f"y ~ x + {TERMS[kind]}", table(verb, rows))
    return fitted.problem(None, check_settings(seed=1, **given))
