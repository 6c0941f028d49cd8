"""What groups cannot tell, in words: warnings before anything is sampled."""

import numpy as np

from sgmc.errors import GroupsWarning

SHARE_OF_GROUPS = 0.9  # share of groups from which a warning is due
AS_GOOD = 3.0  # nats: where the density at zero is at most so far below the mode's


def concerns_of(rows, effects, family):
    """Warnings about a table with groups, a list.

    Parameters
    ----------
    rows : GroupedRows
    effects : Effects
    family : Family
    """
    return [
        *single_rows(rows, effects),
        *single_outcomes(rows, effects, family),
        *between_groups(rows, effects),
    ]


def single_rows(rows, effects):
    """A warning, in a list, where most groups have one row."""
    alone = int((np.diff(rows.starts) == 1).sum())
    if alone <= SHARE_OF_GROUPS * len(rows.level) or rows.subgroups is not None:
        return []
    return [
        GroupsWarning(
            f"{alone} of {len(rows.level)} levels of {effects.factor} have a single row: their "
            "effects are hardly told from what rows have by themselves.",
            f"Leave the group term out, or read {effects.sds[0]} as its prior's.",
        )
    ]


def single_outcomes(rows, effects, family):
    """A warning, in a list, where the outcomes of most groups are all 0 or all 1."""
    if family.outcome != "binary":
        return []
    table = rows.table
    share = table.y if table.trials is None else table.y / np.maximum(table.trials, 1)
    least = np.minimum.reduceat(share, rows.starts[:-1])
    most = np.maximum.reduceat(share, rows.starts[:-1])
    alike = int(((most == 0) | (least == 1)).sum())
    if alike <= SHARE_OF_GROUPS * len(rows.level):
        return []
    return [
        GroupsWarning(
            f"the outcomes of {alike} of {len(rows.level)} levels of {effects.factor} are all "
            "alike: how far their effects are from zero is said by few levels, and by the prior.",
            f"Give {effects.sds[0]} a prior that you believe in.",
        )
    ]


def between_groups(rows, effects):
    """A warning for each covariate of effects that is the same in all rows of each group."""
    found, q = [], effects.outer.q
    for j, column in enumerate(effects.columns[:q]):
        Z = rows.Z[:, j]
        same = np.maximum.reduceat(Z, rows.starts[:-1]) == np.minimum.reduceat(Z, rows.starts[:-1])
        if column != "1" and same.all():
            found.append(
                GroupsWarning(
                    f"{column} is the same in all rows of each level of {effects.factor}: its "
                    "effects vary with nothing but the levels' own.",
                    f"Take it out of the group term, and leave {column} among the predictors.",
                )
            )
    return found


def near_zero(log_density, theta, effects, first):
    """Numbers of the effects whose sds may be zero.

    Parameters
    ----------
    log_density : function of array (dim,)
    theta : array (dim,)
        The mode.
    effects : Effects
    first : int
        Where the coordinates of sds begin.
    """
    top, near = log_density(theta), []
    for j in range(len(effects.sds)):
        at = theta.copy()
        at[first + j] = 0.0
        if top - log_density(at) < AS_GOOD:
            near.append(j)
    return near


def undecided(near, effects):
    """A warning, in a list, where sds of some effects may be zero."""
    if not near:
        return []
    names = ", ".join(effects.sds[j] for j in near)
    return [
        GroupsWarning(
            f"{names} may be zero: the rows hardly tell that levels differ.",
            "Report intervals, not means, and compare with a fit without the group term.",
        )
    ]
