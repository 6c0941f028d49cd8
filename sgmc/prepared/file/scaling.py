"""What autoscaled priors are divided by, for files of releases that did not keep it."""

import numpy as np

from sgmc.arguments.data.tables import CHUNK_ROWS, chunk_rows
from sgmc.core.system import deadline
from sgmc.formula.designs.spreads import ColumnScaling, Numbers

ROUNDING_OF_FLOAT32 = 1e-6  # of numbers that a mean was taken off, in float32


def of_file(table):
    """Return the `ColumnScaling` of a prepared table, by a pass over its design.

    The numbers of a product are read where the design has them for all levels, as that of a term
    alone; else their product is one number.
    """
    members, alone = table.spec.numbers
    found = table.spec.readings
    readings = {part[0]: row for part, row in found.items() if len(part) == 1}
    for j, part in enumerate(members):
        if not all(one in readings for one in part):
            members[j] = (part,)
            readings[part] = found.get(part, np.eye(len(members))[j])
    numbers = Numbers(members, alone)
    spreads, step = numbers.unseen(), chunk_rows(len(members), CHUNK_ROWS)
    for start in range(0, table.n, step):
        deadline.check()
        wanted = numbers.wanted(spreads)
        if not len(wanted):
            break
        span = slice(start, start + step)
        rows = np.column_stack([readings[numbers.names[i]] for i in wanted])
        values = table.X[span] @ rows + table.shift @ rows
        whole = np.round(values)
        values = np.where(np.abs(values - whole) <= ROUNDING_OF_FLOAT32, whole, values)
        weight = None if table.weights is None else table.weights[span]
        spreads = numbers.with_rows(spreads, values, weight)
    return ColumnScaling(numbers, spreads)
