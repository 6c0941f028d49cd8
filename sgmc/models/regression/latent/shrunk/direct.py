"""Independent draws of linear regressions with normal errors and one ridge: given sigma and the sd
of its coefficients all of these are normal, and without them the density of (sd, sigma) has a
table.

Along the singular vectors of the ridge's columns, in units of the prior, the rows tell coefficients
apart: with a = V'c, where Z = U S V', the columns of Z V are orthogonal, as those of levels are.
However many coefficients there are, and with more of them than rows, a point costs some products.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sgmc.arguments.tables import CHUNK_CELLS
from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.densities import FAMILIES, Separable
from sgmc.coordinates.grid import FIRST_WIDTH, grid_of, mesh
from sgmc.coordinates.integrated import ConditionallyNormal
from sgmc.coordinates.maps import Scaling
from sgmc.coordinates.transport import Transport, scaled_by_draws
from sgmc.core import deadline
from sgmc.core.contract import Model
from sgmc.errors import DataError
from sgmc.models.regression.rows.effect_sums import MOST_GROUPED_NUMBERS, GroupSums

LEAST_TOLD = 1e-10  # of a singular vector, relative to the longest: beyond it nothing is told
NEARLY = 1e-5  # from the end of an axis where sigma is zero, relative to it
# of tables that find the posterior: nodes of an axis, the largest coordinate of the ratio, how far
# the log of the sd of a row may be from that of the outcomes, and how many there are at most
LOOKED_NODES, MOST_COORDINATE, LOOKED_LOGS, MOST_LOOKS = 33, 16.0, 3.0, 8
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
class Ratios:
    """Coordinates psi of ratios r = sd / sigma, in which densities that are flat in r near zero,
    and in 1 / r where that is near zero, are smooth: 1 / r = 1 / (c sinh psi) - 1 / most.

    Attributes
    ----------
    scale : array (1,)
        c, below which rows tell nothing of the sd.
    most : float
        Above which they tell nothing of sigma: infinite where more rows than coefficients do.
    """

    scale: Floats
    most: float
    q: ClassVar[int] = 1

    @property
    def end(self) -> float:
        """Where r is infinite, but for rounding."""
        return float(np.arcsinh(self.most / self.scale[0] * (1 - NEARLY)))

    def sds(self, psi: Floats) -> Floats:
        """Return ratios of their coordinates."""
        own = self.scale * np.sinh(psi)
        return own / (1 - own / self.most)

    def curved(self, ratios: Floats) -> Floats:
        """Return coordinates of ratios."""
        with np.errstate(divide="ignore"):
            return np.arcsinh(1 / (self.scale * (1 / ratios + 1 / self.most)))

    def steepness(self, psi: Floats) -> Floats:
        """Return derivatives of ratios by their coordinates."""
        own = self.scale * np.sinh(psi)
        return self.scale * np.cosh(psi) / (1 - own / self.most) ** 2


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


@dataclass(frozen=True, kw_only=True)
class RidgeNormal(ConditionallyNormal):
    """`ConditionallyNormal` with a table of psi and the log of the sd of a row, which hardly depend
    on each other.

    Attributes
    ----------
    share : float
        Of the square of the sd in the variance of a row.
    """

    share: float

    def log_sigma(self, psi: Floats, last: Floats) -> Floats:
        return last - 0.5 * np.log1p(self.share * self.ratios.sds(psi) ** 2)


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
    made = RidgeNormal(
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
        share=float(sums.told.sum() / total),
    )
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        place = looked_for(made, np.log(spread))
        grid = grid_of(made.log_density, *place, under=np.array([ratios.end, np.inf]))
    return None if grid is None else standardised(replace(made, grid=grid))


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


def looked_for(made: RidgeNormal, middle: float) -> tuple[Floats, Floats]:
    """Return about the mean and the covariance of the table's numbers, the log of the sd of a row
    being around a `middle`: of wide tables, then of ones around what these show.
    """
    low = np.array([0.0, middle - LOOKED_LOGS])
    high = np.array([min(MOST_COORDINATE, made.ratios.end), middle + LOOKED_LOGS])
    for _ in range(MOST_LOOKS):
        deadline.check()
        axes = np.linspace(low, high, LOOKED_NODES).T
        value = made.log_density(axes[0][:, None], np.tile(axes[1], (LOOKED_NODES, 1)))
        share = np.nan_to_num(np.exp(value - np.nanmax(value))).ravel()
        share /= share.sum()
        at = mesh([*axes]).reshape(-1, 2)
        centre, step = share @ at, axes[:, 1] - axes[:, 0]
        covariance = (share[:, None] * (at - centre)).T @ (at - centre)
        sd = np.sqrt(np.diag(covariance))
        if (sd > 2 * step).all():  # nodes are near enough to show it
            break
        reach = FIRST_WIDTH * np.maximum(sd, step)
        low = np.array([max(centre[0] - reach[0], 0.0), centre[1] - reach[1]])
        high = np.array([min(centre[0] + reach[0], made.ratios.end), centre[1] + reach[1]])
    return centre, covariance + np.diag(step**2)


def standardised(transport: Any) -> Transport:
    """Return the transport to coordinates in which the posterior is about standard normal, by some
    of its draws.
    """
    order = transport.map
    scaling = scaled_by_draws(transport, DRAWS_TO_SCALE, order.map.dim)
    return replace(transport, map=replace(order, map=scaling))
