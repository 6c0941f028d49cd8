"""A regression whose earlier rows are known by their posterior."""

import numpy as np

from sgmc.arguments.data.limited import as_numbers, is_records, limited
from sgmc.arguments.declared.keywords import FIT, names
from sgmc.arguments.declared.signatures import refuse_unknown
from sgmc.arguments.messages import label_text
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.models.regression.model import Regression
from sgmc.models.regression.rows.data import as_floats
from sgmc.models.regression.updated.past import TRUNCATED, kept_past, past_of, truncated
from sgmc.sources.opening import of

GIVEN = ("weights", "offset", "exposure", "se", "subset")
OURS = ("prior", "tune", "cov_type", "modes", "init")  # arguments of fits that updates have none of
LASTING = ("draws", "chains", "dtype", "threads", "progress")  # those that hold for updates, too


class UpdatedRegression(Regression):
    """See the module.

    Attributes
    ----------
    earlier : RegressionResults
    past : Past
    """

    room, name = "updates", "updated"  # how results find it
    without_outcomes = False

    kept_past = staticmethod(kept_past)

    @classmethod
    def update(cls, results, new_data, given):
        """Continue the posterior of results with new rows; see `RegressionResults.update`."""
        refuse_unknown("update()", given, [*GIVEN, *names(*FIT), "missing"])
        for name in OURS:
            if given.get(name) is not None:
                raise ArgumentError(
                    f"update: {name} does not apply: prior and model are those of the first fit"
                )
        if results.model.family.outcome == "survival":
            raise NotSupported(
                "update: survival times are not carried on, as those that are censored may end "
                "later; fit all rows again",
                because="mathematics",
            )
        past = past_of(results)
        columns = {name: given.pop(name, None) for name in (*GIVEN, "missing")}
        columns["missing"] = columns["missing"] or "drop"
        self = cls.of_rows(results, new_data, columns)
        self.earlier, self.past = results, past
        kept = {k: v for k, v in results._continuation.arguments.items() if k in LASTING}
        return self.continue_from(None, {"prior": None, **kept, **given})

    @classmethod
    def of_rows(cls, results, new_data, columns):
        """The model of the new rows."""
        self, first, source = cls.__new__(cls), results.model, of(new_data, "new_data")
        new_data = new_data if source is None else source.read()
        self.family, self.options = first.family, first.options
        if isinstance(new_data, Regression):
            self.take_model(first, new_data, columns)
        elif first.formula is None:
            raise ArgumentError(
                f"update: the fit was of arrays: give sgmc.{first.kind.__name__}(y, X, ...) of the "
                "new rows"
            )
        else:
            self.take_rows(first, new_data, columns)
        self.check_outcomes()
        return self

    def take_model(self, first, model, columns):
        """Take the rows of a model."""
        one = next((name for name in GIVEN if columns[name] is not None), None)
        if one is not None:
            raise ArgumentError(f"update: give {one}= to the model of the new rows")
        same = model.family.title == first.family.title and model.levels == first.levels
        same = same and is_records(model.data.y) == first.family.limited
        if not same or list(model.data.names) != list(first.exog_names):
            raise DataError(
                f"update: the new rows are of {model!r}, not of the {first.title} model of the fit "
                f"with columns {', '.join(first.exog_names[:8])}"
            )
        if {*model.data.given} != {*first.given}:
            differ = sorted({*model.data.given} ^ {*first.given})
            raise ArgumentError(f"update: {differ[0]} belongs to both the fit and the new rows")
        self.data, self.spec, self.formula = model.data, model.spec, model.formula
        self.levels, self.inputs, self.family = model.levels, model.inputs, first.family

    def take_rows(self, first, new_data, columns):
        """Take new rows by the formula of the fit."""
        from sgmc.formula import caller_scope
        from sgmc.formula.apply_design import read_new_rows
        from sgmc.results.outcomes.data.labels import RowLabels, labels_of

        for name in GIVEN:
            told = first.inputs.get(name)
            if columns[name] is None and told is True:
                raise ArgumentError(
                    f"update: {name} of the fit was no column: give {name}= of the new rows"
                )
            columns[name] = told if columns[name] is None else columns[name]
            if name not in ("subset", "weights") and (columns[name] is None) != (told is None):
                raise ArgumentError(f"update: {name} does not apply: the fit had none")
        table = read_new_rows(
            first.spec, new_data, outcome=self.family.outcome, scope=caller_scope(), **columns
        )
        self.take_table(table, first.formula, {**first.inputs}, alone=False)
        known = labels_of(new_data)
        self.data.labels = RowLabels(known, table.rows) if known is not None else None

    def check_outcomes(self):
        # new outcomes may be all the same, or none be observed, so some that differ are added
        y, family, names = as_floats(self.data.y), self.family, self.data.endog_name
        if truncated(y):
            raise NotSupported(f"update: {TRUNCATED}; fit all rows together", because="limit")
        if family.outcome == "category":
            if y.max() < len(self.levels) - 1:  # by which the compiled model counts the kinds
                raise DataError(
                    f"update: no new row has the outcome {label_text(self.levels[-1])}, the last "
                    f"kind of {names!r}; update with more rows at a time"
                )
            return
        trials, weight = self.data.trials, self.data.weight
        kept = slice(None) if weight is None else weight > 0
        if family.outcome == "numeric":
            # of the range of each family: counts, or real, positive, or between 0 and 1
            known = as_numbers(y)
            more = np.array([0.0, 1.0] if family.counts else [abs(known).max() / 2 or 1.0])
            family.check(np.append(y[kept], limited(more) if is_records(y) else more), names)
        elif trials is None:
            family.check(y[kept], names)

    @property
    def kind(self):
        return self.earlier.model.kind

    def suited(self, prior, checked):
        return self

    def info(self):
        from sgmc.models.regression.updated.results import UpdatedInfo

        return UpdatedInfo(self)

    def result_class(self):
        from sgmc.models.regression.updated.results import UpdatedResults

        return UpdatedResults

    def problem(self, prior, checked):
        from sgmc.models.regression.updated.problem import updated_problem

        return updated_problem(self, checked)
