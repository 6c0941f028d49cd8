"""The results of counts with zeros of their own."""

from sgmc.models.regression.results import RegressionResults
from sgmc.results.outcomes.beside import with_exposure
from sgmc.results.outcomes.prediction import labelled


class ZeroResults(RegressionResults):
    """The posterior of a zero-inflated or hurdle regression: `RegressionResults`, and the
    probability of a zero.
    """

    def zero_probability(self, exog=None, *, offset=None, exposure=None, own=False):
        """Posterior mean of P(y = 0 | x), averaged over draws.

        Parameters
        ----------
        exog : DataFrame, optional
            New rows.  The data of the fit if left out.
        offset, exposure : array_like, optional
            As in `predict`.
        own : bool
            Of zeros that are none of the count's: pi, the probability that the zero part has.  Of a
            hurdle both are the same.

        Returns
        -------
        Series or ndarray
        """
        if own:
            return self.predict(exog, which="zero")
        rows = self.table_rows(exog, with_exposure(self, exog, offset, exposure)).affordable()
        return labelled(self, rows, rows.average(lambda at, eta: rows.family.zero_probability(eta)))
