"""Priors of the increments of monotonic effects."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from sgmc.errors import ArgumentError
from sgmc.priors.spec import PriorSpec

TOTALS = ("normal", "student_t", "laplace", "flat")


@dataclass(frozen=True)
class Increment(PriorSpec):
    """The prior of one increment of a monotonic effect; the fields are those of the prior of their
    sum b, of which increments are the shares of a simplex with a uniform prior.
    """

    def __str__(self) -> str:
        return f"monotonic, {self.total} in total"

    @property
    def total(self) -> PriorSpec:
        """The prior of the sum."""
        return PriorSpec(**{one.name: getattr(self, one.name) for one in fields(PriorSpec)})


def suits_sum(one: PriorSpec) -> bool:
    """Whether a prior is one that the sum of increments may have."""
    return type(one) is PriorSpec and one.family in TOTALS and not (one.learned or one.bounded)


def as_increment(specs: Sequence[PriorSpec], names: Sequence[str]) -> Increment:
    """The prior of increments, of the one that the user wrote for each of them.

    Parameters
    ----------
    specs : sequence of PriorSpec
    names : sequence of str
        Of the increments.

    Raises
    ------
    ArgumentError
        Unless all are the same, of a kind that a sum may have.
    """
    one = specs[0]
    if any(other != one for other in specs):
        raise ArgumentError(
            f"prior: {', '.join(names[:3])}{', ...' if len(names) > 3 else ''} are increments of "
            "one monotonic effect, whose sum has a prior; give it by the name of the term"
        )
    if not suits_sum(one):
        raise ArgumentError(
            f"prior: {one} of {names[0]!r}: the sum of the increments of a monotonic effect takes "
            "normal, student_t, cauchy, laplace or flat priors; give the term one of these"
        )
    return Increment(**vars(one))
