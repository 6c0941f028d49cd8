"""The sentence that every refused argument gets: its name and value, what it must be,
what to do.
"""

from sgmc.errors import ArgumentError


def must_be(name, value, wanted, advice=""):
    """Return the error for an argument of a wrong value.

    Parameters
    ----------
    name : str
        The argument as the user writes it, such as ``"grid['step_size']"``.
    value : object
        What was passed.
    wanted : str
        What it must be, such as ``"a positive number"``.
    advice : str, optional
        What to do.

    Returns
    -------
    ArgumentError
        To be raised by the caller.
    """
    return ArgumentError(f"{name}={value!r} must be {wanted}" + (f"; {advice}" if advice else ""))
