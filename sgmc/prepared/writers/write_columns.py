"""Writing the columns of formulas whose rows are read into memory to a file, in one go."""

import os
from dataclasses import dataclass

import numpy as np

from sgmc.errors import DataError, warn
from sgmc.formula.subsets import subset_mask
from sgmc.formula.terms import left_out_warning
from sgmc.prepared.file.column_store import NOT_KEPT, StoredColumn
from sgmc.prepared.file.layout import Writer
from sgmc.prepared.file.recipe import kept_arrays
from sgmc.prepared.first_pass.selection import Selection
from sgmc.prepared.writers import shuffle
from sgmc.prepared.writers.staging import TABLE, whole
from sgmc.prepared.writers.writing import facts_of, recipe_bytes


@dataclass(frozen=True)
class Study:
    """What a pass over the columns has found.

    Attributes
    ----------
    kept : list of KeptColumn
    left_out : dict
        Columns that the dot does not stand for -> reason.
    rows, used : int
        Of the source, and of the subset.
    """

    kept: list
    left_out: dict
    rows: int
    used: int


def keep(shop, scan, arguments, passes):
    """Find out what the columns hold, and write them from where the journal is.

    Parameters
    ----------
    shop : StagingDirectory
    scan : Scan
    arguments : dict
        As `SealedTable.arguments`.
    passes : Passes
    """
    study = shop.kept()
    if study is None:
        study = studied(scan, passes)
        shop.keep(study)
    if study.left_out:
        warn(left_out_warning(study.left_out))
    recipe = recipe_bytes({"columns": study.kept})
    arrays = kept_arrays(study.used, study.kept, recipe)
    name = shop.place(TABLE)
    with open(name, "rb+" if os.path.exists(name) else "wb+") as file:
        writer = Writer(file, arrays)
        writer.append("recipe", np.frombuffer(recipe, np.uint8))
        written(writer, shop, scan, study, passes)
        writer.seal(
            facts_of(
                scan.parsed.formula,
                kind="columns",
                n=study.used,
                rows=study.used,
                compressed=False,
                columns=scan.source.columns,
                dtype=np.float64,
                seed=shop.made_of["seed"],
                dropped=0,
                left_out=study.left_out,
                arguments=arguments,
            )
        )


def studied(scan, passes):
    """The `Study` of the columns that a formula needs."""
    names = needed(scan)
    selection = Selection(scan, names, {}, scan.subset, response=False)
    integers = Integers(names)
    scan.watch = lambda chunks: integers.watch(passes.chunks(chunks))
    facts = scan.learn(selection, names, complete=False)
    left_out = {}
    if scan.parsed.has_dot:
        left_out = {
            name: column.reason_to_leave_out()
            for name, column in facts.columns.items()
            if column.kind in NOT_KEPT
        }
    kept = [
        StoredColumn(facts.columns[name], k, integers.whole[name])
        for k, name in enumerate(names)
        if name not in left_out
    ]
    return Study(kept, left_out, facts.rows, facts.used)


def written(writer, shop, scan, study, passes):
    """Append the columns of all chunks that are not in the file yet."""
    state = shop.journal
    start, seen, done = state.get("chunk", 0), state.get("row", 0), state.get("written", 0)
    with whole(shop):
        writer.resume({one.section: done for one in study.kept})
    names = Selection(scan, needed(scan), {}, scan.subset).names(scan.source.columns)
    unwritten = 0
    for number, frame in enumerate(scan.source.chunks(start, names), start + 1):
        use = np.ones(len(frame), bool)
        if scan.subset is not None:
            use = subset_mask(scan.subset, frame)
        for one in study.kept:
            writer.append(one.section, one.coded(frame[one.name][use]))
            unwritten += int(use.sum()) * one.dtype.itemsize
        seen, done = seen + len(frame), done + int(use.sum())
        if unwritten >= shuffle.JOURNAL_BYTES:
            writer.sync()
            shop.write({"chunk": number, "row": seen, "written": done})
            unwritten = 0
        passes.spread(seen, study.rows)
    if seen != study.rows or done != study.used:
        raise DataError(
            f"the source has changed while it was read: {seen} rows now, {study.rows} before"
        )


def needed(scan):
    """Columns of the source that a formula with all its terms, and the arguments, need."""
    parsed, names = scan.parsed, scan.source.columns
    if parsed.has_dot:
        return list(names)
    code = [
        parsed.response,
        parsed.predictors,
        parsed.offset,
        *(bar.effects for bar in parsed.bars),
    ]
    code += [part for one in parsed.smooths for part in (*one.covariates, one.by or "")]
    used = {*parsed.names.inputs(" ".join(code)).values(), *scan.group_columns}
    used |= set(scan.vectors.values())
    return [name for name in names if name in used]


class Integers:
    """Which columns hold nothing but integers.

    Parameters
    ----------
    names : list of str
    """

    def __init__(self, names):
        self.whole = dict.fromkeys(names, True)

    def watch(self, chunks):
        """The chunks as they pass by."""
        for frame in chunks:
            for name in self.whole.keys() & set(frame.columns):
                self.whole[name] &= frame[name].dtype.kind in "iu"
            yield frame
