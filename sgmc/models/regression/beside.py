"""Settings of a fit against what its table has beside design and outcomes."""

from sgmc.arguments.covariances import check_covariance_of
from sgmc.errors import ArgumentError
from sgmc.models.regression.bases.errors import refuse_beside_errors


def check_beside(data, prior, checked):
    """Refuse settings that strata, groups or known errors of the rows do not go with.

    Parameters
    ----------
    data : RegressionData
    prior : None, str, PriorSpec or dict
    checked : Settings
    """
    if data.strata is not None and checked.subsample != "stratified":
        raise ArgumentError(
            f"strata does not apply to subsample={checked.subsample!r}; give subsample='stratified'"
        )
    check_covariance_of(data.groups, data.equations, checked.cov_type)
    if data.se is not None:
        refuse_beside_errors(prior, checked)
