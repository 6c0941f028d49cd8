"""Conditional distributions of a posterior's parameters, by which these are drawn in turn."""

from sgmc.arguments.types import Floats
from sgmc.core.random.rng import Rng


class Turns:
    """Draws from conditional distributions that one chain makes, with memory of its own; nothing of
    it is needed by the next step.
    """

    def step(self, x: Floats, number: int, rng: Rng) -> None:
        """Change x (dim,), in the sampler's coordinates, at the step of that number, to where
        conditional draws lead: the posterior stays as it is.
        """
        raise NotImplementedError


class Conditionals:
    """Distributions of a posterior's parameters given all others, which chains share."""

    def turns(self) -> Turns:
        """Return the draws of a chain."""
        raise NotImplementedError
