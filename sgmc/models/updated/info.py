"""What a result of an update keeps of its model."""

from sgmc.models.regression.info import ModelInfo


class UpdatedInfo(ModelInfo):
    """What a result keeps of a regression and its updates."""

    def __init__(self, model):
        super().__init__(model)
        first = model.earlier.model
        self.kind, self.inputs = first.kind, first.inputs

    def heading(self, fit):
        # old and new rows
        left, right = super().heading(fit)
        problem = fit.problem
        rows = f"{problem.past.nobs:.12g} old + {problem.own_nobs:.12g} new"
        return left, [(k, rows if k == "No. Observations" else v) for k, v in right]

    def remarks(self, fit):
        # the chain of updates, too
        problem = fit.problem
        counts = " + ".join(f"{one:.12g}" for one in (*problem.past.counts, problem.own_nobs))
        number = len(problem.past.counts)
        return [
            f"Update {number} of a posterior, of {counts} observations: {problem.account}.",
            *super().remarks(fit),
        ]
