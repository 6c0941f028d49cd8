"""Factorisations of a matrix of ratings as users meet them."""

import numpy as np

from sgmc.arguments.choices import nearest, one_of
from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import number, positive
from sgmc.errors import ArgumentError, DataError
from sgmc.models.factorization.base import Factorization


class BPMF(Factorization):
    """Bayesian probabilistic matrix factorisation of ratings y_ij of items j by users i
    (Salakhutdinov & Mnih 2008).

    (y_ij - m) / s ~ N(U_i . V_j [+ a_i + b_j], 1/alpha) with m the mean of the ratings, or 0, and
    s their sd, so that their scale does not matter, or 1 where `hyper` gives alpha;  w_k ~
    N(mu_k, 1/lambda_k) for the k-th component of U_i, of V_j, and for a_i and b_j;  mu_k ~ N(mu0,
    1/(c lambda_k)),  lambda_k ~ Gamma(a, rate b), of users and of items apart; one lambda for all
    k, or each its own, which are two readings of the papers.
    By default alpha = 3, mu0 = 0, c = 1, a = 1, b = 5 (Mauri & Zanella, section 5.3; review,
    section 6.3); Coullon, South & Nemeth, appendix B.2.1, have a = 4.

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
        `FactorResults.rmse` is their error.  Users and items without ratings in `ratings` are
        predicted by draws from their prior, N(mu, 1/lambda), given each draw of mu and lambda.
    centre : bool
        Whether m is the mean of the ratings; else it is 0, as in the papers.
    biases : bool
        Whether there are a_i and b_j (Chen, Fox & Guestrin 2014, section 4.3; Ahn et al. 2015).
    hyper : dict, optional
        Other values of ``alpha`` (in the units of the ratings: s is then 1, as in the papers, whose
        ratings are 1 to 5), ``mu0``, ``c``, ``a``, ``b``, and: ``precisions``, a ``"shared"``
        lambda of all components (default) or one of ``"each"``; ``update``, ``"gibbs"`` for mu and
        lambda drawn from their conditional law after every step (default) or ``"sampled"`` with the
        rest, lambda by its log, which exact samplers need.
    clip : bool or (float, float)
        The range of predictions, which each draw's are clipped to; True: that of the ratings.

    Raises
    ------
    DataError
        For missing columns or numbers, for users who rated an item twice, and for ratings that are
        all the same, where `hyper` has no alpha.

    Notes
    -----
    Without a `sampler`, `fit` uses ``"baoab"`` with a step by the largest number of ratings of a
    user or an item, and by `dim`, with all ratings if these are at most 100,000, else with batches
    of half of them, or with those of `batch_size`; the step is so small that their noise adds at
    most a tenth to the variance. The fewer ratings, the more steps are made per kept draw, 5 to
    100, and up to 100,000 ratings there are 2000 draws.
    ``"sgld"`` and ``"sghmc"`` have steps of the same rule; other samplers need a `step_size` in the
    units of the factors, and have the defaults of all models: a hundredth of the ratings per
    mini-batch.

    Examples
    --------
    >>> model = sgmc.BPMF(ratings, user="user", item="item", rating="rating", dim=20, test=held_out)
    >>> res = model.fit(seed=1)
    >>> res.rmse, res.predict(["ann", "bob"], ["Alien", "Brazil"]), res.recommend("ann", 5)
    """

    title = "BPMF"
    leap, damping, friction, work = 0.68, 0.3, 3.0, 1e5
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
        centre=True,
        biases=False,
        hyper=None,
        clip=True,
    ):
        super().__init__(ratings, (user, item, rating), dim, test, clip)
        self.biases, self.hyper = bool(biases), checked(self.HYPER, hyper)
        self.centre = float(self.ratings[2].mean()) if centre else 0.0
        # the default noise is a share of the ratings' sd, a given alpha is in their own units
        self.unit = 1.0 if "alpha" in (hyper or {}) else self.sd_of_ratings()
        self.spread = float(np.sqrt(np.mean((self.ratings[2] - self.centre) ** 2))) / self.unit
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

    def sd_of_ratings(self):
        """The unit of ratings whose noise is not given."""
        value = self.ratings[2]
        sd = float((value - value[0]).std())
        if sd == 0:
            raise DataError(
                f"ratings: all {len(value)} in column {self.columns[2]!r} are {value[0]:g}, and "
                "the default noise is a share of their sd, which is 0; give the noise's precision "
                "in the units of the ratings, hyper={'alpha': ...}, or add ratings that differ"
            )
        return sd

    def prior_kernel(self):
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
        from sgmc.models.factorization.bpmf import GaussianFactors

        user, item, value = self.ratings
        return GaussianFactors(
            (user, item, (value - self.centre) / self.unit),
            (len(self.users), len(self.items), self.dim),
            self.hyper["alpha"],
            self.biases,
            self.prior_kernel(),
            self.hyper["update"] == "gibbs",
        )

    def starts(self, rng):
        # small factors at random; precisions at 1/d times that of the ratings, means zero
        theta = np.zeros(self.places.size)
        for name, where in self.places.slices.items():
            if name in ("U", "V"):
                theta[where] = START_FACTOR_SD * rng.normal(size=where.stop - where.start)
            elif name.startswith("lambda"):
                theta[where] = START_PRECISION
        return theta

    def largest_curvature(self):
        """Of the log likelihood in the factors of who has most ratings, m of them: alpha times the
        largest eigenvalue of sum_j V_j V_j', with q the mean square of a component.

        It is q m where ratings are many, about q (sqrt(m) + sqrt(d))^2 where the d components are
        (Marchenko & Pastur 1967), and m |mu|^2 along the mean of all V_j.  That adds q |mu|^2 to
        the variance of predictions, q^2 d in all, of which d components of mu against n users take
        a share of about d / (d + n).  Steps are stable with half of the latter two, and with half
        of what biases have, alpha m.

        Products of d components have the size of the ratings, or of their noise, s: q = s /
        sqrt(d), and where ratings are few the prior pushes it up, by about the mean of 1 / lambda
        with lambda ~ Gamma(a + ratings / 2, b).  The sizes of U and of V are known by their product
        alone and by 1 / lambda, of which k, the shape of lambda given few factors, says how much
        larger it can be.
        """
        from scipy.special import gammaincinv

        h, d, m = self.hyper, self.dim, self.most
        few = min(len(self.users), len(self.items))
        k = h["a"] + 0.5 * few * (1 if h["precisions"] == "each" else d)
        size = max(self.spread, h["alpha"] ** -0.5) / np.sqrt(d)
        square = (size + h["b"] / (h["a"] + 0.5 * self.n)) * k / gammaincinv(k, RARE)
        spectrum = max(m, 0.5 * (np.sqrt(m) + np.sqrt(d)) ** 2, 0.5 * m * d * d / (d + few))
        return h["alpha"] * max(square * spectrum, 0.5 * m * self.biases)


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
        As in `BPMF`; `FactorResults.test_log_lik` is the log density of its counts.  Rates of users
        and items without ratings have a mean only where a1 (of items c1) is above 1, or with
        `clip`.
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
    leap, damping, friction, work = 1.15, 0.2, 0.5, 1e6
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

    @property
    def moments(self):
        """Those of 1/e and 1/f that are finite."""
        return self.hyper["a1"], self.hyper["c1"]

    def prior_kernel(self):
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
        from sgmc.models.factorization.ppmf import PoissonFactors

        return PoissonFactors(
            self.ratings, (len(self.users), len(self.items), self.dim), self.places.size
        )

    def starts(self, rng):
        # factors at random, whose products are about the mean of the counts; rates at the mean that
        # suits them
        level = np.sqrt(max(float(self.ratings[2].mean()), 0.1) / self.dim)
        theta, where = np.empty(self.places.size), self.places.slices
        for factor, rate, shape in (("U", "e", "a"), ("V", "f", "c")):
            theta[where[factor]] = level * np.exp(
                SPREAD * rng.normal(size=where[factor].stop - where[factor].start)
            )
            theta[where[rate]] = self.hyper[shape] / level
        return theta

    def largest_curvature(self):
        """In the logs of factors it is the count that belongs to a component, as large as that of
        a user or an item where one component has all; at five sds above its mean.
        """
        user, item, y = self.ratings
        count = max(np.bincount(one, y).max() for one in (user, item)) / np.sqrt(self.dim)
        return count + 5 * np.sqrt(count) + 1


def checked(defaults, given):
    """Hyperparameters, the given ones checked."""
    if given is not None and not isinstance(given, dict):
        raise must_be("hyper", given, "a dict such as {'alpha': 2.0}")
    found = dict(defaults)
    for name, value in (given or {}).items():
        if name not in defaults:
            hint = nearest(name, defaults, "they are")
            raise ArgumentError(f"hyper: {name!r} is not a hyperparameter{hint}")
        called = f"hyper[{name!r}]"
        if name in CHOICES:
            found[name] = one_of(called, value, CHOICES[name])
        else:
            found[name] = number(called, value) if name == "mu0" else positive(called, value)
    return found


START_FACTOR_SD = 0.1  # sd of the factors that chains begin with
START_PRECISION = 5.0  # and their lambda
RARE = 1e-7  # probability of sizes at which the default step may be too long
SPREAD = 0.3  # sd of the logs of positive ones
CHOICES = {"precisions": ("each", "shared"), "update": ("gibbs", "sampled")}
