"""The results of a regression with grouped effects."""

import numpy as np
import pandas as pd

from sgmc.arguments.choices import nearest, one_of
from sgmc.arguments.numbers import level as probability
from sgmc.arguments.numbers import whole
from sgmc.arguments.seeds import entropy
from sgmc.errors import ArgumentError, NotSupported
from sgmc.models.mixed.random_effects import level_effects, posterior_of
from sgmc.models.mixed.rows_with_effects import refuse_new, with_effects
from sgmc.models.regression.results import RegressionResults
from sgmc.results.outcomes import prediction, residuals
from sgmc.results.outcomes.rows import FEWEST_DRAWS, ROWS_WORK, evenly, rows_of, with_exposure

NEW_LEVELS = ("sample", "error")
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
        return pd.DataFrame(mean, effects.columns, effects.columns)

    @property
    def random_effects(self):
        """Posterior means of the effects, a dict from level to Series, as in statsmodels."""
        table = self.ranef()["mean"]
        if len(self.model.effects.columns) == 1:
            return {
                one: pd.Series([mean], self.model.effects.columns) for one, mean in table.items()
            }
        return {one: part.droplevel(0) for one, part in table.groupby(level=0, sort=False)}

    def ranef(self, factor=None, *, alpha=0.05, draws=None):
        """Effects of the levels: posterior mean, sd and interval.

        Means and sds are averages over draws of the parameters of the conditional ones; intervals
        are quantiles of draws.

        Parameters
        ----------
        factor : str, optional
            Name of the grouping factor.
        alpha : float
            One minus the probability of the intervals.
        draws : int, optional
            How many draws to use, evenly spaced; default as many as take a few seconds.

        Returns
        -------
        DataFrame
            A row per level; with several effects, per level and effect.
        """
        self.check_factor(factor)
        levels, columns = np.arange(len(self.model.sizes)), self.model.effects.columns
        ends = [probability(alpha) / 2, 1 - alpha / 2]
        effects, w = self.effects_of_levels("ranef", levels, draws)
        out = posterior_of(effects, w, levels, ends)
        index = pd.Index(self.model.levels_of_groups, name=self.model.effects.factor)
        if len(columns) > 1:
            index = pd.MultiIndex.from_product([index, columns], names=[index.name, "effect"])
        names = ["mean", "sd", *(f"{100 * end:g}%" for end in ends)]
        return pd.DataFrame(out.reshape(-1, 4), index, names)

    def ranef_draws(self, factor=None, levels=None, *, draws=None, seed=None):
        """Draws of the effects of levels, jointly with those of the parameters.

        Parameters
        ----------
        factor : str, optional
            Name of the grouping factor.
        levels : list, optional
            Default all.
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
        self.check_factor(factor)
        known = pd.Index(self.model.levels_of_groups)
        wanted = np.arange(len(known)) if levels is None else known.get_indexer(list(levels))
        if (wanted < 0).any():
            lost = list(levels)[int(np.argmin(wanted))]
            raise ArgumentError(
                f"levels: there is no {lost!r} of {self.model.effects.factor}"
                f"{nearest(str(lost), [str(one) for one in known])}"
            )
        count = len(self.flat) if draws is None else whole("draws", draws, 1)
        size = 8 * len(wanted) * count * self.model.effects.loading.q
        if size > EFFECTS_MEMORY:
            raise ArgumentError(
                f"ranef_draws of {len(wanted):,} levels and {count:,} draws is {size / 2**30:.1f} "
                "GB, over the limit of 1 GB; give levels= or draws="
            )
        effects, _ = self.effects_of_levels("ranef_draws", wanted, count, seed)
        return np.ascontiguousarray(np.moveaxis(effects.draws(wanted), 1, 0))

    def effects_of_levels(self, what, levels, draws=None, seed=None):
        """`LevelEffects` at some of the draws, and their weights."""
        if self._fit is None:
            raise ArgumentError(
                f"{what} needs the data of the fit: these results were loaded from a file, or "
                "saved without theirs"
            )
        effects, w = level_effects(self, self.seed if seed is None else entropy(seed)), None
        count = whole("draws", draws, 1, none=True)
        if count is None:
            count = max(FEWEST_DRAWS, int(ROWS_WORK // max(effects.work(levels), 1)))
        w = self.flat_weights
        kept = evenly(len(effects.points), count)
        return effects.with_draws(kept), None if w is None else w[kept]

    def check_factor(self, factor):
        """ArgumentError for a factor that is not that of the fit."""
        name = self.model.effects.factor
        if factor is not None and factor != name:
            raise ArgumentError(f"there is no grouping factor {factor!r}; there is {name!r}")

    def table_rows(
        self, exog=None, offset=None, *, random=True, new_levels="sample", transform=True, **how
    ):
        """`Rows` of new data or of the fit's, with the effects of their groups."""
        one_of("new_levels", new_levels, NEW_LEVELS)
        rows = rows_of(self, exog, offset, transform=transform, **how)
        if not random:
            return rows
        if exog is None:
            held = self._fit.problem.rows
            code = np.repeat(held.level, np.diff(held.starts))
            return with_effects(rows, level_effects(self, self.seed), code, held.Z)
        spec = self.model.groups
        if spec is None or not transform:
            raise ArgumentError(
                "random=True: effects of new rows need a table with the columns of the groups; "
                "give random=False for predictions at effects of zero"
            )
        [(code, new)], Z = spec.new(exog)
        if new_levels == "error":
            refuse_new(new, self.model.effects.factor)
        if self._fit is None:
            raise ArgumentError(
                "random=True: effects of levels need the data of the fit, which were not saved; "
                "give random=False for predictions at effects of zero"
            )
        order = np.argsort(code, kind="stable")
        return with_effects(
            rows, level_effects(self, self.seed), code, np.concatenate(Z, axis=1), order
        )

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

    def loo(self, rows=None, seed=None):
        """Not there yet for group terms."""
        raise NotSupported(
            "loo with group terms; compare models by their predictions of new groups"
        )
