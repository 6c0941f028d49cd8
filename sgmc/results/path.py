"""The path of a sampler in continuous time: expectations along it, its turning points, its
effective size.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from sgmc.arguments.declared.signatures import ByOtherNames
from sgmc.arguments.numbers import whole
from sgmc.arguments.types import Floats, Frame
from sgmc.errors import ArgumentError, NotSupported

if TYPE_CHECKING:
    from sgmc.fit.paths import Travelled


PATH_BATCHES = 30  # of equally many lines each, a chain
PIECE = 1 << 14  # points that a function is evaluated at, at a time


class Skeleton(NamedTuple):
    """Turning points of a chain's path: between two of them it is the straight line positions[k] +
    (t - times[k]) velocities[k].

    Attributes
    ----------
    times : array (turn,)
        From the end of warmup on.
    positions, velocities : DataFrame (turn, parameter)
    """

    times: np.ndarray
    positions: pd.DataFrame
    velocities: pd.DataFrame


class Paths(ByOtherNames):
    """Methods of `Results` for samplers in continuous time,
    which know all of a path and not its draws alone.
    """

    _paths = None

    def _travelled(self, method: str) -> "list[Travelled]":
        """The chains' paths; NotSupported where there are none."""
        if self._paths is None:
            raise NotSupported(
                f"{method}: {self.sampler.name} has no path in continuous time; use means over "
                "draws, or a sampler such as 'zigzag'",
                because="mathematics",
            )
        return self._paths

    def expect(self, f: Callable[..., Any], points: int = 4) -> Frame:
        """Return the posterior expectation of a function, as its mean over time along the paths of
        the chains.

        Each straight line is integrated by Gauss-Legendre quadrature, which is exact for
        polynomials up to degree 2 points - 1: for moments there is no error but Monte Carlo's.
        Lines are those of `skeleton`.

        Parameters
        ----------
        f : callable
            ``f(theta)`` of coefficients as they are reported, (n, parameter): one number each,
            (n,), or several, (n, k).
        points : int
            Of the quadrature, a line; more for functions that vary along one.

        Returns
        -------
        DataFrame
            ``mean``, ``sd``, Monte Carlo error ``mcse`` of the mean from batches of lines, and
            ``ess``, (sd / mcse)^2; a row for each number of f.

        Raises
        ------
        NotSupported
            For samplers without a path.
        """
        paths = self._travelled("expect")
        points = whole("points", points, 1, 100)
        if not all(len(one.turns) > 1 for one in paths):
            raise ArgumentError(
                "expect: a chain has no line from turn to turn yet; take more draws"
            )
        return expectation(paths, f, points)

    def inclusion(self) -> Any:
        """Return posterior probabilities that slopes are not zero, under the spike-and-slab prior
        of a sticky sampler.

        Shares of the time that the chains' paths spend away from zero.

        Returns
        -------
        DataFrame
            ``inclusion``, and its Monte Carlo error ``mcse`` from batches of lines; a row for each
            slope.

        Raises
        ------
        NotSupported
            For other samplers.
        """
        if not self.sampler.sticky:
            raise NotSupported(
                f"inclusion: under {self.sampler.name} no coefficient is ever zero; use "
                "sampler='stickysgpdmp' or 'stickyzigzag'",
                because="mathematics",
            )
        slopes = self.priors.slopes
        found = self.expect(lambda theta: theta[:, slopes] != 0, points=1)
        return pd.DataFrame(
            {"inclusion": found["mean"].to_numpy(), "mcse": found["mcse"].to_numpy()},
            index=[self.names[j] for j in slopes],
        )

    def path_summary(self) -> Frame:
        """Return moments of the parameters over the whole of the paths, a DataFrame with a row per
        parameter.

        Returns
        -------
        DataFrame
            ``mean`` in closed form over every line, ``sd`` over those of `skeleton`, ``mcse`` of
            the mean by batch means over time, and ``ess``, (sd / mcse)^2: the effective size of the
            path, which exceeds that of its draws.
        """
        return moments(self._travelled("path_summary"), self.names)

    def skeleton(self, chain: int = 0) -> Skeleton:
        """Return turning points of a chain's path after warmup, as far as they were kept (128 MB of
        all chains).

        Parameters
        ----------
        chain : int

        Returns
        -------
        Skeleton
            ``times``, and ``positions`` and ``velocities`` of the parameters as they are reported.
        """
        paths = self._travelled("skeleton")
        one = paths[whole("chain", chain, 0, len(paths) - 1)]
        return Skeleton(
            one.turns,
            pd.DataFrame(one.positions, columns=self.names),
            pd.DataFrame(one.velocities, columns=self.names),
        )


def expectation(paths: "list[Travelled]", f: Callable[..., Any], points: int) -> Frame:
    """Return the mean of a function along paths; see `Paths.expect`."""
    times, first, second = (
        np.concatenate(part) for part in zip(*(integrals(f, one, points) for one in paths))
    )
    total = times.sum()
    return frame(times, first, second.sum(axis=0) / total - (first.sum(axis=0) / total) ** 2, None)


def moments(paths: "list[Travelled]", names: list[str]) -> Frame:
    """Return moments over whole paths; NaN where a chain has no line yet."""
    if not all(len(one.turns) > 1 for one in paths):
        return pd.DataFrame(np.nan, index=names, columns=["mean", "sd", "mcse", "ess"])
    sd = expectation(paths, lambda theta: theta, 2)["sd"].to_numpy()
    times, first = (
        np.concatenate([getattr(one, name) for one in paths]) for name in ("times", "integrals")
    )
    return frame(times, first, sd**2, names)


def integrals(
    f: Callable[..., Any], path: "Travelled", points: int
) -> tuple[Floats, Floats, Floats]:
    """Times (batch,), integrals of f and of its square (batch, k)
    over batches of equally many lines of one path.
    """
    nodes, weights = np.polynomial.legendre.leggauss(points)
    spans = np.diff(path.turns)
    edges = np.unique(np.linspace(0, len(spans), PATH_BATCHES + 1).astype(int))
    first, second = [], []
    for a in range(0, len(spans), max(1, PIECE // points)):
        part = slice(a, a + max(1, PIECE // points))
        along = 0.5 * (nodes + 1)[None, :, None] * spans[part, None, None]
        at = path.positions[:-1][part][:, None, :] + along * path.velocities[:-1][part][:, None, :]
        values = called(f, at.reshape(-1, at.shape[2])).reshape(*along.shape[:2], -1)
        half = 0.5 * spans[part, None]
        first.append(half * np.einsum("q,sqk->sk", weights, values))
        second.append(half * np.einsum("q,sqk->sk", weights, values**2))
    return tuple(
        np.add.reduceat(a, edges[:-1])
        for a in (spans, np.concatenate(first), np.concatenate(second))
    )


def called(f: Callable[..., Any], theta: Floats) -> Floats:
    """f at points, (n, k) numbers."""
    values = np.asarray(f(theta), dtype=float)
    if values.ndim not in (1, 2) or len(values) != len(theta):
        raise ArgumentError(
            f"f gave an array of shape {values.shape} for coefficients {theta.shape}; it must be "
            f"({len(theta)},) or ({len(theta)}, k)"
        )
    return values.reshape(len(theta), -1)


def frame(times: Floats, first: Floats, variance: Floats, names: list[str] | None) -> Frame:
    """Mean, sd, Monte Carlo error and effective size from integrals over batches and the variance.

    The error is that of a ratio: K / (K - 1) sum_k r_k^2 / T^2 with r_k a batch's integral less its
    time by the mean.
    """
    total, k = times.sum(), len(times)
    mean = first.sum(axis=0) / total
    rest = first - times[:, None] * mean
    error = (
        np.sqrt(k / (k - 1) * (rest**2).sum(axis=0)) / total
        if k > 1
        else np.full(len(mean), np.nan)
    )
    sd = np.sqrt(np.maximum(variance, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return pd.DataFrame(
            {"mean": mean, "sd": sd, "mcse": error, "ess": (sd / error) ** 2}, index=names
        )
