"""What a posterior says of outcomes: predictions, simulations, residuals,
and how well it predicts.
"""

from sgmc.arguments.choices import one_of
from sgmc.arguments.declared.signatures import ByOtherNames
from sgmc.arguments.intervals import with_level
from sgmc.core.system import phases
from sgmc.results.outcomes.data import streams
from sgmc.results.outcomes.data.beside import with_exposure
from sgmc.results.outcomes.data.rows import rows_of
from sgmc.results.outcomes.data.second import seen_from
from sgmc.results.outcomes.predicted import prediction, residuals, survival


class Predictions(ByOtherNames):
    """Methods of `Results` that need rows: new ones, or those of the fit."""

    def table_rows(self, exog=None, offset=None, **how):
        """Return the `Rows` of new data or of the fit's, see `rows_of`."""
        return rows_of(self, exog, offset, **how)

    @phases.shown("predictions")
    def predict(
        self, exog=None, transform=True, *, offset=None, exposure=None, which="mean", to=None
    ):
        """Return the posterior mean of E[y | x], averaged over draws, never plugged in; of counts
        of successes, the probability; of survival times, that of their median.

        Parameters
        ----------
        exog : DataFrame or array, or source, optional
            New rows: a table for models with a formula, a design otherwise.  The data of the fit if
            left out.  A path, a pattern or a list of CSV, Parquet or Arrow files, a pyarrow
            Dataset, a polars LazyFrame or a dask DataFrame are read a piece at a time; results
            are those of the table in memory, to the bit.
        transform : bool
            False: `exog` is a design, although the model has a formula.
        offset, exposure : array_like, optional
            Of the new rows; asked for where the fit had them.  Of rows that are read a piece at a
            time, the name of a column, too: by default that of the fit.
        which : str, default "mean"
            ``"sigma"``, ``"phi"``, ``"dispersion"`` or ``"zero"``: the parameter of that name, of
            fits with predictors of it, instead of the mean; offsets and exposures have no part in
            it.
        to : str or path, optional
            A .parquet or .csv file to write the predictions to, a piece at a time, with a column
            ``row`` of the rows' numbers from 0; its path is returned.

        Returns
        -------
        Series, DataFrame (of several kinds), ndarray or str
            With the index of a pandas table, also of that of the fit; of polars for its tables; an
            array for arrays.
        """
        seen = seen_from(self, "which", which)
        beside = dict(offset=offset, exposure=exposure)
        stream = streams.stream_of(seen, exog, to, beside, "", transform)
        if stream is not None:
            return stream.run(prediction.mean_of(seen), to)
        offset = with_exposure(seen, exog, offset, exposure, transform)
        found = prediction.predict(seen, exog, offset, transform)
        return found if to is None else streams.written(prediction.by_name(seen, found), to)

    def get_prediction(
        self,
        exog=None,
        transform=True,
        *,
        offset=None,
        exposure=None,
        trials=None,
        se=None,
        seed=None,
        which="mean",
    ):
        """Return E[y | x] with its uncertainty; ``summary_frame(alpha)`` has statsmodels' columns.

        Parameters
        ----------
        exog, transform, offset, exposure
            As in `predict`.
        trials : array_like or int, optional
            Of the new rows, for intervals of counts of successes.
        se : array_like or float, optional
            Standard errors of the new rows, for intervals of estimates of known standard errors.
        seed : int, SeedSequence or Generator, optional
            Of simulated outcomes, for intervals of single outcomes.  Default that of the fit.
        which : str, default "mean"
            As in `predict`; of other parameters there are no intervals of single outcomes.

        Returns
        -------
        Prediction or StreamedPrediction
            ``summary_frame(alpha, to=)`` writes to a file as `predict` does.
        """
        seen = seen_from(self, "which", which)
        beside = dict(offset=offset, exposure=exposure, trials=trials, se=se)
        stream = streams.stream_of(seen, exog, None, beside, "", transform)
        if stream is not None:
            return prediction.StreamedPrediction(stream, seen, seed)
        offset = with_exposure(seen, exog, offset, exposure, transform)
        return prediction.Prediction(
            seen.table_rows(exog, offset, trials=trials, se=se, transform=transform), seen, seed
        )

    @phases.shown("simulating outcomes")
    def posterior_predict(
        self,
        exog=None,
        *,
        offset=None,
        exposure=None,
        trials=None,
        se=None,
        draws=None,
        seed=None,
        to=None,
    ):
        """Simulate outcomes, one data set per draw.

        Parameters
        ----------
        exog, offset, exposure
            As in `predict`.
        trials : array_like or int, optional
            Of the new rows, where outcomes are counts of successes; asked for where the fit was of
            counts.
        se : array_like or float, optional
            Standard errors of the new rows; asked for where those of the fit were known.
        draws : int, optional
            How many of the draws to use, evenly spaced; default all.  Weighted draws are used in
            proportion to their weights.
        seed : int, SeedSequence or Generator, optional
            Default that of the fit: the same call gives the same outcomes.
        to : str or path, optional
            As in `predict`: a column for each draw.

        Returns
        -------
        ndarray, (draw, row), or str
            NaN for rows with a missing predictor.

        Raises
        ------
        ArgumentError
            If it would be larger than 1 GB.
        """
        beside = dict(offset=offset, exposure=exposure, trials=trials, se=se)
        stream = streams.stream_of(self, exog, to, beside, "posterior_predict")
        if stream is not None:
            return stream.run(prediction.outcomes_of(self, draws, seed), to)
        offset = with_exposure(self, exog, offset, exposure)
        found = prediction.posterior_predict(self, exog, offset, trials, draws, seed, se=se)
        return found if to is None else streams.written(found, to)

    @phases.shown("predictions")
    def posterior_epred(self, exog=None, *, offset=None, exposure=None, draws=None, **how):
        """Return E[y | x] by each draw; `predict` has its mean.

        Parameters
        ----------
        exog, offset, exposure
            As in `predict`; rows in memory.
        draws : int, optional
            As in `posterior_predict`.
        **how
            What `predict` takes of groups, for fits with group terms.

        Returns
        -------
        ndarray, (draw, row)

        Raises
        ------
        ArgumentError
            If it would be larger than 1 GB.
        NotSupported
            For outcomes of several kinds.
        """
        offset = with_exposure(self, exog, offset, exposure)
        return prediction.mean_draws(self, exog, offset, draws, "posterior_epred", how)

    def posterior_linpred(self, exog=None, *, offset=None, exposure=None, draws=None, **how):
        """Return the linear predictor of the mean by each draw, on the scale of the link, where a
        family has one of zeros or of dispersions too; see `posterior_epred`.
        """
        offset = with_exposure(self, exog, offset, exposure)
        return prediction.mean_draws(self, exog, offset, draws, "posterior_linpred", how)

    @phases.shown("densities of rows")
    def log_lik(
        self,
        exog=None,
        endog=None,
        *,
        offset=None,
        exposure=None,
        trials=None,
        se=None,
        draws=None,
        to=None,
    ):
        """Return log densities of single outcomes, frequency weights left aside.

        Parameters
        ----------
        exog, offset, exposure
            As in `predict`.
        endog : array_like or str, optional
            Outcomes of the new rows, or their column's name: numbers, or the labels of the fit's
            two levels; of counts, successes; of survival times, what `sgmc.Surv` makes.
        trials, se
            As in `posterior_predict`.
        draws : int, optional
            As in `posterior_predict`; default all draws as they are, in the order of `flat`, to be
            weighted by `flat_weights`.
        to : str or path, optional
            As in `predict`: a column for each draw.

        Returns
        -------
        ndarray, (draw, row), or str

        Raises
        ------
        ArgumentError
            If it would be larger than 1 GB.
        """
        residuals.refuse_name(self, endog)
        beside = dict(endog=endog, offset=offset, exposure=exposure, trials=trials, se=se)
        stream = streams.stream_of(self, exog, to, beside, "log_lik")
        if stream is not None:
            return stream.run(residuals.densities_of(endog, draws), to)
        offset = with_exposure(self, exog, offset, exposure)
        found = residuals.log_lik(self, exog, endog, offset, trials, draws, se=se)
        return found if to is None else streams.written(found, to)

    def residuals(self, kind="response", *, to=None):
        """Return residuals of the data of the fit, in their order.

        Parameters
        ----------
        kind : {"response", "pearson", "deviance"}
            As in `resid_response` and its siblings.
        to : str or path, optional
            As in `predict`: a column ``residual``.

        Returns
        -------
        Series, ndarray (n,), or str
            As `predict`.
        """
        one_of("kind", kind, ("response", "pearson", "deviance"))
        found = getattr(self, f"resid_{kind}")
        return found if to is None else streams.written(found, to, "residual")

    @with_level
    def survival(self, times, exog=None, *, offset=None, alpha=0.05, **how):
        """Return P(T > t | x) of survival times, averaged over draws, with its posterior interval.

        Parameters
        ----------
        times : float or array_like (k,)
            Zero or more, in the units of the times of the fit.
        exog, offset
            As in `predict`; rows in memory.
        alpha : float
            One minus the probability of the intervals.
        **how
            What `predict` takes of new groups, for fits with group terms.

        Returns
        -------
        DataFrame
            ``survival``, ``ci_lower`` and ``ci_upper``, indexed by (row, time).

        Raises
        ------
        NotSupported
            For outcomes that are no survival times.
        """
        return survival.survival(self, times, exog, offset, alpha, **how)

    @with_level
    def quantiles(self, p, exog=None, *, offset=None, alpha=0.05, **how):
        """Return quantiles of survival times T given x, averaged over draws, with their posterior
        intervals.

        Parameters
        ----------
        p : float or array_like (k,)
            Probabilities, between 0 and 1: 0.5 for the median.
        exog, offset, alpha, **how
            As in `survival`.

        Returns
        -------
        DataFrame
            ``quantile``, ``ci_lower`` and ``ci_upper``, indexed by (row, p).

        Raises
        ------
        NotSupported
            For outcomes that are no survival times.
        """
        return survival.quantiles(self, p, exog, offset, alpha, **how)

    @property
    def resid_cox_snell(self):
        """-log P(T > t | x) at the times of the fit, observed or censored, averaged over draws: of
        a model that fits, exponential numbers with mean 1, censored where the times are (Cox &
        Snell 1968).
        """
        return survival.cox_snell(self)

    @property
    def fittedvalues(self):
        """E[y | x] of the data of the fit, averaged over draws; of counts, the probability of
        success.  A Series with the index of the table, or an array for arrays.
        """
        return residuals.fitted(self)

    @property
    def resid_response(self):
        """y - E[y | x]; of counts, successes less those expected."""
        return residuals.response(self)

    @property
    def resid_pearson(self):
        """(y - E[y | x]) / sd(y | x), averaged over draws."""
        return residuals.pearson(self)

    @property
    def resid_deviance(self):
        """Signed roots of the unit deviances at E[y | x]."""
        return residuals.deviance_residuals(self)

    @property
    def llf(self):
        """Log likelihood at the posterior means."""
        return residuals.llf(self)

    @property
    def deviance(self):
        """Deviance at the posterior means."""
        return residuals.deviance(self)

    @property
    def null_deviance(self):
        """Deviance of the best constant."""
        return residuals.null_deviance(self)

    @phases.shown("leaving rows out")
    def loo(self, rows=None, seed=None):
        """Estimate the expected log predictive density by leaving out one row at a time, with
        Pareto-smoothed importance sampling.

        With more than 5000 rows a sample of 1000 is left out.  The rest is approximated by an
        expansion at the posterior mean, corrected by the differences in the sample (Magnusson,
        Vehtari, Jonasson & Andersen 2020, arXiv:2001.00980).  Rows are sampled in proportion to how
        far their approximations may be off.  A row of frequency weight w stands for w rows, of
        which one is left out.

        Parameters
        ----------
        rows : int, optional
            How many rows to leave out.
        seed : int, SeedSequence or Generator, optional
            Of the sample; default that of the fit.

        Returns
        -------
        Loo
            ``elpd``, ``se``, ``subsampling_se``, the same of ``p``, ``elpd_i``, ``pareto_k``; see
            `sgmc.compare`.
        """
        from sgmc.results.outcomes.criticism.loo import loo

        return loo(self, rows, seed)

    @phases.shown("explained variance")
    @with_level
    def r2(self, alpha=0.05):
        r"""Return the Bayesian R^2: the share of the outcomes' variance that the linear predictor
        explains.

        For each draw :math:`V(\mu) / (V(\mu) + \overline{V(y \mid x)})`, the variance over rows of
        E[y | x] and the mean of the model's variance of outcomes (Gelman, Goodrich, Gabry & Vehtari
        2019, eqs. 3 and 4, doi:10.1080/00031305.2018.1549100), frequency weights included.

        Parameters
        ----------
        alpha : float
            One minus the probability of the interval.

        Returns
        -------
        Series
            mean, sd and interval.

        Raises
        ------
        NotSupported
            For outcomes of several kinds.
        """
        from sgmc.results.outcomes.criticism.explained import r2

        return r2(self, alpha)

    @phases.shown("simulating outcomes")
    @with_level
    def pp_check(self, groups=10, *, draws=None, alpha=0.05, seed=None):
        """Compare mean, sd and calibration of the outcomes with those of simulated ones.

        Parameters
        ----------
        groups : int
            Groups of rows, of equal size, by E[y | x].
        draws : int, optional
            Simulated data sets; default 500.
        alpha : float
            One minus the probability of the intervals.
        seed : int, SeedSequence or Generator, optional
            Default that of the fit.

        Returns
        -------
        DataFrame
            ``observed``, ``fitted`` (E[y | x] of a group), mean and interval of the replicated
            statistic, and ``p``, the share of replicated ones above the observed one (ties
            by half): near 0 or 1 the model does not fit in that respect.  Of counts of successes,
            outcomes are the rows' shares, each as heavy as its trials.
        """
        from sgmc.results.outcomes.criticism.ppc import pp_check

        return pp_check(self, groups, draws, alpha, seed)

    @with_level
    def plot_pp_check(self, ax=None, *, kind=None, groups=None, draws=None, alpha=0.05, seed=None):
        """Plot outcomes beside those that the posterior predicts.

        Parameters
        ----------
        ax : Axes, optional
        kind : {"density", "rootogram", "groups"}, optional
            ``"density"``: the density of the outcomes over those of 50 simulated data sets.
            ``"rootogram"``, of counts: how many rows have each count, over 50 and 95 % intervals
            of how many are predicted; heights are square roots.  ``"groups"``: means of groups of
            rows by predicted mean, with simulated intervals, the numbers of `pp_check`.  Default:
            ``"rootogram"`` of counts, ``"density"`` of other numbers; ``"groups"`` of outcomes 0
            and 1, of several kinds, and where `groups` is given.
        groups, alpha
            Of ``"groups"``, as in `pp_check`.
        draws : int, optional
            Simulated data sets; default 50, of the other kinds 500.
        seed : int, SeedSequence or Generator, optional
            Default that of the fit.

        Returns
        -------
        Axes
            Of more than 5,000 rows densities and rootograms are of 5,000, evenly spaced.

        Raises
        ------
        NotSupported
            For survival times, and for densities and rootograms of outcomes that have none.
        """
        from sgmc.results.outcomes.criticism.ppc_figures import plot_pp_check

        return plot_pp_check(self, ax, kind, groups, draws, alpha, seed)
