"""Coordinates of regressions with one effect of each group, in which their posterior is nearly
standard normal: all parameters but the effects' sd are about normal given it, and its own density
is tabulated with these integrated out, each time by a Laplace approximation.

With theta = (c, phi), phi the coordinate of the sd, and c_hat(phi) and A(phi) the mode and the
precision of c given phi, that is

    log p(phi | y) ~ log p(c_hat(phi), phi | y) - log det A(phi) / 2

(Tierney & Kadane 1986, doi:10.1080/01621459.1986.10478240; Rue, Martino & Chopin 2009,
doi:10.1111/j.1467-9868.2008.00700.x).  Chains, or weights of independent draws, leave no error of
it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.special import ndtri

from sgmc.arguments.types import Floats
from sgmc.coordinates.approximations.mode import Mode, PriorTerms
from sgmc.coordinates.independent.conditioned import Conditioned
from sgmc.coordinates.independent.interpolation import (
    ChebyshevPolynomial,
    between_places,
    chebyshev_axes,
    interpolated,
)
from sgmc.coordinates.whitened.report import Report
from sgmc.coordinates.whitened.whitening import Coordinates
from sgmc.core.expansion import expand
from sgmc.core.system.deadline import OutOfTime
from sgmc.models.regression.latent.covariance.fold import FoldedEffects
from sgmc.models.regression.latent.densities.quadrature import Quadrature
from sgmc.models.regression.latent.integrated.normal_groups import NormalGroups, SeveralEffects

SDS_APART = 0.5  # between nodes, in sds of phi at the mode
NATS_DOWN = 20.0  # from the largest log density to the table's end: 6.3 sds of a normal one
MOST_NODES = 80
# to the mean given phi, and in sds, the last and the first
STEPS_TO_MEAN, LAST_STEP, FIRST_STEP_AT_MOST = 8, 0.1, 1.0
# rows times nodes of a pass, of a logit's terms: above, a table takes more than a tenth of a second
MANY_NODES = 250_000
MOST_DIFFERENCED = 20  # parameters, by whose pairs integrals of several effects are differenced
EXACT_PLACES = 8  # at which exact densities are taken where normal ones have the others
TABLE_ERROR = 0.005  # error of that, in nats and sds, at a place between them
BELOW_ZERO = 3  # nodes beyond zero, where the density is even, for polynomials up to zero
TABLE_CELLS = 2_000  # of the distribution function
TABLE_END, GRID_NODES = 6.0, 97  # of the map's table, in normal quantiles
MOST_TABULATED = 3_000  # groups
MOST_CONDITIONED = 60  # parameters besides the sd: a table of their roots


@dataclass(frozen=True)
class GivenSd:
    """A node of the table: what is known of c given phi.

    Attributes
    ----------
    log_density : float
        Of phi, c integrated out.
    mean : array (k,)
    root : array (k, k)
        Upper triangular, with root root' the covariance.
    """

    log_density: float
    mean: Floats
    root: Floats


Given = Callable[[float, Floats], GivenSd]  # of phi, and a place near the mean


@dataclass(frozen=True)
class SdTable:
    """What is known at evenly spaced places of phi.

    Attributes
    ----------
    first, step : float
    log_density : array (m,)
    mean : array (m, k)
    root : array (m, k, k)
    """

    first: float
    step: float
    log_density: Floats
    mean: Floats
    root: Floats

    @classmethod
    def of(cls, kernel, terms: PriorTerms, mode: Mode, j: int) -> "SdTable | None":
        """Tabulate from the mode on to both sides; None where some precision is none, or the
        density is not lost within MOST_NODES.

        Parameters
        ----------
        kernel : Marginal
        terms : PriorTerms
        mode : Mode
            With phi > 0.
        j : int
            Place of phi.
        """
        rest = np.delete(np.arange(len(mode.theta)), j)
        H = mode.precision
        slope = -np.linalg.solve(H[np.ix_(rest, rest)], H[rest, j])
        left = H[j, j] + H[j, rest] @ slope
        if not left > 0:
            return None
        step = float(SDS_APART / np.sqrt(left))

        def exact(phi: float, c: Floats) -> GivenSd:
            theta = np.insert(c, j, phi)
            value, gradient, J = expand(kernel.anchored(theta), theta)
            return with_prior(terms, theta, j, value, gradient[rest], J[np.ix_(rest, rest)])

        try:
            return cls.by_groups(kernel, terms, mode, j, step, slope, exact) or cls.along(
                exact, mode, j, step, slope
            )
        except linalg.LinAlgError:
            return None

    @classmethod
    def by_groups(
        cls,
        kernel,
        terms: PriorTerms,
        mode: Mode,
        j: int,
        step: float,
        slope: Floats,
        exact: Given,
    ) -> "SdTable | None":
        """Tabulate by normal laws of groups, corrected by exact densities; None where these cost
        as little, or differ from them by what is not smooth.
        """
        if not can_differ(kernel):
            return None
        rest = np.delete(np.arange(len(mode.theta)), j)
        groups = (NormalGroups if kernel.q == 1 else SeveralEffects).of(kernel, mode.theta, j)

        def given(phi: float, c: Floats) -> GivenSd:
            return with_prior(terms, np.insert(mode.theta[rest], j, phi), j, *groups.at(phi))

        try:
            normal = cls.along(given, mode, j, step, slope)
        except linalg.LinAlgError:  # far from the mode, groups of few rows are not about normal
            return None
        return normal and normal.corrected(exact)

    @classmethod
    def along(
        cls, given: Given, mode: Mode, j: int, step: float, slope: Floats
    ) -> "SdTable | None":
        """Tabulate with nodes that are a `step` apart; the first one next to the mode is expected
        where c moves by `slope` with phi.
        """
        rest = np.delete(np.arange(len(mode.theta)), j)
        nodes = {0: settled(given, mode.theta[j], mode.theta[rest])}
        for way in (1, -1):
            k = 0
            while best_of(nodes) - nodes[k].log_density < NATS_DOWN:
                k += way
                phi = mode.theta[j] + k * step
                if phi < -BELOW_ZERO * step:
                    break
                if len(nodes) == MOST_NODES:
                    return None
                nodes[k] = settled(given, phi, ahead(nodes, k, way, slope * way * step))
        order = sorted(nodes)
        return cls(mode.theta[j] + order[0] * step, step, *stacked([nodes[k] for k in order]))

    def corrected(self, exact: Given) -> "SdTable | None":
        """Return the table with what exact densities differ by at a few places, and polynomials
        between these; None where another place shows that they do not do.
        """
        m = len(self.log_density)
        ends = np.zeros(1), np.array([m - 1.0])
        places = chebyshev_axes(*ends, [EXACT_PLACES])[0]
        middle = between_places(places, float(np.argmax(self.log_density)))
        places = np.append(places, middle)
        known = [interpolated(one, places) for one in (self.log_density, self.mean, self.root)]
        phi = self.first + self.step * places
        found = stacked([exact(one, c) for one, c in zip(phi, known[1])])
        more, off = [], []
        for there, here in zip(found, known):
            change = there - here
            smooth = ChebyshevPolynomial(*ends, change[:-1])
            more.append(smooth(np.arange(m)[:, None]))
            off.append(change[-1] - smooth(places[-1:, None])[0])
        # means in sds, and roots in those of their rows
        away = [np.abs(np.linalg.solve(found[2][-1], one)).max() for one in off[1:]]
        if not max(abs(off[0]), *away) <= TABLE_ERROR:
            return None
        table = self.log_density + more[0], self.mean + more[1], self.root + more[2]
        return replace(self, log_density=table[0], mean=table[1], root=table[2])

    def places(self, phi: Floats) -> Floats:
        """Return numbers phi in units of the nodes."""
        return (phi - self.first) / self.step

    def quantiles(self, w: Floats) -> tuple[Floats, Floats]:
        """Return the quantiles of |phi| at normal quantiles w, and their derivatives in w."""
        last = self.first + self.step * (len(self.log_density) - 1)
        phi = np.linspace(max(self.first, 0.0), last, 2 * TABLE_CELLS + 1)
        value = interpolated(self.log_density, self.places(phi))
        p = np.exp(value - value.max())
        mass = (p[:-2:2] + 4 * p[1:-1:2] + p[2::2]) * ((phi[2] - phi[0]) / 6)
        below = np.append(0.0, np.cumsum(mass))
        above = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
        z = np.where(below < above, ndtri(below / below[-1]), -ndtri(above / below[-1]))
        t = np.interp(w, z[1:-1], phi[2:-2:2])
        density = np.exp(interpolated(self.log_density, self.places(t)) - value.max()) / below[-1]
        return t, np.exp(-0.5 * w**2) / np.sqrt(2 * np.pi) / density

    def conditioned(self, j: int) -> Conditioned:
        """Return the map from standard normal numbers."""
        w = np.linspace(-TABLE_END, TABLE_END, GRID_NODES)
        t, slope = self.quantiles(w)
        place, k = self.places(t), self.mean.shape[1]
        both = np.concatenate([self.mean, self.root.reshape(len(self.mean), k * k)], axis=1)
        nudge = 1e-3
        change = interpolated(both, place + nudge) - interpolated(both, place - nudge)
        change *= (slope / (2 * nudge * self.step))[:, None]
        values = np.column_stack([t, interpolated(both, place)])
        return Conditioned(j, w, values, np.column_stack([slope, change]))


def can_differ(kernel) -> bool:
    """Whether groups have normal stand-ins, and rows enough that another pass over these costs more
    than theirs: differences of the two are smooth, so that few passes tell them.
    """
    if not isinstance(kernel, Quadrature) or kernel.dim > MOST_DIFFERENCED:
        return False
    return kernel.starts[-1] * kernel.count * kernel.row_terms >= MANY_NODES


def with_prior(
    terms: PriorTerms, theta: Floats, j: int, value: float, gradient: Floats, J: Floats
) -> GivenSd:
    """Return what is known of c given phi, from the log likelihood's expansion by c at theta.

    One step from c, which is near: log density and mean are those of a normal law.
    """
    rest = np.delete(np.arange(len(theta)), j)
    more, slope, P = terms(theta)
    A, g = J + P[np.ix_(rest, rest)], gradient + slope[rest]
    if not (np.isfinite(A).all() and np.isfinite(g).all()):  # counts' means overflow far out
        raise linalg.LinAlgError("the gradient or the precision is not finite")
    lower = linalg.cholesky(A, lower=True)
    half = linalg.solve_triangular(lower, g, lower=True)
    root = linalg.solve_triangular(lower, np.eye(len(g)), lower=True).T
    log_density = value + more + 0.5 * half @ half - np.log(np.diag(lower)).sum()
    if not np.isfinite(log_density):
        raise linalg.LinAlgError("the log density is not finite")
    return GivenSd(log_density, theta[rest] + root @ half, root)


def settled(given: Given, phi: float, c: Floats) -> GivenSd:
    """Return what is known given phi, by steps from c that end where they are small: a single one
    from farther away, of which the next node's is told, would throw nodes to and fro.  Where the
    first is large, integrals have become too coarse for the sd.
    """
    for _ in range(STEPS_TO_MEAN):
        found = given(phi, c)
        away = np.abs(linalg.solve_triangular(found.root, found.mean - c)).max()
        if not away <= FIRST_STEP_AT_MOST:
            break
        if away <= LAST_STEP:
            return found
        c = found.mean
    raise linalg.LinAlgError("the mean given an sd is not found")


def stacked(nodes: list[GivenSd]) -> tuple[Floats, Floats, Floats]:
    """Return log densities (m,), means (m, k) and roots (m, k, k) of nodes."""
    log_density = np.array([one.log_density for one in nodes])
    return log_density, np.array([one.mean for one in nodes]), np.array([one.root for one in nodes])


def best_of(nodes: dict[int, GivenSd]) -> float:
    """Return the largest log density so far."""
    return max(one.log_density for one in nodes.values())


def ahead(nodes: dict[int, GivenSd], k: int, way: int, first: Floats) -> Floats:
    """Return the mean that is expected at node k: by the polynomial of up to three before it, or
    by the first step from the mode.
    """
    known = [nodes[k - way * i].mean for i in (1, 2, 3) if k - way * i in nodes]
    if len(known) == 1:
        return known[0] + first
    if len(known) == 2:
        return 2 * known[0] - known[1]
    return 3 * known[0] - 3 * known[1] + known[2]


def from_zero(mode: Mode, fold: FoldedEffects) -> Floats:
    """Return how many of their own sds coordinates of sds are from zero, (q,)."""
    sds = slice(fold.first, fold.first + fold.loading.q)
    return np.abs(mode.theta[sds]) / np.sqrt(np.diag(linalg.inv(mode.precision))[sds])


def given_sd(
    kernel, terms: PriorTerms, mode: Mode, fold: FoldedEffects, back: Floats, report: Report
) -> Coordinates | None:
    """Return the coordinates; None where there is no such table.

    Parameters
    ----------
    kernel : Marginal
    terms : PriorTerms
    mode : Mode
    fold : FoldedEffects
    back : array (dim, dim)
    report : Report
    """
    k = int(np.argmin(from_zero(mode, fold)))  # the one that is told least
    j = fold.first + k
    signs = np.ones(fold.loading.q)
    signs[k] = 1.0 if mode.theta[j] >= 0 else -1.0
    side = fold.turned(np.ones(len(mode.theta)), signs)[0]
    turn = np.outer(side, side)
    upright = Mode(side * mode.theta, turn * mode.likelihood, turn * mode.prior)
    try:
        table = SdTable.of(kernel, terms, upright, j)
    except OutOfTime:  # chains begin with what there is
        return None
    if table is None:
        return None
    map = table.conditioned(j)
    w = np.linspace(-4.0, 4.0, 33)
    weight = np.exp(-0.5 * w**2) / np.exp(-0.5 * w**2).sum()
    points = np.zeros((len(w), len(side)))
    points[:, j] = w
    centres, slopes = map(points), np.array([map.jacobian(one) for one in points])
    rest = np.delete(np.arange(len(side)), j)
    spread = slopes[:, :, rest]
    variance = weight @ (centres - weight @ centres) ** 2 + weight @ (spread**2).sum(axis=2)
    inner = np.einsum("w,wij->ij", weight, slopes)
    inner *= np.sqrt(variance / (inner**2).sum(axis=1))[:, None]
    return Coordinates(
        rotated=False,
        L=inner,
        origin=map.centre,
        back=back,
        map=map,
        to_theta=back,
        theta_centre=np.zeros(len(side)),
        white=back @ inner,
        max_precision=1.0,
        min_precision=1.0,
        report=report,
    )
