"""Documents as sparse counts of words."""

import numpy as np
from scipy import sparse

from sgmc.arguments.data.arrays import numeric
from sgmc.arguments.data.tables import table
from sgmc.arguments.data.values import counts as as_counts
from sgmc.arguments.names import repeated, texts
from sgmc.errors import ArgumentError, DataError

JUDGED_DOCUMENTS = 20  # of the fit, whose words are predicted where none are held out
HALVES = 20120117  # seed of the tokens that are held out, the same ones for every model


def documents(name, given, words=None):
    """A CSR array of counts, each word of a document once, of a sparse array, a table,
    or a list of (ids, counts).

    Parameters
    ----------
    name : str
    given : sparse array, array_like or list
    words : int, optional
        Words of the vocabulary.

    Raises
    ------
    DataError
        Naming what is no count, or no word.
    """
    if is_listed(given):
        given = from_pairs(name, given, words)
    X = table(name, given)
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(
            f"{name} has shape {X.shape}; it must be documents x words, or a list of (ids, counts)"
        )
    X = sparse.csr_array(X, dtype=float)
    as_counts(name, X.data)
    if words is not None and X.shape[1] != words:
        raise DataError(f"{name} has {X.shape[1]} words; there are {words}")
    X = X.astype(np.int64, copy=X.data is getattr(given, "data", None))
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def is_listed(given):
    """Whether documents are a list of pairs."""
    pair = given[0] if isinstance(given, (list, tuple)) and len(given) else None
    return isinstance(pair, (list, tuple)) and len(pair) == 2 and np.ndim(pair[0]) == 1


def from_pairs(name, pairs, words):
    """A CSR array of (ids, counts), document by document."""
    columns = [
        (numeric(f"{name}[{i}]", ids), numeric(f"{name}[{i}]", counts))
        for i, (ids, counts) in enumerate(pairs)
    ]
    for i, (ids, counts) in enumerate(columns):
        if (
            len(ids) != len(counts)
            or not ((ids == np.round(ids)) & (ids >= 0)).all()
            or words
            and not (ids < words).all()
        ):
            raise DataError(
                f"{name}[{i}] must be as many ids as counts, ids whole numbers from 0"
                + (f" to {words - 1}" if words else "")
            )
    ids = np.concatenate([ids for ids, _ in columns]).astype(np.int64)
    indptr = np.append(0, np.cumsum([len(ids) for ids, _ in columns]))
    width = words or int(ids.max(initial=-1)) + 1
    return sparse.csr_array(
        (np.concatenate([counts for _, counts in columns]), ids, indptr), shape=(len(pairs), width)
    )


def refuse_degenerate(X):
    """Refuse documents without words, and documents of one word alone, which tell no topics."""
    used = np.asarray(X.sum(axis=0)).ravel() > 0
    if used.sum() < 2:
        raise DataError(
            f"counts has {X.shape[1]} words and {X.sum()} tokens of {used.sum()} different words; "
            "topics need at least two words that occur"
        )
    refuse_empty("counts", X)


def refuse_empty(name, X):
    """Refuse documents without words."""
    empty = np.flatnonzero(np.asarray(X.sum(axis=1)).ravel() == 0)
    if len(empty):
        raise DataError(
            f"{name} has {len(empty)} documents without words, first document {empty[0]}; leave "
            f"them out, e.g. {name}[{name}.sum(axis=1) > 0]"
        )


def some_documents(X):
    """JUDGED_DOCUMENTS documents of two tokens or more, evenly spaced; at least one."""
    several = np.flatnonzero(np.asarray(X.sum(axis=1)).ravel() > 1)
    if len(several) > JUDGED_DOCUMENTS:
        several = several[np.linspace(0, len(several) - 1, JUDGED_DOCUMENTS).astype(int)]
    return X[several]


def halves(X):
    """Each document's tokens dealt to two documents, as even as may be: two CSR arrays."""
    rng, first = np.random.default_rng(HALVES), X.copy()
    for a, b in zip(X.indptr[:-1], X.indptr[1:]):
        first.data[a:b] = rng.multivariate_hypergeometric(X.data[a:b], X.data[a:b].sum() // 2)
    second = sparse.csr_array(
        (X.data - first.data, X.indices.copy(), X.indptr.copy()), shape=X.shape
    )
    first.eliminate_zeros()
    second.eliminate_zeros()
    return first, second


def named_words(vocabulary):
    """The words as a list of different texts, or None."""
    if vocabulary is None:
        return None
    wanted = "different words, one for each column of counts"
    words = texts("vocabulary", vocabulary, wanted)
    if twice := repeated(words):
        raise ArgumentError(f"vocabulary must be {wanted}; it repeats {twice}")
    return words
