"""Latent Dirichlet allocation as users meet it."""

from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from sgmc.arguments.numbers import positive, whole
from sgmc.errors import ArgumentError, NotSupported
from sgmc.models.bases.model import Model
from sgmc.models.lda.corpus import (
    documents,
    halves,
    named_words,
    refuse_degenerate,
    refuse_empty,
    some_documents,
)
from sgmc.priors import dirichlet

MAX_EXACT_NUMBERS = 10**6  # numbers that exact sums keep for a document
USUAL_STATES = 64  # counts of topics in a document up to which exact sums are usual
STEPPED, EXPANDED = ("scir", "sgrld"), ("expanded-mean",)  # samplers with a derived step
RACE_DRAWS = 50  # of an arm, by which the words of documents are predicted
FEWEST_DOCUMENTS = 500  # of a default minibatch, where there are as many
NOISE_ADDED = 0.5  # of the variance, at most, that minibatches add to gamma variables
# step of scir without noise: expected counts are taken to be constant over a step
LARGEST_STEP = 0.5
# thinning: tokens that a kept draw costs, where that takes at most so many steps
TOKENS_A_DRAW, LONGEST_THINNING = 50_000, 10


class LDA(Model):
    """Topics of documents: word i of a document is w with probability sum_k p_k theta_kw (Blei,
    Ng & Jordan 2003).

    Rows are documents; ``topics`` theta (K, W) have Dirichlet(beta) priors, and each document's
    proportions p, Dirichlet(alpha), are integrated out: dlog p(document) / dtheta_kw = E[n_kw |
    theta] / theta_kw, with n_kw the document's tokens of word w in topic k.  The expectation comes
    from Gibbs sweeps over the documents of a minibatch, by the chain's own random numbers
    (Patterson & Teh 2013, section 4).

    ``sampler="scir"``, the default, is the Cox-Ingersoll-Ross process of Baker et al. (2018),
    without error at the edges of the simplex, where topics of many rare words are.  ``"sgrld"`` is
    the sampler of Patterson & Teh; ``sgmc.SGRLD(simplex=)`` names its parametrisation, and its step
    in expanded coordinates is in units in which a topic's gamma variables sum to beta W.  Without a
    `step_size` both take the largest one at which minibatches of a tenth of the documents (100 at
    least) add at most half of the variance.  Other samplers move free numbers, with
    ``model.constraints = {"topics": "mirrored"}`` log-ratios: `sgld` is then mirrored Langevin
    dynamics.

    The posterior is the same for all labellings of topics.  Each chain starts at documents dealt to
    topics at random and has a labelling of its own, so that results speak of the topics of a chain,
    and average over chains what does not depend on labels.

    Parameters
    ----------
    counts : sparse array (documents, words), array_like, or list of (ids, counts)
        Whole numbers; ids count words from 0.
    topics : int
        K.
    alpha, beta : float
        Concentrations of proportions and, as default prior, of topics.
    vocabulary : list of str, optional
        The words.
    sweeps : int, "exact" or "auto"
        Gibbs sweeps after the first assignment of tokens, of which the later half is averaged; or
        exact sums over all assignments, for short documents and few topics, which also give the
        likelihood that exact samplers want.  ``"auto"`` takes exact sums where these are as fast,
        as of two topics, and else the fewest sweeps from 8 to 64 whose expected counts are about
        those of 512.  After a fit they are compared once more, and a `SweepsWarning` is issued
        where they move topics; the fit is then not trustworthy.
    held_out : optional
        Documents as `counts`: of each, half of the tokens (at random, the same ones always) serve
        for proportions, of the others the perplexity is averaged as draws come (`perplexity` of the
        results).

    Raises
    ------
    ArgumentError, DataError
        For what are no counts, or of another vocabulary.

    Examples
    --------
    >>> model = sgmc.LDA(counts, topics=20, vocabulary=words, held_out=others)
    >>> results = model.fit(seed=1)
    >>> results.perplexity(), results.topics(10)
    """

    scaled = False
    title = "Latent Dirichlet Allocation"
    constraints = {"topics": "simplex"}
    defaults = {"sampler": "scir"}

    def __init__(
        self,
        counts,
        topics=20,
        alpha=0.1,
        beta=0.1,
        vocabulary=None,
        sweeps="auto",
        held_out=None,
    ):
        self.vocabulary = named_words(vocabulary)
        self.counts = documents(
            "counts", counts, None if vocabulary is None else len(self.vocabulary)
        )
        self.n, words = self.counts.shape
        refuse_degenerate(self.counts)
        self.K, self.alpha = (
            whole("topics", topics, 1),
            positive("alpha", alpha),
        )
        self.prior = {"topics": dirichlet(positive("beta", beta))}
        self.parameters = {"topics": (self.K, words)}
        longest = int(self.counts.sum(axis=1).max())
        if sweeps == "auto" and (longest + 1) ** (self.K - 1) <= USUAL_STATES:
            sweeps = "exact"
        self.sweeps = sweeps if sweeps in ("exact", "auto") else whole("sweeps", sweeps, 1)
        self._measured = True  # how many sweeps are enough, where there was the time for it
        if self.sweeps == "exact" and (longest + 1) ** self.K > MAX_EXACT_NUMBERS:
            raise ArgumentError(
                f"sweeps='exact': {self.K} topics and documents of up to {longest} words are too "
                "many assignments; give a number of sweeps"
            )
        self.held_out = None
        if held_out is not None:
            test = documents("held_out", held_out, words)
            refuse_empty("held_out", test)
            self.held_out = halves(test)
        self.judged = self.held_out or halves(some_documents(self.counts))

    def starts(self, rng):
        """Documents dealt to topics at random: their words' shares, with a token of each word added
        to each topic in all.
        """
        dealt = rng.integers(0, self.K, self.n)
        sums = np.array(
            [np.asarray(self.counts[dealt == k].sum(axis=0)).ravel() for k in range(self.K)],
            dtype=float,
        )
        sums += np.asarray(self.counts.sum(axis=0)).ravel() / self.n + 1 / self.K
        return (sums / sums.sum(axis=1, keepdims=True)).ravel()

    def functionals(self):
        # of documents held out, or where there are none, of some documents of the fit
        from sgmc.fit.parts import Functionals
        from sgmc.models.lda.results import word_scores

        return Functionals(
            "probabilities of words given others of their documents",
            partial(word_scores, halves=self.judged),
            "topics can change places",
        )

    def derived_step(self, spec, batch):
        """Return the largest step at which minibatches add at most half of the variance.

        `scir` leaves gamma variables with shapes a the variance a + tanh(h/4) Var(a-hat) (Baker et
        al. 2018, section 4), and a minibatch of n documents has Var(a-hat) <= a (N/n - 1) sum c^2 /
        sum c, over all counts c of a word in a document.  `sgrld` in expanded coordinates runs
        beta W / (beta W + tokens of a topic) times as fast.
        """
        if spec.name not in STEPPED or getattr(spec, "simplex", "") not in EXPANDED:
            return None
        batch = batch or min(self.n, max(FEWEST_DOCUMENTS, self.n // 10))
        counts = self.counts.data.astype(float)
        noise = max(self.n / batch - 1, 0.0) * (counts @ counts) / counts.sum()
        step = min(4 * np.arctanh(NOISE_ADDED / max(noise, 1.0)), LARGEST_STEP)
        if spec.name == "sgrld":
            own = self.prior["topics"].df * self.parameters["topics"][1]
            step *= own / (own + counts.sum() / self.K)
        tokens = batch * counts.sum() / self.n
        thin = int(np.clip(TOKENS_A_DRAW // tokens, 1, LONGEST_THINNING))
        return float(step), batch, thin

    def problem(self, prior, checked):
        # samplers that want the value of the likelihood are refused where it has none
        if self.sweeps != "exact" and (checked.sampler is None or checked.sampler.exact):
            name = "auto" if checked.sampler is None else checked.sampler.name
            raise NotSupported(
                f"sampler={name!r} needs the likelihood, which Gibbs sweeps do not give; use "
                "'sgrld' or 'scir', or, for short documents, sweeps='exact'",
                because="mathematics",
            )
        if not self._measured:  # for lack of time, in a fit before
            del self.used_sweeps
            self._measured = True
        made = super().problem(prior, checked)
        if self.sweeps != "exact":
            from sgmc.models.lda.sweeping import Sweeps

            return replace(made, evidence=(Sweeps(self),))
        return made

    @cached_property
    def used_sweeps(self):
        """Gibbs sweeps; measured, where they are not given."""
        from sgmc.models.lda.sweeping import enough

        found, self._measured = enough(self) if self.sweeps == "auto" else (self.sweeps, True)
        return found

    def kernel(self):
        from sgmc.models.lda.kernel import Enumerated

        if self.sweeps == "exact":
            return Enumerated(*self.form(self.counts))
        return self.sampled(self.counts, self.used_sweeps)

    def sampled(self, counts, sweeps):
        """The kernel of documents by so many sweeps."""
        from sgmc.models.lda.kernel import Sampled

        return Sampled(*self.form(counts), sweeps)

    def form(self, counts):
        """Documents as a kernel takes them, with topics, words and alpha."""
        shape = self.parameters["topics"]
        return counts.indptr, counts.indices, counts.data, *shape, self.alpha

    def race_metric(self):
        # the log perplexity of the words that are predicted, averaged over draws
        from sgmc.models.lda.folding import Completion
        from sgmc.results.outcomes.data.rows import evenly

        asked, shape = Completion(*self.judged, self.alpha), self.parameters["topics"]

        def log_perplexity(draws):
            some = draws[evenly(len(draws), RACE_DRAWS)].reshape(-1, *shape)
            found = np.mean([asked.probabilities(topics) for topics in some], axis=0)
            return float(np.log(asked.perplexity(found)))

        return log_perplexity

    def recorder_class(self):
        from sgmc.models.lda.folding import Completed, CompletedWhereMany, Completion

        kind = CompletedWhereMany if self.held_out is None else Completed
        return partial(kind, test=Completion(*self.judged, self.alpha))

    def result_class(self):
        from sgmc.models.lda.results import LDAResults

        return LDAResults

    def info(self):
        from sgmc.models.lda.results import LDAInfo

        return LDAInfo(self)
