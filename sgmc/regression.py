"""Regression models as users meet them: from a formula or from arrays, then `fit`."""
import time
from dataclasses import dataclass, field

import numpy as np

from sgmc.errors import ArgumentError, DataError
from sgmc.fitting.arrays import check_index, first_place, is_lent, table_of_numbers, vector
from sgmc.models.cloglog import CloglogFamily
from sgmc.models.logit import LogitFamily
from sgmc.models.mnlogit import MnlogitFamily
from sgmc.models.negativebinomial import NegativeBinomialFamily
from sgmc.models.ols import OlsFamily
from sgmc.models.poisson import PoissonFamily
from sgmc.models.probit import ProbitFamily


@dataclass
class RegressionData:
    """Outcomes and design of a regression, before they are copied.

    Attributes
    ----------
    y : array (n,)
    names : list of str
        Columns of the design.
    terms : dict
        Term -> slice of columns.
    intercept : int or None
    endog_name : str
    source : object
        What `fill` reads: a formula table, a dense array or a CSR array.
    offset : array (n,) or None
        With the log of the exposure.
    given : tuple of str
        Which of "offset" and "exposure" there were.
    equations : tuple
        Labels of the equations, where there are several: each has coefficients of its own.
    lent : bool
        Whether it is an array of the user's that is memory-mapped or read-only.
    """

    y: np.ndarray
    names: list
    terms: dict
    intercept: int | None
    endog_name: str
    source: object
    offset: np.ndarray | None = None
    weight: np.ndarray | None = None
    strata: np.ndarray | None = None
    given: tuple = ()
    dropped: int = 0
    notes: list = field(default_factory=list)
    lent: bool = False
    equations: tuple = ()

    @property
    def n(self):
        """Rows."""
        return len(self.y)

    @property
    def d(self):
        """Columns of the design."""
        return len(self.names)

    @property
    def sparse(self):
        """The design as a CSR array, or None where it is dense."""
        return self.source if hasattr(self.source, "indptr") else None

    def parameter_names(self, family):
        """Names of the coefficients and of the family's own parameters; a column of that name makes them end in "_"."""
        names = [f"{label}:{name}" for label in self.equations for name in self.names] or list(self.names)
        for own in family.own:
            names.append(own.name)
            while names[-1] in names[:-1]:
                names[-1] += "_"
        return names

    def fill(self, out, position):
        """Write row i of the design into out[position[i]]."""
        if isinstance(self.source, np.ndarray):
            out[position] = self.source
        else:
            self.source.fill(out, position)


class Regression:
    """Base of regression models; use `Logit` and its siblings.

    Parameters
    ----------
    endog : array_like (n,)
        Outcomes.
    exog : array_like (n, d), scipy CSR array, or pandas, polars or pyarrow table
        The design; an intercept is a column of ones that you add yourself, as in statsmodels.
    names : list of str, optional
        Columns of the design.
    weights : array_like (n,), optional
        Frequency weights: the i-th log density counts weights[i] times.
    offset : array_like (n,), optional
        Added to the linear predictor.
    exposure : array_like (n,), optional
        Of counts: its log is added to the linear predictor.
    strata : array_like (n,), optional
        Groups of rows for ``subsample="stratified"``; the posterior does not depend on them.

    Raises
    ------
    DataError
        For data that do not suit; the message names the argument.
    """

    family = None

    def __init__(self, endog, exog, *, names=None, weights=None, offset=None, exposure=None, strata=None):
        self.check_applies(offset, exposure)
        label, (endog, self.levels) = outcome_name(endog), self.coded(endog)
        self.data = from_arrays(endog, exog, label, names, dict(weights=weights, offset=offset, exposure=exposure, strata=strata))
        self.data.equations = equations(self.family, self.levels)
        self.spec = self.formula = None
        self.inputs = {}
        self.check_outcomes()

    @classmethod
    def from_formula(cls, formula, data, *, weights=None, offset=None, exposure=None, strata=None, subset=None, missing="drop",
                     scope=None):
        """A model from an R-style formula and a table.

        Parameters
        ----------
        formula : str
            As in R: ``"y ~ ."``, ``"y ~ x1 + C(g)"``, ``"y ~ . - x1"``.
        data : pandas, polars or pyarrow table, or dict of arrays
            Never changed.
        weights, offset, exposure, strata : str or array_like, optional
            Column names or arrays.
        subset : str, array_like or callable, optional
            Rows to use.
        missing : {"drop", "raise"}
            What to do with rows that lack a needed value.

        Raises
        ------
        FormulaError, DataError
            Naming the column or argument.
        """
        from sgmc import formula as front

        cls.check_applies(offset, exposure)
        table = front.read(formula, data, weights=weights, offset=offset, exposure=exposure, strata=strata, subset=subset,
                           missing=missing, outcome=cls.family.outcome, scope=front.caller_scope() if scope is None else scope)
        model = cls.__new__(cls)
        spec = table.spec
        intercept = spec.exog_names.index("Intercept") if spec.has_intercept else None
        offset, given = total_offset(table.offset, table.exposure)
        notes = [front.left_out_warning(table.left_out)] if table.left_out else []
        model.data = RegressionData(table.y, list(spec.exog_names), dict(spec.term_slices), intercept, spec.endog_name, table,
                                    offset, table.weights, table.strata, given, table.dropped, notes)
        model.spec, model.formula, model.levels = spec, formula, spec.levels
        model.data.equations = equations(cls.family, spec.levels)
        model.inputs = dict(weights=weights, offset=offset, exposure=exposure, strata=strata, subset=subset, missing=missing)
        model.check_outcomes()
        return model

    @classmethod
    def coded(cls, endog):
        """Outcomes, and their levels where they are of several kinds: then they are the levels' numbers."""
        return category_codes(endog) if cls.family.outcome == "category" else (endog, None)

    @classmethod
    def check_applies(cls, offset, exposure):
        """Refuse an exposure where outcomes are no counts, and an offset where there are several linear predictors."""
        if exposure is not None and not cls.family.counts:
            raise ArgumentError(f"exposure does not apply to {cls.family.name}: it belongs to models of counts")
        if offset is not None and cls.family.outcome == "category":
            raise ArgumentError(f"offset does not apply to {cls.family.name}: it has a linear predictor for each equation")

    def check_outcomes(self):
        """Refuse outcomes that do not suit the family; rows of weight zero do not count."""
        y, weight = self.data.y, self.data.weight
        self.family.check(y if weight is None else y[weight > 0], self.data.endog_name)
        names = self.data.parameter_names(self.family)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"there is more than one coefficient {twice!r}: rename levels of {self.data.endog_name!r}, or columns")

    def __repr__(self):
        what = f"{self.formula!r}, " if self.formula else ""
        size = self.data.d * max(len(self.data.equations), 1)
        return f"<{self.family.title} model: {what}{self.data.n} rows, {size} coefficients>"

    def __getattr__(self, name):
        from sgmc.results.results import Results

        hint = "" if name.startswith("_") or not hasattr(Results, name) else ": fit() returns the results, which have it"
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    @property
    def endog_names(self):
        """Name of the outcome."""
        return self.data.endog_name

    @property
    def exog_names(self):
        """Names of the coefficients."""
        return self.data.names

    def fit(self, *, prior=None, **arguments):
        """Sample the posterior; the arguments are those of the verbs, see `sgmc.logit`.

        Returns
        -------
        Results
        """
        return self.continue_from(None, {"prior": prior, **arguments})

    def continue_from(self, saved, arguments):
        """Fit from where a saved run was (None: from the start), with all arguments of `fit` as a dict."""
        from sgmc.fitting.blas import one_blas_thread
        from sgmc.fitting.fit import fit
        from sgmc.fitting.problem import regression_problem
        from sgmc.fitting.settings import settings
        from sgmc.results.results import ModelInfo, Results

        begun, rest = time.perf_counter(), dict(arguments)
        prior = rest.pop("prior")
        checked = settings(**rest)
        check_labels("init", arguments.get("init"), self.data.parameter_names(self.family))
        if self.data.strata is not None and checked.subsample != "stratified":
            raise ArgumentError(f"strata does not apply to subsample={checked.subsample!r}; give subsample='stratified'")
        with one_blas_thread():                                # with two, bits differ, and small systems take ten times as long
            problem = regression_problem(self.data, self.family, prior, checked)
        return Results.of_fit(ModelInfo(self), fit(problem, checked, begun, saved), arguments)


def kind(family):
    """The model class of a family's name."""
    return {cls.family.name: cls for cls in Regression.__subclasses__()}[family]


class Logit(Regression):
    """Bayesian logistic regression: P(y = 1) = 1 / (1 + exp(-(x . theta + offset)))."""

    family = LogitFamily


class Probit(Regression):
    """Bayesian probit regression: P(y = 1) = Phi(x . theta + offset)."""

    family = ProbitFamily


class Cloglog(Regression):
    """Bayesian regression with complementary log-log link: P(y = 1) = 1 - exp(-exp(x . theta + offset))."""

    family = CloglogFamily


class Poisson(Regression):
    """Bayesian Poisson regression of counts: E[y] = exposure exp(x . theta + offset)."""

    family = PoissonFamily


class NegativeBinomial(Regression):
    """Bayesian negative binomial regression of counts: E[y] = mu = exposure exp(x . theta + offset), Var[y] = mu + alpha mu^2."""

    family = NegativeBinomialFamily


class OLS(Regression):
    """Bayesian linear regression: y = x . theta + offset + N(0, sigma^2)."""

    family = OlsFamily


class MNLogit(Regression):
    """Bayesian multinomial logistic regression: log P(y = k) / P(y = first) = x . theta_k for each level k but the first."""

    family = MnlogitFamily


def equations(family, levels):
    """Labels of the equations of outcomes with such levels; none for families of one equation."""
    return tuple(str(level) for level in levels[1:]) if family.outcome == "category" else ()


def total_offset(offset, exposure):
    """(offset, given) of RegressionData from what a user gave, checked."""
    given = tuple(name for name, value in (("offset", offset), ("exposure", exposure)) if value is not None)
    if exposure is None:
        return offset, given
    return np.log(exposure) + (0.0 if offset is None else offset), given


def outcome_name(endog):
    """The name that a Series has, of whatever library; "y" for what has none."""
    name = getattr(endog, "name", None)
    return str(name) if np.ndim(name) == 0 and name else "y"


def from_arrays(endog, exog, label, names, columns):
    """Checked RegressionData from arrays, tables or a CSR array; `columns` are weights and the like, by name, or None."""
    from sgmc.formula.frames import pandas_or_same

    exog = pandas_or_same(exog)
    y = vector("endog", endog)
    check_index(endog=endog, exog=exog, **columns)
    X = table_of_numbers("exog", exog)
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or X.shape[1] == 0:
        raise DataError(f"exog has shape {X.shape}; it must be rows x columns, with at least one column")
    if len(y) != X.shape[0]:
        raise DataError(f"endog has {len(y)} values, exog has {X.shape[0]} rows")
    if len(y) == 0:
        raise DataError("the data are empty: no row")
    unnamed = names is None and not hasattr(exog, "columns")
    names = column_names(names, exog, X.shape[1])
    place = first_place(X, lambda values: ~np.isfinite(values))
    if place is not None:
        raise DataError(f"exog has missing or infinite values (column {names[place[1]]!r}); drop or impute them first")
    intercept = constant_column(X)
    if intercept is not None and unnamed:
        names[intercept] = "const"
    read = {"weights": lambda v: check_weights(vector("weights", v)), "offset": lambda v: vector("offset", v),
            "exposure": lambda v: check_exposures(vector("exposure", v)), "strata": labels}
    known = {name: None if v is None else same_length(name, read[name](v), y) for name, v in columns.items()}
    offset, given = total_offset(known["offset"], known["exposure"])
    return RegressionData(y, names, {n: slice(j, j + 1) for j, n in enumerate(names)}, intercept, label, X, offset,
                          known["weights"], known["strata"], given,
                          lent=isinstance(exog, np.ndarray) and is_lent(X))


def category_codes(endog):
    """(numbers of the levels, levels) of labels; DataError where some are missing."""
    import pandas as pd

    from sgmc.formula.columns import codes_of, levels_of
    from sgmc.formula.frames import column_of, one_column

    endog = one_column(endog)
    if np.ndim(endog) != 1:
        raise DataError(f"endog has shape {np.shape(endog)}; it must be one label a row")
    series = column_of(endog, "y")
    if series.isna().any():
        raise DataError("endog has missing values; drop those rows first")
    levels = levels_of(series)
    codes = codes_of(series, levels, "endog").astype(float)
    return pd.Series(codes, endog.index) if isinstance(endog, pd.Series) else codes, levels    # an index that the user gave


def labels(strata):
    """Labels of rows as numbers; DataError where some are missing."""
    import pandas as pd

    from sgmc.formula.columns import labels_of

    if np.ndim(strata) != 1:
        raise DataError(f"strata has shape {np.shape(strata)}; it must be one label a row")
    return vector("strata", labels_of("strata", pd.Series(strata)))


def column_names(names, exog, d):
    """One name a column of exog: those given, those of a frame as text, or x1, x2, ..."""
    if names is None and hasattr(exog, "columns"):
        names = [str(c) for c in exog.columns]
        if len(set(names)) < d:
            twice = sorted({n for n in names if names.count(n) > 1})
            raise DataError(f"exog has more than one column {', '.join(map(repr, twice))}; rename or drop them")
    if names is None:
        return [f"x{j + 1}" for j in range(d)]
    listed = [] if isinstance(names, str) or not np.iterable(names) else list(names)
    if len(listed) != d or not all(isinstance(n, str) for n in listed):
        raise ArgumentError(f"names={names!r} must be {d} strings, one a column of exog")
    if len(set(listed)) < d:
        twice = sorted({n for n in listed if listed.count(n) > 1})
        raise ArgumentError(f"names repeat: {twice}; give each column of exog its own")
    return listed


def same_length(name, array, y):
    """`array`, or DataError where its length is not that of the outcomes."""
    if len(array) != len(y):
        raise DataError(f"{name} has {len(array)} values, the data have {len(y)} rows")
    return array


def check_labels(name, values, names):
    """Refuse a Series or frame that is labelled, but not by `names` in their order: it would be read by position."""
    labels = getattr(values, "columns", getattr(values, "index", ()))
    labels = list(labels) if hasattr(labels, "equals") else []
    if any(isinstance(label, str) for label in labels) and labels != names:
        found, wanted = ", ".join(map(str, labels[:8])), ", ".join(names[:8])
        raise ArgumentError(f"{name} is labelled {found}; it must be {wanted}, in this order, or pass {name}.to_numpy()")


def check_exposures(exposure):
    """`exposure`, or DataError where it is not positive."""
    if (exposure <= 0).any():
        raise DataError("exposure must be positive")
    return exposure


def check_weights(weights):
    """`weights`, or DataError where they are negative or all zero."""
    if (weights < 0).any() or not weights.any():
        raise DataError("weights must not be negative, nor all zero")
    return weights


def constant_column(X):
    """Index of the first column of ones, or None."""
    if hasattr(X, "indptr"):
        return constant_stored_column(X)
    for j in np.flatnonzero(X[0] == 1):
        if (X[:, j] == 1).all():
            return int(j)
    return None


def constant_stored_column(X):
    """The same for a CSR array, from what it stores."""
    stored = slice(X.indptr[-1])
    sums = np.bincount(X.indices[stored], X.data[stored], X.shape[1])
    for j in np.flatnonzero(sums == X.shape[0]):
        column = X[:, [j]]
        column.sum_duplicates()
        if column.nnz == X.shape[0] and (column.data == 1).all():
            return int(j)
    return None
