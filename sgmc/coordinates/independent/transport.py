"""Independent draws of posteriors whose coefficients are normal given log sigma: from standard
normal numbers, by the quantile function of the density of log sigma that is left when the
coefficients are integrated out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from sgmc.arguments.types import Floats
from sgmc.coordinates.transforms.dilation import Dilation
from sgmc.coordinates.transforms.maps import Scaling

FIRST_REACH = 8.0  # sds from the mode within which nearly all of a density is looked for first
NO_DRAWS = 50.0  # nats below the largest log density: nothing beyond is drawn, at 8 sds it is 1e-21
LAST_REACH = 1e4  # sds from the mode: a density that is not lost there is not tabulated
FIRST_CELLS, FINEST_CELLS = 1 << 8, 1 << 14  # cells of the table
SAME_QUANTILES = (
    1e-6  # sds by which quantiles of a table may differ from those of one twice as fine
)
LAST_QUANTILE = 8.3  # normal quantiles of a table; draws beyond it are as rare as 1e-16


@dataclass(frozen=True)
class QuantileTable:
    """The quantile function of a density on the line, as a function of normal quantiles.

    Between its nodes it is the cubic polynomial that has the values and the slopes there.

    Attributes
    ----------
    normal : array (m,)
        Normal quantiles z_i, ascending.
    values : array (m,)
        w_i, with F(w_i) = Phi(z_i).
    slopes : array (m,)
        phi(z_i) / p(w_i).
    """

    normal: Floats
    values: Floats
    slopes: Floats

    def __call__(self, z: Floats) -> Floats:
        """Return quantiles at normal quantiles z, of any shape; along lines beyond the nodes."""
        at, value, slope = self.normal, self.values, self.slopes
        inside = np.clip(z, at[0], at[-1])
        k = np.clip(np.searchsorted(at, inside, side="right") - 1, 0, len(at) - 2)
        step = at[k + 1] - at[k]
        s = (inside - at[k]) / step
        t = 1 - s
        found = t**2 * ((1 + 2 * s) * value[k] + s * step * slope[k])
        found += s**2 * ((1 + 2 * t) * value[k + 1] - t * step * slope[k + 1])
        return found + (z - inside) * np.where(z < inside, slope[0], slope[-1])


def quantiles_of(log_density: Callable[[Floats], Floats]) -> QuantileTable | None:
    """Return the quantile function of a density on the line with its mode near 0 and an sd near 1.

    It is tabulated between the ends beyond which the density is lost, in cells that are halved
    until quantiles change no more (Simpson's rule in each cell).

    Parameters
    ----------
    log_density : callable
        Of points (n,), up to a constant.

    Returns
    -------
    QuantileTable or None
        None where the tails are too long, or cells would be too many.
    """
    ends = reached(log_density)
    if ends is None:
        return None
    coarse, cells = None, FIRST_CELLS
    while cells <= FINEST_CELLS:
        fine = tabulated(log_density, *ends, cells)
        if coarse is not None and fine is not None and alike(coarse, fine):
            return fine
        coarse, cells = fine, 2 * cells
    return None


def reached(log_density: Callable[[Floats], Floats]) -> tuple[float, float] | None:
    """Return two ends beyond which the density is lost; None where they are too far."""
    low, high = -FIRST_REACH, FIRST_REACH
    while max(-low, high) < LAST_REACH:
        w = np.linspace(low, high, FIRST_CELLS + 1)
        value = finite(log_density(w))
        left, right = value[[0, -1]] < value.max() - NO_DRAWS
        if left and right:
            kept = np.flatnonzero(value >= value.max() - NO_DRAWS)
            return float(w[kept[0] - 1]), float(w[kept[-1] + 1])
        low, high = (low if left else 2 * low), (high if right else 2 * high)
    return None


def finite(value: Floats) -> Floats:
    """Return log densities, minus infinity where they are not numbers."""
    return np.where(np.isnan(value), -np.inf, value)


def tabulated(
    log_density: Callable[[Floats], Floats], low: float, high: float, cells: int
) -> QuantileTable | None:
    """Return the quantile function by so many cells between two ends; None where too few of them
    hold nearly all of the probability.
    """
    w = np.linspace(low, high, 2 * cells + 1)
    value = finite(log_density(w))
    density = np.exp(value - value.max())
    mass = (density[:-2:2] + 4 * density[1:-1:2] + density[2::2]) * ((high - low) / (6 * cells))
    below = np.append(0.0, np.cumsum(mass))
    above = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
    total = below[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(below < above, ndtri(below / total), -ndtri(above / total))
        kept = (np.abs(z) < LAST_QUANTILE) & (density[::2] > 0)
        kept[1:] &= np.diff(z) > 0
    if kept.sum() < FIRST_CELLS // 4:
        return None
    z, w, density = z[kept], w[::2][kept], density[::2][kept]
    normal = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return QuantileTable(z, w, normal * total / density)


def alike(coarse: QuantileTable, fine: QuantileTable) -> bool:
    """Return whether two tables have the same quantiles to SAME_QUANTILES sds, and far out, where
    hardly a draw is, to more.
    """
    z = np.linspace(-LAST_QUANTILE, LAST_QUANTILE, 4 * FIRST_CELLS)
    sd = fine(np.array([1.0]))[0] - fine(np.array([0.0]))[0]
    allowed = SAME_QUANTILES * sd * np.exp(0.25 * z**2)
    return bool((np.abs(coarse(z) - fine(z)) < allowed).all())


class Transport:
    """From standard normal numbers to independent draws of a posterior."""

    @property
    def cells(self) -> float | None:
        """Numbers that the weight of a draw takes; None where it takes all rows, or none."""
        return None

    def draws(self, z: Floats) -> Floats:
        """Return draws x (n, dim) of standard normal numbers z (n, dim)."""
        raise NotImplementedError


class WeightedTransport(Transport):
    """From standard normal numbers to independent proposals for a posterior.

    Attributes
    ----------
    plain_sd, skewed_sd : float
        What the sd of log weights of `draws` may be, and about that of `weighted` ones.
    """

    plain_sd: float
    skewed_sd: float

    @property
    def why(self) -> str:
        """What speaks for the proposals, in words."""
        return f"log weights have an sd of {self.skewed_sd:.2g}"

    @property
    def thin(self) -> int:
        """Proposals for a draw, so that each is worth more than a half of an independent one: of
        log weights that are about normal, 0.9 exp(-7 v) at a variance v, measured.
        """
        return max(1, round(0.6 * float(np.exp(7 * self.skewed_sd**2))))

    def weighted(self, z: Floats, share: Floats) -> tuple[Floats, Floats]:
        """Return proposals x (n, dim) and their log weights, up to a constant, (n,), of standard
        normal numbers z (n, dim) and uniform ones (n,).
        """
        raise NotImplementedError


@dataclass(frozen=True)
class ScaledTransport(Transport):
    """Draws of coefficients and log sigma in the coordinates x = (z, w) of `Dilation`.

    With beta = m + L h, u = log sigma = c + R w and r = exp(-2 (u - c)), h_j is normal given u with
    precision a_j = (1 - s_j) r + s_j and mean l_j / a_j, l_j = (g_j + t_j) r - t_j, where g + t and
    -t are the gradients of the log likelihood and of the log prior along L at (m, c).  x_j is
    h_j sqrt(a_j).

    Attributes
    ----------
    map : Dilation
    likelihood, prior : array (d,)
        Gradients g + t and -t at x = 0.
    scales : QuantileTable
        Of w.
    """

    map: Dilation
    likelihood: Floats
    prior: Floats
    scales: QuantileTable

    def draws(self, z: Floats) -> Floats:
        d = self.map.d
        w = self.scales(z[:, d:])
        return np.concatenate([z[:, :d] + shifts(self.map, self.likelihood, self.prior, w), w], 1)


def shifts(map: Dilation, likelihood: Floats, prior: Floats, w: Floats) -> Floats:
    """Return the means l_j / sqrt(a_j) of the first coordinates at points w (n, 1), (n, d)."""
    ratio = np.exp(-2 * map.power * (w @ np.asarray(map.auxiliary)[0]))[:, None]
    return (likelihood * ratio + prior) * map.widths(w)[0]


class Standard(Transport):
    """Draws of a normal posterior, in coordinates where it is standard normal."""

    def draws(self, z: Floats) -> Floats:
        return z


def spread_at_most(values: Floats) -> float:
    """Return what the sd of values (n,) may be, by their own and two of its standard errors, which
    fourth moments tell; NaN where some are not finite.
    """
    away = values - values.mean()
    variance = np.mean(away**2)
    if not variance > 0:
        return float(variance)
    tails = np.mean(away**4) / variance**2
    return float(np.sqrt(variance) * (1 + np.sqrt(max(tails - 1, 0.0) / len(values))))


def scaled_by_draws(transport: Transport, count: int, dim: int) -> Scaling:
    """Return the map from numbers whose means are about zero and sds one to those of a transport of
    `dim` numbers, by so many of its draws.
    """
    # any will do, but the same ones in each fit
    some = transport.draws(np.random.default_rng(0).normal(size=(count, dim)))
    return Scaling(some.mean(axis=0), some.std(axis=0))
