"""Coordinates for coefficients of lopsided columns: no, or hardly any, contrary outcomes.

Without any (quasi-complete separation) a coefficient's posterior is its prior cut off where the
data begin to speak: about half a normal with a wall at one end, which no Gaussian at the mode
describes and no Langevin step survives; with k of them it is skewed, by about 1/sqrt(k).  Its
density along t, all else at the mode, is f(t) = prior(t) (1 + exp(wall - t))^-m exp(-k t) for m
rows; the coordinate x with t = F^-1(Phi(x)) is standard normal.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import integrate, interpolate, special

from sgmc.coordinates.maps import Affine, Warp
from sgmc.coordinates.mode import Mode
from sgmc.coordinates.prior_curve import prior_curve
from sgmc.coordinates.warped import Warped
from sgmc.coordinates.whitening import Coordinates, whitener

GRID = np.linspace(-7.5, 7.5, 961)
WALLED_SIDE_LOSS = 60.0  # log density lost at the end of the walled side
# on the free side nodes reach as far as the grid does: Phi(-8.25) = 8e-17 of the prior lies beyond
BEYOND = 1e-18
FARTHEST = 1e100  # in prior scales: squares of it are still numbers
NORMAL_REACH, LAPLACE_REACH = 12.0, -np.log(BEYOND)  # in prior scales


@dataclass(frozen=True)
class Ramp:
    """The density of one coordinate t, which grows towards the usual outcome, up to a constant;
    t = 0 is the mode.

    Attributes
    ----------
    prior : PriorSpec
        Of t.
    rows, contrary, wall : float
        m, k, and where the m rows would each be undecided.
    """

    prior: object
    rows: float
    contrary: float
    wall: float

    def log(self, t):
        """log f and its derivative."""
        value, slope = prior_curve(self.prior, t)
        gap = self.wall - t
        return (
            value - self.rows * np.logaddexp(0, gap) - self.contrary * t,
            slope + self.rows * special.expit(gap) - self.contrary,
        )

    def reach(self, unit):
        """How far beyond its location the prior has mass that counts, where `unit` of it is the
        size of what the data leave: a t's tail falls as t^-df.
        """
        if self.prior.family == "student_t":
            return unit * min(BEYOND ** (-1 / self.prior.df), FARTHEST)
        far = LAPLACE_REACH if self.prior.family == "laplace" else NORMAL_REACH
        return self.prior.scale * far

    def quantiles(self):
        """t, log dt/dx and its derivative at GRID, for x standard normal."""
        near = self.wall - WALLED_SIDE_LOSS / (self.rows - self.contrary)
        turn, scale = self.wall + 30.0, self.prior.scale
        bulk = max(turn + 1.0, self.prior.location + NORMAL_REACH * scale)
        unit = max(scale, turn - self.prior.location)
        far = max(bulk + 1.0, self.prior.location + self.reach(unit))
        nodes = (
            np.linspace(near, turn, 6001),
            np.linspace(turn, bulk, 6001),
            bulk + unit * np.sinh(np.linspace(0.0, np.arcsinh((far - bulk) / unit), 6001)),
        )
        return quantiles(self.log, np.unique(np.concatenate(nodes)))


def quantiles(log, t, grid=GRID):
    """t, log dt/dx and its derivative on a grid, for x standard normal and a density of t.

    Parameters
    ----------
    log : callable
        The log density, up to a constant, and its derivative.
    t : array
        Nodes that the density is integrated by.
    """
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


def ramp(wall, prior, mode, unit, pull):
    """The ramp of a wall: `unit` is psi's change for a change of one in t, `pull` the log prior's
    slope along t at the mode.

    At the mode the expected contrary outcomes exceed the observed ones by minus that slope.
    """
    expected = min(max(wall.contrary - pull, 1e-12), 0.99 * wall.rows)
    scaled = replace(prior, location=(prior.location - mode) / unit, scale=prior.scale / abs(unit))
    return Ramp(
        scaled,
        wall.rows,
        wall.contrary,
        np.log(expected / (wall.rows - expected)),
    )


def walled_coordinates(mode, back, walls, prior_gradient, priors, intercept, rotate):
    """Coordinates with a quantile map for the walls.

    Parameters
    ----------
    mode : Mode
        In phi.
    back : array (d, d)
        theta = back phi.
    walls : list of Wall
    prior_gradient : array (d,)
        Gradient of the log prior at the mode.  With its sign reversed it is the likelihood's: the
        contrary outcomes that the mode still expects.
    priors : list of PriorSpec
    intercept : int
    rotate : bool
        Whether the table will be rotated into natural coordinates y; else these are phi, and the
        map ends there.
    """
    d, columns = len(mode.theta), [w.column for w in walls]
    rest = [j for j in range(d) if j not in columns]
    basis = np.eye(d)  # phi = basis psi: psi_j moves the rare value's rows alone
    for w in walls:
        basis[intercept, w.column] -= w.common
    psi = np.linalg.solve(basis, mode.theta)
    pull = (basis.T @ prior_gradient)[columns]
    H, P = basis.T @ mode.precision @ basis, basis.T @ mode.prior @ basis
    informed = np.diag(H - P)[columns]  # what the lopsided rows say of their own coefficients
    # keeps those rows' linear predictors where they are
    answer = -(H - P)[np.ix_(columns, rest)] / informed[:, None]
    inner = H[np.ix_(rest, rest)] - answer.T @ (informed[:, None] * answer)
    L, _ = whitener(Mode(psi[rest], inner - P[np.ix_(rest, rest)], P[np.ix_(rest, rest)]))
    # of psi in t, the rows' linear predictor
    units = np.array([1 / (w.usual * w.gap) for w in walls])
    spread = np.zeros((d, d))  # psi = mode + spread y, walls first
    spread[columns, range(len(columns))] = units
    spread[np.ix_(rest, range(len(columns), d))] = L
    spread[np.ix_(columns, range(len(columns), d))] = answer @ L
    ramps = [
        ramp(w, priors[w.column], psi[w.column], u, p * u) for w, u, p in zip(walls, units, pull)
    ]
    values, log_slopes, bends = map(np.array, zip(*(r.quantiles() for r in ramps)))
    weight = np.exp(-0.5 * GRID**2) / np.exp(-0.5 * GRID**2).sum()
    sd = np.ones(d)
    sd[: len(columns)] = np.sqrt(values**2 @ weight - (values @ weight) ** 2)
    A, b = basis @ spread, basis @ psi
    warp = Warp(d, GRID, values, log_slopes, bends)
    common = dict(
        L=A,
        origin=b,
        back=back,
        white=back @ A * sd,
        max_precision=1.0,
        min_precision=1.0,
        heavy=any(priors[w.column].family == "student_t" and w.contrary == 0 for w in walls),
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
