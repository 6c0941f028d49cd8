"""Results in other hands: ArviZ and Matplotlib."""
from sgmc.errors import ArgumentError
from sgmc.results.checks import check_alpha, known

MOST_PLOTS = 40


class Views:
    """Methods of `Results` that draw it or hand it on."""

    def to_arviz(self, log_likelihood=False):
        """An ArviZ `DataTree` (arviz-base 0.8 or later) with posterior, observed_data and, if asked for, log_likelihood.

        The parameters are the variable ``params`` along ``parameter``.  ArviZ knows no weights of draws: weighted ones are
        resampled in proportion to their weights, in their order; ``sample_stats`` says which was taken.

        Parameters
        ----------
        log_likelihood : bool
            With the log densities of all rows, for ``arviz_stats.loo``.

        Raises
        ------
        MissingExtra
            If arviz-base is not installed.
        """
        from sgmc.results.exchange import to_arviz

        return to_arviz(self, log_likelihood)

    def plot_trace(self, cols=None, ax=None):
        """Draws of each chain in their order; along the time of the dynamics where steps vary.

        Parameters
        ----------
        cols : str or list of str, optional
            Parameters wanted; default all.
        ax : Axes or list of Axes, optional
            One a parameter; default a new figure.

        Returns
        -------
        ndarray of Axes, one a parameter
        """
        from sgmc.plots.chains import trace

        return trace(*self._plotted(cols), ax)

    def plot_posterior(self, cols=None, ax=None, *, alpha=0.05):
        """Histogram of each parameter's draws, weighted where they are, with mean and interval; see `plot_trace`."""
        from sgmc.plots.posterior import posterior

        return posterior(*self._plotted(cols), ax, check_alpha(alpha))

    def plot_acf(self, cols=None, ax=None, *, max_lag=40):
        """Autocorrelation of each chain's draws, weighted where they are; see `plot_trace`."""
        from sgmc.plots.chains import acf

        return acf(*self._plotted(cols), ax, max_lag)

    def plot_pp_check(self, ax=None, **how):
        """Mean outcome of groups of rows by E[y | x] against simulated ones; `how` as in `pp_check`."""
        from sgmc.plots.calibration import calibration

        return calibration(self.pp_check(**how), ax)

    def _plotted(self, cols):
        """Draws (chain, draw, parameter) to plot, their weights and names."""
        names = list(self.names) if cols is None else known(cols, self.names)
        if len(names) > MOST_PLOTS:
            raise ArgumentError(f"{len(names)} parameters are too many to plot: choose some, e.g. cols={names[:3]!r}")
        return self.draws[:, :, [self.names.index(name) for name in names]], self.weights, names
