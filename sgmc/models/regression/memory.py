"""The memory that the fit of a regression needs at its peak, from shapes and types alone.

A fit has six places at which memory peaks: while the table is written, while the minimum of a
check loss is searched, while the leverage of its rows is computed, while scores at its draws are,
while its draws are checked, and when columns are copied for effects.
Constants are counts of arrays, of the size that is named, which live at that place;
`benchmarks/limits.py` measures them.

What lies in a file does not count: the system keeps of it what there is room for.
"""

import numpy as np

from sgmc.arguments.data.tables import CHUNK_ROWS, chunk_rows
from sgmc.arguments.declared.keywords import DRAWS_BY_DEFAULT
from sgmc.coordinates.priors.densities import LONGEST_PULLED
from sgmc.core.system import storage
from sgmc.core.system.memory import MB, Forecast, available
from sgmc.diagnostics.scores.implied import DRAWS_PER_DIMENSION
from sgmc.models.regression.rows.prepare import SHUFFLED_ROWS, stays
from sgmc.results.checks.scores.stein import MAX_QUADRATIC_DRAWS
from sgmc.results.effects.kept import copied_bytes

FIXED = 3 * MB  # buffers and modules that are loaded by a fit
LOADED = 4 * MB  # the same, for what follows the sampling
CHUNKS = {True: 4, False: 2}  # tables of a chunk of rows: from formulas, and from arrays
BUILDING_ROWS = 4  # vectors of a number a row: two permutations, outcomes and their moments
MATRICES = 25  # d x d, of curvature, eigenvectors and noise
COPIES, COPIES_SCORED = 2.5, 4  # copies of all draws; and of those with scores, which are few
OUTCOMES = 1.5  # vectors of a number a row: outcomes in the order of the table, and that order
WORKING = 20  # vectors of a number a row: steps towards the minimum of a check loss
WORKING_KEPT = 8  # the same: what each kernel has of a row, and the table
STRATA = 3  # vectors of a number a row: labels, rows by stratum, and their weights
SPARSE = 4.4  # copies of a sparse table while it is sorted
MANY_COLUMNS = 20  # of a term from which on it may be to blame
# numbers per row of schemes and estimators: shared by the chains, and in each of them
KEEPING = {
    "uniform": (0, 1),
    "symmetric": (0, 1),
    "stratified": (3, 1),
    "preferential": (6, 0),
    "saga": (1, 1),
}
BOUNDED = 6  # numbers per row of samplers with bounds of rates
KEEPS = {
    "uniform": "an order of the rows in each chain; use subsample='block' or 'replacement'",
    "symmetric": "an order of the rows in each chain; use subsample='block' or 'replacement'",
    "stratified": "lists of the rows of each stratum; use subsample='block' or 'replacement'",
    "preferential": "probabilities of the rows; use subsample='block' or 'replacement'",
    "saga": "scores of the rows in each chain; use gradient='taylor' or 'cv'",
}


def forecast(data, family, settings, precondition):
    """The `Forecast` of a fit.

    Parameters
    ----------
    data : RegressionData
    family : Family
    settings : Settings
    precondition : {"dense", "diag", None}
    """
    d, row = len(data.parameter_names(family)), 8.0 * data.n
    width = max(len(data.equations), 1) + len(family.auxiliary)
    kept = 0.0 if stays(data, settings, precondition) else design_bytes(data, settings)
    draws = 8.0 * settings.chains * settings.draws * d
    warmup = 8.0 * settings.chains * (settings.positions - settings.draws) * d
    always = {"design": kept, "modules and buffers": FIXED}
    late = {"design": kept, "modules and buffers": FIXED + LOADED}
    columns = (data.trials, data.offset, data.weight, data.strata, data.se)
    beside = sum(v is not None for v in columns)
    X = data.source if data.prepared is None else data.prepared.X
    mapped = storage.mapping(X) is not None
    read = 0.0 if isinstance(data.source, np.ndarray) else data.y.itemsize / 8
    beside += STRATA * (settings.subsample == "stratified" and not mapped)
    own = 0.0 if data.prepared is not None else OUTCOMES + read + beside
    own += WORKING_KEPT * family.working
    expanded = 0 if storage.is_large(X, data.n, 2 * width + width**2) else 2 * width + width**2
    vectors = {"outcomes, order and control variates": (own + expanded) * row}
    if mapped:
        vectors |= kept_per_row(settings, width, row)
    else:
        vectors["order of rows, a chain"] = (
            settings.chains * row * (settings.subsample in ("uniform", "symmetric"))
        )
    together = 8.0 * min(data.n, storage.SPAN) if storage.is_large(X, data.n, 2 * width) else row
    matrices = {"matrices of the curvature": MATRICES * 8.0 * d**2}
    few = min(settings.chains * settings.draws, max(MAX_QUADRATIC_DRAWS, DRAWS_PER_DIMENSION * d))
    moments = {
        "building the design": {
            **always,
            "outcomes and order": 0.0 if not own else (BUILDING_ROWS + beside) * row,
            "chunks and copies": building(data, kept),
        },
        "leverage of the rows": {
            **always,
            **vectors,
            "leverage of the rows": (1 + width) * together,
            **matrices,
        },
        "minimum of the check loss": {
            **always,
            "outcomes and order": own * row,
            "minimum of the check loss": WORKING * row if family.working else 0.0,
        },
        "scores of the draws": {
            **late,
            **vectors,
            **matrices,
            "draws": draws + COPIES_SCORED * 8.0 * few * d,
            "warmup": warmup,
        },
        "checks of the draws": {
            **late,
            "outcomes and order": (own + min(expanded, width)) * row,
            **matrices,
            "draws": COPIES * draws + COPIES_SCORED * 8.0 * few * d,
            "warmup": COPIES * warmup,
        },
    }
    columns = copied_bytes(data)
    if columns:  # after all else, while the fit is there
        beside = {"outcomes and order": own * row, "draws": draws, "warmup": warmup}
        moments["copies for effects"] = {**late, **beside, "columns for effects": columns}
    parts = max(moments.values(), key=lambda one: sum(one.values()))
    parts = {name: size for name, size in parts.items() if size}
    return Forecast(parts, blame(data, parts, settings), available())


def kept_per_row(settings, width, row):
    """Parts of what schemes, estimators and samplers keep of each row of a table in a file, given
    the bytes of a number per row.
    """
    scheme, sampler = settings.subsample, settings.sampler
    shared, each = KEEPING.get(scheme, (0, 0))
    parts = {scheme: (shared + each * settings.chains) * row}
    if settings.gradient == "saga":
        parts["saga"] = width * (1 + settings.chains) * row
    if sampler is not None and sampler.needs_bounds:
        parts["bounds of rates"] = BOUNDED * row
    return parts


def design_bytes(data, settings):
    """Bytes of the table that a fit makes: as its source tells, or a number a cell."""
    if data.sparse is not None:
        return stored(data.sparse)
    own = getattr(data.source, "design_bytes", None)
    return own(settings.dtype) if own else float(data.n) * data.d * settings.dtype.itemsize


def stored(X):
    """Bytes of a CSR array."""
    return float(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def building(data, kept):
    """Bytes beside the table while it is written."""
    if data.sparse is not None:
        return (SPARSE - 1) * kept
    read = not isinstance(data.source, np.ndarray)
    if data.coded:
        return CHUNKS[read] * kept * min(1.0, CHUNK_ROWS / data.n)
    if data.prepared is not None:
        return 0.0
    rows = min(data.n, chunk_rows(data.d, CHUNK_ROWS if read else SHUFFLED_ROWS))
    return CHUNKS[read] * 8.0 * rows * data.d


def blame(data, parts, settings):
    """What makes a fit as large as it is, and what to do: a clause."""
    largest = max(parts, key=parts.get)
    if largest in KEEPS:
        return f"{largest!r} keeps {KEEPS[largest]}"
    if largest == "bounds of rates":
        return "samplers in continuous time keep bounds of each row; use sampler='auto'"
    term = max(data.terms, key=lambda name: width_of(data.terms[name]))
    wide = width_of(data.terms[term])
    if largest == "draws" and (settings.draws > DRAWS_BY_DEFAULT or wide < MANY_COLUMNS):
        return (
            f"draws={settings.draws} in {settings.chains} chains are the largest part; keep fewer "
            "and thin more"
        )
    if wide >= MANY_COLUMNS and wide > data.d / 2:
        advice = "join its rare levels, or leave it out"
        if data.coded and data.d > LONGEST_PULLED:
            advice = (
                f"give it a normal prior (prior={{{term!r}: sgmc.normal(0, 1)}}), under which its "
                f"coefficients can be integrated out, {advice}"
            )
        return f"{term!r} has {wide} of the {data.d} columns of the design; {advice}"
    return (
        f"the table has {data.n} rows and {data.d} columns; use dtype='float32', fewer columns, or "
        "a sample of the rows"
    )


def width_of(columns):
    """Number of columns of a slice."""
    return columns.stop - columns.start
