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
LARGER = 3.0  # sds by which an sd is larger where curvatures are taken
LEAST_CONSTANT = 0.02  # of a variance, as it is in the middle: it is not zero at sds of zero
MOST_WIDER = 2.0  # times the variances of normal laws
LEAST_WORTH = 0.15  # of proposals, in those of equal weights: chains would stay at few of them


@dataclass(frozen=True)
class Spread:
    """The covariance of numbers given those before them, of which effects of groups have the
    covariance Sigma: constant + along Sigma along', as that of coefficients whose columns effects
    have, too.

    Attributes
    ----------
    sigma : callable
        From the first of the numbers (n, h) to Sigma (n, q, q).
    head : int
        How many these are.
    constant, along : array (t, t), (t, q)
    """

    sigma: Callable[[Floats], Floats]
    head: int
    constant: Floats
    along: Floats

    @classmethod
    def of(cls, sigma: Any, head: int, points: Floats, covariances: Floats) -> Self:
        """By covariances (q + 1, t, t) at points (q + 1, k), the second of which has a larger first
        sd than the first one, the third a larger second one, ...
        """
        known = sigma(points[:, :head])
        unit = np.sqrt(covariances[0].diagonal())
        whole = covariances / np.outer(unit, unit)
        along = np.zeros((len(unit), len(known) - 1))
        for a in range(along.shape[1]):
            more = known[a + 1, a, a] - known[0, a, a]
            values, vectors = np.linalg.eigh(whole[a + 1] - whole[0])
            # one direction: that of the effect.  Its sign is that of the coefficient it moves most
            if more > 0 and values[-1] > 0:
                way = vectors[:, -1]
                along[:, a] = way * np.sign(way[np.abs(way).argmax()]) * np.sqrt(values[-1] / more)
        values, vectors = np.linalg.eigh(whole[0] - along @ known[0] @ along.T)
        constant = (vectors * np.maximum(values, LEAST_CONSTANT)) @ vectors.T
        return cls(sigma, head, constant * np.outer(unit, unit), along * unit[:, None])

    def __call__(self, points: Floats) -> Floats:
        """Return the covariances at points (n, k), (n, t, t)."""
        return self.constant + self.along @ self.sigma(points[:, : self.head]) @ self.along.T


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
    spread : Spread or None
        Of what the last numbers differ by from their means given the others, in the place of the
        root's.
    """

    centre: Floats
    root: Floats
    logs: Floats
    even: int
    pairs: tuple[tuple[int, int, int], ...]
    spread: Spread | None = None

    def along(self, log_density: Callable[[Floats], Floats]) -> Self:
        """The law by log densities of points (n, k) along the axes through the centre."""
        nodes, k = np.linspace(-AXIS_REACH, AXIS_REACH, AXIS_CELLS + 1), len(self.centre)
        points = self.placed((nodes[:, None, None] * np.eye(k)).reshape(-1, k))
        value = log_density(self.folded(points)) + self.widths(self.roots(points))
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

    def roots(self, points: Floats) -> Floats | None:
        """Return the roots of `spread` at points (n, k), of any signs, (n, t, t); None without."""
        return None if self.spread is None else np.linalg.cholesky(self.spread(self.folded(points)))

    def widths(self, roots: Floats | None) -> Any:
        """Return log determinants of such roots, less that of `root`."""
        if self.spread is None or roots is None:
            return 0.0
        usual = np.log(self.root.diagonal()[self.spread.head :]).sum()
        return np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1) - usual

    def placed(self, w: Floats) -> Floats:
        """Return points of w (n, k), before they are folded."""
        points = self.centre + w @ self.root.T
        if self.spread is not None:
            h = self.spread.head
            points[:, h:] = self.means(w) + (self.roots(points) @ w[:, h:, None])[..., 0]
        return points

    def means(self, w: Floats) -> Floats:
        """Return the means of the last numbers given the others, (n, t)."""
        h = self.spread.head
        return self.centre[h:] + w[:, :h] @ self.root[h:, :h].T

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
        near, roots = self.centre[: self.even] < SIGNS_APART * sd, self.roots(points)
        found = [
            self.unfolded(self.signed(points, np.array(signs)), roots)
            for signs in product(*[(1.0, -1.0) if one else (1.0,) for one in near])
        ]
        return np.logaddexp.reduce(found)

    def unfolded(self, points: Floats, roots: Floats | None) -> Floats:
        """Return the log density of points (n, k) before they are folded, up to a constant, by the
        `roots` there.
        """
        w = np.linalg.solve(self.root, (points - self.centre).T).T
        if self.spread is not None:
            h = self.spread.head
            left = points[:, h:] - self.means(w)
            w[:, h:] = np.linalg.solve(roots, left[..., None])[..., 0]
        nodes = np.linspace(-AXIS_REACH, AXIS_REACH, AXIS_CELLS + 1)
        inside = np.abs(w).max(axis=1) <= AXIS_REACH
        parts = [np.interp(one, nodes, logs) for one, logs in zip(w.T, self.logs)]
        return np.where(inside, np.sum(parts, axis=0) - self.widths(roots), -np.inf)


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
        best, spread, points = None, None, PROPOSALS_A_LOOK + (AXIS_CELLS + 1) * len(centre)
        try:
            for look in range(LOOKS_AT_PROPOSALS):
                deadline.check(operations=points * self.operations)
                root = np.linalg.cholesky(covariance)
                axes = replace(self.axes, centre=centre, root=root, spread=spread)
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
                spread = self.spread(centre, covariance, at, share)
        except np.linalg.LinAlgError:  # a precision that is singular to rounding at some point
            return None
        except deadline.OutOfTime:  # chains begin with what there is
            return None
        return best if best is not None and best.worth > LEAST_WORTH else None

    @property
    def enough(self) -> float:
        """Worth at which no third axes are looked for."""
        return 1.0

    def spread(
        self, centre: Floats, covariance: Floats, points: Floats, weights: Floats
    ) -> Spread | None:
        """Return the `Spread` of axes of that centre and covariance, with which points (n, k) that
        have weights (n,) agree.
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
    curvature : callable
        Of a point (dim,), minus the second derivatives of the log density, (dim, dim).
    sigma, head
        See `Spread`.
    work : float
        See `operations`.
    """

    density: Callable[[Floats], Floats]
    map: Map
    order: Ints
    curvature: Callable[[Floats], Floats]
    sigma: Callable[[Floats], Floats]
    head: int
    work: float

    @property
    def operations(self) -> float:
        """See `AlongAxes`."""
        return self.work

    @property
    def enough(self) -> float:
        """See `AlongAxes`: a look costs a fifth of all draws."""
        return WORTH_ENOUGH

    def spread(
        self, centre: Floats, covariance: Floats, points: Floats, weights: Floats
    ) -> Spread | None:
        """See `AlongAxes`: by the curvatures of the density where each sd is larger."""
        root, h, even = np.linalg.cholesky(covariance), self.head, self.axes.even
        places = centre + LARGER * np.eye(even + 1, len(centre), k=-1) @ root.T
        try:
            known = np.array([np.linalg.inv(self.curvature(one)[h:, h:]) for one in places])
            np.linalg.cholesky(known)
        except np.linalg.LinAlgError:  # the density is not concave there
            return None
        found = Spread.of(self.sigma, h, places, known)
        # normal laws are narrower than densities with longer tails
        usual, mean = root[h:, h:] @ root[h:, h:].T, np.tensordot(weights, found(points), 1)
        times = np.clip(np.mean(usual.diagonal() / mean.diagonal()), 1.0, MOST_WIDER)
        return replace(found, constant=times * found.constant, along=np.sqrt(times) * found.along)

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
