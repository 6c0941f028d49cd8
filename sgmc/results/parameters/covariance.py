"""The covariance of the draws, and of what the model alone would say where draws have the
sandwich's.
"""

import numpy as np

from sgmc.arguments.declared.covariances import COV_TYPES
from sgmc.errors import ArgumentError


def covariance_of(results, cov_type=None):
    """An array (d, d); see `Results.cov_params`."""
    known = tuple(dict.fromkeys(["nonrobust", results.cov_type]))
    if not (cov_type is None or isinstance(cov_type, str) and cov_type in known):
        hint = f"; fit with cov_type={cov_type!r} for it" if cov_type in COV_TYPES else ""
        raise ArgumentError(
            f"cov_type={cov_type!r}: these results have {' and '.join(map(repr, known))}{hint}"
        )
    if cov_type in (None, results.cov_type):
        return np.atleast_2d(np.cov(results.flat.T, aweights=results.flat_weights))
    return results._curvature_covariance


def beside(results):
    """A column for the table of a robust fit: the sds of the model alone; none for other fits."""
    return (
        {}
        if results.cov_type == "nonrobust"
        else {"sd_nonrobust": np.sqrt(np.diag(results._curvature_covariance))}
    )
