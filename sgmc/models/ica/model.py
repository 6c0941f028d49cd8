"""Independent component analysis as users meet it."""

import importlib.util
from functools import cached_property, partial

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.data.arrays import shaped
from sgmc.arguments.data.tables import dense_table, finite_table, matrix
from sgmc.arguments.numbers import positive
from sgmc.coordinates.approximations.laplace import MAX_CURVATURE_DIM
from sgmc.core.numerics.limits import SMALLEST_POSITIVE
from sgmc.errors import ArgumentError, DataError, MissingExtra
from sgmc.fit.parts import EXACT
from sgmc.fit.problem import ANY_MAP
from sgmc.models.bases.model import Model
from sgmc.models.bases.scaling import centre_and_unit
from sgmc.priors import normal

SOURCE_SD = np.pi / np.sqrt(3)  # of the logistic density 1 / (4 cosh^2(y / 2))
UNMIXING_SD = 0.1  # of starts: sd of the entries of W^-1 dW, over sqrt(N)


class ICA(Model):
    """Independent component analysis: p(x | W) = |det W| prod_k 1 / (4 cosh^2(y_k / 2)), y = W x,
    W_kj ~ N(0, 1/lambda).

    Welling & Teh (2011, section 5.3), Mauri & Zanella (2024, section 5.2).  The posterior does not
    change with the order and the signs of the rows of W; chains begin at one and the same place,
    and stay near it as long as data are many.

    Parameters
    ----------
    X : array_like (n, d) or table
        A row is a time, a column a channel.  Columns are centred.
    precision : float
        lambda.
    scale : {"columns", "table", None}
        Whether columns are divided by their sds, or by one sd of all; W then belongs to what they
        become.
    start : {"fastica", "whitening"} or array (d, d), optional
        Where chains begin: at scikit-learn's FastICA (an extra), at a symmetric whitening, or at an
        unmixing of the centred and scaled data; but for an array, its rows are scaled to the
        logistic density's sd.  Default: FastICA where scikit-learn is installed, else the
        whitening; the summary says which.

    Raises
    ------
    ArgumentError, DataError
        Naming the argument.
    MissingExtra
        When chains begin, without scikit-learn.

    Notes
    -----
    The default sampler moves W in coordinates that the curvature at the mode next to `start` makes
    about standard normal; ``precondition=None`` leaves W as it is, and a `step_size` is then one of
    W.  ``sampler="mmala"`` is the exact "corrected Langevin" of Welling & Teh: proposals along the
    natural gradient D_W = (dlog p / dW) W'W with covariance h W'W / N, accepted or rejected by all
    rows.  ``sampler="sgrld"`` is their stochastic version with the divergence of the metric, which
    they leave out (``sgmc.SGRLD(divergence=False)``); its step h is their epsilon times N.  Both
    have no other coordinates than W.

    Examples
    --------
    >>> res = sgmc.ICA(X).fit(sampler="sgrld", step_size=0.1, batch_size=100, seed=1)
    >>> res.sources(X), res.instability()
    """

    title = "Independent Components"

    def __init__(self, X, *, precision=1.0, scale="columns", start=None):
        self.X = np.ascontiguousarray(dense_table("X", X, "models of sources"), dtype=float)
        self.n, self.d = self.X.shape
        if self.d < 2 or self.n <= self.d:
            raise DataError(
                f"X has shape {self.X.shape}; it must have at least two channels, and more rows "
                "than channels"
            )
        finite_table("X", self.X)
        one_of("scale", scale, ("columns", "table", None))
        self.unit = centre_and_unit(self.X, scale)[1]
        self.centre = centre_and_unit(self.X, "columns")[0]
        with np.errstate(all="ignore"):
            variance = self.centred().var(axis=0)
        odd = np.flatnonzero(~(np.isfinite(variance) & (variance > SMALLEST_POSITIVE)))
        if len(odd):
            flat = np.ptp(self.X[:, odd[0]]) == 0
            raise DataError(
                f"X: column {odd[0]} is constant ({self.X[0, odd[0]]:g}); leave it out"
                if flat
                else f"X: the variance of column {odd[0]} is beyond floating-point numbers; "
                "rescale it"
            )
        if np.linalg.matrix_rank(self.centred()) < self.d:
            raise DataError(
                "the channels of X are linearly dependent; leave some out, or reduce them first"
            )
        self.precision = positive("precision", precision)
        self.start, self.prior = (
            checked_start(usual_start() if start is None else start, self.d),
            normal(0, 1 / np.sqrt(self.precision)),
        )
        self.parameters = {"W": (self.d, self.d)}

    def centred(self):
        """The data as the model sees them."""
        return (self.X - self.centre) * self.unit

    def kernel(self):
        from sgmc.models.bases.layers import Inputs
        from sgmc.models.ica.kernel import LogisticSources

        return LogisticSources(Inputs(self.X, self.centre, self.unit))

    @cached_property
    def reference(self):
        """The unmixing of the centred and scaled data that chains begin at, (d, d)."""
        if isinstance(self.start, np.ndarray):
            return self.start
        X = self.centred()
        values, vectors = np.linalg.eigh(np.cov(X.T))
        whitening = (vectors / np.sqrt(values)) @ vectors.T
        if self.start == "fastica":
            whitening = fastica(X @ whitening) @ whitening
        return SOURCE_SD * whitening / (X @ whitening.T).std(axis=0)[:, None]

    @property
    def exact_sampler(self):
        # without a Gaussian approximation mala does not learn the scales in time
        return EXACT if self.d**2 <= MAX_CURVATURE_DIM else "hmc"

    def scaled_for(self, checked):
        # samplers along the natural gradient, and those asked to move W as it is, have no use for a
        # mode
        natural = checked.sampler is not None and checked.sampler.refusal(ANY_MAP)
        return checked.precondition is not None and not natural

    def functionals(self):
        from sgmc.fit.parts import Functionals
        from sgmc.models.bases.results import JUDGED_ROWS
        from sgmc.models.ica.results import log_densities
        from sgmc.results.outcomes.data.rows import evenly

        rows = evenly(self.n, JUDGED_ROWS)
        return Functionals(
            f"log densities of {len(rows)} rows",
            partial(log_densities, rows=rows, X=self.centred()[rows]),
            "sources can change places and signs",
        )

    def starts(self, rng):
        # the reference, moved by a tenth of the posterior's size
        W = self.reference
        return (W + UNMIXING_SD / np.sqrt(self.n) * rng.normal(size=W.shape) @ W).ravel()

    def info(self):
        from sgmc.models.ica.results import SourcesInfo

        return SourcesInfo(self)

    def result_class(self):
        from sgmc.models.ica.results import ICAResults

        return ICAResults


def usual_start():
    """What can be begun at here."""
    return "whitening" if importlib.util.find_spec("sklearn") is None else "fastica"


def checked_start(start, d):
    """A start as it is, or as an array."""
    otherwise = f", or an invertible unmixing of shape ({d}, {d})"
    if isinstance(start, str):
        return one_of("start", start, ("fastica", "whitening"), otherwise)
    W = shaped("start", np.array(matrix("start", start)), (d, d))
    if np.linalg.matrix_rank(W) < d:
        raise ArgumentError(f"start must be 'fastica', 'whitening'{otherwise}")
    return W


def fastica(white):
    """The rotation that scikit-learn's FastICA finds for white data, the same for the same data."""
    import warnings

    try:
        from sklearn.decomposition import FastICA
    except ImportError as error:
        raise MissingExtra(
            "start='fastica' needs scikit-learn, which is not installed: pip install "
            "'sgmc[sklearn]', or use start='whitening'"
        ) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it has not converged: it is but a start
        return FastICA(whiten=False, random_state=0, max_iter=1000).fit(white).components_
