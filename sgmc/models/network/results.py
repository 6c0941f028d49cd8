"""Results of neural networks: predictions averaged over draws, and how well they are calibrated."""

import numpy as np
import pandas as pd

from sgmc.arguments.messages import label_text
from sgmc.arguments.numbers import whole
from sgmc.diagnostics.calibration import ece, log_loss, mce, rmse
from sgmc.errors import ArgumentError
from sgmc.models.bases.results import ModelResults
from sgmc.results.checks.scores.whole import whole_draws

COVERED = 0.95  # of what is predicted of an outcome


def predictions(results, rows, X, y):
    """Predictors of rows X by all whole draws, and the parameters that are no weights: names and
    draws (chain, draw, k).
    """
    fit, recipe = results._fit, results.model.recipe
    whole = whole_draws(fit)
    if whole is None:
        return None
    law, names = recipe.law, fit.problem.own.names
    beside = [k for k, name in enumerate(names) if name[0] not in "Wb"]
    flat = whole.reshape(-1, whole.shape[2])
    found = np.stack([law.predictor(*recipe.said(theta, X), y).ravel() for theta in flat])
    found = np.hstack([found, flat[:, beside]]).reshape(*whole.shape[:2], -1)
    of_rows = [f"row {i} {what}".strip() for i in rows for what in law.judged]
    return [*of_rows, *(names[k] for k in beside)], found


class NetworkResults(ModelResults):
    """The posterior of a `BNN`; predictions are averages over its draws, never those of one
    network.

    Where draws of all weights are too many to keep, predictions use up to 200 whole draws of each
    chain, evenly spaced over those that `draws` asked for (`networks`).
    """

    @classmethod
    def besides(cls, fit):
        # the whole draws that were kept
        kept = super().besides(fit)
        if fit.problem.record.columns is None:
            return {**kept, "_bank": None}
        banks = [recorder.bank for recorder in fit.recorders]
        return {**kept, "_bank": tuple(np.concatenate(part) for part in zip(*banks))}

    def networks(self):
        """Return whole draws of theta that predictions are averaged over, (k, size), and their
        weights, (k,).
        """
        if self._bank is not None:
            return self._bank
        weights = np.ones(self.draws.shape[1]) if self.weights is None else self.weights
        return self.draws.reshape(-1, self.draws.shape[-1]), np.tile(weights, self.draws.shape[0])

    def outputs(self, data, most=None):
        """Return what each network expects: E[y | x], (k, n) or (k, n, outcomes), or the
        probabilities of the classes, (k, n, classes).

        Parameters
        ----------
        data : array_like (n, d) or table
            As in the fit.
        most : int, optional
            Networks, evenly spaced; default all that were kept.
        """
        recipe, (theta, _) = self.model.recipe, self._some(most)
        X = recipe.table(data)
        return np.stack([recipe.outputs(one, X) for one in theta])

    def predict_proba(self, data, most=None):
        """Return posterior predictive probabilities of the classes, (n, classes), in the order of
        `classes`.

        Parameters
        ----------
        data, most
            See `outputs`.

        Raises
        ------
        ArgumentError
            Where outcomes are numbers.
        """
        if self.model.recipe.outcome != "softmax":
            raise ArgumentError(
                f"predict_proba does not apply to {self.model.recipe.outcome} outcomes; use predict"
            )
        return self._average(data, most)

    def predict(self, data, most=None):
        """Return the most probable class of each row by `predict_proba`, or the posterior mean of
        E[y | x].

        Parameters
        ----------
        data, most
            See `outputs`.
        """
        if self.model.recipe.outcome == "softmax":
            return np.asarray(self.classes)[self.predict_proba(data, most).argmax(axis=1)]
        return self._average(data, most)

    def posterior_predict(self, data, most=None, seed=None):
        """Simulate a new outcome of each row from each network, (k, n), or (k, n, outcomes) where a
        row has several; classes as their labels.

        Parameters
        ----------
        data, most
            See `outputs`; networks are drawn again by their weights where these differ.
        seed : int, optional
            Default: the fit's.
        """
        recipe, (theta, weights) = self.model.recipe, self._some(most)
        rng = np.random.default_rng(self.seed if seed is None else seed)
        X = recipe.table(data)
        even = np.ptp(weights) == 0
        chosen = (
            range(len(theta))
            if even
            else rng.choice(len(theta), len(theta), p=weights / weights.sum())
        )
        drawn = np.stack([recipe.law.simulate(*recipe.said(theta[k], X), rng) for k in chosen])
        return np.asarray(self.classes)[drawn] if recipe.outcome == "softmax" else drawn

    def calibration(self, data, outcomes, most=None, bins=10):
        """Return how well predictions fit outcomes, a Series; of several outcomes a DataFrame, a
        row each.

        Of classes: ``error`` (share of wrong ones), ``log_loss``, ``ece`` and ``mce`` (see
        `sgmc.diagnostics.ece`).  Of numbers: ``rmse`` of the posterior mean, ``log_loss``, the mean
        of -log p(y | x) with the density averaged over networks, and ``coverage``, the share of
        outcomes in the central 95 % of what is predicted.

        Parameters
        ----------
        data, most
            See `outputs`.
        outcomes : array_like (n,) or (n, outcomes)
        bins : int
            Of confidence.
        """
        if self.model.recipe.outcome != "softmax":
            return self._calibration_of_numbers(data, outcomes, most)
        codes = pd.Index(self.classes).get_indexer(np.asarray(outcomes))
        if (codes < 0).any():
            raise ArgumentError(
                f"outcomes has {label_text(np.asarray(outcomes)[codes < 0][0])}, which is none of "
                "the classes of the fit"
            )
        p = self.predict_proba(data, most)
        return pd.Series(
            {
                "error": float((p.argmax(axis=1) != codes).mean()),
                "log_loss": log_loss(p, codes),
                "ece": ece(p, codes, bins=bins),
                "mce": mce(p, codes, bins=bins),
            }
        )

    def _calibration_of_numbers(self, data, outcomes, most):
        """Return the calibration of numbers; densities and shares are summed up one network at a
        time.
        """
        recipe, (theta, weights) = self.model.recipe, self._some(most)
        law, X = recipe.law, recipe.table(data)
        y = law.new(outcomes, len(X))
        density, below, up_to = np.full(y.shape, -np.inf), 0.0, 0.0
        for one, weight in zip(theta, weights / weights.sum()):
            said = recipe.said(one, X)
            density = np.logaddexp(density, np.log(weight) + law.log_density(*said, y))
            first, second = law.shares(*said, y)
            below, up_to = below + weight * first, up_to + weight * second
        tail = (1 - COVERED) / 2
        means = self.predict(data, most).reshape(y.shape)
        scores = pd.DataFrame(
            {
                "rmse": [rmse(means[:, k], y[:, k]) for k in range(law.outcomes)],
                "log_loss": -density.mean(axis=0),
                "coverage": ((up_to >= tail) & (below <= 1 - tail)).mean(axis=0),
            },
            index=list(law.names) or None,
        )
        return scores if law.names else scores.iloc[0].rename(None)

    @property
    def classes(self):
        """Labels of the classes, in the order of the probabilities;
        None where outcomes are numbers.
        """
        return self.model.recipe.law.levels

    def _some(self, most):
        """At most so many networks, evenly spaced, and their weights."""
        theta, weights = self.networks()
        if most is None or most >= len(theta):
            return theta, weights
        kept = np.linspace(0, len(theta) - 1, whole("most", most, 1)).astype(int)
        return theta[kept], weights[kept]

    def _average(self, data, most):
        """The weighted mean of `outputs`, one network at a time."""
        recipe, (theta, weights) = self.model.recipe, self._some(most)
        X, total = recipe.table(data), 0.0
        for one, weight in zip(theta, weights / weights.sum()):
            total = total + weight * recipe.outputs(one, X)
        # no 1 + 1e-16
        return total / total.sum(axis=1, keepdims=True) if recipe.outcome == "softmax" else total
