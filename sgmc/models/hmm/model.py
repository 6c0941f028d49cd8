"""Hidden Markov models as users meet them."""

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.data.arrays import vector
from sgmc.arguments.data.values import counts
from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import whole
from sgmc.errors import ArgumentError, DataError
from sgmc.models.bases.start.clusters import clusters
from sgmc.models.hmm.sequences import Sequences, outcomes, refuse_constant
from sgmc.priors import dirichlet, normal

EMISSIONS = ("gaussian", "poisson", "categorical")
AROUND = 5  # steps on both sides whose categories are counted, to tell states apart at the start
SEED = 0  # of the clusters at the start


class HMM(Sequences):
    """A hidden Markov model by stochastic gradients on windows with buffers (Ma, Foti & Fox 2017).

    x_1 has the law `initial`, p(x_t = k | x_{t-1} = j) = transition[j, k], and under state k
    outcomes are independent with

        gaussian      y_td ~ N(mean_kd, sd_kd^2)
        poisson       y_td ~ Poisson(exp(log_rate_kd))
        categorical   P(y_t = c) = probability_kc

    Rows are windows of `window` steps.  Minibatches take the terms of their windows, with the
    states' law given the window and `buffer` steps on both sides of it; their bias falls
    geometrically with the buffer.  All rows together are whole sequences: the mode, exact samplers,
    control values at the mode and the verdict's scores know no buffers.

    States have no order of their own.  Univariate Gaussian and Poisson ones are ordered by `mean`
    or `log_rate`; for others all chains begin at the one mode that the search finds, and keep its
    labels while states are well apart.

    Parameters
    ----------
    y : array_like (T,) or (T, D)
        Sequences one after another; masked where nothing was observed.  Categories are
        labels, (T,): those that occur, or those of a pandas categorical.
    states : int
        K, at least 2.
    emission : {"gaussian", "poisson", "categorical"}
    sequence : array_like (T,), optional
        What sequence each step belongs to.  Default: one.
    window : int, optional
        Steps of a window.  Default: a hundredth of all, from 10 to 50.
    buffer : int, optional
        Default: chosen at the mode, the first power of 2 that moves no posterior mean by more than
        0.01 sd; else 50.
    ordered : bool, optional
        Whether states are ordered.  Default: where that is possible, for one number a step.
    initial : {"stationary", "uniform"} or array_like (K,)
        Law of the first state of a sequence.

    Raises
    ------
    DataError
        For outcomes that are missing but not masked, no counts, or of sequences that are cut up.
    ArgumentError
        Naming the argument.

    Notes
    -----
    Parameters are ``transition`` (K, K), and ``mean`` and ``sd``, ``log_rate``, (K,) or (K, D), or
    ``probability`` (K, C).  Priors by default: flat on simplices, means normal around the mean of y
    with 2.5 times its sd, sds half-normal of that width, log rates normal around the log of the
    mean with sd 2.
    """

    title = "HMM"

    def __init__(
        self,
        y,
        states,
        emission="gaussian",
        *,
        sequence=None,
        window=None,
        buffer=None,
        ordered=None,
        initial="stationary",
    ):
        self.states = whole("states", states, 2)
        self.emission, self.categories = one_of("emission", emission, EMISSIONS), None
        if emission == "categorical":
            codes, self.categories = coded(y)
        super().__init__(
            codes if emission == "categorical" else outcomes(y), sequence, window, buffer
        )
        if len(self.y) < 2 * self.states:
            raise DataError(f"y has {len(self.y)} steps, too few for {self.states} states")
        if emission == "poisson":
            counts("y with emission='poisson'", self.y, "step")
        single = emission != "categorical" and self.y.shape[1] == 1
        if ordered and not single:
            raise ArgumentError("ordered=True needs one number a step; leave ordered=None")
        if emission == "gaussian":
            refuse_constant(
                self.y,
                self.states + 1,
                f"{self.states} Gaussian states would collapse on them: use emission='categorical' "
                "or 'poisson', or fewer states",
            )
        elif emission == "poisson":
            refuse_constant(self.y)
        self.first = first_law(initial, self.states)
        self.shape = (
            (self.states,)
            if single
            else (self.states, len(self.categories) if self.categories else self.y.shape[1])
        )
        self.parameters = {
            "transition": (self.states, self.states),
            **dict.fromkeys(NAMES[emission], self.shape),
        }
        self.constraints = {
            "transition": "simplex",
            **constraints(emission, single and ordered is not False),
        }
        self.prior = self.priors()
        self.start = self.guess()

    def functionals(self):
        from sgmc.fit.parts import Functionals
        from sgmc.models.hmm.results import long_run

        if "ordered" in self.constraints.values():
            return None
        return Functionals("outcomes in the long run", long_run, "states can change places")

    def kernel(self):
        from sgmc.models.hmm.emissions import CategoricalHidden, GaussianHidden, PoissonHidden

        given = self.y, self.windows, self.used_buffer, self.states, self.first
        if self.emission == "categorical":
            return CategoricalHidden(*given, self.categories)
        return (GaussianHidden if self.emission == "gaussian" else PoissonHidden)(*given)

    def result_class(self):
        from sgmc.models.hmm.results import HMMResults

        return HMMResults

    def priors(self):
        """Default priors, by name."""
        found = {"transition": dirichlet(1)}
        if self.emission == "categorical":
            return {**found, "probability": dirichlet(1)}
        centre, spread = np.nanmean(self.y, axis=0), np.nanstd(self.y, axis=0)
        for at in np.ndindex(*self.shape):
            d, label = (at[1] if len(at) > 1 else 0), ",".join(map(str, at))
            if self.emission == "poisson":
                found[f"log_rate[{label}]"] = normal(float(np.log(centre[d] + 0.1)), 2.0)
            else:
                width = 2.5 * float(spread[d]) or 1.0
                found |= {
                    f"mean[{label}]": normal(float(centre[d]), width),
                    f"sd[{label}]": normal(0, width),
                }
        return found

    def guess(self):
        """Where the search for the mode begins: steps are put into clusters by what was observed,
        and their moves counted.
        """
        label = labelled(self.y, self.states, self.categories)
        moves = np.ones((self.states, self.states))
        inner = np.ones(len(self.y) - 1, dtype=bool)
        inner[self.edges[1:-1] - 1] = False
        np.add.at(moves, (label[:-1][inner], label[1:][inner]), 1)
        start = {"transition": moves / moves.sum(axis=1, keepdims=True)}
        if self.emission == "categorical":
            seen = ~np.isnan(self.y[:, 0])
            counts = np.ones(self.shape)
            np.add.at(counts, (label[seen], self.y[seen, 0].astype(int)), 1)
            return {**start, "probability": counts / counts.sum(axis=1, keepdims=True)}
        spread = np.nanstd(self.y, axis=0)
        groups = [
            np.vstack([np.nanmean(self.y, axis=0), self.y[label == k]]) for k in range(self.states)
        ]
        mean = np.array([np.nanmean(group, axis=0) for group in groups])
        if self.emission == "poisson":
            return {**start, "log_rate": apart(np.log(mean + 0.1), 0.05).reshape(self.shape)}
        sd = np.array(
            [np.maximum(np.nanstd(group, axis=0), 0.1 * spread + 1e-6) for group in groups]
        )
        return {
            **start,
            "mean": apart(mean, 0.01 * spread + 1e-9).reshape(self.shape),
            "sd": sd.reshape(self.shape),
        }


NAMES = {"gaussian": ("mean", "sd"), "poisson": ("log_rate",), "categorical": ("probability",)}


def constraints(emission, ordered):
    """Constraints of the emissions' parameters."""
    if emission == "categorical":
        return {"probability": "simplex"}
    return ({NAMES[emission][0]: "ordered"} if ordered else {}) | (
        {"sd": "positive"} if emission == "gaussian" else {}
    )


def coded(y):
    """Codes (T, 1), NaN where masked, and the list of categories."""
    import pandas as pd

    if hasattr(y, "cat") or hasattr(y, "categories"):
        found = getattr(y, "cat", y)
        codes, categories = np.array(found.codes, dtype=float), list(found.categories)
        missing = codes < 0
    else:
        labels = np.asarray(np.ma.getdata(y))
        if labels.ndim != 1:
            raise DataError(f"y has shape {labels.shape}; categories are one label a step")
        hidden = (
            np.ma.getmaskarray(y)
            if isinstance(y, np.ma.MaskedArray)
            else np.zeros(len(labels), dtype=bool)
        )
        missing = pd.isna(labels) & ~hidden
        if not missing.any():
            categories, at = np.unique(labels[~hidden], return_inverse=True)
            codes, categories = np.full(len(labels), np.nan), categories.tolist()
            codes[~hidden] = at
    if missing.any():
        raise DataError(
            f"y has missing categories, first at step {int(np.flatnonzero(missing)[0])}; mask "
            "steps without an observation, in a numpy masked array"
        )
    seen = len(np.unique(codes[~np.isnan(codes)]))
    if seen < 2:
        raise DataError(f"y has {seen} category; at least 2 that occur are needed")
    return codes[:, None], categories


def first_law(initial, states):
    """The law of the first state, or None for the stationary one."""
    if isinstance(initial, str):
        one_of("initial", initial, ("stationary", "uniform"), f", or {states} probabilities")
        return None if initial == "stationary" else np.full(states, 1 / states)
    law = vector("initial", initial)
    if law.shape != (states,) or (law < 0).any() or abs(law.sum() - 1) > 1e-8:
        raise must_be("initial", initial, f"{states} probabilities that sum to 1")
    return law


def labelled(y, states, categories):
    """A cluster of each step, (T,): quantiles of single numbers, else k-means; of categories by
    their shares among neighbours.
    """
    if categories is not None:
        ones = (y == np.arange(len(categories))).astype(float)
        total = np.vstack([np.zeros(len(categories)), np.cumsum(ones, axis=0)])
        high = np.minimum(np.arange(len(y)) + AROUND + 1, len(y))
        low = np.maximum(np.arange(len(y)) - AROUND, 0)
        return members(total[high] - total[low], states)
    filled = np.where(np.isnan(y), np.nanmean(y, axis=0), y)
    if y.shape[1] > 1:
        return members(filled, states)
    return np.argsort(np.argsort(filled[:, 0], kind="stable"), kind="stable") * states // len(y)


def members(points, states):
    """Labels by k-means, the same each time."""
    return clusters(points, states, np.random.Generator(np.random.PCG64(SEED)))[1]


def apart(values, gap):
    """Values (K, 1) moved up until each is more than the one before by at least `gap`;
    others as they are.
    """
    values = np.array(values)
    for k in range(1, len(values) if values.shape[1] == 1 else 0):
        values[k] = np.maximum(values[k], values[k - 1] + gap)
    return values
