"""The base of regression models: from a formula or from arrays, then `fit`."""

import time
from dataclasses import replace

from sgmc.errors import ArgumentError, DataError
from sgmc.models.regression.data import (
    RegressionData,
    category_codes,
    from_arrays,
    outcome_name,
    total_offset,
)


class Regression:
    """Base of regression models; use `Logit` and its siblings.

    Parameters
    ----------
    endog : array_like (n,) or (n, 2)
        Outcomes; of models of 0 and 1 also counts of successes and failures, as in statsmodels'
        GLM.
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

    room = "families"
    family = None
    options = {}  # arguments of a model's own, with their defaults

    def __init_subclass__(cls, **how):
        """Name a model as its family where it brings one: the registry finds it by that name."""
        super().__init_subclass__(**how)
        if "family" in vars(cls):
            cls.name = cls.family.name

    def __init__(
        self,
        endog,
        exog,
        *,
        names=None,
        weights=None,
        offset=None,
        exposure=None,
        strata=None,
        **options,
    ):
        self.take(options)
        self.check_applies(offset, exposure)
        label, (endog, self.levels) = outcome_name(endog), self.coded(endog)
        columns = dict(weights=weights, offset=offset, exposure=exposure, strata=strata)
        self.data = from_arrays(
            endog, exog, label, names, columns, pairs=self.family.outcome == "binary"
        )
        self.data.equations = equations(self.family, self.levels)
        self.spec = self.formula = None
        self.inputs = {}
        self.check_outcomes()

    @classmethod
    def from_formula(
        cls,
        formula,
        data,
        *,
        weights=None,
        offset=None,
        exposure=None,
        strata=None,
        subset=None,
        missing="drop",
        scope=None,
        **options,
    ):
        """A model from an R-style formula and a table.

        Parameters
        ----------
        formula : str
            As in R: ``"y ~ ."``, ``"y ~ x1 + C(g)"``, ``"y ~ . - x1"``;
            ``"successes + failures ~ x1"`` for counts of both.
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
        table = front.read(
            formula,
            data,
            weights=weights,
            offset=offset,
            exposure=exposure,
            strata=strata,
            subset=subset,
            missing=missing,
            outcome=cls.family.outcome,
            scope=front.caller_scope() if scope is None else scope,
        )
        model = cls.__new__(cls)
        model.take(options)
        spec = table.spec
        intercept = spec.exog_names.index("Intercept") if spec.has_intercept else None
        offset, given = total_offset(table.offset, table.exposure, table.trials)
        notes = [front.left_out_warning(table.left_out)] if table.left_out else []
        model.data = RegressionData(
            table.y,
            list(spec.exog_names),
            dict(spec.term_slices),
            intercept,
            spec.endog_name,
            table,
            offset,
            table.trials,
            table.weights,
            table.strata,
            given,
            table.dropped,
            notes,
        )
        model.spec, model.formula, model.levels = spec, formula, spec.levels
        model.data.equations = equations(cls.family, spec.levels)
        model.inputs = dict(
            weights=weights,
            offset=offset,
            exposure=exposure,
            strata=strata,
            subset=subset,
            missing=missing,
        )
        model.check_outcomes()
        return model

    def take(self, given):
        """Take the model's own arguments, which choose its family."""
        for name in given:
            if name not in type(self).options:
                raise TypeError(
                    f"{type(self).__name__} got an unexpected keyword argument {name!r}"
                )
        if type(self).options:
            self.options = {**type(self).options, **given}
            self.family = self.chosen_family(**self.options)

    @classmethod
    def chosen_family(cls, **known):
        """The family for the model's own arguments:
        by default its own parameters, known or to be learned.
        """
        from sgmc.models.regression.bases.known import with_known

        return with_known(cls.family, known)

    @classmethod
    def coded(cls, endog):
        """Outcomes, and their levels where they are of several kinds:
        then they are the levels' numbers.
        """
        return category_codes(endog) if cls.family.outcome == "category" else (endog, None)

    @classmethod
    def check_applies(cls, offset, exposure):
        """Refuse an exposure where outcomes are no counts,
        and an offset where there are several linear predictors.
        """
        if exposure is not None and not cls.family.counts:
            raise ArgumentError(
                f"exposure does not apply to {cls.family.name}: it belongs to models of counts"
            )
        if offset is not None and cls.family.outcome == "category":
            raise ArgumentError(
                f"offset does not apply to {cls.family.name}: it has a linear predictor for each "
                "equation"
            )

    def check_outcomes(self):
        """Refuse outcomes that do not suit the family; rows of weight zero do not count."""
        y, trials, weight = self.data.y, self.data.trials, self.data.weight
        kept = slice(None) if weight is None else weight > 0
        self.family.of_trials(None if trials is None else trials[kept]).check(
            y[kept], self.data.endog_name
        )
        names = self.data.parameter_names(self.family)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(
                f"there is more than one coefficient {twice!r}: rename levels of "
                f"{self.data.endog_name!r}, or columns"
            )

    def __repr__(self):
        what = f"{self.formula!r}, " if self.formula else ""
        size = self.data.d * max(len(self.data.equations), 1)
        return f"<{self.family.title} model: {what}{self.data.n} rows, {size} coefficients>"

    def __getattr__(self, name):
        from sgmc.models.regression.results import RegressionResults

        hint = (
            ""
            if name.startswith("_") or not hasattr(RegressionResults, name)
            else ": fit() returns the results, which have it"
        )
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
        if arguments.get("tune") is None:
            arguments.pop("tune", None)
            return self.continue_from(None, {"prior": prior, **arguments})
        from sgmc.tuning.tuner import chosen

        arguments, race = chosen(self, prior, arguments)
        results = self.continue_from(None, {"prior": prior, **arguments}, tuned=True)
        results.tuning = race
        return results

    def continue_from(self, saved, arguments, tuned=False):
        """Fit from where a saved run was (None: from the start), with all arguments of `fit` as a
        dict, `tuned` by a race or not.
        """
        from sgmc.core.blas import one_blas_thread
        from sgmc.fit.sampling import fit
        from sgmc.fit.settings import settings
        from sgmc.models.regression.results import ModelInfo, RegressionResults

        begun, rest = time.perf_counter(), dict(arguments)
        prior = rest.pop("prior")
        checked = replace(settings(**rest), tuned=tuned)
        check_labels("init", arguments.get("init"), self.data.parameter_names(self.family))
        with one_blas_thread():  # with two, bits differ, and small systems take ten times as long
            problem = self.problem(prior, checked)
        return RegressionResults.of_fit(
            ModelInfo(self), fit(problem, checked, begun, saved), arguments
        )

    def problem(self, prior, checked):
        """The posterior in sampler coordinates, for checked settings."""
        from sgmc.models.regression.problem import regression_problem

        if self.data.strata is not None and checked.subsample != "stratified":
            raise ArgumentError(
                f"strata does not apply to subsample={checked.subsample!r}; give "
                "subsample='stratified'"
            )
        return regression_problem(self.data, self.family, prior, checked)


def equations(family, levels):
    """Labels of the equations of outcomes with such levels; none for families of one equation."""
    return tuple(str(level) for level in levels[1:]) if family.outcome == "category" else ()


def check_labels(name, values, names):
    """Refuse a Series or frame that is labelled, but not by `names` in their order:
    it would be read by position.
    """
    labels = getattr(values, "columns", getattr(values, "index", ()))
    labels = list(labels) if hasattr(labels, "equals") else []
    if any(isinstance(label, str) for label in labels) and labels != names:
        found, wanted = ", ".join(map(str, labels[:8])), ", ".join(names[:8])
        raise ArgumentError(
            f"{name} is labelled {found}; it must be {wanted}, in this order, or pass "
            f"{name}.to_numpy()"
        )
