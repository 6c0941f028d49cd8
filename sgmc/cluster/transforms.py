"""Terms of a formula that look at more than their row: means and sds are learned from all
partitions, others need the rows.
"""

from copy import copy
from dataclasses import dataclass

import numpy as np

from sgmc.cluster.blocks import RowsNeeded
from sgmc.cluster.sums import merged
from sgmc.errors import DataError, FormulaError
from sgmc.formula.data.chunks import Chunk
from sgmc.formula.data.frames import as_frame
from sgmc.formula.designs.across import looks_around
from sgmc.formula.designs.moments import Moments
from sgmc.formula.evaluation.transforms import Categories, Standardize
from sgmc.formula.subsets import subset_mask

INSTEAD = (
    "write the numbers out, as in I(x - 40), use center(x) or scale(x), or add a column to the data"
)


class Spy:
    """Stands for a transform, and keeps the moments of what it is given."""

    def __init__(self):
        self.moments = Moments(0.0, np.zeros(1), np.zeros(1))

    def transform(self, x, *given, **how):
        """Numbers of no meaning, one a row."""
        numbers = np.asarray(x, dtype=np.float64)
        if numbers.ndim != 1:
            raise FormulaError(f"center() and scale() of {numbers.shape[1:]} columns: give one")
        finite = numbers[np.isfinite(numbers)]  # infinite ones are named with the design
        self.moments = self.moments.merge(Moments.of(finite[:, None]))
        return np.zeros(len(numbers))


@dataclass(frozen=True)
class Standardizing:
    """A pass that returns the moments of what `center` and `scale` are given in a partition: a
    list, a term each.
    """

    recipe: object

    def __call__(self, number, data):
        frame = as_frame(data)
        rows, *_ = self.recipe.complete(frame)
        return [moments_of(factor, Chunk(frame, rows)) for factor in learners(self.recipe.spec)]


def moments_of(factor, columns):
    """The moments of what the transform of a factor is given."""
    spied, spy = copy(factor), Spy()
    spied.transforms = dict.fromkeys(factor.transforms, spy)
    if columns.n_rows:
        spied.evaluate(columns)
    return spy.moments


def learners(spec):
    """Factors whose transform has moments of all rows."""
    found = []
    for factor in spec.factors:
        learned = [one for one in factor.transforms.values() if not isinstance(one, Categories)]
        if len(learned) == len(factor.transforms) == 1 and isinstance(learned[0], Standardize):
            found.append(factor)
        elif learned:
            raise RowsNeeded(f"{factor.label!r} learns numbers from all rows")
    return found


def learn(spec, run):
    """Give transforms their moments of all rows; ``run()`` makes the pass and returns what each
    partition says.
    """
    factors = learners(spec)
    if not factors:
        return
    together = merged(run(), lambda one, other: [a.merge(b) for a, b in zip(one, other)])
    for factor, moments in zip(factors, together):
        (transform,) = factor.transforms.values()
        transform.count = int(moments.total)
        transform.mean, transform.squares = moments.mean[0], moments.square[0]


def refuse_looking_around(recipe, frame, rows):
    """DataError where the response or a term gives a row another value when fewer rows are seen:
    partition by partition, rows would be other than together.

    Parameters
    ----------
    recipe : Recipe
    frame : DataFrame
    rows : array of int
        Places of complete rows.
    """
    seen = {f.label: f.evaluate for f in recipe.spec.factors if not f.is_column}
    if not recipe.response.summands:
        seen[recipe.response.label] = lambda columns: recipe.response.value(frame, columns.places)
    settled = {f.label for f in recipe.spec.factors if f.settled}  # to the first rows, not to all
    for label, value in seen.items():
        refuse(label, lambda some, value=value: value(Placed(frame, some)), rows, label in settled)


def subset_of(frame, subset):
    """The rows of a partition that are in a subset; DataError where other rows have a say in it."""
    places = np.arange(len(frame))
    refuse(f"subset={subset!r}", lambda some: subset_mask(subset, frame.iloc[some]), places)
    return frame[subset_mask(subset, frame)]


class Placed(Chunk):
    """A chunk that knows the places of its rows."""

    def __init__(self, frame, rows):
        super().__init__(frame, rows)
        self.places = rows


def refuse(label, value, rows, known=False):
    """DataError where a value depends on other rows, as is known or `looks_around` tells."""
    if known or looks_around(value, rows):
        raise DataError(
            f"the value of {label} in a row depends on other rows, and partitions "
            f"are read one by one: {INSTEAD}"
        )
