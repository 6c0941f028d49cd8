"""What scores say of the draws: discrepancies from the posterior, a small sample of it,
and better means.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sgmc import diagnostics
from sgmc.arguments.numbers import whole
from sgmc.arguments.types import Frame
from sgmc.diagnostics.chains import moments
from sgmc.diagnostics.scores.zero_variance import error_terms
from sgmc.results.checks.scores.stein import SCORE_BATCH, scored_draws, stein_discrepancy

if TYPE_CHECKING:
    from sgmc.diagnostics.scores.goodness import KSDTest
    from sgmc.results.checks.scores.stein import Scored


# of control variates: errors are then those of draws that their coefficients have not seen
FOLDS = 5


class Discrepancies:
    """Methods of `Results` that compare its draws with the posterior's scores.

    Scores are gradients of the log posterior in whitened coordinates, so that nothing depends on
    units.  In all of them ``scores`` is "exact" (all rows), "taylor", "cv" or "simple" (minibatches
    of 1,000 rows with that estimator), or None: exact where that is cheap, else "taylor".
    ``draws`` is how many draws are looked at, evenly spaced.
    """

    def scored_draws(
        self, scores: Any = None, draws: int | None = None, batch_size: int = SCORE_BATCH
    ) -> Any:
        """Return draws in the sampler's coordinates, and gradients of the log posterior at them.

        Networks that keep whole draws for predictions have scores at those.  Parameters with
        updates of their own in the place of gradients are left out.

        Parameters
        ----------
        scores : {"exact", "taylor", "cv", "simple"}, optional
        draws : int, optional
            At most 10,000 by default.
        batch_size : int
            Rows of minibatch scores.

        Returns
        -------
        Scored
            ``draws`` and ``scores``, (n, d), ``weights`` and ``scale``, as `sgmc.diagnostics.ksd`
            and its like take them; ``kept``, the numbers of the draws; and ``kind``, of the scores.

        Examples
        --------
        >>> some = res.scored_draws("exact", draws=200)
        >>> sgmc.diagnostics.ksd(some.draws, some.scores, weights=some.weights, scale=some.scale)
        """
        batch = whole("batch_size", batch_size, 1)
        return scored_draws(self, "scored_draws", scores, draws, linear=True, batch=batch)

    def ksd(self, scores: Any = None, draws: int | None = None, **options: Any) -> float:
        """Return the kernel Stein discrepancy of the draws in whitened coordinates; None where it
        is not defined, as for the sandwich, which is no density.

        Parameters
        ----------
        scores : {"exact", "taylor", "cv", "simple"}, optional
            Minibatch scores bias ``statistic="v"`` upwards, by the noise of each draw with itself;
            "u" not.
        draws : int, optional
            At most 1,000 by default; time grows with their square.
        **options
            ``form kernel statistic c beta`` of `sgmc.diagnostics.ksd`.

        Returns
        -------
        float or None
            Without arguments the summary's, at no cost, also of results from a file; where the
            summary leaves it out for its cost, as of very large models, it is computed.
        """
        if scores is None and draws is None and not options or self.cov_type != "nonrobust":
            if self._ksd is None and self._fit is not None:
                return stein_discrepancy(self._fit, most=np.inf).value
            return self._ksd
        return _of(diagnostics.ksd, scored_draws(self, "ksd", scores, draws), options)

    def fssd(self, scores: Any = None, draws: int | None = None, **options: Any) -> float:
        """Return the finite set Stein discrepancy of the draws in whitened coordinates, in linear
        time.

        Parameters
        ----------
        scores, draws
            As in `ksd`; at most 10,000 draws by default.
        **options
            ``locations number kernel statistic c seed`` of `sgmc.diagnostics.fssd`.

        Returns
        -------
        float
        """
        return _of(
            diagnostics.fssd, scored_draws(self, "fssd", scores, draws, linear=True), options
        )

    def ksd_test(self, scores: Any = None, draws: int | None = None, **options: Any) -> "KSDTest":
        """Test whether draws are of the posterior: p-value of the kernel Stein discrepancy by the
        wild bootstrap.

        A sampler with bias fails with draws enough; how large the bias is, is another question.

        Parameters
        ----------
        scores, draws
            As in `ksd`.
        **options
            ``change replicates kernel c beta seed`` of `sgmc.diagnostics.ksd_test`.

        Returns
        -------
        KSDTest
        """
        return _of(diagnostics.ksd_test, scored_draws(self, "ksd_test", scores, draws), options)

    def thin_stein(self, m: int, scores: Any = None, draws: int | None = None) -> Frame:
        """Return the m draws that together are closest to the posterior, by Stein thinning (Riabiz
        et al. 2022).

        Parameters
        ----------
        m : int
        scores, draws
            As in `ksd`; they are chosen among at most 10,000 draws by default.

        Returns
        -------
        DataFrame
            Rows of `to_frame`, in the order of choice, each counting alike; a draw may come more
            than once.
        """
        some = scored_draws(self, "thin_stein", scores, draws, linear=True, aligned=True)
        chosen = diagnostics.stein_thinning(some.draws, some.scores, m, scale=some.scale)
        return self.to_frame()[list(self.names)].iloc[some.kept[chosen]]

    def zv_means(self, order: int = 1, scores: Any = None, draws: int | None = None) -> Frame:
        """Return posterior means with less Monte Carlo error, by zero-variance control variates
        (`sgmc.diagnostics.control_variates`).

        Parameters
        ----------
        order : {1, 2}
            Degree of the polynomials; 2 takes d (d + 3) / 2 controls.
        scores, draws
            As in `ksd`; at most 10,000 draws by default.

        Returns
        -------
        DataFrame
            ``mean`` and its ``mcse``, the draws looked at taken for one chain and each fifth of
            them corrected by what was learnt from the others, the error of what was learnt
            included; beside them ``mcse_draws``, that of the plain mean of all draws.
        """
        some = scored_draws(self, "zv_means", scores, draws, linear=True, aligned=True)
        theta = self.flat[some.kept]
        how = {"order": order, "weights": some.weights}
        better = diagnostics.control_variates(some.draws, some.scores, theta, folds=FOLDS, **how)
        terms = error_terms(some.draws, some.scores, better, **how)
        return pd.DataFrame(
            {
                "mean": moments.mean(better[None], some.weights),
                "mcse": diagnostics.mcse(terms[None], weights=some.weights),
                "mcse_draws": np.asarray(self.mcse()),
            },
            index=self.names,
        )


def _of(function: Callable[..., Any], some: "Scored", options: Any) -> Any:
    """A diagnostic of scored draws."""
    return function(some.draws, some.scores, weights=some.weights, scale=some.scale, **options)
