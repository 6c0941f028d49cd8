"""What a posterior says of the parameters: moments, intervals, tables, hypotheses and contrasts."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sgmc.arguments.choices import flag, one_of
from sgmc.arguments.declared.signatures import ByOtherNames
from sgmc.arguments.intervals import with_level
from sgmc.arguments.names import parameters
from sgmc.arguments.numbers import level
from sgmc.arguments.types import Floats, Frame, Series
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError
from sgmc.results.parameters import contrasts
from sgmc.results.parameters.covariance import beside, covariance_of

if TYPE_CHECKING:
    from sgmc.results.report.summary import PosteriorSummary


class Estimates(ByOtherNames):
    """Methods of `Results` that summarise its draws."""

    @property
    def flat(self) -> Floats:
        """Draws of all chains, (chain * draw, parameter)."""
        return self.draws.reshape(-1, self.draws.shape[2])

    @property
    def flat_weights(self) -> Floats | None:
        """Weights of `flat`, or None."""
        return None if self.weights is None else np.tile(self.weights, self.draws.shape[0])

    def _if_known(self, table: Any) -> Any:
        """The same table; NaN where draws are not of the posterior, see `stand_in`."""
        return table * np.nan if self._unknown else table

    @property
    def params(self) -> Series:
        """Posterior means, a Series; NaN where tails are too heavy for draws to tell a mean."""
        means = moments.mean(self.draws, self.weights)
        means[self._untold[0]] = np.nan
        return self._if_known(pd.Series(means, self.names))

    @property
    def bse(self) -> Series:
        """Posterior standard deviations, a Series; NaN where tails are too heavy for draws to tell
        an sd.
        """
        sds = moments.sd(self.draws, self.weights)
        sds[self._untold[1]] = np.nan
        return self._if_known(pd.Series(sds, self.names))

    @property
    def prob_positive(self) -> Series:
        """Posterior probabilities of being positive, a Series."""
        share = moments.share_above(self.draws, 0, self.weights)
        return self._if_known(pd.Series(share, self.names))

    @property
    def prob_direction(self) -> Series:
        """Posterior probabilities of having the sign that is the more probable one, a Series from
        0.5 to 1.
        """
        return np.maximum(self.prob_positive, 1 - self.prob_positive)

    def cov_params(
        self, r_matrix: Any = None, column: Any = None, *, cov_type: str | None = None
    ) -> Frame:
        """Return the posterior covariance, a DataFrame.

        Parameters
        ----------
        r_matrix : array, frame or text, optional
            Linear combinations whose covariance is wanted, as in `contrast`.
        column : str or list of str, optional
            Parameters wanted.
        cov_type : {"nonrobust", "robust", "HC3", "cluster"}, optional
            Default: that of the fit, from its draws.  ``"nonrobust"`` of a robust fit is what the
            model alone would say: the inverse curvature of the log posterior at its mode.
        """
        if r_matrix is not None and column is not None:
            raise ArgumentError("cov_params takes r_matrix or column, not both")
        covariance = self._if_known(covariance_of(self, cov_type))
        if r_matrix is not None:
            labels, _, weights = contrasts.combinations(r_matrix, self.names)
            return pd.DataFrame(weights @ covariance @ weights.T, labels, labels)
        frame = pd.DataFrame(covariance, self.names, self.names)
        return (
            frame
            if column is None
            else frame.loc[(names := parameters("column", column, self.names)), names]
        )

    @with_level
    def conf_int(self, alpha: float = 0.05, cols: Any = None, *, method: Any = "eti") -> Frame:
        """Return credible intervals, a DataFrame with columns 0 and 1.

        Parameters
        ----------
        alpha : float
            One minus the probability of the interval.
        cols : str or list of str, optional
            Parameters wanted.
        method : {"eti", "hdi"}
            Equal tails, or the narrowest interval.
        """
        if one_of("method", method, ("eti", "hdi")) == "hdi":
            limits = moments.hdi(self.draws, 1 - level(alpha), self.weights)
        else:
            limits = moments.quantile(self.draws, [level(alpha) / 2, 1 - alpha / 2], self.weights)
        frame = self._if_known(pd.DataFrame(np.asarray(limits).T, self.names, [0, 1]))
        return frame if cols is None else frame.loc[parameters("cols", cols, self.names)]

    @with_level
    def summary_frame(self, alpha: float = 0.05, *, exponentiate: bool = False) -> Frame:
        """Return the table of the summary as a DataFrame: mean, sd, interval, P(>0), ess_bulk,
        r_hat; of a robust fit also sd_nonrobust.  Its ``attrs["ksd"]`` is `ksd`, as the summary has
        it (None where it has none); with `exponentiate`, ``attrs["left_out"]`` are the names of
        parameters without a ratio.

        Parameters
        ----------
        alpha, exponentiate
            As in `summary`.
        """
        if one_of("exponentiate", exponentiate, (False, True)):
            from sgmc.results.report.ratios import left_out, ratios

            frame = ratios(self, alpha)
            frame.attrs["left_out"] = left_out(self)
        else:
            frame = contrasts.posterior_frame(self.draws, self.weights, self.names, alpha).assign(
                mean=self.params, sd=self.bse, ess_bulk=self._ess, r_hat=self._rhat, **beside(self)
            )
        frame = self._if_known(frame)
        frame.attrs["ksd"] = self._ksd
        return frame

    @with_level
    def summary(
        self,
        yname: str | None = None,
        xname: list[str] | None = None,
        title: str | None = None,
        alpha: float = 0.05,
        *,
        details: bool = False,
        exponentiate: bool = False,
        r2: bool = False,
        elpd: bool = False,
    ) -> "PosteriorSummary":
        """Return the summary, a statsmodels `Summary` with `as_text`, `as_html`, `as_latex` and
        `as_csv`.

        Its words are explained in the glossary of the documentation.

        Parameters
        ----------
        yname : str, optional
            Name of the outcome.
        xname : list of str, optional
            Names of the parameters.
        title : str, optional
        alpha : float
            One minus the probability of the intervals.
        details : bool
            Add a table of tail effective sizes, tail indices (k-hat) and estimated errors of mean,
            sd and the ends of 95 % intervals with their Monte Carlo errors; and a table about the
            run: sampler, step size, rows per step, data passes, gradient noise, KSD, difference
            from the Laplace approximation.  Notes add why the sampler was chosen, what the errors
            are estimated by, and memory.
        exponentiate : bool
            Ratios in the place of coefficients: odds ratios (logit, mnlogit), rate ratios (counts),
            hazard ratios (cloglog), ratios of means (log link).  Medians and quantiles of exp of
            the draws; other parameters, such as sds of groups, are left out, and named beneath the
            table.
        r2 : bool
            Of a regression, add the Bayesian R^2 to the head, with its posterior sd (`r2`).
        elpd : bool
            Of a regression, add the expected log predictive density to the head, with its standard
            error (`loo`).

        Raises
        ------
        ArgumentError
            If exp of a coefficient has no meaning under the link.
        NotSupported
            With `r2` or `elpd`, of models that are no regressions, and where those are refused.
        """
        from sgmc.results.report.summary import summary

        return summary(
            self,
            alpha,
            title,
            (yname, xname),
            one_of("details", details, (False, True)),
            one_of("exponentiate", exponentiate, (False, True)),
            flag("r2", r2),
            flag("elpd", elpd),
        )

    @with_level
    def summary2(
        self,
        yname: str | None = None,
        xname: list[str] | None = None,
        title: str | None = None,
        alpha: float = 0.05,
        float_format: str = "%.4f",
    ) -> Any:
        """Return the summary as statsmodels' `summary2.Summary`, whose `tables` are DataFrames."""
        from sgmc.results.report.summary import summary2

        return summary2(self, alpha, title, (yname, xname), float_format)

    def _fixef(self, **how: Any) -> Frame:
        """`summary_frame` of the coefficients of the formula alone, as brms' ``fixef``."""
        return self.summary_frame(**how).iloc[: self.model.equations * len(self.model.exog_names)]

    def prior_summary(self) -> Frame:
        """Return priors as specified and as used (scales in the predictor's units), a DataFrame."""
        priors = self.priors
        note = [
            "at centred predictors" if j in priors.intercepts and priors.centred else ""
            for j in range(len(priors.names))
        ]
        return pd.DataFrame(
            {
                "specified": [str(p) for p in priors.specified],
                "used": [str(p) for p in priors.shown],
                "note": note,
            },
            index=priors.names,
        )

    def to_frame(self) -> Frame:
        """Return draws as a DataFrame indexed by (chain, draw), with a column ``weight`` where
        draws are weighted.
        """
        chains, draws, _ = self.draws.shape
        index = pd.MultiIndex.from_product([range(chains), range(draws)], names=["chain", "draw"])
        frame = pd.DataFrame(self.flat, index=index, columns=self.names, copy=True)
        return frame if self.weights is None else frame.assign(weight=self.flat_weights)

    def hypothesis(self, statement: str) -> Series:
        """Return the posterior probability of inequalities between linear combinations of
        parameters.

        Parameters
        ----------
        statement : str
            E.g. ``"x1 > x2"``, ``"2*x1 - 0.5 < 0"``, "`my var` + x1 > 1"; a range
            ``"-0.1 < x1 < 0.1"``, of practical equivalence; all of several,
            ``"x1 > 0 & x2 < 0"``, or any, ``"x1 > 0 | x2 > 0"``.  & binds before |; parentheses
            group.

        Returns
        -------
        Series
            ``prob``, the probability that the statement holds at once, and its Monte Carlo error
            ``mcse`` (where all draws agree, one over the effective draws).  Of a single inequality
            also mean, sd and 95 % interval of left minus right.

        Raises
        ------
        ArgumentError
            For unknown names, and for what is not linear.
        """
        from sgmc.results.parameters.hypotheses import hypothesis

        return hypothesis(self, statement)

    @with_level
    def contrast(self, contrast: Any, alpha: float = 0.05) -> Frame:
        """Return the posterior of linear combinations of parameters.

        Parameters
        ----------
        contrast : str, list of str, dict, Series, DataFrame or array (k, d)
            ``"x1 - x2"``, ``"x1 = x2"`` (left minus right), a list of such; weights by name, as
            ``{"x1": 1, "x2": -1}`` or a frame with a row a combination (names left out weigh
            nothing); or weights in the order of `names`.
        alpha : float
            One minus the probability of the intervals.

        Returns
        -------
        DataFrame
            mean, sd, interval and P(>0), a row a combination.
        """
        return contrasts.contrast(self, contrast, alpha)

    @with_level
    def t_test(self, r_matrix: Any, alpha: float = 0.05) -> Frame:
        """Return the posterior of what statsmodels tests: `contrast`, without a test."""
        return contrasts.contrast(self, r_matrix, alpha)

    def linear(self, text: Any) -> Any:
        """Return draws of a linear expression in parameter names and numbers, (chain * draw,)."""
        from sgmc.results.parameters.expression import Statement

        statement = Statement(text, self.names, "linear")
        constant, weights = statement.combination(statement.code)
        return constant + self.flat @ weights
