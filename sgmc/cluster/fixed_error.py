r"""What a reservoir in the place of all rows does to means and sds.

With the exact expansion of all rows at the centre, what a reservoir of R of N rows adds to the log
posterior is the error of its Taylor remainders, a fixed function delta with gradient e.  Around a
Gaussian posterior with covariance Sigma, to first order and by Stein's identities,

    shift of the mean = Cov(theta, delta) = Sigma E[e],
    change of Var(u . z) = Cov((u . z)^2, delta) = E[(u . z) (u . e_z)],

z being whitened coordinates.  Both are *measured*: e is the gradient of the posterior that is
sampled less that of all rows, at the same draws of the Gaussian, so that any mistake in either
shows in it.  How they vary from one reservoir to another is *estimated* by groups of its rows:
N^2/R (1 - R/N) Cov_i of the remainders, averaged over the draws.
"""

from dataclasses import dataclass

import numpy as np

from sgmc.core.random.rng import Rng, seed_sequence

ERROR_PAIRS = 16  # antithetic pairs of draws at which the error is measured
ROW_GROUPS = 20  # of the reservoir's rows: an estimated sd is right to a sixth
SECOND_STREAM = 2  # of the pilot's, for the draws


@dataclass(frozen=True)
class FixedError:
    """Errors of each parameter that a reservoir causes.

    Attributes
    ----------
    mean, sd : array (p,)
        Measured: of means in posterior sds, of sds relatively, their own Monte Carlo error added.
    mean_sd, sd_sd : array (p,)
        Estimated: the sd of these errors over reservoirs of this size.
    """

    mean: np.ndarray
    sd: np.ndarray
    mean_sd: np.ndarray
    sd_sd: np.ndarray

    @property
    def worst(self):
        """The largest measured errors: (mean, sd)."""
        return float(self.mean.max()), float(self.sd.max())

    @property
    def expected(self):
        """The largest estimated error of a mean or an sd."""
        return float(max(self.mean_sd.max(), self.sd_sd.max()))


def directions(seed, p):
    """Antithetic standard normal draws, (2 ERROR_PAIRS, p)."""
    z = Rng(seed_sequence(seed, "pilot", SECOND_STREAM)).normals(ERROR_PAIRS * p)
    z = np.asarray(z).reshape(ERROR_PAIRS, p)
    return np.concatenate([z, -z])


def projections(e, z, axes):
    """Shift of each mean, in sds, and relative change of each sd, at each pair of draws.

    Parameters
    ----------
    e, z : array (2 k, p)
        Errors of the gradient in whitened coordinates at draws z, antithetic.
    axes : array (p, q)
        Unit vectors of the parameters.
    """
    along, place = e @ axes.T, z @ axes.T
    half = len(z) // 2
    mean, change = along, 0.5 * along * place
    return 0.5 * (mean[:half] + mean[half:]), 0.5 * (change[:half] + change[half:])


def measured(e, z, axes):
    """Errors of means and of sds: averages over the draws, and one standard error more."""
    found = []
    for each in projections(e, z, axes):
        error = each.std(axis=0, ddof=1) / np.sqrt(len(each))
        found.append(np.abs(each.mean(axis=0)) + error)
    return found


def estimated(groups, z, axes, share):
    """The sds of these errors over reservoirs, from the remainders of groups of rows.

    Parameters
    ----------
    groups : array (g, 2 k, p)
        Remainders of each group, in whitened coordinates.
    share : float
        R / N.
    """
    found = []
    for each in zip(*(projections(one, z, axes) for one in groups)):
        sums = np.array([one.mean(axis=0) for one in each])
        found.append(np.sqrt(len(sums) * sums.var(axis=0, ddof=1) * max(1 - share, 0.0)))
    return found


def remainders(model, centre, points):
    """Gradients at points less their linear expansion at a centre, (k, p)."""
    from sgmc.cluster.passes import gradients_at
    from sgmc.core.expansion import expand

    _, gradient, hessian = expand(model, centre)
    return gradients_at(model, points) - gradient + (points - centre) @ hessian
