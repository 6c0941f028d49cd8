"""Arrays of numbers from what users pass, or a DataError that names it."""
import numpy as np

from sgmc.errors import DataError


def numeric(name, values):
    """A float array from array_like; DataError for what is not numbers, with the column where it is a frame's."""
    if values is None:
        raise DataError(f"{name} is None; it must hold numbers")
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DataError(f"{name} has masked values; drop or fill them first")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} is no array of numbers: {str(error).split('. ')[0]}") from error
    if array.dtype.kind not in "fiub":
        if array.ndim == 2 and hasattr(values, "iloc"):
            labels = enumerate(values.columns)
            return np.column_stack([numeric(f"{name}: column {label!r}", values.iloc[:, j]) for j, label in labels])
        array = from_objects(name, array)
    return array if array.dtype in (np.float64, np.float32) and array.dtype.isnative else array.astype(float)


def from_objects(name, array):
    """Floats from Python numbers, NaN for whatever pandas calls missing; text is not read as numbers."""
    import pandas as pd

    types = {type(value) for value in array.flat} if array.dtype.kind == "O" else set()
    if types and not any(issubclass(kind, (str, bytes)) for kind in types):
        try:
            return np.where(pd.isna(array), np.nan, array).astype(float)
        except (TypeError, ValueError, OverflowError):
            pass
    held = " and ".join(sorted(kind.__name__ for kind in types)) or ("text" if array.dtype.kind in "US" else array.dtype)
    hint = "use a formula for text and categories" if array.dtype.kind in "US" or str in types else "convert it first"
    raise DataError(f"{name} must hold numbers, it holds {held}; {hint}")


def vector(name, values):
    """A finite float64 vector."""
    array = numeric(name, values).astype(float, copy=False)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{name} has shape {array.shape}; it must be one number a row")
    if not np.isfinite(array).all():
        raise DataError(f"{name} has missing or infinite values; drop those rows first")
    return array


def check_index(**objects):
    """Refuse pandas objects whose indices differ: rows would be paired by position against the labels."""
    labelled = {name: one.index for name, one in objects.items() if hasattr(getattr(one, "index", None), "equals")}
    first = next(iter(labelled), None)
    for name, index in labelled.items():
        if not index.equals(labelled[first]):
            raise DataError(f"{first} and {name} have different indices; align them first, or pass {name}.to_numpy()")
