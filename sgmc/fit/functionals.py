"""What is judged where single parameters mean nothing."""

from typing import NamedTuple


class Functionals(NamedTuple):
    """Numbers that a draw says something by, whatever the labels and signs of its parameters.

    Attributes
    ----------
    what : str
        In words, such as "predictions of 50 rows".
    names : list of str, (k,)
    of : callable
        ``of(theta)``, of draws (n, size) as users see them, is an array (n, k).
    why : str
        Why single parameters mean nothing.
    """

    what: str
    names: list
    of: object
    why: str
