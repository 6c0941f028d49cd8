"""Values of other libraries as plain ones: numbers and types of numpy, tables of pandas, sparse
arrays, times.  Each kind has a name, a class, and two functions, one for each way.
"""

import datetime

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.interpolate import BSpline, CubicSpline

EXACT = "biuf"  # kinds of numpy's numbers that JSON keeps, of 8 bytes at most


def scalar(value):
    """A number of numpy, with its type."""
    plain = value.dtype.kind in EXACT and value.dtype.itemsize <= 8 or value.dtype.kind == "U"
    held = value.item() if plain else np.array(value)
    return {"type": value.dtype.str, "value": held}


def of_scalar(state):
    """See `scalar`."""
    return np.asarray(state["value"], dtype=np.dtype(state["type"]))[()]


def objects(array):
    """An array of any values."""
    return {"shape": list(array.shape), "values": array.ravel().tolist()}


def of_objects(state):
    """See `objects`."""
    out = np.empty(len(state["values"]), dtype=object)
    for k, value in enumerate(state["values"]):
        out[k] = value
    return out.reshape(state["shape"])


def column(array):
    """An array of pandas, or what numpy has of it."""
    if isinstance(array, pd.Categorical):
        return {"kind": "category", "codes": np.asarray(array.codes),
                "categories": array.categories, "ordered": bool(array.ordered)}  # fmt: skip
    if isinstance(array.dtype, pd.StringDtype):
        missing = pd.isna(array)
        texts = [None if gap else str(one) for one, gap in zip(array, missing)]
        nan = isinstance(array.dtype.na_value, float)
        return {"kind": "text", "storage": array.dtype.storage, "nan": nan, "values": texts}
    if isinstance(array.dtype, pd.DatetimeTZDtype):
        return {"kind": "times", "unit": array.unit, "zone": str(array.tz),
                "values": np.asarray(array.asi8)}  # fmt: skip
    if isinstance(array, pd.arrays.IntervalArray):
        return {"kind": "intervals", "left": pd.Index(array.left), "right": pd.Index(array.right),
                "closed": array.closed}  # fmt: skip
    if isinstance(array, pd.core.arrays.masked.BaseMaskedArray):
        missing = np.asarray(pd.isna(array))
        filled = array.to_numpy(array.dtype.numpy_dtype, na_value=array.dtype.numpy_dtype.type(0))
        return {"kind": "masked", "type": str(array.dtype), "values": filled, "missing": missing}
    if isinstance(array.dtype, np.dtype) or isinstance(array, pd.arrays.NumpyExtensionArray):
        return {"kind": "numpy", "values": np.asarray(array)}
    raise TypeError(f"a column of type {array.dtype}")


def of_column(state):
    """See `column`."""
    kind = state["kind"]
    if kind == "category":
        dtype = pd.CategoricalDtype(state["categories"], state["ordered"])
        return pd.Categorical.from_codes(state["codes"], dtype=dtype)
    if kind == "text":
        na = np.nan if state["nan"] else pd.NA
        try:
            dtype = pd.StringDtype(state["storage"], na_value=na)
        except ImportError:  # pyarrow is not here
            dtype = pd.StringDtype("python", na_value=na)
        return pd.array(state["values"], dtype=dtype)
    if kind == "times":
        times = state["values"].view(f"M8[{state['unit']}]")
        return pd.DatetimeIndex(times, tz="UTC").tz_convert(state["zone"]).array
    if kind == "intervals":
        return pd.arrays.IntervalArray.from_arrays(state["left"], state["right"], state["closed"])
    if kind == "masked":
        out = pd.array(state["values"], dtype=state["type"])
        out[state["missing"]] = pd.NA
        return out
    return state["values"]


def index(value):
    """An index of pandas."""
    if isinstance(value, pd.MultiIndex):
        codes = [np.asarray(one) for one in value.codes]
        return {"levels": list(value.levels), "codes": codes, "names": list(value.names)}
    if isinstance(value, pd.RangeIndex):
        return {"range": [value.start, value.stop, value.step], "name": value.name}
    return {"array": column(value.array), "name": value.name}


def of_index(state):
    """See `index`."""
    if "levels" in state:
        return pd.MultiIndex(state["levels"], state["codes"], names=state["names"])
    if "range" in state:
        return pd.RangeIndex(*state["range"], name=state["name"])
    array = of_column(state["array"])
    return pd.Index(array, dtype=array.dtype, name=state["name"])


def series(value):
    """A Series."""
    return {"array": column(value.array), "index": value.index, "name": value.name}


def of_series(state):
    """See `series`."""
    array = of_column(state["array"])
    return pd.Series(array, state["index"], dtype=array.dtype, name=state["name"])


def frame(value):
    """A DataFrame."""
    columns = [column(value.iloc[:, j].array) for j in range(value.shape[1])]
    return {"columns": value.columns, "index": value.index, "arrays": columns}


def of_frame(state):
    """See `frame`."""
    arrays = {j: of_column(one) for j, one in enumerate(state["arrays"])}
    out = pd.DataFrame(arrays, index=state["index"])
    out.columns = state["columns"]
    return out


def matrix(value):
    """A sparse array by rows or by columns."""
    return {"format": value.format, "shape": list(value.shape), "data": value.data,
            "indices": value.indices, "indptr": value.indptr}  # fmt: skip


def of_matrix(state):
    """See `matrix`."""
    kind = {"csr": sparse.csr_array, "csc": sparse.csc_array}[state["format"]]
    return kind((state["data"], state["indices"], state["indptr"]), shape=tuple(state["shape"]))


def cubic(value):
    """A spline by the coefficients of its pieces."""
    return {"c": value.c, "x": value.x, "extrapolate": value.extrapolate, "axis": value.axis}


def of_cubic(state):
    """See `cubic`."""
    return CubicSpline.construct_fast(state["c"], state["x"], state["extrapolate"], state["axis"])


def b_spline(value):
    """A spline by the coefficients of its basis."""
    return {"t": value.t, "c": value.c, "k": int(value.k), "extrapolate": value.extrapolate,
            "axis": value.axis}  # fmt: skip


def of_b_spline(state):
    """See `b_spline`."""
    return BSpline.construct_fast(*(state[key] for key in ("t", "c", "k", "extrapolate", "axis")))


def attributes(*names):
    """The function that takes some attributes of a value."""
    return lambda value: {name: getattr(value, name) for name in names}


def of_text(cls):
    """The pair of functions for values that are text in ISO 8601."""
    return lambda value: {"text": value.isoformat()}, lambda state: cls(state["text"])


def of_seconds(state):
    """A length of time."""
    return datetime.timedelta(state["days"], state["seconds"], state["microseconds"])


INTERVAL = attributes("left", "right", "closed"), lambda state: pd.Interval(**state)
NOTHING = {"NA": pd.NA, "NaT": pd.NaT}
# name in the file: (class, its plain state, the value of a state); subclasses before classes
KINDS = {
    "scalar": (np.generic, scalar, of_scalar),
    "type": (np.dtype, lambda v: {"type": v.str}, lambda state: np.dtype(state["type"])),
    "objects": (np.ndarray, objects, of_objects),
    "index": (pd.Index, index, of_index),
    "series": (pd.Series, series, of_series),
    "frame": (pd.DataFrame, frame, of_frame),
    "column": (pd.api.extensions.ExtensionArray, column, of_column),
    "interval": (pd.Interval, *INTERVAL),
    "timestamp": (pd.Timestamp, *of_text(pd.Timestamp)),
    "length": (pd.Timedelta, *of_text(pd.Timedelta)),
    "datetime": (datetime.datetime, *of_text(datetime.datetime.fromisoformat)),
    "date": (datetime.date, *of_text(datetime.date.fromisoformat)),
    "timedelta": (datetime.timedelta, attributes("days", "seconds", "microseconds"), of_seconds),
    "sparse": (sparse.csr_array | sparse.csc_array, matrix, of_matrix),
    "cubic": (CubicSpline, cubic, of_cubic),
    "spline": (BSpline, b_spline, of_b_spline),
    "slice": (slice, attributes("start", "stop", "step"),
              lambda state: slice(state["start"], state["stop"], state["step"])),
    "range": (range, attributes("start", "stop", "step"),
              lambda state: range(state["start"], state["stop"], state["step"])),
    "complex": (complex, attributes("real", "imag"), lambda state: complex(**state)),
    "bytes": (bytes | bytearray, lambda value: {"bytes": np.frombuffer(value, np.uint8)},
              lambda state: state["bytes"].tobytes()),
    "set": (set, lambda value: {"of": list(value)}, lambda state: set(state["of"])),
    "frozenset": (frozenset, lambda value: {"of": list(value)},
                  lambda state: frozenset(state["of"])),
}  # fmt: skip
