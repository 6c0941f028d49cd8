"""Whether what was predicted with probability p happens with frequency p: reliability by isotonic
regression, and the parts of the Brier score.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sgmc.diagnostics.chains import moments
from sgmc.results.outcomes.criticism.loo import efficiency, leave_one_out
from sgmc.results.outcomes.criticism.pit import left_out, some_of, weighed
from sgmc.results.outcomes.data.offers import EVENTS, need, need_posterior
from sgmc.results.outcomes.data.rows import fitted_rows
from sgmc.results.outcomes.predicted.prediction import outcome_stream

RESAMPLED = 500  # sets of outcomes: of a p-value of .05, an error of .01


@dataclass(frozen=True)
class Reliability:
    """Outcomes that happen or do not, against their predicted probabilities.

    Attributes
    ----------
    probability : array (k,)
        Distinct predictions, ascending.
    size : array (k,)
        Outcomes with each, by their frequency weights and trials; positive.
    share : array (k,)
        Of these, the share that happened.
    resampled : array (RESAMPLED, k)
        The same of outcomes that were drawn with these probabilities.
    """

    probability: np.ndarray
    size: np.ndarray
    share: np.ndarray
    resampled: np.ndarray

    @classmethod
    def of(cls, probability, happened, size, rng):
        """Of rows: predicted probabilities, and of `size` outcomes how many happened, (n,)."""
        there = size > 0
        probability, happened, size = (one[there] for one in (probability, happened, size))
        distinct, place = np.unique(probability, return_inverse=True)
        total = np.bincount(place, size)
        resampled = np.empty((RESAMPLED, len(distinct)))
        for one in resampled:
            one[:] = np.bincount(place, successes(size, probability, rng))
        return cls(distinct, total, np.bincount(place, happened) / total, resampled / total)

    @property
    def frequency(self):
        """Recalibrated probabilities: the isotonic regression of outcomes on predictions, (k,)."""
        return self.isotonic(self.share)

    def isotonic(self, share):
        """Isotonic regression of shares, by pool-adjacent-violators."""
        from scipy.optimize import isotonic_regression  # only here: it takes long to import

        return isotonic_regression(share, weights=self.size).x

    def band(self, alpha):
        """Ends of the consistency band, (2, k): quantiles of isotonic regressions of outcomes that
        were drawn with the predicted probabilities.
        """
        curves = np.array([self.isotonic(share) for share in self.resampled])
        return moments.quantile(curves[None], [alpha / 2, 1 - alpha / 2])

    def brier(self, share, prediction):
        """Mean squared error of predictions of outcomes with these shares."""
        squares = share * (1 - prediction) ** 2 + (1 - share) * prediction**2
        return float(self.size @ squares / self.size.sum())

    def parts(self, share):
        """Brier score, miscalibration, discrimination and uncertainty, (4,)."""
        found, mean = self.isotonic(share), self.size @ share / self.size.sum()
        score, best, constant = (self.brier(share, p) for p in (self.probability, found, mean))
        return np.array([score, score - best, constant - best, constant])

    def summary(self):
        """Return the Brier score and its parts; see `Criticism.calibration`."""
        names = ["brier", "miscalibration", "discrimination", "uncertainty"]
        found = pd.Series(self.parts(self.share), names, name="calibration")
        as_much = sum(self.parts(one)[1] >= found["miscalibration"] for one in self.resampled)
        found["p"] = (1 + as_much) / (1 + RESAMPLED)
        return found


def successes(size, probability, rng):
    """How many of `size` outcomes happen, each with its probability: of a weight that is no whole
    number the rest is one outcome of that weight.
    """
    count = np.floor(size)
    drawn, rest = rng.binomial(count.astype(np.int64), probability), size - count
    return drawn + rest * (rng.random(len(rest)) < probability) if rest.any() else drawn


def reliabilities(results, loo, seed):
    """`Reliability` of each kind of outcome by its name, of outcomes 0 and 1 of the one named
    None.
    """
    need(results, "calibration", EVENTS)
    if loo:
        need_posterior(results, "calibration with loo=True", ", or give loo=False")
    rng = outcome_stream(results, seed)
    rows, mean = without_each(results, rng) if loo else with_all(results)
    mean = np.clip(mean, 0.0, 1.0)  # sums of weighted draws are off by rounding
    weight = rows.frequency
    weight = np.ones(rows.n) if weight is None else weight
    if results.model.family.several:
        return {
            kind: Reliability.of(mean[:, k], weight * (rows.y == k), weight, rng)
            for k, kind in enumerate(results.model.kinds)
        }
    trials = 1.0 if rows.trials is None else rows.trials
    return {None: Reliability.of(mean, weight * rows.y, weight * trials, rng)}


def with_all(results):
    """Rows of the fit and their fitted probabilities."""
    rows = some_of(fitted_rows(results, "calibration"))
    return rows, rows.affordable_mean()


def without_each(results, rng):
    """Rows of the fit and the probabilities that the other rows predict for them, (n,) or
    (n, kinds).

    Of outcomes 0 and 1 these are what `loo` estimates; of others they are means over draws weighted
    so that they have not seen the row.
    """
    model = results.model
    whole = model.family.several or "trials" in model.given
    part = left_out(results)
    if not whole:
        density = np.exp(leave_one_out(part, efficiency(results, part))[0])
        return part, np.where(part.y == 1, density, 1 - density)
    mean = np.empty((part.n, len(model.kinds)) if model.family.several else part.n)
    for here, rows, weights in weighed(results, part):
        eta, extra = rows.unseen(rng)
        mean[here] = np.sum(weights * rows.family.centre(eta, extra), axis=-1).T
    return part, mean
