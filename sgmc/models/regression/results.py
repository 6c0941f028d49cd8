"""The results of a regression fit."""

from sgmc.errors import ArgumentError, NotSupported
from sgmc.models.regression.info import ModelInfo  # noqa: F401  (beside its results)
from sgmc.models.regression.refits import Refits, changed
from sgmc.registry import room
from sgmc.results.criticism import Criticism
from sgmc.results.effects.effects import Effects
from sgmc.results.effects.figures import EffectFigures
from sgmc.results.outcomes.data.beside import with_exposure
from sgmc.results.outcomes.predicted.prediction import labelled
from sgmc.results.outcomes.predictions import Predictions
from sgmc.results.results import Results


class RegressionResults(Results, Predictions, Effects, EffectFigures, Criticism, Refits):
    """The posterior of a regression: `Results`, and predictions averaged over its draws.

    Attributes
    ----------
    df_model : int
    """

    _past = None  # of results that were loaded from a file: see `update`

    def update(self, new_data=None, data=None, **how):
        """Continue the posterior when new rows arrive, without the earlier ones; or fit another
        formula: ``update("~ . + z", df)``.

        New rows count exactly, by their likelihood l.  Of the earlier ones the log posterior L
        (likelihood and prior) is known by its expansion at a place a near the mode,

            L(theta) = L(a) + g'e - e'H e / 2 + O(e^3),    e = theta - a,

        auxiliary parameters as logs, so that the new posterior is that of l under a Gaussian prior
        of full precision H.  First order: with a the old mode, g = 0, what is neglected of the
        gradient at the new mode is T[e, e] / 2, T the third derivatives of L: these times the
        squared drift.  For up to 64 parameters T is kept, and a is moved to the new mode (g - H e +
        T[e, e] / 2 and H - T[e] there, and T : V / 2 added to the gradient, V the new covariance,
        so that means are right, not the mode alone): then fourth derivatives times the cubed drift
        are neglected, and judged.  Where the earlier rows are still in memory, gradient and
        Hessian at the new mode are computed from them, a pass over the rows each time.

        The verdict adds what is neglected to the errors of the draws, and compares with the old
        draws, weighed by the likelihood of the new rows, where these weights have a variance.  An
        `UpdateWarning`, and a verdict against, where it is too much.

        Parameters
        ----------
        new_data : DataFrame, dict of arrays, polars or pyarrow table, model, or formula
            Only new rows, with the columns of the formula, the outcome too; for fits of arrays a
            model such as ``sgmc.Logit(y, X)`` of them.  Or a formula in which ``.`` stands for what
            was there on that side, as in R: this is a new fit, to `data`.
        data : DataFrame, optional
            The table, for a formula.
        **how
            ``weights``, ``offset``, ``exposure``, ``se`` and ``subset`` of the new rows (default:
            the columns of that name in the fit), ``missing``, and arguments of a fit but for the
            prior, such as ``draws`` and ``seed``.

        Returns
        -------
        UpdatedResults
            To be updated, saved and used as any other results.

        Raises
        ------
        FormulaError, DataError
            Naming the column; for a level of a factor that the fit had not, too.
        ArgumentError
            If the new rows are those of the fit itself, which would count twice.
        NotSupported
            For effects of groups, smooths, learned scales, horseshoes, sandwiches, survival times
            and truncated outcomes.

        References
        ----------
        Bernardo & Smith (1994), Bayesian Theory, section 5.3 (asymptotic normality); Opper (1998),
        A Bayesian approach to on-line learning, for the Gaussian that is carried on.

        Examples
        --------
        >>> res = sgmc.logit("y ~ x + g", january)
        >>> res = res.update(february)
        """
        from sgmc.formula.evaluation.safe import is_formula

        if new_data is None:
            raise ArgumentError("update needs new rows, res.update(new_rows), or a formula")
        if is_formula(new_data) and "~" in str(new_data):
            return changed(self, new_data, data, how)
        if data is not None:
            raise ArgumentError("update: data belongs to a formula, such as '~ . + z'")
        return room("updates")["updated"].update(self, new_data, how)

    def zero_probability(self, exog=None, *, offset=None, exposure=None, own=False):
        """Posterior mean of P(y = 0 | x) of zero-inflated and hurdle models, averaged over draws.

        Parameters
        ----------
        exog : DataFrame, optional
            New rows.  The data of the fit if left out.
        offset, exposure : array_like, optional
            As in `predict`.
        own : bool
            Of zeros that are none of the count's: pi, the probability that the zero part has.  Of a
            hurdle both are the same.

        Returns
        -------
        Series or ndarray

        Raises
        ------
        NotSupported
            For models without zeros of their own.
        """
        if self.model.family.parts != "zero:":
            raise NotSupported(
                f"zero_probability is of zeros of their own, which {self.model.family.name} has "
                "not: use zeroinflated or hurdle, or shares of posterior_predict()",
                because="mathematics",
            )
        if own:
            return self.predict(exog, which="zero")
        rows = self.table_rows(exog, with_exposure(self, exog, offset, exposure)).affordable()
        return labelled(self, rows, rows.average(lambda at, eta: rows.family.zero_probability(eta)))

    def dispersion(self, exog=None):
        """Posterior mean of the dispersion of rows that has predictors, averaged over draws.

        Parameters
        ----------
        exog : DataFrame, optional
            New rows, with the predictors of both parts.  The data of the fit if left out.

        Returns
        -------
        Series or ndarray
            As of ``predict(exog, which="dispersion")``.

        Raises
        ------
        ArgumentError
            For models whose dispersion has no predictors.
        """
        return self.predict(exog, which="dispersion")

    def __getstate__(self):
        state = super().__getstate__()
        if self._fit is not None:
            state["_past"] = room("updates")["updated"].kept_past(self)
        return state

    @property
    def _joint_draws(self):
        """Draws (m, p) that `table_rows` of the fit's data have their effects at."""
        return self.flat

    @property
    def df_model(self):
        """Coefficients but for intercepts."""
        return self.model.df_model

    @property
    def k_constant(self):
        """1 with an intercept, else 0."""
        return self.model.equations * len(self.model.exog_names) - self.df_model

    @property
    def df_resid(self):
        """Observations less coefficients, as statsmodels counts; a posterior makes no use of it."""
        return self.nobs - self.model.equations * len(self.model.exog_names)
