"""The results of an update."""

from sgmc.errors import ArgumentError
from sgmc.models.regression.results import RegressionResults


class UpdatedResults(RegressionResults):
    """The posterior of a regression that was carried on with new rows.

    The data of the fit are the new rows: residuals, fitted values, `loo` and `pp_check` are of
    these.

    Attributes
    ----------
    updates : tuple of float
        Observations of the first fit, and of each update.
    drift : float
        Distance of the new mode from the old one, in sds of the old posterior.
    neglected : float
        Largest error, in posterior sds or of an sd relative to it, by what is neglected of the
        earlier rows; NaN where it is not known.
    """

    @classmethod
    def besides(cls, fit):
        problem = fit.problem
        return {
            "updates": (*problem.past.counts, problem.own_nobs),
            "drift": problem.account.drift,
            "neglected": problem.account.neglected,
        }

    def resume(self, draws=None, data=None, **how):
        """Add draws, in the session of the update alone.

        Raises
        ------
        ArgumentError
            For results that were loaded from a file.
        """
        if self._fit is None or data is not None:
            raise ArgumentError(
                "resume: an update goes on in its own session alone; update again, with "
                "draws= as many as you need"
            )
        return super().resume(draws, data, **how)
