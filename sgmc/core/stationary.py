"""Stationary laws of samplers on a standard normal with gradient noise, in discrete time.

A sampler whose step is linear there has an exact law: its covariance solves a discrete Lyapunov
equation.  One whose step is not has a law by an expansion of its transition in Hermite polynomials.
Both tell the variance of the draws, their autocorrelation and the time in which they forget.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from sgmc.arguments.types import Floats

LINE_DEGREES = (24, 18, 14, 10, 8, 6)  # of expansions in one variable
LARGEST_GROWTH = 1 + 1e-6  # largest eigenvalue of a projection that does not grow
# of a step: from states to (probability, states, sign) of all that it may lead to
Moves: TypeAlias = Callable[[Floats], Iterable[tuple[Floats, Floats, float]]]
FITS, SAME_SPREAD = 20, 0.05  # times that a reference law is fitted to the draws, and how nearly


def integrated(start: Floats, move: Floats, read: Floats) -> float:
    """start' (1 + 2 sum_{k >= 1} move^k) read / start' read: an integrated autocorrelation time."""
    rest = np.linalg.solve(np.eye(len(move)) - move, move @ read)
    return float(1 + 2 * (start @ rest) / (start @ read))


class LinearLaw:
    """The law of z' = A z + w, w of covariance Q, whose first coordinate is the draw.

    The covariance solves S = A S A' + Q (of SGD in continuous time: Mandt, Hoffman & Blei 2017,
    section 3; in discrete time, as here, with and without momentum: Wang, Ding & Huggins 2026,
    arXiv:2606.00293; of the scaling in which it is the law of large samples: Negrea, Yang, Feng,
    Roy & Huggins 2022, arXiv:2207.12395).  The autocorrelation at lag k is (A^k S)_00 / S_00.

    Parameters
    ----------
    move, noise : array (k, k)
        A and Q.
    """

    def __init__(self, move: Floats, noise: Floats) -> None:
        self.move, self.noise = np.atleast_2d(move), np.atleast_2d(noise)
        size = len(self.move)
        self.stable = bool(np.abs(np.linalg.eigvals(self.move)).max() < 1 - 1e-12)
        self.covariance = np.full((size, size), math.inf)
        if self.stable:
            twice = np.kron(self.move, self.move)
            solved = np.linalg.solve(np.eye(size * size) - twice, self.noise.ravel())
            self.covariance = solved.reshape(size, size)

    @property
    def variance(self) -> float:
        """Of the draws; infinite where the step is not stable."""
        return float(self.covariance[0, 0])

    def autocorrelation(self, lag: int) -> float:
        """Of draws that many steps apart."""
        moved = np.linalg.matrix_power(self.move, lag) @ self.covariance
        return float(moved[0, 0] / self.variance) if self.variance else math.nan

    def time(self, thin: int = 1) -> float:
        """Integrated autocorrelation time of every `thin`-th draw, in such draws: so many are worth
        one independent draw for the mean.
        """
        start = self.covariance[0]
        move = np.linalg.matrix_power(self.move, thin)
        if not self.variance:
            return math.nan
        return integrated(np.eye(len(move))[0], move, start) if self.stable else math.inf

    def time_of_squares(self, thin: int = 1) -> float:
        """The same for the variance.  With Gaussian noise squares have the squared
        autocorrelations.
        """
        if not self.stable or not self.variance:
            return math.inf if self.variance else math.nan
        move = np.linalg.matrix_power(self.move, thin)
        start = np.outer(self.covariance[0], self.covariance[0]).ravel()
        return integrated(np.eye(len(start))[0], np.kron(move, move), start)


def langevin(h: float, variance: float) -> tuple[Floats, Floats]:
    """(A, Q) of x <- (1 - h/2) x + noise of that variance."""
    return np.array([[1 - h / 2]]), np.array([[variance]])


def baoab(e: float, friction: float, noise: float) -> tuple[Floats, Floats]:
    """(A, Q) of a BAOAB step of e on (x, p): kick, half a drift, Ornstein-Uhlenbeck, half a drift;
    `noise` is the variance of the gradient's.
    """
    keep = math.exp(-friction * e)
    drift, still = np.array([[1, e / 2], [0, 1]]), np.zeros((2, 2))
    return composed(
        [
            (np.array([[1, 0], [-e, 1]]), np.diag([0, e * e * noise])),
            (drift, still),
            (np.diag([1, keep]), np.diag([0, 1 - keep * keep])),
            (drift, still),
        ]
    )


def composed(moves: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """(A, Q) of linear steps (A_i, Q_i) one after another."""
    move, noise = moves[0]
    for step, added in moves[1:]:
        move, noise = step @ move, step @ noise @ step.T + added
    return move, noise


def normal_nodes(count: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss quadrature under N(0, 1)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    return nodes, weights / weights.sum()


def expanded(
    moves: Moves, centre: Sequence[float], scale: Sequence[float], degrees: Sequence[int]
) -> "SpectralLaw":
    """The `SpectralLaw` of the first of these degrees, high ones first, whose expansion holds."""
    for degree in degrees:
        law = SpectralLaw(moves, centre, scale, degree)
        if not math.isnan(law.variance):
            break
    return law


def side_to_side(
    increments: tuple[Floats, Floats], chance: Callable[[Floats, float], Floats], scale: float
) -> "SpectralLaw":
    """The law of x <- x + z with probability `chance(x, z)`, else x - z.

    Parameters
    ----------
    increments : (array, array)
        Nodes z and their weights.
    chance : callable
    scale : float
        A guess of the sd of the draws, which the reference law then has.
    """

    def moves(states: Floats) -> Iterator[tuple[Floats, Floats, float]]:
        for z, weight in zip(*increments):
            up = chance(states[:, 0], z)
            for probability, after in ((up, states + z), (1 - up, states - z)):
                yield weight * probability, after, 1.0

    for _ in range(FITS):
        law = expanded(moves, [0.0], [scale], LINE_DEGREES)
        if not law.variance > 0 or abs(law.variance / scale**2 - 1) < SAME_SPREAD:
            return law
        scale = math.sqrt(law.variance)
    return law


def hermite(u: Floats, degree: int) -> Floats:
    """Hermite polynomials of degrees 0 to `degree`, orthonormal under N(0, 1); a row a degree."""
    rows = [np.ones_like(u), u]
    for n in range(1, degree):
        rows.append((u * rows[n] - math.sqrt(n) * rows[n - 1]) / math.sqrt(n + 1))
    return np.array(rows[: degree + 1])


class SpectralLaw:
    """The law of a sampler whose step is not linear, by projecting its transition on Hermite
    polynomials.

    With psi_a orthonormal under a normal reference law, T_ba = <psi_b, P psi_a> by Gauss
    quadrature; c_a = E psi_a in stationarity solves c = T' c, c_0 = 1, and E x P^k x = c' X T^k x,
    X the matrix of multiplication by x (a Galerkin method; exact as the degree grows where the law
    is absolutely continuous with a density of finite square under the reference).

    Parameters
    ----------
    moves : callable
        From states (m, k) to an iterable of (probability (m,), states (m, k), sign (m,)): all that
        a step may lead to.  The draw is the first coordinate times a sign that no probability
        depends on; `sign` is that of the step.
    centre, scale : sequence of float
        Means and sds of the reference law.
    degree : int
        Largest total degree; the quadrature has twice as many nodes, or five more in several
        coordinates.

    Attributes
    ----------
    variance : float
        Of the draws; NaN where the expansion does not hold.
    """

    def __init__(
        self, moves: Moves, centre: Sequence[float], scale: Sequence[float], degree: int
    ) -> None:
        self.centre, self.scale = np.asarray(centre, float), np.asarray(scale, float)
        size = len(self.centre)
        self.powers = np.array(
            [a for a in product(range(degree + 1), repeat=size) if sum(a) <= degree]
        )
        u, w = normal_nodes(2 * degree if size == 1 else degree + 5)
        grid = np.stack(np.meshgrid(*[u] * size, indexing="ij"), -1).reshape(-1, size)
        weights = np.prod(np.stack(np.meshgrid(*[w] * size, indexing="ij"), -1), -1).ravel()
        states = self.centre + self.scale * grid
        plain: Any = 0.0
        signed: Any = 0.0
        for probability, after, sign in moves(states):
            values = self.basis(after) * probability
            plain, signed = plain + values, signed + values * sign
        known = self.basis(states) * weights
        self.even, self.odd = known @ plain.T, known @ signed.T
        draw = states[:, 0]
        self.position = known @ draw
        self.times = (known * draw) @ self.basis(states).T
        self.mean_of = self.stationary()
        self.variance = float(self.mean_of @ self.times @ self.position)
        if (
            max(np.abs(np.linalg.eigvals(move)).max() for move in (self.even[1:, 1:], self.odd))
            > LARGEST_GROWTH
        ):
            self.variance = math.nan  # the projection grows, and has no stationary law

    def basis(self, states: Floats) -> Floats:
        """Every polynomial at these states, (polynomials, m)."""
        u = (states - self.centre) / self.scale
        most = int(self.powers.max())
        each = [hermite(u[:, i], most) for i in range(u.shape[1])]
        return np.prod([rows[self.powers[:, i]] for i, rows in enumerate(each)], axis=0)

    def stationary(self) -> Floats:
        """E psi_a: c = T' c with c_0 = 1."""
        rest = np.eye(len(self.even) - 1) - self.even[1:, 1:].T
        return np.concatenate([[1.0], np.linalg.solve(rest, self.even[0, 1:])])

    def autocorrelation(self, lag: int) -> float:
        """Of draws that many steps apart."""
        moved = np.linalg.matrix_power(self.odd, lag) @ self.position
        return float(self.mean_of @ self.times @ moved) / self.variance

    def time(self, thin: int = 1) -> float:
        """Return the integrated autocorrelation time of every `thin`-th draw, in such draws."""
        move = np.linalg.matrix_power(self.odd, thin)
        return integrated(self.mean_of @ self.times, move, self.position)

    def time_of_squares(self, thin: int = 1) -> float:
        """Return the same time of the squares, for the variance."""
        square = self.times @ self.position
        square[0] -= self.variance
        start = self.mean_of @ self.times @ self.times - self.variance * self.mean_of
        move = np.linalg.matrix_power(self.even, thin)
        move[:, 0], move[0] = 0.0, 0.0  # the constant, which squares less their mean are free of
        return integrated(start, move, square)
