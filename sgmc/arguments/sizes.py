"""Sizes in bytes, as numbers or as text with a unit."""

import math
import re

from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import is_number

UNITS = {"": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
SIZE = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]?I?B?)\s*")


def in_bytes(name: str, value: object, least: float = 0) -> float:
    """Return a size in bytes as a float.

    Parameters
    ----------
    name : str
        The argument as the user writes it.
    value : float or str
        Bytes, or text such as ``"500MB"``, ``"2 GB"`` (1 GB is 2^30 bytes).
    least : float
        The least that is allowed.

    Raises
    ------
    ArgumentError
        If it is no size, or less than that.
    """
    wanted = f'bytes or text such as "500MB", at least {least / UNITS["MB"]:.0f} MB'
    if isinstance(value, str):
        match = SIZE.fullmatch(value.upper())
        unit = match[2].replace("I", "") if match else ""
        if not match or unit + "B" * (unit in "KMGT" and unit != "") not in UNITS | {"B": 1}:
            raise must_be(name, value, wanted)
        size = float(match[1]) * UNITS.get(unit + "B" * (unit in tuple("KMGT")), 1)
    elif is_number(value) and math.isfinite(value):
        size = float(value)
    else:
        raise must_be(name, value, wanted)
    if size < least:
        raise must_be(name, value, wanted)
    return size
