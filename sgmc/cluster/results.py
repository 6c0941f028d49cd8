"""The results of a regression of rows in partitions."""

from sgmc.errors import ArgumentError
from sgmc.models.regression.info import ModelInfo
from sgmc.models.regression.results import RegressionResults


class PartitionedInfo(ModelInfo):
    """What a result keeps of a model whose rows are in partitions.

    Attributes
    ----------
    cluster : Cluster
    """

    cluster = None

    def heading(self, fit):
        # all rows, not those that stand for them
        left, right = super().heading(fit)
        rows, counted = self.cluster.rows, fit.problem.rows.nobs
        text = f"{rows}" if counted == rows else f"{counted:g} in {rows} rows"
        return left, [(k, text if k == "No. Observations" else v) for k, v in right]

    def remarks(self, fit):
        told = [one for one in super().remarks(fit) if not one.startswith("Outcomes ")]
        return [*told, *self.cluster.remarks()]


class PartitionedResults(RegressionResults):
    """The posterior of a regression of rows in partitions.

    Attributes
    ----------
    cluster : Cluster
        Rows, partitions, passes, bytes moved, and what the reservoir costs in accuracy.
    """

    @property
    def cluster(self):
        """Rows, partitions, passes and bytes, and the reservoir's error."""
        return self.model.cluster

    def _details(self):
        return [*super()._details(), *self.cluster.details()]

    def table_rows(self, exog=None, offset=None, **how):
        """The `Rows` of new data; those of the fit are not in this process."""
        if exog is None:
            raise ArgumentError(
                "the rows of the fit are in partitions, not in this process: give new rows, such "
                "as res.predict(frame), partition by partition"
            )
        return super().table_rows(exog, offset, **how)
