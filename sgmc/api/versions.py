"""Versions of everything that a result may depend on, for bug reports."""

import os
import platform
import sys
from importlib import metadata
from typing import Any

from sgmc.version import __version__

REQUIRED = (
    "numpy",
    "scipy",
    "pandas",
    "patsy",
    "statsmodels",
    "arviz-stats",
    "tqdm",
    "threadpoolctl",
    "pooch",
    "narwhals",
)
OPTIONAL = (
    "arviz-base",
    "dask",
    "distributed",
    "jax",
    "matplotlib",
    "numba",
    "polars",
    "pyarrow",
    "scikit-learn",
)


def show_versions() -> None:
    """Print the versions of Python, sgmc, its dependencies and BLAS, for a bug report.

    Examples
    --------
    >>> sgmc.show_versions()
    """
    for title, facts in versions().items():
        print(title)
        width = max(map(len, facts), default=0)
        print("".join(f"  {name:{width}}  {value}\n" for name, value in facts.items()))


def versions() -> dict[str, dict[str, Any]]:
    """Return the versions that `show_versions` prints: title -> name -> version."""
    return {
        "System": {
            "python": sys.version.replace("\n", " "),
            "executable": sys.executable,
            "platform": platform.platform(),
            "cores": os.cpu_count(),
        },
        "Package": {"sgmc": __version__},
        "Dependencies": {name: version(name) for name in REQUIRED},
        "Optional dependencies": {name: version(name) for name in OPTIONAL},
        "Linear algebra": blas(),
    }


def version(name: str) -> str:
    """Return the version of an installed distribution, or "not installed"."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def blas() -> dict[str, str]:
    """Return the libraries of numpy and scipy that have threads: name -> version and threads."""
    import scipy.linalg  # noqa: F401  (loads its BLAS)
    from threadpoolctl import threadpool_info

    return {
        os.path.basename(one["filepath"]): " ".join(
            str(part)
            for part in (
                one["internal_api"],
                one["version"],
                one.get("architecture", ""),
                f"{one['num_threads']} threads",
            )
            if part
        )
        for one in threadpool_info()
    }
