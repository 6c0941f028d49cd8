"""Independent proposals of regressions with normal errors that have more scales of effects, or
correlations, than a table: by the density along axes through its middle, and weights.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

import numpy as np
from scipy.special import ndtr

from sgmc.arguments.types import Floats
from sgmc.coordinates.independent.integrated import ConditionallyNormal, Sds, Sums
from sgmc.coordinates.independent.transport import WeightedTransport
from sgmc.core.contract import Map
from sgmc.core.system import deadline

LOST_ALONG = -1e3  # nats
AXIS_REACH = 7.0  # sds from the middle, to either side
AXIS_CELLS = 56
# share of a law so many times as wide along each axis: tails are longer there where a scale beside
# is small
SHARE_WIDER, TIMES_WIDER = 0.05, 3.0
LOOKS_AT_PROPOSALS = 4  # whose weights tell where the density is
PROPOSALS_A_LOOK = 512
FEWEST_WEIGHTS = 24.0  # proposals of a look, in those of equal weights, that tell a covariance
SIGNS_APART = 8.0  # sds from zero of coordinates that may have either sign
LEAST_WORTH = 0.15  # of proposals, in those of equal weights: chains would stay at few of them


@dataclass(frozen=True)
class Axes:
    """A law of numbers centre + root w, w_j independent, whose log densities are linear between
    nodes; the first `even` ones are folded to positive ones, and what `pairs` says turns its sign
    with theirs.

    Attributes
    ----------
    centre, root : array (k,), (k, k)
    logs : array (k, AXIS_CELLS + 1)
        Log densities of w_j at evenly spaced nodes.
    even : int
    pairs : tuple of (int, int, int)
        A place, and those of two of the first whose signs it has.
    """

    centre: Floats
    root: Floats
    logs: Floats
    even: int
    pairs: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, log_density: Any, centre: Floats, root: Floats, even: int, pairs: Any) -> Self:
        """Of a log density of points (n, k), along the axes through a centre."""
        nodes, k = np.linspace(-AXIS_REACH, AXIS_REACH, AXIS_CELLS + 1), len(centre)
        made = cls(centre, root, np.zeros((k, AXIS_CELLS + 1)), even, pairs)
        points = centre + nodes[:, None, None] * root.T
        value = log_density(made.folded(points.reshape(-1, k)))
        value = value.reshape(len(nodes), k).T
        # a density that is no number is lost, and what is lost is no steeper than tables can be
        value = np.where(np.isnan(value), -np.inf, value) - np.nanmax(value, axis=1, keepdims=True)
        value = np.maximum(value, LOST_ALONG)
        wide = np.array([np.interp(nodes / TIMES_WIDER, nodes, one) for one in value])
        value = np.logaddexp(
            np.log1p(-SHARE_WIDER) + value, np.log(SHARE_WIDER / TIMES_WIDER) + wide
        )
        step = nodes[1] - nodes[0]
        return replace(made, logs=value - np.log(step * masses(value).sum(axis=1))[:, None])

    def __call__(self, z: Floats) -> Floats:
        """Return points (n, k) of standard normal numbers z (n, k)."""
        w = np.stack([drawn(logs, p) for logs, p in zip(self.logs, ndtr(z).T)], axis=1)
        return self.folded(self.centre + w @ self.root.T)

    def signed(self, points: Floats, signs: Floats) -> Floats:
        """Return points (n, k) whose first numbers are times signs (.., even)."""
        out = points.copy()
        out[:, : self.even] *= signs
        for place, i, j in self.pairs:
            out[:, place] *= signs[..., i] * signs[..., j]
        return out

    def folded(self, points: Floats) -> Floats:
        """Return points (n, k) with positive first numbers."""
        return self.signed(points, np.where(points[:, : self.even] < 0, -1.0, 1.0))

    def log_density(self, points: Floats) -> Floats:
        """Return the log density of folded points (n, k), up to a constant."""
        sd = np.sqrt((self.root[: self.even] ** 2).sum(axis=1))
        near = self.centre[: self.even] < SIGNS_APART * sd
        found = [
            self.unfolded(self.signed(points, np.array(signs)))
            for signs in product(*[(1.0, -1.0) if one else (1.0,) for one in near])
        ]
        return np.logaddexp.reduce(found)

    def unfolded(self, points: Floats) -> Floats:
        """Return the log density of points (n, k) before they are folded, up to a constant."""
        w = np.linalg.solve(self.root, (points - self.centre).T)
        nodes = np.linspace(-AXIS_REACH, AXIS_REACH, AXIS_CELLS + 1)
        inside = np.abs(w).max(axis=0) <= AXIS_REACH
        parts = [np.interp(one, nodes, logs) for one, logs in zip(w, self.logs)]
        return np.where(inside, np.sum(parts, axis=0), -np.inf)


def masses(logs: Floats) -> Floats:
    """Return integrals over cells of length one of exp of what is linear between nodes
    (.., m + 1), (.., m).
    """
    rise = np.diff(logs, axis=-1)
    flat = np.abs(rise) < 1e-6
    mean = np.where(flat, 1 + rise / 2, np.expm1(rise) / np.where(flat, 1.0, rise))
    return np.exp(logs[..., :-1]) * mean


def drawn(logs: Floats, p: Floats) -> Floats:
    """Return quantiles at values p (n,) of the distribution function of a law with log densities
    (AXIS_CELLS + 1,).
    """
    mass = masses(logs)
    below = np.append(0.0, np.cumsum(mass))
    at = np.clip(np.searchsorted(below, p * below[-1], side="right") - 1, 0, AXIS_CELLS - 1)
    rise, part = np.diff(logs)[at], np.clip((p * below[-1] - below[at]) / mass[at], 0.0, 1.0)
    flat = np.abs(rise) < 1e-6
    inner = np.log1p(part * np.expm1(rise)) / np.where(flat, 1.0, rise)
    return -AXIS_REACH + 2 * AXIS_REACH / AXIS_CELLS * (at + np.where(flat, part, inner))


@dataclass(frozen=True, kw_only=True)
class ProposedScales(WeightedTransport):
    """Proposals of (psi, eta, u) by `Axes`, and of coefficients and effects, which are normal given
    them; weights are those of (psi, eta, u).

    Attributes
    ----------
    normal : ConditionallyNormal
        Without a table.
    axes : Axes
    worth : float
        Of proposals, in those of equal weights.
    """

    normal: ConditionallyNormal
    axes: Axes
    worth: float = 0.0
    plain_sd: float = np.inf
    skewed_sd: float = np.inf

    @classmethod
    def looked_for(
        cls,
        mode: Floats,
        covariance: Floats,
        random: np.random.Generator,
        *,
        loading: Sds,
        pairs: tuple[tuple[int, int, int], ...],
        **parts: Any,
    ) -> Self | None:
        """Return the proposals; None where their weights vary too much.

        Axes are those of the covariance, at first that of the mode, then what weights of some
        proposals show.

        Parameters
        ----------
        mode, covariance : array (q + k + 1,), (q + k + 1, q + k + 1)
            About those of (phi, eta, u).
        random : Generator
            Of the proposals that are looked at.
        loading, parts
            Attributes of `ConditionallyNormal`.
        pairs : tuple
            See `Axes`.
        """
        normal, centre, covariance = ConditionallyNormal.around(
            mode, covariance, loading=loading, **parts
        )
        of = cls(normal=normal, axes=Axes(centre, covariance, covariance, loading.q, pairs))
        best, points = None, PROPOSALS_A_LOOK + (AXIS_CELLS + 1) * len(mode)
        try:
            for _ in range(LOOKS_AT_PROPOSALS):
                deadline.check(operations=points * normal.sums.operations)
                root = np.linalg.cholesky(covariance)
                with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                    axes = Axes.of(of.log_density, centre, root, loading.q, pairs)
                    made = replace(of, axes=axes)
                    at = axes(random.normal(size=(PROPOSALS_A_LOOK, len(mode))))
                    weight = made.log_weights(at)
                share = np.exp(weight - weight.max())
                share /= share.sum()
                alike = 1 / (share @ share)
                if not alike >= FEWEST_WEIGHTS:
                    break
                if best is None or alike / PROPOSALS_A_LOOK > best.worth:
                    best = replace(made, worth=alike / PROPOSALS_A_LOOK)
                centre = share @ at
                covariance = (share[:, None] * (at - centre)).T @ (at - centre)
        except np.linalg.LinAlgError:  # a precision that is singular to rounding at some point
            return None
        except deadline.OutOfTime:  # chains begin with what there is
            return None
        return best if best is not None and best.worth > LEAST_WORTH else None

    @property
    def why(self) -> str:
        """See `WeightedTransport`."""
        return f"by their weights they are worth {100 * self.worth:.0f} % of as many draws"

    @property
    def thin(self) -> int:
        """See `WeightedTransport`: what is of small weight is hardly proposed twice."""
        return max(1, round(1.2 / self.worth))

    @property
    def sums(self) -> Sums:
        """What rows tell."""
        return self.normal.sums

    def behind(self, map: Map) -> Self:
        """Return the same proposals in other coordinates, from which a map leads to natural
        ones.
        """
        return replace(self, normal=self.normal.behind(map))

    def log_density(self, points: Floats) -> Floats:
        """Return the log density of folded (psi, eta, u), (n, k)."""
        return self.normal.log_density(points[:, :-1], points[:, -1:])[:, 0]

    def log_weights(self, points: Floats) -> Floats:
        """Return log weights of proposals (n, k)."""
        return self.log_density(points) - self.axes.log_density(points)

    def points(self, z: Floats) -> Floats:
        """Return proposals of (psi, eta, u)."""
        return self.axes(z[:, -len(self.axes.centre) :])

    def weighted(self, z: Floats, share: Floats) -> tuple[Floats, Floats]:
        points = self.points(z)
        return self.normal.given(points, z), self.log_weights(points)

    def draws(self, z: Floats) -> Floats:
        return self.normal.given(self.points(z), z)
