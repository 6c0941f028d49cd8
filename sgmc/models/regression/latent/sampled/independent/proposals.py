"""Independent proposals of regressions with effects of several factors or smooths, for outcomes
that are not normal: all coefficients and effects are about normal given the sds, whose density has
a table, each time by a Laplace approximation (Tierney & Kadane 1986,
doi:10.1080/01621459.1986.10478240).  Weights leave no error of it.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy import sparse

from sgmc.arguments.types import Floats
from sgmc.coordinates.independent.grid import Grid, grid_of, looked_up
from sgmc.coordinates.independent.transport import WeightedTransport, spread_at_most
from sgmc.core.contract import Map
from sgmc.core.engine import full_many
from sgmc.core.expansion import of_priors
from sgmc.core.system.blas import one_blas_thread
from sgmc.errors import DataError
from sgmc.fit.problem import Problem
from sgmc.models.regression.latent.sampled.centre.laplace import (
    CrossedConditional,
    GaussianApproximation,
)
from sgmc.models.regression.latent.sampled.independent.normal_effects import (
    GivenPsi,
    NormalEffects,
    known_at,
)

MOST_IN_TABLE = 2  # sds, and logs of other parameters, of a table
MOST_SETTLED = 100  # coefficients and effects
NUMBERS_OF_ROOTS = 1 << 24  # of the roots of all nodes
NODES = {1: (13, 37), 2: (9, 13)}  # of each axis, by the number of axes: see `grid_of`
MOST_VARIED = 0.39  # sd of log weights: draws of more are thinned, and chains cost as little
# proposals of so many rows, and the sd of their log weights up to which these do: the posterior's
# may be a few times as large
FEW_LOOKED_AT, SURELY_EVEN = 32, 0.01
LOOKED_AT_FIRST = 128  # proposals, which tell their variance to an eighth
NEAREST_ZERO = 1e-3  # coordinate of an sd: at zero itself effects have no density


Tables = tuple[Grid, Floats, Floats]  # of psi, and means and roots at its nodes


@dataclass(frozen=True, kw_only=True)
class LaplaceTransport(WeightedTransport):
    """Proposals of (beta, v, psi), effects being v in units of their sds.

    Given psi they are of a Gaussian's skew-symmetric form (Pozza, Durante & Szabo 2024,
    arXiv:2409.14167, eq. 4), as in `IMH`: third derivatives of the density leave the weights.

    Attributes
    ----------
    plain : Problem
        In coordinates (beta, v, psi).
    map : Map
        From the sampler's coordinates to natural ones.
    grid : Grid
        Of psi.
    means : array (m_1, .., k)
        Of (beta, v), at the nodes.
    roots : array (m_1, .., k * k)
        Whose transposes turn standard normal numbers into departures from these.
    """

    plain: Problem
    map: Map
    grid: Grid
    means: Floats
    roots: Floats
    plain_sd: float = np.inf
    skewed_sd: float = np.inf

    def parts(self, z: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return centres and departures of (beta, v), psi, and log densities of Gaussian
        proposals."""
        k = self.means.shape[-1]
        psi = self.grid(z[:, k:])
        places = self.grid.places(psi)
        root = blended(self.roots, places).reshape(-1, k, k)
        mean, moved = looked_up(self.means, places), np.einsum("ni,nij->nj", z[:, :k], root)
        # a root is triangular but for the order of its rows
        logs = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        proposed = self.grid.log_density(psi) - logs - 0.5 * (z[:, :k] ** 2).sum(axis=1)
        return mean, moved, psi, proposed

    def natural(self, place: Floats, psi: Floats) -> Floats:
        """Return x of (beta, v) and psi."""
        return self.map.inverse(self.plain.coordinates.map(np.column_stack([place, psi])))

    def opposite(self, mean: Floats, moved: Floats, psi: Floats) -> tuple[Floats, Floats]:
        """Return log densities at departures and at those opposite to them."""
        both = np.concatenate([mean + moved, mean - moved])
        both = np.column_stack([both, np.tile(psi, (2, 1))])
        value = log_densities(self.plain, both)
        here, there = np.split(np.where(np.isnan(value), -np.inf, value), 2)
        return here, there

    def weighted(self, z: Floats, share: Floats) -> tuple[Floats, Floats]:
        mean, moved, psi, proposed = self.parts(z)
        here, there = self.opposite(mean, moved, psi)
        with np.errstate(over="ignore", invalid="ignore"):
            moved[share * (1 + np.exp(here - there)) < 1] *= -1
        return self.natural(mean + moved, psi), np.logaddexp(here, there) - proposed

    def draws(self, z: Floats) -> Floats:
        mean, moved, psi, _ = self.parts(z)
        return self.natural(mean + moved, psi)

    def judged(self, z: Floats) -> Self:
        """Return the same with what the sd of log weights may be, and that of skewed proposals, by
        those at z.
        """
        mean, moved, psi, proposed = self.parts(z)
        here, there = self.opposite(mean, moved, psi)
        with np.errstate(invalid="ignore"):
            plain = spread_at_most(here - proposed)
            skewed = float(np.std(np.logaddexp(here, there) - proposed))
        return replace(self, plain_sd=plain, skewed_sd=skewed)


def log_densities(plain: Problem, points: Floats) -> Floats:
    """Return log densities (n,) at points (n, dim) of the coordinates of a problem."""
    # of one gradient for each call: chains have threads of their own
    return full_many(plain.all_rows(), points, slopes=False)[0]


def blended(tables: Floats, places: Floats) -> Floats:
    """Return rows (n, m) of tables (m_1, .., m) at places (n, j) in units of the nodes, linear
    between them.
    """
    shape, (n, j) = tables.shape[:-1], places.shape
    first = np.clip(np.floor(places).astype(int), 0, np.array(shape) - 2)
    share = places - first
    corners = np.array(list(np.ndindex(*[2] * j)))
    weight = np.prod(np.where(corners, share[:, None], 1 - share[:, None]), axis=2)
    node = np.ravel_multi_index(tuple(np.moveaxis(first[:, None] + corners, 2, 0)), shape)
    parts = weight.ravel(), node.ravel(), len(corners) * np.arange(n + 1)
    mixed = sparse.csr_array(parts, shape=(n, int(np.prod(shape))))
    return mixed @ tables.reshape(-1, tables.shape[-1])


class Settled:
    """Laplace approximations at many psi, each from the nearest one that is known.

    Parameters
    ----------
    conditional : CrossedConditional
    plain : Problem
        In its coordinates.
    centre : GaussianApproximation
    covariance : array (k, k)
        About that of psi.
    """

    def __init__(
        self,
        conditional: CrossedConditional,
        plain: Problem,
        centre: GaussianApproximation,
        covariance: Floats,
    ) -> None:
        self.of, self.plain, self.scale = conditional, plain, np.sqrt(np.diag(covariance))
        self.told = np.linalg.inv(covariance)[(slice(conditional.blocks.loading.q, None),) * 2]
        self.known: dict[bytes, GaussianApproximation] = {}
        self.places: list[Floats] = []
        self.keep(centre)

    def keep(self, found: GaussianApproximation) -> None:
        """Remember an approximation."""
        psi = found.place[self.of.psi]
        self.known[psi.tobytes()] = found
        self.places.append(psi)

    def at(self, psi: Floats, begin: Floats | None = None) -> GaussianApproximation:
        """Return the approximation at psi (k,); searches begin at that (beta, v)."""
        found = self.known.get(psi.tobytes())
        if found is None:
            place = self.near(psi)
            if begin is not None:
                place[: len(begin)] = begin
            # the precision at the mode itself, which the search has from near by
            found = self.of.around(self.of.settled(place).place)
            self.keep(found)
        return found

    def near(self, psi: Floats) -> Floats:
        """Return the nearest place that is known, with psi in the place of its own."""
        away = (((np.array(self.places) - psi) / self.scale) ** 2).sum(axis=1)
        place = self.known[self.places[int(away.argmin())].tobytes()].place.copy()
        place[self.of.psi] = psi
        return place

    def density(self, first: Floats, last: Floats) -> Floats:
        """Return log densities of psi, see `grid_of`."""
        out = np.empty(last.shape)
        for at in np.ndindex(*last.shape):
            found = self.at(self.inside(np.append(first[at[0]], last[at])))
            out[at] = log_densities(self.plain, found.place[None])[0] + found.map.log_scale
        return out

    def exact(self, psi: Floats, begin: Floats) -> GivenPsi:
        """Return what is known at psi (k,) by a search from that (beta, v)."""
        found = self.at(psi, begin)
        value = float(log_densities(self.plain, found.place[None])[0])
        return known_at(found, len(psi), value)

    def natural(self, psi: Floats, effects: float) -> Floats:
        """Return theta at psi (n, j), of coefficients zero and effects alike in units of sds."""
        place = np.zeros((len(psi), self.of.blocks.size))
        place[:, self.of.blocks.d : self.of.psi[0]] = effects
        place[:, self.of.psi] = psi
        return self.of.loaded(place)

    def sds(self, psi: Floats) -> Floats:
        """Return the sds of all effects at psi (n, j), (n, effects)."""
        return np.abs(self.natural(psi, 1.0)[:, self.of.blocks.d : self.of.psi[0]])

    def prior(self, psi: Floats) -> Floats:
        """Return log densities (n,) of the prior of psi, up to a constant, and normal ones of what
        the likelihood tells of parameters that are no sds.
        """
        value = of_priors(self.of.prior, self.natural(psi, 0.0))
        rest = (psi - self.places[0])[:, self.of.blocks.loading.q :]
        told = np.einsum("ni,ij,nj->n", rest, self.told, rest)
        # of zeros, each has the density 1 / sd
        return value + np.log(self.sds(psi)).sum(axis=1) - 0.5 * told

    def inside(self, psi: Floats) -> Floats:
        """Return psi (..., j) where all effects have a density."""
        q = self.of.blocks.loading.q
        return np.concatenate([np.maximum(psi[..., :q], NEAREST_ZERO), psi[..., q:]], axis=-1)


def proposals(
    problem: Problem,
    conditional: CrossedConditional,
    centre: GaussianApproximation,
    covariance: Floats,
    random: np.random.Generator,
) -> LaplaceTransport | None:
    """Return proposals; None where there are too many parameters, or the density of psi has no
    table.

    Parameters
    ----------
    problem : Problem
        In the sampler's coordinates.
    conditional : CrossedConditional
    centre : GaussianApproximation
        At the mode of psi.
    covariance : array (k, k)
        About that of psi.
    random : Generator
        Of the proposals whose weights are looked at.
    """
    blocks, count = conditional.blocks, len(conditional.psi)
    k = blocks.d + blocks.effects
    alone = blocks.loading.size == blocks.loading.q and not blocks.spectrum.size  # sds
    if count > MOST_IN_TABLE or not alone or k > MOST_SETTLED:
        return None
    plain = replace(problem, coordinates=replace(problem.coordinates, map=conditional.loaded))
    psi = centre.place[conditional.psi].copy()
    psi[: blocks.loading.q] = np.abs(psi[: blocks.loading.q])
    for tabulated in (by_few_passes, by_all_nodes):  # searches for modes cost more than all else
        try:
            tables = tabulated(Settled(conditional, plain, centre, covariance), psi, covariance)
        except (DataError, np.linalg.LinAlgError):  # no mode, or a precision that is none
            tables = None
        if tables is not None:
            break
    else:
        return None
    grid, means, roots = tables
    map = problem.coordinates.map
    made = LaplaceTransport(plain=plain, map=map, grid=grid, means=means, roots=roots)
    with one_blas_thread():
        z = random.normal(size=(LOOKED_AT_FIRST, blocks.size))
        few = made.judged(z[:FEW_LOOKED_AT])
        made = few if few.plain_sd <= SURELY_EVEN else made.judged(z)
    return made if made.skewed_sd < MOST_VARIED else None


def by_all_nodes(settled: Settled, psi: Floats, covariance: Floats) -> Tables | None:
    """Return grid, means and roots with a search for the mode at each node."""
    blocks, count = settled.of.blocks, len(psi)
    k = blocks.d + blocks.effects
    how = {"even": blocks.loading.q, "off": np.inf, "nodes": NODES[count]}
    grid = grid_of(settled.density, psi, covariance, **how)
    if grid is None or grid.sizes.prod() * k**2 > NUMBERS_OF_ROOTS:
        return None
    nodes = grid.nodes()
    means, roots = np.empty((*nodes.shape[:-1], k)), np.empty((*nodes.shape[:-1], k * k))
    ones = np.eye(blocks.size)[:k]
    for at in np.ndindex(*nodes.shape[:-1]):
        found = settled.at(settled.inside(nodes[at]))
        means[at] = found.place[:k]
        root = found.map(ones) - np.asarray(found.map.centre)
        roots[at] = root[:, :k].ravel()
    return grid, means, roots


def by_few_passes(settled: Settled, psi: Floats, covariance: Floats) -> Tables | None:
    """Return the same by normal laws and a few searches with all rows; None where what these differ
    by is not smooth.
    """
    blocks, count = settled.of.blocks, len(psi)
    k = blocks.d + blocks.effects
    # nodes cost little here, and between them roots are linear
    how = {"even": blocks.loading.q, "off": np.inf, "nodes": NODES[1]}

    def inside(points: Floats) -> Floats:
        return settled.inside(points.reshape(-1, count))

    def table(law: NormalEffects) -> Grid | None:
        def density(first: Floats, last: Floats) -> Floats:
            firsts = np.repeat(first[:, None], last.shape[1], axis=1)
            points = np.concatenate([firsts, last[..., None]], axis=2)
            return law.densities(inside(points)).reshape(last.shape)

        return grid_of(density, psi, covariance, **how)

    at_mode = settled.at(settled.inside(psi))
    law = NormalEffects.of(at_mode, settled.inside(psi), settled.sds, settled.prior)
    rough = table(law)
    if rough is None:
        return None
    nodes = inside(rough.nodes())
    corrected = law.corrected(settled.exact, psi, nodes.min(axis=0), nodes.max(axis=0))
    grid = corrected and table(corrected)
    if grid is None or grid.sizes.prod() * k**2 > NUMBERS_OF_ROOTS:
        return None
    known, sizes = corrected.at(inside(grid.nodes())), tuple(grid.sizes)
    return grid, known.mean.reshape(*sizes, k), known.root.reshape(*sizes, k * k)
