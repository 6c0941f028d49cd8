"""Where chains begin and what whitens them: the mode of the effects' covariance with effects
integrated out by Laplace's approximation, and a Gaussian around it.

Given psi = (phi, eta, u), `CrossedConditional` has the mode of (beta, v) and its precision.  The
slope of the log marginal density by psi is the mean of that of the joint density under the Gaussian
there (Fisher's identity): by Lambda that is Lambda'^-1 sum_l (E v_l v_l' - I) (Stein's identity),
by log f_l E v_l^2 - 1.  Means are over draws of which all psi have the same standard normals.  The
slope is zero at the mode of psi.  Newton's method for this begins with the information that effects
have of their covariance, and goes on by Broyden's updates (1965,
doi:10.1090/S0025-5718-1965-0198670-6).  How the slope and the mode of (beta, v) change with psi
gives the joint precision.
"""

from contextlib import suppress
from functools import reduce

import numpy as np

from sgmc.coordinates.approximations.newton import MarginalTarget, find_marginal_mode, limit_step
from sgmc.coordinates.transforms.composed import Composed
from sgmc.core.expansion import of_rows
from sgmc.core.numerics.limits import MAX_LOG
from sgmc.errors import DataError
from sgmc.models.regression.latent.sampled.centre.edf import variances
from sgmc.models.regression.latent.sampled.centre.laplace import CrossedConditional
from sgmc.models.regression.latent.sampled.centre.row_information import together

EXPECTATION_DRAWS = 32  # half of them with other signs: psi is right to about a fifth of its sd
# pairs of them at which all rows are looked at, where these have more than so many numbers: what
# differs between pairs is of second order, and small where each parameter has many rows
PAIRS_OF_MANY, NUMBERS_OF_MANY = 4, 200_000
# draws of which variances of effects are, at least and at most, and numbers of them in all
VARIANCE_DRAWS, NUMBERS = (16, 512), 1 << 21
MOST_SEARCHED = 30
CLOSE = 0.1  # sds of psi from its mode
SMALLEST_ROOT = 1e-12  # in the place of an sd of zero
LITTLE = 0.3  # share of an effect's variance that is too little to centre it
FAINT = 0.1  # share of the variance of a smooth's coefficient that tells too little of it
LEAST = 0.5  # of an sd's coordinate, at which rows tell what they tell of effects
NEAR_EXPECTED = 0.2, 5.0  # least and largest ratio of the information seen to the expected one
DIFFERENCE = 0.5  # sds of psi over which slopes are taken


class CentreSearch(CrossedConditional, MarginalTarget):
    """The search for the centre of a posterior: see `newton.find_marginal_mode`.

    Parameters
    ----------
    rows, gram, model, prior, terms, loaded
        See `CrossedConditional`.
    random : Generator
    """

    def __init__(self, rows, gram, model, prior, terms, loaded, random):
        super().__init__(rows, gram, model, prior, terms, loaded)
        self.each_term = range(len(self.blocks.levels))
        first = self.blocks.loading.size
        self.spectral = slice(first, first + self.blocks.spectrum.size)  # of eta among psi
        z = self.standard(random, EXPECTATION_DRAWS // 2)
        self.normals, pairs = np.concatenate([z, -z]), np.arange(len(z))
        if model.n * (len(rows.dense) + rows.Z.shape[1]) > NUMBERS_OF_MANY:
            pairs = pairs[:PAIRS_OF_MANY]
        self.seen = np.append(pairs, pairs + len(z))
        many = int(np.clip(NUMBERS // self.blocks.size, *VARIANCE_DRAWS))
        self.more_normals = self.standard(random, many)

    def standard(self, random, count):
        """So many standard normal draws, with a mean square of one each: effects of which rows say
        nothing have no noise.
        """
        z = random.standard_normal((count, self.blocks.size))
        z /= np.sqrt((z**2).mean(axis=0))
        z[:, self.psi] = 0.0
        return z

    def slope(self, found):
        """Slope of the log marginal density by psi, and the variance of each effect given the data,
        in units of its prior's.
        """
        blocks, loading = self.blocks, self.blocks.loading
        moved = found.map(self.normals) - np.asarray(found.map.centre)
        points, d, end = found.place + moved, blocks.d, blocks.d + blocks.effects
        away = moved[:, d:end]
        root = loading.root(found.place[blocks.phi])
        root += SMALLEST_ROOT * np.eye(len(root)) * (np.diag(root) == 0)
        entries, excesses = np.zeros_like(root), np.zeros(blocks.effects)
        for t in self.each_term:
            v, own = found.place[blocks.of_term(t)], away[:, blocks.of_term(t) - d]
            second = v.T @ v + np.einsum("kla,klb->ab", own, own) / EXPECTATION_DRAWS
            at = slice(blocks.start[t], blocks.start[t] + blocks.width[t])
            excess = second - len(v) * np.eye(len(second))
            entries[at, at] = np.linalg.solve(root[at, at].T, excess)
            excesses[blocks.of_term(t) - d] = v**2 + (own**2).mean(axis=0) - 1
        out = np.zeros(len(self.psi))
        by_entry = entries[np.asarray(loading.row), np.asarray(loading.column)]
        J = loading.derivatives(found.place[blocks.phi], np.zeros(loading.size))[0]
        out[: loading.size] = by_entry @ J
        out[self.spectral] = blocks.bends(found.place) @ excesses
        kept = np.r_[found.place[:d], found.place[self.psi]]
        out += self.terms(kept)[1][d:]
        if blocks.log_params:
            some = points[self.seen]
            logs = np.mean([of_rows(self.model, self.loaded(one))[1] for one in some], axis=0)
            out[-blocks.log_params :] += logs[self.psi[-blocks.log_params :]]
        return out, (away**2).mean(axis=0)

    def apart(self, found):
        """Variance of each effect given the data, in units of its prior's, around what all levels
        of its term share, which other parameters can take up.
        """
        moved = found.map(self.more_normals) - np.asarray(found.map.centre)
        away = moved[:, self.blocks.d : self.psi[0]]
        for t, start in enumerate(self.blocks.start):
            own = self.blocks.of_term(t) - self.blocks.d
            if start < len(self.rows.factor) and len(own) > 1:
                shared = away[:, own].mean(axis=1, keepdims=True)
                away[:, own] = (away[:, own] - shared) * np.sqrt(len(own) / (len(own) - 1))
        return (away**2).mean(axis=0)

    def informed(self, found, spread):
        """Information of psi, (k,): of the log of an sd 2 sum_l s_l^2, s_l the share of an effect's
        variance that the data have taken; of one near zero what its own rows allow it to be.
        """
        blocks, loading = self.blocks, self.blocks.loading
        taken = [1 - spread[blocks.of_term(t) - blocks.d] for t in self.each_term]
        share = np.concatenate([(one**2).sum(axis=0) for one in taken])
        little = np.concatenate([one.mean(axis=0) for one in taken]) < LITTLE
        out = np.ones(len(self.psi))
        sds = found.place[blocks.phi][: loading.q]
        sharp = 1 / np.tanh(np.maximum(np.abs(sds), 1e-3))
        levels = np.concatenate([[m] * q for m, q in zip(blocks.levels, blocks.width)])
        vague = 1 / np.arcsinh((2 / levels) ** 0.25) ** 2
        out[: loading.q] = np.where(little, vague, np.maximum(2 * share * sharp**2, vague))
        for k, (i, j) in enumerate(loading.correlations()):
            out[loading.q + k] = max(np.sqrt(share[i] * share[j]), 1.0)
        bent = blocks.bends(found.place)
        out[self.spectral] = np.maximum(2 * bent**2 @ (1 - spread) ** 2, 1.0)
        k = self.rows.predictors  # behind which rows have their numbers
        if found.curvature.shape[1] > k:
            own = found.curvature[:, k:, k:].sum(axis=0)
            out[-blocks.log_params :] = np.maximum(np.diag(own), 1.0)
        return out

    def informative(self, found, zero):
        """What `Loaded` takes of a centre.

        The share of an effect of a level is what part of its variance the data have taken, none
        where that is little in all levels.  Coefficients of smooths, and effects whose sd may be
        zero, are told as they are by the rows.

        Parameters
        ----------
        found : Laplace
        zero : list of int
            Effects of which the sd may be zero.
        """
        blocks = self.blocks
        share, row_precision, estimate = np.zeros((3, blocks.effects))
        curves = self.rows.dense[blocks.d :] - blocks.d
        by_rows = np.isin(np.asarray(blocks.number), zero)
        by_rows[curves] = True
        if not by_rows.all():
            share = np.clip(1 - self.apart(found), 0.0, 1.0)
            share[by_rows] = 0.0
        for t in self.each_term:
            own = blocks.of_term(t) - blocks.d
            share[own[:, share[own].max(axis=0) < LITTLE]] = 0.0
        if by_rows.any():
            row_precision[by_rows], estimate[by_rows] = self.of_rows(found, by_rows)
        for places in together(blocks).values():
            row_precision[places - blocks.d] = 0.0
        typical = found.place[blocks.phi]
        return {
            "centring": share,
            "row_precision": row_precision,
            "estimate": estimate,
            "typical": typical,
        }

    def of_rows(self, found, which):
        """N(estimate, 1 / row_precision) by the rows of some effects: of those whose sds are near
        zero, of which they tell nothing there, at the scale from which they do.
        """
        blocks, loading = self.blocks, self.blocks.loading
        place = found.place.copy()
        low = np.abs(place[blocks.phi][: loading.q]) < LEAST
        if low.any():
            place[blocks.phi][: loading.q][low] = LEAST
            found = self.settled(place)
        variance = self.apart(found)
        variance[self.rows.dense[blocks.d :] - blocks.d] = variances(self.rows, found)
        variance = np.clip(variance[which], 1e-6, 1.0)
        sds = np.asarray(loading.sds(found.place[blocks.phi][: loading.q]))[blocks.number]
        sds = sds * blocks.ratios(found.place)
        share = np.where(1 - variance < FAINT, 0.0, 1 - variance)
        effects = self.loaded(found.place)[blocks.d : blocks.d + blocks.effects][which]
        row_precision = share / (variance * sds[which] ** 2)
        return row_precision, np.divide(effects, share, out=np.zeros(len(share)), where=share > 0)

    tolerance = CLOSE

    def settle(self, psi, last):
        """See `MarginalTarget`."""
        place = (self.start if last is None else last.place).copy()
        place[self.psi] = psi
        return self.settled(place)

    def move(self, psi, given):
        """See `MarginalTarget`: by Broyden's updates of the covariance."""
        slope, spread = self.slope(given)
        information = self.informed(given, spread)
        if self.last is None:
            self.covariance = np.diag(1 / information)
        else:
            step, before = self.last
            self.covariance = updated(self.covariance, step, slope - before, information)
        step = self.covariance @ slope
        distance = float(np.sqrt(max(step @ slope, 0.0)))
        self.last = limit_step(step), slope
        return np.minimum(psi + self.last[0], MAX_LOG), distance

    def search(self, places):
        """The `Laplace` at the mode of psi, and about the covariance of psi there: the highest of
        those that some places lead to, the first one or another.
        """
        found = [self.search_from(places[0])]
        for one in places[1:]:
            # short scales of a mean and of a scale at once may fit the rows exactly
            with suppress(DataError):
                found.append(self.search_from(one))
        return found[0] if len(found) == 1 else max(found, key=lambda one: self.marginal(one[0]))

    def marginal(self, found):
        """The log density of psi by Laplace's approximation, but for a constant."""
        blocks, place = self.blocks, found.place
        sds = np.diag(blocks.loading.root(place[blocks.phi]))[blocks.number]
        by_v = np.log(np.abs(sds * blocks.ratios(place))).sum()
        return self.density(place)[0] + by_v + found.map.log_scale

    def search_from(self, place):
        """The same from one place."""
        self.start, self.last, self.covariance = place, None, None
        found = find_marginal_mode(self, place[self.psi], limit=MOST_SEARCHED + 1)
        return found.given, self.covariance

    def joint(self, found, covariance, loaded, told):
        """The mode, and the `Precision` of all parameters around it, in the coordinates that
        `loaded` and then `told`, a list of `Overlapping`, have of effects, by differences over a
        part of an sd of each of psi.
        """
        effects = reduce(Composed, told, loaded)
        k, psi = len(self.psi), self.psi
        slopes, information = np.zeros((self.blocks.size, k)), np.zeros((k, k))
        here, spread = self.slope(found)
        centre = effects.inverse(self.loaded(found.place))
        sds = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
        for j in range(k):
            place = found.place.copy()
            place[psi[j]] += DIFFERENCE * sds[j]
            other = self.settled(place)
            moved = effects.inverse(self.loaded(other.place))
            slopes[:, j] = (moved - centre) / (DIFFERENCE * sds[j])
            information[j] = (here - self.slope(other)[0]) / (DIFFERENCE * sds[j])
        slopes[psi] = 0.0
        information = positive(0.5 * (information + information.T), self.informed(found, spread))
        scale = np.ones(self.blocks.size)
        scale[self.blocks.d : psi[0]] = loaded.blocks.within(found.place)[0]
        precision = found.precision.scaled(scale)
        for one in told:
            precision = precision.turned(one.places, one.root(found.place))
        return centre, precision.tilted(psi, slopes, information)


def updated(covariance, step, change, information):
    """Broyden's update of minus the inverse of the slope's derivative; started anew from the
    information where it would no longer lead up.
    """
    towards = -covariance @ change
    along = step @ towards
    if not along > 0.1 * (step @ step):
        return np.diag(1 / information)
    new = covariance + np.outer(step - towards, step @ covariance) / along
    new = 0.5 * (new + new.T)
    return new if np.linalg.eigvalsh(new)[0] > 0 else np.diag(1 / information)


def positive(matrix, diagonal):
    """The matrix with eigenvalues, in units of the diagonal that is expected, within NEAR_EXPECTED;
    that diagonal where it is not finite.
    """
    if not np.isfinite(matrix).all():
        return np.diag(diagonal)
    scale = 1 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
    values = np.clip(values, *NEAR_EXPECTED)
    return (vectors * values) @ vectors.T / np.outer(scale, scale)
