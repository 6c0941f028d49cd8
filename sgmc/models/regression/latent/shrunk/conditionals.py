"""Linear regressions with normal errors and learned prior scales, drawn from conditional
distributions: sweeps over coefficients, and draws of all of them at once.

Given sigma and the scales s_j coefficients are normal with precision X'WX / sigma^2 + S^-1, S =
diag(s_j^2).  Of few columns its Cholesky factor is a matter of microseconds; with more columns than
rows a draw takes time n^2 p (Bhattacharya, Chakraborty & Mallick 2016, doi:10.1093/biomet/asw042).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from sgmc.arguments.types import Floats
from sgmc.coordinates.priors.conditionals import Conditionals, Turns
from sgmc.coordinates.priors.densities import FAMILIES, Separable
from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.transforms.maps import Scaling
from sgmc.core.contract import Map, Model, Prior
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime
from sgmc.models.regression.latent.shrunk.direct import LEAST_TOLD, counted_rows, improper, reduced
from sgmc.models.regression.latent.shrunk.shrinking import Shrunk, ShrunkMap
from sgmc.models.regression.latent.shrunk.sweeps import ScaleSweeps, told_by_rows

# sweeps by which coordinates are scaled, and how many of them come before those that are looked at
PILOT_SWEEPS, PILOT_WARMUP = 200, 80
STAND_IN_ROWS = 200  # that are looked at where the time is up
NARROWEST_SD = 1e-3  # of a coordinate there, in units that make it about one
# of a local scale, which has no larger one in any number of draws: chains start around the mean of
# logs whose lower tail may be a thousand long, and that far above it there are no numbers
LARGEST_LOG_SCALE = 100.0
TURNS_WARMUP = 100  # steps, of some sweeps each
# seconds on one core: numbers of the table in a sweep, local scales in it, operations of a draw of
# all coefficients, and what this takes besides; only their ratios matter
CELL_SWEPT, LOCAL_DRAWN, JOINT_FLOP, JOINT_CALL = 6e-10, 1.6e-7, 6e-11, 5e-5
# seconds of a step's sweeps, about, and how many there are at most; with more coefficients than
# rows two thirds: what is then known least are sds of long-tailed coefficients, for which
# successive sweeps are nearly independent and draws count
STEP_SECONDS, STEP_SECONDS_OF_MANY, MOST_SWEEPS = 6.5e-4, 4.4e-4, 8
# share of the sweeps' time that draws of all coefficients may take: with more of them than rows
# priors hold most, and sweeps alone forget nearly as fast
JOINT_SHARE, JOINT_SHARE_OF_MANY = 0.5, 0.1


@dataclass(frozen=True, kw_only=True)
class ScaleConditionals(Conditionals):
    """Conditional distributions of (beta, v, g, u).

    Attributes
    ----------
    shrunk : Shrunk
        With sigma as its one auxiliary parameter.
    above : Prior
        Of (g, u).
    columns : array (d, m)
        Of rows with the products of all: see `direct.reduced`.
    y : array (m,)
        Outcomes of these rows.
    weight, rounding : float
        The sum of the weights, and what each adds to the squares of residuals, see `Ols`.
    location, precision : array (d,)
        Of the normal priors of the other coefficients, zero elsewhere.
    pivot : int
        Place of the intercept whose prior is that of b_0 + shift'b, the one of `columns`; -1 where
        there is none.
    shift : array (d,)
    map : Map
        From the sampler's coordinates.
    """

    shrunk: Shrunk
    above: Prior
    columns: Floats
    y: Floats
    weight: float
    rounding: float
    location: Floats
    precision: Floats
    pivot: int
    shift: Floats
    map: Map

    def turns(self) -> "ScaleTurns":
        return ScaleTurns(self)

    def sweeps(self) -> ScaleSweeps:
        """Return the sweeps of a chain."""
        return ScaleSweeps(
            self.shrunk,
            self.above,
            columns=self.columns,
            y=self.y,
            weight=self.weight,
            rounding=self.rounding,
            location=self.location,
            precision=self.precision,
            pivot=self.pivot,
            shift=self.shift,
        )

    @cached_property
    def by_rows(self) -> bool:
        """Whether draws of all coefficients are by a matrix of the rows' size."""
        return len(self.y) < self.shrunk.k

    @cached_property
    def gram(self) -> Floats:
        """Products of columns, (d, d)."""
        return self.columns @ self.columns.T

    @cached_property
    def pace(self) -> tuple[int, int]:
        """How many sweeps a step has, and after how many steps one draws all coefficients."""
        (d, m), k = self.columns.shape, self.shrunk.k
        sweep = CELL_SWEPT * d * m + LOCAL_DRAWN * k
        seconds = STEP_SECONDS_OF_MANY if self.by_rows else STEP_SECONDS
        sweeps = int(np.clip(round(seconds / sweep), 1, MOST_SWEEPS))
        joint = m * m * k + m**3 / 3 if self.by_rows else d**3 / 3
        share = JOINT_SHARE_OF_MANY if self.by_rows else JOINT_SHARE
        every = (JOINT_CALL + JOINT_FLOP * joint) / (share * sweeps * sweep)
        return sweeps, max(1, math.ceil(every))

    def draw_together(self, theta: Floats, rng: Rng) -> None:
        """Change the coefficients in theta (size,) to a draw of all, given the other parameters."""
        beta, sigma = theta[: self.shrunk.d], float(np.exp(theta[-1]))
        sd = np.sqrt(self.shrunk.variances(theta)[0])
        if self.pivot >= 0:
            beta[self.pivot] += self.shift @ beta
        try:
            (self.draw_by_rows if self.by_rows else self.draw_by_columns)(beta, sd, sigma, rng)
        except linalg.LinAlgError:
            pass  # scales so far apart that rounding leaves no factor: beta stays as it is
        if self.pivot >= 0:
            beta[self.pivot] -= self.shift @ beta

    def draw_by_rows(self, beta: Floats, sd: Floats, sigma: float, rng: Rng) -> None:
        """Those with learned scales, given the others: b = S^1/2 (z + A' w), A = X S^1/2, with
        (A A' + sigma^2 I) w = r - A z - e.
        """
        where, m = np.asarray(self.shrunk.where), len(self.y)
        rest = np.setdiff1d(np.arange(len(beta)), where)
        A = (sd[:, None] * self.columns[where]).T
        z, e = rng.normals(len(where)), sigma * rng.normals(m)
        r = self.y - beta[rest] @ self.columns[rest]
        M = A @ A.T
        M.flat[:: m + 1] += sigma**2
        factor = linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
        w = linalg.cho_solve(factor, r - A @ z - e, overwrite_b=True, check_finite=False)
        beta[where] = sd * (z + A.T @ w)

    def draw_by_columns(self, beta: Floats, sd: Floats, sigma: float, rng: Rng) -> None:
        """All of them, in units of their prior sds or of what rows tell."""
        where, d = np.asarray(self.shrunk.where), len(beta)
        unit = sigma / np.sqrt(np.maximum(self.gram.diagonal(), np.finfo(float).tiny))
        prior = self.precision * unit**2
        unit[where], prior[where] = sd, 1.0
        slope = unit * (self.columns @ self.y) / sigma**2 + prior * self.location / unit
        Q = unit[:, None] * self.gram * (unit / sigma**2)
        Q.flat[:: d + 1] += prior
        L = linalg.cholesky(Q, lower=True, overwrite_a=True, check_finite=False)
        how = dict(lower=True, check_finite=False)
        z = linalg.solve_triangular(L, slope, **how) + rng.normals(d)
        beta[:] = unit * linalg.solve_triangular(L, z, trans=1, **how)


class ScaleTurns(Turns):
    """The draws of one chain.

    Parameters
    ----------
    of : ScaleConditionals
    """

    def __init__(self, of: ScaleConditionals) -> None:
        self.of, self.sweeps = of, of.sweeps()

    def step(self, x: Floats, number: int, rng: Rng) -> None:
        sweeps, every = self.of.pace
        theta = self.of.map(x)
        local = theta[self.of.shrunk.d : self.of.shrunk.first_group]
        np.minimum(local, LARGEST_LOG_SCALE, out=local)
        self.sweeps.sweep(theta, rng, sweeps)
        if number % every == 0:
            self.of.draw_together(theta, rng)
        x[:] = self.of.map.inverse(theta)


def conditioned(family: Any, groups: Any, settings: Any, fixed: Any, d: int) -> bool:
    """Return whether coefficients are normal given scales and sigma, which conditional draws rest
    on, where settings leave room for these.

    Parameters
    ----------
    family : Family
    groups : list of Group
    settings : Settings
    fixed : PriorTable
        Of the d other coefficients.
    d : int
    """
    local = any(one.local[0] != "none" for one in groups)  # a ridge alone has independent draws
    normal = family.summed and len(family.auxiliary) == 1  # a known sigma has no place in a sweep
    alike = fixed.conjugate(d) and fixed.apart
    return bool(local and normal and settings.in_turns and alike)


def scale_conditionals(
    table: Any, model: Model, priors: Any, shrunk: Shrunk, shift: Floats
) -> tuple[ScaleConditionals, bool]:
    """Return the conditional distributions of a regression, and whether there was time to scale
    their coordinates.

    Parameters
    ----------
    table : Table
        Dense.
    model : Model
    priors : PriorTable
        Of (beta, g, sigma).
    shrunk : Shrunk
    shift : array (d,)
        See `Separable`.
    """
    d, pivots = shrunk.d, list(priors.intercepts)
    # the prior of an intercept is that at centred predictors
    away = shift if pivots else np.zeros(d)
    try:
        rows = reduced(table, away, np.ones(d))
    except OutOfTime:  # some rows will do for draws that stand in: no sweep is made
        with deadline.suspended():
            rows = reduced(table.first(STAND_IN_ROWS), away, np.ones(d))
    refuse_exact_fit(table, rows)
    columns = np.ascontiguousarray(rows[:, :d].T)
    square = np.einsum("ji,ji->j", columns, columns)
    square[np.asarray(shrunk.where)] = told_by_rows(square[np.asarray(shrunk.where)], shrunk)
    square = np.maximum(square, np.finfo(float).tiny)
    known = {one: np.array(priors.columns(one)) for one in ("location", "scale", "shape")}
    above = Separable(
        [FAMILIES[one] for one in priors.families[d:]],
        *(one[d:] for one in known.values()),
        (),
        None,
        shrunk.groups + 1,
    )
    plain = np.array([one == "normal" for one in priors.families[:d]])  # the others are flat, ...
    plain[np.asarray(shrunk.where)] = False  # ... or have learned scales, and zero in the middle
    outer = scale_map(shrunk, square)
    made = dict(
        shrunk=shrunk,
        above=above,
        columns=columns,
        y=np.ascontiguousarray(rows[:, d]),
        weight=table.nobs,
        rounding=model.rounding,
        location=np.where(plain, known["location"][:d], 0.0),
        precision=np.where(plain, known["scale"][:d], np.inf) ** -2.0,
        pivot=pivots[0] if pivots else -1,
        shift=np.array(shift, dtype=float),
    )
    seen, whole = piloted(ScaleConditionals(map=outer, **made), known["scale"][d:])
    sd = np.maximum(seen.std(axis=0), NARROWEST_SD) if len(seen) > 1 else np.ones(shrunk.size)
    scaled = Composed(outer, Scaling(seen.mean(axis=0), sd))
    return ScaleConditionals(map=scaled, **made), whole


def refuse_exact_fit(table: Any, rows: Floats) -> None:
    """DataError where coefficients can fit all rows that count, and weights count these more than
    once; `rows` have their products.
    """
    n, (_, d), y = counted_rows(table), np.subtract(rows.shape, (0, 1)), rows[:, -1]
    if n > d or table.nobs <= n:
        return
    left = y - rows[:, :-1] @ np.linalg.lstsq(rows[:, :-1], y)[0]
    if left @ left <= LEAST_TOLD * (y @ y):
        raise improper(d, n, table.nobs)


def scale_map(shrunk: Shrunk, square: Floats) -> ShrunkMap:
    """Return coordinates in which coefficients that rows do not tell are standard normal given
    their scales, and the others are in units of what rows tell; `square` are the sums of squares of
    the columns.
    """
    k, d = shrunk.k, shrunk.d
    where = np.asarray(shrunk.where)
    rest = np.setdiff1d(np.arange(d), where)
    return ShrunkMap(
        shrunk,
        place=np.zeros(k),
        cavity=1 / square[where],
        root=None,
        turn=np.zeros(shrunk.locals),
        centre=np.zeros(shrunk.groups),
        rest=rest,
        expected=np.zeros(len(rest)),
        slope=np.zeros((len(rest), k)),
        own=np.diag(square[rest] ** -0.5),
        auxiliary=np.array([[0.0, 1.0]]),
        power=1.0,
    )


def piloted(of: ScaleConditionals, scales: Floats) -> tuple[Floats, bool]:
    """Return coordinates of some draws, and whether there was time for all of them; `scales` are
    those of the priors of global parameters and sigma.
    """
    theta, sweeps = np.zeros(of.shrunk.size), of.sweeps()
    theta[-1] = np.log(max(float(np.sqrt(of.y @ of.y / of.weight)), np.finfo(float).tiny))
    theta[-1 - of.shrunk.groups : -1] = np.log(np.minimum(scales[:-1], 1.0))
    rng = Rng(seed_sequence(0, "pilot"))  # any will do, but the same in each fit
    kept = [of.map.inverse(theta)]
    try:
        for i in range(PILOT_SWEEPS):
            deadline.check()
            sweeps.sweep(theta, rng, 1)
            if i >= PILOT_WARMUP:
                kept.append(of.map.inverse(theta))
    except OutOfTime:
        return np.array(kept), False
    return np.array(kept[1:]), True
