"""Independent draws of linear regressions with normal errors and one ridge: given sigma and the sd
of its coefficients all of these are normal, and without them the density of (sd, sigma) has a
table.

Along the singular vectors of the ridge's columns, in units of the prior, the rows tell coefficients
apart: with a = V'c, where Z = U S V', the columns of Z V are orthogonal, as those of levels are.
However many coefficients there are, and with more of them than rows, a point costs some products.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sgmc.arguments.data.tables import CHUNK_CELLS
from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.independent.ratios import NormalByTotal, Ratios
from sgmc.coordinates.independent.transport import Transport, scaled_by_draws
from sgmc.coordinates.priors.densities import FAMILIES, Separable
from sgmc.coordinates.transforms.maps import Scaling
from sgmc.core.contract import Model
from sgmc.core.system import deadline
from sgmc.errors import DataError
from sgmc.models.regression.rows.effect_sums import MOST_GROUPED_NUMBERS, GroupSums

LEAST_TOLD = 1e-10  # of a singular vector, relative to the longest: beyond it nothing is told
DRAWS_TO_SCALE = 256
DECOMPOSITION = 20.0  # operations of a singular value decomposition, about, by its three sizes


@dataclass(frozen=True)
class RidgeSums(GroupSums):
    """`GroupSums` whose groups are the singular vectors that rows tell something of.

    Attributes
    ----------
    beside : array (r, d + 1)
        Products of the columns along them with those of the other coefficients and the residuals.
    vectors : array (k, k)
        V, those that rows tell nothing of last.
    """

    beside: Floats
    vectors: Floats

    @classmethod
    def of_rows(cls, rows: Floats, k: int, weight: float) -> "RidgeSums":
        """Of rows (m, k + d + 1) with the products of all: the ridge's columns, the others and the
        residuals; `weight` is the sum of the weights.
        """
        left, lengths, vectors = np.linalg.svd(rows[:, :k])
        r = int((lengths > LEAST_TOLD * lengths[0]).sum())
        lengths, left, columns = lengths[:r], left[:, :r], rows[:, k:]
        along = left.T @ columns
        rest = columns - left @ along
        beside = lengths[:, None] * along
        between = (beside[:, :, None] * beside[:, None]).reshape(r, -1)
        return cls(rest.T @ rest, between, lengths**2, np.ones(r), weight, beside, vectors.T)

    @property
    def count(self) -> int:
        """All coefficients of the ridge."""
        return len(self.vectors)

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        r, size = ratios, len(self.told)
        whole = 1 + r**2 * self.told
        out = r * z
        out[:, :size] /= np.sqrt(whole)
        out[:, :size] += r**2 / whole * (pull @ self.beside.T)
        return out @ self.vectors.T


@dataclass(frozen=True)
class RidgeOrder:
    """Parameters in the order of `ConditionallyNormal`: the other coefficients, those of the ridge
    in units of its prior, the coordinate of their sd, log sigma.

    Attributes
    ----------
    rest, where : array of int
        Places of the coefficients.
    unit : array (k,)
        Of the ridge's coefficients.
    pivots : list of int
        Place of the intercept, if there is one, here that at predictors of zero.
    shift : array (d,)
        Where predictors are zero.
    loading : Ratios
        Coordinates of the sd.
    map : Scaling
        To (beta, log of the sd, log sigma).
    """

    rest: Ints
    where: Ints
    unit: Floats
    pivots: list[int]
    shift: Floats
    loading: Ratios
    map: Any

    def inverse(self, y: Floats) -> Floats:
        """Return the sampler's coordinates of points y (n, dim)."""
        theta, d = np.array(y), len(self.rest)
        theta[:, self.rest], theta[:, self.where] = y[:, :d], self.unit * y[:, d:-2]
        theta[:, self.pivots] -= theta[:, :-2] @ self.shift[:, None]
        sd = np.abs(self.loading.sds(y[:, -2:-1]))
        theta[:, -2:-1] = np.log(np.maximum(sd, np.finfo(float).tiny))
        return self.map.inverse(theta)


def ridge_draws(
    table: Any, model: Model, priors: Any, shrunk: Any, shift: Floats
) -> Transport | None:
    """Return the transport of a regression with one ridge, whose map is to (beta, log of the sd,
    log sigma); None where the density of (sd, sigma) has no table, DataError where it has no
    integral.

    Parameters
    ----------
    table : Table
        Dense.
    model : Model
        Of (beta, log sigma).
    priors : PriorTable
        Of (beta, sd, sigma), those of the other coefficients normal or flat.
    shrunk : Shrunk
    shift : array (d,)
        See `Separable`.
    """
    d, where, unit = shrunk.d, np.asarray(shrunk.where), np.asarray(shrunk.unit)
    k, n, rest = len(where), counted_rows(table), np.setdiff1d(np.arange(d), where)
    if min(n, k) * (d - k + 1) ** 2 > MOST_GROUPED_NUMBERS:
        return None
    pivots, factor = list(priors.intercepts), np.ones(d)
    factor[where] = unit
    # the prior of an intercept is that at centred predictors
    rows = reduced(table, shift if pivots else np.zeros(d), factor)[:, [*where, *rest, d]]
    deadline.check(operations=DECOMPOSITION * k * min(n, k) * max(len(rows), k))
    beta = np.linalg.lstsq(rows[:, k:-1], rows[:, -1])[0]
    rows[:, -1] -= rows[:, k:-1] @ beta
    total = float(len(table.y) if table.weight is None else np.sum(table.weight))
    sums, square = RidgeSums.of_rows(rows, k, total), rows[:, -1] @ rows[:, -1]
    spread = np.sqrt(square / total)
    if not (len(sums.told) and spread > 0):
        return None
    # whether coefficients can fit all rows
    own, pull = sums.within[:-1, :-1], sums.within[:-1, -1]
    lone = sums.within[-1, -1] - pull @ np.linalg.pinv(own) @ pull <= LEAST_TOLD * square
    if lone and total > n:  # the density falls as sigma^(rows - weights) near zero
        raise improper(d, n, total)
    ratios = Ratios(sums.told[:1] ** -0.5, sums.told[-1] ** -0.5 if lone else np.inf)
    loading = Ratios(spread * ratios.scale, np.inf)
    kept = np.append(rest, [d, d + 1])
    columns = {one: np.array(priors.columns(one)) for one in ("location", "scale", "shape")}
    prior = Separable(
        [FAMILIES[priors.families[j]] for j in kept],
        *(one[kept] for one in columns.values()),
        (),
        None,
        1,
        np.append(np.zeros(len(rest)), [*loading.scale, 0.0]),
    )
    flat = np.array([priors.families[j] == "flat" for j in rest])
    precision = np.where(flat, 0.0, columns["scale"][rest] ** -2.0)
    made = NormalByTotal(
        map=RidgeOrder(
            rest, where, unit, pivots, shift, loading, Scaling(np.zeros(d + 2), np.ones(d + 2))
        ),
        prior=prior,
        beta=beta,
        slope=precision * (columns["location"][rest] - beta),
        precision=np.diag(precision),
        sums=sums,
        loading=loading,
        ratios=ratios,
        rounding=model.rounding,
        share=np.array([sums.told.sum() / total]),
    )
    found = made.looked_for(np.log(spread))
    return None if found is None else standardised(found)


def improper(d: int, n: int, total: float) -> DataError:
    """Return the error where d coefficients can fit n rows that weights count as `total`."""
    return DataError(
        f"the posterior is improper: {d} coefficients can fit all {n} rows exactly, and "
        f"weights count these as {total:g}, so that nothing keeps sigma from zero; give a "
        "known sigma=, fewer predictors, or each row once"
    )


def counted_rows(table: Any) -> int:
    """Return how many rows have a weight above zero."""
    return len(table.y) if table.weight is None else int(np.count_nonzero(table.weight))


def reduced(table: Any, shift: Floats, factor: Floats) -> Floats:
    """Return rows (m, d + 1) with the products of all, by their weights, at most as many as they
    have columns: of the design, less `shift` and times `factor`, and of the outcomes less offsets.
    """
    n, d = table.X.shape
    found, step = np.empty((0, d + 1)), max(CHUNK_CELLS // (d + 1), d + 1)
    for start in range(0, n, step):
        deadline.check()
        at = slice(start, start + step)
        y = table.y[at] - (0.0 if table.offset is None else table.offset[at])
        more = np.column_stack([(table.X[at] - shift) * factor, y])
        if table.weight is not None:
            more *= np.sqrt(table.weight[at])[:, None]
        found = np.concatenate([found, more])
        if len(found) > d + 1:
            found = np.linalg.qr(found, mode="r")
    return found


def standardised(transport: Any) -> Transport:
    """Return the transport to coordinates in which the posterior is about standard normal, by some
    of its draws.
    """
    order = transport.map
    scaling = scaled_by_draws(transport, DRAWS_TO_SCALE, order.map.dim)
    return replace(transport, map=replace(order, map=scaling))
