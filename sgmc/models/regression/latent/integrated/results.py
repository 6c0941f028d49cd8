"""The results of a regression with grouped effects."""

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.messages import label_text
from sgmc.core.system import phases
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.formula.designs.groups import LABELS
from sgmc.models.regression.imputed import Imputed
from sgmc.models.regression.latent.effects.effects_results import EffectsOfLevels
from sgmc.models.regression.latent.effects.left_out import LeftOutGroups, LeftOutRows
from sgmc.models.regression.latent.effects.random_effects import effects_of_fit, populations
from sgmc.models.regression.latent.effects.rows_with_effects import codes_of_new, with_effects
from sgmc.models.regression.latent.effects.saved_effects import pooled_levels
from sgmc.models.regression.results import RegressionResults
from sgmc.results.outcomes.criticism.loo import loo
from sgmc.results.outcomes.data.beside import with_exposure
from sgmc.results.outcomes.data.rows import fitted_rows, rows_of
from sgmc.results.outcomes.data.second import seen_from
from sgmc.results.outcomes.predicted import prediction, residuals

NEW_LEVELS = ("sample", "error", None)


class MixedResults(EffectsOfLevels, RegressionResults):
    """The posterior of a regression with grouped effects: draws of coefficients, standard
    deviations, correlations and auxiliary parameters.  Effects of levels are drawn on demand from
    their posterior given each draw, from the seed of the fit; predictions have them.
    """

    def table_rows(
        self, exog=None, offset=None, *, random=True, new_levels=None, transform=True,
        groups=None, **how,
    ):  # fmt: skip
        """Return the `Rows` of new data or of the fit's, with the effects of their groups: those of
        a table, or `groups`, labels of designs without one.
        """
        one_of("new_levels", new_levels, NEW_LEVELS)
        rows = rows_of(self, exog, offset, transform=transform, **how)
        if not random:
            return rows
        if exog is None:
            code, Z = codes_of_fit(self._fit.problem)
            return with_effects(rows, self.level_effects(self.seed), code, Z)
        spec, effects = self.model.groups, self.model.effects
        if spec is None or groups is None and (self.model.spec is None or not transform):
            raise ArgumentError(
                "random=True: effects of new rows need a table with the columns of the groups; "
                "give random=False for predictions at effects of zero"
            )
        found, Z = spec.new(exog if groups is None else {LABELS: groups})
        code = codes_of_new(found, effects.factors, self.model.sizes, new_levels)
        effects, kept = self.effects_of_new(code)
        return with_effects(rows if kept is None else rows.with_draws(kept), effects, code, Z)

    def effects_of_new(self, code):
        """Return the effects of levels of new rows, and the draws that they belong to."""
        # files of earlier releases have the population alone
        effects, sizes = self.model.effects, self.model.sizes
        found = self.of_known_or_new(code, effects.factors, sizes)
        return found or (populations(self.model, self.flat, self.seed), None)

    def level_effects(self, seed):
        return effects_of_fit(self._fit, seed, self.model.sizes)

    def population_rows(self, frame, offset):
        return self.table_rows(frame, offset, random=False)

    def predict(
        self, exog=None, transform=True, *, offset=None, exposure=None, which="mean", random=True,
        new_levels=None,
    ):  # fmt: skip
        """Return the posterior mean of E[y | x, group], averaged over draws.

        Parameters
        ----------
        exog, transform, offset, exposure, which
            As for regressions.
        random : bool
            False: at effects of zero.
        new_levels : {"sample", "error"}, optional
            What to do about levels that the fit has not seen: draw effects from their population,
            one for each level and draw, or refuse.  Default: draw them with a
            `NewLevelsWarning`, once per call.  Rows without a level are NaN.
        """
        how, seen = dict(random=random, new_levels=new_levels), seen_from(self, "which", which)
        offset = with_exposure(seen, exog, offset, exposure, transform)
        return prediction.predict(seen, exog, offset, transform, **how)

    def get_prediction(
        self, exog=None, transform=True, *, offset=None, exposure=None, trials=None, se=None,
        seed=None, which="mean", random=True, new_levels=None,
    ):  # fmt: skip
        """Return E[y | x, group] with its uncertainty; `random` and `new_levels` as in `predict`,
        all else as for regressions.
        """
        seen = seen_from(self, "which", which)
        offset = with_exposure(seen, exog, offset, exposure, transform)
        rows = seen.table_rows(
            exog, offset, trials=trials, se=se, transform=transform, random=random,
            new_levels=new_levels,
        )  # fmt: skip
        return prediction.Prediction(rows, seen, seed)

    def posterior_predict(
        self, exog=None, *, offset=None, exposure=None, trials=None, se=None, draws=None, seed=None,
        random=True, new_levels=None,
    ):  # fmt: skip
        """Simulate outcomes, one data set per draw; `random` and `new_levels` as in `predict`, all
        else as for regressions.
        """
        how = dict(random=random, new_levels=new_levels, se=se)
        offset = with_exposure(self, exog, offset, exposure)
        return prediction.posterior_predict(self, exog, offset, trials, draws, seed, **how)

    def log_lik(
        self, exog=None, endog=None, *, offset=None, exposure=None, trials=None, se=None,
        draws=None, random=True, new_levels=None,
    ):  # fmt: skip
        """Return log densities of single outcomes given the effects of their groups; `random` and
        `new_levels` as in `predict`, all else as for regressions.
        """
        how = dict(random=random, new_levels=new_levels, se=se)
        offset = with_exposure(self, exog, offset, exposure)
        return residuals.log_lik(self, exog, endog, offset, trials, draws, **how)

    @phases.shown("leaving rows out")
    def loo(self, rows=None, seed=None, *, group=False):
        """Estimate the expected log predictive density by leaving out one row, or one group, at a
        time, with Pareto-smoothed importance sampling.

        A row is predicted by the other rows of its group, sum_i log p(y_i | y_-i): how well new
        rows of known levels are predicted.  A group is predicted by the other groups, sum_g log
        p(y_g | y_-g): how well new levels are.  Effects are integrated out at each draw of the
        parameters, so that only these are weighted by importance (Merkle, Furr & Rabe-Hesketh 2019,
        doi:10.1007/s11336-019-09679-0).  With crossed factors, or beside smooths, that is the
        effect of the row's level of one factor, that of fewest rows, or of the group that is left
        out; all others are weighted with the parameters, at the whole draws that were kept.

        Parameters
        ----------
        rows, seed
            As for regressions; with `group` of groups.
        group : bool or str
            Whether to leave out groups, of nested factors those of the outer one; of crossed
            factors the name of one.

        Returns
        -------
        Loo
        """
        return loo(self, rows, seed, group)

    def left_out(self, group):
        """Return what `loo` leaves out, `LeftOutRows` or `LeftOutGroups`."""
        fitted_rows(self, "loo")
        if isinstance(group, str) and self.check_factor(group):
            raise NotSupported(
                f"loo(group={group!r}): {group} is within {self.model.effects.factor}, whose "
                "groups can be left out; give kfold(data, groups=<labels>) for inner ones",
                because="limit",
            )
        if self._fit.problem.own.rule.nodes == 1:
            raise NotSupported(
                "loo does not apply to Laplace's approximation of integrals (nodes=1); fit with "
                "nodes=3",
                because="limit",
            )
        return (LeftOutGroups if group else LeftOutRows).of(self, self.model.sizes)


def codes_of_fit(problem):
    """Levels of the rows that a problem has, (n, factors), and the covariates of each factor's
    effects.
    """
    rows, inner = problem.own.rows, problem.own.rows.subgroups
    codes = [np.repeat(rows.level, np.diff(rows.starts))]
    if inner is not None:
        codes.append(np.repeat(inner.level, np.diff(inner.starts)))
    return np.column_stack(codes), [rows.Z[:, span] for span in problem.own.effects.spans()]


class ImputedMixedResults(Imputed, MixedResults):
    """The pooled posterior of regressions with grouped effects from several imputed data sets, see
    `ImputedResults`; effects of levels are those of all fits.
    """

    grouped = True

    @classmethod
    def check_same(cls, first, other, table, k):
        for name, own, others in zip(
            first.effects.factors, first.factor_levels, other.factor_levels
        ):
            same_levels(name, own, others, k)

    @classmethod
    def pooled_state(cls, fits, chosen):
        return {"_levels": pooled_levels(fits, chosen)}


def same_levels(name, first, other, k):
    """DataError where a factor has other levels in data set k than in the first, or another order
    of them.
    """
    if not first.equals(other):
        apart = first.symmetric_difference(other)
        if not len(apart):  # effects are pooled by their places
            raise DataError(
                f"{name} has its levels in another order in data[{k}] than in data[0]: make it "
                "categorical with the same categories, in the same order, in all data sets"
            )
        raise DataError(
            f"{name} has other levels in data[{k}] than in data[0], such as "
            f"{label_text(apart[0])}: imputed data sets have the same groups"
        )
