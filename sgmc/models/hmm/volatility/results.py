"""The results of stochastic volatility: volatilities, and what comes next."""

import numpy as np
import pandas as pd

from sgmc.arguments.intervals import with_level
from sgmc.arguments.numbers import number, whole
from sgmc.models.hmm.results import SequenceResults

LEVELS = 400  # of log volatility, at which distribution functions are averaged over draws


class VolatilityResults(SequenceResults):
    """The posterior of a stochastic volatility model."""

    def smooth(self, draws=100, data=None):
        """The state x at each step given all outcomes of the sequence, a DataFrame with ``mean``
        and ``sd`` over states and draws.

        Parameters
        ----------
        draws : int
        data : StochasticVolatility, optional
            Other sequences, or those of the fit for results that were loaded from a file.
        """
        kernel, thetas = self._kernel(data), self._thetas(draws)
        mean = square = 0.0
        for theta in thetas:
            x = kernel.points(theta)
            p = kernel.laws(theta)[:, : len(x)]
            mean, square = mean + p @ x / len(thetas), square + p @ x**2 / len(thetas)
        return pd.DataFrame({"mean": mean, "sd": np.sqrt(square - mean**2)})

    @with_level
    def volatility(self, draws=100, alpha=0.05, filtered=False, data=None):
        """The volatility beta exp(x_t / 2) at each step, the sd of y_t given the state.

        Parameters
        ----------
        draws : int
        alpha : float
            Intervals have probability 1 - alpha.
        filtered : bool
            Given the outcomes up to each step, instead of all of the sequence.
        data : StochasticVolatility, optional
            As in `smooth`.

        Returns
        -------
        DataFrame
            ``mean``, ``median``, ``lower`` and ``upper`` over states and draws.
        """
        kernel, thetas = self._kernel(data), self._thetas(draws)
        alpha = number("alpha", alpha, 0, 1)
        grids = [np.log(theta[2]) + kernel.points(theta) / 2 for theta in thetas]
        ends = min(g[0] for g in grids), max(g[-1] for g in grids)
        levels, below, mean = np.linspace(*ends, LEVELS), 0.0, 0.0
        for theta, grid in zip(thetas, grids):
            p = (kernel.filtered if filtered else kernel.laws)(theta)[:, : len(grid)]
            mean = mean + p @ np.exp(grid) / len(thetas)
            below = below + distribution(p, grid, levels) / len(thetas)
        wanted = {"median": 0.5, "lower": alpha / 2, "upper": 1 - alpha / 2}
        return pd.DataFrame(
            {"mean": mean}
            | {name: np.exp(quantile(below, levels, q)) for name, q in wanted.items()}
        )

    def forecast(self, steps, draws=200, data=None):
        """Outcomes and volatility after the end of the last sequence.

        Parameters
        ----------
        steps : int
        draws : int
        data : StochasticVolatility, optional
            As in `smooth`.

        Returns
        -------
        dict
            ``mean`` (zero) and ``sd`` of outcomes, and the mean ``volatility``, each (steps, 1).
        """
        kernel, thetas = self._kernel(data), self._thetas(draws)
        ahead = np.arange(1, whole("steps", steps, 1) + 1)[:, None]
        variance = volatility = 0.0
        for theta in thetas:
            (phi, sigma, beta), x = theta, kernel.points(theta)
            p = kernel.last_laws(theta)[-1, : len(x)]
            added = sigma**2 * (1 - phi ** (2 * ahead)) / (1 - phi**2)
            moved = phi**ahead * x
            variance = variance + beta**2 * np.exp(moved + added / 2) @ p / len(thetas)
            volatility = volatility + beta * np.exp(moved / 2 + added / 8) @ p / len(thetas)
        return {
            "mean": np.zeros((steps, 1)),
            "sd": np.sqrt(variance)[:, None],
            "volatility": volatility[:, None],
        }


def distribution(p, grid, levels):
    """Distribution functions (T, levels) of laws p (T, points) of equidistant points, each of
    which stands for what is nearest to it.
    """
    h = grid[1] - grid[0]
    edges = np.append(grid - h / 2, grid[-1] + h / 2)
    total = np.concatenate([np.zeros((len(p), 1)), np.cumsum(p, axis=1)], axis=1)
    at = np.clip(np.searchsorted(edges, levels) - 1, 0, len(grid) - 1)
    share = np.clip((levels - edges[at]) / h, 0, 1)
    return total[:, at] * (1 - share) + total[:, at + 1] * share


def quantile(below, levels, q):
    """Where distribution functions (T, levels) reach q, linear between levels: (T,)."""
    at = np.clip((below < q).sum(axis=1), 1, len(levels) - 1)
    row = np.arange(len(below))
    low, high = below[row, at - 1], below[row, at]
    share = np.clip((q - low) / np.maximum(high - low, 1e-300), 0, 1)
    return levels[at - 1] + share * (levels[at] - levels[at - 1])
