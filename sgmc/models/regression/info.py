"""What a result knows of its model."""

import numpy as np

from sgmc.arguments.data.limited import is_bounded, is_observed, is_records, is_truncated
from sgmc.arguments.messages import label_text
from sgmc.core.system.memory import shown
from sgmc.core.system.storage import mapping
from sgmc.elsewhere import of_part
from sgmc.formula.outside import refuse_subset, refuse_text


class ModelInfo:
    """What a result keeps of its model: names, formula and the recipe of the design,
    not the data.

    Attributes
    ----------
    read_here : str
        Why the rows of partitions are in this process, as a line of a summary, or empty.
    """

    read_here = ""

    def __init__(self, model):
        data = model.data
        self.kind, self.family, self.options = model.kind, model.family, model.options
        self.family_name, self.title = model.family.name, model.family.title
        self.formula, self.spec, self.levels, self.inputs = (
            model.formula,
            model.spec,
            model.levels,
            named(model.inputs),
        )
        self.endog_names, self.exog_names = data.endog_name, list(data.names)
        self.equations = max(len(data.equations), 1)
        self.df_model = self.equations * (data.d - len(data.intercepts))
        self.given, self.dropped, self.notes = data.given, data.dropped, data.notes
        if getattr(model, "read_here", ""):
            self.read_here = model.read_here

    def __getattr__(self, name):
        of_part(self, name)

    def __repr__(self):
        return f"<{self.title} model of a fit: {self.formula or ', '.join(self.exog_names)}>"

    @property
    def printed_coefficients(self):
        """How many coefficients are printed, before all else."""
        every = self.equations * len(self.exog_names)
        return every - (self.family.report is not None)  # an intercept is a threshold in print

    def heading(self, fit):
        """Pairs (label, text) of a summary's head that are about model and data:
        left and right column.
        """
        n, weight = fit.problem.model.n, fit.problem.table.weight
        if fit.problem.rows.grouped:  # of the data's rows, not of the groups that chains see
            n = len(fit.problem.table.y)
        rows = f"{n}" if weight is None else f"{weight.sum():.12g} in {n} rows"
        return (
            [("Dep. Variable", self.endog_names), ("Model", self.family.title)],
            [("No. Observations", rows), ("Df Model", f"{self.df_model}")],
        )

    def remarks(self, fit):
        """Lines beneath a summary about model and data."""
        table, lines = fit.problem.table, []
        if self.family.outcome == "category":
            lines.append(
                f"Each equation compares a level of {self.endog_names} with "
                f"{label_text(self.levels[0])}."
            )
        elif self.family.outcome == "ordered":
            order = " < ".join(str(level) for level in self.levels)
            lines.append(f"Levels of {self.endog_names}, in their order: {order}.")
        elif self.levels is not None:
            lines.append(
                f"Success is {self.endog_names} = {label_text(self.levels[1])} (the other level: "
                f"{label_text(self.levels[0])})."
            )
        if table.trials is not None:
            lines.append(f"Outcomes are counts of successes in {table.trials.sum():g} trials.")
        if table.se is not None:
            low, high = table.se.min(), table.se.max()
            lines.append(f"Outcomes have known standard errors from {low:.4g} to {high:.4g}.")
        if is_records(table.y):
            lines.append(censoring(table.y, self.family.outcome == "survival"))
        if self.family.parts:
            lines.append(f"{self.family.parts}... are of {self.family.scale}.")
        if self.family.working:
            lines.append(self.family.remark(fit.problem.model))
        if self.family.known:
            lines.append(
                "Known, not sampled: "
                + ", ".join(f"{name} = {value:g}" for name, value in self.family.known.items())
                + "."
            )
        if self.dropped:
            lines.append(f"{self.dropped} rows with missing values were dropped.")
        return [*lines, self.read_here] if self.read_here else lines

    def details(self, fit):
        """Lines of a summary with details, about model and data."""
        table = fit.problem.table
        if table.given:
            return ["The design matrix is used in place, without a copy."]
        if mapping(table.X) is None:
            return []
        size = shown(fit.problem.rows.file_bytes)
        return [f"The design is read from a file of {size}, rows in random order."]

    def refuse_code(self, own):
        """Raise `Refused` where texts that `resume` and `update` evaluate have other code than
        those from outside may have; see `Factor.refuse_code`.
        """
        if self.formula is not None:
            refuse_text(self.kind.both_parts(self.formula, self.options), own)
        if self.spec is not None:
            refuse_text(f"{self.spec.expanded.partition(' ~ ')[0]} ~ 1", own)
        if isinstance(self.inputs.get("subset"), str):
            refuse_subset(self.inputs["subset"])

    @property
    def kinds(self):
        """Labels of the outcome's kinds, for families of several."""
        return list(self.levels)


def censoring(y, times):
    """A line on how many outcomes are censored or truncated, and how; `times` whether they are
    those of `sgmc.Surv`.
    """
    kinds = {
        "are censored on the right": y["high"] == np.inf,
        "are censored on the left": y["low"] == -np.inf,
        "are known between two ends": is_bounded(y) & ~is_observed(y),
        "could only be seen between bounds": is_truncated(y),
    }
    found = [f"{which.sum()} {how}" for how, which in kinds.items() if which.any()]
    name = "times" if times else "outcomes"
    return f"Of the {name} {', '.join(found) or 'all were observed'}."


def named(inputs):
    """Column names, numbers and the like as they are; True in the place of arrays and functions,
    which are left behind with the data.
    """
    return {
        key: value if value is None or isinstance(value, str | int) else True
        for key, value in inputs.items()
    }
