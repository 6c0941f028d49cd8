"""Seeds of random numbers."""

import numpy as np

from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import is_whole


def entropy(seed, name="seed"):
    """Return the number that a SeedSequence starts from, which results report.

    Parameters
    ----------
    seed : int, numpy.random.SeedSequence, numpy.random.Generator or None
        None gives a fresh one; of a Generator one number is drawn.
    name : str
        The argument as the user writes it.

    Returns
    -------
    int

    Raises
    ------
    ArgumentError
        If it is none of these, or negative.
    """
    if isinstance(seed, np.random.SeedSequence):
        if is_whole(seed.entropy) and not seed.spawn_key:
            return int(seed.entropy)
        return int.from_bytes(seed.generate_state(2, np.uint64).tobytes(), "little")
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    if seed is None:
        return np.random.SeedSequence().entropy
    if not is_whole(seed) or seed < 0:
        wanted = "a whole number, at least 0, or a numpy SeedSequence or Generator"
        raise must_be(name, seed, wanted)
    return int(seed)
