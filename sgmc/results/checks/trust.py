"""How far the draws can be trusted: effective sizes, errors, discrepancies,
and how the chains went.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import whole
from sgmc.arguments.types import Frame, Seed, Series
from sgmc.diagnostics.chains import convergence
from sgmc.errors import ArgumentError
from sgmc.results.checks import noise

if TYPE_CHECKING:
    from sgmc.results.checks.arbiter import Arbitration


class Trust:
    """Methods of `Results` that judge its draws."""

    def ess(self, method: Literal["bulk", "tail", "mean", "sd"] = "bulk") -> Series:
        """Return effective sample sizes, a Series; see `sgmc.diagnostics.ess`."""
        return pd.Series(
            convergence.ess(self.draws, method=method, weights=self.weights), self.names
        )

    def rhat(self) -> Series:
        """Return rank-normalised split R-hat, a Series; NaN for one chain."""
        return pd.Series(self._rhat, self.names)

    def mcse(self, method: Literal["mean", "sd"] = "mean") -> Series:
        """Return Monte Carlo standard errors of the means (or ``"sd"``), a Series."""
        return pd.Series(
            convergence.mcse(self.draws, method=method, weights=self.weights), self.names
        )

    def diagnostics(self) -> Frame:
        """Return ess_bulk, ess_tail, r_hat and Monte Carlo errors of mean and sd, a DataFrame with
        a row per parameter.
        """
        return pd.DataFrame(
            {
                "ess_bulk": self._ess,
                "ess_tail": self.ess("tail"),
                "r_hat": self._rhat,
                "mcse_mean": self.mcse(),
                "mcse_sd": self.mcse("sd"),
            },
            index=self.names,
        )

    def tail_index(self) -> Series:
        """Return tail indices (Pareto k-hat), a Series: a mean exists below 1, an sd below 1/2; see
        `sgmc.diagnostics.tail_index`.

        Where it is known from model and prior it is not estimated.
        """
        return pd.Series(self._tails, self.names)

    def accuracy(self) -> Frame:
        """Return errors of what the summary prints, bias and Monte Carlo error together, by the
        scores at some of the draws.

        The posterior's moments are those that scores imply (`sgmc.diagnostics.implied_moments`);
        they cost no second run, and a hundredth of an sd is seen where draws alone would have to be
        ten thousand.  Draws that are moved to have these moments in the sampler's coordinates are
        mapped to the parameters as they are printed, so that logs, walls and simplices count.

        Returns
        -------
        DataFrame
            A row a parameter: ``mean_error`` and ``sd_error`` in posterior sds; ``low_error`` and
            ``high_error``, of the ends of 95 % intervals, in units of their distances from the
            median; NaN where there are no scores or fewer than two draws a parameter;
            ``mcse_mean_error`` and so on, what they may be off by, or without scores what Monte
            Carlo error alone may do; ``departure`` from a Gaussian, above 1 of which the check says
            little; ``laplace_shift`` and ``laplace_sd``,
            mean (in sds) and sd (relatively) of the draws beside the Laplace approximation,
            auxiliary parameters as their logs.
        """
        return self._accuracy.copy()

    def half_step(self, draws: int | None = None) -> Any:
        """Compare means and sds of the draws with those of the same sampler at half its step, which
        continues from where the chains ended.

        A bias of first order in the step is about twice the change.  It costs a part of the fit
        again and sees the step alone, where `accuracy` compares with the posterior itself; it needs
        no scores.

        Parameters
        ----------
        draws : int, optional
            Kept draws a chain at half the step.  Default: a quarter of the fit's.

        Returns
        -------
        DataFrame
            A row a parameter, auxiliary ones as their logs: ``mean_change`` in sds, ``sd_change``
            relative to the sd, from half the step to the whole, each with its Monte Carlo error.

        Raises
        ------
        NotSupported
            For exact samplers, and for steps that decrease.
        ArgumentError
            Without the data of the fit.
        """
        from sgmc.results.checks.half_step import half_step

        if self._fit is None:
            raise ArgumentError(
                "half_step needs the data of the fit: these results were loaded from a file, or "
                "saved without theirs"
            )
        return half_step(self._fit, self.names, whole("draws", draws, 1, none=True))

    def arbiter(self, draws: int = 400, steps: int = 10, seed: Seed = 0) -> "Arbitration":
        """Ask an exact sampler whether the fit's draws are draws of the posterior.

        Some of the draws x_i, spread over the chains, are each moved by so many steps of a sampler
        that leaves the posterior invariant: y_i.  Draws of the posterior stay draws of it, so that
        f(y_i) - f(x_i) has mean zero for every f.  It is tested for each parameter, its square,
        and the squared distance from the mode in whitened coordinates (where sds have signs that
        are not printed, from the mean in printed parameters), by t tests with Bonferroni's
        correction; wrong draws are seen before the exact chains have forgotten them.
        Means and sds of all draws are compared with those of the second halves of the exact paths.

        The exact sampler is `mhss`, which touches few rows, where the model has bounds for it and
        these promise fewer rows than a step with all of them; else the model's own, such as
        `mala`.

        Parameters
        ----------
        draws : int
            Draws to be moved, 50 at least; no more than the worst parameter's effective ones.
        steps : int
            Steps of the exact sampler from each, 2 at least.
        seed : int

        Returns
        -------
        Arbitration
            ``table`` (a row a parameter: ``mean_difference`` in posterior sds, ``sd_ratio``, their
            Monte Carlo errors, and p-values), ``p_value``, ``agrees`` (True, False, or None where
            it cannot be told), ``data_passes``, ``seconds``; ``str()`` is the answer in words.

        Raises
        ------
        NotSupported
            For weighted draws, sandwich covariances and working likelihoods, spike-and-slab
            samplers, the prior alone, and models that keep a part of their parameters.
        ArgumentError
            Without the data of the fit.
        """
        from sgmc.results.checks.arbiter import arbiter

        if self._fit is None:
            raise ArgumentError(
                "arbiter needs the data of the fit: these results were loaded from a file, or "
                "saved without theirs"
            )
        ess = float(np.nanmin(self.ess().to_numpy()))
        return arbiter(
            self._fit, self.names, whole("draws", draws, 50), whole("steps", steps, 2), seed, ess
        )

    def chain_diagnostics(self) -> Any:
        """Return a DataFrame with a row per chain; NaN where a figure does not apply to the
        sampler.

        Returns
        -------
        DataFrame
            ``steps``, warmup included; ``data_passes``, rows touched over N; ``batch_size``, rows
            of a minibatch; ``acceptance`` and ``divergences``, from the end of the adaptation on
            (with a given step: from the start); ``step_size``, the last one; ``e_bfmi`` of `hmc`
            and `nuts`, which below 0.3 says that energies are explored too slowly; ``beyond`` of
            `csgbd`, the share of moves whose gradient noise was past the breaking point. Of
            piecewise-deterministic samplers ``steps`` are events, ``acceptance`` is the share of
            proposed events that happened, which says how tight their bounds are, and ``spacing``
            the time between draws.  ``violations`` of `sbps` is the share of proposed bounces whose
            rate exceeded the predicted bound, and ``missed`` the share of all bounces that
            this lost: they make draws too wide.  Of `nuts` ``acceptance`` is the mean over states
            of paths, ``leapfrogs`` are gradients after warmup, ``tree_depth`` is the mean number of
            doublings of a path, and ``saturated`` counts paths that `max_depth` ended.
        """
        columns = (
            "steps",
            "data_passes",
            "batch_size",
            "acceptance",
            "step_size",
            "divergences",
            "e_bfmi",
            "beyond",
            "spacing",
            "violations",
            "missed",
            "leapfrogs",
            "tree_depth",
            "saturated",
        )
        table = {name: [getattr(chain, name) for chain in self._chains] for name in columns}
        return pd.DataFrame(table, index=pd.RangeIndex(len(self._chains), name="chain"))

    @property
    def sampling_threshold(self) -> Any:
        """alpha at the first kept draw: variance of the gradient's noise in a step over that of the
        noise injected.

        alpha = h/4 N^2/n lambda_max(M^(1/2) V_s M^(1/2)) (Welling & Teh 2011, eq. 10), V_s the
        covariance of the row terms, which control values make small, at draws of the Laplace
        approximation; far below 1 a chain samples, above it optimises.  Where there is no such
        approximation V_s is that of at most max(50 d, 1000) rows at the first kept draws, the
        largest of the chains', and M the sampler's metric there, such as W'W of `ICA` (eq. 20);
        NaN for more than 300 numbers, and where time_limit ended the fit before it was known.
        """
        return self._threshold

    def gradient_noise(self) -> Any:
        """Return the noise of the gradient estimates, a DataFrame with a row for each coordinate of
        the sampler.

        Returns
        -------
        DataFrame
            ``tau``, sd of the scaled gradient estimate in the sampler's coordinates, prior
            excluded, at draws of the Laplace approximation.  For Barker dynamics also
            ``breaking_point``, the largest tau that can be undone in 99 % of the moves, 1.702 /
            (1.233 sigma) (Mauri & Zanella, section 4.3), and ``ratio``, tau over it.  How many
            moves were past it: `chain_diagnostics`.

        Raises
        ------
        NotSupported
            For samplers that use all rows.
        """
        if self._noise is None:
            raise noise.refused(self.sampler)
        return self._noise.copy()
