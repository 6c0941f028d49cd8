"""The results of Gaussian mixtures."""

import numpy as np
from scipy import special

from sgmc.arguments.data.tables import matrix
from sgmc.errors import ArgumentError
from sgmc.models.bases.results import ModelResults
from sgmc.results.outcomes.data.rows import evenly

DENSITY_DRAWS = 1000  # of the posterior, evenly, over which densities are averaged


def centre_and_distance(results):
    """The mean of both components of a `TiedMeans`, and the distance between them, which are the
    same for both labellings: names and draws (chain, draw, 2).
    """
    first, second = (results.draws_of(name) for name in ("theta1", "theta2"))
    found = np.stack([first + second / 2, np.abs(second)], axis=-1)
    return ["theta1 + theta2 / 2", "|theta2|"], found


def log_densities(results, rows, X):
    """Log densities of rows X, which do not depend on the order of components: names and draws
    (chain, draw, k).
    """
    found = [special.logsumexp(log_p, axis=1) for log_p in results._joint(X, most=None)]
    names = [f"log density of row {i}" for i in rows]
    return names, np.reshape(found, (*results.draws.shape[:2], len(X)))


class GaussianMixtureResults(ModelResults):
    """The posterior of a Gaussian mixture; densities and responsibilities are averaged over draws,
    at most 1000 of them, evenly.
    """

    def log_density(self, X):
        """Return the log of the posterior predictive density at points, log E[sum_k w_k N(x; mu_k,
        Sigma_k)].

        Parameters
        ----------
        X : array_like (m,) or (m, D)

        Returns
        -------
        array (m,)
        """
        X, weights = self._points(X), self._components()[-1]
        total = np.full(len(X), -np.inf)
        for log_p, weight in zip(self._joint(X), weights):
            total = np.logaddexp(total, special.logsumexp(log_p, axis=1) + np.log(weight))
        return total

    def density(self, X):
        """Return the posterior predictive density at points; see `log_density`."""
        return np.exp(self.log_density(X))

    def responsibilities(self, X):
        """Return posterior probabilities that points are of each component, an array (m, K).

        They have a meaning where labels have one: see `sgmc.GaussianMixture` on their switching.
        """
        X, weights = self._points(X), self._components()[-1]
        return sum(
            weight * special.softmax(log_p, axis=1)
            for log_p, weight in zip(self._joint(X), weights)
        )

    def predict(self, X):
        """Return the most probable component of each point, an array (m,) of int."""
        return self.responsibilities(X).argmax(axis=1)

    def covariances(self):
        """Return posterior means of the components' covariance matrices, an array (K, D, D)."""
        _, _, sds, slopes, weights = self._components()
        D = sds.shape[2]
        roots = np.linalg.inv(np.eye(D) - slopes) * sds[:, :, None, :]  # e = (I - B)^-1 S z
        return np.einsum("s,skij,sklj->kil", weights, roots, roots)

    def _components(self, most=DENSITY_DRAWS):
        """Draws of weights (s, K), means and sds (s, K, D), slopes as matrices (s, K, D, D), and
        the draws' own weights (s,): `most` of them, evenly, or all.
        """
        chains, draws = self.draws.shape[:2]
        some = evenly(chains * draws, most or chains * draws)

        def of(name):
            found = self.draws_of(name)
            return found.reshape(chains * draws, *found.shape[2:])[some]

        means, sds = of("means"), of("sds")
        if means.ndim == 2:
            means, sds = means[..., None], sds[..., None]
        S, K, D = means.shape
        slopes = np.zeros((S, K, D, D))
        if "slopes" in self.model.shapes:
            slopes[..., *np.tril_indices(D, -1)] = of("slopes")
        own = np.ones(chains * draws) if self.weights is None else np.tile(self.weights, chains)
        shares = of("weights") if "weights" in self.model.shapes else np.ones((S, K))
        return shares, means, sds, slopes, own[some] / own[some].sum()

    def _points(self, X):
        """X checked."""
        shape = self.model.shapes["means"]
        points, D = matrix("X", X), shape[1] if len(shape) == 2 else 1
        if points.shape[1] != D:
            raise ArgumentError(f"X has {points.shape[1]} columns; the mixture is of {D}")
        return points

    def _joint(self, X, most=DENSITY_DRAWS):
        """log w_k N(x; mu_k, Sigma_k), (m, K), draw by draw."""
        for share, mean, sd, slope, _ in zip(*self._components(most)):
            e = X[:, None] - mean
            z = (e - np.einsum("kij,mkj->mki", slope, e)) / sd
            yield (
                np.log(share)
                - 0.5 * (z**2).sum(axis=2)
                - np.log(sd).sum(axis=1)
                - 0.5 * len(sd[0]) * np.log(2 * np.pi)
            )
