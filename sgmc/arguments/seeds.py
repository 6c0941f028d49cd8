"""Seeds of random numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import is_whole
from sgmc.arguments.types import Seed
from sgmc.errors import ArgumentError


def entropy(seed: Seed, name: str = "seed") -> int:
    """Return the number that a SeedSequence starts from, which results report.

    Parameters
    ----------
    seed : int, SeedSequence, BitGenerator, Generator (of numpy.random) or None
        None gives a fresh one; of a generator one number is drawn.
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
    if isinstance(seed, np.random.BitGenerator):
        seed = np.random.Generator(seed)
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    if seed is None:
        return entropy(np.random.SeedSequence())
    if not is_whole(seed) or seed < 0:
        wanted = "a whole number, at least 0, or a numpy SeedSequence, BitGenerator or Generator"
        raise must_be(name, seed, wanted)
    return int(seed)


def one_seed(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a fit with `rng`, if it is given, as `seed` (SPEC 7).

    Raises
    ------
    ArgumentError
        If both are given.
    """
    rest = {name: value for name, value in arguments.items() if name != "rng"}
    if arguments.get("rng") is None:
        return rest
    if rest.get("seed") is not None:
        raise ArgumentError("seed and rng are both given: leave one of them out")
    return {**rest, "seed": entropy(arguments["rng"], "rng")}
