"""The results of a regression with grouped effects."""

import numpy as np
import pandas as pd

from sgmc.arguments.choices import nearest, one_of
from sgmc.arguments.numbers import level as probability
from sgmc.arguments.numbers import whole
from sgmc.arguments.seeds import entropy
from sgmc.diagnostics import moments
from sgmc.errors import ArgumentError
from sgmc.models.mixed.left_out import LeftOutGroups, LeftOutRows
from sgmc.models.mixed.random_effects import level_effects
from sgmc.models.mixed.rows_with_effects import refuse_new, with_effects
from sgmc.models.regression.results import RegressionResults
from sgmc.results.outcomes import prediction, residuals
from sgmc.results.outcomes.loo import loo
from sgmc.results.outcomes.rows import (
    FEWEST_DRAWS,
    ROWS_WORK,
    evenly,
    fitted_rows,
    rows_of,
    with_exposure,
)

NEW_LEVELS = ("sample", "error")
DRAWN_AT_ONCE = 1 << 21  # numbers of effects that are drawn at a time
EFFECTS_MEMORY = 1 << 30  # bytes of an array of draws


class MixedResults(RegressionResults):
    """The posterior of a regression with grouped effects: draws of coefficients, standard
    deviations, correlations and auxiliary parameters.  Effects of levels are drawn on demand from
    their posterior given each draw, from the seed of the fit; predictions have them.
    """

    @property
    def fe_params(self):
        """Posterior means of the coefficients, a Series."""
        return self.params.iloc[: len(self.model.exog_names)]

    @property
    def bse_fe(self):
        """Posterior standard deviations of the coefficients, a Series."""
        return self.bse.iloc[: len(self.model.exog_names)]

    @property
    def cov_re(self):
        """Posterior mean of the effects' covariance matrix, a DataFrame."""
        effects, first = self.model.effects, len(self.model.exog_names)
        q = effects.loading.q
        sds = self.flat[:, first : first + q]
        cov = np.einsum("mi,mj->mij", sds, sds) * np.eye(q)
        for k, (i, j) in enumerate(effects.loading.correlations()):
            cov[:, i, j] = cov[:, j, i] = self.flat[:, first + q + k] * sds[:, i] * sds[:, j]
        mean = np.average(cov, axis=0, weights=self.flat_weights)
        names = [name[3:-1] for name in effects.sds] if len(effects.factors) > 1 else None
        names = effects.columns if names is None else names
        return pd.DataFrame(mean, names, names)

    @property
    def random_effects(self):
        """Posterior means of the effects, a dict from level to Series, as in statsmodels; of nested
        factors a dict of such dicts, by factor.
        """
        found = {
            name: means_by_level(self.ranef(name)["mean"], self.columns_of(k))
            for k, name in enumerate(self.model.effects.factors)
        }
        return found if len(found) > 1 else found[self.model.effects.factor]

    def ranef(self, factor=None, *, alpha=0.05, draws=None):
        """Effects of the levels: posterior mean, sd and interval.

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
        out = np.empty((len(levels), len(columns), 4))
        effects, w = self.effects_of_levels("ranef", k, levels, draws)
        size = max(1, DRAWN_AT_ONCE // (len(effects.points) * 16 * len(columns)))
        for a in range(0, len(levels), size):
            at = slice(a, a + size)
            drawn, mean, covariance = effects.known(levels[at])
            centre = np.average(mean, axis=1, weights=w)
            spread = np.average((mean - centre[:, None]) ** 2, axis=1, weights=w)
            within = np.diagonal(covariance, axis1=2, axis2=3)
            out[at, :, 0] = centre
            out[at, :, 1] = np.sqrt(spread + np.average(within, axis=1, weights=w))
            flat = np.moveaxis(drawn, 1, 0).reshape(1, drawn.shape[1], -1)
            out[at, :, 2:] = moments.quantile(flat, ends, w).T.reshape(*centre.shape, 2)
        index = self.model.factor_levels[k].rename(self.index_names(k))
        if len(columns) > 1:
            index = with_effect(index, columns)
        names = ["mean", "sd", *(f"{100 * end:g}%" for end in ends)]
        return pd.DataFrame(out.reshape(-1, 4), index, names)

    def ranef_draws(self, factor=None, levels=None, *, draws=None, seed=None):
        """Draws of the effects of levels, jointly with those of the parameters.

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
        wanted = np.arange(len(known)) if levels is None else known.get_indexer(list(levels))
        if (wanted < 0).any():
            lost = list(levels)[int(np.argmin(wanted))]
            raise ArgumentError(
                f"levels: there is no {lost!r} of {self.model.effects.factors[k]}"
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

    def effects_of_levels(self, what, k, levels, draws=None, seed=None):
        """`LevelEffects` of a factor at some of the draws, and their weights."""
        if self._fit is None:
            raise ArgumentError(
                f"{what} needs the data of the fit: these results were loaded from a file, or "
                "saved without theirs"
            )
        effects = level_effects(self, self.seed if seed is None else entropy(seed))[k]
        count = whole("draws", draws, 1, none=True)
        if count is None:
            count = max(FEWEST_DRAWS, int(ROWS_WORK // max(effects.work(levels), 1)))
        w = self.flat_weights
        kept = evenly(len(effects.points), count)
        return effects.with_draws(kept), None if w is None else w[kept]

    def check_factor(self, factor):
        """The number of a factor; ArgumentError for one that the fit does not have, or where there
        are several and none is named.
        """
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
        """The effects of each level of a factor."""
        return self.model.effects.columns[self.model.effects.spans()[k]]

    def index_names(self, k):
        """Names of the levels' index: that of the factor, or those of its columns."""
        index = self.model.factor_levels[k]
        return list(index.names) if index.nlevels > 1 else self.model.effects.factors[k]

    def table_rows(
        self, exog=None, offset=None, *, random=True, new_levels="sample", transform=True, **how
    ):
        """`Rows` of new data or of the fit's, with the effects of their groups."""
        one_of("new_levels", new_levels, NEW_LEVELS)
        rows = rows_of(self, exog, offset, transform=transform, **how)
        if not random:
            return rows
        if exog is None:
            code, Z = codes_of_fit(self._fit.problem)
            return with_effects(rows, level_effects(self, self.seed), code, Z)
        spec, effects = self.model.groups, self.model.effects
        if spec is None or not transform:
            raise ArgumentError(
                "random=True: effects of new rows need a table with the columns of the groups; "
                "give random=False for predictions at effects of zero"
            )
        found, Z = spec.new(exog)
        for (_, new), name in zip(found, effects.factors):
            if new_levels == "error":
                refuse_new(new, name)
        if self._fit is None:
            raise ArgumentError(
                "random=True: effects of levels need the data of the fit, which were not saved; "
                "give random=False for predictions at effects of zero"
            )
        code = np.column_stack([code for code, _ in found])
        return with_effects(rows, level_effects(self, self.seed), code, Z)

    def predict(
        self, exog=None, transform=True, *, offset=None, exposure=None, random=True,
        new_levels="sample",
    ):  # fmt: skip
        """Posterior mean of E[y | x, group], averaged over draws.

        Parameters
        ----------
        exog, transform, offset, exposure
            As for regressions.
        random : bool
            False: at effects of zero.
        new_levels : {"sample", "error"}
            What to do about levels that the fit has not seen: draw effects from their population,
            one for each level and draw, or refuse.  Rows without a level are NaN.
        """
        how = dict(random=random, new_levels=new_levels)
        offset = with_exposure(self, exog, offset, exposure)
        return prediction.predict(self, exog, offset, transform, **how)

    def get_prediction(
        self, exog=None, transform=True, *, offset=None, exposure=None, trials=None, seed=None,
        random=True, new_levels="sample",
    ):  # fmt: skip
        """E[y | x, group] with its uncertainty; `random` and `new_levels` as in `predict`, all else
        as for regressions.
        """
        offset = with_exposure(self, exog, offset, exposure)
        rows = self.table_rows(
            exog, offset, trials=trials, transform=transform, random=random, new_levels=new_levels
        )
        return prediction.Prediction(rows, self, seed)

    def posterior_predict(
        self, exog=None, *, offset=None, exposure=None, trials=None, draws=None, seed=None,
        random=True, new_levels="sample",
    ):  # fmt: skip
        """Simulated outcomes, one data set a draw; `random` and `new_levels` as in `predict`, all
        else as for regressions.
        """
        how = dict(random=random, new_levels=new_levels)
        offset = with_exposure(self, exog, offset, exposure)
        return prediction.posterior_predict(self, exog, offset, trials, draws, seed, **how)

    def log_lik(
        self, exog=None, endog=None, *, offset=None, exposure=None, trials=None, draws=None,
        random=True, new_levels="sample",
    ):  # fmt: skip
        """Log densities of single outcomes given the effects of their groups; `random` and
        `new_levels` as in `predict`, all else as for regressions.
        """
        how = dict(random=random, new_levels=new_levels)
        offset = with_exposure(self, exog, offset, exposure)
        return residuals.log_lik(self, exog, endog, offset, trials, draws, **how)

    def loo(self, rows=None, seed=None, *, group=False):
        """Expected log predictive density by leaving out one row, or one group, at a time, with
        Pareto-smoothed importance sampling.

        A row is predicted by the other rows of its group, sum_i log p(y_i | y_-i): how well new
        rows of known levels are predicted.  A group is predicted by the other groups, sum_g log
        p(y_g | y_-g): how well new levels are.  Effects are integrated out at each draw of the
        parameters, so that only these are weighted by importance (Merkle, Furr & Rabe-Hesketh 2019,
        doi:10.1007/s11336-019-09679-0).

        Parameters
        ----------
        rows, seed
            As for regressions; with `group` of groups.
        group : bool
            Whether to leave out groups, of nested factors those of the outer one.

        Returns
        -------
        Loo
        """
        return loo(self, rows, seed, "groups" if group else "rows")

    def left_out(self, unit):
        """What `loo` leaves out, `LeftOutRows` or `LeftOutGroups`."""
        fitted_rows(self, "loo")
        return {"rows": LeftOutRows, "groups": LeftOutGroups}[unit].of(self)


def codes_of_fit(problem):
    """Levels of the rows that a problem has, (n, factors), and the covariates of each factor's
    effects.
    """
    rows, inner = problem.rows, problem.rows.subgroups
    codes = [np.repeat(rows.level, np.diff(rows.starts))]
    if inner is not None:
        codes.append(np.repeat(inner.level, np.diff(inner.starts)))
    return np.column_stack(codes), [rows.Z[:, span] for span in problem.effects.spans()]


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
