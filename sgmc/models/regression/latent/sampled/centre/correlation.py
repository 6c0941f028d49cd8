"""How fast Gibbs sampling by factor would mix: the squared canonical correlations of factors.

A sweep draws the effects of one factor given those of the other, then the reverse, the coefficients
together with each (Papaspiliopoulos, Roberts & Zanella 2020, doi:10.1093/biomet/asz058).  Given the
standard deviations its largest autocorrelation is the largest eigenvalue of A^-1 C B^-1 C', of
which A and B are the precisions of the two factors' effects and C the one between them, with the
coefficients integrated out (Roberts & Sahu 1997, doi:10.1111/1467-9868.00070).  With flat priors of
the effects it is rho_2, the second largest squared canonical correlation of the weighted incidence.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from sgmc.core.expansion import row_curvatures
from sgmc.models.regression.latent.sampled.blocks.gram import Gram
from sgmc.models.regression.latent.sampled.centre.laplace import positive_part

RIGHT_TO = 1e-4  # of the eigenvalue, relative
MOST_PRODUCTS = 300
RANK = 1e-10  # eigenvalues of the coefficients' information below this share count as zero


@dataclass(frozen=True)
class Side:
    """A factor: the precision of its effects, in units of their sds, with the coefficients
    integrated out.

    Attributes
    ----------
    blocks, inverses : array (levels, q, q)
        Given the coefficients.
    cross : array (levels * q, d)
    inner, outer : array (d, d)
        Inverses of the coefficients' information, and of what of it the effects leave.
    """

    blocks: np.ndarray
    inverses: np.ndarray
    cross: np.ndarray
    inner: np.ndarray
    outer: np.ndarray

    @classmethod
    def of(cls, gram, w, k, root, fixed):
        """That of factor k; `fixed` is X' W X."""
        blocks = np.einsum("ba,lbc,cd->lad", root, gram.within(w, k), root) + np.eye(len(root))
        cross = np.einsum("ba,lbd->lad", root, gram.fixed_by_level(w, k))
        inverses = np.linalg.inv(blocks)
        left = fixed - np.einsum("lad,lab,lbe->de", cross, inverses, cross)
        return cls(blocks, inverses, cross.reshape(-1, len(fixed)), inverse(fixed), inverse(left))

    def times(self, v):
        """The precision times a vector."""
        return each(self.blocks, v) - self.cross @ (self.inner @ (self.cross.T @ v))

    def solve(self, v):
        """Its inverse times a vector (Woodbury's identity)."""
        own = each(self.inverses, v)
        return own + each(self.inverses, self.cross @ (self.outer @ (self.cross.T @ own)))


def each(blocks, v):
    """Products of each level's block with its part of a vector."""
    v = np.ravel(v)
    return (blocks @ v.reshape(len(blocks), -1, 1)).ravel()


def inverse(matrix):
    """The inverse of a symmetric matrix, along what is determined."""
    return np.linalg.pinv(matrix, rcond=RANK, hermitian=True)


def largest(one, other, between):
    """The largest eigenvalue of A^-1 C B^-1 C' by Lanczos' method, in [0, 1).

    Parameters
    ----------
    one, other : Side
    between : sparse array (levels * q of one, levels * q of other)
        C, given the coefficients.
    """
    size = len(one.cross)
    if not between.data.any():  # sds of zero: effects do not depend on each other
        return 0.0

    def forth(v):
        return between @ v - one.cross @ (one.inner @ (other.cross.T @ v))

    def back(v):
        return between.T @ v - other.cross @ (one.inner @ (one.cross.T @ v))

    product = LinearOperator((size, size), lambda v: forth(other.solve(back(np.ravel(v)))))
    A, solve = (LinearOperator((size, size), f) for f in (one.times, one.solve))
    start = np.random.default_rng(0).normal(size=size)  # the same for the same fit
    try:
        found = eigsh(
            product, 1, A, which="LA", v0=start, Minv=solve, tol=RIGHT_TO,
            maxiter=MOST_PRODUCTS, return_eigenvectors=False,
        )  # fmt: skip
    except ArpackNoConvergence as stopped:
        found = stopped.eigenvalues
    return float(np.clip(found[0], 0.0, 1.0)) if len(found) else np.nan


def by_pairs(rows, model, theta):
    """The largest autocorrelation of Gibbs sampling for each pair of factors.

    Parameters
    ----------
    rows : CrossedRows
    model : Model
    theta : array (dim,)
        (beta, b, phi, u): the curvature of the rows and the sds are those there.

    Returns
    -------
    dict of (int, int) : float
    """
    gram = Gram(rows)
    of = slice(rows.predictors)
    w = positive_part(row_curvatures(model, theta, True)[:, of, of])
    root = rows.blocks.loading.root(theta[rows.blocks.phi])
    roots = [root[np.ix_(own, own)] for own in gram.effects]
    fixed = gram.fixed(w)
    sides = [Side.of(gram, w, k, L, fixed) for k, L in enumerate(roots)]
    found = {}
    for k, h in gram.cells:
        row, column, values = gram.between(w, k, h)
        values = np.einsum("ba,lbc,cd->lad", roots[k], values, roots[h])
        order = np.lexsort((column, row))
        row, column, values = row[order], column[order], values[order]
        starts = np.searchsorted(row, np.arange(gram.levels[k] + 1))
        shape = len(sides[k].cross), len(sides[h].cross)
        between = sparse.bsr_array((values, column, starts), shape=shape)
        found[k, h] = largest(sides[k], sides[h], between.tocsr())
    return found


def at_centre(problem):
    """`by_pairs` at the centre of a problem with `SampledEffects`."""
    theta = problem.coordinates.natural(np.zeros(problem.dim))
    return by_pairs(problem.own.rows, problem.model, theta)


def described(fit, factors, effective):
    """A line about mixing: what Gibbs sampling by factor would have, and what the draws have.

    Parameters
    ----------
    fit : Fit
    factors : list of str
    effective : array (parameters,)
        Effective sizes.
    """
    found = at_centre(fit.problem)
    (k, h), rate = max(found.items(), key=lambda one: one[1])
    least, size = np.nanmin(effective), fit.x.shape[0] * fit.x.shape[1]
    chain = fit.chains[0]
    each = chain.data_passes / max(chain.steps, 1) * fit.plan.thinning
    return (
        f"Autocorrelation of effects by Gibbs sampling, predicted: {rate:.3g} between sweeps "
        f"({factors[k]} and {factors[h]}), integrated {(1 + rate) / (1 - rate):.3g} sweeps. Seen "
        f"here, slowest parameter: integrated {size / least:.3g} draws of {each:.2g} data passes."
    )
