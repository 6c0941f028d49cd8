"""Values of other libraries as plain ones: numbers and types of numpy, tables of pandas, sparse
arrays, times.  Each kind has a name, a class, and two functions, one for each way.
"""

import datetime
import re
import sys
from collections.abc import Callable
from inspect import signature
from typing import Annotated, Any

import numpy as np
import pandas as pd
from scipy import sparse

from sgmc.arguments.types import Array, Frame, Index, Series, Sparse
from sgmc.core.system.types import fits
from sgmc.saved.fields import ARRAY, COUNT

EXACT = "biuf"  # kinds of numpy's numbers that JSON keeps, of 8 bytes at most
TYPE = re.compile(
    r"[<>|=]?([biufc](1|2|4|8|16|32)|[mM]8\[\d*(Y|M|W|D|h|m|s|ms|us|ns)\]|[SU]\d{1,4})"
)
ZONE = re.compile(r"(?!dateutil)[\w+-]+(/[\w+-]+)*|UTC[+-]\d\d:\d\d")  # no path of a file
UNIT = re.compile("s|ms|us|ns")
MASKED = re.compile(r"U?Int(8|16|32|64)|Float(32|64)|boolean")
STORAGE = re.compile("python|pyarrow|pyarrow_numpy")  # the last one of pandas 2.2
NAN_IN_TEXT = "na_value" in signature(pd.StringDtype).parameters
WHOLE = Annotated[int, (-(2**63), 2**63 - 1)]


def checked(state: dict[str, Any], **kinds: Any) -> dict[str, Any]:
    """A state of a file; ValueError where it has not these values, or one of another type."""
    if state.keys() != kinds.keys():
        raise ValueError(f"it has the values {', '.join(state)}, not {', '.join(kinds)}")
    for name, kind in kinds.items():
        known = kind.fullmatch(str(state[name])) if isinstance(kind, re.Pattern) else None
        if not (known or not isinstance(kind, re.Pattern) and fits(state[name], kind)):
            raise ValueError(f"its value {name} is {state[name]!r:.60}")
    return state


def equal(what: str, *lengths: Any) -> None:
    """ValueError where lengths of what belongs together differ."""
    if len({*lengths}) > 1:
        raise ValueError(f"its {what} have the lengths {', '.join(map(str, lengths))}")


def scalar(value: Any) -> dict[str, Any]:
    """A number of numpy, with its type."""
    plain = value.dtype.kind in EXACT and value.dtype.itemsize <= 8 or value.dtype.kind == "U"
    held = value.item() if plain else np.array(value)
    return {"type": value.dtype.str, "value": held}


def of_scalar(state: dict[str, Any]) -> Any:
    """Return the number of numpy that `scalar` described."""
    checked(state, type=TYPE, value=bool | int | float | str | ARRAY)
    held = state["value"]
    if isinstance(held, str):
        return np.str_(held)
    if isinstance(held, ARRAY) and held.ndim:
        raise ValueError("its value is several")
    return np.asarray(held, dtype=of_type(state))[()]


def of_type(state: dict[str, Any]) -> Any:
    """A type of numpy's, of a length that no value makes dear."""
    found: Any = TYPE.fullmatch(state["type"])
    return np.dtype(found[0])


def objects(array: Any) -> dict[str, Any]:
    """An array of any values."""
    return {"shape": list(array.shape), "values": array.ravel().tolist()}


def of_objects(state: dict[str, Any]) -> Array:
    """Return the array that `objects` described."""
    checked(state, shape=list[COUNT], values=list)
    out = np.empty(len(state["values"]), dtype=object)
    for k, value in enumerate(state["values"]):
        out[k] = value
    return out.reshape(state["shape"])


def column(array: Any) -> dict[str, Any]:
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


def of_column(state: dict[str, Any]) -> Any:
    """Return the array that `column` described."""
    kind = state.get("kind")
    if kind == "category":
        checked(state, kind=str, codes=ARRAY, categories=pd.Index, ordered=bool)
        dtype = pd.CategoricalDtype(state["categories"], state["ordered"])
        return pd.Categorical.from_codes(state["codes"], dtype=dtype)
    if kind == "text":
        checked(state, kind=str, storage=STORAGE, nan=bool, values=list[str | None])
        return text_column(state["storage"], state["nan"], state["values"])
    if kind == "times":
        checked(state, kind=str, unit=UNIT, zone=ZONE, values=ARRAY)
        times = state["values"].astype(np.int64, casting="safe").view(f"M8[{state['unit']}]")
        return pd.DatetimeIndex(times, tz="UTC").tz_convert(state["zone"]).array
    if kind == "intervals":
        checked(state, kind=str, left=pd.Index, right=pd.Index, closed=str)
        return pd.arrays.IntervalArray.from_arrays(state["left"], state["right"], state["closed"])
    if kind == "masked":
        checked(state, kind=str, type=MASKED, values=ARRAY, missing=ARRAY)
        equal("values and gaps", state["values"].shape, state["missing"].shape)
        out = pd.array(state["values"], dtype=state["type"])
        out[state["missing"].astype(bool, casting="safe")] = pd.NA
        return out
    values = checked(state, kind=re.compile("numpy"), values=ARRAY)["values"]
    equal("dimensions", values.ndim, 1)
    return values


def text_column(storage: str, nan: bool, values: list[str]) -> Any:
    """A column of text as this pandas has it: 2.2 has no text whose gaps are NaN, but objects."""
    if nan and not NAN_IN_TEXT:
        return np.array([np.nan if one is None else one for one in values], dtype=object)
    how = {"na_value": np.nan if nan else pd.NA} if NAN_IN_TEXT else {}
    try:
        dtype = pd.StringDtype(storage.removesuffix("_numpy"), **how)
    except ImportError:  # pyarrow is not here
        dtype = pd.StringDtype("python", **how)
    return pd.array(values, dtype=dtype)


def index(value: Any) -> dict[str, Any]:
    """An index of pandas."""
    if isinstance(value, pd.MultiIndex):
        codes = [np.asarray(one) for one in value.codes]
        return {"levels": list(value.levels), "codes": codes, "names": list(value.names)}
    if isinstance(value, pd.RangeIndex):
        return {"range": [value.start, value.stop, value.step], "name": value.name}
    return {"array": column(value.array), "name": value.name}


def of_index(state: dict[str, Any]) -> Index:
    """Return the index that `index` described."""
    if "levels" in state:
        checked(state, levels=list[pd.Index], codes=list[ARRAY], names=list)
        return pd.MultiIndex(state["levels"], state["codes"], names=state["names"])
    if "range" in state:
        checked(state, range=list[WHOLE], name=object)
        return pd.RangeIndex(*state["range"], name=state["name"])
    array = of_column(checked(state, array=dict[str, object], name=object)["array"])
    return pd.Index(array, dtype=array.dtype, name=state["name"])


def series(value: Any) -> dict[str, Any]:
    """A Series."""
    return {"array": column(value.array), "index": value.index, "name": value.name}


def of_series(state: dict[str, Any]) -> Series:
    """Return the Series that `series` described."""
    checked(state, array=dict[str, object], index=pd.Index, name=object)
    array = of_column(state["array"])
    equal("values and labels", len(array), len(state["index"]))
    return pd.Series(array, state["index"], dtype=array.dtype, name=state["name"])


def frame(value: Any) -> dict[str, Any]:
    """A DataFrame."""
    columns = [column(value.iloc[:, j].array) for j in range(value.shape[1])]
    return {"columns": value.columns, "index": value.index, "arrays": columns}


def of_frame(state: dict[str, Any]) -> Frame:
    """Return the DataFrame that `frame` described."""
    checked(state, columns=pd.Index, index=pd.Index, arrays=list[dict[str, object]])
    arrays = {j: of_column(one) for j, one in enumerate(state["arrays"])}
    equal("columns", len(arrays), len(state["columns"]))
    equal("rows", len(state["index"]), *map(len, arrays.values()))
    out = pd.DataFrame(arrays, index=state["index"])
    out.columns = state["columns"]
    return out


def matrix(value: Any) -> dict[str, Any]:
    """A sparse array by rows or by columns."""
    return {"format": value.format, "shape": list(value.shape), "data": value.data,
            "indices": value.indices, "indptr": value.indptr}  # fmt: skip


def of_matrix(state: dict[str, Any]) -> Sparse:
    """Return the sparse array that `matrix` described."""
    checked(state, format=str, shape=list[COUNT], data=ARRAY, indices=ARRAY, indptr=ARRAY)
    kind = {"csr": sparse.csr_array, "csc": sparse.csc_array}[state["format"]]
    made = kind((state["data"], state["indices"], state["indptr"]), shape=tuple(state["shape"]))
    made.check_format(full_check=True)  # compiled code takes its indices as they are
    return made


def cubic(value: Any) -> dict[str, Any]:
    """A spline by the coefficients of its pieces."""
    return {"c": value.c, "x": value.x, "extrapolate": value.extrapolate, "axis": value.axis}


def of_cubic(state: dict[str, Any]) -> Any:
    """Return the spline that `cubic` described."""
    from scipy.interpolate import CubicSpline, PPoly  # only here: they take long to import

    checked(state, c=ARRAY, x=ARRAY, extrapolate=bool | str, axis=Annotated[int, (0, 0)])
    PPoly(
        *(state[key] for key in ("c", "x", "extrapolate"))
    )  # which checks what compiled code needs
    return CubicSpline.construct_fast(state["c"], state["x"], state["extrapolate"], state["axis"])


def b_spline(value: Any) -> dict[str, Any]:
    """A spline by the coefficients of its basis."""
    return {"t": value.t, "c": value.c, "k": int(value.k), "extrapolate": value.extrapolate,
            "axis": value.axis}  # fmt: skip


def of_b_spline(state: dict[str, Any]) -> Any:
    """Return the spline that `b_spline` described."""
    from scipy.interpolate import BSpline  # only here: it takes long to import

    checked(
        state,
        t=ARRAY,
        c=ARRAY,
        k=Annotated[int, (0, 10)],
        extrapolate=bool | str,
        axis=Annotated[int, (0, 0)],
    )
    BSpline(*(state[key] for key in ("t", "c", "k", "extrapolate")))
    return BSpline.construct_fast(*(state[key] for key in ("t", "c", "k", "extrapolate", "axis")))


def attributes(*names: str) -> Callable[[Any], dict[str, Any]]:
    """The function that takes some attributes of a value."""
    return lambda value: {name: getattr(value, name) for name in names}


def of_text(cls: Any) -> tuple[Callable[[Any], dict[str, Any]], Callable[[dict[str, Any]], Any]]:
    """The pair of functions for values that are text in ISO 8601."""
    return lambda value: {"text": value.isoformat()}, lambda state: cls(
        checked(state, text=str)["text"]
    )


def of_seconds(state: dict[str, Any]) -> Any:
    """A length of time."""
    checked(state, days=int, seconds=int, microseconds=int)
    return datetime.timedelta(state["days"], state["seconds"], state["microseconds"])


def of_span(cls: Any) -> Callable[[dict[str, Any]], Any]:
    """The function that makes a slice or a range."""

    def made(state: dict[str, Any]) -> Any:
        ends = Annotated[int, (-(2**53), 2**53)]
        checked(state, start=ends | None, stop=ends | None, step=ends | None)
        return cls(state["start"], state["stop"], state["step"])

    return made


def of_several(cls: Any) -> Callable[[dict[str, Any]], Any]:
    """The function that makes a set of a list, whose values are in the file one by one."""
    return lambda state: cls(checked(state, of=list)["of"])


def of_interval(state: dict[str, Any]) -> Any:
    """An interval of pandas."""
    return pd.Interval(**checked(state, left=object, right=object, closed=str))


def of_complex(state: dict[str, Any]) -> complex:
    """A complex number."""
    return complex(**checked(state, real=float, imag=float))


def of_bytes(state: dict[str, Any]) -> bytes:
    """Bytes."""
    return checked(state, bytes=ARRAY)["bytes"].astype(np.uint8, casting="safe").tobytes()


def imported_later(module: str, name: str) -> Any:
    """Return a type whose instances are those of a class of a module, which is not imported for
    it: without the module there is none.
    """

    class Kind(type):
        """The type of that type."""

        def __instancecheck__(cls, value: Any) -> bool:
            found = getattr(sys.modules.get(module), name, ())
            return isinstance(value, found)

    return Kind(name, (), {})


NOTHING = {"NA": pd.NA, "NaT": pd.NaT}
# name in the file: (class, its plain state, the value of a state); subclasses before classes
KINDS = {
    "scalar": (np.generic, scalar, of_scalar),
    "type": (np.dtype, lambda v: {"type": v.str}, lambda state: of_type(checked(state, type=TYPE))),
    "objects": (np.ndarray, objects, of_objects),
    "index": (pd.Index, index, of_index),
    "series": (pd.Series, series, of_series),
    "frame": (pd.DataFrame, frame, of_frame),
    "column": (pd.api.extensions.ExtensionArray, column, of_column),
    "interval": (pd.Interval, attributes("left", "right", "closed"), of_interval),
    "timestamp": (pd.Timestamp, *of_text(pd.Timestamp)),
    "length": (pd.Timedelta, *of_text(pd.Timedelta)),
    "datetime": (datetime.datetime, *of_text(datetime.datetime.fromisoformat)),
    "date": (datetime.date, *of_text(datetime.date.fromisoformat)),
    "timedelta": (datetime.timedelta, attributes("days", "seconds", "microseconds"), of_seconds),
    "sparse": (sparse.csr_array | sparse.csc_array, matrix, of_matrix),
    "cubic": (imported_later("scipy.interpolate", "CubicSpline"), cubic, of_cubic),
    "spline": (imported_later("scipy.interpolate", "BSpline"), b_spline, of_b_spline),
    "slice": (slice, attributes("start", "stop", "step"), of_span(slice)),
    "range": (range, attributes("start", "stop", "step"), of_span(range)),
    "complex": (complex, attributes("real", "imag"), of_complex),
    "bytes": (bytes | bytearray, lambda value: {"bytes": np.frombuffer(value, np.uint8)}, of_bytes),
    "set": (set, lambda value: {"of": list(value)}, of_several(set)),
    "frozenset": (frozenset, lambda value: {"of": list(value)}, of_several(frozenset)),
}  # fmt: skip
