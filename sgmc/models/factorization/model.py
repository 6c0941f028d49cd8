"""Factorisations of a matrix of ratings as users meet them."""

import difflib
from functools import cached_property, partial

import numpy as np

from sgmc.errors import ArgumentError, DataError
from sgmc.fit.settings import positive, whole
from sgmc.models.bases.model import Model
from sgmc.models.factorization.data import pair_table, rating_table
from sgmc.samplers.hamiltonian import BAOAB

ORDER = 7  # seed of the order of the ratings, which is no choice of a user's
MOST_DIM = 1000


class Factorization(Model):
    """Base of `BPMF` and `PPMF`: ratings, pairs to predict, and what is kept of the draws."""

    scaled = False
    shuffled = True
    counts = biases = False
    centre = 0.0

    def __init__(self, ratings, columns, dim, test, clip):
        self.columns, self.dim = columns, whole("dim", dim, 1, allow_none=False)
        if self.dim > MOST_DIM:
            raise ArgumentError(f"dim={dim} is too many: at most {MOST_DIM}")
        table = rating_table(ratings, columns)
        order = np.random.Generator(np.random.PCG64(ORDER)).permutation(len(table.value))
        self.ratings = (table.user[order], table.item[order], table.value[order])
        self.users, self.items, self.known = table.users, table.items, table
        self.test = None if test is None else pair_table(test, columns, table, "test")
        self.low, self.high = self.span(clip)

    @property
    def n(self):
        """Ratings."""
        return len(self.ratings[2])

    def span(self, clip):
        """The least and the largest prediction."""
        if clip is True:
            return float(self.ratings[2].min()), float(self.ratings[2].max())
        if clip is None or clip is False:
            return -np.inf, np.inf
        try:
            low, high = (float(end) for end in clip)
        except (TypeError, ValueError) as error:
            raise ArgumentError(
                f"clip={clip!r} must be True (the range of the ratings), False, or a pair such as "
                "(1, 5)"
            ) from error
        if not low < high:
            raise ArgumentError(f"clip={clip!r}: the first number must be below the second")
        return low, high

    @cached_property
    def places(self):
        """The layout, which takes a while to make."""
        return Model.layout(self)

    def layout(self):
        """See `Model`."""
        return self.places

    def at(self, name):
        """Where a parameter begins in theta."""
        return self.places.slices[name].start

    def form(self):
        """How predictions are made of theta; see `Rated`."""
        means = tuple(
            self.at(f"mu_{name}") if f"mu_{name}" in self.places.slices else -1
            for name in ("U", "V", "a", "b")
        )
        return {
            "sizes": (len(self.users), len(self.items), self.dim),
            "biases": self.biases,
            "means": means,
            "centre": self.centre,
            "low": self.low,
            "high": self.high,
            "counts": self.counts,
        }

    def recorder_class(self):
        """See `Model`: one that also sums up predictions of the test pairs."""
        from sgmc.models.factorization.recorder import Rated

        none = np.empty(0, dtype=np.int32)
        pairs = (none, none, np.empty(0))
        if self.test is not None:
            value = self.test.value
            pairs = (
                self.test.user,
                self.test.item,
                np.full(len(self.test.user), np.nan) if value is None else value,
            )
        return partial(Rated, pairs=pairs, form=self.form())

    def fit(self, **arguments):
        """As `Model.fit`.  Without a `sampler` it is `baoab`, with a step by the largest number of
        ratings of a user or an item.

        The defaults are then a batch of a fifth of the ratings, at least 2000, 1000 steps of
        warmup, and five steps between draws.  Other samplers want a `step_size` in the units of the
        factors, and have the defaults of all models: a hundredth of the ratings in a batch.
        """
        given = self.own_defaults if arguments.get("sampler") is None else {}
        return super().fit(**{**given, **arguments})

    @property
    def own_defaults(self):
        """Arguments of `fit` for the default sampler."""
        raise NotImplementedError

    @property
    def batch(self):
        """Ratings of a default batch: a fifth."""
        return min(self.n, max(BATCH, self.n // 5))

    @property
    def most(self):
        """The largest number of ratings of a user, or of an item."""
        return max(np.bincount(self.known.user).max(), np.bincount(self.known.item).max())

    def result_class(self):
        """See `Model`."""
        from sgmc.models.factorization.results import FactorResults

        return FactorResults

    def info(self):
        """See `Model`."""
        from sgmc.models.factorization.results import FactorInfo

        return FactorInfo(self)


class BPMF(Factorization):
    """Bayesian probabilistic matrix factorisation of ratings y_ij of items j by users i
    (Salakhutdinov & Mnih 2008).

    y_ij ~ N(m + U_i . V_j [+ a_i + b_j], 1/alpha) with m the mean of the ratings;  w_k ~ N(mu_k,
    1/lambda_k) for the k-th component of U_i, of V_j, and for a_i and b_j;  mu_k ~ N(mu0, 1/(c
    lambda_k)),  lambda_k ~ Gamma(a, rate b), of users and of items apart; one lambda for all k, or
    each its own, which are two readings of the papers.
    By default alpha = 3, mu0 = 0, c = 1, a = 1, b = 5 (Mauri & Zanella, section 5.3; review,
    section 6.3; Coullon, South & Nemeth, appendix B.2.1).

    Parameters
    ----------
    ratings : DataFrame, scipy sparse array, or (users, items, ratings)
        One row a rating.  Of a sparse array every stored value is a rating, a stored zero too;
        labels are row and column numbers.
    user, item, rating : str
        Columns of the DataFrame.
    dim : int
        Length of U_i and V_j.
    test : as `ratings`, optional
        Pairs whose predictions are averaged over all draws; with ratings, these are held out, and
        `FactorResults.rmse` is their error.
    biases : bool
        Whether there are a_i and b_j (Chen, Fox & Guestrin 2014, section 4.3; Ahn et al. 2015).
    hyper : dict, optional
        Other values of ``alpha``, ``mu0``, ``c``, ``a``, ``b``, and: ``precisions``, a ``"shared"``
        lambda of all components (default) or one of ``"each"``; ``update``, ``"gibbs"`` for mu and
        lambda drawn from their conditional law after every step (default) or ``"sampled"`` with the
        rest, lambda by its log, which exact samplers need.
    clip : bool or (float, float)
        The range of predictions, which each draw's are clipped to; True: that of the ratings.

    Raises
    ------
    DataError
        For missing columns or numbers, and for users who rated an item twice.

    Examples
    --------
    >>> model = sgmc.BPMF(ratings, user="user", item="item", rating="rating", dim=20, test=held_out)
    >>> res = model.fit(seed=1)
    >>> res.rmse, res.predict(["ann", "bob"], ["Alien", "Brazil"]), res.recommend("ann", 5)
    """

    title = "BPMF"
    HYPER = {
        "alpha": 3.0,
        "mu0": 0.0,
        "c": 1.0,
        "a": 1.0,
        "b": 5.0,
        "precisions": "shared",
        "update": "gibbs",
    }

    def __init__(
        self,
        ratings,
        user="user",
        item="item",
        rating="rating",
        dim=20,
        *,
        test=None,
        biases=False,
        hyper=None,
        clip=True,
    ):
        super().__init__(ratings, (user, item, rating), dim, test, clip)
        self.biases, self.hyper = bool(biases), checked(self.HYPER, hyper)
        self.centre, self.spread = float(self.ratings[2].mean()), float(self.ratings[2].std())
        n, m, d = len(self.users), len(self.items), self.dim
        each = () if self.hyper["precisions"] == "shared" else d
        self.parameters = {
            "U": (n, d),
            "V": (m, d),
            **({"a": n, "b": m} if biases else {}),
            "mu_U": d,
            "mu_V": d,
            "lambda_U": each,
            "lambda_V": each,
            **({"mu_a": (), "mu_b": (), "lambda_a": (), "lambda_b": ()} if biases else {}),
        }
        above = [name for name in self.parameters if name not in ("U", "V", "a", "b")]
        self.constraints = (
            {name: "positive" for name in above if "lambda" in name}
            if self.hyper["update"] == "sampled"
            else {}
        )
        self.defaults = {"keep": [name for name in above if name[:2] != "mu" or name[3:] in "ab"]}

    def prior_kernel(self):
        """See `Model`."""
        from sgmc.models.factorization.bpmf import NormalGamma

        groups, h = [], self.hyper
        for name in ("U", "V", "a", "b") if self.biases else ("U", "V"):
            rows, rank = (*self.places.shapes[name], 1)[:2]
            each = bool(self.places.shapes[f"lambda_{name}"])
            groups.append(
                (self.at(name), rows, rank, self.at(f"mu_{name}"), self.at(f"lambda_{name}"), each)
            )
        return NormalGamma(self.places.size, groups, (h["mu0"], h["c"], h["a"], h["b"]))

    def kernel(self):
        """See `Model`."""
        from sgmc.models.factorization.bpmf import GaussianFactors

        user, item, value = self.ratings
        return GaussianFactors(
            (user, item, value - self.centre),
            (len(self.users), len(self.items), self.dim),
            self.hyper["alpha"],
            self.biases,
            self.prior_kernel(),
            self.hyper["update"] == "gibbs",
        )

    def starts(self, rng):
        """See `Model`: small factors at random;
        precisions at 1/d times that of the ratings, means zero.
        """
        theta = np.zeros(self.places.size)
        for name, where in self.places.slices.items():
            if name in ("U", "V"):
                theta[where] = START * rng.normal(size=where.stop - where.start)
            elif name.startswith("lambda"):
                theta[where] = PRECISION
        return theta

    @property
    def own_defaults(self):
        """Arguments of `fit` for the default sampler: the step in units of 1/sqrt(curvature)
        of who has most ratings.

        The squares of a component of V_j are about s / sqrt(d) where products of d of them have the
        ratings' sd s.  Gradient noise then widens predictions of MovieLens by 4 % of their sd.
        """
        curvature = self.hyper["alpha"] * max(self.spread, 1e-3) / np.sqrt(self.dim) * self.most
        e = float(STEP / np.sqrt(max(curvature, 1.0)))
        return {
            **PACE,
            "sampler": BAOAB(friction=DAMPING / e),
            "step_size": e,
            "batch_size": self.batch,
        }


class PPMF(Factorization):
    """Poisson probabilistic matrix factorisation of counts y_ij (Gopalan, Hofman & Blei 2015;
    Mauri & Zanella, appendix A.4.5).

    y_ij ~ Poisson(U_i . V_j) of the pairs that are given;  U_ik ~ Gamma(a, rate e_i), e_i ~
    Gamma(a1, rate a1/b1); V_jk ~ Gamma(c, rate f_j), f_j ~ Gamma(c1, rate c1/d1).  By default a =
    a1 = c = c1 = 0.3 and b1 = d1 = 1, the paper's.  All parameters are positive, and are moved as
    their logs.

    Parameters
    ----------
    ratings, user, item, rating
        As in `BPMF`; ratings are whole numbers, at least 0.
    dim : int
        Length of U_i and V_j; the paper has 100.
    test : as `ratings`, optional
        As in `BPMF`; `FactorResults.test_log_lik` is the log density of its counts.
    hyper : dict, optional
        Other values of ``a``, ``a1``, ``b1``, ``c``, ``c1``, ``d1``.
    clip : bool or (float, float)
        As in `BPMF`; by default rates are as they come.

    Raises
    ------
    DataError
        As in `BPMF`, and for ratings that are no counts.
    """

    title = "PPMF"
    counts = True
    HYPER = {"a": 0.3, "a1": 0.3, "b1": 1.0, "c": 0.3, "c1": 0.3, "d1": 1.0}

    def __init__(
        self,
        ratings,
        user="user",
        item="item",
        rating="rating",
        dim=20,
        *,
        test=None,
        hyper=None,
        clip=False,
    ):
        super().__init__(ratings, (user, item, rating), dim, test, clip)
        for name, table in (("ratings", self.known), ("test", self.test)):
            if (
                table is not None
                and table.value is not None
                and ((table.value < 0) | (table.value != np.rint(table.value))).any()
            ):
                raise DataError(
                    f"{name}: column {rating!r} must hold counts, whole numbers of at least 0; for "
                    "others use sgmc.BPMF"
                )
        self.hyper = checked(self.HYPER, hyper)
        n, m = len(self.users), len(self.items)
        self.parameters = {"U": (n, self.dim), "V": (m, self.dim), "e": n, "f": m}
        self.constraints = dict.fromkeys(self.parameters, "positive")

    def prior_kernel(self):
        """See `Model`."""
        from sgmc.models.factorization.ppmf import GammaGamma

        h, at, (n, d), m = self.hyper, self.at, self.places.shapes["U"], len(self.items)
        return GammaGamma(
            self.places.size,
            [
                (at("U"), n, d, at("e"), h["a"], h["a1"], h["b1"]),
                (at("V"), m, d, at("f"), h["c"], h["c1"], h["d1"]),
            ],
        )

    def kernel(self):
        """See `Model`."""
        from sgmc.models.factorization.ppmf import PoissonFactors

        return PoissonFactors(
            self.ratings, (len(self.users), len(self.items), self.dim), self.places.size
        )

    def starts(self, rng):
        """See `Model`: factors at random, whose products are about the mean of the counts; rates at
        the mean that suits them.
        """
        level = np.sqrt(max(float(self.ratings[2].mean()), 0.1) / self.dim)
        theta, where = np.empty(self.places.size), self.places.slices
        for factor, rate, shape in (("U", "e", "a"), ("V", "f", "c")):
            theta[where[factor]] = level * np.exp(
                SPREAD * rng.normal(size=where[factor].stop - where[factor].start)
            )
            theta[where[rate]] = self.hyper[shape] / level
        return theta

    @property
    def own_defaults(self):
        """Arguments of `fit` with the default sampler."""
        e = float(STEP_OF_LOGS / np.sqrt(max(self.most * self.ratings[2].mean() / self.dim, CALM)))
        return {
            **PACE,
            "sampler": BAOAB(friction=DAMPING_OF_LOGS / e),
            "step_size": e,
            "batch_size": self.batch,
        }


def checked(defaults, given):
    """Hyperparameters, the given ones checked."""
    if given is not None and not isinstance(given, dict):
        raise ArgumentError(f"hyper={given!r} must be a dict such as {{'alpha': 2.0}}")
    found = {**defaults, **(given or {})}
    for name, value in (given or {}).items():
        if name not in defaults:
            near = difflib.get_close_matches(str(name), defaults, n=1)
            raise ArgumentError(
                f"hyper: {name!r} is none of {', '.join(defaults)}"
                + (f"; did you mean {near[0]!r}?" if near else "")
            )
        if name in CHOICES:
            if value not in CHOICES[name]:
                raise ArgumentError(
                    f"hyper[{name!r}]={value!r} must be one of "
                    f"{', '.join(map(repr, CHOICES[name]))}"
                )
        elif name == "mu0":
            found[name] = number(name, value)
        else:
            found[name] = positive(f"hyper[{name!r}]", value)
            if found[name] is None:
                raise ArgumentError(f"hyper[{name!r}]=None must be a positive number")
    return found


START = 0.1  # sd of the factors that chains begin with
PRECISION = 5.0  # and their lambda
STEP = 0.68  # leapfrog step times the root of the largest curvature; BAOAB is stable below 2
DAMPING = 0.3  # friction times step
# the same for logs of positive factors, of which a share of 1/sqrt(d) makes up most of a rate,
STEP_OF_LOGS = 1.1
CALM = 30.0  # at least for so much curvature: their priors are skewed
DAMPING_OF_LOGS = 0.2
BATCH = 2000  # least ratings of a batch: of few, a step with all is hardly dearer
PACE = {"warmup": 1000, "thin": 5}
SPREAD = 0.3  # sd of the logs of positive ones
CHOICES = {"precisions": ("each", "shared"), "update": ("gibbs", "sampled")}


def number(name, value):
    """A finite number."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if not np.isfinite(found):
        raise ArgumentError(f"hyper[{name!r}]={value!r} must be a finite number")
    return found
