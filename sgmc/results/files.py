"""Results in a file, without their data: arrays and plain values, which execute nothing when they
are read.
"""

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sgmc.arguments.files import writable
from sgmc.arguments.messages import value_text
from sgmc.arguments.types import Array, FilePath
from sgmc.core.system.files import Damaged, read_sealed, write_sealed
from sgmc.core.system.interrupts import handled
from sgmc.errors import ArgumentError
from sgmc.saved import LoadPermissions, Unreadable, plain_tree, restored
from sgmc.saved.classes import class_of
from sgmc.version import __version__

if TYPE_CHECKING:
    from sgmc.results.results import Results


KIND, FORMAT = b"sgmc results", 9  # first line of a file; number of the format of its tree
PICKLED = 8  # formats up to it had a pickle in them


def save(results: "Results", path: Any) -> None:
    """Write results to a file; see `Results.save`."""
    path = writable("path", path, none=False)
    with handled():
        tree = plain_tree(results, "these results")
        write_sealed(path, KIND, {"format": FORMAT, "version": __version__, "results": tree})


def load(
    path: FilePath, *, functions: Mapping[str, Any] | None = None, trust_formulas: bool = False
) -> "Results":
    """Read results written by `Results.save`.

    Nothing in the file is executed: it has arrays, plain values and names of classes and functions,
    each looked up in a fixed list.  Predictions of new rows evaluate the formula; its code may
    therefore have only columns, arithmetic and listed functions (docs/security.md), and functions
    of your own only where you give them here.

    Parameters
    ----------
    path : str or path
    functions : dict, optional
        Functions, modules and classes of your own that the results use, by the names that they
        have in the formula: ``{"mine": mine}``.  ``{"mine": None}`` opens the file without; what
        needs the function then raises FormulaError.
    trust_formulas : bool, default False
        Whether the formula may have any code, such as methods of columns: for your own files.

    Returns
    -------
    Results
        Of the kind that was saved.

    Raises
    ------
    ArgumentError
        If the file is not one of ours, damaged, or of another format; if it needs a function that
        is not given, or its formula has code that is not allowed.

    Examples
    --------
    >>> res.save("fit.sgmc")
    >>> sgmc.load("fit.sgmc").predict(new)
    """
    if isinstance(path, bool) or not isinstance(path, (str, bytes, os.PathLike)):
        raise ArgumentError(f"load needs the path of a file, not {value_text(path)}")
    refused = f"{path} is not a file written by Results.save, or it is damaged"
    trust = LoadPermissions({} if functions is None else functions, trust_formulas)
    try:
        tree = read_sealed(path, KIND)
        check_format(path, tree)
        found = restored(tree["results"], trust, "sgmc.load(path")
        if not isinstance(found, class_of("Results")):
            raise Damaged(f"holds a {type(found).__name__}, and no results")
        if not is_whole(found):
            raise Damaged("has draws that are not those of its parameters")
    except Damaged as error:
        raise ArgumentError(f"{refused}: it {error}") from error
    except (ArgumentError, OSError):
        raise
    except Unreadable as error:
        raise ArgumentError(
            f"{path} was saved by sgmc {tree['version']}, and this is sgmc {__version__}: {error}; "
            "open it with that release, or fit again"
        ) from error
    except Exception as error:  # whole, but no tree of ours
        raise ArgumentError(f"{refused} ({type(error).__name__}: {error})") from error
    return found


def is_whole(results: "Results") -> bool:
    """Whether draws, names, weights and diagnostics of results from a file belong together: what
    is compiled takes their lengths as they are.
    """
    draws, weights, width = results.draws, results.weights, len(results.names)
    alike = [results._ess, results._tails, *([] if results._rhat is None else [results._rhat])]
    shapes = getattr(results.model, "shapes", None)
    kept = getattr(getattr(results, "_levels", None), "kept", None)  # draws of effects
    every = shapes is not None and getattr(results, "_moments", None) is None  # draws of all
    return (
        draws.dtype.kind == "f"
        and draws.ndim == 3
        and min(draws.shape) > 0
        and draws.shape[2] == width
        and all(one.shape == (width,) and one.dtype.kind == "f" for one in alike)
        and columns_first(results)
        and (kept is None or are_places(kept, draws.shape[0] * draws.shape[1]))
        and has_head(results.header)
        and all(are_places(one, width) for one in results._untold)
        and (not every or width == sum(math.prod(shape) for shape in shapes.values()))
        and (weights is None or weights.shape == draws.shape[:2][-weights.ndim :])
    )


def columns_first(results: "Results") -> bool:
    """Whether the parameters of one linear predictor begin with the columns of its design."""
    model = results.model
    # several equations, thresholds and second parts have names of their own; other models no design
    if getattr(model, "equations", None) != 1 or model.family.report or model.family.parts:
        return True
    names = model.exog_names
    return names == results.names[: len(names)] and (
        model.spec is None or names == model.spec.exog_names
    )


def has_head(header: Any) -> bool:
    """Whether what a summary prints above and below its tables is there."""
    if [type(one) for one in header] != 4 * [list]:
        return False
    left, right, lines, details = header
    pairs = all(isinstance(one, tuple) and len(one) == 2 for one in (*left, *right))
    texts = all(isinstance(one, str) for one in (*lines, *details))
    return pairs and texts and len(lines) > 0 and {"Model", "Time (s)"} <= {*dict([*left, *right])}


def are_places(values: Array, width: int) -> bool:
    """Whether an array has numbers of parameters, or of draws: from 0 to below `width`."""
    whole = values.ndim == 1 and values.dtype.kind == "i"
    return whole and ((values >= 0) & (values < width)).all()


def check_format(path: Any, tree: dict[str, Any]) -> None:
    """ArgumentError for a file of another format, with the way on."""
    number = tree["format"]
    if number == FORMAT:
        return
    if isinstance(number, int) and number <= PICKLED:
        raise ArgumentError(
            f"{path} has format {number}, of a development version that saved results as a pickle, "
            "which can execute code when it is opened; it is not read any more. Fit again and "
            "save, or open it with that version and write what you need by to_frame() or to_arviz()"
        )
    raise ArgumentError(
        f"{path} has format {number}, of sgmc {tree.get('version', 'of another version')}; this is "
        f"sgmc {__version__}, which reads format {FORMAT}: install the newer release"
    )
