"""Estimators for scikit-learn's pipelines and searches: a posterior behind `fit` and `predict`.

Clones, which searches and cross-validation fit, issue no warnings: each fit has them in
``posterior_.warnings``, and its verdict in ``posterior_.verdict``.
"""

import inspect
import warnings
from numbers import Number

import numpy as np
import pandas as pd
from scipy import sparse, special

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.metrics import accuracy_score, r2_score
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        f'sgmc.sklearn needs scikit-learn 1.6 or newer: pip install "sgmc[sklearn]" ({error})'
    ) from None

from sgmc import registry
from sgmc.arguments.choices import nearest
from sgmc.arguments.declared.keywords import FIT, names
from sgmc.arguments.messages import label_text, labels_text
from sgmc.arguments.names import column_names
from sgmc.elsewhere import ARGUMENTS, IN_SKLEARN, SAME_ARGUMENTS
from sgmc.errors import SGMCWarning
from sgmc.formula.data.columns import kind as kind_of
from sgmc.formula.data.frames import column_of
from sgmc.formula.designs.groups import of_labels
from sgmc.models.regression.families.gamma import Gamma
from sgmc.models.regression.families.logit import Logit
from sgmc.models.regression.families.mnlogit import MNLogit
from sgmc.models.regression.families.negativebinomial import NegativeBinomial
from sgmc.models.regression.families.ols import OLS
from sgmc.models.regression.families.ordinal import Ordinal
from sgmc.models.regression.families.poisson import Poisson
from sgmc.priors import INTERCEPT

__all__ = [
    "BayesianGammaRegressor",
    "BayesianLinearRegression",
    "BayesianLogisticRegression",
    "BayesianNegativeBinomialRegressor",
    "BayesianOrdinalClassifier",
    "BayesianPoissonRegressor",
]


def __getattr__(name):
    if name in IN_SKLEARN:
        raise AttributeError(f"sgmc.sklearn has no {name!r}; {IN_SKLEARN[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


SAME_IN_SKLEARN = {  # to names of estimators
    **SAME_ARGUMENTS,
    "seed": "random_state",
    "random_seed": "random_state",
    "intercept": "fit_intercept",
}
NARROWEST = np.finfo(float).epsneg  # of a probability from 1, so that its log odds are finite


def estimator_hint(name, known):
    """What to give in the place of an argument that an estimator does not have."""
    if name in names(*FIT):
        return f"; give fit_options={{{name!r}: ...}}"
    return f"; {ARGUMENTS[name]}" if name in ARGUMENTS else nearest(name, known)


class _BayesianEstimator(BaseEstimator):
    """What the estimators have in common; a leaf names its model in `_model` and turns `_mean` into
    predictions.
    """

    _model = None  # a regression model
    _cloned = False

    def __init__(
        self,
        *,
        prior=None,
        fit_intercept=True,
        sampler="auto",
        draws="auto",
        chains=4,
        random_state=None,
        fit_options=None,
        feature_names=None,
    ):
        self.prior = prior
        self.fit_intercept = fit_intercept
        self.sampler = sampler
        self.draws = draws
        self.chains = chains
        self.random_state = random_state
        self.fit_options = fit_options
        self.feature_names = feature_names

    def __init_subclass__(cls, **how):
        super().__init_subclass__(**how)
        _, *others = inspect.signature(cls.__init__).parameters.values()
        cls.__signature__ = inspect.Signature(others)  # not that of __new__

    def __new__(cls, *args, **given):
        # scikit-learn reads the names of __init__, which so cannot take others for their advice
        known = cls._get_param_names()
        for name in (one for one in given if one not in known):
            ours = SAME_IN_SKLEARN.get(name, name)
            advice = f"; use {ours}=" if ours in known else estimator_hint(ours, known)
            raise TypeError(f"{cls.__name__}() got an unexpected keyword argument {name!r}{advice}")
        return super().__new__(cls)

    def __getattr__(self, name):
        unknown = f"{type(self).__name__!r} object has no attribute {name!r}"
        if not name.startswith("_") and hasattr(self._model.result_class(None), name):
            unknown += f"; results have it, which are posterior_ after fit(): posterior_.{name}"
        raise AttributeError(unknown)

    def __sklearn_clone__(self):
        copy = super().__sklearn_clone__()
        copy._cloned = True
        return copy

    def fit(self, X, y, sample_weight=None, groups=None):
        """Sample the posterior.

        Parameters
        ----------
        X : array_like or sparse array (n, n_features)
            Sparse rows stay sparse.
        y : array_like (n,)
            Outcomes.
        sample_weight : array_like (n,), optional
            Frequency weights: row i counts as sample_weight[i] rows.
        groups : array_like (n,), optional
            Labels of groups, each of which has an intercept of its own, with a standard deviation
            that is learned: ``sd(1|groups)`` of `posterior_`.  Predictions then need the rows of
            the fit, which a pickled estimator leaves behind.

        Returns
        -------
        self
        """
        given = y
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], y_numeric=self._numeric
        )
        if X.shape[0] < 2:
            raise ValueError("there is only 1 sample; the spread of outcomes needs more")
        outcome = self._outcome(y, given)
        weights = (
            None
            if sample_weight is None
            else _check_sample_weight(sample_weight, X, dtype=np.float64)
        )
        names = self._names(X)
        model = self._model_of()(outcome, self._design(X), names=names, weights=weights)
        self._grouped = groups is not None
        if self._grouped:
            model = registry.room("grouped")["mixed"](model, of_labels(_labels(groups, X)))
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(check_random_state(seed).randint(np.iinfo(np.int32).max))
        with warnings.catch_warnings():
            if self._cloned:  # one of many fits: a fold, or a candidate
                warnings.simplefilter("ignore", SGMCWarning)
            how = {
                "prior": self.prior,
                "sampler": self.sampler,
                "draws": self.draws,
                "chains": self.chains,
                "seed": seed,
            }
            self.posterior_ = model.fit(**{**how, **(self.fit_options or {})})
        equations = self.posterior_.model.equations
        self._set_coefficients(self.posterior_.params.to_numpy()[: equations * len(names)])
        return self

    _numeric = True

    def _model_of(self):
        """The model of the outcomes of this fit."""
        return self._model

    def _names(self, X):
        """Names of the columns of the design: those given, those of the table, or x0, x1, ..."""
        default = [f"x{j}" for j in range(X.shape[1])]
        if self.feature_names is not None:
            names = column_names(list(self.feature_names), X, X.shape[1], "X")
        else:
            names = [str(name) for name in getattr(self, "feature_names_in_", default)]
        return [INTERCEPT, *names] if self.fit_intercept else names

    def _outcome(self, y, given):
        """Outcomes of the model: of `y`, an array, which was `given` as a column of any kind."""
        return y

    def _set_coefficients(self, means):
        self.coef_, self.intercept_ = (means[1:], means[0]) if self.fit_intercept else (means, 0.0)

    def _design(self, X):
        """X with a column of ones in front where there is an intercept."""
        if not self.fit_intercept:
            return X
        ones = np.ones((X.shape[0], 1), dtype=X.dtype)
        return (
            sparse.hstack([sparse.csr_array(ones), X], format="csr")
            if sparse.issparse(X)
            else np.hstack([ones, X])
        )

    def _mean(self, X, groups=None):
        """Posterior mean of E[y | x], averaged over draws, and over groups where none are given."""
        if groups is None and not getattr(self, "_grouped", True):
            return self.posterior_.predict(self._design(self._checked(X)))
        return self._rows(X, groups).mean()

    def _checked(self, X):
        """New rows, checked."""
        check_is_fitted(self)
        return validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )

    def _rows(self, X, groups=None):
        """New rows with the draws, and with effects of groups where the fit had them."""
        X = self._checked(X)
        if not self._grouped:
            if groups is not None:
                raise ValueError("groups: the model was fitted without; give them to fit")
            return self.posterior_.table_rows(self._design(X)).affordable()
        known = self.posterior_.model.factor_levels[0]
        labels = np.full(X.shape[0], _unseen(known)) if groups is None else _labels(groups, X)
        # cross-validation by groups predicts new ones on purpose
        how = dict(groups=labels, new_levels="sample")
        return self.posterior_.table_rows(self._design(X), **how)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _labels(groups, X):
    """Labels of the rows, an array (n,)."""
    labels = np.asarray(groups)
    if labels.shape != (X.shape[0],):
        raise ValueError(
            f"groups has shape {labels.shape}; it must have a label for each of {X.shape[0]} rows"
        )
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise ValueError(
            f"groups has {len(missing)} missing labels, first in row {missing[0]}: leave these "
            "rows out, or give them a label"
        )
    return labels


def _unseen(known):
    """A label that is not among those of the fit."""
    if known.dtype.kind in "iuf":
        return known.max() + 1
    label = "new"
    while label in known:
        label += "_"
    return label


class _BayesianClassifier(ClassifierMixin, _BayesianEstimator):
    """What estimators of classes have in common; `_model` is of two, `_model_of_many` of more."""

    _model = Logit
    _model_of_many = None
    _numeric = False

    def _outcome(self, y, given):
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind.startswith("multilabel"):
            raise ValueError(f"y must be one class a row; the type of the target is {kind}")
        self.classes_, outcome = self._classes(y, given)
        if len(self.classes_) < 2:
            raise ValueError(f"y has 1 class, {label_text(self.classes_[0])}: two are needed")
        if len(self.classes_) == 2:
            return outcome.astype(float)
        return pd.Categorical.from_codes(outcome, [str(one) for one in self.classes_], ordered=True)

    def _classes(self, y, given):
        """Classes, and the place of each outcome among them."""
        return np.unique(y, return_inverse=True)

    def _model_of(self):
        return self._model if len(self.classes_) == 2 else self._model_of_many

    def predict_proba(self, X, groups=None):
        """Posterior predictive probabilities of the classes, (n, classes); `groups` as in `fit`."""
        p = np.asarray(self._mean(X, groups))
        return p if p.ndim == 2 else np.column_stack([1 - p, p])

    def decision_function(self, X, groups=None):
        """Log odds of `predict_proba`: of two classes (n,), of more (n, classes), each against the
        others.
        """
        p = self.predict_proba(X, groups)
        p = p[:, 1] if len(self.classes_) == 2 else p
        return special.logit(np.clip(p, np.finfo(float).tiny, 1 - NARROWEST))

    def predict(self, X, groups=None):
        """The likeliest class of each row; `groups` as in `predict_proba`."""
        p = self.predict_proba(X, groups)
        return self.classes_[p.argmax(axis=1)]

    def score(self, X, y, sample_weight=None, groups=None):
        """Share of the rows whose class is predicted."""
        return accuracy_score(y, self.predict(X, groups), sample_weight=sample_weight)


class BayesianLogisticRegression(_BayesianClassifier):
    """Bayesian logistic regression: of two classes P(y = classes_[1]) = E[1 / (1 + exp(-(x .
    theta)))] over the posterior; of more the multinomial one, `sgmc.MNLogit`.

    Parameters
    ----------
    prior : str, prior or dict, optional
        As in `sgmc.logit`; by feature name, and ``"Intercept"``.  Default
        ``normal(0, 2.5, autoscale=True)``.
    fit_intercept : bool
    sampler : str or specification
    draws : int or "auto"
        Kept draws per chain, as in `sgmc.logit`.
    chains : int
    random_state : int, RandomState or None
        An int is the seed of the fit.
    fit_options : dict, optional
        Further arguments of `sgmc.Logit.fit`, e.g. ``{"subsample": "uniform", "threads": 1}``.
    feature_names : list of str, optional
        Names of the columns of X in ``posterior_``, where X is an array, as it is behind a
        `StandardScaler`.  Default: those of the table, or x0, x1, ...

    Attributes
    ----------
    posterior_ : Results
        Draws, summary, diagnostics; see `sgmc.Results`.
    classes_ : array
    coef_ : array (1, n_features), or (classes, n_features) of more than two classes
    intercept_ : array (1,), or (classes,)
        Posterior means; of more than two classes the first one's are zero.
    n_features_in_ : int
    feature_names_in_ : array of str
        Of tables with names.

    Notes
    -----
    Probabilities are averaged over draws, never those of the mean coefficients; so
    `decision_function` is their log odds, and not x . coef_ + intercept_.

    Examples
    --------
    >>> import numpy as np
    >>> from sgmc.sklearn import BayesianLogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = np.where(X[:, 0] + np.random.default_rng(1).logistic(size=500) > 0, "yes", "no")
    >>> model = BayesianLogisticRegression(random_state=1).fit(X, y)
    >>> model.predict([[3.0, 0.0], [-3.0, 0.0]]).tolist()
    ['yes', 'no']
    >>> list(model.posterior_.conf_int().index)
    ['Intercept', 'x0', 'x1']
    """

    _model_of_many = MNLogit

    def _set_coefficients(self, means):
        """Of several classes the first is the reference, whose coefficients are zero."""
        several = len(self.classes_) > 2
        rows = means.reshape(len(self.classes_) - 1, -1)
        rows = np.vstack([np.zeros_like(rows[:1]), rows]) if several else rows
        has = int(self.fit_intercept)
        self.coef_ = rows[:, has:]
        self.intercept_ = rows[:, 0] if has else np.zeros(len(rows))


class BayesianOrdinalClassifier(_BayesianClassifier):
    """Bayesian regression of ordered classes: P(y <= k) = 1 / (1 + exp(-(threshold_k - x . theta)))
    over the posterior; classes have the order of an ordered categorical, or of their numbers.

    Text has no order: give an ordered `pandas.Categorical`, or numbers.  Two classes are those of
    `BayesianLogisticRegression`.

    Parameters
    ----------
    prior, sampler, draws, chains, random_state, fit_options, feature_names
        As in `BayesianLogisticRegression`, of `sgmc.Ordinal`.
    fit_intercept : bool
        True: thresholds are in the place of the intercept.

    Attributes
    ----------
    posterior_ : Results
        Draws, summary, diagnostics; see `sgmc.Results`.
    classes_ : array
        In their order.
    coef_ : array (1, n_features)
        Posterior means.
    n_features_in_ : int
    feature_names_in_ : array of str
        Of tables with names.

    Examples
    --------
    >>> import numpy as np
    >>> from sgmc.sklearn import BayesianOrdinalClassifier
    >>> X = np.random.default_rng(0).normal(size=(500, 1))
    >>> y = np.digitize(3 * X[:, 0] + np.random.default_rng(1).logistic(size=500), [-1, 1])
    >>> model = BayesianOrdinalClassifier(random_state=1).fit(X, y)
    >>> model.predict([[-2.0], [0.0], [2.0]]).tolist()
    [0, 1, 2]
    """

    _model_of_many = Ordinal

    def _outcome(self, y, given):
        if not self.fit_intercept:
            raise ValueError("fit_intercept must be True: thresholds are in the intercept's place")
        return super()._outcome(y, given)

    def _classes(self, y, given):
        column = column_of(given, "y")
        if kind_of(column) == "category" and column.cat.ordered:
            used = column.cat.remove_unused_categories().cat
            return used.categories.to_numpy(), used.codes.to_numpy()
        classes, places = super()._classes(y, given)
        # two are those of the logistic model, whose fit is the same either way round
        if len(classes) > 2 and not all(isinstance(one, Number) for one in classes.tolist()):
            raise ValueError(
                f"y holds {labels_text(classes.tolist(), 3)}, whose order is unknown: give "
                "pandas.Categorical(y, categories=[lowest, ..., highest], ordered=True), or "
                "numbers in their order"
            )
        return classes, places

    def _set_coefficients(self, means):
        names = self._names(np.empty((0, self.n_features_in_)))[1:]
        self.coef_ = self.posterior_.params[names].to_numpy()[None, :]


class _BayesianRegressor(RegressorMixin, _BayesianEstimator):
    """What estimators of numbers have in common."""

    def predict(self, X, groups=None, return_std=False):
        """Posterior mean of E[y | x], averaged over draws, (n,).

        Parameters
        ----------
        X : array_like or sparse array (n, n_features)
        groups : array_like (n,), optional
            Labels of groups: known ones by their effects, others by draws from the population.
            Without any, the average over the population.
        return_std : bool
            With the predictive standard deviation of a single outcome, as scikit-learn's
            BayesianRidge: sqrt(Var(E[y | x]) + E(Var[y | x])) over the posterior.

        Returns
        -------
        mean : array (n,)
        std : array (n,)
            With `return_std`.
        """
        if not return_std:
            return self._mean(X, groups)
        rows = self._rows(X, groups)
        mean = rows.average(lambda at, eta: rows.family.mean(eta))
        spread = rows.average(
            lambda at, eta: (
                (rows.family.mean(eta) - mean[rows.place(at)][:, None]) ** 2
                + rows.family.variance(eta, rows.extra)
            )
        )
        return mean, np.sqrt(spread)

    def score(self, X, y, sample_weight=None, groups=None):
        """R squared of the predictions."""
        return r2_score(y, self.predict(X, groups), sample_weight=sample_weight)


class BayesianLinearRegression(_BayesianRegressor):
    """Bayesian linear regression: y = x . theta + N(0, sigma^2).

    Parameters
    ----------
    prior, fit_intercept, sampler, draws, chains, random_state, fit_options, feature_names
        As in `BayesianLogisticRegression`, of `sgmc.OLS`; priors also by ``"sigma"``.

    Attributes
    ----------
    posterior_ : Results
        Draws, summary, diagnostics; see `sgmc.Results`.
    coef_ : array (n_features,)
    intercept_ : float
        Posterior means.
    n_features_in_ : int
    feature_names_in_ : array of str
        Of tables with names.
    """

    _model = OLS


class _Rates(Poisson):
    """Poisson's likelihood for numbers that need not be whole,
    as scikit-learn's PoissonRegressor has it.
    """

    class family(Poisson.family):
        """Any numbers of zero or more."""

        @staticmethod
        def check(y, label):
            if (y < 0).any():
                raise ValueError("y must not be negative")


class BayesianPoissonRegressor(_BayesianRegressor):
    """Bayesian Poisson regression: E[y] = exp(x . theta).

    Parameters
    ----------
    prior, fit_intercept, sampler, draws, chains, random_state, fit_options, feature_names
        As in `BayesianLogisticRegression`, of `sgmc.Poisson`.
        ``fit_options={"cov_type": "robust"}`` is for counts that vary more, or less, than
        Poisson's.

    Attributes
    ----------
    posterior_ : Results
        Draws, summary, diagnostics; see `sgmc.Results`.
    coef_ : array (n_features,)
    intercept_ : float
        Posterior means.
    n_features_in_ : int
    feature_names_in_ : array of str
        Of tables with names.

    Notes
    -----
    Outcomes need not be whole, as in scikit-learn's PoissonRegressor: E[y] is then estimated from
    the same score equations, and only ``cov_type="robust"`` says how well.  An exposure is the
    weight of a rate: ``fit(X, y / exposure, sample_weight=exposure)``.
    """

    _model = _Rates

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


class BayesianNegativeBinomialRegressor(_BayesianRegressor):
    """Bayesian regression of counts that vary more than Poisson's: E[y] = exp(x . theta), Var[y] =
    E[y] + alpha E[y]^2.

    Parameters
    ----------
    prior, fit_intercept, sampler, draws, chains, random_state, fit_options, feature_names
        As in `BayesianLogisticRegression`, of `sgmc.NegativeBinomial`; priors also by ``"alpha"``.

    Attributes
    ----------
    posterior_ : Results
        Draws, summary, diagnostics; see `sgmc.Results`.
    coef_ : array (n_features,)
    intercept_ : float
        Posterior means.
    n_features_in_ : int
    feature_names_in_ : array of str
        Of tables with names.

    Notes
    -----
    Outcomes must be whole numbers: the variance is part of the model.
    """

    _model = NegativeBinomial

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


class BayesianGammaRegressor(_BayesianRegressor):
    """Bayesian gamma regression of positive outcomes: E[y] = exp(x . theta), Var[y] = dispersion
    E[y]^2.

    Parameters
    ----------
    prior, fit_intercept, sampler, draws, chains, random_state, fit_options, feature_names
        As in `BayesianLogisticRegression`, of `sgmc.Gamma`; priors also by ``"dispersion"``.

    Attributes
    ----------
    posterior_ : Results
        Draws, summary, diagnostics; see `sgmc.Results`.
    coef_ : array (n_features,)
    intercept_ : float
        Posterior means.
    n_features_in_ : int
    feature_names_in_ : array of str
        Of tables with names.
    """

    _model = Gamma

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
