"""Model criticism: sensitivity to the prior, calibration, Bayes factors of points."""

from typing import Any

import pandas as pd

from sgmc.arguments.declared.signatures import ByOtherNames
from sgmc.arguments.intervals import with_level
from sgmc.arguments.numbers import level
from sgmc.arguments.types import Floats, Frame, Seed, Series
from sgmc.core.system import phases
from sgmc.results.outcomes.criticism.pit import loo_pit
from sgmc.results.outcomes.criticism.reliability import reliabilities
from sgmc.results.outcomes.data import words
from sgmc.results.priors.savage_dickey import bayes_factor
from sgmc.results.priors.sensitivity import sensitivity


class Criticism(ByOtherNames):
    """Methods of `RegressionResults` that judge model and prior."""

    @phases.shown("changing prior and likelihood")
    def sensitivity(self) -> Frame:
        """Estimate how much each parameter's posterior would change if prior or likelihood counted
        a little more or less.

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

    def bayes_factor(self, statement: str) -> Series:
        """Return the Bayes factor of a point against the rest, by the Savage-Dickey ratio.

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

    @phases.shown("leaving rows out")
    def loo_pit(self, seed: Seed = None) -> Floats:
        """Return the rank of each outcome in what the other rows predict for it, between 0 and 1.

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

        Raises
        ------
        NotSupported
            For outcomes 0 and 1 and of several kinds (see `calibration`), for survival times, and
            with group terms.
        """
        return loo_pit(self, seed)

    def plot_loo_pit(self, ax: Any = None, seed: Seed = None) -> Any:
        """Plot the share of `loo_pit` below each level, less that level, with 95 % limits for all
        levels together.
        """
        from sgmc.plots.calibration import ranks

        return ranks(self.loo_pit(seed), ax)

    @phases.shown("leaving rows out")
    def calibration(self, loo: bool = True, seed: Seed = None) -> Any:
        """Return the Brier score and its parts: do outcomes predicted with probability p happen
        with frequency p?

        Frequencies are the isotonic regression of outcomes on predicted probabilities (CORP:
        Dimitriadis, Gneiting & Jordan 2021, eqs. 4 to 6, doi:10.1073/pnas.2016191118).  With S the
        mean squared error of the probabilities, S_C that of these frequencies and S_R that of the
        share of all outcomes,

            S = miscalibration (S - S_C) - discrimination (S_R - S_C) + uncertainty (S_R).

        Parameters
        ----------
        loo : bool
            Predictions of each row by the others, with the weights of `loo`.  False: fitted
            probabilities, which have seen the outcomes and look better than those of new rows.
        seed : int, SeedSequence or Generator, optional
            Of resampled outcomes, for `p`; default that of the fit.

        Returns
        -------
        Series, or DataFrame with a row per kind
            ``brier``, ``miscalibration``, ``discrimination``, ``uncertainty``; ``p``, the share of
            500 sets of outcomes drawn with the predicted probabilities whose miscalibration is at
            least as large (it is never below zero, and positive by chance).  Each of several
            kinds is judged against all others.  Of more than 5,000 rows 5,000, evenly spaced.

        Raises
        ------
        NotSupported
            For outcomes that are numbers or times.
        """
        found = reliabilities(self, loo, seed)
        if None in found:
            return found[None].summary()
        table = pd.DataFrame([one.summary() for one in found.values()], list(found))
        return table.rename_axis(self.model.endog_names)

    @with_level
    def plot_calibration(
        self, ax: Any = None, *, alpha: float = 0.05, loo: bool = True, seed: Seed = None
    ) -> Any:
        """Plot a reliability diagram: frequency of the outcome over its predicted probability.

        The curve is the isotonic regression of `calibration`, the band its pointwise consistency
        band: where curves lie with probability 1 - alpha, if outcomes happen with the predicted
        probabilities.  Bars below show how often each probability is predicted.

        Parameters
        ----------
        ax : Axes or list of Axes, optional
            One per kind of several.
        alpha : float
        loo, seed
            As in `calibration`.

        Returns
        -------
        Axes, or ndarray of Axes, one per kind
        """
        from sgmc.plots.calibration import reliability

        level(alpha)
        found = reliabilities(self, loo, seed)
        panels = [
            (
                words.event(self.model) if kind is None else f"{self.model.endog_names} = {kind}",
                (one.probability, one.frequency, *one.band(alpha), one.size),
                one.summary(),
            )
            for kind, one in found.items()
        ]
        axes = reliability(panels, 1 - alpha, ax)
        return axes[0] if None in found else axes
