"""What is wrong with a model of a user's, in words."""

from dataclasses import dataclass, field

import numpy as np

from sgmc.core.engine import full
from sgmc.core.expansion import of_rows
from sgmc.core.limits import CENTRAL_DIFFERENCE
from sgmc.errors import ArgumentError
from sgmc.models.bases.model import MAX_DIFFERENCED, Model, compiled
from sgmc.models.bases.priors import named_priors
from sgmc.models.bases.problem import exact_gradient

POINTS = 3  # at which a model is looked at
SUM_TOLERANCE = 1e-9  # relative difference of sums that are the same but for rounding
GRADIENT_TOLERANCE = 1e-4  # the same of a gradient and of differences


@dataclass
class ModelCheck:
    """What `check_model` found.

    Attributes
    ----------
    model : str
    findings : list of str
        What must be put right.
    notes : list of str
        What may be meant so.
    """

    model: str
    findings: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    @property
    def ok(self):
        """Whether nothing is wrong."""
        return not self.findings

    def __str__(self):
        head = f"{self.model}: " + (
            "nothing wrong was found"
            if self.ok
            else f"{len(self.findings)} thing{'s' if len(self.findings) > 1 else ''} wrong"
        )
        return "\n".join(
            [
                head,
                *(f"  - {text}" for text in self.findings),
                *(f"  (note: {text})" for text in self.notes),
            ]
        )

    __repr__ = __str__


class Wrong(Exception):
    """Something after which there is nothing more to look at."""


def check_model(model, prior=None, seed=0):
    """Look at a model where its chains would begin, and say what is wrong: shapes, values that are
    not finite, gradients against finite differences, sums over rows that do not add up, rows that
    are ignored, randomness, priors.

    Parameters
    ----------
    model : Model
    prior : optional
        As in the fit.
    seed : int
        Of the places.

    Returns
    -------
    ModelCheck
        ``ok``, ``findings`` and ``notes``; printed, it says all of them.

    Raises
    ------
    ArgumentError
        For what is no model.
    """
    if not isinstance(model, Model):
        raise ArgumentError(f"check_model needs a model of sgmc.Model, not {type(model).__name__}")
    report = ModelCheck(type(model).__name__ if not model.title else model.title)
    try:
        layout = asked("parameters and constraints", model.layout)
        own = asked("log_prior", model.prior_kernel)
        check_prior(report, layout, model.prior if prior is None else prior)
        kernel = asked("the model", model.kernel)
        if kernel.dim != layout.size:
            raise Wrong(
                f"parameters are {layout.size} numbers, the compiled model has {kernel.dim}"
            )
        for k in range(POINTS):
            theta = asked(
                "start",
                lambda: np.asarray(model.starts(np.random.default_rng([seed, k])), dtype=float),
            )
            before = len(report.findings)
            check_at(report, model, kernel, layout, theta)
            if own is not None:
                look_at_prior(report, kernel, own, layout, theta)
            if len(report.findings) > before:  # other places say the same in other numbers
                break
    except Wrong as wrong:
        report.findings.append(str(wrong))
    return report


def asked(what, function):
    """The value of a function, or Wrong with what it raised."""
    try:
        return function()
    except Exception as error:  # whatever a user's code raises is what is wrong
        raise Wrong(f"{what}: {type(error).__name__}: {error}") from error


def check_prior(report, layout, prior):
    """Names and kinds of priors; improper ones are a note."""
    try:
        priors = named_priors(prior, layout)
    except ArgumentError as error:
        report.findings.append(str(error))
        return
    low, high = layout.ends()
    flat = [
        name
        for name, p, a, b in zip(layout.names, priors.used, low, high)
        if p.family == "flat" and not np.isfinite(b - a)
    ]
    if flat:
        report.notes.append(
            f"the prior of {', '.join(flat[:5])}{', ...' if flat[5:] else ''} is flat and without "
            "bounds: the posterior is proper only if the data make it so"
        )


def check_at(report, model, kernel, layout, theta):
    """All checks at one place; Wrong where what follows would only repeat it."""
    n = kernel.n
    every, half = slice(0, n), max(n // 2, 1)
    value, g = asked("log_lik or grad raised at the start", lambda: of_rows(kernel, theta, every))
    if not np.isfinite(value):
        raise Wrong(
            f"log_lik is {value} at the start {shown(layout, theta)}; give another start, or look "
            "at what it takes logs of"
        )
    if not np.isfinite(g).all():
        raise Wrong(
            f"the gradient for {layout.names[int(np.flatnonzero(~np.isfinite(g))[0])]!r} is not "
            "finite at the start"
        )
    again = of_rows(kernel, theta, every)
    if again[0] != value or (again[1] != g).any():
        apart = max(abs(again[0] - value), abs(again[1] - g).max())
        raise Wrong(
            f"two calls with the same arguments differ, by {apart:.3g}: the model draws random "
            "numbers or keeps something between calls"
        )
    check_types(model, layout, theta, every)
    if n > 1:
        check_rows(report, kernel, theta, (value, g), half)
    check_gradient(
        report, layout, theta, g, lambda place: of_rows(kernel, place)[0], ("grad", "log_lik")
    )


def look_at_prior(report, kernel, prior, layout, theta):
    """A prior by hand at one place: finite, and its gradient against differences."""
    total = exact_gradient(kernel, prior, None)

    def density(place):
        return full(total, place)[0] - of_rows(kernel, place)[0]

    value, g = (
        density(theta),
        asked(
            "log_prior or grad_log_prior raised",
            lambda: full(total, theta)[1] - of_rows(kernel, theta)[1],
        ),
    )
    if not np.isfinite(value):
        raise Wrong(f"log_prior is {value} at the start {shown(layout, theta)}")
    check_gradient(report, layout, theta, g, density, ("grad_log_prior", "log_prior"))


def check_types(model, layout, theta, rows):
    """Single precision, of models in Python."""
    if compiled(type(model)):
        return
    for name in ("log_lik", "grad"):
        found = getattr(model, name, lambda *_: 0.0)(layout.unpack(theta), rows)
        parts = found.values() if isinstance(found, dict) else [found]
        if any(getattr(part, "dtype", None) == np.float32 for part in parts):
            raise Wrong(
                f"{name} returns float32: its rounding errors, 1e-7 of sums over all rows, reach "
                "the draws; compute in float64"
            )


def check_rows(report, kernel, theta, whole, half):
    """Whether rows add up, as a slice and as a list."""
    n = kernel.n
    parts = [
        asked(
            f"log_lik or grad raised for rows={rows}",
            lambda rows=rows: of_rows(kernel, theta, rows),
        )
        for rows in (slice(0, half), slice(half, n))
    ]
    listed = [
        asked(
            "log_lik or grad raised for an array of rows",
            lambda rows=rows: of_rows(kernel, theta, rows),
        )
        for rows in (np.arange(n)[:half], np.arange(n)[half:])
    ]
    for name, k in (("log_lik", 0), ("grad", 1)):
        total, first, second = whole[k], parts[0][k], parts[1][k]
        size = np.max(np.abs(first)) + np.max(np.abs(second)) + 1e-300
        if (
            np.max(np.abs(first - total)) <= SUM_TOLERANCE * size
            and np.max(np.abs(second - total)) <= SUM_TOLERANCE * size
        ):
            report.findings.append(f"{name} ignores rows: half of them give what all of them give")
        elif np.max(np.abs(first + second - total)) > SUM_TOLERANCE * size:
            report.findings.append(
                f"{name} does not add up over rows: the halves give {formatted(first)} and "
                f"{formatted(second)}, together {formatted(first + second)}, all rows "
                f"{formatted(total)}; return the sum, no mean, and nothing but the rows' part"
            )
        elif max(np.max(np.abs(a[k] - b[k])) for a, b in zip(parts, listed)) > SUM_TOLERANCE * size:
            report.findings.append(
                f"{name} gives something else for a slice of rows than for an array of the same "
                "row numbers"
            )


def check_gradient(report, layout, theta, g, density, names):
    """The gradient against differences of the log density;
    `names` are those of the user's functions.
    """
    low, high = layout.ends()
    chosen = (
        np.arange(len(theta))
        if len(theta) <= MAX_DIFFERENCED
        else np.random.default_rng(0).choice(len(theta), MAX_DIFFERENCED, replace=False)
    )
    slopes = np.empty(len(chosen))
    for i, j in enumerate(chosen):
        h = CENTRAL_DIFFERENCE * min(max(1.0, abs(theta[j])), theta[j] - low[j], high[j] - theta[j])
        there, back = theta.copy(), theta.copy()
        there[j], back[j] = theta[j] + h, theta[j] - h
        slopes[i] = (density(there) - density(back)) / (there[j] - back[j])
    off = np.abs(g[chosen] - slopes)
    wrong = (
        off
        > GRADIENT_TOLERANCE * np.maximum(np.abs(slopes), np.abs(slopes).max() * 1e-2)
        + GRADIENT_TOLERANCE * 1e-2
    )
    if wrong.any():
        worst = int(np.argmax(np.where(wrong, off, -1)))
        report.findings.append(
            f"{names[0]} is wrong for {wrong.sum()} of {len(chosen)} numbers, most for "
            f"{layout.names[chosen[worst]]!r}: it is {g[chosen[worst]]:.6g}, differences of "
            f"{names[1]} say {slopes[worst]:.6g}"
        )


def shown(layout, theta):
    """A place in words."""
    some = [f"{name}={value:.3g}" for name, value in zip(layout.names[:4], theta)]
    return f"({', '.join(some)}{', ...' if layout.size > 4 else ''})"


def formatted(values):
    """A number, or the first of several."""
    return f"{np.ravel(values)[0]:.6g}" + (" (first of them)" if np.size(values) > 1 else "")
