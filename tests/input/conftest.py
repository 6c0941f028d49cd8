"""Whatever a test of this folder hands to a model, a fit or a prediction, it gets back as it was,
also after an error.
"""

import functools

import numpy as np
import pandas as pd
import pytest

import sgmc.prepared.reading
from sgmc.models.regression.model import Regression
from sgmc.models.regression.results import RegressionResults

ENTRANCES = [
    (Regression, "__init__"),
    (sgmc.prepared.reading, "read"),
    (Regression, "fit"),
    (RegressionResults, "predict"),
    (RegressionResults, "get_prediction"),
]


def content(one):
    """All that an input is, as something to compare; None for what is no data."""
    if isinstance(one, pd.DataFrame):
        return (
            content(one.index),
            content(one.columns),
            [content(one.iloc[:, j]) for j in range(one.shape[1])],
        )
    if isinstance(one, pd.Series):
        return one.name, content(one.index), content(one.array)
    if isinstance(one, (pd.Index, pd.api.extensions.ExtensionArray)):
        return repr(one.dtype), repr(np.asarray(one, dtype=object).tolist())
    if isinstance(one, np.ndarray):
        values = repr(one.tolist()) if one.dtype == object else one.tobytes()
        return one.dtype, one.shape, one.strides, one.flags.writeable, values
    if hasattr(one, "indptr"):
        return content(one.data), content(one.indices), content(one.indptr)
    if isinstance(one, dict) and "__name__" not in one:  # a table, and no namespace
        return {name: content(value) for name, value in one.items()}
    return repr(one) if isinstance(one, (list, tuple)) else None


def watching(function, seen):
    """The function, noting its arguments' content first."""

    @functools.wraps(function)
    def watched(*arguments, **keywords):
        seen.extend((one, content(one)) for one in [*arguments, *keywords.values()])
        return function(*arguments, **keywords)

    return watched


@pytest.fixture(autouse=True)
def inputs_stay_as_they_were(monkeypatch):
    """The user's data never change."""
    seen = []
    for owner, name in ENTRANCES:
        monkeypatch.setattr(owner, name, watching(getattr(owner, name), seen))
    yield seen
    for one, before in seen:
        assert content(one) == before
