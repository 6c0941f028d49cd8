"""What is wrong with a model of a user's, in words."""

from dataclasses import dataclass, field

import numpy as np

from sgmc.coordinates.priors.prior_table import density_of
from sgmc.core.expansion import of_prior, of_rows
from sgmc.errors import ArgumentError
from sgmc.models.bases.calls import owner, shown
from sgmc.models.bases.inspection import changed, gradient_apart, not_finite, random, sums_apart
from sgmc.models.bases.model import Model, compiled
from sgmc.models.bases.priors import named_priors

POINTS = 3  # at which a model is looked at
GRADIENT_TOLERANCE = 1e-4  # relative difference of a gradient and of differences
SUM_TOLERANCE = 1e-9  # relative difference of sums that are the same but for rounding


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
    """Check a model where its chains would begin.

    Reported are shapes, values that are not finite, gradients against finite differences, sums over
    rows that do not add up, rows that are ignored, randomness and priors.

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
        raise ArgumentError(
            f"check_model needs a model of sgmc.Model, not {type(model).__name__}; "
            "of a fit see verdict, pp_check() and loo()"
        )
    report = ModelCheck(owner(model))
    try:
        layout = asked("parameters and constraints", model.layout)
        own = asked("log_prior", model.prior_kernel)
        named = check_prior(report, layout, model.prior if prior is None else prior)
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
            look(report, layout, theta, kernel, named if own is None else own)
            if own is not None:
                look_at_prior(report, layout, theta, own)
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
    """Names and kinds of priors; improper ones are a note.  The compiled prior, or None."""
    try:
        priors = named_priors(prior, layout)
    except ArgumentError as error:
        report.findings.append(str(error))
        return None
    low, high = layout.bounds()
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
    return density_of(priors)


def check_at(report, model, kernel, layout, theta):
    """All checks at one place; Wrong where what follows would only repeat it."""
    every, n = slice(0, kernel.n), kernel.n
    found = asked("log_lik or grad at the start", lambda: of_rows(kernel, theta, every))
    for text in (
        not_finite(layout, theta, *found),
        changed(kernel, layout, theta, every),
        random(kernel, theta, every, found),
    ):
        if text:
            raise Wrong(text)
    check_types(model, layout, theta, every)
    if n > 1:
        report.findings += asked(
            "log_lik or grad for some of the rows",
            lambda: sums_apart(kernel, theta, np.arange(n), SUM_TOLERANCE),
        )


def look(report, layout, theta, kernel, prior):
    """The gradient of log_lik at one place against differences, number by number."""
    g = of_rows(kernel, theta)[1]
    text = gradient_apart(
        layout,
        theta,
        g,
        lambda place: of_rows(kernel, place, None, False)[0],
        ("grad", "log_lik"),
        GRADIENT_TOLERANCE,
        prior=None if prior is None else of_prior(prior, theta)[1],
    )
    report.findings += [text] if text else []


def look_at_prior(report, layout, theta, prior):
    """A prior by hand at one place: finite, and its gradient against differences."""
    value, g = asked("log_prior or grad_log_prior", lambda: of_prior(prior, theta))
    if not np.isfinite(value):
        raise Wrong(f"log_prior is {value} at the start ({shown(layout, theta)})")
    text = gradient_apart(
        layout,
        theta,
        g,
        lambda place: of_prior(prior, place, False)[0],
        ("grad_log_prior", "log_prior"),
        GRADIENT_TOLERANCE,
    )
    report.findings += [text] if text else []


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
