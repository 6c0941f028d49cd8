"""Real data sets of the literature, each checked against a checksum of its content, and simulated
tables whose true parameters are known.

`load` reads a copy from the folder named by the environment variable ``SGMC_DATA``, else downloads
the original once.  ``fair`` comes with statsmodels and is always there.  Simulated tables need no
file: `reaction_times`, `recoveries`, `course_ratings`, `hospital_stays`.  `licences` lists sources
and licences.
"""

from typing import Any

from sgmc.datasets.loading import licences, load, names
from sgmc.datasets.simulated import course_ratings, hospital_stays, reaction_times, recoveries
from sgmc.elsewhere import IN_DATASETS

__all__ = [
    "course_ratings",
    "hospital_stays",
    "licences",
    "load",
    "names",
    "reaction_times",
    "recoveries",
]


def __getattr__(name: str) -> Any:
    told = f"; {IN_DATASETS[name]}" if name in IN_DATASETS else ""
    raise AttributeError(f"module 'sgmc.datasets' has no attribute {name!r}{told}")
