"""Labels of new rows in another type than those of the fit: known, new, or refused by name."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from sgmc.arguments.messages import label_text, labels_text
from sgmc.errors import DataError
from sgmc.formula.data.levels import places_of

MIDNIGHT = pd.to_datetime(["2020-01-01"])
KNOWN = {  # labels of new rows, those of the fit -> places
    "as they are": (["b", "c"], ["a", "b"], [1, -1]),
    "whole floats": ([2.0, 9.0], [1, 2], [1, -1]),
    "objects": (np.array([2, None], dtype=object), [1, 2], [1, -1]),
    "nullable": (pd.array([2, None], dtype="Int64"), [1, 2], [1, -1]),
    "unsigned": (np.array([2], dtype="uint8"), [1, 2], [1]),
    "categories": (pd.Categorical([2, 1]), [1, 2], [1, 0]),
    "decimals": ([Decimal(2)], [1, 2], [1]),
    "bool and None": (np.array([True, None], dtype=object), [True, False], [0, -1]),
    "days": ([datetime.date(2020, 1, 1)], [datetime.date(2020, 1, 1)], [0]),
    "other text": (["x"], [1, 2], [-1]),
    "other numbers": ([3], ["1", "2"], [-1]),
    "text of one type": (["01", "A"], ["1", "a"], [-1, -1]),
    "missing": ([None, np.nan], ["a"], [-1, -1]),
}
REFUSED = {  # labels of new rows, those of the fit, types and cure as the message has them
    "text": (["1", "9"], [1, 2], ("text such as '1'", "numbers such as 1", ".astype(int)")),
    "numbers": ([1, 2], ["1", "2"], ("numbers such as 1", "text such as '1'", ".astype(str)")),
    "some are known": ([1, "2"], [1, 2], ("text such as '2'", ".astype(int)")),
    "some are none": (["1", "x"], [1, 2], ("text such as '1'", "as the fit has them, such as 1")),
    "text of floats": (["1.0"], [1, 2], ("text such as '1.0'", ".astype(float)")),
    "floats": ([1.0], ["1", "2"], ("numbers such as 1.0", ".astype(int).astype(str)")),
    "padded text": (["01"], [1, 2], ("text such as '01'", ".astype(int)")),
    "no padding": ([1], ["01", "02"], ("numbers such as 1", ".str.zfill(2)")),
    "spaces": ([" 1"], [1, 2], ("text such as ' 1'", ".astype(int)")),
    "categories of text": (pd.Categorical(["1"]), [1, 2], ("text such as '1'", ".astype(int)")),
    "pandas' text": (pd.array(["1"], dtype="string"), [1, 2], ("text such as '1'",)),
    "true": ([True], ["True", "False"], ("true and false such as True", ".astype(str)")),
    "text of true": (["True"], [True, False], ("text such as 'True'", ".map({'True': True")),
    "1 for true": ([1, 0], [True, False], ("numbers such as 1", ".astype(bool)")),
    "true for 1": ([True], [0, 1], ("true and false such as True", ".astype(int)")),
    "days": (MIDNIGHT, ["2020-01-01"], ("dates such as 2020-01-01", ".dt.strftime('%Y-%m-%d')")),
    "months": (pd.PeriodIndex(["2020-01"], freq="M"), ["2020-01"], ("dates", ".astype(str)")),
    "zones": (MIDNIGHT.tz_localize("UTC"), MIDNIGHT, ("dates with a time zone such as",)),
}


def index(labels):
    return pd.Index(labels, tupleize_cols=False)


@pytest.mark.parametrize("name", KNOWN)
def test_labels_that_are_known_or_new(name):
    asked, known, places = KNOWN[name]
    assert places_of(index(asked), index(known), ["g"], "df").tolist() == places


@pytest.mark.parametrize("name", REFUSED)
def test_known_labels_of_another_type_are_refused(name):
    asked, known, said = REFUSED[name]
    with pytest.raises(DataError, match="labels of 'g' are of another type") as error:
        places_of(index(asked), index(known), ["g"], "df")
    assert all(one in str(error.value) for one in said), error.value


@pytest.mark.parametrize("name", ["text", "numbers", "floats", "no padding", "true for 1", "days"])
def test_the_cure_that_a_message_names_makes_them_known(name):
    asked, known, _ = REFUSED[name]
    df = pd.DataFrame({"g": asked})
    with pytest.raises(DataError) as error:
        places_of(pd.Index(df["g"]), index(known), ["g"], "df")
    cured = eval(str(error.value).rpartition("df['g'] = ")[2], {"df": df})
    assert (places_of(pd.Index(cured), index(known), ["g"], "df") >= 0).any()


def test_combinations_of_columns_are_looked_at_one_by_one():
    known = pd.MultiIndex.from_tuples([(1, "a"), (2, "b")])
    asked = pd.MultiIndex.from_tuples([(2.0, "b"), (1, "b")])
    assert places_of(asked, known, ["g", "h"]).tolist() == [1, -1]
    with pytest.raises(DataError, match="labels of 'g' are of another type"):
        places_of(pd.MultiIndex.from_tuples([("1", "b")]), known, ["g", "h"])


def test_labels_are_written_as_users_write_them():
    wrapped = (np.int64(1), np.str_("a"), np.bool_(True), np.float32(0.5))
    assert [label_text(one) for one in wrapped] == ["1", "'a'", "True", "0.5"]
    assert label_text((np.int64(1), "b")) == "(1, 'b')" and label_text((np.int64(1),)) == "(1,)"
    assert label_text(MIDNIGHT[0]) == "2020-01-01 00:00:00"
    assert label_text(pd.Interval(0, 1)) == "(0, 1]"
    assert labels_text(index([1, 2, 3]), 2) == "1, 2, ..."
