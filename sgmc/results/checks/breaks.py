"""Whether a user's log density jumps, or its gradient does, between draws.

Along a segment between two draws the integral of the slope is what the log density changes by.
What the trapezoidal rule leaves over in an interval of length h goes to zero as h^3 where the
density is smooth, as h^2 at a kink, and stays where it jumps: so the interval that has the most is
halved until little else is left.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sgmc.core.engine import full
from sgmc.core.system import deadline
from sgmc.errors import ConvergenceWarning, LowESSWarning, ModeWarning

INTERVALS = 16  # of a segment, whose worst one is halved
BREAK_HALVINGS = 24
JUMP = 0.05  # of a log density, in nats
KINK = 0.5  # of its slope, in nats over the whole segment


@dataclass(frozen=True)
class Break:
    """A place where a log density, or its slope, jumps.

    Attributes
    ----------
    kind : {"jump", "kink"}
    size : float
        Of the jump, in nats; of a kink, in nats over the segment that was looked at.
    first, x : array (d,)
        An end of the segment, and the place, in the sampler's coordinates.
    """

    kind: str
    size: float
    first: np.ndarray
    x: np.ndarray


class Segment:
    """Values and slopes along a line from one draw to another.

    Parameters
    ----------
    gradient : Gradient
        Exact.
    first, last : array (d,)
    """

    def __init__(self, gradient, first, last):
        self.gradient, self.first, self.way = gradient, first, last - first

    @cached_property
    def points(self):
        """What `at` gives at the ends of the intervals."""
        return [self.at(t) for t in np.linspace(0, 1, INTERVALS + 1)]

    def at(self, t):
        """t, log density and slope there."""
        deadline.check()
        value, g = full(self.gradient, self.first + t * self.way)
        return t, value, g @ self.way

    def worst(self, left_over, least):
        """What stays of `left_over`(here, there) of the interval that has the most, as it is
        halved; the first end, and the place.  None where values are not finite, or no more than
        `least` stays.
        """
        pairs = list(zip(self.points, self.points[1:]))
        for _ in range(BREAK_HALVINGS):
            sizes = [left_over(*pair) for pair in pairs]
            if not np.isfinite(sizes).all() or max(sizes) <= least:
                return None
            here, there = pairs[int(np.argmax(sizes))]
            middle = self.at(0.5 * (here[0] + there[0]))
            pairs = [(here, middle), (middle, there)]
        sizes = [left_over(*pair) for pair in pairs]
        return max(sizes), self.first, self.first + middle[0] * self.way


def jump_of(here, there):
    """What the trapezoidal rule leaves over."""
    return abs(there[1] - here[1] - 0.5 * (there[0] - here[0]) * (here[2] + there[2]))


def kink_of(here, there):
    """By how much the slope changes."""
    return abs(there[2] - here[2])


def broken(gradient, ends):
    """The largest jump on some segments, given by their ends (first, last); where there is none the
    largest kink; None where there is neither.
    """
    segments = [Segment(gradient, first, last) for first, last in ends if (first != last).any()]
    for kind, left_over, least in (("jump", jump_of, JUMP), ("kink", kink_of, KINK)):
        found = [one for one in (s.worst(left_over, least) for s in segments) if one is not None]
        size, *places = max(found, key=lambda one: one[0], default=(0.0,))
        if size > least:
            return Break(kind, float(size), *places)
    return None


def with_kink(fit, warnings, found):
    """Warnings of chains that mix badly, with the reason and the cure where the gradient of a
    user's log density jumps: the curvature by which coordinates are whitened is then by chance.

    Parameters
    ----------
    fit : Fit
    warnings : list of SGMCWarning
    found : Disagreement or None
    """
    cures = {"sampler='nuts'": fit.plan.spec.name != "nuts"}
    cures["precondition=None"] = fit.settings.precondition is not None
    cure = ", ".join(name for name, other in cures.items() if other)
    if found is None or found.kind != "kink" or not cure:
        return warnings
    return [
        type(one)(
            f"{one.message} Of the log density {found.text}: curvature tells no scale there.",
            f"Use {cure}.",
        )
        if isinstance(one, (ConvergenceWarning, LowESSWarning, ModeWarning))
        else one
        for one in warnings
    ]
