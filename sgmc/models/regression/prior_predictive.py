"""Draws of priors, and of outcomes by them, before a fit."""


class PriorPredictive:
    """Methods of regression models that need no fit."""

    def prior_draws(self, prior=None, *, draws=1000, seed=None):
        """Draw parameters from their priors, independently.

        Parameters
        ----------
        prior : str, prior or dict, optional
            As in `fit`.  Priors whose scale is ``[*]`` are in units of the data.
        draws : int
        seed : int, SeedSequence or Generator, optional

        Returns
        -------
        DataFrame
            A row a draw, a column a parameter.

        Raises
        ------
        ArgumentError
            Naming a parameter whose prior is improper (``flat()``), or takes its scale from the
            outcomes.
        """
        from sgmc.models.regression.prior_outcomes import before_outcomes

        return before_outcomes(self, prior, draws, seed)[1]

    def prior_predict(self, prior=None, *, draws=1000, seed=None):
        """Simulate outcomes for the rows of the data by parameters drawn from their priors.

        They show which outcomes the priors imply (Gabry, Simpson, Vehtari, Betancourt & Gelman
        2019, section 3, doi:10.1111/rssa.12378).

        Parameters
        ----------
        prior, draws, seed
            As in `prior_draws`, whose parameters they are of at the same seed.

        Returns
        -------
        ndarray, (draw, row)
            Numbers of kinds where outcomes are kinds; NaN where they are too large for a number.

        Raises
        ------
        ArgumentError
            As in `prior_draws`; and if it would be larger than 1 GB.
        """
        from sgmc.models.regression.prior_outcomes import outcomes

        return outcomes(self, prior, draws, seed)
