"""The results of counts whose dispersion has predictors."""

from sgmc.models.regression.results import RegressionResults


class DispersionResults(RegressionResults):
    """The posterior of a regression whose dispersion has a formula of its own: `RegressionResults`,
    and the dispersion of rows.
    """

    def dispersion(self, exog=None):
        """Posterior mean of alpha, averaged over draws; Var[y | x] = mu + alpha mu^2.

        Parameters
        ----------
        exog : DataFrame, optional
            New rows, with the predictors of both parts.  The data of the fit if left out.

        Returns
        -------
        Series or ndarray
        """
        return self.predict(exog, which="dispersion")
