"""Every entry of the table, for every regression model; and no argument of a fit takes nonsense."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from sgmc.arguments.declared.keywords import FORMULA, REGRESSION, names
from sgmc.errors import SGMCError, SGMCWarning

from .cases import CASES
from .conftest import content
from .table import TABLE, main

NATIVE = {"sampel", "drawz", "family", "pvalues", "predict before", "load a file that"}
# positional, or refused by name elsewhere
NOT_HERE = ("formula", "data", "tune")
NONSENSE = [
    object(),
    np.array([1.0, 2.0]),
    {"a": 1},
    b"x\0",  # no path either
    1j,
    [],
    (),
    float("nan"),
    np.array(["a"]),
    pd.Series([1, 2]),
    -1,
    "",
    pd.NA,
]
ARGUMENTS = [name for name in [*names(FORMULA, REGRESSION), "keep"] if name not in NOT_HERE]


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "case, entry", TABLE, ids=[f"{case!r}: {entry.label[:60]}" for case, entry in TABLE]
)
def test_entries(case, entry):
    before = content(case.frame), content(case.X), content(case.y)
    if issubclass(entry.expected, Warning):
        with pytest.warns(SGMCWarning) as caught:
            entry.call(case)
        said = [w.message for w in caught]
        assert any(
            type(one) is entry.expected and entry.telling(case) in str(one) for one in said
        ), said
        assert all(isinstance(one, SGMCWarning) for one in said)
    else:
        with pytest.raises(entry.expected, match=re.escape(entry.telling(case))) as raised:
            entry.call(case)
        assert type(raised.value) is entry.expected
        assert isinstance(raised.value, SGMCError) != any(word in entry.label for word in NATIVE)
    assert (content(case.frame), content(case.X), content(case.y)) == before


def test_entries_differ():
    labels = [(repr(case), entry.label, entry.telling(case)) for case, entry in TABLE]
    assert len(set(labels)) == len(labels) and {case for case, _ in TABLE} == set(CASES)


@pytest.mark.parametrize("case", CASES, ids=repr)
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_no_argument_takes_nonsense(case, argument):
    for value in NONSENSE:
        with pytest.raises(SGMCError, match=argument):
            case.fit(**{argument: value})


@pytest.mark.extended
def test_the_table_can_be_printed(capsys):
    main()
    lines = capsys.readouterr().out.split("\n")
    for case, entry in TABLE:
        start = f"{case!r}: {entry.label} -> {entry.expected.__name__}: "
        assert any(line.startswith(start) for line in lines), start


def test_the_check_of_inputs_sees_changes(inputs_stay_as_they_were):
    case = CASES[0]
    frame, design = case.frame.copy(), np.array(case.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        case.verb("y ~ x1", frame, draws=50)
        case.model(case.y, design)
    seen = [
        (one, before) for one, before in inputs_stay_as_they_were if one is frame or one is design
    ]
    assert len(seen) == 2 and all(content(one) == before for one, before in seen)
    frame.loc[3, "x1"] = design[3, 1] = 99.0
    assert all(content(one) != before for one, before in seen)
    inputs_stay_as_they_were.clear()
