"""The results of a regression with effects of several factors."""

from dataclasses import replace
from functools import partial

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.intervals import with_level
from sgmc.arguments.numbers import whole
from sgmc.arguments.seeds import entropy
from sgmc.core.partial import pooled
from sgmc.core.system import phases
from sgmc.errors import ArgumentError, DataError
from sgmc.models.regression.bases.predictors.two_predictors import of_columns
from sgmc.models.regression.imputed import ROUNDING, Imputed
from sgmc.models.regression.info import ModelInfo
from sgmc.models.regression.latent.effects.banked import banked_effects
from sgmc.models.regression.latent.effects.continued import continued
from sgmc.models.regression.latent.effects.curves import (
    CurveDraws,
    columns_of,
    spacing,
    whole_draws,
    with_curves,
)
from sgmc.models.regression.latent.effects.rows_with_effects import codes_of_new, with_effects
from sgmc.models.regression.latent.effects.saved_effects import (
    SAVED_BYTES,
    SavedLevels,
    joined,
    populations_of,
)
from sgmc.models.regression.latent.effects.smooth_results import Smooths
from sgmc.models.regression.latent.integrated.info import sized
from sgmc.models.regression.latent.integrated.results import NEW_LEVELS, MixedResults, same_levels
from sgmc.models.regression.latent.sampled.centre.correlation import described
from sgmc.models.regression.latent.sampled.left_out import (
    LeftOutLevels,
    LeftOutOfCrossed,
    refuse_outer,
)
from sgmc.models.regression.latent.sampled.left_out_of_several import LevelsOfSeveral
from sgmc.results.outcomes.data.beside import check_errors, check_trials, outcomes
from sgmc.results.outcomes.data.labels import labels_of_fit
from sgmc.results.outcomes.data.rows import (
    Rows,
    design_of,
    evenly,
    fitted_rows,
    refuse_prior_alone,
    rows_of,
)


class CrossedInfo(ModelInfo):
    """What a result keeps of a model with crossed factors.

    Attributes
    ----------
    effects : CrossedEffects
    groups : GroupSpec
    factor_levels : list of Index
        Of each factor.
    sizes : list of array (levels,)
        Rows of each level.
    """

    def __init__(self, model):
        super().__init__(model)
        crossing = model.grouping
        # smooths have the spectra, which no result reads
        self.effects = replace(model.effects, spectral=[], spectrum=None)
        self.groups = crossing.spec
        self.factor_levels = [one.index for one in crossing.factors]
        self.sizes = [np.bincount(codes) for codes in crossing.codes.T]

    def heading(self, fit):
        left, right = super().heading(fit)
        levels = " x ".join(f"{len(one)}" for one in self.sizes)
        return left, [*right, ("No. Groups", levels)] if levels else right

    def remarks(self, fit):
        lines = [sized("Groups:", *one) for one in zip(self.effects.factors, self.sizes)]
        rows = fit.problem.own.rows
        count = rows.blocks.effects - rows.curves.shape[1]
        if count:
            lines.append(
                f"{count} effects are sampled with the other parameters; ranef() has them."
            )
        for one, (edf, most) in fit.problem.own.edf.items():
            lines.append(f"{one}: {edf:.1f} effective degrees of freedom, of at most {most}.")
        return [*lines, *super().remarks(fit)]


class CrossedResults(Smooths, MixedResults):
    """The posterior of a regression with effects of several factors, or with smooths: draws of
    coefficients, standard deviations, correlations and auxiliary parameters.  Of the effects, means
    and standard deviations over all draws are kept, and at most 200 whole draws a chain, of which
    quantiles and predictions are made; without factors all draws are whole.
    """

    @classmethod
    def besides(cls, fit):
        # coefficients and smooths are few numbers, and saved
        return {"curve_draws": CurveDraws.of_fit(fit), "freedom": fit.problem.own.edf}

    def whole(self, what):
        """Return whole draws (m, dim): coefficients of the table's columns, effects, phi, logs."""
        draws = None if self._fit is None else whole_draws(self._fit)
        if draws is None:
            raise ArgumentError(
                f"{what} needs whole draws of the fit: these results were loaded from a file that "
                "has none, resume(data=<the table of the fit>) makes them again; or time_limit "
                "left none"
            )
        return draws

    def _details(self):
        if self._fit is None or self.stand_in or len(self.model.effects.factors) < 2:
            return []
        if not np.isfinite(self._ess).any():  # of so few draws nothing is known
            return []
        return [described(self._fit, self.model.effects.factors, self._ess)]

    def effects_at_draws(self, draws, seed=None):
        """Return the `BankedEffects` of each factor at whole draws."""
        seed = self.seed if seed is None else entropy(seed)
        effects, rows = self._fit.problem.own.effects, self._fit.problem.own.rows
        return banked_effects(draws, rows, effects, self.model.sizes, seed)

    def effects_of_levels(self, what, k, levels, draws=None, seed=None):
        # at the whole draws that were kept
        count = whole("draws", draws, 1, none=True)
        if self._fit is None:
            effects = self.saved_effects(what, None, seed).effects[k]
        else:
            effects = self.effects_at_draws(self.whole(what), seed)[k]
        count = count or len(effects.points)
        return effects.with_draws(evenly(len(effects.points), count)), None

    @phases.shown("effects of groups")
    @with_level
    def ranef(self, factor=None, *, alpha=0.05, draws=None):
        """Return effects of the levels: posterior mean, sd and interval.

        Means and sds are those of all draws, intervals quantiles of the whole draws that were kept.

        Parameters
        ----------
        factor : str, optional
            Name of the grouping factor; default all.
        alpha : float
            One minus the probability of the intervals.
        draws : int, optional
            How many whole draws to use, for all columns; default all.

        Returns
        -------
        DataFrame
            A row per level; with several effects, per level and effect.  Of all factors a dict of
            such tables.
        """
        table = super().ranef(factor, alpha=alpha, draws=draws)
        if isinstance(table, dict) or draws is not None:
            return table
        mean, sd = self.moments_of_effects(self.check_factor(factor))
        return table.assign(mean=mean, sd=sd)

    def moments_of_effects(self, k):
        """Return means and sds of a factor's effects over all draws."""
        if self._fit is None:
            return self._levels.moments[k]
        if self._fit.problem.partial:
            mean, sd = pooled(self._fit.recorders)
        else:
            draws = self._fit.problem.coordinates.natural(self._fit.x)
            mean, sd = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
        places = self._fit.problem.own.rows.places(k).ravel()
        return mean[places], sd[places]

    def to_arviz(
        self, log_likelihood=False, effects=False, *, posterior_predictive=False,
        observed_data=True,
    ):  # fmt: skip
        """Return an ArviZ `DataTree`, see `Results.to_arviz`.

        Parameters
        ----------
        log_likelihood, posterior_predictive : bool
            As for regressions, given the effects, with crossed factors at the whole draws that
            were kept: their coordinate ``draw`` has the numbers of these.
        observed_data : bool
            With the outcomes.
        effects : bool
            Add a group ``effects``: a variable ``"1|g"`` for each effect, along a dimension for
            each factor, at the whole draws that were kept.  Its coordinate ``draw`` has their
            numbers among the draws of the group ``posterior``.
        """
        if not self.model.effects.factors:
            return super().to_arviz(
                log_likelihood,
                posterior_predictive=posterior_predictive,
                observed_data=observed_data,
            )
        from xarray import DataTree

        tree = super().to_arviz(
            log_likelihood,
            posterior_predictive=posterior_predictive,
            observed_data=observed_data,
        )
        for group in ("log_likelihood", "posterior_predictive"):
            if group in tree.children:  # at the whole draws
                held = tree[group].to_dataset()
                tree[group] = DataTree(held.assign_coords(draw=self.kept_numbers()))
        if effects:
            tree["effects"] = DataTree(self.banked_dataset())
        return tree

    def banked_dataset(self):
        """Return effects at the whole draws, an xarray `Dataset`."""
        from xarray import Dataset

        if self._fit is None:
            raise ArgumentError(
                f"to_arviz(effects=True) needs the data of the fit: {self._without_rows}"
            )
        found, kept = {}, self.kept_numbers()
        for k, factor in enumerate(self.model.effects.factors):
            drawn, labels = self.ranef_draws(factor), self.model.factor_levels[k]
            for j, column in enumerate(self.columns_of(k)):
                by_chain = drawn[..., j].reshape(-1, len(kept), len(labels))
                found[f"{column}|{factor}"] = ("chain", "draw", factor), by_chain
            names = [":".join(map(str, one)) if isinstance(one, tuple) else one for one in labels]
            found[factor] = factor, names
        return Dataset(found).assign_coords(chain=np.arange(len(by_chain)), draw=kept)

    @property
    def _joint_draws(self):
        # whole draws have effects
        if not self.model.effects.factors:
            return super()._joint_draws
        return self.draws[:, self.kept_numbers()].reshape(-1, self.draws.shape[2])

    def kept_numbers(self):
        """Return the numbers of the whole draws of a chain among all of its draws."""
        numbers = np.arange(0, self.draws.shape[1], spacing(self._fit))
        if self._fit.problem.partial:
            return numbers[: len(self._fit.recorders[0].bank[0])]
        return numbers

    def table_rows(
        self, exog=None, offset=None, *, endog=None, random=True, new_levels=None,
        transform=True, **beside,
    ):  # fmt: skip
        """Return the `Rows` of new data or of the fit's, with the effects of their levels."""
        one_of("new_levels", new_levels, NEW_LEVELS)
        factors, smooths = self.model.effects.factors, self.model.groups.smooths
        if exog is None and self._fit is not None:
            refuse_prior_alone(self._fit)
            return self.rows_of_fit(random and bool(factors))
        if not (random and factors):  # all draws, where smooths have no fewer
            how = self.new_rows if smooths else partial(rows_of, self)
            return how(exog, offset, endog=endog, transform=transform, **beside)
        if exog is not None and (self.model.spec is None or not transform):
            raise ArgumentError(
                "random=True: effects of new rows need a table with the columns of the groups; "
                "give random=False for predictions at effects of zero"
            )
        earlier = self._fit is None and self._levels is None  # a file without whole draws
        if earlier and smooths:
            self.whole("predictions with effects")
        how = partial(rows_of, self) if earlier else self.new_rows
        rows = how(exog, offset, endog=endog, transform=transform, **beside)
        found, Z = self.model.groups.new(exog)
        code = codes_of_new(found, factors, self.model.sizes, new_levels)
        of = self.model.groups.effect_predictors
        return with_effects(rows, self.effects_of_new(code)[0], code, Z, of)

    def level_effects(self, seed):
        # at the whole draws
        return self.effects_at_draws(self.whole("predictions with effects"), seed)

    def levels_to_save(self):
        # all whole draws, or none where they are too large
        draws, names = whole_draws(self._fit), self.model.effects.factors
        if draws is None or not names:
            return None
        every = self.effects_at_draws(draws)
        fits = sum(one.points.nbytes for one in every) <= SAVED_BYTES
        return SavedLevels(
            populations_of(every),
            every if fits else None,
            np.arange(len(draws)),
            [self.moments_of_effects(k) for k in range(len(names))],
        )

    def fixed_rows(self, draws):
        """Return the fit's rows with the coefficients of whole draws alone."""
        problem = self._fit.problem
        table, offset = problem.own.rows.fixed, np.asarray(problem.model.offset)
        return Rows(
            self.model.family,
            table.X,
            draws[:, : problem.own.rows.blocks.d],
            self.auxiliary_at(draws),
            None,
            offset if len(offset) else np.zeros(len(table.y)),
            labels_of_fit(self),
            table.order,
            table.y,
            table.trials,
            table.weight,
            table.se,
        )

    def rows_of_columns(self):
        """Return the fit's rows, effects of levels being coefficients of columns of their own."""
        own, draws = self._fit.problem.own.rows, self.whole("loo")
        rows, X = self.fixed_rows(draws), own.table.X
        family = of_columns(rows.family, own.predictor)
        return replace(rows, family=family, X=X, coefficients=draws[:, : X.shape[1]])

    def rows_of_fit(self, random):
        """Return the fit's rows, with the effects of their levels or at effects of zero."""
        problem, draws = self._fit.problem, self.whole("predictions with effects or smooths")
        rows, own = self.fixed_rows(draws), problem.own.rows
        groups, places = self.model.groups, own.dense[own.blocks.d :]
        rows = with_curves(rows, own.curves, draws[:, places], groups.smooths)
        if not random:
            return rows
        Z = [own.Z[:, span] for span in problem.own.effects.of_factor]
        effects = self.effects_at_draws(draws)
        return with_effects(rows, effects, own.codes, Z, groups.effect_predictors)

    def new_rows(self, exog, offset, endog, transform, trials=None, se=None):
        """Return new rows at effects of zero, at the whole draws."""
        smooths, curves = self.model.groups.smooths, self.curve_draws
        if smooths and (self.model.spec is None or not transform):
            raise ArgumentError("smooths of new rows need a table with their columns")
        X, off, index = design_of(self, exog, offset, transform)
        size = check_trials(self, exog, trials, X.shape[0])
        y = None if endog is None else outcomes(self, exog, endog, X.shape[0], size)
        if curves is None:
            self.whole("predictions with effects or smooths")
        errors = check_errors(self, exog, se, X.shape[0])
        draws = curves.coefficients, curves.extra
        rows = Rows(self.model.family, X, *draws, None, off, index, y=y, trials=size, se=errors)
        if not smooths:
            return rows
        columns, drawn = columns_of(smooths, exog), curves.columns
        later, paths, of = continued(smooths, exog, drawn, self.parameter_draws)
        if of:
            columns, drawn = np.hstack([columns, later]), np.hstack([drawn, paths])
        return with_curves(rows, columns, drawn, smooths, of)

    def parameter_draws(self, name):
        """Return whole draws of a parameter, as many as smooths have."""
        return self.curve_draws.parameters[:, self.names.index(name)]

    def auxiliary_at(self, draws):
        """Return auxiliary parameters (k, m) of whole draws, or None."""
        k, report = len(self.model.family.auxiliary), self._fit.problem.coordinates.report
        return report.numbers(draws[:, draws.shape[1] - k :]).T if k else None

    def left_out(self, group):
        factors = self.model.effects.factors
        if not factors:
            if group:
                raise ArgumentError("group=True applies to group terms, and the formula has none")
            return fitted_rows(self, "loo")
        fitted_rows(self, "loo")
        several = self.model.family.linear_predictors > 1
        if not group:
            return self.rows_of_columns() if several else LeftOutOfCrossed.of(self)
        k = self.check_factor(None if group is True else group)
        refuse_outer(self, k)
        return (LevelsOfSeveral if several else LeftOutLevels).of(self, k)


class ImputedCrossedResults(Imputed, CrossedResults):
    """The pooled posterior of regressions with crossed effects or smooths from several imputed data
    sets, see `ImputedResults`; effects and curves are those of all fits, at the whole draws.
    """

    grouped = True

    @classmethod
    def check_same(cls, first, other, table, k):
        for name, own, others in zip(
            first.effects.factors, first.factor_levels, other.factor_levels
        ):
            same_levels(name, own, others, k)
        for own, others in zip(first.groups.smooths, other.groups.smooths):
            if not same_curves(own, others, table):
                raise DataError(
                    f"{own.label} has other knots or centres in data[{k}] than in data[0], as "
                    "those are of the values that it is given: smooths go with variables that "
                    "were not imputed; give bs(x) columns that are the same in all data sets"
                )

    @classmethod
    def pooled_state(cls, fits, chosen):
        curves = [one.curve_draws for one in fits]
        if any(one is None for one in curves):  # a time limit left no whole draws
            return {"_levels": None, "curve_draws": None}
        fewest = min(len(one.coefficients) for one in curves)
        kept = [evenly(len(one.coefficients), fewest) for one in curves]
        freedom = {
            name: (float(np.mean([one.freedom[name][0] for one in fits])), most)
            for name, (_, most) in fits[0].freedom.items()
        }
        levels = banks_of_all([one.levels_to_save() for one in fits], kept)
        drawn = CurveDraws.joined(curves, kept)
        return {"_levels": levels, "curve_draws": drawn, "freedom": freedom}


def same_curves(first, other, table):
    """Whether two recipes of a smooth make the same columns of a table."""
    found = [one.matrix(*one.read(table)) for one in (first, other)]
    same = found[0].shape == found[1].shape
    return same and np.allclose(*found, **ROUNDING)


def banks_of_all(held, kept):
    """The `SavedLevels` of several fits at some of the whole draws of each, or None without
    factors.
    """
    if held[0] is None:
        return None
    populations = [joined(one) for one in zip(*(one.populations for one in held))]
    effects = None
    if all(one.effects is not None for one in held):
        every = [[of.with_draws(at) for of in one.effects] for one, at in zip(held, kept)]
        effects = [joined(one) for one in zip(*every)]
    moments = []
    for of_fits in zip(*(one.moments for one in held)):
        means, sds = (np.array(one) for one in zip(*of_fits))
        moments.append((means.mean(axis=0), np.sqrt((sds**2).mean(axis=0) + means.var(axis=0))))
    return SavedLevels(populations, effects, np.arange(sum(map(len, kept))), moments)
