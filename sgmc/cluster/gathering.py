"""From partitions to a posterior on this machine: surveys, the mode of all rows, the reservoir."""

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sgmc.cluster import fixed_error, reservoir
from sgmc.cluster.blocks import Traffic
from sgmc.cluster.mode import ascend, expanded, looked_at
from sgmc.cluster.passes import Encoding, Inspected, Inspection, Survey, Surveyed
from sgmc.cluster.sums import merged
from sgmc.cluster.surrogate import Whole, problem_of, surrogate_of, table_of
from sgmc.coordinates.approximations.mode import Mode
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.memory import available
from sgmc.errors import DataError, OutOfMemoryError, ReservoirWarning
from sgmc.models.regression.mode.search import find_regression_mode, resolve_priors
from sgmc.results.report.verdict import TRUSTED_ERROR

FIRST_RESERVOIR = 50_000  # rows that a reservoir has at first, or so many a parameter
ROWS_A_PARAMETER = 500
WANTED_ERROR = 0.02  # of means and sds, in sds: what a reservoir should add at most
SPARE_ROWS = 1.2  # times as many rows as an estimated error asks for
RESERVOIR_SHARE = 0.2  # of what is available, for the rows of a reservoir
ROW_COPIES = 4  # of a reservoir's rows, on their way into the table


@dataclass(frozen=True)
class StandInRows:
    """What rows that stand for others cost in accuracy.

    Attributes
    ----------
    mean, sd : float
        Largest errors of means, in posterior sds, and of sds, relatively.
    what, advice : str
        In words.
    """

    mean: float
    sd: float
    what: str
    advice: str


@dataclass(frozen=True)
class Cluster:
    """What a fit of rows in partitions knows of them.

    Attributes
    ----------
    rows, dropped, partitions, workers : int
        Rows that were used, rows that lack something; `workers` is 0 where that is not known.
    reservoir, exact : int
        Rows of the uniform sample, and rows of high leverage beside it.
    traffic : Traffic
        Bytes and rows that each pass has moved.
    error : FixedError
        What the reservoir does to means and sds of each parameter.
    """

    rows: int
    dropped: int
    partitions: int
    workers: int
    reservoir: int
    exact: int
    traffic: Traffic
    error: object

    @property
    def passes(self):
        """Passes over the partitions, the first look included."""
        return len(self.traffic.passes)

    @property
    def bytes(self):
        """Bytes that the partitions have returned, a dict by phase."""
        found = {}
        for one in self.traffic.passes:
            found[one["phase"]] = found.get(one["phase"], 0) + one["bytes"]
        return found

    def remarks(self):
        """Lines of a summary."""
        on = f" on {self.workers} workers" if self.workers else ""
        mean, sd = self.error.worst
        return [
            f"{self.rows:,} rows in {self.partitions} partitions{on}: {self.passes} passes, which "
            f"returned {self.traffic.bytes / 1e6:.3g} MB.",
            f"Gradient and curvature at the mode are of all rows. Chains use a reservoir of "
            f"{self.reservoir:,} rows and {self.exact:,} of high leverage (data passes and "
            f"mini-batches count these); it moves means by up to {mean:.2g} sd and sds by "
            f"{100 * sd:.2g} %, measured on all rows.",
        ]

    def details(self):
        """Lines of a summary with details: a pass each."""
        return [
            f"Pass {k} ({one['phase']}): {one['bytes']:,} bytes, {one['rows']:,} rows moved."
            for k, one in enumerate(self.traffic.passes, 1)
        ]


def most_rows(d):
    """Rows of a reservoir that memory has room for."""
    return max(int(RESERVOIR_SHARE * min(available(), 1e15) / (8 * ROW_COPIES * (d + 4))), 100)


def survey(traffic, blocks, recipe, seed, wanted, expected, phase="survey"):
    """The `Surveyed` of all partitions, with a reservoir of `wanted` rows; `expected` is about how
    many rows there are.
    """
    below = reservoir.bound(wanted, expected)
    parts = traffic.run(
        phase, blocks, Survey(recipe, seed, below), rows=lambda one: len(one.sample)
    )
    found = merged(parts, Surveyed.merge)
    if not found.rows:
        raise DataError(
            "data: every row of every partition has a missing value in a column of the formula; "
            "fill them, or leave the emptiest column out"
        )
    short = found.sample.smallest(wanted)
    return replace(found, sample=short)


def gathered(model, prior, settings):
    """The `Problem` of a model of partitions, and its `Cluster`.

    Parameters
    ----------
    model : PartitionedRegression
    prior : None, str, PriorSpec or dict
    settings : Settings
    """
    recipe, d = model.recipe, len(model.recipe.spec.exog_names)
    traffic = Traffic(list(model.traffic.passes))
    blocks, cap = model.blocks, most_rows(d)
    if hasattr(blocks, "keep"):
        kept = blocks.keep(Encoding(recipe), 8.0 * model.seen * (d + 4))
        blocks = kept or blocks
    wanted = model.reservoir or min(max(FIRST_RESERVOIR, ROWS_A_PARAMETER * d), cap)
    if min(wanted, model.seen) > cap:
        raise OutOfMemoryError(
            f"reservoir={wanted} rows of {d} columns are more than memory should hold; at most "
            f"reservoir={cap}"
        )
    with one_blas_thread():
        surveyed = survey(traffic, blocks, recipe, settings.seed, wanted, model.seen)
        found = start(surveyed, recipe, model.told, prior, settings)
        centre = ascend(
            partial(expanded, traffic, blocks, recipe),
            partial(looked_at, traffic, blocks, recipe),
            found.terms,
            found.mode.theta,
        )
        whole = inspect(traffic, blocks, recipe, surveyed, centre, settings)
        one = surrogate_of(whole, found, recipe, model.told, settings)
        more = enough(one.error, len(surveyed.sample), surveyed.rows)
        if model.reservoir is None and more > wanted and len(surveyed.sample) < surveyed.rows:
            wanted = min(more, cap)
            again = survey(
                traffic, blocks, recipe, settings.seed, wanted, model.seen, "larger reservoir"
            )
            whole = Whole(again, centre, whole.inspected, whole.draws, whole.white)
            one = surrogate_of(whole, found, recipe, model.told, settings)
        facts = Cluster(
            surveyed.rows,
            surveyed.dropped,
            model.partitions,
            getattr(blocks, "workers", 0),
            len(whole.surveyed.sample),
            one.exact,
            traffic,
            one.error,
        )
        how = dict(
            nobs=surveyed.design.total if recipe.beside.get("weights") else surveyed.rows,
            stand_in_rows=accuracy(facts),
            warnings=too_small(facts),
        )
        return problem_of(whole, one, found, recipe, settings, how), facts


def start(surveyed, recipe, told, prior, settings):
    """The `RegressionMode` of the reservoir alone: priors of all rows, and a mode near theirs."""
    sample = surveyed.sample
    none = sample.among(np.zeros(len(sample), dtype=bool))
    rows, _ = reservoir.surrogate_rows(none, sample, surveyed.rows)
    data, table = table_of(rows, recipe, told, surveyed, settings)
    outcome = float(surveyed.outcome.mean[0]), float(surveyed.outcome.variance[0])
    try:
        priors = resolve_priors(prior, table, data, recipe.family, outcome)
        return find_regression_mode(table, data, recipe.family, priors, settings, outcome)
    except DataError as error:
        if len(sample) == surveyed.rows:
            raise
        raise DataError(
            f"of a reservoir of {len(sample):,} of {surveyed.rows:,} rows: {error}; or give a "
            "larger reservoir="
        ) from error


def inspect(traffic, blocks, recipe, surveyed, centre, settings):
    """The `Whole`: rows of high leverage, and gradients of all rows at draws of the Gaussian."""
    mode = Mode(centre.theta, centre.likelihood.hessian, centre.prior)
    white = mode.axes[0]
    draws = fixed_error.directions(settings.seed, len(centre.theta))
    points = centre.theta + draws @ white.T
    parts = traffic.run(
        "leverage and check",
        blocks,
        Inspection(recipe, centre.theta, white, points, surveyed.rows),
        rows=lambda one: len(one.sample),
    )
    return Whole(surveyed, centre, merged(parts, Inspected.merge), draws, white)


def enough(error, rows, population, wanted=WANTED_ERROR):
    """Rows of a reservoir whose error is as small as wanted."""
    seen = max(error.expected, *error.worst)  # few rows may miss what makes others differ
    if not seen > wanted:
        return rows
    return min(math.ceil(SPARE_ROWS * rows * (seen / wanted) ** 2), population)


def accuracy(facts):
    """The `StandInRows` of a cluster."""
    mean, sd = facts.error.worst
    worse = max(facts.error.expected, mean, sd)
    rows = math.ceil(facts.reservoir * max(SPARE_ROWS * (worse / WANTED_ERROR) ** 2, 1))
    return StandInRows(
        mean,
        sd,
        f"the reservoir of {facts.reservoir:,} of {facts.rows:,} rows",
        f"Give reservoir={min(rows, facts.rows)}.",
    )


def too_small(facts):
    """A ReservoirWarning, in a list, where the reservoir's error is beyond what is trusted."""
    one = accuracy(facts)
    if not max(one.mean, one.sd) > TRUSTED_ERROR:
        return []
    return [
        ReservoirWarning(
            f"{one.what} moves means by up to {one.mean:.2g} sd and sds by {100 * one.sd:.2g} %.",
            one.advice,
        )
    ]
