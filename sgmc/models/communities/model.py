"""The mixed-membership stochastic blockmodel as users meet it."""

from functools import cached_property, partial

import numpy as np

from sgmc.arguments.declared.keywords import FirstDraws
from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import fraction, is_number, positive, whole
from sgmc.errors import DataError, NotSupported
from sgmc.models.bases.model import Model
from sgmc.models.communities import start
from sgmc.priors import dirichlet

MOST_ALL_PAIRS = 100  # nodes up to which all pairs are summed at each step
DRAWN = 16  # pairs without a link that are drawn for each node of a larger network
SPARE = 2.0  # see `spare`
BACKGROUND = 0.1  # delta, as a share of the density of the network
JUDGED_PAIRS = 50  # that the verdict is about
SCIR = {"sampler": "scir", "step_size": 0.25, "thin": 80, "warmup": 5000}
HMC = {"sampler": "hmc", "draws": FirstDraws(2000), "thin": 10}


class MMSB(Model):
    """Communities of a network: the assortative mixed-membership stochastic blockmodel (Airoldi,
    Blei, Fienberg & Xing 2008; Gopalan et al. 2012; Li, Ahn & Welling 2016).

    Node a has memberships pi_a ~ Dirichlet(alpha) in K communities, of strengths beta_k ~
    Beta(eta).  For each pair of nodes, a chooses a community by pi_a and b one by pi_b; if both
    choose k the pair is linked with probability beta_k, else with probability delta.  Choices are
    summed out:

        p(y_ab = 1) = delta + sum_k pi_ak pi_bk (beta_k - delta).

    Rows are nodes with their pairs.  A gradient sums all links of the nodes of its mini-batch.  Of
    the pairs without a link of each node it draws `nonlinks`, one from each of as many strata of
    equal size, and weights it by that size, so that the gradient is unbiased (the paper's section
    3.2 draws one stratum in each step).  The part of the non-links that is linear in pi_a and in
    pi_b is summed exactly.

    Parameters
    ----------
    edges : DataFrame, array_like (m, 2), or scipy sparse array (n, n)
        A link in each row, as the labels of two nodes; or a symmetric adjacency matrix of 0 and 1.
        Links have no direction, and each is given once.
    communities : int
        K.
    alpha : float, optional
        Concentration of memberships; default 1 / K.
    eta : (float, float)
        Prior of the strengths: Beta(eta[0], eta[1]), of mean eta[0] / (eta[0] + eta[1]).
    delta : float, optional
        Probability of a link of nodes that choose different communities; default a tenth of the
        share of pairs that are linked.
    nonlinks : int or "all", optional
        Pairs without a link drawn for each node in each step.  "all" sums them all: gradients and
        likelihood are then exact, as exact samplers need.  Default: "all" up to 100 nodes, else 16.
    held_out : float, or as `edges` with a third column of 0 and 1, optional
        Pairs left out of the fit, for `perplexity`.  A number is the share of the links to hold
        out, with as many pairs without a link.
    nodes : array_like, optional
        Labels of all nodes, also of those without links; default: those of `edges`.

    Raises
    ------
    ArgumentError, DataError
        Naming the argument; for self-loops, links that come twice, and unknown nodes.

    Notes
    -----
    Where all pairs are summed, the default is ``sampler="hmc"`` with 2,000 draws and ``thin=10``.
    Otherwise it is ``sampler="scir"`` (Baker et al. 2018, arXiv:1806.07137) with
    ``step_size=0.25``, ``thin=80`` and all nodes in each mini-batch; a step then costs twice the
    links plus `nonlinks` pairs per node, and sds are about 2 % too small.

    ``sampler="sgrld"`` is the paper's sampler, in the expanded-mean parametrisation of Patterson &
    Teh (2013), and takes mini-batches of nodes.  It needs a `step_size`.  It is biased where
    memberships are near zero: steps that mix as fast as `scir` move the median link probability by
    0.2 to 0.4 posterior sds.

    The verdict rests on log-odds of the links of up to 50 pairs, which do not depend on labels.
    Up to 1,000 nodes, draws of `scir` and `sgrld` are also checked by exact scores.  Chains start
    at blocks found from the eigenvectors of the network.  The posterior may have several modes that
    chains do not leave; R-hat of the log-odds is then large.

    Examples
    --------
    >>> model = sgmc.MMSB(edges, communities=4, held_out=0.05)
    >>> res = model.fit(seed=1)
    >>> res.memberships(), res.strengths(), res.predict([["ann", "bob"]]), res.perplexity()
    """

    scaled = False
    title = "Mixed-Membership Blockmodel"
    constraints = {"memberships": "simplex", "strengths": "simplex"}

    def __init__(
        self,
        edges,
        communities=5,
        *,
        alpha=None,
        eta=(1.0, 1.0),
        delta=None,
        nonlinks=None,
        held_out=None,
        nodes=None,
    ):
        from sgmc.models.communities import pairs  # needs pandas

        self.K = whole("communities", communities, 2)
        self.alpha = 1 / self.K if alpha is None else positive("alpha", alpha)
        self.eta = checked_eta(eta)
        self.nodes, links = pairs.links(edges, nodes)
        self.n = len(self.nodes)
        if self.n <= self.K:
            raise DataError(
                f"edges has {self.n} nodes; {self.K} communities need more nodes than that"
            )
        if len(links.first) == self.n * (self.n - 1) // 2:
            raise DataError(
                f"edges links all pairs of its {self.n} nodes, so that communities cannot be "
                "distinguished; list nodes without links in nodes="
            )
        self.held_out = None if held_out is None else pairs.held_out(held_out, links, self.nodes)
        if self.held_out is not None:
            codes = self.held_out.codes(self.n)
            links = links.where(~np.isin(links.codes(self.n), codes))
        if not len(links.first):
            raise DataError("edges has no link that is not held out; give at least one")
        self.links = links
        density = 2 * len(links.first) / (self.n * (self.n - 1.0))
        self.delta = BACKGROUND * density if delta is None else fraction("delta", delta)
        if nonlinks is None:
            nonlinks = "all" if self.n <= MOST_ALL_PAIRS else DRAWN
        self.nonlinks = nonlinks if nonlinks == "all" else whole("nonlinks", nonlinks, 1)
        self.parameters = {"memberships": (self.n, self.K), "strengths": (self.K, 2)}
        self.prior = {"memberships": dirichlet(self.alpha)} | {
            f"strengths[{k},{j}]": dirichlet(self.eta[j]) for k in range(self.K) for j in range(2)
        }

    @cached_property
    def places(self):
        """The layout, which takes a while to make."""
        return Model.layout(self)

    def layout(self):
        return self.places

    @cached_property
    def adjacency(self):
        """The links as a matrix."""
        return start.adjacency(self.links, self.n)

    @cached_property
    def points(self):
        """Nodes as points that are near each other in a community."""
        return start.embedding(self.adjacency, self.K)

    def derived(self, given):
        if self.exact:
            return HMC
        return {**SCIR, "batch_size": self.n}

    def problem(self, prior, checked):
        # samplers that need the value of the likelihood are refused where it has none
        spec = checked.sampler
        if not self.exact and (spec is None or spec.exact):
            name = "auto" if spec is None else spec.name
            raise NotSupported(
                f"sampler={name!r} needs the likelihood of all pairs; use 'scir' or 'sgrld', or "
                "MMSB(..., nonlinks='all') for a small network",
                because="mathematics",
            )
        if spec is not None and spec.name == "scir" and checked.batch_size != self.n:
            raise NotSupported(
                f"batch_size={checked.batch_size}: sampler='scir' needs all nodes in a mini-batch, "
                f"as it takes expected counts of each; give batch_size={self.n}, or use 'sgrld'",
                because="mathematics",
            )
        return super().problem(prior, checked)

    @property
    def exact(self):
        """Whether each step sums all pairs."""
        return self.nonlinks == "all" or self.nonlinks >= self.n - 1

    def kernel(self):
        from sgmc.models.communities.kernel import Neighbourhoods

        indptr, others, kinds = self.known()
        parts = self.n if self.nonlinks == "all" else self.nonlinks
        return Neighbourhoods(indptr, others, kinds, self.K, self.delta, parts, self.spare())

    def known(self):
        """For each node itself and the others that are linked with it or held out: CSR arrays."""
        groups = [(np.arange(self.n), np.arange(self.n), 2)]
        for found, kind in ((self.links, 1), (self.held_out, 0)):
            if found is not None:
                groups += [(found.first, found.second, kind), (found.second, found.first, kind)]
        one, other = (np.concatenate([group[j] for group in groups]) for j in range(2))
        kinds = np.repeat([kind for *_, kind in groups], [len(a) for a, *_ in groups])
        order = np.lexsort([other, one])
        indptr = np.append(0, np.cumsum(np.bincount(one, minlength=self.n)))
        return indptr, other[order], kinds[order]

    def spare(self):
        """Numbers that keep the shapes of `scir` positive: for nodes their links and SPARE times
        the largest eigenvalue of the adjacency matrix, which is at least the mean number of links
        within any set of nodes (at most all other nodes, with which shapes are counts); for
        strengths the pairs of a K-th of all pairs.
        """
        degree = self.adjacency.sum(axis=0)
        within = SPARE * start.leading(self.adjacency, 1)[0][0]
        pairs_of_one = self.n * (self.n - 1) / (2 * self.K)
        return np.append(np.minimum(degree + within, self.n - 1), np.full(self.K, pairs_of_one))

    def starts(self, rng):
        # around blocks of nodes, found from places at random
        members = start.blocks(self.points, self.K, rng)
        beta = start.strengths(self.adjacency, members, self.K, self.eta)
        return self.layout().pack(
            {
                "memberships": start.memberships(members, self.K, rng),
                "strengths": np.column_stack([beta, 1 - beta]),
            }
        )

    def functionals(self):
        # log-odds of links, which have no labels
        from sgmc.fit.parts import Functionals
        from sgmc.models.communities.pairs import unlinked
        from sgmc.models.communities.results import log_odds

        half, rng = JUDGED_PAIRS // 2, np.random.default_rng(0)
        chosen = np.unique(np.linspace(0, len(self.links.first) - 1, half).astype(int))
        free = unlinked(self.links, self.n, half, rng)
        first = np.append(self.links.first[chosen], free.first)
        second = np.append(self.links.second[chosen], free.second)
        return Functionals(
            f"log-odds of links of {len(first)} pairs",
            partial(log_odds, first=first, second=second),
            "communities can change places",
        )

    def recorder_class(self):
        from sgmc.core.bank import ThinnedDraws
        from sgmc.models.communities.recorder import Linked

        if self.held_out is None:
            return ThinnedDraws
        return partial(Linked, pairs=self.held_out, K=self.K, delta=self.delta)

    def result_class(self):
        from sgmc.models.communities.results import MMSBResults

        return MMSBResults

    def info(self):
        from sgmc.models.communities.results import MMSBInfo

        return MMSBInfo(self)


def checked_eta(eta):
    """Two positive numbers."""
    if (
        not isinstance(eta, (tuple, list, np.ndarray))
        or len(eta) != 2
        or not all(is_number(one) and one > 0 for one in eta)
    ):
        raise must_be("eta", eta, "two positive numbers, those of a Beta prior, such as (1, 1)")
    return tuple(map(float, eta))
