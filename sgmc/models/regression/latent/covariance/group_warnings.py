"""What groups cannot tell, in words: warnings and refusals before anything is sampled."""

import numpy as np

from sgmc.errors import DataError, GroupsWarning
from sgmc.models.regression.latent.covariance.group_effects import INTERCEPT

SHARE_OF_GROUPS = 0.9  # share of groups from which a warning is due
FEW_LEVELS = 4
OF_LABELS = ("binary", "category", "ordered")  # outcomes whose probabilities fix their spread
AS_GOOD = 3.0  # nats: where the density at zero is at most so far below the mode's


def warnings_of(rows, effects, family):
    """Warnings about a table with groups, a list.

    Parameters
    ----------
    rows : GroupedRows
    effects : Effects
    family : Family
    """
    return [
        *few_levels(rows, effects),
        *single_rows(rows, effects, family),
        *single_outcomes(rows, effects, family),
        *between_groups(rows, effects),
    ]


def refuse_single_rows(data, family, terms, levels):
    """DataError where each level of a factor has one row, whose outcome is a label: an intercept of
    each level then changes probabilities alone, as other coefficients do, and nothing tells its
    sd: posteriors have no mode, or one far out.

    Parameters
    ----------
    data : RegressionData
    family : Family
    terms : list of EffectTerm
    levels : dict
        How many each factor has.
    """
    if family.outcome not in OF_LABELS:
        return
    for term in terms:
        if INTERCEPT not in term.columns or levels[term.factor] < data.n:
            continue
        # a row of several trials, or that counts several times, is several outcomes
        counts = [one.max() for one in (data.trials, data.weight) if one is not None]
        if max(counts, default=1) <= 1:
            counted = ", or give counts, 'successes + failures ~ ...'"
            raise DataError(
                f"({term.label}): each of the {data.n:,} levels of {term.factor!r} has one "
                "row, and a single label tells nothing of the sd of effects: leave the term "
                f"out{counted if family.outcome == 'binary' else ''}"
            )


def few_levels(rows, effects):
    """A warning, in a list, where the outer factor has fewer levels than tell an sd."""
    levels = len(rows.level)
    if levels >= FEW_LEVELS:
        return []
    plural = "s" if levels > 1 else ""
    return [
        GroupsWarning(
            f"{effects.factor} has {levels} level{plural}: {effects.sds[0]} mainly reflects its "
            "prior.",
            f"Take {effects.factor} as a predictor, or choose the prior of {effects.sds[0]} with "
            "care.",
        )
    ]


def single_rows(rows, effects, family):
    """A warning, in a list, where most groups have one row, and outcomes whose variance is neither
    known nor fixed by their mean: of Poisson counts and of counts of successes, effects of rows are
    the usual form of overdispersion.
    """
    alone, trials = int((np.diff(rows.starts) == 1).sum()), rows.table.trials
    if alone <= SHARE_OF_GROUPS * len(rows.level) or rows.subgroups is not None:
        return []
    poisson = family.counts and not family.auxiliary and not family.known
    if poisson or rows.table.se is not None or trials is not None and trials.max() > 1:
        return []
    return [
        GroupsWarning(
            f"{alone} of {len(rows.level)} levels of {effects.factor} have a single row: the data "
            "cannot separate their effects from the variation of single outcomes.",
            f"Leave the group term out; {effects.sds[0]} mainly reflects its prior.",
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
            f"alike: few levels and the prior determine {effects.sds[0]}.",
            f"Choose its prior with care, such as prior={{{effects.sds[0]!r}: "
            "sgmc.half_normal(1)}.",
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
                    f"{column} is the same in all rows of each level of {effects.factor}: the data "
                    "cannot separate its slopes from the intercepts of the levels.",
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
    if all(j >= len(effects.columns) for j in near):
        return [
            GroupsWarning(
                f"{names} may be zero: the data show little or no departure from a straight line, "
                "or from equal levels.",
                "Report intervals, not means, and compare with a fit without the term.",
            )
        ]
    return [
        GroupsWarning(
            f"{names} may be zero: the data show little or no difference between levels.",
            "Report intervals, not means, and compare with a fit without the group term.",
        )
    ]
