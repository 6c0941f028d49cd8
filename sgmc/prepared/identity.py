"""What a prepared table is made of, as plain values that can be compared."""

import hashlib
import marshal

from sgmc.prepared.layout import FORMAT
from sgmc.version import SERIES


def made_of(source, parsed, arguments, subset, dtype, seed):
    """What has to be the same for a preparation to go on: plain values by name.

    Parameters
    ----------
    source : Source
    parsed : Parsed
    arguments : dict
        Plain values, see `Prepared.arguments`.
    subset : str, function or None
    dtype : numpy.dtype
    seed : int or None
        None: whatever there is.
    """
    functions = {name: marked(one) for name, one in sorted(parsed.functions.items())}
    if callable(subset):
        functions["subset"] = marked(subset)
    return {
        "source": source.identity,
        "formula": parsed.formula,
        **arguments,
        "functions": functions,
        "dtype": dtype.str,
        "version": [FORMAT, SERIES],
        "seed": seed,
    }


def marked(function):
    """A mark of a function that changes with its code and with what it has taken along."""
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', function)}"
    code = getattr(function, "__code__", None)
    if code is None:
        return name
    taken = [cell.cell_contents for cell in function.__closure__ or ()]
    content = marshal.dumps(code) + repr((taken, function.__defaults__)).encode()
    return f"{name} {hashlib.sha256(content).hexdigest()}"
