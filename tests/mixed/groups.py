"""Groupings and models of these tests, without formulas."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

import sgmc
from sgmc.formula.designs.spreads import of_array
from sgmc.models.regression.latent.integrated.model import MixedRegression

from .tables import published


@dataclass(frozen=True)
class Term:
    """Effects that are correlated with each other, or not."""

    label: str
    columns: list
    Z: np.ndarray
    correlated: bool = True
    factor: str = "g"
    part: str = ""
    predictor: int = 0

    @property
    def scaling(self):
        """What priors of the effects' sds are divided by."""
        return of_array(self.Z)


@dataclass(frozen=True)
class Groups:
    """Rows of each level of a factor, by their order."""

    name: str
    levels: pd.Index
    codes: np.ndarray
    terms: list
    sub: object = None
    order: np.ndarray = field(init=False)
    starts: np.ndarray = field(init=False)

    def __post_init__(self):
        sizes = np.bincount(self.codes, minlength=len(self.levels))
        object.__setattr__(self, "order", np.argsort(self.codes, kind="stable"))
        object.__setattr__(self, "starts", np.append(0, np.cumsum(sizes)))


def grouping(frame, name, columns=(), correlated=True):
    """Intercepts and slopes of numeric columns by the levels of a column."""
    codes, levels = pd.factorize(frame[name], sort=True)
    Z = np.column_stack([np.ones(len(frame)), *(frame[c].to_numpy(float) for c in columns)])
    term = Term("1", ["Intercept", *columns], np.ascontiguousarray(Z), correlated, name)
    return Groups(name, pd.Index(levels), codes.astype(np.int32), [term])


def mixed(model, formula, frame, name, columns=(), correlated=True, nodes=None, **given):
    """A model from a formula of its fixed part, and effects of the levels of a column."""
    fixed = model.from_formula(formula, frame, **given)
    return MixedRegression(fixed, grouping(frame, name, columns, correlated), nodes)


def published_model(name):
    """Model and table of a published fit."""
    frame = published(name.split(",")[0])
    if name == "sleepstudy":
        return mixed(sgmc.OLS, "Reaction ~ Days", frame, "Subject", ["Days"]), frame
    if name == "cbpp":
        frame["healthy"] = frame["size"] - frame["incidence"]
        return mixed(sgmc.Logit, "incidence + healthy ~ C(period)", frame, "herd"), frame
    frame["town"] = (frame.urban == "Y").astype(float)
    formula, slopes = "use ~ town + C(livch) + age + age2", []
    if name == "contraception, slopes":
        slopes = ["town"]
    return mixed(sgmc.Logit, formula, frame, "district", slopes), frame
