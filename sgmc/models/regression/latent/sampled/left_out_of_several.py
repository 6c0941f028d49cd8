"""Leaving out levels whose effects are in several linear predictors: their densities by quadrature
around the mode of the effects, derivatives being differences of the family's log densities.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from sgmc.core.system import deadline
from sgmc.models.regression.latent.effects.left_out import log_sum
from sgmc.models.regression.latent.sampled.left_out import LeftOutLevels

EFFECT_STEP = 1e-3  # of a standard effect, for derivatives by differences
NEWTON_STEPS = 40
MODE_REACHED = 1e-3  # of a standard effect: nodes are around the mode, they need not be at it
LEAST_STEP = 1e-5  # of a standard effect: a shorter step is not halved, rounding tells it from none
# least curvature of the log posterior of standard effects that is taken for one: the law of the
# effects has 1, of which densities that are not concave may leave less
LEAST_CURVATURE = 0.2


@dataclass(frozen=True, kw_only=True)
class LevelsOfSeveral(LeftOutLevels):
    """Levels of one factor, its effects being in several linear predictors: p(y_g | rest), rest
    being a whole draw without the effects of g.

    Linear predictors, and how they move, have the predictor first: (predictor, row, draw, ..).
    """

    def plain(self, rows, points, apart):
        held = self.problem.own.rows
        X, own = held.table.X[rows], held.predictor
        width = X.shape[1]
        eta = np.array(
            [X @ np.where(own == k, points[:, :width], 0.0).T for k in range(held.predictors)]
        )
        eta[0] += self.table.offset[rows, None]
        places, of = held.places(apart)[held.codes[rows, apart]], self.predictors_of(apart)
        for z, place, k in zip(self.covariates(rows, apart).T, places.T, of):
            eta[k] -= z[:, None] * points[:, place].T
        return eta

    def predictors_of(self, apart):
        """The linear predictor of each effect of a factor."""
        return self.problem.own.rows.of_effects[self.problem.own.effects.of_factor[apart]]

    def slopes(self, rows, apart):
        held, own = self.problem.own, self.problem.own.effects.of_factor[apart]
        roots = held.effects.loading.root(self.coefficients[:, held.rows.blocks.phi])
        roots, of = roots[:, own][:, :, own], self.predictors_of(apart)
        z = self.covariates(rows, apart)
        return np.array(
            [
                np.einsum("ia,mab->imb", np.where(of == k, z, 0.0), roots)
                for k in range(held.rows.predictors)
            ]
        )

    def density_of(self, rows, eta):
        shape = (len(rows), *[1] * (eta.ndim - 2))
        extra = self.auxiliary(eta.ndim - 3)
        y = self.table.y[rows].reshape(shape)
        return self.family.log_density(y, self.family.placed(eta, extra), extra)

    def of_groups(self, groups, rows, place, points, apart, rng=None):
        found = [self.of_level(self.members(group), points, apart) for group in groups]
        return np.array([found, found])[:, place]

    def of_level(self, members, points, apart):
        """log p(y_g | rest) of the rows of a level, (draw,)."""
        deadline.check()
        eta, slopes = self.plain(members, points, apart), self.slopes(members, apart)
        z, cov = self.mode(members, eta, slopes)
        q = z.shape[1]
        t, weight = self.one_set(q)
        root = np.linalg.cholesky(cov)
        value = self.joint(members, eta, slopes, z[:, None] + np.einsum("mab,kb->mka", root, t))
        log_det = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        return log_sum(value + weight) + log_det - 0.5 * q * np.log(2 * np.pi)

    def joint(self, members, eta, slopes, z):
        """log p(y_g, z | rest) at standard effects z (draw, node, q), (draw, node), but for the
        constant of the law of z.
        """
        count = 1.0 if self.table.frequency is None else self.table.frequency[members, None, None]
        at = eta[..., None] + np.einsum("pima,mka->pimk", slopes, z)
        return (count * self.density_of(members, at)).sum(axis=0) - 0.5 * (z**2).sum(axis=2)

    def mode(self, members, eta, slopes):
        """Where the effects' log density is largest, (draw, q), and a covariance around it, (draw,
        q, q): by Newton's method, each draw until it is there.
        """
        m, q = self.m, slopes.shape[-1]
        z, precision, left = np.zeros((m, q)), np.empty((m, q, q)), np.arange(m)
        for _ in range(NEWTON_STEPS):
            part = self.with_draws(left), eta[:, :, left], slopes[:, :, left]
            step, precision[left] = newton(partial(part[0].joint, members, *part[1:]), z[left])
            z[left] += step
            left = left[np.abs(step).max(axis=1) > MODE_REACHED]
            if not len(left):
                break
        return z, np.linalg.inv(precision)


def newton(joint, z):
    """A step (draw, q) from z that does not lead down, and minus the curvature (draw, q, q) there,
    of a function of points (draw, node, q), made positive definite.
    """
    q = z.shape[1]
    unit, first, second = EFFECT_STEP * np.eye(q), *np.triu_indices(q, 1)
    shifts = np.concatenate([np.zeros((1, q)), unit, -unit, unit[first] + unit[second]])
    value = joint(z[:, None] + shifts)
    here, up, down, both = np.split(value, [1, 1 + q, 1 + 2 * q], axis=1)
    bent = np.zeros((len(z), q, q))
    bent[:, range(q), range(q)] = 2 * here - up - down
    bent[:, first, second] = bent[:, second, first] = up[:, first] + up[:, second] - both - here
    weights, axes = np.linalg.eigh(bent / EFFECT_STEP**2)
    precision = np.einsum("mab,mb,mcb->mac", axes, np.maximum(weights, LEAST_CURVATURE), axes)
    step = np.linalg.solve(precision, ((up - down) / (2 * EFFECT_STEP))[..., None])[..., 0]
    while True:
        down = ~(joint((z + step)[:, None]) >= here)[:, 0]
        down &= np.abs(step).max(axis=1) > LEAST_STEP
        if not down.any():
            return step, precision
        step[down] /= 2
