"""The results of an update."""

from sgmc.errors import ArgumentError
from sgmc.models.regression.info import ModelInfo
from sgmc.models.regression.results import RegressionResults


def counts_of(fit):
    """Observations of the first fit and of each update."""
    return *fit.problem.own.past.counts, fit.problem.table.nobs


class UpdatedInfo(ModelInfo):
    """What a result keeps of a regression and its updates."""

    def __init__(self, model):
        super().__init__(model)
        self.inputs = model.earlier.model.inputs

    def heading(self, fit):
        # old and new rows
        left, right = super().heading(fit)
        update, table = fit.problem.own, fit.problem.table
        rows = f"{update.past.nobs:.12g} old + {table.nobs:.12g} new"
        return left, [(k, rows if k == "No. Observations" else v) for k, v in right]

    def remarks(self, fit):
        # the chain of updates, too
        update = fit.problem.own
        counts = " + ".join(f"{one:.12g}" for one in counts_of(fit))
        number = len(update.past.counts)
        return [
            f"Update {number} of a posterior, of {counts} observations: {update.account}.",
            *super().remarks(fit),
        ]


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
        account = fit.problem.own.account
        return {
            "updates": counts_of(fit),
            "drift": account.drift,
            "neglected": account.neglected,
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
                "draws= as many as you need",
                because="limit",
            )
        return super().resume(draws, data, **how)
