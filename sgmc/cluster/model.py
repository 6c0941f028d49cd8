"""Regressions of rows in partitions, as users meet them."""

import time
from dataclasses import replace

import numpy as np

from sgmc import formula as front
from sgmc.arguments.numbers import whole
from sgmc.cluster import transforms
from sgmc.cluster.blocks import RowsNeeded, Traffic, blocks_of
from sgmc.cluster.collection import (
    check_inputs,
    collected,
    needed_by_fit,
    needed_by_formula,
    needed_by_model,
)
from sgmc.cluster.recipe import BESIDE, EncodingRecipe
from sgmc.cluster.schema_sample import SchemaSampling, merge
from sgmc.cluster.sums import merged
from sgmc.cluster.transforms import Standardizing
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.formula.response import Response
from sgmc.formula.syntax import parser
from sgmc.models.regression.bases import errors
from sgmc.models.regression.model import Regression
from sgmc.models.regression.rows.data import RegressionData, equations

FEWEST_RESERVOIR = 100


class PartitionedRegression(Regression):
    """A regression of rows that are in partitions, on other machines or not.

    Attributes
    ----------
    written : type
        The class of the regression.
    blocks : object
        With ``map_blocks(function)``.
    recipe : Recipe
    reservoir : int or None
    seen, partitions : int
        Rows, incomplete ones included, and partitions.
    told : dict
        What `RegressionData` has besides the rows.
    traffic : Traffic
    """

    room, name = "cluster", "partitioned"  # how regressions find it
    without_outcomes = False

    @classmethod
    def of(cls, kind, formula, data, scope, options, inputs):
        """The model of a formula and partitions, after a first look at each.

        Parameters
        ----------
        kind : type
            The class of the regression.
        formula : str
        data : dask DataFrame, path, or object with ``map_blocks``
        scope : dict
        options, inputs : dict
            The family's own arguments, and those of ``from_formula``.
        """
        inputs = dict(inputs)
        client, asked = inputs.pop("client"), inputs.pop("reservoir")
        check_inputs(inputs)
        self = cls.__new__(cls)
        self.written, self.formula, self.scope = kind, formula, scope
        self.blocks = blocks_of(data, client)
        self.reservoir = whole("reservoir", asked, FEWEST_RESERVOIR, none=True)
        self.traffic = Traffic()
        self.own, self.inputs = options, inputs
        made = kind.__new__(kind)
        made.set_options(options)
        self.options, self.family = made.options, made.family
        self.look()
        try:
            needed_by_model(kind.family, inputs)
            self.learn()
        except RowsNeeded as why:
            return self.in_memory(str(why))
        if inputs["nodes"] is not None:
            raise ArgumentError(
                f"nodes={inputs['nodes']!r} applies to terms such as (1 | g): leave it out"
            )
        return self

    def look(self):
        """Take from a first pass rows that show what all partitions hold."""
        inputs = self.inputs
        named = [inputs[one] for one in (*BESIDE, "strata", "groups") if inputs[one] is not None]
        subset = inputs["subset"]
        formula = self.written.both_parts(self.formula, self.own)
        texts = str(formula), *named, *([subset] if isinstance(subset, str) else [])
        self.looking = SchemaSampling(texts, subset)
        looked = self.traffic.run(
            "first look", self.blocks, self.looking, rows=lambda one: len(one.frame)
        )
        self.sample = merged(looked, merge)
        self.seen, self.partitions = self.sample.rows, len(looked)
        if self.sample.frame.empty:
            raise DataError("the data are empty: no partition has a row that is used")

    def in_memory(self, why):
        """The regression of the rows of all partitions in this process, which are needed.

        Raises
        ------
        ArgumentError
            For a reservoir, which it has not.
        OutOfMemoryError
            See `collected`.
        """
        if self.reservoir is not None:
            raise ArgumentError(
                f"reservoir={self.reservoir} does not apply: {why}, so that all rows are read; "
                "leave it out"
            )
        frame = collected(self, self.looking, self.sample, why)
        made = self.written.from_formula(
            self.formula, frame, scope=self.scope, **self.own, **self.inputs
        )
        made.read_here = f"Rows of {self.partitions} partitions were read into this process: {why}."
        return made

    def learn(self):
        """Take what all partitions hold: levels, columns, outcomes."""
        beside = {one: self.inputs[one] for one in BESIDE if self.inputs[one] is not None}
        inputs = {name: value for name, value in self.inputs.items() if name != "nodes"}
        seen, scope, subset = self.sample, self.scope, inputs["subset"]
        table = front.read(
            self.formula,
            seen.frame,
            **{**inputs, "missing": "drop"},
            outcome=self.family.outcome,
            scope=scope,
            standing_for=seen.rows,
        )
        spec = table.spec
        parsed = parser.parse(self.formula, seen.frame.columns, scope)
        needed_by_formula(table, parsed, beside)
        if parsed.offset:
            beside["offset"] = parsed.names.inputs(parsed.offset)[parsed.offset]
        counted = table.trials is not None
        if table.se is not None:
            self.family = errors.with_errors(self.family, self.options, table.weights)
        self.spec, self.levels = spec, spec.levels
        edges = np.unique(table.y) if spec.levels else np.array([table.y.min(), table.y.max()])
        recipe = EncodingRecipe(
            spec,
            Response(parsed, spec.levels, counted),
            beside,
            subset,
            inputs["missing"],
            self.family,
            None if counted else edges,
        )
        transforms.learn(
            spec, lambda: self.traffic.run("terms", self.blocks, Standardizing(recipe))
        )
        self.recipe = replace(recipe, shift=middles(table))
        given = {**beside, **({"trials": True} if counted else {})}
        self.told = dict(
            terms=dict(spec.term_slices),
            intercept=spec.exog_names.index("Intercept") if spec.has_intercept else None,
            endog_name=spec.endog_name,
            given=tuple(one for one in ("offset", "exposure", "trials", "se") if one in given),
            equations=equations(self.family, spec.levels),
            notes=list(table.notes),
            increments=tuple(spec.increments),
        )
        self.data = RegressionData(
            table.y, list(spec.exog_names), source=np.empty((0, len(spec.exog_names))), **self.told
        )

    def __repr__(self):
        return (
            f"<{self.family.title} model: {str(self.formula)!r}, {self.seen} rows in "
            f"{self.partitions} partitions>"
        )

    @property
    def kind(self):
        return self.written

    def info(self):
        from sgmc.cluster.results import PartitionedInfo

        return PartitionedInfo(self)

    def result_class(self):
        from sgmc.cluster.results import PartitionedResults

        return PartitionedResults

    def continue_from(self, saved, arguments, tuned=False):
        from sgmc.core.system.deadline import OutOfTime, limited
        from sgmc.core.system.interrupts import handled
        from sgmc.core.system.phases import begin, watched
        from sgmc.fit.run import fit
        from sgmc.fit.settings import check_settings

        begun, rest = time.perf_counter(), dict(arguments)
        prior = rest.pop("prior")
        checked = replace(check_settings(**rest), tuned=tuned)
        try:
            needed_by_fit(self.parameter_names(), prior, checked)
        except RowsNeeded as why:
            return self.in_memory(str(why)).continue_from(saved, arguments, tuned)
        with handled(), limited(checked.time_limit), watched(arguments.get("progress")):
            begin("passes over partitions")
            try:
                problem, cluster = self.gathered(prior, checked)
            except OutOfTime:
                raise ArgumentError(
                    f"time_limit={checked.time_limit:g} was up before the passes over all "
                    "partitions had ended, and nothing is known of the posterior: give more time"
                ) from None
            info = self.info()
            info.cluster = cluster
            info.dropped = cluster.dropped
            return self.result_class().of_fit(info, fit(problem, checked, begun, saved), arguments)

    def gathered(self, prior, checked):
        """Return the problem of all partitions; see `sgmc.cluster.gathering.gathered`."""
        from sgmc.cluster.gathering import gathered

        return gathered(self, prior, checked)

    def problem(self, prior, checked):
        """The problem of all rows in this process: what asks for it would make all passes for each
        arm of a race.
        """
        rows = self.in_memory("tune= takes passes over all rows for each arm")
        return rows.suited(prior, checked).problem(prior, checked)

    def forecast(self, checked):
        """NotSupported: rows are not in this process."""
        raise NotSupported(
            "memory() does not apply to data in partitions, which stay there", because="mathematics"
        )


def middles(table):
    """What is taken off the columns: medians of the witnesses, zero where there is no intercept."""
    spec = table.spec
    if not spec.has_intercept:
        return np.zeros(len(spec.exog_names))
    found = spec.matrix(table.frame.iloc[table.rows])
    found[~np.isfinite(found)] = np.nan  # infinite ones are named where they are met
    shift = np.nan_to_num(np.nanmedian(found, axis=0))
    shift[spec.exog_names.index("Intercept")] = 0.0
    return shift
