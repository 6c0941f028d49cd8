"""Files under a wrong suffix, in another encoding or cut short: errors name kind and cure."""

import gzip

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError

FRAME = pd.DataFrame({"y": np.arange(20.0), "x": np.arange(20.0) ** 2})


def parquet():
    return FRAME.to_parquet(index=False)


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.csv", parquet, "it is Parquet: give it the suffix .parquet"),
        ("a.parquet", lambda: parquet()[:300], "it begins as Parquet, and is cut short"),
        ("a.csv", lambda: FRAME.to_csv(index=False).encode("utf-16"), "encoding='utf-16'"),
        ("a.csv", lambda: gzip.compress(FRAME.to_csv(index=False).encode()), "suffix such as"),
        ("a.csv", lambda: b"PK\x03\x04\xff" * 50, "it is a zip file, as those of Excel are"),
        ("a.csv", lambda: "y,x\n1,é\n".encode("latin-1"), "encoding='latin-1'"),
        ("a.csv", lambda: b"y,x\n1,2\n2,3,4\n", "on_bad_lines='skip'"),
    ],
)
def test_a_file_is_named_by_its_first_bytes(name, content, message, tmp_path):
    """All of these were said to be no UTF-8, with a cure that reads them as nonsense."""
    path = tmp_path / name
    path.write_bytes(content())
    with pytest.raises(DataError, match=message):
        sgmc.ols("y ~ x", str(path))


def test_no_path_is_an_error_of_ours(tmp_path):
    """None ended in a TypeError; a table was printed whole, line by line."""
    res = sgmc.ols("y ~ x", FRAME.assign(y=np.random.default_rng(1).normal(size=20)), seed=1)
    with pytest.raises(ArgumentError, match="path=None must be a path"):
        res.save(None)
    with pytest.raises(ArgumentError, match="path=None must be a path"):
        sgmc.prepare("y ~ x", FRAME, None)
    with pytest.raises(ArgumentError, match=r"not <DataFrame of shape \(20, 2\)>$"):
        sgmc.load(FRAME)
