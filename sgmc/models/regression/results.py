"""The results of a regression fit."""

from sgmc.models.regression.info import ModelInfo  # noqa: F401  (beside the results that are made of it)
from sgmc.results.outcomes.predictions import Predictions
from sgmc.results.results import Results


class RegressionResults(Results, Predictions):
    """The posterior of a regression: `Results`, and predictions averaged over its draws.

    Attributes
    ----------
    df_model : int
    """

    @property
    def df_model(self):
        """Coefficients but for intercepts."""
        return self.model.df_model

    @property
    def k_constant(self):
        """1 with an intercept, else 0."""
        return self.model.equations * len(self.model.exog_names) - self.df_model

    @property
    def df_resid(self):
        """Observations less coefficients, as statsmodels counts; a posterior makes no use of it."""
        return self.nobs - self.model.equations * len(self.model.exog_names)
