"""Seconds and memory of some work, for scripts of this folder."""

import gc
import time
from pathlib import Path

from sgmc.core.system.memory import MB, resident

RESET = Path("/proc/self/clear_refs")  # forgets the high-water mark


def timed(work):
    """Seconds of some work, MB that it adds to the peak (NaN if unknown), its value."""
    gc.collect()
    if RESET.exists():
        RESET.write_text("5")
    begun, clock = resident()[0], time.perf_counter()
    value = work()
    return time.perf_counter() - clock, (resident()[1] - begun) / MB, value
