"""The base of regression models: from a formula or from arrays, then `fit`."""

import time
from dataclasses import replace

from sgmc.arguments.data.limited import is_records
from sgmc.arguments.declared.covariances import check_covariance_of
from sgmc.arguments.declared.keywords import ARRAYS, FIT, FORMULA, REGRESSION, names, rows
from sgmc.arguments.declared.parameter import REQUIRED
from sgmc.arguments.declared.signatures import per_class, refuse_unknown
from sgmc.arguments.names import same_order
from sgmc.core.system.deadline import limited
from sgmc.core.system.interrupts import handled
from sgmc.elsewhere import renamed
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.models.regression.bases import errors
from sgmc.models.regression.options import option
from sgmc.models.regression.prior_predictive import PriorPredictive
from sgmc.models.regression.rows.data import check_outcomes, equations, of_table
from sgmc.models.regression.rows.from_arrays import from_arrays, outcome_name
from sgmc.priors import learns
from sgmc.registry import room

MANY = 512  # parameters: with fewer a fit takes seconds, and its summary has all coefficients


class Regression(PriorPredictive):
    """Base of regression models; use `Logit` and its siblings.

    Raises
    ------
    DataError
        For data that do not suit; the message names the argument.
    """

    room = "families"
    family = None
    without_outcomes = True  # whether its prior alone can be sampled
    options = {}  # arguments of a model's own, with their defaults
    distributional = None  # the class of formulas with predictors of the auxiliary parameter
    defaults = {}  # of keywords of a fit, where they are others than those of most models

    def __init_subclass__(cls, **how):
        """Name a model as its family where it brings one: the registry finds it by that name."""
        super().__init_subclass__(**how)
        if "family" in vars(cls):
            cls.name = cls.family.name

    @classmethod
    def _keywords(cls, *takers):
        """Return the rows of the keywords of `takers` that apply, and the family's own."""
        made = {FORMULA, ARRAYS} & set(takers)
        own = [option(*pair) for pair in cls.options.items()] if made else []
        found = [row for row in rows(*takers) if row.name not in cls.unused()]
        found = [replace(row, default=cls.defaults.get(row.name, row.default)) for row in found]
        first = sum(row.default is REQUIRED for row in found)
        return found[:first] + own + found[first:]

    @classmethod
    def unused(cls):
        """Return the names of keywords that do not apply to the family."""
        if cls.family is None:
            return ()
        family = cls.family
        alone = ("exposure",) * (not family.counts) + ("se",) * (not family.errors)
        return alone + ("offset", "nodes") * (family.outcome == "category")

    @per_class(ARRAYS)
    def __init__(self, endog, exog, **given):
        """Make a model from arrays.

        Parameters
        ----------
        endog : array_like (n,) or (n, 2)
            Outcomes; of models of 0 and 1 also counts of successes and failures, as in statsmodels'
            GLM.
        exog : array_like (n, d), scipy CSR array, or pandas, polars or pyarrow table
            The design; an intercept is a column of ones that you add yourself, as in statsmodels.
        {keywords}
        """
        options, columns = self.split("()", ARRAYS, given)
        self.set_options(options)
        self.check_applies(columns["offset"], columns["exposure"], columns["se"])
        label, (endog, self.levels) = outcome_name(endog), self.coded(endog)
        names = columns.pop("names")
        self.data = from_arrays(endog, exog, label, names, columns, outcome=self.family.outcome)
        self.data.equations = equations(self.family, self.levels)
        self.spec, self.formula, self.inputs = None, None, {}
        self.take_errors()
        self.take_ends()
        self.check_outcomes()

    @classmethod
    def split(cls, method, taker, given):
        """Return the family's own arguments, and those of the table with all their defaults.

        Parameters
        ----------
        method : str
            What the user called, after the class's name.
        taker : str
            FORMULA or ARRAYS.
        given : dict
        """
        known = {row.name: row.default for row in rows(taker) if row.default is not REQUIRED}
        given = renamed(cls.__name__ + method, given, {**known, **cls.options})
        refuse_unknown(cls.__name__ + method, given, {**known, **cls.options})
        options = {name: given[name] for name in cls.options if name in given}
        return options, {name: given.get(name, default) for name, default in known.items()}

    @per_class(FORMULA, of_class=True)
    def from_formula(cls, formula, data, *, scope=None, **given):
        """Make a model from an R-style formula and a table.

        Parameters
        ----------
        {keywords}
        scope : dict, optional
            Names that a formula of one's own may use besides columns.  Default: the caller's.

        Raises
        ------
        FormulaError, DataError
            Naming the column or argument.
        """
        from sgmc.formula import caller_scope, check_subset_of
        from sgmc.results.outcomes.data.labels import RowLabels, labels_of

        options, inputs = cls.split(".from_formula()", FORMULA, given)
        check_subset_of(formula, inputs["subset"])
        cls = cls.for_formula(formula, options)
        cls.check_applies(inputs["offset"], inputs["exposure"], inputs["se"])
        scope = caller_scope() if scope is None else scope
        if inputs["client"] is not None or hasattr(data, "map_blocks"):
            partitioned = room("cluster")["partitioned"]
            return partitioned.of(cls, formula, data, scope, options, inputs)
        nodes, _, reservoir = (inputs.pop(name) for name in ("nodes", "client", "reservoir"))
        if reservoir is not None:
            raise ArgumentError("reservoir applies to data in partitions: leave it out")
        known = labels_of(data)
        table, grouping, partly = cls.table_of(
            cls.both_parts(formula, options), data, scope, inputs
        )
        cls.check_applies(table.offset, table.exposure, table.se)
        model = cls.__new__(cls)
        model.set_options(options)
        model.take_table(table, formula, {**inputs, "nodes": nodes}, partly)
        model.data.labels = RowLabels(known, table.rows) if known is not None else None
        model.take_errors()
        model.take_ends()
        model.check_outcomes()
        if grouping is not None:
            return room(grouping.room)[grouping.model](model, grouping, nodes)
        if nodes is not None:
            raise ArgumentError(f"nodes={nodes!r} applies to terms such as (1 | g): leave it out")
        return model

    @classmethod
    def for_formula(cls, formula, options):
        """The class whose model a formula is, with these arguments of the model's own."""
        from sgmc.formula.evaluation.safe import is_formula

        other = cls.distributional
        return cls if other is None or not is_formula(options.get(other.second)) else other

    @classmethod
    def both_parts(cls, formula, options):
        """The formula with that of a second linear predictor, where one of the arguments is."""
        return formula

    @classmethod
    def table_of(cls, formula, data, scope, inputs):
        """What a formula is read to, its grouping or None, and what a time limit ended; arguments
        of files are taken out of `inputs`.
        """
        from sgmc.formula.designs.groups import crossed
        from sgmc.prepared.opening import opened
        from sgmc.prepared.reading import read

        data = opened(formula, data, scope, inputs)
        found = read(formula, data, outcome=cls.family.outcome, scope=scope, **inputs)
        table, grouping, partly = found
        # effects of several equations are sampled: they are not integrated out
        several = grouping is not None and cls.family.outcome == "category"
        return (table, crossed([(table, "")]), partly) if several else found

    def take_table(self, table, formula, inputs, partly="", alone=True):
        """Take data, levels and the recipe of the design from a formula's table; see `of_table`."""
        self.data, spec = of_table(table, partly, alone), table.spec
        self.data.equations = equations(self.family, spec.levels)
        self.spec, self.formula, self.levels = spec, formula, spec.levels
        told = {k: v for k, v in getattr(table, "arguments", {}).items() if v is not None}
        self.inputs = {**inputs, **told}  # of a prepared table what it was prepared with

    def set_options(self, given):
        """Take the model's own arguments, which choose its family."""
        if type(self).options:
            self.options = {**type(self).options, **given}
            self.family = self.chosen_family(**self.options)

    def take_errors(self):
        """Take the standard errors of the outcomes, where they are known, into the family."""
        if self.data.se is not None:
            self.family = errors.with_errors(self.family, self.options, self.data.weight)

    def take_ends(self):
        """Take the family of outcomes that are known in part, where some are so."""
        if is_records(self.data.y):
            self.family = self.family.of_ends()

    @classmethod
    def chosen_family(cls, **known):
        """The family: by default with its auxiliary parameters known, or to be learned."""
        from sgmc.models.regression.bases.known import with_known

        return with_known(cls.family, known)

    @classmethod
    def coded(cls, endog):
        """Outcomes, and their levels where they are of several kinds:
        then they are the levels' numbers.
        """
        if not cls.family.several:
            return endog, None
        from sgmc.formula.outcomes import OUTCOMES, category_codes

        return category_codes("endog", endog, OUTCOMES[cls.family.outcome])

    @classmethod
    def check_applies(cls, offset, exposure, se):
        """Refuse what does not apply to the family's outcomes."""
        if se is not None:
            errors.refuse_errors(cls.family)
        if exposure is not None and not cls.family.counts:
            raise ArgumentError(
                f"exposure does not apply to {cls.family.name}: it belongs to models of counts"
            )
        if offset is not None and cls.family.outcome == "category":
            raise ArgumentError(
                f"offset does not apply to {cls.family.name}, which has a linear predictor for "
                "each equation: one number a row does not say to which of them it is added",
            )

    def check_outcomes(self):
        """Refuse outcomes that do not suit the family; rows of weight zero do not count."""
        check_outcomes(self.family, self.data)
        names = self.data.parameter_names(self.family)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(
                f"there is more than one coefficient {twice!r}: rename levels of "
                f"{self.data.endog_name!r}, or columns"
            )

    def __repr__(self):
        what = f"{str(self.formula)!r}, " if self.formula else ""
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
    def kind(self):
        """The class that is fitted again by the formula: of what a model was made from, if any."""
        return type(self)

    @property
    def endog_names(self):
        """Name of the outcome."""
        return self.data.endog_name

    @property
    def exog_names(self):
        """Names of the coefficients."""
        return self.data.names

    @per_class(REGRESSION)
    def fit(self, **given):
        """Sample the posterior.

        Parameters
        ----------
        {keywords}

        Returns
        -------
        RegressionResults

        Raises
        ------
        ArgumentError, NotSupported
            Naming the argument and saying what to do.
        """
        from sgmc.arguments.seeds import one_seed

        given = renamed(f"{type(self).__name__}.fit()", given, names(*FIT))
        refuse_unknown(f"{type(self).__name__}.fit()", given, names(*FIT))
        arguments = {"prior": None, **self.defaults, **one_seed(given)}
        if arguments.get("tune") is None:
            arguments.pop("tune", None)
            return self.continue_from(None, arguments)
        from sgmc.tuning.tuner import chosen

        prior = arguments.pop("prior")
        with handled(), limited(arguments.get("time_limit")):
            arguments, race = chosen(self, prior, arguments)
            fitted = {"prior": prior, **arguments}
            results = self.continue_from(None, fitted, tuned=race is not None)
        results.tuning = race
        return results

    def continue_from(self, saved, arguments, tuned=False):
        """Fit from where a saved run was (None: from the start), with all arguments of `fit` as a
        dict, `tuned` by a race or not.
        """
        from sgmc.core.system.blas import one_blas_thread
        from sgmc.core.system.memory import Gauge, named
        from sgmc.core.system.phases import MODE, begin, watched
        from sgmc.fit.chains import on_workers
        from sgmc.fit.run import fit
        from sgmc.fit.settings import check_settings
        from sgmc.models.regression.rows.narrow import refuse_far_outcomes
        from sgmc.results.effects.kept import kept_rows

        begun, rest = time.perf_counter(), dict(arguments)
        prior = rest.pop("prior")
        checked = replace(check_settings(**rest), tuned=tuned)
        check_beside(self.data, prior, checked)
        refuse_far_outcomes(self.data, self.family, checked.dtype)
        with handled(), limited(checked.time_limit), watched(arguments.get("progress")):
            begin(MODE)
            model = self.suited(prior, checked)
            if checked.prior_only:
                refuse_prior_only(model, checked)
            same_order("init", arguments.get("init"), model.parameter_names())
            checked = on_workers(model, prior, checked, arguments)
            expected, gauge = model.forecast(checked), Gauge()
            expected.refuse()
            with named(lambda: expected.blame):
                # with two threads, bits differ, and small systems take ten times as long
                with one_blas_thread():
                    problem = model.problem(prior, checked)
                ended = ", and ".join(filter(None, [self.data.partly, problem.stopped]))
                problem = replace(problem, stopped=ended)
                info = model.info()
                info.labels = self.data.labels
                results = model.result_class().of_fit(
                    info, fit(problem, checked, begun, saved), arguments
                )
        results._kept = kept_rows(self.data)
        results.memory = gauge.used(expected.total)
        return results

    def suited(self, prior, checked):
        """This model; one with the scales of the prior among its parameters, where they are
        learned; or where it has so many parameters that it is cheaper, or the only way, one of the
        same posterior with the levels of the largest factor integrated out.
        """
        if learns(prior):
            return room("scales")["learned"].of(self, prior, checked)
        if len(self.parameter_names()) < MANY:
            return self
        return room("levels")["levels"].of(self, prior, checked) or self

    def parameter_names(self):
        """Names of what is sampled."""
        return self.data.parameter_names(self.family)

    def result_class(self):
        """What a fit returns."""
        from sgmc.models.regression.results import RegressionResults

        return RegressionResults

    def info(self):
        """What results keep of the model."""
        from sgmc.models.regression.info import ModelInfo

        return ModelInfo(self)

    def forecast(self, checked):
        """The `Forecast` of the memory of a fit with checked settings."""
        from sgmc.models.regression.coordinates import preconditioner
        from sgmc.models.regression.memory import forecast

        size = len(self.data.parameter_names(self.family))
        return forecast(self.data, self.family, checked, preconditioner(size, checked))

    @per_class(REGRESSION)
    def memory(self, **given):
        """Forecast the memory that a fit needs at its peak, without fitting.

        Parameters
        ----------
        {keywords}

        Returns
        -------
        Forecast
            ``total`` and ``available`` in bytes, and the ``parts`` at the time of the peak; printed
            as a table.  Of the memory that the process has not used yet: the data that were passed
            in do not count.

        Examples
        --------
        >>> print(sgmc.Logit.from_formula("y ~ x + g", df).memory(draws=4000))
        """
        from sgmc.arguments.seeds import one_seed
        from sgmc.fit.settings import check_settings

        refuse_unknown(f"{type(self).__name__}.memory()", given, names(*FIT))
        given = {**self.defaults, **one_seed(given)}
        arguments = {k: v for k, v in given.items() if k not in ("prior", "tune")}
        checked = check_settings(**{**arguments, "progress": False})
        return self.suited(given.get("prior"), checked).forecast(checked)

    def problem(self, prior, checked):
        """The posterior in sampler coordinates, for checked settings."""
        from sgmc.models.regression.problem import regression_problem

        return regression_problem(self.data, self.family, prior, checked)


def refuse_prior_only(model, settings):
    """NotSupported for models whose prior is not that of single coefficients."""
    if not model.without_outcomes:
        why = "chains do not reach the long tails of learned scales without outcomes"
        if model.room == "updates":
            why = "its prior is the fit that it began with"
        instead = "take prior_draws() of the model" if model.room == "scales" else "leave it out"
        raise NotSupported(
            f"prior_only=True does not go with {model!r}: {why}; {instead}", because="limit"
        )
    if settings.batch_size is not None:
        raise NotSupported(
            f"prior_only=True with batch_size={settings.batch_size} or tune=: there are no rows to "
            "take mini-batches of; leave them out",
            because="mathematics",
        )
    if settings.robust:
        raise NotSupported(
            f"prior_only=True with cov_type={settings.cov_type!r}, a covariance that data give: it "
            "goes with cov_type='nonrobust' alone",
            because="mathematics",
        )


def check_beside(data, prior, checked):
    """Refuse settings that strata, groups or known errors of the rows do not go with.

    Parameters
    ----------
    data : RegressionData
    prior : None, str, PriorSpec or dict
    checked : Settings
    """
    if data.strata is not None and checked.subsample != "stratified":
        raise ArgumentError(
            f"strata does not apply to subsample={checked.subsample!r}; give subsample='stratified'"
        )
    check_covariance_of(data.groups, checked.cov_type)
    if data.se is not None:
        errors.refuse_beside_errors(prior, checked)
