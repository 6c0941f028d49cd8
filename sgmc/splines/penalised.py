"""What a kind of penalised term is: its options in formulas, and the bases of its covariates.

A subclass with a name of its own in a file of `sgmc.terms`, or registered, is a term of formulas.
All else comes by itself: columns for the rows of a fit and for others, a coefficient for what is
not penalised, an sd with its prior, what results say of curves, and files.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, ClassVar

from sgmc.arguments.types import Floats

if TYPE_CHECKING:
    from sgmc.splines.bases import Basis


class PenalisedTerm(ABC):
    """A term of formulas, a dataclass whose fields are its options; ``by=`` is one of all.

    Options that do not suit raise ValueError with a clause, such as "k must be a whole number".

    Attributes
    ----------
    name : str
        In formulas.
    covariates : int or tuple of int
        How many there are, or may be, one or two.
    written : str
        With its covariates, for messages.
    others : tuple of str
        Functions whose calls as the first argument make it another's term of the same name.
    basis : type
        The class of its bases.
    smaller : str
        What makes its columns fewer, for messages.
    """

    room: ClassVar[str] = "terms"
    name: ClassVar[str]
    covariates: ClassVar[int | tuple[int, ...]] = 1
    written: ClassVar[str]
    others: ClassVar[tuple[str, ...]] = ()
    basis: "ClassVar[type[Basis]]"
    smaller: ClassVar[str] = "give a smaller k"

    @classmethod
    def options(cls) -> tuple[str, ...]:
        """Names of the options."""
        return (*(one.name for one in fields(cls)), "by")  # type: ignore[arg-type]

    @property
    def flat(self) -> int:
        """See `Basis`, of the basis of each covariate."""
        return 2

    @property
    def sizes(self) -> tuple[int, ...]:
        """Elements of the basis of each covariate, where options alone determine them."""
        return ()

    @abstractmethod
    def bases(self, x: Floats, text: str) -> "Sequence[Basis]":
        """The basis of each covariate, x (n, covariates) being the values that rows have.

        Parameters
        ----------
        x : array (n, covariates)
        text : str
            The term as written, for messages.

        Raises
        ------
        FormulaError
            For values and options that do not suit.
        """


class TermOfLevels(PenalisedTerm):
    """A term whose covariate is a column of labels: effects b of levels with a known structure, b =
    R z and z ~ N(0, sd^2).

    Attributes
    ----------
    of_scope : str
        The option, which may stand second, that is the name of an object of the user's: the field
        has what this was turned into, and None where a formula is only looked through.
    independent : bool
        Whether it has independent effects of the levels in it, too.
    """

    of_scope: ClassVar[str]
    independent: ClassVar[bool] = False

    @property
    def flat(self) -> int:
        """See `PenalisedTerm`: there are no lines."""
        return 1

    @property
    @abstractmethod
    def labels(self) -> tuple[Hashable, ...]:
        """All levels that there are, whether rows have them or not."""


def whole(number: object) -> bool:
    """Whether it is a whole number."""
    return isinstance(number, int) and not isinstance(number, bool)
