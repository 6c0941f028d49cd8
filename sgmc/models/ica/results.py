"""Results of independent component analysis."""

import numpy as np
from scipy.special import logsumexp

from sgmc.arguments.data.tables import dense_table
from sgmc.core.numerics.limits import BLOCK_ROWS
from sgmc.diagnostics import ica
from sgmc.errors import ArgumentError, DataError
from sgmc.models.bases.results import GeneralInfo, ModelResults


class SourcesInfo(GeneralInfo):
    """What a result keeps of a model of independent components."""

    def __init__(self, model):
        super().__init__(model)
        self.centre, self.unit = model.centre, model.unit
        self.reference, self.variances = model.reference, (model.X.std(axis=0) * model.unit) ** 2
        self.start = model.start if isinstance(model.start, str) else "given"

    def details(self, fit):
        """Return the lines of the details, with the place where chains began."""
        return [
            *super().details(fit),
            f"Chains began near one unmixing ({self.start}), by which draws are matched.",
        ]


def log_densities(results, rows, X):
    """Log densities of centred rows X: names and draws (chain, draw, k).  They do not depend on the
    order and the signs of the sources.
    """
    W = results.unmixing()
    y = np.abs(np.einsum("skj,ij->sik", W, X))
    log_det = np.linalg.slogdet(W)[1] + np.log(results.model.unit).sum()
    found = log_det[:, None] - (y + 2 * np.log1p(np.exp(-y))).sum(axis=2)
    names = [f"log density of row {i}" for i in rows]
    return names, found.reshape(*results.draws.shape[:2], len(X))


class ICAResults(ModelResults):
    """The posterior of an `ICA`.

    Whatever depends on the order and signs of the sources refers to draws that were matched, one by
    one, with the unmixing that chains began at (`matched`).
    """

    def unmixing(self):
        """Return all draws of W, (k, d, d), as drawn."""
        W = self.draws_of("W")
        return W.reshape(-1, *W.shape[2:])

    def shares(self):
        """Return the weights of these draws, (k,), with the sum one."""
        each = np.ones(self.draws.shape[1]) if self.weights is None else self.weights
        return np.tile(each, self.draws.shape[0]) / (each.sum() * self.draws.shape[0])

    def matched(self):
        """Return all draws of W, (k, d, d), their rows in the order and with the signs that suit
        the reference best.

        The best order has the largest sum of |W A|, A the inverse of the reference, its rows scaled
        to length one.
        """
        from scipy.optimize import linear_sum_assignment  # only here: it takes long to import

        A, out = np.linalg.inv(self.model.reference), np.empty_like(self.unmixing())
        for k, W in enumerate(self.unmixing()):
            P = W @ A
            P /= np.sqrt((P**2).sum(axis=1, keepdims=True))
            rows, places = linear_sum_assignment(-np.abs(P))
            out[k, places] = W[rows] * np.sign(P[rows, places])[:, None]
        return out

    def amari(self, mixing=None):
        """Return the Amari distance of each draw, (chain, draw), from the inverse of a mixing; see
        `sgmc.diagnostics.amari_distance`.

        Parameters
        ----------
        mixing : array_like (d, d), optional
            Of the sources into the data's channels, in the data's units.  Default: the inverse of
            the unmixing that chains began at.
        """
        if mixing is None:
            mixing = np.linalg.inv(self.model.reference)
        else:
            mixing = np.asarray(mixing, dtype=float) * self.model.unit[:, None]
        return ica.amari_distance(self.unmixing(), mixing).reshape(self.draws.shape[:2])

    def instability(self):
        """Return the instability index of each source, sum_j var(W_kj) var(x_j), (d,), of matched
        draws; see `sgmc.diagnostics.instability`.
        """
        W, share = self.matched(), self.shares()
        mean = np.tensordot(share, W, 1)
        return np.tensordot(share, (W - mean) ** 2, 1) @ self.model.variances

    def sources(self, data):
        """Return the posterior mean and sd of the sources of some rows, arrays (n, d) and (n, d).

        Parameters
        ----------
        data : array_like (n, d) or table
            As in the fit.
        """
        X, W, share = self._table(data), self.matched(), self.shares()
        mean = np.tensordot(share, W, 1)
        covariance = [
            ((W[:, k] - mean[k]) * share[:, None]).T @ (W[:, k] - mean[k])
            for k in range(W.shape[1])
        ]
        return X @ mean.T, np.sqrt(
            np.stack([np.einsum("ij,jk,ik->i", X, C, X) for C in covariance], axis=1).clip(0)
        )

    def log_lik(self, data):
        """Return the mean log-likelihood of a row, in the data's units, of each draw, (chain,
        draw), and of their mean density, a number.

        The latter is the mean over rows of log mean_s p(x_i | W_s): what the posterior predicts
        (Mauri & Zanella 2024, figure 6).
        """
        X, W = self._table(data), self.unmixing()
        log_det = np.linalg.slogdet(W)[1] + np.log(self.model.unit).sum()
        each, predictive = np.zeros(len(W)), 0.0
        for start in range(0, len(X), BLOCK_ROWS):
            block = np.empty((len(W), len(X[start : start + BLOCK_ROWS])))
            for k, one in enumerate(W):
                y = np.abs(X[start : start + BLOCK_ROWS] @ one.T)
                block[k] = log_det[k] - (y + 2 * np.log1p(np.exp(-y))).sum(axis=1)
            each += block.sum(axis=1)
            predictive += logsumexp(block, axis=0, b=self.shares()[:, None]).sum()
        return (each / len(X)).reshape(self.draws.shape[:2]), predictive / len(X)

    def _table(self, data):
        """Rows as the model sees them."""
        X = dense_table("data", data, "models of sources").astype(float)
        if X.shape[1] != len(self.model.centre):
            raise ArgumentError(
                f"data has {X.shape[1]} columns; it must have {len(self.model.centre)}"
            )
        if not np.isfinite(X).all():
            raise DataError("data has missing or infinite values; drop those rows first")
        return (X - self.model.centre) * self.model.unit
