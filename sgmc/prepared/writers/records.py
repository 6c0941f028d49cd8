"""Rows as records: all that the file of a prepared table has of a row, and a random key that tells
its place.
"""

import numpy as np

from sgmc.arguments.data.tables import CHUNK_ROWS, chunk_rows
from sgmc.core.random.rng import seed_sequence
from sgmc.errors import DataError
from sgmc.formula.data.columns import LevelIndexer
from sgmc.formula.designs.blocks import INTERCEPT
from sgmc.formula.designs.spreads import Numbers, Spreads, of_values
from sgmc.prepared.writers.moments import ShiftedMoments

KEYS = 1 << 64  # random keys are below


def record_type(spec, dtype, vectors):
    """The structured dtype of a row.

    Parameters
    ----------
    spec : DesignSpec
    dtype : numpy.dtype
        Of the design's numbers.
    vectors : iterable of str
        Such as "weights".
    """
    coding = spec.coding
    if coding is None:
        design = [("X", dtype, (len(spec.exog_names),))]
    else:
        design = [
            ("numbers", dtype, (len(coding.places),)),
            ("codes", np.int32, (len(coding.terms),)),
            ("factors", np.float64, (int(coding.by.max()) + 1,)),
        ]
    rows = [(name, np.float64) for name in ("y", *vectors)]
    return np.dtype([("key", np.uint64), *design, *rows, ("order", np.int64)])


class Encoder:
    """Makes records of chunks, and sums up moments of the design's columns.

    Parameters
    ----------
    found : scan.Found
    dtype : numpy.dtype
    seed : int
    """

    def __init__(self, found, dtype, seed):
        self.found, self.seed = found, seed
        self.spec, coding = found.spec, found.spec.coding
        given = dict(found.selection.vectors)
        self.vectors = (["trials"] if found.selection.terms.counted else []) + list(given)
        self.type = record_type(self.spec, np.dtype(dtype), self.vectors)
        self.places = np.arange(self.width) if coding is None else coding.places
        self.labels = {
            "y": found.levels and LevelIndexer(found.levels, self.spec.endog_name),
            "strata": found.strata_levels and LevelIndexer(found.strata_levels, given["strata"]),
        }
        self.moments = self.cells = None
        self.numbers = Numbers(*self.spec.numbers)
        self.spreads = self.numbers.unseen()

    @property
    def width(self):
        """Columns of the design."""
        return len(self.spec.exog_names)

    def chunk(self, number, frame, first):
        """The records of a chunk, some at a time.

        Parameters
        ----------
        number : int
            Of the chunk: with the seed it gives the keys.
        frame : DataFrame
        first : int
            Number of its first row.
        """
        gaps, response = self.found.selection.gaps(frame)
        rows = gaps.complete()
        random = np.random.Generator(
            np.random.PCG64(seed_sequence(self.seed, "permutation", number))
        )
        keys = random.integers(KEYS - 1, size=len(rows), dtype=np.uint64, endpoint=True)
        beside = self.beside(frame, rows, response[~gaps.missing[response.index]])
        for span, values in self.spec.values(frame, rows, chunk_rows(self.width, CHUNK_ROWS)):
            records = np.empty(span.stop - span.start, self.type)
            records["key"], records["order"] = keys[span], first + rows[span]
            for name, column in beside.items():
                records[name] = column[span]
            self.write(records, values)
            yield records

    def beside(self, frame, rows, response):
        """Outcomes and vectors of some rows: name -> array."""
        columns = {}
        if self.found.selection.terms.counted:
            columns["y"] = response.iloc[:, 0].to_numpy(np.float64)
            columns["trials"] = columns["y"] + response.iloc[:, 1].to_numpy(np.float64)
        elif self.labels["y"]:
            columns["y"] = self.labels["y"].of(response)
        else:
            columns["y"] = response.to_numpy(np.float64)
        for argument, name in self.found.selection.vectors.items():
            column = frame[name].iloc[rows]
            places = self.labels["strata"] if argument == "strata" else None
            columns[argument] = places.of(column) if places else column.to_numpy(np.float64)
        return columns

    def write(self, records, values):
        """Fill in the design less the origin, and add it to the moments."""
        weight = records["weights"] if "weights" in self.vectors else None
        coding = self.spec.coding
        if coding is None:
            numbers = self.spec.product(values, len(records))
            self.centre(numbers)
        else:
            part = coding.empty(len(records))
            coding.write(part, np.arange(len(records)), values)
            records["codes"], records["factors"] = part.codes, part.factors
            numbers = part.numbers
            self.centre(numbers)
            self.add_cells(part, weight)
        name = "X" if coding is None else "numbers"
        with np.errstate(over="ignore"):  # infinite in float32: reported below
            records[name] = numbers
        self.refuse_infinite(records, name)
        self.moments.add(numbers, weight)
        seen = of_values(self.numbers, self.spreads, values)
        self.spreads = self.numbers.with_rows(self.spreads, seen, weight)

    def centre(self, numbers):
        """Take the origin off, that is the means of the first rows, so that float32 is enough."""
        if self.moments is None:
            with np.errstate(invalid="ignore"):
                self.moments = ShiftedMoments(self.origin(numbers))
        numbers -= self.moments.origin

    def origin(self, numbers):
        """What is taken off while rows are read."""
        origin = numbers.mean(axis=0)
        constant = np.array([self.spec.exog_names[j] == INTERCEPT for j in self.places])
        return np.where(np.isfinite(origin) & ~constant, origin, 0.0)

    def add_cells(self, part, weight):
        """Add the columns of factors to their moments."""
        if self.cells is None:
            self.cells = ShiftedMoments(np.zeros(self.width))
        total = float(len(part.codes)) if weight is None else float(weight.sum())
        if total > 0:
            mean, sd = part.moments(weight)
            self.cells.merge(total, mean, sd**2 * max(total - 1, 1))

    def refuse_infinite(self, records, name):
        """DataError for what is not finite, also in the type of the file."""
        for part, columns in ((name, self.places), ("factors", None)):
            if part not in self.type.names or np.isfinite(records[part]).all():
                continue
            row, column = np.argwhere(~np.isfinite(records[part]))[0]
            label = (
                f"predictor {self.spec.exog_names[columns[column]]!r}"
                if columns is not None
                else "a number that multiplies a factor"
            )
            place = "in some row" if self.found.compressed else f"at row {records['order'][row]}"
            raise DataError(
                f"{label} is not finite {place} of the source, whose first is 0; drop or change "
                "such rows"
            )

    def result(self):
        """Moments of the design's columns, what autoscaled priors are divided by, and what is to be
        taken off the columns in the end: a dict of arrays (d,).
        """
        mean, sd = self.moments.result()
        if self.cells is not None:
            means, sds = self.cells.result()
            means[self.places], sds[self.places] = mean, sd
            mean, sd = means, sds
        shift = np.zeros(self.width)
        if self.spec.has_intercept:
            shift[self.places] = mean[self.places]
            shift[self.spec.exog_names.index(INTERCEPT)] = 0.0
        scale = self.numbers.scales(self.spreads, sd)
        return {"mean": mean, "sd": sd, "scale": scale, "shift": shift}

    def state(self):
        """Moments as plain values."""
        return {
            name: one and one.state()
            for name, one in (("moments", self.moments), ("cells", self.cells))
        } | {"spreads": self.spreads.state()}

    def take(self, state):
        """Go on from such a state; ValueError where it is of other columns."""
        widths = {"moments": len(self.places), "cells": self.width}
        self.moments, self.cells = (
            state[name] and ShiftedMoments.of_state(state[name], width)
            for name, width in widths.items()
        )
        self.spreads = Spreads.of_state(state["spreads"])
        if len(self.spreads.zero_one) != len(self.numbers.names):
            raise ValueError("spreads of other columns")
