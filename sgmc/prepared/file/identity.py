"""What a prepared table is made of, as plain values that can be compared."""

import hashlib
import marshal
import pickle
from types import CodeType, FunctionType, ModuleType

from sgmc.prepared.file.layout import FORMAT
from sgmc.version import SERIES


def made_of(source, parsed, arguments, subset):
    """What has to be the same for a preparation to go on: plain values by name.

    Parameters
    ----------
    source : Source
    parsed : Parsed
    arguments : dict
        Plain values, see `Prepared.arguments`.
    subset : str, function or None
    """
    functions = {name: marked(one) for name, one in sorted(parsed.functions.items())}
    if callable(subset):
        functions["subset"] = marked(subset)
    return {
        "source": source.identity,
        "formula": repr(parsed.formula) if parsed.safe else parsed.formula,
        **arguments,
        "functions": functions,
        "version": [FORMAT, SERIES],
    }


def marked(function, within=()):
    """A mark of a function that changes with its code and with all that this refers to: what it has
    taken along, and globals by their values, functions of the user's among them.
    """
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', function)}"
    code = getattr(function, "__code__", None)
    if code is None or function in within:
        return name
    known = {name: function.__globals__[name] for name in words(code) & {*function.__globals__}}
    taken = [cell.cell_contents for cell in function.__closure__ or ()]
    values = [*taken, *(function.__defaults__ or ()), *(known[name] for name in sorted(known))]
    content = [marshal.dumps(code), *(mark_of(value, (*within, function)) for value in values)]
    return f"{name} {hashlib.sha256(b' '.join(content)).hexdigest()}"


def words(code):
    """The names that code and the functions within it look up."""
    inner = [words(one) for one in code.co_consts if isinstance(one, CodeType)]
    return {*code.co_names}.union(*inner)


def mark_of(value, within):
    """A mark of what a function refers to, as bytes."""
    if isinstance(value, ModuleType):
        return value.__name__.encode()
    if isinstance(value, FunctionType):
        return marked(value, within).encode()
    try:
        return pickle.dumps(value)
    except Exception:  # whatever pickle raises: another process has another mark
        return repr(value).encode()
