"""What results have of the effects of levels: tables, draws, figures."""

import numpy as np
import pandas as pd

from sgmc.arguments.choices import nearest
from sgmc.arguments.intervals import with_level
from sgmc.arguments.messages import label_text
from sgmc.arguments.numbers import level as probability
from sgmc.arguments.numbers import whole
from sgmc.core.system import phases
from sgmc.errors import ArgumentError
from sgmc.formula.data.levels import places_of
from sgmc.models.regression.latent.effects.random_effects import posterior_of
from sgmc.models.regression.latent.effects.saved_effects import LevelsWithoutData
from sgmc.results.exchange import Wanted, to_arviz
from sgmc.results.outcomes.data import words

EFFECTS_MEMORY = 1 << 30  # bytes of an array of draws


class EffectsOfLevels(LevelsWithoutData):
    """Methods of `MixedResults` that give effects, drawn when they are asked for."""

    def check_groups(self, what):
        """Raise an ArgumentError where the formula has smooths and no group terms."""
        if not self.model.effects.factors:
            raise ArgumentError(
                f"{what}: the formula has no group terms, such as (1 | g); smooth() has its smooths"
            )

    @property
    def fe_params(self):
        """Posterior means of the coefficients, a Series."""
        return self.params.iloc[: self.model.printed_coefficients]

    @property
    def bse_fe(self):
        """Posterior standard deviations of the coefficients, a Series."""
        return self.bse.iloc[: self.model.printed_coefficients]

    @property
    def cov_re(self):
        """Posterior mean of the effects' covariance matrix, a DataFrame."""
        self.check_groups("cov_re")
        effects, first = self.model.effects, self.model.printed_coefficients
        q, sds_of_all = len(effects.columns), effects.loading.q
        sds = self.flat[:, first : first + q]
        cov = np.einsum("mi,mj->mij", sds, sds) * np.eye(q)
        for k, (i, j) in enumerate(effects.loading.correlations()):
            cov[:, i, j] = cov[:, j, i] = (
                self.flat[:, first + sds_of_all + k] * sds[:, i] * sds[:, j]
            )
        mean = np.average(cov, axis=0, weights=self.flat_weights)
        names = [name[3:-1] for name in effects.sds[:q]] if len(effects.factors) > 1 else None
        names = effects.columns if names is None else names
        return pd.DataFrame(mean, names, names)

    @property
    def random_effects(self):
        """Posterior means of the effects, a dict from level to Series, as in statsmodels; of nested
        factors a dict of such dicts, by factor.
        """
        self.check_groups("random_effects")
        found = {
            name: means_by_level(self.ranef(name)["mean"], self.columns_of(k))
            for k, name in enumerate(self.model.effects.factors)
        }
        return found if len(found) > 1 else found[self.model.effects.factor]

    @phases.shown("effects of groups")
    @with_level
    def ranef(self, factor=None, *, alpha=0.05, draws=None):
        """Return the effects of the levels: posterior mean, sd and interval.

        Means and sds are averages over draws of the parameters of the conditional ones, of inner
        factors given draws of the outer effects too; intervals are quantiles of draws.

        Parameters
        ----------
        factor : str, optional
            Name of the grouping factor; default all.
        alpha : float
            One minus the probability of the intervals.
        draws : int, optional
            How many draws to use, evenly spaced; default as many as take a few seconds.

        Returns
        -------
        DataFrame
            A row per level; with several effects, per level and effect.  Of nested factors a dict
            of such tables by factor, unless one is named.
        """
        effects = self.model.effects
        if factor is None and len(effects.factors) > 1:
            return {one: self.ranef(one, alpha=alpha, draws=draws) for one in effects.factors}
        k = self.check_factor(factor)
        levels, columns = np.arange(len(self.model.sizes[k])), self.columns_of(k)
        ends = [probability(alpha) / 2, 1 - alpha / 2]
        effects, w = self.effects_of_levels("ranef", k, levels, draws)
        out = posterior_of(effects, w, levels, ends)
        index = self.model.factor_levels[k].rename(self.index_names(k))
        if len(columns) > 1:
            index = with_effect(index, columns)
        names = ["mean", "sd", *(f"{100 * end:g}%" for end in ends)]
        return pd.DataFrame(out.reshape(-1, 4), index, names)

    def ranef_draws(self, factor=None, levels=None, *, draws=None, seed=None):
        """Return draws of the effects of levels, jointly with those of the parameters.

        Parameters
        ----------
        factor : str, optional
            Name of the grouping factor; needed where factors are nested.
        levels : list, optional
            Default all.  Of an inner factor that is a combination of columns, ``(1 | g/h)``, tuples
            ``(g, h)``.
        draws : int, optional
            How many draws to use, evenly spaced; default all, in the order of `flat`, to be
            weighted by `flat_weights`.
        seed : int, SeedSequence or Generator, optional
            Default that of the fit.

        Returns
        -------
        ndarray, (draw, level, effect)

        Raises
        ------
        ArgumentError
            For a level that there is not, or if it would be larger than 1 GB.
        """
        k = self.check_factor(factor)
        known, q = self.model.factor_levels[k], len(self.columns_of(k))
        wanted = np.arange(len(known))
        if levels is not None:
            asked = pd.Index(list(levels))
            names = known.names if known.nlevels > 1 else [self.model.effects.factors[k]]
            wanted = places_of(asked, known, names)
        if (wanted < 0).any():
            lost = list(levels)[int(np.argmin(wanted))]
            raise ArgumentError(
                f"levels: there is no {label_text(lost)} of {self.model.effects.factors[k]}"
                f"{nearest(str(lost), [str(one) for one in known])}"
            )
        count = len(self.flat) if draws is None else whole("draws", draws, 1)
        size = 8 * len(wanted) * count * q
        if size > EFFECTS_MEMORY:
            raise ArgumentError(
                f"ranef_draws of {len(wanted):,} levels and {count:,} draws is {size / 2**30:.1f} "
                "GB, over the limit of 1 GB; give levels= or draws="
            )
        effects, _ = self.effects_of_levels("ranef_draws", k, wanted, count, seed)
        return np.ascontiguousarray(np.moveaxis(effects.draws(wanted), 1, 0))

    def check_factor(self, factor):
        """Return the number of a factor; ArgumentError for one that the fit does not have, or where
        there are several and none is named.
        """
        self.check_groups("effects of levels")
        names = self.model.effects.factors
        shown = " and ".join(repr(one) for one in names)
        if factor is None and len(names) > 1:
            raise ArgumentError(f"factor: there are {shown}; name one")
        if factor is not None and factor not in names:
            raise ArgumentError(
                f"there is no grouping factor {factor!r}; there {'are' if len(names) > 1 else 'is'}"
                f" {shown}"
            )
        return 0 if factor is None else names.index(factor)

    def columns_of(self, k):
        """Return the effects of each level of a factor."""
        return [self.model.effects.columns[j] for j in self.model.effects.places()[k]]

    def index_names(self, k):
        """Return names of the levels' index: that of the factor, or those of its columns."""
        index = self.model.factor_levels[k]
        return list(index.names) if index.nlevels > 1 else self.model.effects.factors[k]

    def to_arviz(
        self, log_likelihood=False, effects=False, *, posterior_predictive=False,
        observed_data=True,
    ):  # fmt: skip
        """Return an ArviZ `DataTree`, see `Results.to_arviz`.

        Parameters
        ----------
        log_likelihood : bool
            With the log densities of all rows given the effects of their groups.
        effects : bool
            With draws of the effects: a variable ``"1|g"`` for each effect, along a dimension for
            each factor.
        posterior_predictive, observed_data : bool
            As for regressions, given the effects of the groups.

        Raises
        ------
        ArgumentError
            If effects would be larger than 1 GB.
        """
        more = {}
        for k, factor in enumerate(self.model.effects.factors if effects else ()):
            drawn, labels = self.ranef_draws(factor), self.model.factor_levels[k]
            labels = (
                labels.map(lambda one: ":".join(map(str, one))) if labels.nlevels > 1 else labels
            )
            for j, column in enumerate(self.columns_of(k)):
                more[f"{column}|{factor}"] = drawn[..., j], factor, labels.to_numpy()
        return to_arviz(self, Wanted(log_likelihood, posterior_predictive, observed_data), more)

    @with_level
    def plot_ranef(self, factor=None, ax=None, *, alpha=0.05, draws=None):
        """Plot means and intervals of the effects of levels, sorted by their means: a caterpillar
        plot.

        Of more than 60 levels the ten lowest, the ten highest and 40 at even ranks between them are
        shown.

        Parameters
        ----------
        factor, alpha, draws
            As in `ranef`; of nested factors one has to be named.
        ax : Axes or list of Axes, optional
            One an effect; default a new figure.

        Returns
        -------
        ndarray of Axes, one an effect
        """
        from sgmc.plots.effects import caterpillar

        k = self.check_factor(factor)
        name, columns = self.model.effects.factors[k], self.columns_of(k)
        table = self.ranef(name, alpha=alpha, draws=draws)
        parts = table.to_numpy()[:, [0, 2, 3]].reshape(-1, len(columns), 3)
        labels = [
            ":".join(map(str, one)) if isinstance(one, tuple) else str(one)
            for one in self.model.factor_levels[k]
        ]
        titles = [f"{column} | {name}" for column in columns]
        scale = f"difference in {words.predictor(self.model)}"
        interval = f"mean and {100 * (1 - alpha):g} % interval"
        per = ["" if column == "1" else f" per unit of {column}" for column in columns]
        x_names = [f"{scale}{unit}, {interval}" for unit in per]
        return caterpillar(parts, labels, titles, x_names, ax)


def with_effect(index, columns):
    """The index of levels with a last level that names the effect."""
    parts = [np.repeat(index.get_level_values(j), len(columns)) for j in range(index.nlevels)]
    return pd.MultiIndex.from_arrays(
        [*parts, np.tile(columns, len(index))], names=[*index.names, "effect"]
    )


def means_by_level(means, columns):
    """A dict from level to Series, of a column of `MixedResults.ranef`."""
    if len(columns) == 1:
        return {level: pd.Series([mean], columns) for level, mean in means.items()}
    by = list(range(means.index.nlevels - 1))
    return {
        level if len(by) > 1 else level[0]: part.droplevel(by)
        for level, part in means.groupby(level=by, sort=False)
    }
