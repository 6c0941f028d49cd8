"""Effects of levels as files have them: without the data of the fit, of a bounded size."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.numbers import whole
from sgmc.arguments.seeds import entropy
from sgmc.errors import ArgumentError
from sgmc.models.regression.latent.effects.random_effects import DRAWN_AT_ONCE, Population, looks
from sgmc.results.outcomes.data.rows import FEWEST_DRAWS, ROWS_WORK, evenly

SAVED_BYTES = 1 << 25  # of effects in a file
# of the arrays that effects at draws have
AXES_OF_DRAWS = {"roots": 0, "points": 0, "drawn": 1, "mean": 1, "covariance": 1}
AGAIN = "resume(data=<the table of the fit>)"  # what brings the data back


@dataclass(frozen=True, kw_only=True)
class SavedEffects(Population):
    """Effects of all levels of a factor at draws of the parameters, and their laws there.

    Attributes
    ----------
    drawn, mean : array (levels, m, q)
        Draws and means given the outcomes, and
    covariance : array (levels, m, q, q)
    nodes : array (levels, m, k, q) or None
        Of the law, with their probabilities, where means over it take them.
    probability : array (levels, m, k) or None
    closed : bool
    count, cost : int
        See `Conditional`: draws are thinned as they are with the data.
    """

    drawn: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    nodes: np.ndarray | None
    probability: np.ndarray | None
    closed: bool
    count: int
    cost: int

    @property
    def integrable(self):
        return self.closed or self.nodes is not None

    @property
    def law_size(self):
        return self.count * self.roots.shape[1]

    def with_draws(self, kept):
        nodes, probability = (
            None if one is None else one[:, kept] for one in (self.nodes, self.probability)
        )
        return replace(
            self,
            roots=self.roots[kept],
            drawn=self.drawn[:, kept],
            mean=self.mean[:, kept],
            covariance=self.covariance[:, kept],
            nodes=nodes,
            probability=probability,
        )

    def work(self, levels, **steps):
        """Return how many evaluations of a row's density a draw of the effects stands for."""
        known = np.asarray(levels)
        known = known[known < len(self.sizes)]
        return float(self.sizes[known].sum()) * looks(self, **steps) + len(levels)

    def known(self, levels):
        """Return draws, means and covariances of the effects of some levels."""
        return self.drawn[levels], self.mean[levels], self.covariance[levels]

    def moments(self, levels):
        """Return means and covariances of the effects of some levels."""
        return self.known(levels)[1:]

    def law(self, levels):
        """Return nodes (L, m, nodes, q) of the effects of levels, and their probabilities."""
        if self.closed:
            mean = self.mean[levels][:, :, None]
            return mean, np.ones(mean.shape[:3])
        return self.nodes[levels], self.probability[levels]


@dataclass(frozen=True)
class SavedLevels:
    """Effects of all factors in a file.

    Attributes
    ----------
    populations : list of Population
        Of each factor at all draws: what predictions of new levels need.
    effects : list of Population or None
        With those of known levels, at some of the draws; None where they are too large.
    kept : array or None
        Numbers of these draws among all.
    moments : list of (array, array), optional
        Means and sds of the effects of each factor over more draws than `effects` has.
    """

    populations: list
    effects: list | None
    kept: np.ndarray | None
    moments: list | None = None


def populations_of(every):
    """The `Population` of each factor."""
    return [
        Population(roots=one.roots, seed=one.seed, sizes=one.sizes, factor=one.factor)
        for one in every
    ]


def saved_levels(every, share=1, nodes=True):
    """The `SavedLevels` of some `LevelEffects`, one a factor.

    They have all draws and nodes, if these are wanted, where they take SAVED_BYTES / share at most,
    so that predictions of loaded results are the same numbers; else as many draws as there is room
    for.
    """
    m, room = len(every[0].points), SAVED_BYTES // share
    work = sum(one.work(np.arange(len(one.sizes))) for one in every)
    by_work = max(FEWEST_DRAWS, int(ROWS_WORK // max(work, 1)))
    # means over effects of several factors are those of draws
    nodes = nodes and len(every) == 1 and every[0].integrable and not every[0].conditional.closed
    bare, whole = (sum(bytes_of(one, with_) for one in every) for with_ in (False, nodes))
    exact = m <= by_work and m * whole <= room
    count = m if exact else min(m, by_work, room // bare)
    if count < min(m, FEWEST_DRAWS):
        return SavedLevels(populations_of(every), None, None)
    kept = evenly(m, count)
    effects = [saved(one.with_draws(kept), exact and nodes) for one in every]
    return SavedLevels(populations_of(every), effects, kept)


def pooled_levels(fits, chosen):
    """The `SavedLevels` of results of several fits with the same levels, at the `chosen` draws of
    each chain of each; without nodes, whose number differs by fit.
    """
    found, first = [], 0
    for one, draws in zip(fits, chosen):
        chains, count = one.draws.shape[:2]
        own = (np.arange(chains)[:, None] * count + draws).ravel()
        every = [of.with_draws(own) for of in one.level_effects(one.seed)]
        held = saved_levels(every, len(fits), nodes=False)
        found.append(replace(held, kept=None if held.kept is None else first + held.kept))
        first += len(own)
    populations = [joined(one) for one in zip(*(held.populations for held in found))]
    if any(held.effects is None for held in found):
        return SavedLevels(populations, None, None)
    effects = [joined(one) for one in zip(*(held.effects for held in found))]
    return SavedLevels(populations, effects, np.concatenate([held.kept for held in found]))


def joined(every):
    """One factor's effects at the draws of all fits."""
    parts = {
        name: np.concatenate([getattr(one, name) for one in every], axis=axis)
        for name, axis in AXES_OF_DRAWS.items()
        if hasattr(every[0], name)
    }
    return replace(every[0], **parts)


def bytes_of(effects, nodes):
    """Bytes of a factor's effects at a draw."""
    q, count = effects.roots.shape[1], effects.conditional.count
    return 8 * len(effects.sizes) * (2 * q + q * q + nodes * count * (q + 1))


def saved(effects, nodes):
    """The `SavedEffects` of some `LevelEffects`, with or without nodes."""
    (m, q), here = effects.roots.shape[:2], effects.conditional
    levels = np.arange(len(effects.sizes))
    size = max(1, DRAWN_AT_ONCE // (m * 16 * q))
    pieces = [levels[a : a + size] for a in range(0, len(levels), size)]
    known = [np.concatenate(one) for one in zip(*map(effects.known, pieces))]
    law = [np.concatenate(one) for one in zip(*map(effects.law, pieces))] if nodes else [None] * 2
    return SavedEffects(
        roots=effects.roots,
        seed=effects.seed,
        sizes=effects.sizes,
        factor=effects.factor,
        drawn=known[0],
        mean=known[1],
        covariance=known[2],
        nodes=law[0],
        probability=law[1],
        closed=bool(here.closed),
        count=here.count,
        cost=here.cost,
    )


class LevelsWithoutData:
    """Methods of results whose levels have effects, with the data of the fit or, without these, by
    `SavedLevels`.
    """

    _levels = None

    def level_effects(self, seed):
        """`LevelEffects` of the factors at all draws, of results with their data."""
        raise NotImplementedError("level_effects")

    def levels_to_save(self):
        """The `SavedLevels` of results with their data, or None."""
        return saved_levels(self.level_effects(self.seed))

    def __getstate__(self):
        state = super().__getstate__()
        if self._fit is not None and not self.stand_in:
            state["_levels"] = self.levels_to_save()
        return state

    def of_known_or_new(self, code, factors, sizes):
        """Effects of the factors for the levels (n, factors) of new rows, and the numbers of the
        draws that they are at, None of all; None of results of which nothing was saved.

        Raises
        ------
        ArgumentError
            For levels of the fit whose effects are not there.
        """
        if self._fit is not None:
            return self.level_effects(self.seed), None
        held, known = self._levels, []
        for name, one, rows in zip(factors, code.T, sizes):
            known += [name] * bool(((one >= 0) & (one < len(rows))).any())
        if known and (held is None or held.effects is None):
            why = (
                "are not in the file"
                if held is None
                else (f"were not saved, as they take more than {SAVED_BYTES >> 20} MB")
            )
            raise ArgumentError(
                f"random=True: effects of known levels of {known[0]} {why}: call {AGAIN} first, or "
                "give random=False for predictions at effects of zero"
            )
        if known:
            return held.effects, held.kept
        return None if held is None else (held.populations, None)

    def effects_of_levels(self, what, k, levels, draws=None, seed=None):
        """`LevelEffects` or `SavedEffects` of a factor at some of the draws, and their weights."""
        w, count = self.flat_weights, whole("draws", draws, 1, none=True)
        if self._fit is None:
            held = self.saved_effects(what, count, seed)
            effects, w = held.effects[k], None if w is None else w[held.kept]
        else:
            effects = self.level_effects(self.seed if seed is None else entropy(seed))[k]
        if count is None:
            count = max(FEWEST_DRAWS, int(ROWS_WORK // max(effects.work(levels), 1)))
        kept = evenly(len(effects.roots), count)
        return effects.with_draws(kept), None if w is None else w[kept]

    def saved_effects(self, what, count, seed):
        """The `SavedLevels`; ArgumentError where there are not as many draws, or others are asked
        for.
        """
        held = self._levels
        if held is None or held.effects is None or seed is not None:
            raise ArgumentError(f"{what} needs the data of the fit: {self._without_rows}")
        if count is not None and count > len(held.kept):
            raise ArgumentError(
                f"{what}: effects were saved at {len(held.kept)} draws: give draws={len(held.kept)}"
            )
        return held
