"""Writing the columns of formulas with group terms and smooths to a file, in one go."""

import numpy as np

from sgmc.errors import DataError, warn
from sgmc.formula import left_out_warning
from sgmc.formula.subsets import subset_mask
from sgmc.prepared.kept import NOT_KEPT, KeptColumn
from sgmc.prepared.layout import Writer
from sgmc.prepared.selection import Selection
from sgmc.prepared.workshop import TABLE
from sgmc.prepared.writing import facts_of, pickled


def keep(shop, scan, arguments, passes):
    """Find out what the columns hold, and write them.

    Parameters
    ----------
    shop : Workshop
    scan : Scan
    arguments : dict
        As `SealedTable.arguments`.
    passes : Passes
    """
    source, names = scan.source, needed(scan)
    selection = Selection(scan, names, {}, scan.subset, response=False)
    integers = Integers(names)
    scan.watch = lambda chunks: integers.watch(passes.chunks(chunks))
    facts = scan.learn(selection, names, complete=False)
    left_out = {}
    if scan.parsed.has_dot:
        left_out = {name: facts.columns[name].reason_to_leave_out() for name in names}
        left_out = {k: v for k, v in left_out.items() if facts.columns[k].kind in NOT_KEPT}
    if left_out:
        warn(left_out_warning(left_out))
    kept = [
        KeptColumn(facts.columns[name], k, integers.whole[name])
        for k, name in enumerate(names)
        if name not in left_out
    ]
    recipe = pickled({"columns": kept})
    arrays = {"recipe": (np.uint8, (len(recipe),))}
    arrays |= {one.section: (one.dtype, (facts.used,)) for one in kept}
    with open(shop.place(TABLE), "wb+") as file:
        writer = Writer(file, arrays)
        writer.append("recipe", np.frombuffer(recipe, np.uint8))
        seen = 0
        for frame in source.chunks(columns=selection.names(source.columns)):
            use = slice(None) if scan.subset is None else subset_mask(scan.subset, frame)
            for one in kept:
                writer.append(one.section, one.coded(frame[one.name][use]))
            seen += len(frame)
            passes.spread(seen, facts.rows)
        if seen != facts.rows:
            raise DataError(
                f"the source has changed while it was read: {seen} rows now, {facts.rows} before"
            )
        writer.seal(
            facts_of(
                scan.parsed.formula,
                kind="columns",
                n=facts.used,
                rows=facts.used,
                compressed=False,
                columns=source.columns,
                dtype=np.float64,
                seed=shop.made_of["seed"],
                dropped=0,
                left_out=left_out,
                arguments=arguments,
            )
        )


def needed(scan):
    """Columns of the source that a formula with all its terms, and the arguments, need."""
    parsed, names = scan.parsed, scan.source.columns
    if parsed.has_dot:
        return list(names)
    code = [parsed.response, parsed.predictors, *(bar.effects for bar in parsed.bars)]
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
