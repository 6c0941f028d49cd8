"""How a partition's rows become outcomes and a design: the same on every worker; it can be
pickled.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from sgmc.arguments.choices import nearest
from sgmc.arguments.messages import label_text
from sgmc.cluster.transforms import refuse_looking_around
from sgmc.errors import DataError
from sgmc.formula.data.chunks import Gaps, refuse_undefined
from sgmc.formula.data.columns import is_missing
from sgmc.formula.data.frames import as_frame
from sgmc.formula.data.undefined import refuse_filled
from sgmc.formula.designs.spreads import of_rows
from sgmc.formula.reader import VALID, numbers_of
from sgmc.formula.subsets import subset_mask
from sgmc.models.regression.rows.data import total_offset
from sgmc.models.regression.rows.prepare import DesignTable

BESIDE = ("weights", "offset", "exposure", "se")


@dataclass(frozen=True)
class EncodingRecipe:
    """What a worker knows of the formula, learned from all rows.

    Attributes
    ----------
    spec : DesignSpec
    response : Response
    beside : dict
        Argument -> column, of weights, offset, exposure and standard errors.
    subset : str, callable or None
    missing : {"drop", "raise"}
    family : Family
    edges : array (k,)
        Outcomes that occur: with them the outcomes of a partition vary where those of all do.
    shift : array (d,)
        What is taken off the columns of the design; any number near their means will do.
    """

    spec: object
    response: object
    beside: dict
    subset: object
    missing: str
    family: object
    edges: np.ndarray = field(default=None)
    shift: np.ndarray = field(default=None)

    @property
    def kinds(self):
        """Of the outcomes, where they are of several; else 0."""
        return len(self.spec.levels) if self.family.outcome == "category" else 0

    @property
    def columns(self):
        """Names of the columns of the data that it needs, those of a subset aside."""
        wanted = [*self.response.columns, *self.spec.columns, *self.beside.values()]
        return list(dict.fromkeys(wanted))

    def encode(self, number, data):
        """The `EncodedRows` of a partition; DataError or FormulaError, naming both."""
        if isinstance(data, EncodedRows):
            return data
        try:
            return self.encoded(as_frame(data))
        except ValueError as error:  # ours name column and row; the place is what they lack
            raise type(error)(f"partition {number}: {error}") from error

    def encoded(self, frame):
        """Return the `EncodedRows` of a table."""
        rows, value, vectors, dropped = self.complete(frame)
        refuse_looking_around(self, frame, rows)
        y, trials = self.response.outcomes(value)
        self.check(y, trials)
        offset, _ = total_offset(vectors.get("offset"), vectors.get("exposure"))
        return EncodedRows(
            self.design(frame, rows),
            y,
            trials,
            offset,
            vectors.get("weights"),
            vectors.get("se"),
            dropped,
            of_rows(self.spec, frame, rows, vectors.get("weights")).found,
        )

    def complete(self, frame):
        """Rows of the subset that lack nothing: their places, response and vectors, and how many
        others there are.
        """
        self.check_columns(frame)
        use = slice(None)
        if self.subset is not None:
            use = np.flatnonzero(subset_mask(self.subset, frame))
        gaps = Gaps(len(frame), use)
        for name in dict.fromkeys([*self.response.columns, *self.spec.columns]):
            gaps.add(name, slice(None), is_missing(frame[name]))
        refuse_filled([self.response, *self.spec.expressions], gaps.counts)
        vectors = {one: numbers_of(one, name, frame) for one, name in self.beside.items()}
        for one, values in vectors.items():
            gaps.add(one, slice(None), np.isnan(values))
        self.spec.find_gaps(frame, gaps)
        rows = gaps.complete()
        value = self.response.value(frame, rows)
        if not self.response.summands:
            gaps.add_values(self.response, frame, rows, value)
        refuse_undefined(gaps.undefined)
        if self.missing == "raise":
            gaps.check("raise")
        lost = gaps.missing[rows]
        rows, value = rows[~lost], value[~lost].reset_index(drop=True)
        vectors = {one: values[rows] for one, values in vectors.items()}
        for one, values in vectors.items():
            if values.any():  # a partition may have no row, or none that counts
                VALID[one](one, values)
        return rows, value, vectors, int(gaps.missing.sum())

    def check_columns(self, frame):
        """DataError where a column is absent."""
        for name in self.columns:
            if name not in frame:
                raise DataError(f"there is no column {name!r}{nearest(name, frame.columns, 'its')}")

    def check(self, y, trials):
        """DataError where outcomes do not suit the family."""
        edges = np.empty(0) if self.edges is None or trials is not None else self.edges
        together = np.concatenate([y, edges])
        if len(y) and (trials is None or trials.any()):
            self.family.of_trials(trials).check(together, self.spec.endog_name)

    def design(self, frame, rows):
        """The columns of the design, shifted; DataError where a number is not finite."""
        out = np.empty((len(rows), len(self.spec.exog_names)))
        for span, block in self.spec.blocks(frame, rows):
            out[span] = block
        bad = ~np.isfinite(out)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise DataError(
                f"predictor {self.spec.exog_names[column]!r} is not finite at row "
                f"{label_text(frame.index[rows[row]])}; drop or change such rows"
            )
        if self.shift is not None:
            out -= self.shift
        return out


@dataclass(frozen=True)
class EncodedRows:
    """Encoded rows of a partition, or of several.

    Attributes
    ----------
    X : array (n, d)
        The design, shifted.
    y : array (n,)
    trials, offset, weight, se : array (n,) or None
    dropped : int
        Rows that lack something.
    spreads : Spreads or None
        Of a partition.
    """

    X: np.ndarray
    y: np.ndarray
    trials: np.ndarray | None
    offset: np.ndarray | None
    weight: np.ndarray | None
    se: np.ndarray | None
    dropped: int = 0
    spreads: object = None

    def __len__(self):
        return len(self.y)

    def vectors(self):
        """What rows have besides the design, by name."""
        return {name: getattr(self, name) for name in ("y", "trials", "offset", "weight", "se")}

    def among(self, kept):
        """Some of the rows."""
        picked = {k: None if v is None else v[kept] for k, v in self.vectors().items()}
        return EncodedRows(self.X[kept], **picked)

    def with_kinds(self, kinds):
        """Them with a row that counts for nothing where the last of the kinds is absent: compiled
        models count kinds by it.
        """
        if not kinds or (self.y == kinds - 1).any():
            return self
        none = EncodedRows(
            np.zeros((1, self.X.shape[1])), np.full(1, kinds - 1.0), None, None, np.zeros(1), None
        )
        weight = np.ones(len(self)) if self.weight is None else self.weight
        return EncodedRows.joined([replace(self, weight=weight), none])

    def table(self):
        """Them as a `DesignTable`, of which nothing but the rows is known."""
        d = self.X.shape[1]
        known = np.zeros(d), np.zeros(d), np.ones(d)
        return DesignTable(
            self.X, self.y, self.trials, self.offset, self.weight, None, *known, None, self.se
        )

    @staticmethod
    def joined(parts):
        """Rows of several, one behind the other."""
        columns = {}
        for name in ("y", "trials", "offset", "weight", "se"):
            pieces = [getattr(one, name) for one in parts]
            columns[name] = None if pieces[0] is None else np.concatenate(pieces)
        return EncodedRows(np.concatenate([one.X for one in parts]), **columns)
