"""Real data sets of the literature, each checked against a checksum of its content.

`load` reads a copy from the folder named by the environment variable ``SGMC_DATA``, else downloads
the original once.  ``fair`` comes with statsmodels and is always there.
"""

from sgmc.datasets.loading import load, names

__all__ = ["load", "names"]
