"""Mixture models as users meet them."""

from functools import partial

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.data.arrays import vector
from sgmc.arguments.data.tables import matrix
from sgmc.arguments.numbers import positive, whole
from sgmc.errors import ArgumentError, DataError
from sgmc.models.bases.model import Model
from sgmc.models.bases.start.clusters import clusters
from sgmc.priors import dirichlet, inverse_gamma, normal


class TiedMeans(Model):
    """Two Gaussians with tied means: y_i ~ 1/2 N(theta1, v) + 1/2 N(theta1 + theta2, v) (Welling &
    Teh 2011, section 5.1).

    theta1 ~ N(0, 10) and theta2 ~ N(0, 1), variances; the posterior has two modes, (theta1, theta2)
    and (theta1 + theta2, -theta2) but for the prior, so that coordinates are the parameters.
    Samplers with minibatches take their step from the curvature at one mode where none is given.

    Parameters
    ----------
    y : array_like (n,)
    variance : float
        v.
    """

    parameters = {"theta1": (), "theta2": ()}
    prior = {"theta1": normal(0, np.sqrt(10)), "theta2": normal(0, 1)}
    scaled = False
    exact_sampler = "hmc"  # crosses the valley between the modes
    title = "Tied Means"

    def __init__(self, y, variance=2.0):
        self.y, self.variance = vector("y", y), positive("variance", variance)
        self.n = len(self.y)
        if not self.n or np.ptp(self.y) == 0:
            raise DataError(
                f"y has {min(self.n, 1)} different values; a mixture of two components needs at "
                "least 2"
            )

    def kernel(self):
        from sgmc.models.mixture.tied import TiedMeansKernel

        return TiedMeansKernel(self.y, self.variance)

    def functionals(self):
        from sgmc.fit.parts import Functionals
        from sgmc.models.mixture.results import centre_and_distance

        return Functionals(
            "the components' centre and distance",
            centre_and_distance,
            "components can change places",
        )


class GaussianMixture(Model):
    """A mixture of Gaussians: y_i ~ sum_k w_k N(mu_k, Sigma_k),
    with a Dirichlet prior of the weights.

    Covariances are diagonal, or full: then ``sds`` and ``slopes`` are those of the regressions of
    each coordinate on the ones before it, z_j = (e_j - sum_{l<j} b_jl e_l) / s_j with e = y - mu
    (Pourahmadi 1999, section 2), and `covariances` of the results gives matrices.

    The default priors have the scale of the data: of weights Dirichlet(2), of means normal around
    the mean of X with twice its sds, of sds inverse gamma with shape 2 and the sds of X over
    K^(1/D) as scale, which keeps components from collapsing on single rows; of slopes normal(0, 2)
    times the ratio of sds.

    The posterior is the same for all K! labellings of the components.  Chains start at clusters
    (k-means++, then Lloyd's algorithm) in the order of their first coordinate, and stay with one
    labelling where components are well apart; where they are not, labels switch, and means of
    parameters mean little: ``ordered=True`` has components ascend by the first coordinate of their
    means.  Densities do not depend on labels.

    Parameters
    ----------
    X : array_like (n,) or (n, D)
    components : int
        K.
    covariance : {"diagonal", "full"}
    ordered : bool

    Raises
    ------
    ArgumentError, DataError
        For what is no table of numbers, or has no more different rows than there are components.

    Examples
    --------
    >>> results = sgmc.GaussianMixture(y, components=2).fit(seed=1)
    >>> results.density(np.linspace(-5, 5))
    """

    title = "Gaussian Mixture"
    exact_sampler = "hmc"

    def __init__(self, X, components=3, covariance="diagonal", ordered=False):
        self.X, K = (
            np.ascontiguousarray(matrix("X", X)),
            whole("components", components, 1),
        )
        one_of("covariance", covariance, ("diagonal", "full"))
        (self.n, D), self.components, self.flat = self.X.shape, K, np.ndim(X) == 1
        self.full = covariance == "full" and D > 1
        constant = np.flatnonzero(np.ptp(self.X, axis=0) == 0) if self.n else [0]
        if len(constant):
            raise DataError(
                f"X: column {constant[0]} is constant, or has no rows; leave it out: it has no "
                "spread that a component could have"
            )
        different = len(np.unique(self.X, axis=0))
        if different <= K:
            raise ArgumentError(
                f"components={K}: X has only {different} different rows; give fewer components"
            )
        shape = K if self.flat else (K, D)
        self.parameters = {
            **({"weights": K} if K > 1 else {}),
            "means": shape,
            "sds": shape,
            **({"slopes": (K, D * (D - 1) // 2)} if self.full else {}),
        }
        self.constraints = {**({"weights": "simplex"} if K > 1 else {}), "sds": "positive"}
        if ordered and K > 1:
            self.constraints["means"] = "ordered" if self.flat else "ascending"
        self.prior = self.usual_prior()

    def usual_prior(self):
        """Priors on the scale of the data, a dict by single numbers."""
        K, D = self.components, self.X.shape[1]
        centre, sd = self.X.mean(axis=0), self.X.std(axis=0)
        columns = {
            "means": [normal(centre[j], 2 * sd[j]) for j in range(D)],
            "sds": [inverse_gamma(2, sd[j] / K ** (1 / D)) for j in range(D)],
            "slopes": [normal(0, 2 * sd[j] / sd[i]) for j in range(D) for i in range(j)]
            if self.full
            else [],
        }
        found = {"weights": dirichlet(2)} if K > 1 else {}
        for name, specs in columns.items():
            found |= {
                f"{name}[{k}]" if self.flat else f"{name}[{k},{j}]": spec
                for k in range(K)
                for j, spec in enumerate(specs)
            }
        return found

    def problem(self, prior, checked):
        # parameters that a dict does not name keep their default priors
        if isinstance(prior, dict) and "*" not in prior:
            prior = {
                **{key: one for key, one in self.prior.items() if key.split("[")[0] not in prior},
                **prior,
            }
        return super().problem(prior, checked)

    def starts(self, rng):
        """Clusters of the rows, in the order of their first coordinate."""
        K, D = self.components, self.X.shape[1]
        centres, members = clusters(self.X, K, rng)
        whole_sd = self.X.std(axis=0)
        inner_sd = np.sqrt(np.mean((self.X - centres[members]) ** 2, axis=0))
        order = np.argsort(centres[:, 0], kind="stable")
        shares = (np.bincount(members, minlength=K)[order] + 1) / (self.n + K)
        centres = centres[order]
        gaps = 1e-6 * whole_sd[0] * np.arange(K)  # for clusters with the same first coordinate
        centres[:, 0] = np.maximum.accumulate(centres[:, 0] - gaps) + 2 * gaps
        sds = np.tile(np.maximum(inner_sd, 0.05 * whole_sd), K)
        slopes = np.zeros(K * D * (D - 1) // 2 if self.full else 0)
        return np.concatenate([shares if K > 1 else [], centres.ravel(), sds, slopes])

    def kernel(self):
        from sgmc.models.mixture.kernel import GaussianMixtureKernel

        return GaussianMixtureKernel(self.X, self.components, self.full)

    def functionals(self):
        # of rows evenly spread along the first coordinate
        from sgmc.fit.parts import Functionals
        from sgmc.models.bases.results import JUDGED_ROWS
        from sgmc.models.mixture.results import log_densities
        from sgmc.results.outcomes.data.rows import evenly

        if self.components == 1 or "means" in self.constraints:
            return None
        rows = np.argsort(self.X[:, 0], kind="stable")[evenly(self.n, JUDGED_ROWS)]
        return Functionals(
            f"log densities of {len(rows)} rows",
            partial(log_densities, rows=rows, X=self.X[rows]),
            "components can change places",
        )

    def result_class(self):
        from sgmc.models.mixture.results import GaussianMixtureResults

        return GaussianMixtureResults
