"""The results of a regression fit."""
import difflib
import numbers
import re
import warnings

import numpy as np
import pandas as pd

from sgmc.diagnostics import convergence, moments
from sgmc.errors import ArgumentError
from sgmc.results import covariance, files, noise, prediction
from sgmc.results.continuation import Continuation, resume
from sgmc.results.concerns import after_sampling
from sgmc.results.header import facts
from sgmc.results.stein import stein_discrepancy

NOT_BAYESIAN = {
    "pvalues": "use prob_positive, or hypothesis('x1 > 0')",
    "tvalues": "use prob_positive, or params / bse if you must",
    "aic": "compare posteriors by predictive accuracy instead",
    "bic": "compare posteriors by predictive accuracy instead",
    "f_test": "use hypothesis(), which takes linear inequalities",
    "wald_test": "use hypothesis(), which takes linear inequalities",
}


class Results:
    """A posterior: draws, their summaries and diagnostics, and predictions averaged over them.

    Attributes
    ----------
    draws : array (chain, draw, parameter)
    names : list of str
    weights : array (draw,) or None
        Step-size weights of the draws, for decreasing steps; all summaries use them.
    warnings : list of SGMCWarning
        What the fit warned of, repeated in the summary.
    seed : int
        What reproduces the fit, given or not.
    interrupted : str
        Empty, or what stopped the run early.
    nobs, df_model : int
    cov_type : {"nonrobust", "robust"}
        Whether draws are of the model's posterior, or of its sandwich.
    """

    def __init__(self, state, fit=None):
        self.__dict__.update(state)
        self._fit = fit

    @classmethod
    def of_fit(cls, model, fit, arguments):
        """Summarise a finished fit; issues its warnings.

        Parameters
        ----------
        model : ModelInfo
        fit : Fit
        arguments : dict
            As the user gave them.
        """
        try:
            state = summarised(model, fit)
        except KeyboardInterrupt:                              # the draws are there: a first Ctrl-C does not lose them
            state = summarised(model, fit)
        for concern in state["warnings"][len(model.notes):]:   # the formula has issued its own
            warnings.warn(concern, stacklevel=5)
        return cls({**state, "_continuation": Continuation(arguments)}, fit)

    def __getattr__(self, name):
        if name in NOT_BAYESIAN:
            raise AttributeError(f"{name} has no meaning for a posterior; {NOT_BAYESIAN[name]}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self):
        return f"<{self.model.title} posterior: {self.draws.shape[2]} coefficients, {self.draws.shape[0]} chains x {self.draws.shape[1]} draws>"

    def _repr_html_(self):
        return self.summary().as_html()

    @property
    def flat(self):
        """Draws of all chains, (chain * draw, parameter)."""
        return self.draws.reshape(-1, self.draws.shape[2])

    @property
    def flat_weights(self):
        """Weights of `flat`, or None."""
        return None if self.weights is None else np.tile(self.weights, self.draws.shape[0])

    @property
    def params(self):
        """Posterior means, a Series."""
        return pd.Series(moments.mean(self.draws, self.weights), self.names)

    @property
    def bse(self):
        """Posterior standard deviations, a Series; those of the sandwich where the fit was robust."""
        return pd.Series(moments.sd(self.draws, self.weights), self.names)

    @property
    def prob_positive(self):
        """Posterior probabilities of being positive, a Series."""
        return pd.Series(moments.mean((self.draws > 0).astype(float), self.weights), self.names)

    def cov_params(self, cov_type=None):
        """Posterior covariance, a DataFrame.

        Parameters
        ----------
        cov_type : {"nonrobust", "robust"}, optional
            Default: that of the fit, from its draws.  ``"nonrobust"`` of a robust fit is what the model alone would say: the
            inverse curvature of the log posterior at its mode.
        """
        return covariance.covariance(self, cov_type)

    def conf_int(self, alpha=0.05, cols=None):
        """Equal-tailed credible intervals, a DataFrame with columns 0 and 1.

        Parameters
        ----------
        alpha : float
            One minus the probability of the interval.
        cols : str or list of str, optional
            Coefficients wanted.
        """
        limits = moments.quantile(self.draws, [check_alpha(alpha) / 2, 1 - alpha / 2], self.weights)
        frame = pd.DataFrame(np.asarray(limits).T, self.names, [0, 1])
        return frame if cols is None else frame.loc[self._known([cols] if isinstance(cols, str) else cols)]

    def _known(self, cols):
        """Names of coefficients, as a list; ArgumentError with the nearest one for a name that is none."""
        if not np.iterable(cols):
            raise ArgumentError(f"cols={cols!r} must be a list of coefficients")
        for name in (cols := list(cols)):
            if name not in self.names:
                near = difflib.get_close_matches(str(name), self.names, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"they are: {', '.join(self.names[:20])}"
                raise ArgumentError(f"cols: {name!r} is not a coefficient; {hint}")
        return cols

    def summary_frame(self, alpha=0.05):
        """The table of the summary as a DataFrame: mean, sd, interval, P(>0), ess_bulk, r_hat; of a robust fit also sd_nonrobust."""
        interval = self.conf_int(alpha)
        return pd.DataFrame({"mean": self.params, "sd": self.bse, f"[{alpha / 2:.3g}": interval[0],
                             f"{1 - alpha / 2:.3g}]": interval[1], "P(>0)": self.prob_positive,
                             "ess_bulk": self._ess, "r_hat": self._rhat, **covariance.beside(self)}, index=self.names)

    def summary(self, yname=None, xname=None, title=None, alpha=0.05):
        """The printed summary, a statsmodels `Summary` with `as_text`, `as_html`, `as_latex` and `as_csv`."""
        from sgmc.results.summary import summary

        return summary(self, alpha, title, yname, xname)

    def prior_summary(self):
        """Priors as specified and as used (scales in the predictor's units), a DataFrame."""
        priors = self.priors
        note = ["at centred predictors" if j == priors.intercept and priors.centred else "" for j in range(len(self.names))]
        return pd.DataFrame({"specified": [str(p) for p in priors.specified], "used": [str(p) for p in priors.used],
                             "note": note}, index=self.names)

    def ess(self, method="bulk"):
        """Effective sample sizes, a Series; see `sgmc.diagnostics.ess`."""
        return pd.Series(convergence.ess(self.draws, method=method, weights=self.weights), self.names)

    def rhat(self):
        """Rank-normalised split R-hat, a Series; NaN for one chain."""
        return pd.Series(self._rhat, self.names)

    def mcse(self, method="mean"):
        """Monte Carlo standard errors of the means (or ``"sd"``), a Series."""
        return pd.Series(convergence.mcse(self.draws, method=method, weights=self.weights), self.names)

    def diagnostics(self):
        """ess_bulk, ess_tail, r_hat and Monte Carlo errors of mean and sd, a DataFrame with a row a coefficient."""
        return pd.DataFrame({"ess_bulk": self._ess, "ess_tail": self.ess("tail"), "r_hat": self._rhat,
                             "mcse_mean": self.mcse(), "mcse_sd": self.mcse("sd")}, index=self.names)

    def chain_diagnostics(self):
        """How each chain went, a DataFrame with a row a chain; NaN where a figure does not apply to the sampler.

        Returns
        -------
        DataFrame
            ``steps``, warmup included; ``data_passes``, rows touched over N; ``batch_size``, rows of a minibatch; ``acceptance`` and ``divergences``, from the end
            of the adaptation on (with a given step: from the start); ``step_size``, the last one; ``e_bfmi`` of `hmc`, which
            below 0.3 says that energies are explored too slowly; ``beyond`` of `csgbd`, the share of moves whose gradient noise
            was past the breaking point.
        """
        columns = ("steps", "data_passes", "batch_size", "acceptance", "step_size", "divergences", "e_bfmi", "beyond")
        table = {name: [getattr(chain, name) for chain in self._chains] for name in columns}
        return pd.DataFrame(table, index=pd.RangeIndex(len(self._chains), name="chain"))

    @property
    def sampling_threshold(self):
        """alpha at the first kept draw: variance of the gradient's noise in a step over that of the noise injected.

        alpha = h/4 N^2/n lambda_max(M^(1/2) V_s M^(1/2)) (Welling & Teh 2011, eq. 10), V_s the covariance of the row terms, which
        control values make small, at draws of the Laplace approximation; far below 1 a chain samples, above it optimises.
        """
        return self._threshold

    def gradient_noise(self):
        """Noise of the gradient estimates, a DataFrame with a row for each coordinate of the sampler.

        Returns
        -------
        DataFrame
            ``tau``, sd of the scaled gradient estimate in the sampler's coordinates, prior excluded, at draws of the Laplace
            approximation.  For Barker dynamics also ``breaking_point``, the largest tau that can be undone in 99 % of the moves,
            1.702 / (1.233 sigma) (Mauri & Zanella, section 4.3), and ``ratio``, tau over it.  How many moves were past it:
            `chain_diagnostics`.

        Raises
        ------
        NotSupported
            For samplers that use all rows.
        """
        if self._noise is None:
            raise noise.refused(self.sampler)
        return self._noise.copy()

    def ksd(self):
        """Kernel Stein discrepancy of the draws in whitened coordinates, as in the header; None for the sandwich, no density."""
        return self._ksd

    def to_frame(self):
        """Draws as a DataFrame indexed by (chain, draw), with a column ``weight`` where draws are weighted."""
        chains, draws, _ = self.draws.shape
        index = pd.MultiIndex.from_product([range(chains), range(draws)], names=["chain", "draw"])
        frame = pd.DataFrame(self.flat, index=index, columns=self.names)
        return frame if self.weights is None else frame.assign(weight=self.flat_weights)

    def hypothesis(self, statement):
        """Posterior probability of an inequality between linear combinations of coefficients.

        Parameters
        ----------
        statement : str
            E.g. ``"x1 > x2"``, ``"2*x1 - 0.5 < 0"``, "`my var` + x1 > 1".

        Returns
        -------
        Series
            mean, sd and 95 % interval of left minus right, and ``prob``, the probability that the statement holds.
        """
        if not isinstance(statement, str):
            raise ArgumentError(f"hypothesis {statement!r} must be text, such as 'x1 > 0'")
        sides = re.split(r"(<=|>=|<|>)", statement)
        if len(sides) != 3:
            raise ArgumentError(f"hypothesis {statement!r} must have one of < > <= >= between two expressions; "
                                "an exact equality has probability zero")
        if not sides[0].strip() or not sides[2].strip():
            raise ArgumentError(f"hypothesis: cannot read {statement!r}, one side is empty")
        difference = (self.linear(sides[0]) - self.linear(sides[2])).reshape(*self.draws.shape[:2], 1)
        holds = difference < 0 if sides[1].startswith("<") else difference > 0
        low, high = moments.quantile(difference, [0.025, 0.975], self.weights)
        return pd.Series({"mean": moments.mean(difference, self.weights)[0], "sd": moments.sd(difference, self.weights)[0],
                          "[0.025": float(low[0]), "0.975]": float(high[0]),
                          "prob": moments.mean(holds.astype(float), self.weights)[0]}, name=statement)

    def linear(self, text):
        """Draws of a linear expression in coefficient names and numbers, (chain * draw,)."""
        from sgmc.results.expression import linear

        return linear(text, self.names, self.flat)

    def predict(self, exog=None, *, offset=None, exposure=None):
        """Posterior mean of E[y | x], averaged over draws, never plugged in; see `sgmc.results.prediction`.

        Parameters
        ----------
        exog : DataFrame or array, optional
            New rows: a table for models with a formula, a design otherwise.  The data of the fit if left out.
        offset, exposure : array_like, optional
            Of the new rows; asked for where the fit had them.
        """
        return prediction.predict(self, exog, prediction.with_exposure(self, exog, offset, exposure))

    def get_prediction(self, exog=None, *, offset=None, exposure=None):
        """E[y | x] with its uncertainty; ``summary_frame(alpha)`` has statsmodels' columns."""
        offset = prediction.with_exposure(self, exog, offset, exposure)
        return prediction.Prediction(*prediction.posterior_of_mean(self, exog, offset), self.flat_weights)

    def resume(self, draws=None, data=None, **how):
        """Go on from the last step, as if the run had never stopped: the draws are those of one long run, bit by bit.

        Parameters
        ----------
        draws : int, optional
            Kept draws a chain to add.  Default: those that an interrupted run still lacks, else as many as were asked for.
        data : DataFrame or model, optional
            The data of the fit, for results that were loaded from a file: the table if the fit was from a formula, else a
            model such as ``sgmc.Logit(y, X)``.
        **how
            ``time_limit``, ``threads``, ``progress`` and ``checkpoint``, as in the fit.

        Returns
        -------
        Results
            New ones, of all draws; these stay as they are.

        Raises
        ------
        ArgumentError
            If the data are not those of the fit, or are needed.
        """
        return resume(self, draws, data, how)

    def save(self, path):
        """Write draws, summaries and the design's recipe to a file, without the data; read it with `sgmc.load`.

        Raises
        ------
        ArgumentError
            If the formula calls a function that cannot be pickled; no file is written then.
        """
        files.save(self, path)

    def __getstate__(self):
        state = {k: v for k, v in self.__dict__.items() if k != "_fit"}
        return state if self._fit is None else {**state, "_continuation": self._continuation.without_data(self._fit)}

    def __setstate__(self, state):
        self.__init__(state)


def summarised(model, fit):
    """What results consist of."""
    theta = fit.problem.coordinates.theta(fit.x)
    w = fit.weights
    with np.errstate(over="ignore", invalid="ignore"):         # of chains that diverged, which is warned of by name
        ess, ess_sd = convergence.ess(theta, weights=w), convergence.ess(theta, method="sd", weights=w)
        rhat = convergence.rhat(theta)
        ksd, scores = stein_discrepancy(fit, fit.settings.seed)
        concerns = [*model.notes, *fit.problem.concerns, *after_sampling(fit, model.exog_names, theta, ess, ess_sd, rhat)]
    return dict(draws=theta, weights=w, names=model.exog_names, warnings=concerns, seed=fit.settings.seed,
                header=facts(model, fit, ess, rhat, ksd, scores), nobs=observations(fit.problem),
                df_model=model.df_model, interrupted=fit.run.interrupted, model=model, priors=fit.problem.priors,
                _ksd=ksd, _ess=ess, _rhat=rhat, _asked=fit.settings.draws, sampler=fit.plan.spec,
                step_size=fit.step_size, _chains=fit.chains, _threshold=fit.threshold, _noise=noise.noise_table(fit, model.exog_names),
                cov_type=fit.settings.cov_type,
                _curvature_covariance=fit.problem.curvature_covariance if fit.settings.robust else None)


class ModelInfo:
    """What a result keeps of its model: names, formula and the recipe of the design, not the data."""

    def __init__(self, model):
        data = model.data
        self.family_name, self.title = model.family.name, model.family.title
        self.formula, self.spec, self.levels, self.inputs = model.formula, model.spec, model.levels, named(model.inputs)
        self.endog_names, self.exog_names, self.df_model = data.endog_name, list(data.names), data.d - (data.intercept is not None)
        self.given, self.dropped, self.notes = data.given, data.dropped, data.notes

    @property
    def family(self):
        """The family's class."""
        return self.kind.family

    @property
    def kind(self):
        """The model's class."""
        from sgmc import regression

        return regression.kind(self.family_name)


def named(inputs):
    """Column names and the like as they are; True in the place of arrays and functions, which are left behind with the data."""
    return {key: value if value is None or isinstance(value, str) else True for key, value in inputs.items()}


def observations(problem):
    """Rows, or the sum of frequency weights."""
    weight = problem.table.weight
    return problem.model.n if weight is None else float(weight.sum())


def check_alpha(alpha):
    """`alpha` if it is between 0 and 1."""
    if not isinstance(alpha, numbers.Real) or not 0 < alpha < 1:
        raise ArgumentError(f"alpha={alpha!r} must be between 0 and 1, e.g. 0.05 for 95 % intervals")
    return alpha
