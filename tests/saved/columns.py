"""Writes columns of every kind as pandas has them: run under the oldest pandas and the newest.

``python -m tests.saved.columns`` in the root of the source tree; `test_pandas` opens the files.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from sgmc.core.system.files import write_sealed
from sgmc.saved import plain_tree

KIND, HERE = b"columns", Path(__file__).parent
TEXT, NUMBERS = ["b", "a", None, "c"], [1, None, 3, 4]
TIMES = "2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"


def made():
    """Columns and labels by name."""
    return {
        "text": pd.Series(TEXT),
        "text as objects": pd.Series(TEXT, dtype=object),
        "string": pd.Series(TEXT, dtype="string[python]"),
        "string of arrow": pd.Series(TEXT, dtype="string[pyarrow]"),
        "categories": pd.Series(pd.Categorical(TEXT)),
        "categories of strings": pd.Series(pd.Categorical(pd.array(TEXT, dtype="string"))),
        "ordered numbers": pd.Series(pd.Categorical([1, 2, 1, 3], ordered=True)),
        "times": pd.Series(pd.to_datetime([*TIMES])),
        "times of a zone": pd.Series(pd.to_datetime([*TIMES]).tz_localize("Europe/Berlin")),
        "times of an offset": pd.Series(pd.to_datetime([f"{one}T00:00+02:00" for one in TIMES])),
        "lengths of time": pd.Series(pd.to_timedelta([1, 2, 3, 4], unit="h")),
        "whole": pd.Series(NUMBERS, dtype="Int64"),
        "small": pd.Series(NUMBERS, dtype="UInt8"),
        "real": pd.Series(NUMBERS, dtype="Float64"),
        "truths": pd.Series([True, None, False, True], dtype="boolean"),
        "bins": pd.Series(pd.cut([1, 2, 3, 4], [0, 2, 4])),
        "numbers": pd.Series([1.5, 2.0, 3.0, 4.0], index=["u", "v", "w", "x"]),
        "labels": pd.Index(["u", "v", "w", "x"], name="n"),
        "labels of objects": pd.Index(["u", 1, 2.5, "x"], dtype=object),
        "pairs of labels": pd.MultiIndex.from_tuples([("a", 1), ("b", 2), ("a", 3)]),
        "places": pd.RangeIndex(4),
        "table": pd.DataFrame({"s": TEXT, "x": [1.0, 2.0, 3.0, 4.0], "c": pd.Categorical(TEXT)}),
        "single values": [pd.Timestamp(TIMES[0]), pd.Timedelta("1h"), pd.NA, np.str_("x")],
    }


def main():
    """Write the file of this pandas."""
    path = HERE / f"columns_{pd.__version__.partition('.')[0]}.sgmc"
    write_sealed(path, KIND, {"columns": plain_tree(made(), "columns")})
    print(path)


if __name__ == "__main__":
    main()
