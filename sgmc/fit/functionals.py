"""What is judged where single parameters mean nothing."""

from typing import NamedTuple


class Functionals(NamedTuple):
    """Numbers that a draw says something by, whatever the labels and signs of its parameters.

    Attributes
    ----------
    what : str
        In words, such as "predictions of 50 rows".
    of : callable
        ``of(results)`` gives their names (k,) and draws (chain, draw, k); None where what they need
        was not kept.
    why : str
        Why single parameters mean nothing.
    """

    what: str
    of: object
    why: str
