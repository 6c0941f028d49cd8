"""Rows and draws with the effects of the rows' groups: what predictions are made of."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.messages import labels_text
from sgmc.errors import ArgumentError, NewLevelsWarning, warn
from sgmc.models.regression.latent.effects import integrated_means as integrated
from sgmc.results.outcomes.data.rows import FEWEST_DRAWS, ROWS_WORK, Rows, evenly


@dataclass(frozen=True, kw_only=True)
class EffectRows(Rows):
    """`Rows` whose linear predictors have effects of levels, drawn block by block.

    Attributes
    ----------
    effects : list of Population or MeanEffects
        One a factor.
    code : array (n, factors) of int
        The levels of each row; negative where one is missing.
    Z : list of array (n, q)
        Covariates of each factor's effects.
    predictor : list of array (q,) of int
        Which linear predictor each of them belongs to.
    """

    effects: list
    code: np.ndarray
    Z: list
    predictor: list

    def with_draws(self, kept):
        effects = [one.with_draws(kept) for one in self.effects]
        return replace(super().with_draws(kept), effects=effects)

    def affordable(self):
        # drawing effects counts too
        work = max(
            self.n,
            sum(one.work(np.unique(c[c >= 0])) for one, c in zip(self.effects, self.code.T)),
        )
        if work * self.m <= ROWS_WORK:
            return self
        return self.with_draws(evenly(self.m, max(FEWEST_DRAWS, int(ROWS_WORK // work))))

    def affordable_mean(self):
        return (
            integrated.thinned(self).mean()
            if integrated.integrable(self)
            else super().affordable_mean()
        )

    def mean(self):
        # effects are integrated out where that takes no draws of them
        if not integrated.integrable(self):
            return super().mean()
        found = integrated.means(self)
        out = np.empty_like(found)
        out[self.place(slice(None))] = found
        return out

    def at_mean(self):
        # effects are their posterior means
        effects = [MeanEffects(one, self.weights) for one in self.effects]
        return replace(super().at_mean(), effects=effects)

    def predictors(self, at):
        # single ones, until effects are added
        return self.family.linear(self.X[at], self.coefficients, self.offset[at])

    def among(self, kept):
        return replace(super().among(kept), code=self.code[kept], Z=[one[kept] for one in self.Z])

    def blocks(self):
        for at, eta in super().blocks():
            every = eta if self.family.linear_predictors > 1 else [eta]
            for effects, code, Z, of in zip(self.effects, self.code[at].T, self.Z, self.predictor):
                levels, place = np.unique(code, return_inverse=True)
                known = levels >= 0
                drawn = np.full((len(levels), self.m, Z.shape[1]), np.nan)
                drawn[known] = effects.draws(levels[known])
                for a, z in enumerate(Z[at].T):
                    every[of[a]] += z[:, None] * drawn[place, :, a]
            yield at, self.family.placed(eta, self.extra)


@dataclass(frozen=True)
class MeanEffects:
    """Posterior means of the effects of levels, zero for those that the fit has not seen."""

    inner: object
    weights: np.ndarray | None
    integrable = False

    def draws(self, levels):
        """Return one draw (L, 1, q) of the effects of levels, the mean."""
        out = np.zeros((len(levels), 1, self.inner.roots.shape[1]))
        seen = levels < len(self.inner.sizes)
        mean = self.inner.known(levels[seen])[1]
        out[seen, 0] = np.average(mean, axis=1, weights=self.weights)
        return out


def with_effects(rows, effects, code, Z, predictor=None):
    """`EffectRows` of `Rows`, sorted by level unless they have an `order` already; with a single
    linear predictor all effects belong to it.
    """
    if predictor is None:
        predictor = [np.zeros(one.shape[1], dtype=int) for one in Z]
    held = dict(vars(rows), effects=effects, code=code, Z=Z, predictor=predictor)
    if rows.order is None:
        order = np.lexsort(code.T[::-1])
        for name in ("X", "offset", "code", "y", "trials", "se"):
            held[name] = None if held[name] is None else held[name][order]
        held |= dict(Z=[one[order] for one in Z], order=order)
    return EffectRows(**held)


def codes_of_new(groups, factors, sizes, new_levels):
    """Levels (n, factors) of new rows; those that the fit has not seen are refused, warned of, or
    meant.

    Parameters
    ----------
    groups : list of (array (n,), Index)
        See `GroupSpec.new`.
    factors : list of str
    sizes : list of array (levels,)
        Rows of each level of the fit.
    new_levels : {"sample", "error"} or None
        None: nobody has said that they are meant.
    """
    told = []
    for (code, new), factor, known in zip(groups, factors, sizes):
        if len(new) and new_levels == "error":
            raise ArgumentError(
                f"new_levels='error': the new data have levels of {factor} that the fit has not "
                f"seen: {labels_text(new)}; leave them out, or give new_levels='sample'"
            )
        if len(new):
            none = "" if (code[code >= 0] < len(known)).any() else ", and no known one"
            levels = f"{len(new)} new level{'s' * (len(new) > 1)}"
            told.append(f"{levels} of {factor} ({labels_text(new)}){none}")
    if told and new_levels is None:
        warn(
            NewLevelsWarning(
                f"The new data have {'; '.join(told)}: their effects are drawn from the population "
                "of levels, normal with its sd.",
                "Give new_levels='sample' if new levels are meant, or random=False for effects of "
                "zero.",
            )
        )
    return np.column_stack([code for code, _ in groups])
