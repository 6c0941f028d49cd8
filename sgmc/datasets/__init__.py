"""Real data sets of the literature, each checked against a checksum of its content, and simulated
tables whose true parameters are known.

`load` reads a copy from the folder named by the environment variable ``SGMC_DATA``, else downloads
the original once.  ``fair`` comes with statsmodels and is always there.  Simulated tables need no
file: `reaction_times`, `recoveries`, `course_ratings`, `hospital_stays`.  `licences` lists sources
and licences.
"""

from sgmc.datasets.loading import licences, load, names
from sgmc.datasets.simulated import course_ratings, hospital_stays, reaction_times, recoveries

__all__ = [
    "course_ratings",
    "hospital_stays",
    "licences",
    "load",
    "names",
    "reaction_times",
    "recoveries",
]
