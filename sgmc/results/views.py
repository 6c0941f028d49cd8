"""Results in other hands: ArviZ and Matplotlib."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sgmc.arguments.choices import flag
from sgmc.arguments.data.arrays import numeric
from sgmc.arguments.data.draws import mean_and_sd
from sgmc.arguments.declared.signatures import ByOtherNames
from sgmc.arguments.intervals import with_level
from sgmc.arguments.names import parameters
from sgmc.arguments.numbers import level
from sgmc.arguments.types import Array, Floats
from sgmc.errors import ArgumentError, NotSupported

if TYPE_CHECKING:
    from sgmc.results.results import Results


MOST_PLOTS = 40


class Views(ByOtherNames):
    """Methods of `Results` that draw it or hand it on."""

    def to_arviz(
        self,
        log_likelihood: bool = False,
        *,
        posterior_predictive: bool = False,
        observed_data: bool = True,
    ) -> Any:
        """Return an ArviZ `DataTree` (arviz-base 0.8 or later).

        ArviZ 1.0, which needs Python 3.12, and arviz-stats read it.  For ArviZ 0.2x give
        ``arviz.InferenceData.from_datatree(tree)``.

        Each parameter is a variable of the group ``posterior`` by its own name, such as ``age``;
        slashes in names become division signs, and a name that is a dimension ends in ``_``.  More
        than 500 parameters are one variable ``params`` along ``parameter``.  Groups of rows have
        the variable ``y`` along ``row``, which has the index of a pandas table.  ArviZ knows no
        weights of draws: weighted ones are resampled in proportion to their weights, in their
        order; ``sample_stats`` says which was taken.  Positions of a fit with ``keep_warmup=True``
        are the group ``warmup_posterior``, which is never resampled.

        Parameters
        ----------
        log_likelihood : bool
            With the log densities of all rows, for ``arviz_stats.loo``.  Not of a fit with
            weights: ArviZ counts each row once; `loo` counts rows by their weights.
        posterior_predictive : bool
            With a simulated data set for each draw, from the seed of the fit.
        observed_data : bool
            With the outcomes; results that were loaded from a file have none.

        Raises
        ------
        ArgumentError
            If a group of rows would be larger than 1 GB, or the data are not there; with
            `log_likelihood`, if the fit has weights other than 1.
        MissingExtra
            If arviz-base is not installed.
        """
        from sgmc.results.exchange import Wanted, to_arviz

        return to_arviz(self, Wanted(log_likelihood, posterior_predictive, observed_data))

    @with_level
    def plot(
        self,
        cols: str | Sequence[str] | None = None,
        ax: Any = None,
        *,
        alpha: float = 0.05,
        exponentiate: bool = False,
    ) -> Any:
        """Draw an overview: coefficients in comparable units, with 50 and 95 % intervals.

        As `plot_forest` with ``by_sd=True``: coefficients of numbers are per sd of their column.
        Results without the rows of the fit, such as loaded ones, and models that are not
        regressions are drawn as they are; the axis and the names tell which.

        Parameters
        ----------
        cols, ax, alpha, exponentiate
            As in `plot_forest`.

        Returns
        -------
        Axes
        """
        from sgmc.results.forest import forest

        return forest(self, cols, ax, None, exponentiate, alpha)

    @with_level
    def plot_forest(
        self,
        cols: str | Sequence[str] | None = None,
        ax: Any = None,
        *,
        by_sd: bool = False,
        exponentiate: bool = False,
        alpha: float = 0.05,
    ) -> Any:
        """Draw a forest plot: a point and two intervals for each parameter, from the top down.

        Points are posterior means, with `exponentiate` medians.  Thick bars are 50 % intervals,
        thin ones have probability 1 - alpha; all are equal-tailed.

        Parameters
        ----------
        cols : str or list of str, optional
            Parameters wanted, at most 100; default the slopes of a regression, straight lines of
            smooths aside (`plot_smooth` has these), of other models all parameters.
        ax : Axes, optional
            Default: a new figure, as high and wide as the names need.
        by_sd : bool
            Coefficients per sd of their column, written behind the name, so that those of years
            and of euros compare.  Factor levels and columns of 0 and 1 remain differences.
        exponentiate : bool
            Exponentials of coefficients on a logarithmic axis: odds ratios of logit, ratios of
            means with a log link.
        alpha : float
            One minus the probability of the thin bars.

        Returns
        -------
        Axes

        Raises
        ------
        ArgumentError
            For more than 100 parameters, and with `exponentiate` for those that are not
            coefficients.
        NotSupported
            With `by_sd`, of results without the rows of the fit.
        """
        from sgmc.results.forest import forest

        return forest(self, cols, ax, by_sd, exponentiate, alpha)

    def plot_pair(self, cols: str | Sequence[str] | None = None, ax: Any = None) -> Array:
        """Plot parameters against each other: draws below the diagonal, densities on it,
        correlations above.

        Of many draws 1,000 are shown; weighted draws are shown in proportion to their weights.

        Parameters
        ----------
        cols : list of str, optional
            From 2 to 8 parameters; default all.
        ax : list of Axes, optional
            One a panel, row by row; default a new figure.

        Returns
        -------
        ndarray of Axes, (parameter, parameter)

        Raises
        ------
        ArgumentError
            For fewer than 2 or more than 8 parameters.
        """
        from sgmc.plots.pairs import pair

        return pair(*self._plotted(cols), ax)

    def plot_rank(self, cols: str | Sequence[str] | None = None, ax: Any = None) -> Array:
        """Plot whether chains agree: how each chain's draws rank among those of all chains.

        A line per chain: the share of its draws below each quantile of all draws, less the expected
        share.  If chains agree, all lines of a panel are within the grey band with probability
        95 % (Säilynoja, Bürkner & Vehtari 2022, doi:10.1007/s11222-022-10090-6).  A line above the
        band on the left: this chain has too many small draws.  Draws are thinned to the effective
        ones first.

        Parameters
        ----------
        cols, ax
            As in `plot_acf`.

        Raises
        ------
        NotSupported
            For a single chain.
        """
        from sgmc.plots.ranks import rank

        if self.draws.shape[0] < 2:
            raise NotSupported(
                "plot_rank compares chains, and there is one: fit with chains=4",
                because="mathematics",
            )
        return rank(*self._plotted(cols), ax)

    def plot_trace(
        self,
        cols: str | Sequence[str] | None = None,
        ax: Any = None,
        *,
        warmup: bool = True,
        density: bool | None = None,
    ) -> Array:
        """Plot draws of each chain in their order; along the time of the dynamics where steps vary.

        Positions of warmup, of a fit with ``keep_warmup=True``, are before 0, on a grey ground;
        a dashed vertical line is at the end of warmup.  Each takes as much room as a draw; the
        legend gives the number of steps between two of them.

        Parameters
        ----------
        cols : str or list of str, optional
            Parameters wanted; default all.
        ax : Axes or list of Axes, optional
            One a parameter, or with ``density=True`` two; default a new figure.
        warmup : bool
            With the positions of warmup, where the fit kept them.
        density : bool
            Beside each trace, with the density of each chain's draws, weighted where they are.
            Those of warmup do not count.  Default: in a new figure, not with `ax`.

        Returns
        -------
        ndarray of Axes
            One a parameter; with `density` two, the trace first.
        """
        from sgmc.plots.chains import trace

        draws, weights, names = self._plotted(cols)
        beside = ax is None if density is None else flag("density", density)
        before = None
        if flag("warmup", warmup) and self.warmup is not None:
            chosen = self.warmup.draws[:, :, [self.names.index(name) for name in names]]
            before = replace(self.warmup, draws=chosen)
        return trace(draws, weights, names, ax, before, beside)

    @with_level
    def plot_posterior(
        self,
        cols: str | Sequence[str] | None = None,
        ax: Any = None,
        *,
        alpha: float = 0.05,
        reference: Any = None,
        prior: bool = False,
    ) -> Array:
        """Plot a histogram of each parameter's draws, weighted where they are; mean and interval
        are drawn, and written beneath.

        Parameters
        ----------
        cols, ax
            As in `plot_trace`.
        alpha : float
            Of the interval.
        reference : Results or (mean, sd), optional
            What to compare with, laid over it: another fit with parameters of these names, or means
            and sds of normal densities, such as statsmodels' ``(fit.params, fit.bse)``: by name, or
            a number for each parameter plotted, in their order.
        prior : bool
            With the density of each parameter's prior, of regressions.  It is drawn where the draws
            are: a wide prior is a flat line near 0 there.  Flat priors have no density, and none
            is drawn.

        Raises
        ------
        NotSupported
            With `prior`, for models other than regressions, group terms and sandwiches.
        """
        from sgmc.plots.posterior import posterior

        draws, weights, names = self._plotted(cols)
        other = None if reference is None else compared(reference, names)
        curves = prior_curves(self, names) if prior else None
        return posterior(draws, weights, names, ax, level(alpha), other, curves)

    def plot_acf(
        self, cols: str | Sequence[str] | None = None, ax: Any = None, *, max_lag: int = 40
    ) -> Array:
        """Plot the autocorrelation of each chain's draws, weighted where they are; see
        `plot_trace`.
        """
        from sgmc.plots.chains import acf

        return acf(*self._plotted(cols), ax, max_lag)

    def _plotted(
        self, cols: str | Sequence[str] | None, most: int = MOST_PLOTS
    ) -> tuple[Floats, Floats | None, list[str]]:
        """Draws (chain, draw, parameter) to plot, their weights and names."""
        names = list(self.names) if cols is None else parameters("cols", cols, self.names)
        if len(names) > most:
            raise ArgumentError(
                f"{len(names)} parameters are too many to plot: choose some, e.g. "
                f"cols={names[:3]!r}"
            )
        return self.draws[:, :, [self.names.index(name) for name in names]], self.weights, names


def prior_curves(results: "Results", names: list[str]) -> Any:
    """The prior density of each of these parameters, a function of numbers, or None where it is
    flat; see `Views.plot_posterior`.
    """
    from sgmc.results.priors.distributions import margin, refuse_other

    if getattr(results, "priors", None) is None or not hasattr(results.model, "family"):
        raise NotSupported(
            "prior=True is for regressions: give reference= a fit of the prior", because="limit"
        )
    refuse_other(results, "plot_posterior(prior=True)")
    centre = results._fit.problem.table.mean
    return [margin(results.priors, centre, name) for name in names]


def compared(reference: Any, names: list[str]) -> tuple[Floats, Floats | None]:
    """Draws (chain, draw, parameter) of these names and their weights, or their means and sds; see
    `Views.plot_posterior`.
    """
    if isinstance(reference, Views):
        refuse_without(reference.names, names)
        return reference.draws[
            :, :, [reference.names.index(name) for name in names]
        ], reference.weights
    mean, sd = (numbers_for(one, names) for one in mean_and_sd("reference", reference))
    if not (sd > 0).all():
        raise ArgumentError(
            f"reference: the sd of {names[int(np.argmin(sd > 0))]!r} must be positive"
        )
    return mean, sd


def numbers_for(values: Any, names: list[str]) -> Floats:
    """Finite numbers for these names, of a Series or dict by name, or in their order."""
    if hasattr(values, "keys"):
        refuse_without(list(values.keys()), names)
        values = [values[name] for name in names]
    numbers = np.atleast_1d(numeric("reference", values)).astype(float)
    if numbers.shape != (len(names),) or not np.isfinite(numbers).all():
        raise ArgumentError(
            f"reference: means and sds must be {len(names)} finite numbers, one a parameter plotted"
        )
    return numbers


def refuse_without(known_names: list[str], names: list[str]) -> None:
    """ArgumentError, naming the first of `names` that a reference has not."""
    for name in names:
        if name not in known_names:
            raise ArgumentError(
                f"reference has no parameter {name!r}; it has "
                f"{', '.join(map(str, known_names[:8]))}: choose cols="
            )
