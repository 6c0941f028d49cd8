"""Memory: what is available to this process, what it has used, and what a computation will need."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sgmc.errors import OutOfMemoryError

MB = 1 << 20
READING_SHARE = 0.25  # of the available memory, that rows which are read at once may take
UNLIMITED = 1 << 60  # a cgroup of version 1 without a limit has a number beyond it


@dataclass(frozen=True)
class Forecast:
    """Memory that a fit is expected to need at its peak, above what the process has.

    Attributes
    ----------
    parts : dict
        What needs it -> bytes, at the time of the peak.
    blame : str
        What makes it as large as it is, and what to do: a clause for a message.
    available : float
        Bytes that the process may still use; infinity where that is not known.
    """

    parts: dict[str, float]
    blame: str
    available: float

    @property
    def total(self) -> float:
        """Bytes of all parts."""
        return float(sum(self.parts.values()))

    def refuse(self) -> None:
        """Raise OutOfMemoryError where it is more than is available."""
        if self.total > self.available:
            raise OutOfMemoryError(
                f"the fit would need about {shown(self.total)}, and {shown(self.available)} are "
                f"available: {self.blame}"
            )

    def __str__(self) -> str:
        lines = [f"{name:<44} {shown(size):>12}" for name, size in self.parts.items()]
        there = "not known" if self.available == float("inf") else shown(self.available)
        return "\n".join(
            [*lines, f"{'peak':<44} {shown(self.total):>12}", f"{'available':<44} {there:>12}"]
        )


@dataclass(frozen=True)
class Used:
    """What a fit has used at its peak, beside its forecast.

    Attributes
    ----------
    peak : float
        Bytes of resident memory above the start of the fit; NaN where the system does not tell.
    exact : bool
        Whether this is the peak, and not a bound: the process may have used more before.
    forecast : float
        Bytes.
    """

    peak: float
    exact: bool
    forecast: float

    def __str__(self) -> str:
        if self.peak != self.peak:
            return f"Peak memory: forecast {shown(self.forecast)}; this system does not tell it."
        bound = "" if self.exact else "at most "
        return (
            f"Peak memory: {bound}{shown(self.peak)} above the start of the fit (forecast: "
            f"{shown(self.forecast)})."
        )


class Gauge:
    """The peak of resident memory from now on."""

    def __init__(self) -> None:
        self.begun, self.highest = resident()

    def used(self, forecast: float) -> Used:
        """`Used`, given the bytes that were forecast."""
        peak = resident()[1]
        return Used(float(peak - self.begun), peak > self.highest, float(forecast))


def resident(status: str = "/proc/self/status") -> tuple[float, float]:
    """Bytes of resident memory, and the highest there have been; NaN where the system does not
    tell.
    """
    try:
        lines = dict(line.split(":", 1) for line in Path(status).read_text().splitlines())
        now, most = (1024 * int(lines[key].split()[0]) for key in ("VmRSS", "VmHWM"))
        return now, most
    except (OSError, KeyError, ValueError):
        return float("nan"), float("nan")


def available(root: str = "/") -> float:
    """Bytes that this process may still use: the least of what the machine, its control groups and
    the limit of its address space leave; infinity where none of these is known.

    Parameters
    ----------
    root : str
        Of the file system.
    """
    return min(machine(Path(root)), *groups(Path(root)), address_space())


def machine(root: Path) -> float:
    """Bytes that the machine has left, or where that is not known, all that it has."""
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def groups(root: Path) -> list[float]:
    """Bytes that each control group (version 1 or 2) of this process leaves, a list; pages of files
    that it can do without count as free.
    """
    left = [float("inf")]
    for folder, limit, used in control_groups(root):
        try:
            most = int((folder / limit).read_text())
            spent = int((folder / used).read_text())
            facts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        except (OSError, ValueError):  # no such group, or "max"
            continue
        if most < UNLIMITED:
            files = facts.get("total_inactive_file", facts.get("inactive_file", "0"))
            left.append(max(most - spent + int(files), 0))
    return left


def control_groups(root: Path) -> Iterator[tuple[Path, str, str]]:
    """Triples (folder, file of the limit, file of the use) of the groups of this process and of
    those around them.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, path = line.split(":", 2)
        if kinds and "memory" not in kinds.split(","):
            continue
        top = root / "sys/fs/cgroup" / ("memory" if kinds else "")
        names = (
            ("memory.limit_in_bytes", "memory.usage_in_bytes")
            if kinds
            else ("memory.max", "memory.current")
        )
        inner = top / path.lstrip("/")
        for folder in (inner, *inner.parents):
            yield folder, *names
            if folder == top:
                break


def address_space(status: str = "/proc/self/status") -> float:
    """Bytes that the limit of the address space (``ulimit -v``) leaves."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return float("inf")
        text = next(t for t in Path(status).read_text().splitlines() if t.startswith("VmSize:"))
        return max(most - 1024 * int(text.split()[1]), 0)
    except (ImportError, OSError, StopIteration, ValueError):
        return float("inf")


@contextmanager
def named(blame: Callable[[], str]) -> Iterator[None]:
    """MemoryError as OutOfMemoryError with what to blame, a function that returns a clause."""
    try:
        yield
    except OutOfMemoryError:
        raise
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        raise OutOfMemoryError(f"memory is exhausted{detail}: {blame()}") from error


def shown(size: float) -> str:
    """Bytes as text."""
    if size == float("inf"):
        return "unlimited"
    return f"{size / 1024**3:.2f} GB" if size >= 1024**3 else f"{size / MB:.0f} MB"
