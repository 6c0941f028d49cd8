"""Warnings of directions of the coefficients that the data do not determine, or that they do and
default priors hide.
"""

import numpy as np

from sgmc.errors import ConditionWarning, PriorWarning

PRIOR_ALONE = 0.99  # share of a direction's precision that comes from the prior
# of what its columns would tell of a direction one by one: if they tell as much together, they are
# not collinear, and the prior is tighter than the data are
NOT_COLLINEAR = 0.01
LEADING = 0.3  # of the largest loading, from which a coefficient is named
MOST_NAMED = 6
UNDETERMINED = 1 - 1e-8  # the prior's share of a direction from which rounding is all that is left
# log likelihood that default priors may cost: a tenth of it is noise, and posteriors of separated
# outcomes lose less than 2
MOST_LOST = 10.0


def overruled(mode, priors, slope):
    """A PriorWarning, in a list, where default priors of slopes keep the mode from what the data
    say, as those of a year and its square do: each is far smaller than what the two have together.

    To second order the log likelihood is g' H^-1 g / 2 larger at its own maximum, g being the
    slope of the log density of these priors, and H the curvature of the log likelihood.

    Parameters
    ----------
    mode : Mode
    priors : PriorTable
    slope : array (d,)
        g.
    """
    L, share = mode.axes
    told = share < UNDETERMINED
    along = (L[:, told].T @ slope) / (1 - share[told])
    lost = 0.5 * float(((L[:, told].T @ slope) * along).sum())
    if not lost > MOST_LOST:
        return []
    away = np.abs(L[:, told] @ along)
    away = [(away[j] / priors.used[j].scale, j) for j in priors.defaults]
    far = max(away)[0]
    names = [priors.names[j] for out, j in sorted(away, reverse=True) if out > LEADING * far]
    return [
        PriorWarning(
            f"default priors hide what the data say of {listed(names)}: with coefficients up to "
            f"{far:,.0f} of their prior sds farther out the log likelihood would be larger by "
            f"about {lost:,.0f}.",
            "Centre predictors before they are squared or multiplied, take poly(x, 2), or give "
            "prior='flat' or priors in the units of the data.",
        )
    ]


def collinearity(mode, names, rows, auxiliary=0, chosen=None, unseen=None):
    """A ConditionWarning, in a list, where the data do not determine some direction.

    Parameters
    ----------
    mode : Mode
    names : list of str
        Of the parameters; the last `auxiliary` are no coefficients.
    rows : int
    auxiliary : int
    chosen : array of bool, optional
        Of which parameters the user has chosen the prior: that it is tighter than the data is then
        no news.
    unseen : callable, optional
        ``unseen()`` returns labels of combinations of levels that no row has, and the names of the
        columns that these leave undetermined.
    """
    L, share = mode.axes
    alone = np.flatnonzero(share > PRIOR_ALONE)
    if chosen is not None and len(alone):
        alone = alone[~(tight(mode.likelihood, L[:, alone]) & chosen_alone(mode, alone, chosen))]
    if not len(alone):
        return []
    loading = loadings(mode, alone)
    leading = {names[j] for j in loading.argmax(axis=0)}
    loading = (loading / loading.max(axis=0)).max(axis=1)
    # equal ones as they come: rounding has no say
    order = np.argsort(-loading.round(6), kind="stable")
    involved = [names[j] for j in order if loading[j] > LEADING]
    if auxiliary and leading <= set(names[-auxiliary:]):
        return [
            ConditionWarning(
                f"the data do not determine {', '.join(sorted(leading))}: the posterior is the "
                "prior.",
                "Use an informative prior, or a family without this parameter.",
            )
        ]
    cells, left_by_cells = ([], ()) if unseen is None else unseen()
    why = [f"no row has {listed(cells)}"] if cells else []
    if len(names) > rows:
        why.append(f"there are only {rows} rows")
    elif not cells or not set(involved) <= set(left_by_cells):
        why.append("collinear predictors or almost constant columns")
    count = f"{len(alone)} combination{'s' if len(alone) > 1 else ''} of the coefficients of "
    several = len(involved) > 1
    what = f"{count}{listed(involved)}" if several else f"the coefficient of {involved[0]}"
    return [
        ConditionWarning(
            f"the data do not determine {what}: {'; '.join(why)}. The posterior is the prior "
            "there.",
            "Merge levels, leave the interaction out, or set informative priors."
            if cells
            else "Drop some of these columns, or set informative priors.",
        )
    ]


def loadings(mode, alone):
    """How much each parameter takes part in some directions, (d, k)."""
    return np.abs(mode.axes[0][:, alone]) * np.sqrt(np.diag(mode.precision))[:, None]


def tight(likelihood, directions):
    """In which directions (d, k) the data tell as much as their columns do one by one."""
    together = ((likelihood @ directions) * directions).sum(axis=0)
    apart = np.diag(likelihood) @ directions**2
    return together > NOT_COLLINEAR * apart


def chosen_alone(mode, alone, chosen):
    """In which of some directions nothing takes part but parameters whose prior is the user's."""
    loading = loadings(mode, alone)
    leading = loading > LEADING * loading.max(axis=0)
    return ~(leading & ~np.asarray(chosen)[:, None]).any(axis=0)


def listed(names):
    """The first few of some names."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
