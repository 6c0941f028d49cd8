"""The results of a regression whose largest factor is integrated out."""

from dataclasses import replace

import numpy as np
import pandas as pd

from sgmc.arguments.intervals import with_level
from sgmc.arguments.names import parameters
from sgmc.arguments.numbers import level as probability
from sgmc.arguments.numbers import whole
from sgmc.core.system import deadline
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit.parts import DRAWS_MEMORY
from sgmc.models.regression.info import ModelInfo
from sgmc.models.regression.latent.effects.left_out import LeftOutRows
from sgmc.models.regression.latent.effects.random_effects import effects_of_fit, posterior_of
from sgmc.models.regression.latent.effects.rows_with_effects import with_effects
from sgmc.models.regression.latent.effects.saved_effects import LevelsWithoutData
from sgmc.models.regression.latent.integrated.info import sizes_in_words
from sgmc.models.regression.latent.levels.split import prior_units
from sgmc.models.regression.results import RegressionResults
from sgmc.results.outcomes.data.rows import evenly, fitted_rows, rows_of

SHOWN_DRAWS = 20  # of the parameters, for the ranges beneath a summary
ROW_WORK = 50.0  # floating-point operations of a row at a node


class LevelsInfo(ModelInfo):
    """What a result keeps of a model whose largest factor is integrated out.

    Attributes
    ----------
    split : Split
    sizes : array (groups,)
        Rows of each.
    """

    def __init__(self, model):
        super().__init__(model)
        self.spec, self.split = model.split, model.split
        self.sizes = np.diff(model.grouping.starts)
        self.df_model += len(model.split.columns)

    def heading(self, fit):
        left, right = super().heading(fit)
        return left, [*right, ("Integrated out", f"{len(self.split.columns)}")]

    def remarks(self, fit):
        split = self.split
        sizes = self.sizes[: split.occurring]
        lines = [
            f"{len(split.columns)} coefficients of {split.term}, with prior {split.prior}, are "
            f"integrated out{self.ranges(fit)}; coefficients() lists them. Their levels have "
            f"{sizes_in_words(sizes)}."
        ]
        return [*lines, *super().remarks(fit)]

    def details(self, fit):
        # how coefficients are integrated out
        rule = fit.problem.own.rule
        if not rule.nodes:
            return super().details(fit)
        line = f"Each is integrated out by {rule.nodes} quadrature nodes{rule.shown}."
        return [line, *super().details(fit)]

    def ranges(self, fit):
        """Ranges of the levels' posterior means and sds, where there is time for them."""
        work = (
            ROW_WORK * SHOWN_DRAWS * len(fit.problem.table.y) * max(fit.problem.own.rule.nodes, 1)
        )
        if fit.stand_in or deadline.current().left() < 2 * work / deadline.OPERATIONS:
            return ""
        [effects] = effects_of_fit(fit, fit.settings.seed, [self.sizes])
        kept, split = evenly(len(effects.points), SHOWN_DRAWS), self.split
        weights = None if fit.weights is None else np.tile(fit.weights, len(fit.x))[kept]
        levels = np.arange(split.occurring)
        found = posterior_of(effects.with_draws(kept), weights, levels, [])[:, 0]
        mean = split.location[levels] + split.scale[levels] * found[:, 0]
        sd = split.scale[levels] * found[:, 1]
        return (
            f": posterior means from {mean.min():.3g} to {mean.max():.3g}, sds from {sd.min():.3g} "
            f"to {sd.max():.3g}"
        )


class LevelsResults(LevelsWithoutData, RegressionResults):
    """The posterior of a regression with a factor of very many levels: draws of all parameters but
    the levels' coefficients, which are drawn on demand from their posterior given each draw, from
    the seed of the fit; predictions have them.
    """

    @with_level
    def coefficients(self, names=None, *, alpha=0.05, draws=None):
        """All coefficients, those of the levels included: posterior mean, sd and interval.

        Means and sds of the levels' are averages over draws of the other parameters of the
        conditional ones; intervals are quantiles of draws.

        Parameters
        ----------
        names : str or list of str, optional
            Default all, in the order of the design.
        alpha : float
            One minus the probability of the intervals.
        draws : int, optional
            How many draws to use for the levels', evenly spaced; default as many as take some
            seconds, and at least 200.

        Returns
        -------
        DataFrame
            A row per coefficient.
        """
        split, wanted = self.model.split, self.wanted(names)
        tail = probability(alpha) / 2
        columns = ["mean", "sd", f"{100 * tail:g}%", f"{100 * (1 - tail):g}%"]
        ends = [tail, 1 - tail]
        out = pd.DataFrame(np.nan, pd.Index(wanted, name="coefficient"), columns)
        place = split.names.get_indexer(wanted)
        mine = np.flatnonzero(place >= 0)
        if len(mine):
            location, scale = split.location[place[mine]], split.scale[place[mine]]
            found = self.standardised(split.group[place[mine]], ends, draws)
            found *= scale[:, None]
            found[:, [0, 2, 3]] += location[:, None]
            out.iloc[mine] = found
        others = np.flatnonzero(place < 0)
        if len(others):
            at = [self.names.index(wanted[k]) for k in others]
            flat, w = self.flat[:, at], self.flat_weights
            centre = np.average(flat, axis=0, weights=w)
            spread = np.sqrt(np.average((flat - centre) ** 2, axis=0, weights=w))
            quantiles = moments.quantile(flat[None], ends, w)
            out.iloc[others] = np.column_stack([centre, spread, *quantiles])
        return out

    def standardised(self, groups, ends, draws):
        """Mean, sd and quantiles of u of levels by their numbers, (levels, 2 + ends)."""
        out, seen = np.empty((len(groups), 2 + len(ends))), groups < len(self.model.sizes)
        if seen.any():
            effects, w = self.effects_of_levels("coefficients", 0, groups, draws)
            out[seen] = posterior_of(effects, w, groups[seen], ends)[:, 0]
        if not seen.all():  # no row tells them from their prior
            from scipy.special import ndtri

            out[~seen] = [0.0, 1.0, *ndtri(ends)]
        return out

    def coefficient_draws(self, names=None, *, draws=None, seed=None):
        """Joint draws of coefficients, those of levels included.

        Parameters
        ----------
        names : str or list of str, optional
            Default all.
        draws : int, optional
            How many draws to use, evenly spaced; default all, in the order of `flat`, to be
            weighted by `flat_weights`.
        seed : int, SeedSequence or Generator, optional
            Of the levels' draws; default that of the fit.

        Returns
        -------
        ndarray, (draw, coefficient)

        Raises
        ------
        ArgumentError
            For a name that there is not, or if it would be larger than 1 GB.
        """
        split, wanted = self.model.split, self.wanted(names)
        count = len(self.flat) if draws is None else min(whole("draws", draws, 1), len(self.flat))
        size = 8 * len(wanted) * count
        if size > DRAWS_MEMORY:
            raise ArgumentError(
                f"coefficient_draws of {len(wanted):,} coefficients and {count:,} draws is "
                f"{size / 2**30:.1f} GB, over the limit of 1 GB; give names= or draws="
            )
        kept, place = evenly(len(self.flat), count), split.names.get_indexer(wanted)
        out, mine = np.empty((len(kept), len(wanted))), np.flatnonzero(place >= 0)
        for k in np.flatnonzero(place < 0):
            out[:, k] = self.flat[kept, self.names.index(wanted[k])]
        if len(mine):
            groups = split.group[place[mine]]
            effects, _ = self.effects_of_levels("coefficient_draws", 0, groups, count, seed)
            u = effects.draws(groups)[:, :, 0].T
            out[:, mine] = split.location[place[mine]] + split.scale[place[mine]] * u
        return out

    def wanted(self, names):
        """Names of coefficients as a list; ArgumentError for one that there is not."""
        whole_design = list(self.model.split.spec.exog_names)
        return whole_design if names is None else list(parameters("names", names, whole_design))

    def level_effects(self, seed):
        """`LevelEffects` of the levels, in a list, at all draws."""
        return effects_of_fit(self._fit, seed, [self.model.sizes])

    def cov_params(self, r_matrix=None, column=None, *, cov_type=None):
        """Posterior covariance, as for regressions; of coefficients of levels by name alone, from
        `coefficient_draws`.
        """
        chosen = [column] if isinstance(column, str) else list(column or [])
        if r_matrix is None and self.model.split.names.isin(chosen).any():
            draws = self.coefficient_draws(chosen)
            covariance = np.atleast_2d(np.cov(draws.T, aweights=self.flat_weights))
            return pd.DataFrame(covariance, chosen, chosen)
        return super().cov_params(r_matrix, column, cov_type=cov_type)

    def prior_units(self, data):
        return prior_units(data, self.model.family)

    def left_out(self, group):
        """`LeftOutRows`: the coefficient of a row's level is integrated out."""
        fitted_rows(self, "loo")
        return LeftOutRows.of(self, [self.model.sizes])

    def table_rows(self, exog=None, offset=None, *, transform=True, **how):
        """`Rows` of new data or of the fit's, with the coefficients of their levels."""
        if exog is not None and not transform:
            raise NotSupported(
                f"transform=False: levels of {self.model.split.term} are read from the table; give "
                "the columns of the formula",
                because="mathematics",
            )
        rows = rows_of(self, exog, offset, transform=transform, **how)
        if exog is None:
            held = self._fit.problem.own.rows
            code = np.repeat(held.level, np.diff(held.starts))
            return with_effects(rows, self.level_effects(self.seed), code[:, None], [held.Z])
        split = self.model.split
        code, z, fixed = split.effects(split.spec.table(exog))
        rows, code = replace(rows, offset=rows.offset + fixed), code[:, None]
        found = self.of_known_or_new(code, [split.term], [self.model.sizes])
        if found is None:
            self.saved_effects("predictions", None, None)
        effects, kept = found
        return with_effects(
            rows if kept is None else rows.with_draws(kept), effects, code, [z[:, None]]
        )
