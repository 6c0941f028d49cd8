"""Arrays of a user's model that are narrow where another parameter is small, as effects are in
hierarchies: the advice that helps there.
"""

from dataclasses import replace

import numpy as np

from sgmc.errors import DensityWarning

# rank correlation of an array's spread with its scale: of numbers that are normal given the log of
# their scale, whose sd is 1, that of a single one is about 0.6, and of several more
DEPENDENT = 0.6
FROM_NARROW = 3.0  # times as wide where the scale is large: less does no harm to chains
WITH_OWN_MEAN = 3  # numbers of an array from which their spread shows around their own mean


def non_centred(found, fit, warnings, seen):
    """A verdict against, with advice on another form of the model where draws show a funnel."""
    wrong = any(isinstance(one, DensityWarning) for one in warnings)
    if found.trustworthy or wrong or not (fit.problem.foreign and fit.plan.spec.exact):
        return found
    pair = funnel(seen.names, seen.draws.reshape(-1, seen.draws.shape[-1]))
    if pair is None:
        return found
    effects, scale, ratio = pair
    advice = (
        f"{effects!r} is {ratio:,.0f} times as wide in some places of {scale!r} as in others, a "
        f"funnel: give the model standard normal numbers in the place of {effects!r}, and compute "
        f"{effects!r} from them and {scale!r} (docs/own.md, Funnels)."
    )
    text = found.text.replace(found.advice, "").rstrip()
    return replace(found, text=f"{text} {advice}", advice=advice)


def funnel(names, draws):
    """The array, and the parameter that its spread follows most closely, with the factor between
    narrow and wide; None where there are none.

    Parameters
    ----------
    names : list of str, (p,)
        Of single numbers: ``x[0]`` is one of the array ``x``.
    draws : array (n, p)
    """
    columns = {}
    for k, name in enumerate(names):
        columns.setdefault(name.partition("[")[0], []).append(k)
    arrays = [base for base in columns if names[columns[base][0]] != base]
    best, strongest = None, DEPENDENT
    for effects in arrays:
        x = draws[:, columns[effects]]
        if not ((x.min(axis=0) < 0) & (x.max(axis=0) > 0)).any():
            continue  # scales themselves, which are no effects
        for scale in columns:
            s = draws[:, columns[scale]]
            if scale == effects or s.shape[1] not in (1, x.shape[1]):
                continue
            sizes = log_spread(x) if s.shape[1] == 1 else log_size(x)
            each = [rank_correlation(sizes[:, j], s[:, j]) for j in range(s.shape[1])]
            factor = np.median([width_ratio(sizes[:, j], s[:, j]) for j in range(s.shape[1])])
            strength = abs(float(np.mean(each)))
            if strength > strongest and factor >= FROM_NARROW:
                best, strongest = (effects, scale, float(factor)), strength
    return best


def log_size(x):
    """Logs of distances from medians, (n, k)."""
    return np.log(np.abs(x - np.median(x, axis=0)) + np.finfo(float).tiny)


def log_spread(x):
    """The log spread of an array's numbers in each draw, (n, 1)."""
    middle = x.mean(axis=1, keepdims=True) if x.shape[1] >= WITH_OWN_MEAN else np.median(x, axis=0)
    return 0.5 * np.log(np.mean((x - middle) ** 2, axis=1, keepdims=True) + np.finfo(float).tiny)


def rank_correlation(a, b):
    """Spearman's; 0 where either is constant."""
    from scipy.stats import rankdata  # only here: it takes long to import

    first, second = rankdata(a) - (len(a) + 1) / 2, rankdata(b) - (len(b) + 1) / 2
    scale = np.sqrt((first @ first) * (second @ second))
    return float(first @ second / scale) if scale > 0 else 0.0


def width_ratio(size, scale):
    """How many times as wide, by medians, an array is in one tenth of the scale's draws as in the
    opposite one.
    """
    low, high = np.quantile(scale, (0.1, 0.9))
    return float(np.exp(abs(np.median(size[scale >= high]) - np.median(size[scale <= low]))))
