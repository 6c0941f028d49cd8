"""Model criticism: sensitivity to the prior, calibration, Bayes factors of points."""

from sgmc.results.outcomes.pit import loo_pit
from sgmc.results.priors.savage_dickey import bayes_factor
from sgmc.results.priors.sensitivity import sensitivity


class Criticism:
    """Methods of `RegressionResults` that judge model and prior."""

    def sensitivity(self):
        """How much each parameter's posterior would change if prior or likelihood counted a little
        more or less.

        Prior or likelihood is raised to the powers .99 and 1.01 by Pareto-smoothed weights of the
        draws.  The numbers are the rate at which a parameter's distribution moves, by the
        cumulative Jensen-Shannon distance, per doubling of the power (Kallioinen, Paananen,
        Buerkner & Vehtari 2024, eq. 9, doi:10.1007/s11222-023-10366-5).  Below .05 nothing to
        speak of happens.

        Returns
        -------
        DataFrame
            ``prior``, ``likelihood`` and ``diagnosis`` of each parameter: "prior and data disagree"
            where both are at least .05, "the prior decides, not the data" where the prior's alone
            is.

        Raises
        ------
        NotSupported
            For draws with weights, and of sandwiches.
        """
        return sensitivity(self)

    def bayes_factor(self, statement):
        """Bayes factor of a point against the rest, by the Savage-Dickey ratio.

        BF01 = p(point | data) / p(point), the density of the posterior over that of the prior: how
        much more (or less) the point is worth believing after the data (Dickey 1971,
        doi:10.1214/aoms/1177693507).  It depends on the prior's scale: give a prior that says what
        you expect.

        Parameters
        ----------
        statement : str
            ``"x1 = 0"``, or, with normal priors, ``"x1 = x2"`` and other linear equations.

        Returns
        -------
        Series
            ``BF01`` (above 1: for the point), its log and Monte Carlo error ``mcse`` of the log,
            and the logs of both densities.

        Raises
        ------
        ArgumentError
            Under a flat prior, and for points so far out that draws tell no density there.
        """
        return bayes_factor(self, statement)

    def loo_pit(self, seed=None):
        """Rank of each outcome in what the other rows predict for it, between 0 and 1.

        P(y_new <= y_i | y without row i), by Pareto-smoothed weights of simulated outcomes, spread
        evenly over ties: uniform if the model is calibrated (Gelfand, Dey & Chang 1992; Vehtari,
        Gelman & Gabry 2017).

        Parameters
        ----------
        seed : int, SeedSequence or Generator, optional
            Of simulated outcomes; default that of the fit.

        Returns
        -------
        ndarray (n,)
            In the order of the data; of more than 5,000 rows 5,000, evenly spaced.
        """
        return loo_pit(self, seed)

    def plot_loo_pit(self, ax=None, seed=None):
        """Share of `loo_pit` below each level, less that level, with 95 % limits for all levels
        together.
        """
        from sgmc.plots.calibration import ranks

        return ranks(self.loo_pit(seed), ax)
