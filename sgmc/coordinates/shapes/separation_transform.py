"""Coordinates for coefficients of lopsided columns: no, or hardly any, contrary outcomes.

Without any (quasi-complete separation) a coefficient's posterior is its prior cut off where the
data begin to speak: about half a normal with a wall at one end, which no Gaussian at the mode
describes and no Langevin step survives; with k of them it is skewed, by about 1/sqrt(k).  Its
density along t, all else at the mode, is that of the prior and of m rows whose linear predictor
moves with t; the coordinate x with t = F^-1(Phi(x)) is standard normal.

Columns of several factors have rows in common.  A wall stands for rows of its own: those of a
column that lies within another are taken out of the other, and a column that has hardly any rows
of its own beside the others is left to the Gaussian approximation.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from sgmc.coordinates.approximations.mode import Mode
from sgmc.coordinates.priors.prior_curve import prior_curve
from sgmc.coordinates.transforms.maps import Affine, Warp
from sgmc.coordinates.transforms.warped import Warped
from sgmc.coordinates.whitened.whitening import Coordinates, whitener
from sgmc.core.contract import Anchor
from sgmc.core.designs.design import design

GRID = np.linspace(-7.5, 7.5, 961)
# nodes reach as far as the grid does: Phi(-8.25) = 8e-17 of the mass lies beyond
BEYOND = 1e-18
FARTHEST = 1e100  # squares of it are still numbers
DISTANCES = np.geomspace(1e-8, FARTHEST, 1250)  # at which the end of a density is looked for
BEND = 0.5  # log density lost at the distance up to which nodes are evenly spaced
WALL_NODES = 6001  # on each side
PREDICTORS = np.sinh(np.linspace(-2.5, 25.0, 3001))  # at which scores of a row are tabulated
NESTED = 1e-3  # share of a column's information outside another one that counts as none
COUNTED = "rows", "contrary"
OWN = 0.1  # share of a wall's information that comes from rows without other walls, at least


@dataclass(frozen=True)
class Outcomes:
    """The likelihood of single rows along t, where their linear predictor is `usual` times t.

    Attributes
    ----------
    family : Binary
    usual : int
        Sign of the linear predictor that the usual outcome asks for.
    """

    family: type
    usual: int

    def __call__(self, contrary, t):
        """Log density of the usual outcome, or of the contrary one, and its derivative."""
        y, eta = float((self.usual > 0) != contrary), self.usual * t
        row = self.family.kernel(design(np.zeros((len(t), 1))), np.full(len(t), y), eta, None)
        scores = np.asarray(Anchor(row, np.zeros(1)).scores)
        return self.family.log_density(y, eta), self.usual * scores

    def wall(self, rows, contrary, pull):
        """How far from t = 0 the linear predictor of rows is 0, where their log density has a slope
        of `pull` at t = 0.
        """
        slope = (rows - contrary) * self(False, PREDICTORS)[1]
        if contrary:
            slope = slope + contrary * self(True, PREDICTORS)[1]
        # it falls from its highest place to its lowest one: beyond these, cauchit's rises
        first = slope[PREDICTORS < 0].argmax()
        falling = slice(first, first + slope[first:].argmin() + 1)
        return -np.interp(-pull, -slope[falling], PREDICTORS[falling])


@dataclass(frozen=True)
class SeparatedDensity:
    """The density of one coordinate t, which grows towards the usual outcome, up to a constant;
    t = 0 is the mode.

    Attributes
    ----------
    prior : PriorSpec
        Of t.
    rows, contrary, wall : float
        m, k, and where the m rows would each be undecided.
    outcomes : Outcomes
    """

    prior: object
    rows: float
    contrary: float
    wall: float
    outcomes: Outcomes

    def log(self, t):
        """log f and its derivative."""
        value, slope = prior_curve(self.prior, t)
        for contrary, rows in ((False, self.rows - self.contrary), (True, self.contrary)):
            if rows:
                more, steeper = self.outcomes(contrary, t - self.wall)
                value, slope = value + rows * more, slope + rows * steeper
        return value, slope

    def nodes(self):
        """Nodes from end to end of the density: evenly spaced near the mode, then ever farther
        apart.
        """
        with np.errstate(all="ignore"):  # far out
            middle = self.log(np.zeros(1))[0]
            sides = [self.log(sign * DISTANCES)[0] for sign in (-1, 1)]
        peak = max(middle[0], np.nanmax(sides))
        bent = min(DISTANCES[np.argmax(~(np.abs(side - middle) < BEND))] for side in sides)
        left, right = (
            DISTANCES[
                np.argmax(
                    np.append(~(peak - side - np.log(DISTANCES) < -np.log(BEYOND))[:-1], True)
                )
            ]
            for side in sides
        )
        return np.concatenate(
            [
                -bent * np.sinh(np.linspace(np.arcsinh(left / bent), 0.0, WALL_NODES)),
                bent * np.sinh(np.linspace(0.0, np.arcsinh(right / bent), WALL_NODES))[1:],
            ]
        )

    def quantiles(self):
        """t, log dt/dx and its derivative at GRID, for x standard normal."""
        return quantiles(self.log, self.nodes())


def quantiles(log, t, grid=GRID):
    """t, log dt/dx and its derivative on a grid, for x standard normal and a density of t.

    Parameters
    ----------
    log : callable
        The log density, up to a constant, and its derivative.
    t : array
        Nodes that the density is integrated by.
    """
    from scipy import integrate, interpolate  # only here: they take long to import

    log_f, _ = log(t)
    peak = log_f.max()
    density = np.exp(log_f - peak)
    below = integrate.cumulative_simpson(density, x=t, initial=0.0)
    above = integrate.cumulative_simpson(density[::-1], x=-t[::-1], initial=0.0)[::-1]
    total = np.log(below[-1]) + peak
    x = np.where(below < above, special.ndtri(below / below[-1]), -special.ndtri(above / below[-1]))
    good = (np.abs(x) < 1.1 * grid[-1]) & np.append(True, x[1:] > x[:-1])
    steep = -0.5 * x[good] ** 2 - 0.5 * np.log(2 * np.pi) + total - log_f[good]
    at = interpolate.CubicHermiteSpline(x[good], t[good], np.exp(steep))(grid)
    value, slope = log(at)
    log_dt = -0.5 * grid**2 - 0.5 * np.log(2 * np.pi) + total - value
    return at, log_dt, -grid - np.exp(log_dt) * slope


def separated_density(wall, prior, mode, outcomes, pull):
    """The `SeparatedDensity` of a wall along t, by which its coefficient grows by 1 / (usual gap);
    `pull` is the log prior's slope along t at the mode: with its sign reversed it is the
    likelihood's.
    """
    unit = wall.usual * wall.gap
    return SeparatedDensity(
        replace(prior, location=(prior.location - mode) * unit, scale=prior.scale * abs(unit)),
        wall.rows,
        wall.contrary,
        outcomes.wall(wall.rows, wall.contrary, -pull),
        outcomes,
    )


def disjoint_walls(walls, information):
    """Make the rows of walls disjoint where one column's lie within another's, and choose walls
    that have rows of their own.

    Parameters
    ----------
    walls : list of Wall
    information : array (k, k)
        Of the rows at the mode about the rows' linear predictors, each wall's moving with its t.

    Returns
    -------
    basis : array (k, k)
        Column j: what is to be added to each t for a t that moves the rows left to wall j alone.
    walls : list of Wall
        With the rows that are left.
    chosen : array (k,) of bool
        Walls that have rows of their own.  Of these the information's diagonal dominates: it is far
        from singular.
    """
    k = len(walls)
    basis, walls, W = np.eye(k), list(walls), np.array(information)
    usual = np.array([w.usual for w in walls])
    order = np.argsort(np.diag(W), kind="stable")
    for place, j in enumerate(order):
        for i in order[:place][::-1]:
            within = W[i, i] > 0 and W[i, j] >= (1 - NESTED) * W[i, i]
            if not (within and usual[i] == usual[j]):
                continue
            basis[:, j] -= basis[:, i]
            W[j] -= W[i]
            W[:, j] -= W[:, i]
            rows, contrary = (getattr(walls[j], a) - getattr(walls[i], a) for a in COUNTED)
            walls[j] = replace(walls[j], rows=rows, contrary=contrary)
    size = np.diag(W)
    chosen = (size > 0) & [w.rows > w.contrary >= 0 for w in walls]
    while chosen.any():
        others = np.abs(W[:, chosen]).sum(axis=1) - np.abs(size)
        own = np.where(chosen, size - others, np.inf) / np.where(chosen, size, 1.0)
        if own.min() >= OWN:
            break
        chosen[own.argmin()] = False
    return basis, walls, chosen


def separation_coordinates(mode, back, walls, prior_gradient, priors, intercept, rotate, family):
    """Coordinates with a quantile map for the walls.

    Parameters
    ----------
    mode : Mode
        In phi.
    back : array (d, d)
        theta = back phi.
    walls : list of Wall
    prior_gradient : array (d,)
        Gradient of the log prior at the mode.
    priors : list of PriorSpec
    intercept : int
    rotate : bool
        Whether the table will be rotated into natural coordinates y; else these are phi, and the
        map ends there.
    family : Binary
    """
    d, columns = len(mode.theta), np.array([w.column for w in walls])
    units = np.array([1 / (w.usual * w.gap) for w in walls])
    basis = np.eye(d)  # phi = basis psi: psi_j moves the linear predictors of the wall's rows alone
    basis[columns, columns] = units
    basis[intercept, columns] -= [w.common * u for w, u in zip(walls, units)]
    moved = basis[:, columns]
    among, walls, chosen = disjoint_walls(walls, moved.T @ mode.likelihood @ moved)
    basis[:, columns] = moved @ among
    heavy = any(priors[w.column].family == "student_t" and w.contrary == 0 for w in walls)
    walls, columns = [w for w, taken in zip(walls, chosen) if taken], columns[chosen]
    k, rest = len(walls), np.setdiff1d(np.arange(d), columns)
    likelihood, prior = (basis.T @ part @ basis for part in (mode.likelihood, mode.prior))
    # psi = mode + spread y, walls first: what else moves keeps the linear predictors of their rows
    # where they are, by least squares
    spread = np.zeros((d, d))
    spread[columns, range(k)] = 1.0
    spread[rest, range(k, d)] = 1.0
    spread[np.ix_(columns, range(k, d))] = -np.linalg.solve(
        likelihood[np.ix_(columns, columns)], likelihood[np.ix_(columns, rest)]
    )
    path, psi = spread[:, k:], np.linalg.solve(basis, mode.theta)
    L, _ = whitener(Mode(psi[rest], path.T @ likelihood @ path, path.T @ prior @ path))
    spread[:, k:] = path @ L
    pull = basis.T @ prior_gradient
    ramps = [
        separated_density(
            w, priors[w.column], mode.theta[w.column], Outcomes(family, w.usual), pull[w.column]
        )
        for w in walls
    ]
    values, log_slopes, bends = np.reshape([r.quantiles() for r in ramps], (k, 3, -1)).swapaxes(
        0, 1
    )
    weight = np.exp(-0.5 * GRID**2) / np.exp(-0.5 * GRID**2).sum()
    sd = np.ones(d)
    sd[:k] = np.sqrt(values**2 @ weight - (values @ weight) ** 2)
    A, b = basis @ spread, basis @ psi
    warp = Warp(d, GRID, values, log_slopes, bends)
    common = dict(
        L=A,
        origin=b,
        back=back,
        white=back @ A * sd,
        max_precision=1.0,
        min_precision=1.0,
        heavy=heavy,
        walled=True,
    )
    if rotate:
        return Coordinates(
            rotated=True, map=warp, to_theta=back @ A, theta_centre=back @ b, **common
        )
    return Coordinates(
        rotated=False,
        map=Warped(Affine(b, A), warp),
        to_theta=back,
        theta_centre=np.zeros(d),
        **common,
    )
