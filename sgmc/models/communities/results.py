"""The results of mixed-membership blockmodels."""

import numpy as np
import pandas as pd
from scipy.special import logit

from sgmc.errors import ArgumentError
from sgmc.models.bases.results import GeneralInfo, ModelResults
from sgmc.models.communities.pairs import columns, pairs_of


class MMSBInfo(GeneralInfo):
    """What a result keeps of a network: its nodes and the pairs that were held out; not its
    links.
    """

    def __init__(self, model):
        super().__init__(model)
        self.nodes, self.delta, self.held_out = model.nodes, model.delta, model.held_out


class MMSBResults(ModelResults):
    """The posterior of an `MMSB`.

    Labels of communities are a chain's own: chains begin at blocks of nodes, and a chain keeps its
    labels where communities are well apart.  `memberships` and `strengths` give the communities of
    each chain the labels of the first chain, by the assignment with which mean memberships agree
    most; `predict` and `perplexity` do not depend on labels.
    """

    @classmethod
    def besides(cls, fit):
        # and whole draws, means by chain, and mean probabilities of the pairs that were held out
        kept = super().besides(fit)
        if fit.problem.record.columns is None:
            return {**kept, "_bank": None, "_chain_means": None, "_completed": None}
        banks = [recorder.bank[0] for recorder in fit.recorders]
        count = min(map(len, banks))
        held = [r.probabilities for r in fit.recorders if hasattr(r, "probabilities")]
        weights = [r.total for r in fit.recorders]
        return {
            **kept,
            "_bank": np.stack([bank[:count] for bank in banks]),
            "_chain_means": np.array([r.mean for r in fit.recorders]),
            "_completed": np.average(held, axis=0, weights=weights) if held else None,
        }

    def memberships(self):
        """Return posterior means of the memberships, a DataFrame (node, community)."""
        means = self._means("memberships")
        mean = np.mean([one[:, order] for one, order in zip(means, self._orders())], axis=0)
        return self._frame(mean, self.model.nodes, "node")

    def strengths(self):
        """Return posterior means and sds of the strengths, a DataFrame with a row for each
        community.
        """
        draws, weights = self._whole()
        beta = draws[..., self.model.slices["strengths"]][..., ::2]
        beta = np.concatenate([one[:, order] for one, order in zip(beta, self._orders())])
        w = np.tile(weights, len(draws)) / (weights.sum() * len(draws))
        mean = w @ beta
        sd = np.sqrt(w @ (beta - mean) ** 2)
        index = pd.RangeIndex(len(mean), name="community")
        return pd.DataFrame({"mean": mean, "sd": sd}, index=index)

    def link_draws(self, pairs):
        """Return probabilities of links under each whole draw that was kept, (draw, pair).

        Parameters
        ----------
        pairs : DataFrame or array_like (m, 2)
            Labels of nodes.

        Raises
        ------
        DataError
            For unknown nodes, and nodes paired with themselves.
        """
        asked = pairs_of("pairs", pairs, self.model.nodes)
        draws = self._whole()[0]
        return link_probabilities(
            draws.reshape(-1, draws.shape[-1]), self._K, self.model.delta, asked.first, asked.second
        )

    def predict(self, pairs):
        """Return posterior predictive probabilities of links, (m,), averaged over draws.

        Parameters
        ----------
        pairs : DataFrame or array_like (m, 2)
            Labels of nodes.
        """
        draws, weights = self._whole()
        return np.average(self.link_draws(pairs), axis=0, weights=np.tile(weights, len(draws)))

    def get_prediction(self, pairs):
        """Return posterior means and sds of the probabilities of links, a DataFrame indexed by the
        two nodes.

        Parameters
        ----------
        pairs : DataFrame or array_like (m, 2)
            Labels of nodes.
        """
        p, mean = self.link_draws(pairs), self.predict(pairs)
        weights = np.tile(self._whole()[1], len(self._whole()[0]))
        sd = np.sqrt(np.average((p - mean) ** 2, axis=0, weights=weights))
        asked = columns("pairs", pairs, 2)
        index = pd.MultiIndex.from_arrays(asked, names=["node", "other"])
        return pd.DataFrame({"mean": mean, "sd": sd}, index=index)

    def perplexity(self, test=None):
        """Return the perplexity of pairs: exp(-mean log p(y_ab)), p(y_ab) the mean over draws (Li,
        Ahn & Welling 2016, eq. 18).

        Parameters
        ----------
        test : DataFrame or array_like (m, 3), optional
            Two nodes, and whether they are linked.  Default: the pairs that were held out, whose
            probabilities were averaged over all draws.
        """
        if test is None:
            if self.model.held_out is None:
                raise ArgumentError(
                    "test: no pairs were held out of the fit; give some, or MMSB(..., held_out=)"
                )
            return perplexity(self._completed, self.model.held_out.linked)
        linked = pairs_of("test", test, self.model.nodes).linked
        if linked is None:
            raise ArgumentError("test needs a third column: whether the pair is linked, 0 or 1")
        return perplexity(self.predict(np.asarray(test, dtype=object)[:, :2]), linked)

    @property
    def _K(self):
        """Communities."""
        return self.model.shapes["strengths"][0]

    def _whole(self):
        """Draws of all parameters, (chain, draw, size), and their weights, (draw,)."""
        if self._bank is not None:
            return self._bank, np.ones(self._bank.shape[1])
        weights = np.ones(self.draws.shape[1]) if self.weights is None else self.weights
        return self.draws, weights

    def _means(self, name):
        """Posterior means of a parameter by chain."""
        if self._chain_means is None:
            return np.average(self.draws_of(name), axis=1, weights=self.weights)
        return self._chain_means[:, self.model.slices[name]].reshape(-1, *self.model.shapes[name])

    def _orders(self):
        """For each chain the places of its communities by the labels of the first chain."""
        from scipy.optimize import linear_sum_assignment  # only here: it takes long to import

        means = self._means("memberships")
        return [linear_sum_assignment(-(means[0].T @ one))[1] for one in means]

    @staticmethod
    def _frame(values, index, name):
        """A DataFrame with a column for each community."""
        columns = pd.RangeIndex(values.shape[1], name="community")
        return pd.DataFrame(values, index=pd.Index(index, name=name), columns=columns)


def log_odds(results, first, second):
    """Log-odds of links of pairs of nodes by whole draws: names and draws (chain, draw, pair)."""
    draws, nodes = results._whole()[0], results.model.nodes
    flat = draws.reshape(-1, draws.shape[-1])
    found = logit(link_probabilities(flat, results._K, results.model.delta, first, second))
    names = [f"{nodes[a]} - {nodes[b]}" for a, b in zip(first, second)]
    return names, found.reshape(*draws.shape[:2], -1)


def link_probabilities(theta, K, delta, first, second):
    """delta + sum_k pi_ak pi_bk (beta_k - delta) of draws theta (n, size) and pairs, (n, m)."""
    found = np.full((len(theta), len(first)), float(delta))
    beta = theta[:, -2 * K :: 2]
    for k in range(K):
        found += theta[:, first * K + k] * theta[:, second * K + k] * (beta[:, [k]] - delta)
    return found


def perplexity(chances, linked):
    """exp(-mean log p(y)) of the probabilities of links."""
    return float(np.exp(-np.mean(np.log(np.where(linked, chances, 1 - np.asarray(chances))))))
