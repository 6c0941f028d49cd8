"""The base of regressions with two designs, ``y ~ x | z``, and that of counts with zeros of their
own.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.core.system.storage import spans
from sgmc.errors import NotSupported
from sgmc.models.regression.bases.predictors.zero_family import COUNT_DISTRIBUTIONS
from sgmc.models.regression.model import Regression
from sgmc.priors import learns


class TwoDesigns(Regression):
    """Base of regressions whose formula has two parts, each with a linear predictor.

    Attributes
    ----------
    second : str
        The argument whose value may be the second part, ``"~ z"``.
    second_constant : bool
        Whether the second part has an intercept.
    one : type or None
        The class of formulas without that argument, where it is another.
    """

    second, second_constant, one = "", True, None

    @classmethod
    def for_formula(cls, formula, options):
        from sgmc.formula.evaluation.safe import is_formula

        return cls if cls.one is None or is_formula(options.get(cls.second)) else cls.one

    @staticmethod
    def suits(formula):
        """Whether a formula has two parts: a bar that is not in parentheses."""
        from sgmc.formula.parts import has_bar

        return has_bar(formula)

    @classmethod
    def both_parts(cls, formula, options):
        from sgmc.formula.parts import with_second

        given = options.get(cls.second)
        return formula if given is None else with_second(formula, cls.second, given)

    @classmethod
    def coded(cls, endog):
        """Refuse arrays."""
        raise NotSupported(
            f"{cls.__name__} has two designs, and arrays do not separate them: use "
            f"{cls.__name__}.from_formula('y ~ x | z', data)",
            because="limit",
        )

    @classmethod
    def table_of(cls, formula, data, scope, inputs):
        from sgmc.formula import read
        from sgmc.formula.data.frames import as_frame
        from sgmc.formula.timed_reading import with_deadline
        from sgmc.prepared.file.column_store import ColumnStore
        from sgmc.prepared.file.sealed import SealedTable
        from sgmc.prepared.opening import opened
        from sgmc.prepared.reading import refuse_others

        written, told = cls.in_parts(formula), {}
        data = opened(written, data, scope, inputs)
        if isinstance(data, SealedTable):
            # columns that are kept serve the formula without an empty second part, too
            same = isinstance(data, ColumnStore) and formula == data.formula
            refuse_others(formula if same else written, data, scope, inputs)
            data, inputs, told = data.frame(), data.beside, data.arguments
        frame = as_frame(data)

        def one(text, **more):
            return read(text, frame, outcome=cls.family.outcome, scope=scope, **{**inputs, **more})

        def pair(**most):
            table = cls.joined(formula, partial(one, **most), frame)
            table = replace(table, arguments=told)  # by which new rows find offsets and weights
            return table, table.grouping()

        return with_deadline(pair, len(frame))

    @classmethod
    def in_parts(cls, formula):
        """The formula with its second part, also where it is empty."""
        from sgmc.formula.evaluation.safe import like
        from sgmc.formula.parts import has_bar

        return formula if has_bar(formula) else like(f"{formula} | 1", formula)

    @classmethod
    def joined(cls, formula, read, frame):
        """The `PartsTable` of a formula; `read` reads that of one part."""
        from sgmc.formula.parts import joined

        return joined(formula, cls.family.parts, read, frame, cls.second_constant)

    def check_outcomes(self):
        # the family takes the parts of the design
        data = self.data
        super().check_outcomes()
        has = [data.intercept is not None, data.second_intercept is not None]
        columns = (np.arange(data.d) >= data.parts[1].start).astype(int)
        self.family = self.placed(columns, tuple(k for k in (0, 1) if has[k]))

    def placed(self, columns, constants):
        """The family with the predictor of each column, and the numbers of the predictors that have
        an intercept.
        """
        return type(self.family)(columns, constants)

    def suited(self, prior, checked):
        return super().suited(prior, checked) if learns(prior) else self


class StageDesigns(TwoDesigns):
    """Base of regressions of stages, each of which has coefficients of its own of what is in
    ``cs()``.
    """

    by_name = False

    @staticmethod
    def suits(formula):
        from sgmc.formula.stages import has_stages

        return has_stages(formula)

    @classmethod
    def both_parts(cls, formula, options):
        return formula

    @classmethod
    def in_parts(cls, formula):
        return formula

    @classmethod
    def joined(cls, formula, read, frame):
        from sgmc.formula.stages import joined_stages

        return joined_stages(formula, "cs:", read, frame, cls.stages)

    @staticmethod
    def stages(levels):
        """Names of the stages of outcomes with such levels, a list."""
        raise NotImplementedError("stages")


class TwoParts(TwoDesigns):
    """Base of `ZeroInflated` and `Hurdle`."""

    second = "zero"
    options = {"dist": "poisson", "zero": None}

    @classmethod
    def chosen_family(cls, dist, zero=None):
        return type(cls.family)(dist=one_of("dist", dist, COUNT_DISTRIBUTIONS))

    def placed(self, columns, constants):
        # the family also takes the share of zeros
        data = self.data
        zeros = total = 0.0
        for span in spans(data.n):
            weight = np.ones(span.stop - span.start) if data.weight is None else data.weight[span]
            zeros, total = zeros + weight @ (data.y[span] == 0), total + weight.sum()
        return type(self.family)(columns, constants, self.family.dist, zeros / total)
