"""Arrays of a user's model that are narrow where another parameter is small, as effects are in
hierarchies: the advice that helps there.
"""

from dataclasses import replace

import numpy as np

from sgmc.core.expansion import of_prior, of_rows
from sgmc.errors import DensityWarning, DivergentTransitionsWarning
from sgmc.results.outcomes.data.rows import evenly
from sgmc.results.report.draws import TOO_MANY

# rank correlation of an array's spread with its scale: of numbers that are normal given the log of
# their scale, whose sd is 1, that of a single one is about 0.6, and of several more
DEPENDENT = 0.6
FROM_NARROW = 3.0  # times as wide where the scale is large: less does no harm to chains
ASKED_AT, SMALL_MOVE = 8, 1e-4  # draws at which the density itself is asked, and sds of differences
# times as wide an sd apart to both sides, from where on a density has a funnel, and from where on
# another parameter has a part in it
BY_DENSITY, TAKES_PART = 2.0, 1.5
WITH_OWN_MEAN = 3  # numbers of an array from which their spread shows around their own mean


def non_centred(found, fit, warnings, seen):
    """A verdict against, with advice on another form of the model where draws show a funnel."""
    wrong = any(isinstance(one, DensityWarning) for one in warnings)
    if found.trustworthy or wrong or not (fit.problem.foreign and fit.plan.spec.exact):
        return found
    draws = seen.draws.reshape(-1, seen.draws.shape[-1])
    pair = funnel(seen.names, draws)
    if pair is None and TOO_MANY in found.advice:  # chains that hardly move show no funnel
        pair = funnel_of_density(seen.names, draws, fit.problem)
    diverged = [one for one in warnings if isinstance(one, DivergentTransitionsWarning)]
    missed = any(one.message.rstrip(".") in found.text for one in diverged)
    if pair is None and (missed or found.advice.startswith("Try sampler=")):
        # nor do those that do not reach the narrow places; standard normal numbers times a scale
        # are narrow where it is large, and the advice would lead back
        pair = funnel_of_density(seen.names, draws, fit.problem, where_small=True)
    if pair is None:
        return found
    effects, scales, ratio = pair
    by = " and ".join(repr(one) for one in scales)
    advice = (
        f"{effects!r} is {ratio:,.0f} times as wide in some places of {by} as in others, a "
        f"funnel: give the model standard normal numbers in the place of {effects!r}, and compute "
        f"{effects!r} from them and {by} (docs/own.md, Funnels)."
    )
    text = found.text.replace(found.advice, "").rstrip()
    return replace(found, text=f"{text} {advice}", advice=advice)


def funnel(names, draws):
    """The array, and the parameter that its spread follows most closely, as a list, with the factor
    between narrow and wide; None where there are none.

    Parameters
    ----------
    names : list of str, (p,)
        Of single numbers: ``x[0]`` is one of the array ``x``.
    draws : array (n, p)
    """
    columns, pairs = pairs_of(names, draws)
    best, strongest = None, DEPENDENT
    for effects, scales in pairs.items():
        x = draws[:, columns[effects]]
        for scale in scales:
            s = draws[:, columns[scale]]
            sizes = log_spread(x) if s.shape[1] == 1 else log_size(x)
            each = [rank_correlation(sizes[:, j], s[:, j]) for j in range(s.shape[1])]
            factor = np.median([width_ratio(sizes[:, j], s[:, j]) for j in range(s.shape[1])])
            strength = abs(float(np.mean(each)))
            if strength > strongest and factor >= FROM_NARROW:
                best, strongest = (effects, [scale], float(factor)), strength
    return best


def pairs_of(names, draws):
    """The columns of each parameter, and of each array of effects what may be its scale, two
    dictionaries; see `funnel`.
    """
    columns, pairs = {}, {}
    for k, name in enumerate(names):
        columns.setdefault(name.partition("[")[0], []).append(k)
    for effects, places in columns.items():
        x = draws[:, places]
        alone = names[places[0]] == effects
        if alone or not ((x.min(axis=0) < 0) & (x.max(axis=0) > 0)).any():
            continue  # scales themselves, which are no effects
        sizes = (1, len(places))
        pairs[effects] = [one for one, of in columns.items() if one != effects and len(of) in sizes]
    return columns, pairs


def funnel_of_density(names, draws, problem, where_small=False):
    """The same by the density: how wide it makes an array given all else, by its curvature along
    the array at some draws, where another parameter is an sd smaller and an sd larger, or its log
    if it is positive; with all parameters that this depends on.  `where_small`: only arrays that
    are narrow where it is small.
    """
    if draws.shape[1] != problem.model.dim:  # of some parameters alone
        return None
    (columns, pairs), spread = pairs_of(names, draws), draws.std(axis=0)
    points, best, strongest = draws[evenly(len(draws), ASKED_AT)], None, BY_DENSITY

    def slope(theta):
        return of_rows(problem.model, theta)[1] + of_prior(problem.prior, theta)[1]

    def curvature(theta, places):
        away = np.zeros(len(theta))
        away[places] = SMALL_MOVE * spread[places] * np.resize((1.0, -1.0), len(places))
        return (slope(theta - away) - slope(theta + away)) @ away

    def moved(theta, places, sds):
        out, x = theta.copy(), draws[:, places]
        if (x > 0).all():
            out[places] *= np.exp(sds * np.log(x).std(axis=0))
        else:
            out[places] += sds * x.std(axis=0)
        return out

    for effects, scales in pairs.items():
        widths = {}
        for scale in scales:
            both = [
                [curvature(moved(one, columns[scale], sds), columns[effects]) for sds in (-1, 1)]
                for one in points
            ]
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.sqrt(np.divide(*np.transpose(both)))
            wider = np.median(np.log(ratio))  # or no number
            widths[scale] = float(np.exp(wider if where_small else np.abs(wider)))
        largest = np.nanmax([*widths.values()], initial=0.0)
        if largest >= strongest:
            parts = [scale for scale, one in widths.items() if one >= TAKES_PART]
            best, strongest = (effects, parts, largest), largest
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
