"""Bayesian neural networks as users meet them."""

from functools import partial

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.data.rows import same_index, same_length
from sgmc.arguments.data.tables import dense_table, finite_table
from sgmc.arguments.messages import must_be
from sgmc.arguments.names import column_names
from sgmc.arguments.numbers import sizes
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.models.bases.model import Model
from sgmc.models.bases.scaling import centre_and_unit
from sgmc.models.network.activations import ACTIVATIONS
from sgmc.models.network.distributions import LAWS
from sgmc.priors import PriorSpec, normal

PREDICTED_ROWS = 50  # whose predictions the verdict is about, fewer where each has several
# rows, and rows times weights, up to which all rows are used at every step by default: 2,500 rows
# and 23 weights took a minute, and four chains agreed, which minibatches did not bring about
SMALL_NETWORK, LITTLE_WORK = 2000, 200_000
# rows times weights up to which paths of `nuts`, several times as long as those of `hmc`, take less
# than half a minute; many are rejected at 0.8, where weights change places
BENT_WORK, BENT_ACCEPTED = 25_000, 0.95
ROOT_N_STEP, FRICTION = 0.2, 5.0  # of sghmc: e sqrt(N), and C


class BNN(Model):
    """A Bayesian feedforward neural network, from arrays or a formula.

    With a_0 = x, a_l = act(b_l + a_l-1 W_l) and eta = b_L + a_L-1 W_L, outcomes are of the law

    - ``"softmax"``: p(y = k) = exp(eta_k) / sum_l exp(eta_l) (Chen, Fox & Guestrin 2014, section
      4.2; Nemeth & Fearnhead 2021, eq. 14);
    - ``"gaussian"``: y_k ~ N(eta_k, sigma_k^2), sigma a parameter, of one outcome or several;
    - ``"heteroscedastic"``: y_k ~ N(eta_k, exp(eta_K+k)^2), the sds of the K outcomes functions of
      the inputs too (Nix & Weigend 1994);
    - ``"poisson"``: y ~ Poisson(exp(eta)).

    Weights W_l and biases b_l are N(0, 1), or as ``fit(prior=)`` says by name (``"W1"``, ``"b1"``,
    ..., ``"sigma"``); with a `hyperprior` they are N(0, 1/lambda) with a precision lambda of each
    W_l and each b_l, whose logs are ``log_precision``.

    Parameters
    ----------
    X : array_like (n, d), table, or str
        Inputs; bytes (uint8) and float32 stay as they are, are multiplied in float32, and may be
        read-only or memory-mapped.  An array is not copied: leave it alone until the fit is done.
        A str is an R-style formula, ``"y ~ x1 + C(g)"``.
    y : array_like (n,) or (n, outcomes), or table
        Outcomes; "gaussian" and "heteroscedastic" ones may be several of each row.  With a formula,
        which has one outcome, the table.
    hidden : tuple of int
        Units of the hidden layers; ``()`` for none: a multinomial or linear regression.
    activation : {"sigmoid", "tanh", "relu", "softmax"}
        act; "softmax" units of a layer are exp(z_k) / sum_l exp(z_l) and sum to one (Nemeth &
        Fearnhead 2021, eq. 14; Coullon, South & Nemeth 2023, eq. B1).
    outcome : {"softmax", "gaussian", "heteroscedastic", "poisson"}
    scale : {"auto", "columns", "table", None}
        How inputs are centred and divided by their sd before they enter: each column by itself, all
        numbers of the table together (as pixels want it), or not.  "auto": "table" for bytes, else
        "columns".  Unless None, "gaussian" and "heteroscedastic" outcomes are standardised too
        (sigma is in units of their sd), and the mean of Poisson ones is taken out of eta;
        predictions are in the data's units.
    hyperprior : sgmc.gamma, optional
        Of the precisions lambda.
    refresh : bool, optional
        Whether precisions are drawn from their conditional laws between steps (Chen et al. 2014),
        which goes with samplers of minibatches; else they are sampled like weights.  Default: yes,
        unless outcomes are "gaussian", whose sigma goes with the latter.
    dtype : {"float64", "float32"}, optional
        Of the products with the inputs.  Default: float32 where these are bytes or float32.

    Raises
    ------
    ArgumentError, DataError
        Naming the argument.

    Notes
    -----
    By default up to 2,000 rows, or more where rows times weights are at most 200,000, are all used
    at each step: by `nuts` where rows times weights are at most 25,000, else by `hmc`.  Above it is
    `sghmc` with e = 0.2 / sqrt(N), C = 5, five leapfrog steps to a step, which suits inputs and
    outcomes of unit size, and svrg's gradients of 500 rows or more: the noise of plain ones widens
    what many rows determine, e Lambda N / (2 C n) times the variance 1 / Lambda.

    Examples
    --------
    >>> res = sgmc.BNN("species ~ .", iris, hidden=(10,), activation="tanh").fit(seed=1)
    >>> res.predict_proba(iris.head())
    """

    title = "Neural Network"
    scaled = False
    spec = formula = None

    def __init__(
        self,
        X,
        y,
        *,
        hidden=(100,),
        activation="sigmoid",
        outcome="softmax",
        scale="auto",
        hyperprior=None,
        refresh=None,
        dtype=None,
    ):
        self.activation = one_of("activation", activation, ACTIVATIONS)
        from sgmc.formula.evaluation.safe import is_formula

        self.outcome = outcome
        one_of("outcome", outcome, LAWS)
        one_of("scale", scale, ("auto", "columns", "table", None))
        one_of("dtype", dtype, (None, "float64", "float32"))
        self.hidden, self.hyperprior = layers(hidden), checked_hyperprior(hyperprior)
        if activation == "softmax" and 1 in self.hidden:
            raise ArgumentError(
                f"hidden={hidden!r} with activation='softmax': the softmax of one unit is always "
                "1; give at least two units per hidden layer"
            )
        self.refresh = outcome != "gaussian" if refresh is None else bool(refresh)
        if hyperprior is not None and self.refresh and outcome == "gaussian":
            raise ArgumentError(
                "refresh=True goes with no Gaussian outcomes, whose sigma is constrained; use "
                "refresh=False"
            )
        self.notes = []
        X, y, names = self.read(X, y) if is_formula(X) else arrays(X, y)
        self.set_data(X, y, names, scale, dtype)

    @classmethod
    def from_formula(cls, formula, data, **options):
        """The same as ``BNN(formula, data, **options)``."""
        from sgmc.formula.evaluation.safe import is_formula

        if not is_formula(formula):
            raise ArgumentError(f"formula must be a str, not {type(formula).__name__}")
        return cls(formula, data, **options)

    def read(self, formula, data):
        """Inputs, outcomes and names of the columns of a formula;
        rows with anything missing are refused.
        """
        from sgmc import formula as front
        from sgmc.models.network.info import without_intercept

        table = front.read(
            formula,
            data,
            missing="raise",
            outcome="category" if self.outcome == "softmax" else "numeric",
            scope=front.caller_scope(),
        )
        if table.bars or table.smooths:
            first = f"({table.bars[0].text})" if table.bars else table.smooths[0][0].text
            raise NotSupported(
                f"{type(self).__name__} has no group terms and no smooths: leave {first} out",
                because="limit",
            )
        X = np.empty((len(table.y), len(table.spec.exog_names)))
        table.fill(X)
        self.spec, self.formula = table.spec, formula
        self.notes = list(table.notes)
        kept = without_intercept(table.spec)
        if not kept:
            raise DataError(f"formula {formula!r} has no inputs")
        y = (
            np.asarray(table.spec.levels)[table.y.astype(int)]
            if self.outcome == "softmax"
            else table.y
        )
        return np.ascontiguousarray(X[:, kept]), y, [table.spec.exog_names[j] for j in kept]

    def set_data(self, X, y, names, scale, dtype):
        """Take inputs and outcomes that were read."""
        from sgmc.models.network.info import NetworkRecipe

        self.X = (
            X
            if dtype is None or dtype == "float32" and X.dtype == np.uint8
            else np.ascontiguousarray(X, dtype=dtype)
        )
        self.n = len(X)
        if not np.ptp(X, axis=0).any():
            raise DataError("X is constant in every column; a network needs inputs that differ")
        centre, unit = centre_and_unit(
            X, ("table" if X.dtype == np.uint8 else "columns") if scale == "auto" else scale
        )
        law, self.y = LAWS[self.outcome].read(y, scale)
        same_length("y", self.y, self.n, "X has")
        units = [X.shape[1], *self.hidden, law.units]
        self.recipe = NetworkRecipe(
            units, self.activation, self.outcome, law, centre, unit, names, self.spec
        )
        self.scaled = not self.hidden and self.hyperprior is None
        self.parameters, self.constraints = shapes(units), {}
        if self.outcome == "gaussian":
            self.parameters["sigma"] = (law.outcomes,) if law.names else ()
            self.constraints = {"sigma": "positive"}
        self.prior = {"*": normal(0, 1)}
        if self.hyperprior is not None:
            self.parameters["log_precision"], self.prior = (2 * len(units) - 2,), None

    def derived(self, given):
        if self.scaled:
            return {}
        from sgmc.samplers.hamiltonian import SGHMC
        from sgmc.samplers.nuts import NUTS

        few = self.n <= SMALL_NETWORK or self.n * self.layout().size <= LITTLE_WORK
        if few and (self.hyperprior is None or not self.refresh):
            # weights that can change places bend the posterior: paths of one length do not go round
            little = self.n * self.layout().size <= BENT_WORK
            return {"sampler": NUTS(target_accept=BENT_ACCEPTED) if little else "hmc"}
        return {
            "sampler": SGHMC(friction=FRICTION),
            "gradient": "svrg",
            "step_size": ROOT_N_STEP / np.sqrt(self.n),
            "batch_size": min(max(500, self.n // 100), self.n),
        }

    def kernel(self):
        from sgmc.models.bases.layers import inputs
        from sgmc.models.network.kernel import Network

        r, hyper = self.recipe, self.hyperprior
        held = (hyper.df, 1 / hyper.scale) if hyper is not None and self.refresh else None
        return Network(
            inputs(self.X, r.centre, r.unit),
            r.law.inside(self.y),
            r.sizes,
            self.activation,
            self.outcome,
            r.law.shift[0] if self.outcome == "poisson" else 0.0,
            held,
            0 if hyper is None else 2 * len(r.sizes) - 2,
        )

    def prior_kernel(self):
        if self.hyperprior is None:
            return None
        from sgmc.models.network.precisions import Precisions

        arrays = [int(np.prod(shape)) for name, shape in self.parameters.items() if name[0] in "Wb"]
        return Precisions(
            arrays,
            self.recipe.law.outcomes if self.outcome == "gaussian" else 0,
            self.hyperprior.df,
            1 / self.hyperprior.scale,
            self.refresh,
        )

    def starts(self, rng):
        # weights N(0, 1 / inputs), biases of zero, precisions and sigma of one
        parts = {
            name: rng.normal(size=shape) / np.sqrt(shape[0]) if name[0] == "W" else np.zeros(shape)
            for name, shape in self.parameters.items()
        }
        if self.outcome == "gaussian":
            parts["sigma"] = np.ones(self.parameters["sigma"])
        return self.layout().pack(parts)

    def functionals(self):
        # predictions, which stay as they are where hidden units change places
        from sgmc.fit.parts import Functionals
        from sgmc.models.network.results import predictions

        if not self.hidden:
            return None
        count = max(PREDICTED_ROWS // len(self.recipe.law.judged), 2)
        rows = np.unique(np.linspace(0, self.n - 1, count).astype(int))
        return Functionals(
            f"predictions of {len(rows)} rows",
            partial(predictions, rows=rows, X=self.X[rows], y=self.y[rows]),
            "hidden units can change places",
        )

    def recorder_class(self):
        from sgmc.core.bank import ThinnedDraws

        return ThinnedDraws

    def info(self):
        from sgmc.models.network.info import NetworkInfo

        return NetworkInfo(self)

    def result_class(self):
        from sgmc.models.network.results import NetworkResults

        return NetworkResults


def layers(hidden):
    """Units of the hidden layers as a tuple."""
    wanted = "whole numbers, each at least 1, one for each hidden layer, such as (100,), or ()"
    return sizes("hidden", hidden, wanted)


def checked_hyperprior(hyperprior):
    """A gamma prior, or None."""
    if hyperprior is not None and not (
        isinstance(hyperprior, PriorSpec)
        and hyperprior.family == "gamma"
        and not hyperprior.autoscale
    ):
        wanted = "a gamma prior of precisions, such as sgmc.gamma(1, rate=1), or None"
        raise must_be("hyperprior", hyperprior, wanted)
    return hyperprior


def shapes(sizes):
    """Name -> shape of weights and biases."""
    found = {}
    for k, (d, h) in enumerate(zip(sizes, sizes[1:]), 1):
        found |= {f"W{k}": (d, h), f"b{k}": (h,)}
    return found


def arrays(X, y):
    """Checked inputs, outcomes and names of the columns."""
    from sgmc.formula.data.frames import pandas_or_same

    X, y = pandas_or_same(X), pandas_or_same(y)
    same_index(X=X, y=y)
    table = dense_table("X", X, "networks")
    if len(table) == 0:
        raise DataError("X has no rows")
    names = column_names(None, X, table.shape[1], "X")
    return finite_table("X", table, names), y, names
