"""Prepared files of random rows, and fits of them with the bounds of what memory may hold lowered,
so that small files take the way of large ones.
"""

import warnings

import numpy as np
import pandas as pd

import sgmc
from sgmc import formula as front
from sgmc.core.system import storage
from sgmc.errors import SGMCWarning
from sgmc.models.regression.mode import recession
from sgmc.prepared.writers.writing import of_table

FEW_BYTES, FEW_ROWS = 1 << 10, 1 << 12


def frame(n, seed=0):
    """Columns for every family, of a linear predictor."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    data["g"] = rng.choice(list("uvw"), n)
    data["h"] = rng.choice([f"h{j}" for j in range(60)], n)
    data["s"] = (rng.random(n) < 0.3).astype(float)
    data["w"] = rng.integers(1, 4, n).astype(float)
    data["e"] = rng.uniform(0.5, 2, n)
    eta = 0.3 + 0.5 * data.a - 0.2 * data.b
    data["binary"] = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    data["count"] = rng.poisson(np.exp(0.3 * eta) * rng.gamma(2, 0.5, n)).astype(float)
    data["number"] = eta + rng.normal(size=n)
    data["kind"] = rng.choice(["p", "q", "r"], n)
    data["trials"] = rng.integers(1, 6, n).astype(float)
    data["won"] = rng.binomial(data.trials.astype(int), 1 / (1 + np.exp(-eta))).astype(float)
    data["lost"] = data.trials - data.won
    return data


def prepared(path, data, formula, outcome, **given):
    """A file of a frame, in random order; `given` are columns, as in verbs."""
    table = front.read(formula, data, outcome=outcome, **given)
    first = formula.partition("~")[0].partition("+")[0].strip()
    examples = data[first].drop_duplicates().iloc[:5]
    return of_table(str(path), table, examples, seed=1, arguments=given)


def streamed(monkeypatch):
    """Lower the bounds."""
    monkeypatch.setattr(storage, "KEPT_BYTES", FEW_BYTES)
    monkeypatch.setattr(storage, "SPAN", FEW_ROWS)
    monkeypatch.setattr(recession, "SPAN", FEW_ROWS)


def fitted(verb, table, data=None, **how):
    """A short fit of a prepared table, or of other data with its formula."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        how = {"seed": 1, "draws": 50, "chains": 2, **how}
        return getattr(sgmc, verb)(table.formula, table if data is None else data, **how)
