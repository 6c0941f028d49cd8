"""The fit of a case, the rows that it is asked for, and the reference beside them."""

import functools
import pickle
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

import sgmc
from sgmc.formula.parts import has_bar

from ..reference.regression import Regression
from .factors import (
    ADDED,
    DATA,
    FAMILIES,
    GROUPED,
    GROUPS,
    LABELS,
    MORE,
    NEW,
    OFFSETS,
    ORDERED,
    SECOND,
    SEVERAL,
    STAGED,
    TERMS,
    WEIGHTS,
    ZEROS,
    Case,
)

KNOTS = 6  # of the smooth
SAMPLED = ("nested", "crossed", "smooth", "walk")  # of which there is no Laplace approximation
DRAWS = dict(seed=1, draws=40, chains=2)
BRIEFLY = dict(warmup=60, thin=1)  # nothing that is compared depends on how well chains mix


@dataclass(frozen=True)
class Made:
    """A case.

    Attributes
    ----------
    case : Case
    results : Results
    reference : Regression
    own : DataFrame
        The rows that results hold.
    effects : list of dict
        Draws of the effects of the levels, as `Regression.eta` takes them.
    rows : DataFrame
        Those that methods are asked for.
    asked : table, array or None
        The same as the product takes them; None for its own.
    beside : dict
        Offsets and exposures of arrays and of new rows.
    """

    case: Case
    results: object
    reference: Regression
    own: pd.DataFrame
    effects: list
    rows: pd.DataFrame
    asked: object
    beside: dict

    @property
    def draws(self):
        """(m, d)."""
        return np.asarray(self.results.flat)

    @property
    def grouped(self):
        """Whether there are effects of levels."""
        return bool(GROUPS[self.case.groups][1])


def formula_of(case):
    """As the product takes it."""
    outcome = FAMILIES[case.family][0]
    return f"{outcome} ~ {TERMS[case.terms][0]}{GROUPS[case.groups][0]}{ADDED[case.added][0]}"


def reference_of(case, table=DATA):
    """The definition of the same regression, without the draws of its smooth."""
    tree = TERMS[case.terms][1]
    if case.groups == "smooth":  # its line
        tree = ("+", tree, ("column", "q"))
    if case.added in OFFSETS:
        tree = ("+", tree, OFFSETS[case.added])
    return Regression(
        case.family,
        tree,
        table,
        FAMILIES[case.family][0],
        **ADDED[case.added][1],
        weights=WEIGHTS[case.weights],
        groups=GROUPS[case.groups][1],
        bare=case.table == "arrays",
        staged=STAGED.get(case.terms),
    )


def inputs_of(case, table=None):
    """Names of the columns beside the formula, or their numbers."""
    found = {**ADDED[case.added][1], "weights": WEIGHTS[case.weights]}
    found = {name: column for name, column in found.items() if column}
    if table is None:
        return found
    return {name: table[column].to_numpy() for name, column in found.items()}


def beside_of(case, rows):
    """What predictions of rows in memory are given besides."""
    return {name: rows[column].to_numpy() for name, column in ADDED[case.added][1].items()}


def as_table(case, table, folder, name):
    """A table as the product is given it."""
    if case.table == "polars":
        import polars as pl

        enums = {
            name: pl.Series(table[name].astype(object), dtype=pl.Enum(table[name].cat.categories))
            for name in table.select_dtypes("category")
        }
        plain = table.drop(columns=list(enums)).reset_index(drop=True)
        return pl.from_pandas(plain).with_columns(**enums)
    if case.table == "dict":
        return {name: np.array(table[name]) if name != "c" else table[name].array for name in table}
    if case.table == "file":
        path = folder / f"{name}.parquet"
        if not path.exists():
            table.reset_index(drop=True).to_parquet(path)
        return str(path)
    return table.copy()


def array_model(case, table):
    """A model of arrays."""
    of = reference_of(case)
    X, y = of.design(table), table[of.outcome].to_numpy()  # ordinal: with a column of ones
    names = [f"b{k}" for k in range(X.shape[1])]
    *_, given, name = FAMILIES[case.family]
    given = given if case.family in (*SECOND, *ORDERED) else {}  # else of the verb alone
    return getattr(sgmc, name)(y, X, names=names, **given, **inputs_of(case, table))


def prepared_formula(case):
    """The formula of a prepared file, which has both parts of one of two designs."""
    given, formula = FAMILIES[case.family][-2], formula_of(case)
    second = [value for value in given.values() if str(value).startswith("~")]
    if second:
        return f"{formula} | {second[0].removeprefix('~')}"
    return f"{formula} | 1" if case.family in ZEROS and not has_bar(formula) else formula


@functools.cache
def fitted(case, folder):
    """Results of a case whose rows are not looked at, before they are saved or pickled."""
    *_, verb, given, _ = FAMILIES[case.family]
    sampled = case.groups in SAMPLED or case.groups in GROUPED and case.family in SEVERAL
    how = dict(DRAWS, **BRIEFLY) if sampled else dict(DRAWS, sampler="laplace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case.table == "arrays":
            results = array_model(case, DATA).fit(**how)
        elif case.table == "prepared":
            path = folder / f"{abs(hash(case))}.sgmc"
            table = sgmc.prepare(prepared_formula(case), DATA, str(path), **inputs_of(case))
            results = getattr(sgmc, verb)(formula_of(case), table, **given, **how)
        else:
            table = as_table(case, DATA, folder, "data")
            results = getattr(sgmc, verb)(
                formula_of(case), table, **inputs_of(case), **given, **how
            )
        if case.life == "resumed":
            return results.resume(draws=20)
        if case.life == "updated":
            more = array_model(case, MORE) if case.table == "arrays" else MORE
            return results.update(more, **how)
        return results


def in_another_place(case, results, folder):
    """Results that were saved and loaded, or pickled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case.life == "pickled":
            return pickle.loads(pickle.dumps(results))
        if case.life == "loaded":
            results.save(path := str(folder / f"{abs(hash(case))}.saved"))
            return sgmc.load(path, trust_formulas=True)
    return results


def with_draws(reference, case, results):
    """The reference with draws of its smooth or walk, and the draws of the effects of levels."""
    if case.groups == "smooth":
        knots = np.quantile(np.unique(DATA.q), np.linspace(0, 1, KNOTS))
        names = ["bee:s(q)", "cat:s(q)"] if case.family == "mnlogit" else [None]
        values = [results.curve(name, at=knots)[1].T for name in names]
        reference = replace(reference, curve=("q", knots, values))
    if case.groups == "walk":
        names = ["bee:rw1(s)", "cat:rw1(s)"] if case.family == "mnlogit" else [None]
        steps = np.unique(DATA.s)
        values = [results.curve(name, at=steps)[1].T for name in names]
        reference = replace(reference, walk=("s", steps, values))
    effects = []
    if GROUPS[case.groups][1]:
        tables = results.ranef()
        for name, one in tables.items() if isinstance(tables, dict) else [(None, tables)]:
            draws = results.ranef_draws(name)
            depth = one.index.nlevels - (draws.shape[2] > 1)  # several effects have a level more
            levels = one.index.droplevel(-1) if depth < one.index.nlevels else one.index
            effects.append(dict(zip(dict.fromkeys(levels), draws.swapaxes(0, 1))))
    return reference, effects


def rows_asked(case, own):
    """The rows of a case as a frame."""
    if case.rows == "of the fit":
        return own
    rows = {"new": NEW, "one": NEW.iloc[[5]], "reordered": DATA.sample(frac=0.3, random_state=1)}
    rows = rows.get(case.rows, NEW).copy()
    if case.rows == "other label type":
        name = LABELS[case.terms]
        other = {"k": float, "f": "category", "c": str}[name]
        rows[name] = rows[name].astype(other)
    if case.rows == "missing":
        rows["x"] = rows.x.where(np.arange(len(rows)) != 2)
        if case.terms in LABELS and case.table != "dict":
            name = LABELS[case.terms]
            rows[name] = rows[name].where(np.arange(len(rows)) != 4)
    if case.rows == "new levels":
        rows["s"] = np.where(np.arange(len(rows)) < 5, rows.s, 99)
    return rows


@functools.cache
def make(case, folder):
    """`Made` of a case."""
    shared = case._replace(
        rows="new", life=case.life if case.life in ("resumed", "updated") else "fit"
    )
    original = fitted(shared, folder)
    reference, effects = with_draws(reference_of(case), case, original)
    own = MORE if case.life == "updated" else DATA
    rows = rows_asked(case, own)
    asked, beside = None, {}
    if case.rows != "of the fit":
        if case.table == "arrays":
            asked = reference.design(rows)
        elif case.table == "file" and case.groups != "none":  # predictions with effects: in memory
            asked = rows
        else:
            asked = as_table(case, rows, folder, f"{case.rows} {case.terms}")
        if not isinstance(asked, str):  # else read from the file
            beside = beside_of(case, rows)
    return Made(
        case,
        in_another_place(case, original, folder),
        reference,
        own,
        effects,
        rows,
        asked,
        beside,
    )
