"""`time_limit` holds while wide terms are read: rows come in pieces as small as the terms are wide,
the clock is looked at before each, and where all rows take too long some of them are read.
"""

import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.system import deadline
from sgmc.core.system.deadline import limited
from sgmc.errors import ArgumentError, SGMCError
from sgmc.formula import read, timed_reading

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
N = 60_000
RNG = np.random.default_rng(2)
FRAME = pd.DataFrame({"x": RNG.normal(size=N), "z": RNG.normal(size=N)})
FRAME["y"] = (RNG.random(N) < 1 / (1 + np.exp(-FRAME.x))).astype(int)
LIMIT = 2.0


@pytest.mark.extended
@pytest.mark.parametrize("term", ["s(x, k=300)", "poly(x, 300)", "bs(x, df=300)", "cr(x, df=300)"])
def test_fits_end_in_time(term):
    """By the time of the processor, which other processes do not lengthen."""
    sgmc.logit("y ~ x", FRAME[:99], draws=20, chains=1, seed=1)  # loads what fits load
    begun, ended = time.process_time(), ""
    try:
        ended = sgmc.logit(f"y ~ {term}", FRAME, seed=1, time_limit=LIMIT).stand_in
    except SGMCError as error:
        ended = str(error)
    assert time.process_time() - begun < 1.1 * LIMIT + 0.5
    assert "time_limit ended" in ended or "cannot evaluate 'poly(x, 300)'" in ended


@pytest.mark.extended
@pytest.mark.parametrize(
    "term, width", [("bs(x, df=300)", 300), ("te(cr(x, df=9), cr(z, df=9))", 81)]
)
def test_the_clock_is_looked_at_before_each_piece(term, width, monkeypatch):
    looks, usual = [], deadline.Deadline.check
    monkeypatch.setattr(deadline.Deadline, "check", lambda *how: (looks.append(1), usual(*how)))
    table = read(f"y ~ {term}", FRAME)
    pieces = N * width // (1 << 21)  # of each pass over the rows, see `chunk_rows`
    assert len(table.spec.exog_names) > width - 2 and len(looks) > 3 * pieces


class Clock:
    """Goes on by what is read."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def reading(monkeypatch):
    """Tables that take a time a row, and how many rows were asked for."""
    clock, asked = Clock(), []
    monkeypatch.setattr(deadline, "clock", clock)

    def of(seconds, n):
        def made(most=None):
            asked.append(most)
            rows = np.arange(most or n)
            clock.now += seconds * len(rows)
            deadline.check()
            return SimpleNamespace(y=rows % 2, rows=rows), "grouping"

        return made

    return SimpleNamespace(of=of, asked=asked, clock=clock)


@pytest.mark.parametrize("seconds, n, asked", [
    (1e-6, 9_000, [None]), (1e-5, 60_000, [None]), (1e-4, 60_000, [None, 5_000]),
    (1e-6, 3_000_000, [None, 50_000]), (1e-4, 3_000_000, [None, 50_000, 5_000]),
])  # fmt: skip
def test_fewer_rows_where_all_take_too_long(seconds, n, asked, reading):
    with limited(LIMIT):
        table, grouping, partly = timed_reading.with_deadline(reading.of(seconds, n), n)
    assert reading.asked == asked and grouping == "grouping"
    assert len(table.rows) == (asked[-1] or n)
    assert partly == (f"the reading of the table, of which {asked[-1]:,} of {n:,} rows are used"
                      if asked[-1] else "")  # fmt: skip


@pytest.mark.parametrize("n, rows", [(60_000, "5,000"), (800, "800")])
def test_columns_that_take_too_long_whatever_the_rows(n, rows, reading):
    with limited(LIMIT), pytest.raises(ArgumentError, match=f"even of {rows} rows: give more time"):
        timed_reading.with_deadline(reading.of(1.0, n), n)


def test_without_a_limit_there_is_one_reading(reading):
    assert timed_reading.with_deadline(reading.of(1.0, 9_000), 9_000)[
        2
    ] == "" and reading.asked == [None]
