"""Independent draws of regressions with normal errors and one smooth: sums over the rows tell the
density of (sd, sigma), with the coefficients, those of the curve among them, integrated out.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.coordinates.integrated import ConditionallyNormal
from sgmc.coordinates.mode import PriorTerms
from sgmc.coordinates.transport import Transport
from sgmc.core.contract import Model
from sgmc.fit.problem import Problem
from sgmc.models.crossed.table import CrossedRows
from sgmc.models.mixed.loading import Loading
from sgmc.models.regression.summed import model_of, summed_table, whole_model


@dataclass(frozen=True, kw_only=True)
class CurveTransport(ConditionallyNormal):
    """Draws of (beta, b, phi, u), the curve's coefficients b being sd v with v standard normal.

    Attributes
    ----------
    products : array (k + 1, k + 1)
        Of the columns of beta and b and of the residuals at (beta, 0), by the weights.
    weight : float
        Sum of the weights.
    loading : Loading
    rounding : float
        See `Dispersed`.
    """

    products: Floats
    weight: float
    loading: Loading
    rounding: float

    def given(self, pairs: Floats) -> tuple[Floats, Floats, Floats]:
        sd, u = self.loading.sds(pairs[:, :1])[:, 0], pairs[:, 1]
        k, d = len(self.products) - 1, len(self.beta)
        scale = np.ones((len(pairs), k))
        scale[:, d:] = sd[:, None]
        t = np.exp(-2 * u)
        H = t[:, None, None] * self.products[:k, :k] * scale[:, :, None] * scale[:, None]
        H[:, :d, :d] += self.precision
        H[:, range(d, k), range(d, k)] += 1.0
        slope = t[:, None] * self.products[:k, k] * scale
        slope[:, :d] += self.slope
        square = self.products[k, k] + self.weight * self.rounding
        return H, slope, -self.weight * u - 0.5 * t * square

    @property
    def count(self) -> int:
        return len(self.products) - 1

    def natural(self, moved: Floats, pairs: Floats) -> Floats:
        d, sd = len(self.beta), self.loading.sds(pairs[:, :1])
        return np.concatenate([self.beta + moved[:, :d], sd * moved[:, d:], pairs], axis=1)


def summed_rows(rows: CrossedRows, family: Any) -> tuple[CrossedRows, Model] | None:
    """Return few rows of smooths alone, with the sums of all, and their compiled model; None as in
    `summed_table`, and where they would be no fewer.
    """
    n, width = rows.table.X.shape
    if n <= width + 1 or not isinstance(rows.table.X, np.ndarray):
        return None
    every = whole_model(rows.table, family)
    table = summed_table(rows.table, every)
    if table is None:
        return None
    d, m = rows.blocks.d, len(table.X)
    few = replace(
        rows,
        fixed=replace(table, X=np.ascontiguousarray(table.X[:, :d])),
        table=table,
        codes=rows.codes[:m],
        Z=rows.Z[:m],
        curves=table.X[:, rows.dense[d:]],
    )
    return few, model_of(table, every, family)


def curve_transport(
    problem: Problem, rows: CrossedRows, terms: PriorTerms, place: Floats, covariance: Floats
) -> Transport | None:
    """Return the transport of a regression with one smooth; None where the density of (sd, sigma)
    has no table.

    Parameters
    ----------
    problem : Problem
        With the model of few rows.
    rows : CrossedRows
        These rows.
    terms : PriorTerms
        Of (beta, phi, u).
    place : array (dim,)
        The mode of (beta, v, phi, u).
    covariance : array (2, 2)
        About that of (phi, u).
    """
    table, model, d, loading = rows.table, problem.few.model, rows.blocks.d, rows.blocks.loading
    beta, centre = place[:d], place[-2:]
    _, slope, precision = terms(np.append(beta, centre))
    e = table.y - table.X[:, :d] @ beta
    columns = np.column_stack([table.X[:, rows.dense], e])
    found = CurveTransport(
        map=problem.coordinates.map,
        prior=problem.prior.fixed,
        beta=beta,
        slope=slope[:d],
        precision=precision[:d, :d],
        products=columns.T @ (table.weight[:, None] * columns),
        weight=float(table.weight.sum()),
        loading=loading,
        rounding=model.rounding,
    )
    side = np.array([1.0 if centre[0] >= 0 else -1.0, 1.0])
    return found.tabulated(side * centre, covariance * np.outer(side, side))
