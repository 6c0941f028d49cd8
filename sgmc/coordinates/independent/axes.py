"""Independent proposals of a few numbers: by their density along axes through its middle, and
weights.  With normal errors they are scales of effects and correlations, more than a table has.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

import numpy as np
from scipy.special import ndtr

from sgmc.arguments.types import Floats, Ints
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
WORTH_ENOUGH = 0.75  # from which on other axes gain less than they cost, of densities of rows
DEAR = 1e6  # floating-point operations of a density
LEAST_CONSTANT = 0.1  # of the mean square of a width: it is not zero at sds of zero
LEAST_WORTH = 0.15  # of proposals, in those of equal weights: chains would stay at few of them


@dataclass(frozen=True)
class Widths:
    """How the widths of numbers depend on sds before them: squares are sums of a constant and of
    shares of squared sds, as variances of coefficients are with effects of groups.

    Attributes
    ----------
    sds : callable
        From the first of the numbers (n, q) to sds (n, q), of any sign.
    shares : array (q + 1, k - q)
        Of the constant and of the squared sds in each of the other numbers.
    """

    sds: Callable[[Floats], Floats]
    shares: Floats

    @classmethod
    def of(cls, sds: Any, points: Floats, squares: Floats, weights: Floats) -> Self:
        """Of squares (n, k - q) at points (n, k) that have weights (n,): least squares, then
        weighted by the squares of what they give; no share is below zero.
        """
        q = points.shape[1] - squares.shape[1]
        terms = cls.terms(sds(points[:, :q]))
        shares = np.zeros((q + 1, squares.shape[1]))
        for j, square in enumerate(squares.T):
            own, left = weights, np.arange(q + 1)
            while len(left):
                X = terms[:, left]
                found = np.linalg.lstsq((X.T * own) @ X, X.T @ (own * square))[0]
                if (found < 0).any():
                    left = np.delete(left, found.argmin())
                    continue
                shares[left, j] = found
                if own is not weights:
                    break
                own = weights / (X @ found + LEAST_CONSTANT * (weights @ square)) ** 2
        mean = weights @ squares
        shares[0] = np.maximum(shares[0], LEAST_CONSTANT * mean)
        return cls(sds, shares)

    @staticmethod
    def terms(sds: Floats) -> Floats:
        """Return what is shared, (n, q + 1)."""
        return np.column_stack([np.ones(len(sds)), sds**2])

    def __call__(self, points: Floats) -> Floats:
        """Return the widths at points (n, k), (n, k - q)."""
        return np.sqrt(self.terms(self.sds(points[:, : len(self.shares) - 1])) @ self.shares)


@dataclass(frozen=True)
class Axes:
    """A law of numbers centre + root w, w_j independent, whose log densities are linear between
    nodes; the first `even` ones are folded to positive ones, and what `pairs` says turns its sign
    with theirs.

    Attributes
    ----------
    centre, root : array (k,), (k, k)
        The root is lower triangular.
    logs : array (k, AXIS_CELLS + 1)
        Log densities of w_j at evenly spaced nodes.
    even : int
    pairs : tuple of (int, int, int)
        A place, and those of two of the first whose signs it has.
    widths : Widths or None
        Of what the other numbers differ by from their means given the first.
    """

    centre: Floats
    root: Floats
    logs: Floats
    even: int
    pairs: tuple[tuple[int, int, int], ...]
    widths: Widths | None = None

    def along(self, log_density: Callable[[Floats], Floats]) -> Self:
        """The law by log densities of points (n, k) along the axes through the centre."""
        nodes, k = np.linspace(-AXIS_REACH, AXIS_REACH, AXIS_CELLS + 1), len(self.centre)
        w = (nodes[:, None, None] * np.eye(k)).reshape(-1, k)
        value = log_density(self.folded(self.placed(w)))
        if self.widths is not None:
            value = value + np.log(self.widths(self.placed(w))).sum(axis=1)
        value = value.reshape(len(nodes), k).T
        # a density that is no number is lost, and what is lost is no steeper than tables can be
        value = np.where(np.isnan(value), -np.inf, value) - np.nanmax(value, axis=1, keepdims=True)
        value = np.maximum(value, LOST_ALONG)
        wide = np.array([np.interp(nodes / TIMES_WIDER, nodes, one) for one in value])
        value = np.logaddexp(
            np.log1p(-SHARE_WIDER) + value, np.log(SHARE_WIDER / TIMES_WIDER) + wide
        )
        step = nodes[1] - nodes[0]
        return replace(self, logs=value - np.log(step * masses(value).sum(axis=1))[:, None])

    def __call__(self, z: Floats) -> Floats:
        """Return points (n, k) of standard normal numbers z (n, k)."""
        w = np.stack([drawn(logs, p) for logs, p in zip(self.logs, ndtr(z).T)], axis=1)
        return self.folded(self.placed(w))

    def placed(self, w: Floats) -> Floats:
        """Return points of w (n, k), before they are folded."""
        points = self.centre + w @ self.root.T
        if self.widths is not None:
            means, q = self.means(w), self.even
            points[:, q:] = means[:, q:] + self.widths(points) * (points - means)[:, q:]
        return points

    def means(self, w: Floats) -> Floats:
        """Return points (n, k) whose other numbers are at their means given the first."""
        return self.centre + w[:, : self.even] @ self.root[:, : self.even].T

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
        w, wide = np.linalg.solve(self.root, (points - self.centre).T).T, 0.0
        if self.widths is not None:
            q, widths = self.even, self.widths(points)
            left = (points - self.means(w))[:, q:] / widths
            w[:, q:] = np.linalg.solve(self.root[q:, q:], left.T).T
            wide = np.log(widths).sum(axis=1)
        nodes = np.linspace(-AXIS_REACH, AXIS_REACH, AXIS_CELLS + 1)
        inside = np.abs(w).max(axis=1) <= AXIS_REACH
        parts = [np.interp(one, nodes, logs) for one, logs in zip(w.T, self.logs)]
        return np.where(inside, np.sum(parts, axis=0) - wide, -np.inf)


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
class AlongAxes(WeightedTransport):
    """Proposals of a few numbers by `Axes`, and weights by their density.

    Attributes
    ----------
    axes : Axes
    worth : float
        Of proposals, in those of equal weights.
    """

    axes: Axes
    worth: float = 0.0
    plain_sd: float = np.inf
    skewed_sd: float = np.inf

    @property
    def operations(self) -> float:
        """Floating-point operations of a density, about."""
        raise NotImplementedError

    def log_density(self, points: Floats) -> Floats:
        """Return the log density of folded points (n, k), up to a constant."""
        raise NotImplementedError

    def looked_for(
        self, centre: Floats, covariance: Floats, random: np.random.Generator
    ) -> Self | None:
        """Return the proposals with axes that suit the density; None where weights vary too much.

        Axes are those of the covariance, at first that of the mode, then what weights of some
        proposals show.

        Parameters
        ----------
        centre, covariance : array (k,), (k, k)
            About those of the numbers.
        random : Generator
            Of the proposals that are looked at.
        """
        best, widths, points = None, None, PROPOSALS_A_LOOK + (AXIS_CELLS + 1) * len(centre)
        try:
            for look in range(LOOKS_AT_PROPOSALS):
                deadline.check(operations=points * self.operations)
                root = np.linalg.cholesky(covariance)
                axes = replace(self.axes, centre=centre, root=root, widths=widths)
                with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                    axes = axes.along(self.log_density)
                    made = replace(self, axes=axes)
                    at = axes(random.normal(size=(PROPOSALS_A_LOOK, len(centre))))
                    weight = made.log_weights(at)
                share = np.exp(weight - weight.max())
                share /= share.sum()
                alike = 1 / (share @ share)
                if not alike >= FEWEST_WEIGHTS:
                    break
                if best is None or alike / PROPOSALS_A_LOOK > best.worth:
                    best = replace(made, worth=alike / PROPOSALS_A_LOOK)
                if look and best.worth > self.enough:
                    break
                centre = share @ at
                covariance = (share[:, None] * (at - centre)).T @ (at - centre)
                widths = self.widths(at, share, centre, covariance)
        except np.linalg.LinAlgError:  # a precision that is singular to rounding at some point
            return None
        except deadline.OutOfTime:  # chains begin with what there is
            return None
        return best if best is not None and best.worth > LEAST_WORTH else None

    @property
    def enough(self) -> float:
        """Worth at which no third axes are looked for."""
        return 1.0

    def widths(
        self, points: Floats, weights: Floats, centre: Floats, covariance: Floats
    ) -> Widths | None:
        """Return the widths of axes of that centre and covariance, by points (n, k) with weights
        (n,).
        """
        return None

    @property
    def why(self) -> str:
        """See `WeightedTransport`."""
        return f"by their weights they are worth {100 * self.worth:.0f} % of as many draws"

    @property
    def thin(self) -> int:
        """See `WeightedTransport`: what is of small weight is hardly proposed twice."""
        return max(1, round(1.2 / self.worth))

    def log_weights(self, points: Floats) -> Floats:
        """Return log weights of proposals (n, k)."""
        return self.log_density(points) - self.axes.log_density(points)

    def points(self, z: Floats) -> Floats:
        """Return proposals by the last of standard normal numbers (n, dim)."""
        return self.axes(z[:, -len(self.axes.centre) :])


@dataclass(frozen=True, kw_only=True)
class ProposedScales(AlongAxes):
    """Proposals of (psi, eta, u), and of coefficients and effects, which are normal given them;
    weights are those of (psi, eta, u).

    Attributes
    ----------
    normal : ConditionallyNormal
        Without a table.
    """

    normal: ConditionallyNormal

    @classmethod
    def around(
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

        Parameters
        ----------
        mode, covariance : array (q + k + 1,), (q + k + 1, q + k + 1)
            About those of (phi, eta, u).
        random : Generator
            See `looked_for`.
        loading, parts
            Attributes of `ConditionallyNormal`.
        pairs : tuple
            See `Axes`.
        """
        normal, centre, covariance = ConditionallyNormal.around(
            mode, covariance, loading=loading, **parts
        )
        of = cls(normal=normal, axes=Axes(centre, covariance, covariance, loading.q, pairs))
        return of.looked_for(centre, covariance, random)

    @property
    def operations(self) -> float:
        """See `AlongAxes`."""
        return self.normal.sums.operations

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

    def weighted(self, z: Floats, share: Floats) -> tuple[Floats, Floats]:
        points = self.points(z)
        return self.normal.given(points, z), self.log_weights(points)

    def draws(self, z: Floats) -> Floats:
        return self.normal.given(self.points(z), z)


@dataclass(frozen=True, kw_only=True)
class ProposedParameters(AlongAxes):
    """Proposals of all parameters, by the density of the rows.

    Attributes
    ----------
    density : callable
        Log density of x (n, dim), in the sampler's coordinates.
    map : Map
        From these to the parameters, with a slope that is the same everywhere.
    order : array (dim,) of int
        Places of the points' numbers among the parameters.
    sds : callable
        See `Widths`.
    work : float
        See `operations`.
    """

    density: Callable[[Floats], Floats]
    map: Map
    order: Ints
    sds: Callable[[Floats], Floats]
    work: float

    @property
    def operations(self) -> float:
        """See `AlongAxes`."""
        return self.work

    @property
    def enough(self) -> float:
        """See `AlongAxes`: a look costs a fifth of all draws."""
        return WORTH_ENOUGH

    def widths(self, points: Floats, weights: Floats, centre: Floats, covariance: Floats) -> Widths:
        """See `AlongAxes`."""
        q = self.axes.even
        w = np.linalg.solve(np.linalg.cholesky(covariance), (points - centre).T).T
        return Widths.of(self.sds, points, w[:, q:] ** 2, weights)

    @property
    def thin(self) -> int:
        """See `WeightedTransport`; where a density costs more than the checks of a draw, one
        proposal in a draw will do.
        """
        return super().thin if self.work < DEAR else 1

    def sampled(self, points: Floats) -> Floats:
        """Return x (n, dim) of points (n, dim)."""
        theta = np.empty_like(points)
        theta[:, self.order] = points
        return np.array([self.map.inverse(one) for one in theta])

    def log_density(self, points: Floats) -> Floats:
        return self.density(self.sampled(points))

    def weighted(self, z: Floats, share: Floats) -> tuple[Floats, Floats]:
        points = self.points(z)
        x = self.sampled(points)
        return x, self.density(x) - self.axes.log_density(points)

    def draws(self, z: Floats) -> Floats:
        return self.sampled(self.points(z))
