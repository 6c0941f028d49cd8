"""The results of latent Dirichlet allocation."""

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import whole
from sgmc.errors import ArgumentError
from sgmc.models.bases.results import GeneralInfo, ModelResults
from sgmc.models.lda.corpus import documents, halves
from sgmc.models.lda.folding import Completion, Folding


class LDAInfo(GeneralInfo):
    """What a result keeps of topics: their words, and the documents that were held out;
    not the others.
    """

    def __init__(self, model):
        super().__init__(model)
        self.alpha, self.vocabulary, self.held_out = model.alpha, model.vocabulary, model.held_out
        self.unused = int((np.asarray(model.counts.sum(axis=0)).ravel() == 0).sum())

    def remarks(self, fit):
        """Return the lines beneath a summary, with the number of words that no document has."""
        unused = f"{self.unused} words occur in no document: their probabilities are the prior's."
        return super().remarks(fit) + ([unused] if self.unused else [])


def word_scores(results, halves):
    """Mean log probabilities of words given others of their documents, by group of documents: names
    and draws (chain, draw, k), as recorded, or else computed for two `halves` of documents.
    """
    if results._scores is not None:
        length = results.draws.shape[1]  # without chains that diverged early
        found = np.stack([one[:length] for one in results._scores if len(one) >= length])
    else:
        asked = Completion(*halves, results.model.alpha)
        found = np.array(
            [
                [asked.scores(asked.probabilities(one)) for one in chain]
                for chain in results.draws_of("topics")
            ]
        )
    return [f"log probability of words, documents {i}" for i in range(found.shape[2])], found


class LDAResults(ModelResults):
    """The posterior of topics.

    Labels of topics are a chain's own: `topics`, `transform` and `mean_topics` speak of one chain.

    Attributes
    ----------
    mean_topics : array (chain, K, W)
        Posterior means by chain.
    """

    @classmethod
    def besides(cls, fit):
        # and by chain, means of topics and of the probabilities of words that were held out
        shape = fit.problem.own.shapes["topics"]
        kept = super().besides(fit)
        if fit.problem.record.columns is None:
            return {**kept, "_chain_means": None, "_completed": None, "_scores": None}
        completed = [r.probabilities for r in fit.recorders if hasattr(r, "probabilities")]
        weights = [r.total for r in fit.recorders]
        some = len(fit.problem.record.columns) < fit.problem.own.size
        return {
            **kept,
            "_chain_means": np.array([np.reshape(r.mean, shape) for r in fit.recorders])
            if some
            else None,
            "_completed": np.average(completed, axis=0, weights=weights)[:-1]
            if completed
            else None,
            "_scores": [np.array(r.scores[: r.kept]) for r in fit.recorders] if completed else None,
        }

    @property
    def mean_topics(self):
        """Posterior means of topics by chain."""
        if self._chain_means is not None:
            return self._chain_means
        return np.average(self.draws_of("topics"), axis=1, weights=self.weights)

    def topics(self, n=10, chain=0):
        """Return the n words of most weight in each topic of a chain, a DataFrame (K, n); words are
        numbers where there is no vocabulary.

        Parameters
        ----------
        n : int
        chain : int
        """
        theta = self._of_chain(chain)
        first = np.argsort(-theta, axis=1, kind="stable")[:, :n]
        words_of_all = self.model.vocabulary
        words = first if words_of_all is None else np.array(words_of_all, dtype=object)[first]
        return pd.DataFrame(words, index=pd.RangeIndex(len(theta), name="topic"))

    def transform(self, counts, chain=0):
        """Return proportions of a chain's mean topics in documents, an array (documents, K), by the
        fixed point of `core.folding.Folding`.

        Parameters
        ----------
        counts : documents
            As of `sgmc.LDA`, of the same words.
        chain : int
        """
        theta = self._of_chain(chain)
        return Folding(documents("counts", counts, theta.shape[1]), self.model.alpha).proportions(
            theta
        )

    def perplexity(self, test=None):
        """Return the perplexity of half of the words of documents, given the other half: exp(-mean
        log of the posterior mean of their probabilities).

        Proportions are those of the first half under each draw of the topics
        (`core.folding.Folding`), and probabilities are averaged over all draws of all chains: as
        they came, for the documents held out of the fit, else over draws that were kept.  Where
        there are none, chains' mean topics stand for their draws.

        Parameters
        ----------
        test : documents, optional
            As of `sgmc.LDA`, of the same words.  Default: those that the model was given as
            ``held_out``.
        """
        held_out = self.model.held_out
        if test is None and held_out is None:
            raise ArgumentError(
                "test: no documents were held out of the fit; give some, or LDA(..., held_out=)"
            )
        W = self.model.shapes["topics"][1]
        asked = Completion(
            *(held_out if test is None else halves(documents("test", test, W))), self.model.alpha
        )
        if test is None and self._completed is not None:
            return asked.perplexity(self._completed)
        if self._chain_means is None:
            draws = self.draws_of("topics")
            weights = np.ones(draws.shape[1]) if self.weights is None else self.weights
            found = sum(
                w * asked.probabilities(one) for chain in draws for w, one in zip(weights, chain)
            )
            return asked.perplexity(found / (len(draws) * weights.sum()))
        return asked.perplexity(
            np.mean([asked.probabilities(theta) for theta in self._chain_means], axis=0)
        )

    def _of_chain(self, chain):
        """Mean topics of a chain."""
        means = self.mean_topics
        return means[whole("chain", chain, 0, len(means) - 1)]
