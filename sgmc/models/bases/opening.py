"""The check of a user's model when a fit begins, at two places and at most ROWS rows.

Slopes along random directions, in free numbers, are compared with central differences of the log
density: a component that is wrong by a factor f is (f - 1) / d of the slope.  Where nothing is
wrong it takes 18 log densities and 10 gradients, and of a prior by hand 10 and 2; only where slopes
disagree are numbers compared one by one, at several steps.
"""

from dataclasses import dataclass

import numpy as np

from sgmc.coordinates.whitened.free import START_SD
from sgmc.core.engine import full
from sgmc.core.expansion import of_prior, of_rows
from sgmc.core.numerics.limits import CENTRAL_DIFFERENCE
from sgmc.core.numerics.slopes import diverged_index
from sgmc.core.system import deadline
from sgmc.errors import ArgumentError
from sgmc.models.bases.inspection import (
    MAX_DIFFERENCED,
    changed,
    gradient_apart,
    not_finite,
    random,
    sums_apart,
)

ROWS = 100  # at most, where a fit asks for parts of the rows
DIRECTIONS = 2  # at each place
WIDE = 5 * START_SD  # sd of the second place around the first, in free numbers
SLOPES_DIFFER = 2e-4  # of the sum of the slopes' sizes: a factor of 1.3 among 1,000 numbers
CLEARLY = 5e-3  # relative, of a number of the gradient that is refused
ROWS_DIFFER = 1e-4  # relative: single precision passes
STEP = CENTRAL_DIFFERENCE  # of free numbers, relative where they are above one
NO_SLOPE = 1e-6  # slope for a step of one, or of the size of a number above one
LEAST_SLOPE = 1e-3  # slopes smaller by more than this move no farther
WAY_ON = "sgmc.check_model(model) checks all rows and parameters"


@dataclass(frozen=True)
class Opening:
    """What a fit is about to use.

    Attributes
    ----------
    called : str
        The model.
    kernel : Model
    prior : Prior
    layout : Layout
    rows : slice or array of int
        At which gradients are looked at.
    slope : bool
        Whether there is a gradient, and not differences in its place.
    """

    called: str
    kernel: object
    prior: object
    layout: object
    rows: object
    slope: bool

    def refuse(self, text):
        """Raise ArgumentError where something was found."""
        if text:
            raise ArgumentError(
                f"{self.called}: {text}. {WAY_ON}; checked = False in the model skips this check."
            )

    def theta(self, u):
        """Parameters of free numbers."""
        return u if self.layout.map is None else self.layout.map(u)

    def log_lik(self, theta, slope):
        """Log density of the rows and, unless `slope` is false, its gradient."""
        deadline.check()
        return of_rows(self.kernel, theta, self.rows, slope)

    def log_prior(self, theta, slope):
        """The same of the prior."""
        deadline.check()
        return of_prior(self.prior, theta, slope)

    def check_calls(self, u):
        """The first place: finite, the same twice, theta unchanged, and sums over rows."""
        theta = self.theta(u)
        found = self.log_lik(theta, self.slope)
        text = not_finite(self.layout, theta, *found)
        if text:
            raise ArgumentError(f"{self.called}: {text}. {WAY_ON}.")
        self.refuse(changed(self.kernel, self.layout, theta, self.rows))
        self.refuse(random(self.kernel, theta, self.rows, found, self.slope))
        if not isinstance(self.rows, slice) and len(self.rows) > 1:
            for text in sums_apart(self.kernel, theta, self.rows, ROWS_DIFFER, self.slope):
                self.refuse(text)

    def check_slopes(self, u, evaluate, names, spared):
        """Slopes at u against differences.

        Parameters
        ----------
        u : array (d,)
            Free numbers.
        evaluate : callable
            `log_lik` or `log_prior`.
        names : (str, str)
            Of the user's gradient and log density.
        spared : exception classes
            What may be raised.
        """
        theta, map = self.theta(u), self.layout.map
        try:
            value, g = evaluate(theta, True)
        except spared:
            return
        if not np.isfinite(value) or not np.isfinite(g).all():
            return
        in_u = g if map is None else map.pulled(u, g) - map.pulled(u, np.zeros(len(g)))
        reach = reach_of(in_u, np.maximum(1.0, np.abs(u)))

        def apart(v):
            there, back = (evaluate(self.theta(u + h * v), False)[0] for h in (STEP, -STEP))
            return abs((there - back) / (2 * STEP) - in_u @ v)

        signs = np.random.default_rng(0).choice([-1.0, 1.0], (DIRECTIONS, len(u)))
        with np.errstate(all="ignore"):
            for v in signs * reach:
                if apart(v) > SLOPES_DIFFER * np.abs(in_u * v).sum() + NO_SLOPE:
                    some = self.suspects(lambda w, v=v: apart(w * v))
                    self.refuse(self.named(theta, evaluate, names, some))
                    return

    def suspects(self, error):
        """Numbers of theta to compare one by one: None for all, or the one most concerned."""
        free = self.layout.free_names
        if self.layout.size <= MAX_DIFFERENCED:
            return None
        worst = free[
            diverged_index(lambda some: error(np.isin(np.arange(len(free)), some)), len(free))
        ]
        return np.array([self.layout.names.index(worst)])

    def named(self, theta, evaluate, names, chosen):
        """What is wrong number by number; empty where it is nothing but rounding or a kink."""
        text = gradient_apart(
            self.layout,
            theta,
            evaluate(theta, True)[1],
            lambda place: evaluate(place, False)[0],
            names,
            CLEARLY,
            chosen,
            of_prior(self.prior, theta)[1] if names[0] == "grad" else None,
        )
        return text and (
            f"{text}. With a wrong gradient, draws are of another distribution, or few are "
            f"accepted. Correct {names[0]}, or remove it: finite differences then take its place"
        )


def reach_of(g, unit):
    """Steps along which all components of a gradient change the density by about as much; the
    longest are a unit.
    """
    sizes = np.abs(g) * unit
    if not sizes.any():
        return unit
    reach = 1 / (sizes + LEAST_SLOPE * sizes.max())
    return unit * reach / reach.max()


def check_opening(model, density, begin, settings):
    """Raise ArgumentError where a user's model is clearly wrong.

    Parameters
    ----------
    model : Ingredients
    density : Prior
        The compiled prior.
    begin : array (d,)
        Free numbers of the first place.  What a user's function raises at the second one is left to
        chains, which may not come near.
    settings : Settings
    """
    kernel, spec, stream = model.kernel, settings.sampler, np.random.default_rng(0)
    rows = slice(0, kernel.n)
    if spec is None or spec.minibatches or kernel.n > kernel.tile:
        rows = np.sort(stream.choice(kernel.n, min(kernel.n, ROWS), replace=False))
    slope = not model.differenced
    look = Opening(model.called, kernel, density, model.layout, rows, slope)
    look.check_calls(begin)
    second = begin + WIDE * stream.normal(size=len(begin))
    for u, spared in ((begin, ()), (second, Exception)):
        if slope:
            look.check_slopes(u, look.log_lik, ("grad", "log_lik"), spared)
        if model.prior is not None:
            look.check_slopes(u, look.log_prior, ("grad_log_prior", "log_prior"), spared)


def check_finite(gradient, u, model, density):
    """Refuse a start where the log posterior or its gradient is not finite.

    Parameters
    ----------
    gradient : Gradient
        Over all rows, in free numbers.
    u : array (d,)
    model : Ingredients
    density : Prior
    """
    value, g = full(gradient, u)
    if np.isfinite(value) and np.isfinite(g).all():
        return
    layout = model.layout
    theta = u if layout.map is None else layout.map(u)
    text = f"{model.called}: {not_finite(layout, theta, value, g, 'the log posterior')}"
    if not np.isfinite(value):
        parts = of_rows(model.kernel, theta, None, False)[0], of_prior(density, theta, False)[0]
        text += ". There log_lik is {:.6g} and the log prior {:.6g}".format(*parts)
    raise ArgumentError(f"{text}.")
