"""What is in the file of a prepared table, and such a file made of a table in memory."""

import numpy as np

from sgmc.core.random.rng import seed_sequence
from sgmc.core.system.files import packed, replacing
from sgmc.formula.designs.blocks import INTERCEPT
from sgmc.formula.evaluation.allowlist import own
from sgmc.formula.evaluation.safe import SafeFormula
from sgmc.prepared.file.layout import Writer
from sgmc.prepared.file.prepared import Prepared
from sgmc.prepared.file.recipe import arrays_of
from sgmc.prepared.file.schema import VECTORS
from sgmc.prepared.writers.moments import ShiftedMoments
from sgmc.saved import LoadPermissions, plain_tree
from sgmc.version import __version__


def recipe_of(spec, levels, examples):
    """What makes rows of the design of new data, and what the outcomes are, as bytes."""
    return recipe_bytes({"spec": spec, "outcome_levels": levels, "examples": examples})


def recipe_bytes(content):
    """A recipe as bytes, of arrays and plain values, see `sgmc.saved`."""
    return packed({"version": __version__, "content": plain_tree(content, "this formula")})


def functions_of(spec):
    """The user's functions that the expressions of a design call, by name."""
    used = [*spec.factors, *([spec.offset] if spec.offset else [])]
    return own({name: value for factor in used for name, value in factor.functions.items()})


def plain_notes(notes):
    """Warnings as plain lists, see `sealed.notes_of`."""
    return [[one.code, one.message, one.advice] for one in notes]


def facts_of(formula, *, columns, dtype, **beside):
    """Plain facts for the manifest, see `Prepared`."""
    return {
        "formula": str(formula),
        "safe": isinstance(formula, SafeFormula),
        "columns": list(columns),
        "dtype": np.dtype(dtype).str,
        **beside,
    }


def of_table(path, table, examples, *, dtype=np.float64, seed=0, arguments=None):
    """Write a table in memory as a prepared one, and open it.

    Parameters
    ----------
    path : str
    table : sgmc.formula.Table
        Without group terms and smooths.
    examples : pandas.Series
        Distinct values of the response, see `outcome.as_outcome`.
    dtype : numpy.dtype
    seed : int
    arguments : dict, optional
        As `Prepared.arguments`.

    Returns
    -------
    Prepared
    """
    spec, n = table.spec, len(table.rows)
    order = np.random.Generator(np.random.PCG64(seed_sequence(seed, "permutation"))).permutation(n)
    position = np.argsort(order)
    design, shift, (mean, sd) = shuffled(table, position)
    vectors = {name: getattr(table, name) for name in VECTORS if getattr(table, name) is not None}
    recipe = recipe_of(spec, spec.levels, examples)
    parts = {
        "recipe": np.frombuffer(recipe, np.uint8),
        "mean": mean,
        "sd": sd,
        "scale": table.scales(sd, table.weights),
        "shift": shift,
        "y": table.y[order],
        "order": np.asarray(table.rows)[order],
        **{name: values[order] for name, values in vectors.items()},
        **design,
    }
    facts = facts_of(
        spec.formula,
        kind="design",
        columns=table.frame.columns,
        n=n,
        rows=n,
        compressed=False,
        dtype=dtype,
        seed=seed,
        dropped=table.dropped,
        left_out=table.left_out,
        notes=plain_notes(table.notes),
        arguments=arguments or {},
    )
    with replacing(path) as file:
        writer = Writer(file, arrays_of(n, spec, np.dtype(dtype), vectors, recipe))
        for name, rows in parts.items():
            writer.append(name, rows)
        writer.seal(facts)
    return Prepared(path, trust=LoadPermissions(functions_of(spec), formulas=True))


def shuffled(table, position):
    """The design of a table with row i at ``position[i]``, less what is taken off: its parts, what
    that is, and the moments of its columns.
    """
    spec, n = table.spec, len(table.rows)
    if spec.coding is None:
        X = np.empty((n, len(spec.exog_names)))
        table.fill(X, position)
        parts = {"X": X}
        numbers, places = X, np.arange(X.shape[1])
    else:
        coded = table.coded(position, np.dtype(float), whole=True)
        parts = {"numbers": coded.numbers, "codes": coded.codes, "factors": coded.factors}
        numbers, places = coded.numbers, coded.places
    weight = None if table.weights is None else table.weights[np.argsort(position)]
    moments = ShiftedMoments(numbers[0])
    moments.add(numbers - moments.origin, weight)
    mean, sd = moments.result()
    if spec.coding is not None:
        means, sds = coded.moments(weight)
        means[places], sds[places] = mean, sd
        mean, sd = means, sds
    shift = np.zeros(len(mean))
    if spec.has_intercept:
        shift[places] = mean[places]
        shift[spec.exog_names.index(INTERCEPT)] = 0.0
        numbers -= shift[places]
    return parts, shift, (mean, sd)
