"""Sums over rows of normal outcomes with effects whose sds differ in a way that is learned.

Autoregressions are integrated out from time to time (Kalman 1960, doi:10.1115/1.3662552) and drawn
back from the last time (Fruhwirth-Schnatter 1994, doi:10.1111/j.1467-9892.1994.tb00184.x), so that
a point costs as many products as there are times.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse

from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.independent.integrated import Sums
from sgmc.coordinates.independent.ratios import NormalByTotal, Ratios
from sgmc.models.regression.rows.effect_sums import (
    MOST_A_DRAW,
    PRODUCTS_AT_ONCE,
    EffectSums,
    effect_sums,
)

MOST_TABLE_AXES = (
    3  # ratios, other parameters of effects, and sigma: tables of more have too few nodes
)
TOLD_NOTHING = 1e-9  # share of the weights of the time of most rows, which is rounding

# of ratios of sds to sigma: in units of that at the mode, and of the one from which the roughest
# column has more variance than the errors have, above which coordinates of ratios end
TIMES_AT_MODE, TIMES_ROUGHEST, SMALLEST_SD = 3.0, 10.0, 1e-100


@dataclass(frozen=True)
class SpectralSums(EffectSums):
    """Products with effects whose sds differ, see `Spectrum`.

    Attributes
    ----------
    spectrum : Spectrum
    counts : array (terms,) of int
        Effects of each.
    rest : array (k - d - 1,) of int
        Which effects the other ones are.
    """

    spectrum: Any
    counts: Ints
    rest: Ints

    @property
    def rank(self) -> int:
        """Of the effects' columns."""
        q = len(self.own)
        return int(np.linalg.matrix_rank(self.products[:q, :q], hermitian=True))

    def of_others(self, ratios: Floats) -> Floats:
        """See `EffectSums`."""
        eta = ratios[:, ratios.shape[1] - self.spectrum.size :]
        return ratios[:, self.own] * self.spectrum.ratios(eta, self.counts)[:, self.rest]


@dataclass(frozen=True)
class SeriesSums(Sums):
    """Products of the columns of coefficients and of residuals e at some coefficients, and what
    rows of each time tell of an autoregression.

    At equally spaced times f_t has the sd s, and f_{t+1} given all before is N(rho f_t, s^2 (1 -
    rho^2)).

    Attributes
    ----------
    told : array (m,)
        Weights of the rows of each time.
    means : array (m, d + 1)
        Of the columns in these rows; zeros where there are none.
    within : array (d + 1, d + 1)
        Products of what is left of the columns.
    cosines : array (m, m)
        At each time.
    weight : float
    """

    told: Floats
    means: Floats
    within: Floats
    cosines: Floats
    weight: float

    @property
    def count(self) -> int:
        """A coefficient of each cosine."""
        return len(self.told)

    @property
    def operations(self) -> float:
        """See `Sums`."""
        m, k = self.means.shape
        return m * (20.0 * k + k**2)

    @property
    def rank(self) -> int:
        """Of the effects' columns."""
        return int((self.told > 0).sum())

    @property
    def roots_size(self) -> int:
        """See `Sums`: a time costs no root, but chains that have one of all would be slower."""
        return len(self.told)

    def filtered(
        self, r: Floats, rho: Floats, series: Floats
    ) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
        """Yield, time after time, variance and mean of f_t given the rows before it, and of rows up
        to it, in units of its sd: (n,), (n, c), (n,) and (n, c).

        Parameters
        ----------
        r, rho : array (n,)
            Ratio of the sd to sigma, and correlation of neighbouring times.
        series : array (m, n or 1, c)
            Means of the rows of each time, over sigma.
        """
        variance, mean = np.ones(len(r)), np.zeros((len(r), series.shape[2]))
        for told, y in zip(self.told, series):
            gain = variance * r * told / (1 + r**2 * told * variance)
            left = variance / (1 + r**2 * told * variance)
            known = mean + gain[:, None] * (y - r[:, None] * mean)
            yield variance, mean, left, known
            variance, mean = 1 - rho**2 + rho**2 * left, rho[:, None] * known

    @property
    def at_once(self) -> int:
        """See `Sums`."""
        return max(1, PRODUCTS_AT_ONCE // self.means.size)

    def of_few(self, ratios: Floats) -> tuple[Floats, Floats]:
        r, rho = ratios[:, 0], np.tanh(ratios[:, 1])
        m, k = self.means.shape
        away, logs = np.empty((m, len(ratios), k)), np.zeros(len(ratios))
        every = zip(self.told, self.means, self.filtered(r, rho, self.means[:, None]), away)
        for told, y, (variance, mean, _, _), out in every:
            more = 1 + r**2 * told * variance
            out[:] = np.sqrt(told / more)[:, None] * (y - r[:, None] * mean)
            logs += 0.5 * np.log(more)
        away = np.moveaxis(away, 0, 1)
        return self.within + np.swapaxes(away, 1, 2) @ away, logs

    def effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        step = max(1, PRODUCTS_AT_ONCE // self.means.size)
        parts = [slice(a, a + step) for a in range(0, len(z), step)]
        return np.concatenate([self.few_effects(ratios[at], pull[at], z[at]) for at in parts])

    def few_effects(self, ratios: Floats, pull: Floats, z: Floats) -> Floats:
        """Return `effects` of ratios that are looked at together."""
        r, rho = ratios[:, 0], np.tanh(ratios[:, 1])
        given = list(self.filtered(r, rho, (self.means @ pull.T)[..., None]))
        f, last = np.empty((len(given), len(z))), len(given) - 1
        for t in range(last, -1, -1):
            _, _, variance, mean = given[t]
            mean = mean[:, 0]
            if t < last:  # given the next one too
                ahead, expected, _, _ = given[t + 1]
                mean = mean + rho * variance / ahead * (f[t + 1] - expected[:, 0])
                variance = variance * (1 - rho**2) / ahead
            f[t] = mean + np.sqrt(variance) * z[:, t]
        return r[:, None] * (f.T @ self.cosines)


def spectral_sums(
    Z: sparse.csr_array,
    blocks: Any,
    X: sparse.csr_array,
    e: Floats,
    weight: Floats,
) -> Sums | None:
    """Return the sums of rows with terms that have more parameters than an sd; None where these are
    too many, or draws would take long.

    Parameters
    ----------
    Z : sparse array (n, effects)
        Columns of the effects.
    blocks : Blocks
    X : sparse array (n, d)
        Columns of the coefficients.
    e, weight : array (n,)
        Residuals at some coefficients, and weights.
    """
    if blocks.loading.q + blocks.spectrum.size + 1 > MOST_TABLE_AXES:
        return None
    if blocks.spectrum.terms[0][0][1] == "chain":
        return series_sums(Z, X, e, weight)
    none_apart = np.zeros(1, dtype=bool)
    found = effect_sums(Z, np.asarray(blocks.number), none_apart, X, e, weight)
    if found is None:
        return None
    counts = np.multiply(blocks.levels, blocks.width)
    parts = {one.name: getattr(found, one.name) for one in fields(found)}
    return SpectralSums(**parts, spectrum=blocks.spectrum, counts=counts, rest=found.order)


def cosines(m: int) -> Floats:
    """Return values (m, m) of all cosines at each of m times, see `terms.autoregression`."""
    k = np.arange(float(m))
    return np.cos(np.pi / m * np.outer(k + 0.5, k)) * np.sqrt(np.where(k > 0, 2.0, 1.0) / m)


def series_sums(
    Z: sparse.csr_array, X: sparse.csr_array, e: Floats, weight: Floats
) -> SeriesSums | None:
    """Return those of an autoregression, the only term."""
    C, columns = cosines(Z.shape[1]), sparse.csr_array(sparse.hstack([X, e[:, None]]))
    by_weight = sparse.diags_array(weight)
    # rows may be fewer than those given, and of several times: their products are those of all
    squares = C @ (Z.T @ by_weight @ Z).toarray() @ C.T
    told = np.diag(squares).copy()
    told[told < TOLD_NOTHING * told.max()] = 0.0
    totals = C @ (Z.T @ by_weight @ columns).toarray()
    means = totals / np.where(told > 0, told, np.inf)[:, None]
    products = (columns.T @ by_weight @ columns).toarray()
    # where each row has a time of its own nothing is left but rounding, which would be all that is
    # seen of a small sigma
    alone = (told > 0).sum() >= weight.sum()
    made = SeriesSums(
        told=told,
        means=means,
        within=0.0 * products if alone else products - means.T @ (told[:, None] * means),
        cosines=C,
        weight=float(weight.sum()),
    )
    return made if made.operations <= MOST_A_DRAW else None


def spectral_draws(
    sums: Sums, blocks: Any, mode: Floats, covariance: Floats, parts: dict[str, Any]
) -> NormalByTotal | None:
    """Return the transport by such sums, around about the mode of (phi, eta, u); None where the
    density of these has no table.
    """
    unit, most = np.exp(-mode[-1]), np.inf
    if sums.rank >= sums.weight:
        # rows tell the variance of what changes most from one to the next, but hardly its part
        # sigma^2; else residuals tell sigma, and no ratio is too large
        counts = np.multiply(blocks.levels, blocks.width)
        least = max(blocks.spectrum.ratios(mode[None, 1:-1], counts).min(), SMALLEST_SD)
        most = min(
            TIMES_AT_MODE * abs(blocks.loading.sds(mode[:1])[0]) * unit, TIMES_ROUGHEST / least
        )
    ratios = Ratios(np.asarray(blocks.loading.scale) * unit, most)
    made = NormalByTotal(sums=sums, ratios=ratios, share=np.ones(1), **parts)
    return made.around(mode, covariance)
