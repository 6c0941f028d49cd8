"""What results have of smooths: tables and figures."""

import numpy as np
import pandas as pd

from sgmc.arguments.intervals import with_level
from sgmc.arguments.numbers import level as probability
from sgmc.arguments.numbers import whole
from sgmc.errors import ArgumentError
from sgmc.models.regression.latent.effects.continued import beyond
from sgmc.models.regression.latent.effects.curves import curve_at, found_curve
from sgmc.results.outcomes.data import words

ALONG, SIDE = 100, 30  # of a curve; of a surface along each covariate


class Smooths:
    """Methods of `CrossedResults` that give smooths."""

    @property
    def smooths(self):
        """Effective degrees of freedom of each smooth, its line included, and the most that it can
        have: a DataFrame.
        """
        rows = self.freedom
        return pd.DataFrame(list(rows.values()), list(rows), ["edf", "most"])

    @with_level
    def smooth(self, name=None, at=None, *, alpha=0.05, points=None):
        """Return a smooth on the scale of the linear predictor: posterior mean, sd and interval.

        Its mean over the rows of the fit is zero: the level belongs to the intercept, or to the
        levels of a factor.  A smooth that is multiplied by a number, ``s(x, by=z)``, is what z is
        multiplied by, with its level.

        Parameters
        ----------
        name : str, optional
            ``"s(x)"``, ``"s(x):g[a]"``; default the first.
        at : array_like (n,) or (n, 2), optional
            Values of the covariates, or labels; default a grid over their range, or all labels.
        alpha : float
            One minus the probability of the intervals.
        points : int, optional
            Of the grid, along each covariate; default 100, of surfaces 30.

        Returns
        -------
        DataFrame
            A row per value.

        Raises
        ------
        ArgumentError
            For a smooth that there is not, or values of another shape.
        """
        x, f, names = self.curve(name, at, points)
        ends = [probability(alpha) / 2, 1 - alpha / 2]
        table = pd.DataFrame(x, columns=names)
        low, high = np.quantile(f, ends, axis=1)
        return table.assign(
            mean=f.mean(axis=1),
            sd=f.std(axis=1, ddof=1),
            **{f"{100 * end:g}%": one for end, one in zip(ends, (low, high))},
        )

    def curve(self, name=None, at=None, points=None):
        """Return values or labels (n, c), draws of a smooth there (n, m), and names of the
        covariates.
        """
        if self.curve_draws is None:
            raise ArgumentError(
                "there are no draws of smooths: time_limit left none; fit again with more time"
            )
        one, by, places = found_curve(self.model.groups.smooths, name)
        count = whole("points", points, 2, none=True)
        names = list(one.covariates.exog_names)
        if at is None:
            count = count or (ALONG if len(names) == 1 else SIDE)
            sides = [basis.grid(count) for basis in one.bases]
            x = np.column_stack([side.ravel() for side in np.meshgrid(*sides, indexing="ij")])
        elif one.labels is not None:
            x = one.covariates.numbers(np.atleast_1d(np.asarray(at, dtype=object)))[:, None]
        else:
            x = np.asarray(at, dtype=float)
            x = x[:, None] if x.ndim == 1 else x
            if x.ndim != 2 or x.shape[1] != len(names) or not np.isfinite(x).all():
                raise ArgumentError(
                    f"at: give finite values of {', '.join(names)}, an array (n, {len(names)})"
                )
        draws, exog = self.curve_draws, list(self.model.exog_names)
        if self.model.equations > 1:
            exog = self.names[: self.model.printed_coefficients]
        if one.multipliers is not None and any(
            other.multipliers is None and other.label == one.label
            for other in self.model.groups.smooths
        ):  # whose line the coefficients of the covariates are
            exog = [name if ":" in name.removeprefix(one.part) else None for name in exog]
        f = curve_at(one, by, places, draws, exog, x)
        if one.bases[0].continues:
            own = draws.columns[:, places]
            steps, paths = beyond(one, by, x[:, 0], own, self.parameter_draws)
            f += np.equal.outer(np.rint(one.bases[0].steps(x[:, 0])), steps) @ paths.T
        if one.labels is not None:
            x = one.labels.to_numpy()[x.astype(int)]
        return x, f, names

    @with_level
    def plot_smooth(self, name=None, ax=None, *, alpha=0.05):
        """Plot a smooth with its interval, the mean of a surface as a map, or effects of levels, as
        `plot_ranef` does.

        Parameters
        ----------
        name, alpha
            As in `smooth`.
        ax : Axes, optional
            Default a new figure.

        Returns
        -------
        Axes
        """
        from sgmc.plots.effects import caterpillar
        from sgmc.plots.smooths import band, surface

        table = self.smooth(name, alpha=alpha)
        one, by, _ = found_curve(self.model.groups.smooths, name)
        label = f"{one.curve(by)}: difference in {words.predictor(self.model)}"
        if len(one.bases) > 1:
            return surface(table, label, ax)
        if one.labels is not None:
            numbers, labels = table.to_numpy()[:, None, [1, 3, 4]].astype(float), table.iloc[:, 0]
            what = f"{label}, mean and {100 * (1 - alpha):g} % interval"
            return caterpillar(numbers, [*map(str, labels)], [one.curve(by)], [what], ax)[0]
        covariate, frame = table.columns[0], getattr(self._kept, "frame", {})
        return band(table, label, ax, frame.get(covariate))
