"""What is wrong with a user's log density, gradient and sums over rows at one place, in words.

`sgmc.check_model` looks at all rows and numbers; a fit at a few (`sgmc.models.bases.opening`).
"""

import numpy as np

from sgmc.core.expansion import of_rows
from sgmc.core.numerics.limits import CENTRAL_DIFFERENCE
from sgmc.core.numerics.slopes import surely_apart
from sgmc.models.bases.calls import MAX_DIFFERENCED, Call, shown

STEPS = CENTRAL_DIFFERENCE, 100 * CENTRAL_DIFFERENCE
PATTERN = 1e-3  # relative error of what is recognised: a factor, a mean, a constant part


def not_finite(layout, theta, value, g, what="log_lik"):
    """A log density or a gradient that is not finite at the start."""
    place = f"at the start ({shown(layout, theta)})"
    advice = "give the model another start, or correct what it takes logs, roots or quotients of"
    if not np.isfinite(value):
        return f"{what} is {value} {place}; {advice}"
    if not np.isfinite(g).all():
        name = layout.names[int(np.argmin(np.isfinite(g)))]
        return f"the gradient of {what} for {name!r} is not finite {place}; {advice}"
    return ""


def changed(kernel, layout, theta, rows):
    """Functions in Python that write to theta."""
    for call in (getattr(kernel, "value", None), getattr(kernel, "slope", None)):
        if isinstance(call, Call):
            own = theta.copy()
            call.function(own, rows)
            if (own != theta).any():
                name = layout.names[int(np.argmax(own != theta))]
                function = call.name.rpartition(".")[2]
                return (
                    f"{function} changes theta in place, {name!r} first; compute with a copy, as "
                    "in b = 2 * theta['b'] for b *= 2"
                )
    return ""


def random(kernel, theta, rows, first, slope=True):
    """Two calls with the same arguments that differ; `first` is what one returned."""
    again = of_rows(kernel, theta, rows, slope)
    if again[0] == first[0] and (again[1] == first[1]).all():
        return ""
    apart = max(abs(again[0] - first[0]), abs(again[1] - first[1]).max())
    return (
        f"two calls with the same arguments differ, by {apart:.3g}: the model draws random numbers "
        "or keeps something between calls; draw random numbers once, before the fit"
    )


def sums_apart(kernel, theta, rows, tolerance, slope=True):
    """Rows that are ignored or do not add up, or slices of rows that differ from lists of them.

    Parameters
    ----------
    kernel : Model
    theta : array (dim,)
    rows : array of int
        At least two.
    tolerance : float
        Relative difference of sums that are the same but for rounding.
    slope : bool
        Whether gradients are looked at.

    Returns
    -------
    list of str
    """
    half = len(rows) // 2
    parts = rows, rows[:half], rows[half:], slice(0, half), np.arange(half)
    whole, first, second, *begin = (of_rows(kernel, theta, some, slope) for some in parts)
    found = []
    for k, name in enumerate(("log_lik", "grad")[: 1 + slope]):
        a, b, total = first[k], second[k], whole[k]
        size = np.max(np.abs(a)) + np.max(np.abs(b)) + 1e-300

        def apart(x, y, size=size):
            return np.max(np.abs(x - y)) > tolerance * size

        if not apart(a, total) and not apart(b, total):
            if apart(a, 0.0):  # else all are zero
                found.append(
                    f"{name} ignores rows: half of them give what all of them give; use only the "
                    "rows that are asked for, or n = 1 if the density is no sum over rows"
                )
        elif apart(a + b, total):
            found.append(
                f"{name} does not add up over rows: {half} rows give {formatted(a)} and "
                f"{len(rows) - half} others {formatted(b)}, but all of them together "
                f"{formatted(total)}; {remedy(kernel, theta, rows, k, (a, b, total))}"
            )
        elif apart(begin[0][k], begin[1][k]):
            found.append(
                f"{name} gives {formatted(begin[0][k])} for a slice of rows, but "
                f"{formatted(begin[1][k])} for an array of the same row numbers; index numpy "
                "arrays by position (a pandas Series goes by label: use .to_numpy())"
            )
    return found


def remedy(kernel, theta, rows, k, parts):
    """What to do about rows that do not add up."""
    first, second, total = parts
    m, half, excess = len(rows), len(rows) // 2, first + second - total
    size = PATTERN * np.max(np.abs(excess))
    if np.max(np.abs((half * first + (m - half) * second) / m - total)) <= size:
        return "return the sum over the rows, not their mean and not rescaled to all rows"
    quarter = of_rows(kernel, theta, rows[: half // 2 + 1])[k]
    rest = of_rows(kernel, theta, rows[half // 2 + 1 :])[k]
    if np.max(np.abs(quarter + rest - total - excess)) <= size:
        return (
            f"a part of {formatted(excess)} is in each of them: leave out what is not of the rows, "
            "such as a prior, which the fit adds"
        )
    return "return the sum over the rows alone, in float64 (small integers overflow)"


def gradient_apart(layout, theta, g, density, names, tolerance, chosen=None, prior=None):
    """A gradient against central differences, number by number.

    Parameters
    ----------
    layout : Layout
    theta, g : array (size,)
    density : callable
        Of theta.
    names : (str, str)
        Of the user's gradient and log density.
    tolerance : float
        Of their difference, relative to the gradient's number, or to a hundredth of the largest.
    chosen : array of int, optional
        The numbers compared; default all, or MAX_DIFFERENCED of more.
    prior : array (size,), optional
        The gradient of the prior, which may have been added.

    Returns
    -------
    str
        Empty where nothing is wrong.
    """
    low, high = layout.bounds()
    if chosen is None:
        chosen = np.arange(len(theta))
        if len(theta) > MAX_DIFFERENCED:
            chosen = np.random.default_rng(0).choice(len(theta), MAX_DIFFERENCED, replace=False)
    size = np.maximum(np.abs(g), 1e-2 * np.abs(g).max()) + 1e-2
    slopes, wrong = np.empty(len(chosen)), np.zeros(len(chosen), dtype=bool)
    for i, j in enumerate(chosen):
        unit = min(max(1.0, abs(theta[j])), theta[j] - low[j], high[j] - theta[j])

        def gap(h, j=j, unit=unit):
            there, back = theta.copy(), theta.copy()
            there[j], back[j] = theta[j] + h * unit, theta[j] - h * unit
            return (density(there) - density(back)) / (there[j] - back[j]) - g[j]

        slopes[i], matters = g[j] + gap(STEPS[0]), tolerance * size[j]
        wrong[i] = surely_apart(gap, matters, STEPS[0], STEPS) > matters
    if not wrong.any():
        return ""
    off = g[chosen] - slopes
    worst = int(np.argmax(np.where(wrong, np.abs(off), -1)))
    added = prior is not None and np.max(np.abs(off - prior[chosen])) <= PATTERN * np.abs(off).max()
    return (
        f"{names[0]} is wrong for {wrong.sum()} of {len(chosen)} numbers, most for "
        f"{layout.names[chosen[worst]]!r}: it is {g[chosen[worst]]:.6g}, but differences of "
        f"{names[1]} give {slopes[worst]:.6g}"
    ) + (
        "; what is too much is the gradient of the prior, which the fit adds: leave it out"
        if added
        else multiple(g[chosen], slopes, wrong)
    )


def multiple(g, slopes, wrong):
    """The factor that all wrong numbers have in common, in words."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = g[wrong] / slopes[wrong]
    same = np.isfinite(ratio).all() and np.ptp(ratio) <= PATTERN * np.abs(ratio).max()
    return f" (a factor of {ratio[0]:.3g})" if same and ratio[0] else ""


def formatted(values):
    """A number, or the first of several."""
    return f"{np.ravel(values)[0]:.6g}" + (" (first of them)" if np.size(values) > 1 else "")
