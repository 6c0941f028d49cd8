"""When it is worth it to integrate the levels of a factor out: counted work of a step."""

from sgmc.fit.tolerance import SMALLEST_BATCH
from sgmc.fit.work import CURVATURE
from sgmc.models.mixed.rules import scheme_of
from sgmc.models.regression import coordinates

NODE = 3e-9  # seconds of a row at a node, as those of `sgmc.fit.work`


def worth_it(rows, parameters, levels):
    """Whether levels are integrated out: where a matrix of all parameters is too large, or a step
    on it costs more than one with the nodes of a mini-batch of levels.

    Parameters
    ----------
    rows, parameters : int
    levels : int
        Those that occur.
    """
    if parameters > coordinates.LONGEST_PULLED:
        return True
    whole = parameters**2 * CURVATURE
    return whole > SMALLEST_BATCH * rows / max(levels, 1) * scheme_of(1).first * NODE
