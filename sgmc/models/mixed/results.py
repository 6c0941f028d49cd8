"""The results of a regression with grouped effects."""

from sgmc.results.absent import refusal
from sgmc.results.outcomes.predictions import Predictions
from sgmc.results.results import Results


class MixedResults(Results):
    """The posterior of a regression with grouped effects: draws of coefficients, standard
    deviations, correlations and auxiliary parameters; effects of levels on demand.
    """

    @property
    def df_model(self):
        """Coefficients but for intercepts."""
        return self.model.df_model

    @property
    def fe_params(self):
        """Posterior means of the coefficients, a Series."""
        return self.params.iloc[: len(self.model.exog_names)]

    @property
    def bse_fe(self):
        """Posterior standard deviations of the coefficients, a Series."""
        return self.bse.iloc[: len(self.model.exog_names)]

    def __getattr__(self, name):
        if hasattr(Predictions, name):
            raise AttributeError(f"{name} is not there yet for regressions with group terms")
        raise AttributeError(
            refusal(name) or f"{type(self).__name__!r} object has no attribute {name!r}"
        )
