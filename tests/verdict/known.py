"""Numbers of posteriors that are known: by closed forms, on grids, by exact or by long runs."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

ENDS = 0.025, 0.975


@dataclass(frozen=True)
class Known:
    """What a summary should print, Series by name; NaN where a moment does not exist.

    Attributes
    ----------
    mean, sd, low, centre, high : Series
        Mean, sd, ends of the 95 % interval and median.
    kurtosis : Series
        3 for a normal law; infinite where it does not exist.
    slack : float
        Error of these, in sds and half-widths.
    """

    mean: pd.Series
    sd: pd.Series
    low: pd.Series
    centre: pd.Series
    high: pd.Series
    kurtosis: pd.Series
    slack: float = 0.0

    @classmethod
    def of_laws(cls, laws):
        """Of frozen laws of scipy.stats by name."""
        rows = {
            name: [*moments(law), *law.ppf([ENDS[0], 0.5, ENDS[1]]), kurtosis(law)]
            for name, law in laws.items()
        }
        return cls(*(column for _, column in pd.DataFrame(rows).T.items()))

    @classmethod
    def of_draws(cls, frame, slack):
        """Of a frame of draws."""
        ends = (frame.quantile(q) for q in (ENDS[0], 0.5, ENDS[1]))
        return cls(frame.mean(), frame.std(), *ends, frame.kurt() + 3, slack)

    @classmethod
    def of_grid(cls, values, log_density, index=0.0):
        """Of densities on grids.

        Parameters
        ----------
        values : dict of array (k,)
            The grid of each parameter: the densities are on their product.
        log_density : array (k, ..., k)
        index : float
            The posterior's tail index: what moments exist.
        """
        p = np.exp(log_density - log_density.max())
        for axis, grid in enumerate(values.values()):
            p = p * np.gradient(grid).reshape([-1 if a == axis else 1 for a in range(p.ndim)])
        rows = {}
        for axis, (name, grid) in enumerate(values.items()):
            one = p.sum(axis=tuple(a for a in range(p.ndim) if a != axis))
            one = one / one.sum()
            mean = one @ grid
            variance = one @ (grid - mean) ** 2
            inverse = np.interp([ENDS[0], 0.5, ENDS[1]], np.cumsum(one) - one / 2, grid)
            rows[name] = [
                mean if index < 1 else np.nan,
                np.sqrt(variance) if index < 0.5 else np.nan,
                *inverse,
                one @ (grid - mean) ** 4 / variance**2 if index < 0.25 else np.inf,
            ]
        return cls(*(column for _, column in pd.DataFrame(rows).T.items()), slack=0.005)

    @classmethod
    def of_long_run(cls, results):
        """Of a run that agrees with itself: 0.02 is three errors of 20,000 draws, of which 4,000
        are effective.
        """
        assert results.ess().min() > 4000 and results.rhat().max() < 1.01
        draws = pd.DataFrame(results.draws.reshape(-1, len(results.names)), columns=results.names)
        return cls.of_draws(draws, slack=0.02)

    def errors(self, results):
        """Errors of means and sds (in sds), and of ends (in half-widths), a DataFrame with a row a
        parameter; infinite where a number is printed that does not exist, or not where it does.
        """
        names = list(self.mean.index)
        table = results.summary_frame().loc[names]
        low, high = table.iloc[:, 2], table.iloc[:, 3]
        unit = self.sd if self.sd.notna().all() else (self.high - self.low) / 4
        mean, sd = (table["mean"] - self.mean) / unit, (table["sd"] - self.sd) / unit
        for error, printed, true in ((mean, "mean", self.mean), (sd, "sd", self.sd)):
            error[table[printed].isna() & true.isna()] = 0.0
        found = {
            "mean": mean,
            "sd": sd,
            "low": (low - self.low) / (self.centre - self.low),
            "high": (high - self.high) / (self.high - self.centre),
        }
        return pd.DataFrame(found).fillna(np.inf)


def kurtosis(law):
    """Of a law; infinite where it does not exist."""
    excess = law.stats("k")
    return 3 + excess if np.isfinite(excess) else np.inf


def moments(law):
    """Mean and sd of a law, NaN where they do not exist: scipy has infinity for some."""
    mean, variance = law.stats("mv")
    mean = mean if np.isfinite(mean) else np.nan
    return mean, np.sqrt(variance) if np.isfinite(variance) and np.isfinite(mean) else np.nan
