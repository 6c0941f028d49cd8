"""A posterior in sampler coordinates: everything that the chains of a fit share."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from sgmc import registry
from sgmc.coordinates.maps import Scaling
from sgmc.coordinates.modes import ModeSearch, finite_at, where_finite
from sgmc.core import deadline
from sgmc.core.blas import one_blas_thread
from sgmc.core.bounds import Bounds
from sgmc.core.contract import Anchor
from sgmc.core.expansion import leverages
from sgmc.core.recorders import FullRecorder, Spaced
from sgmc.core.remainders import Remainders
from sgmc.core.rng import Rng, seed_sequence
from sgmc.core.storage import spans, too_many
from sgmc.errors import ArgumentError
from sgmc.fit.tolerance import VARIANCE_TOLERANCE
from sgmc.subsampling.uniform import Everything

DISPERSION, DISPERSION_DF = 2.5, 4  # scale and degrees of freedom of dispersed starts, in sds
ANY_MAP = Scaling([0.0], [1.0])  # stands for any map where only its being there matters
EXACT = "mala"  # the exact sampler that "auto" takes where a model names no other
SEARCH, CURVATURE = "the search for the mode", "the analysis of the curvature at the mode"
DRAWS_MEMORY = 1 << 30  # bytes of kept draws
MAX_EXACT_SHARE = 0.2  # of the rows that may be computed at every step
MAX_EXACT = 1 << 20  # the most of these in tables that lie in files
# posterior sd of a linear predictor beyond which no expansion serves: always computed
MAX_EXPANDED_SD = 3.0
ACCEPTED = 0.9  # of Hamiltonian paths: a rotation more costs less than what is rejected
# paths between draws at most; numbers of the table in all gradients
MOST_PATHS, AFFORDABLE = 4, 1.2e10


class Functionals(NamedTuple):
    """Numbers that a draw says something by, whatever the labels and signs of its parameters.

    Attributes
    ----------
    what : str
        In words, such as "predictions of 50 rows".
    of : callable
        ``of(results)`` gives their names (k,) and draws (chain, draw, k); None where what they need
        was not kept.
    why : str
        Why single parameters mean nothing.
    """

    what: str
    of: object
    why: str


@dataclass(kw_only=True)
class Problem:
    """A posterior and its coordinates.  It knows no table: rows are those of the compiled model.

    Attributes
    ----------
    model : Model
    prior : Prior
        On the model's natural coordinates.
    coordinates : Coordinates or FreeCoordinates
    priors : PriorTable
    concerns : list of SGMCWarning
    shuffled : bool
        Whether rows are in random order, so that blocks of them are samples.
    anchors : dict
        Shared anchors at the mode, made at first use.
    known : Anchor or None
        What the search for the mode has left of it, in the model's coordinates.
    shared : dict
        What subsamplers share (`sgmc.fit.noise.shared_rows`), made at first use.
    limits : dict
        Bounds, with and without their matrix and for schemes with probabilities of their own,
        made at first use.
    searched : ModeSearch
        The modes that were looked for and found.
    functionals : Functionals or None
        What the verdict is about where single parameters mean nothing.
    exact_sampler : str
        What "auto" takes where minibatches will not do.
    stopped : str
        During what the time of the call was up, and empty where it was not: coordinates are then of
        what is known of the mode.
    prior_alone : bool
        Draws are of the prior: no rows say anything.
    """

    model: object
    prior: object
    coordinates: object
    priors: object
    concerns: list
    shuffled: bool
    anchors: dict = field(default_factory=dict)
    known: Anchor | None = None
    shared: dict = field(default_factory=dict)
    limits: dict = field(default_factory=dict)
    searched: ModeSearch = ModeSearch()
    functionals: Functionals | None = None
    exact_sampler: str = EXACT
    stopped: str = ""
    prior_alone: bool = False

    flat_below = {}  # sds of effects: below which their densities are nearly flat

    @property
    def partial(self):
        """Whether draws of only some parameters are kept."""
        return False

    @property
    def warmup(self):
        """Steps of warmup of the default sampler where no pilot tells them; None: those of its
        plan.
        """
        return

    @property
    def surveyed(self):
        """Whether a pilot measures gradient noise and shape; if not, exact samplers alone run."""
        return True

    @property
    def exact_alone(self):
        """What restricts a fit to exact samplers where there is no survey, in words."""
        return "effects of levels or smooths"

    @property
    def bounded(self):
        """Whether the sampler's coordinates end somewhere."""
        return False

    def unbounded(self):
        """This posterior in coordinates that end nowhere, itself where its own do not; None where
        there are no exact scores.
        """
        return self

    @property
    def many(self):
        """Whether densities at many points are computed by products of matrices."""
        return False

    @property
    def nearest(self):
        """This posterior in coordinates whitened by the Gaussian nearest to it, for samplers that
        propose from there; itself where its own will do.
        """
        return self

    @property
    def approximation(self):
        """Coordinates whitened at the mode, where the fit's own may be others."""
        return self.coordinates

    @property
    def foreign(self):
        """Whether the density is computed by code from outside the package, which its tests do not
        cover.
        """
        return any(
            type(part).__module__.partition(".")[0] != __name__.partition(".")[0]
            for part in (self.model, self.prior)
        )

    @property
    def differenced(self):
        """Whether gradients are differences of the density."""
        return False

    @property
    def undefined(self):
        """What functions of a user returned NaN while chains ran: a list, each with a ``text`` and
        the number of steps after warmup, ``recorded``.
        """
        return []

    @property
    def dim(self):
        """Number of sampler coordinates."""
        return self.model.dim if self.coordinates.map is None else self.coordinates.map.dim

    @property
    def cells(self):
        """Numbers that a density over all rows is made of: rows x parameters."""
        return self.model.n * self.dim

    @property
    def file_bytes(self):
        """Bytes that a pass over the rows reads from a file; 0 where they are in memory."""
        return 0

    @property
    def nobs(self):
        """Number of observations; with frequency weights, their sum."""
        return self.model.n

    def default_sampler(self):
        """The specification of the exact sampler that "auto" takes."""
        return registry.room("samplers")[self.exact_sampler]()

    def thinning(self, settings):
        """Steps between draws of the default sampler where no pilot tells them; at least so many of
        an exact one.
        """
        return 1

    def sign_draws(self, x):
        """Signs (chain, draw) of what is printed without a sign, by the parameter's name, at draws
        x; see `beyond_scores`.
        """
        return {}

    @property
    def least_noise(self):
        """Name of the estimator that is used where none is given."""
        raise NotImplementedError

    @property
    def grouped(self):
        """Whether rows of the model are groups of the data's rows."""
        return False

    @property
    def unit(self):
        """What a row of the model is to the user."""
        return "group" if self.grouped else "row"

    @property
    def beyond_scores(self):
        """Names of what is reported of which scores cannot tell the errors."""
        return ()

    def fold_signs(self, x, entropy):
        """Draws (chain, draw, dim), each possibly in the place of another of the same density that
        means the same.
        """
        return x

    @property
    def unimodal(self):
        """Whether the posterior is known to have one mode alone."""
        return False

    @property
    def stand_in_rows(self):
        """What rows that stand for others cost in accuracy, a `StandInRows`; else None."""
        return

    @property
    def tail_index(self):
        """Known tail index of every parameter, see `diagnostics.tail_index`; 0 if unknown."""
        return 0.0

    def tail_bounds(self, names):
        """How large tail indices of printed parameters can be, (p,); NaN where that is unknown."""
        return np.full(len(names), np.nan)

    def extra_checks(self, fit):
        """Warnings about the posterior itself that its draws give rise to."""
        return []

    def error_allowance(self, fit):
        """How far the density is off, (posterior sds, in words), for the verdict; None if exact."""
        return

    @property
    def free_names(self):
        """Names of the axes of `coordinates.white`."""
        raise NotImplementedError

    @property
    def fingerprint(self):
        """Arrays that tell this posterior from others, for checkpoints."""
        raise NotImplementedError

    @property
    def curvature_covariance(self):
        """Covariance of the reported parameters by the curvature at the mode alone."""
        raise NotImplementedError

    def strata(self):
        """Return the stratum of each row, (n,), for ``subsample="stratified"``."""
        raise NotImplementedError

    def step_plan(self, spec, gradient, settings):
        """Return a plan whose step comes from elsewhere than `coordinates`, where these have no
        scale; None where there is none.
        """
        return

    def begin(self, settings, k):
        """Where chain k starts, in the sampler's coordinates."""
        if settings.start_given:
            given = np.broadcast_to(settings.init, (settings.chains, len(self.priors.names)))[k]
            return self.coordinates.from_reported(given)
        mode, rng = self.searched.of_chain(k), Rng(seed_sequence(settings.seed, "start", k))
        z = rng.normals(self.dim)
        if not settings.dispersed:
            return self.around(mode, z)
        z *= DISPERSION / np.sqrt(np.mean(rng.normals(DISPERSION_DF) ** 2))
        z = where_finite(lambda z: self.is_finite(self.around(mode, z)), z, np.zeros(self.dim))
        return self.around(mode, z)

    def around(self, mode, z):
        """The point of a standard normal draw z (d,) around a mode, by its number."""
        if mode == 0 and self.coordinates.scaled or not self.searched.gaussians:
            return self.coordinates.from_white(z)
        place, root = self.searched.gaussians[mode]
        return self.coordinates.from_theta(place + root @ z)

    def all_rows(self):
        """The exact gradient."""
        return self.gradient("simple", Everything(self.model.n), Rng(seed_sequence(0, "pilot")))

    def computed(self, single):
        """Itself, or with the products of matrices in float32 that sampling had."""
        return replace(self, model=self.single) if single else self

    def will_read(self, random):
        """Tell the system whether rows will be read in random places, or in order; only where they
        lie in a file does this matter.
        """

    def is_finite(self, x):
        """Whether log posterior and gradient are finite at x."""
        return finite_at(self.all_rows(), x)

    def kept(self, x):
        """Draws (chain, draw, parameter) as they are reported, and their names,
        of what a recorder kept.
        """
        return self.coordinates.reported(x), self.priors.printed

    def recorded(self, x):
        """What a recorder keeps of positions (..., dim)."""
        return x

    def recorder(self, draws, plan):
        """What keeps the draws of one chain."""
        return (
            Spaced(draws, self.dim, plan.time_power)
            if plan.spaced
            else FullRecorder(draws, self.dim, plan.thin)
        )

    def check_draws(self, settings):
        """Refuse more draws than memory should hold."""
        if settings.keep is not None:
            raise ArgumentError(
                "keep does not apply here: it is for models of so many parameters that draws of "
                "all are too many"
            )
        size = 8 * settings.positions * settings.chains * self.dim
        if size > DRAWS_MEMORY:
            raise ArgumentError(
                f"{settings.kept_text} in {settings.chains} chains of {self.dim} parameters are "
                f"{size / 2**30:.1f} GB, over the limit of 1 GB; keep fewer and thin more"
            )

    def gradient(self, name, rows, rng):
        """A gradient estimator of that name over a subsampler, private to one chain."""
        cls = registry.lookup("gradients", name, "gradient")
        return cls(
            self.model,
            self.prior,
            rows,
            rng,
            map=self.coordinates.map,
            anchor=self.anchor(cls.needs),
        )

    def always_computed(self, gradient):
        """Rows that an estimator of that name computes at every step."""
        anchor = self.anchor(registry.lookup("gradients", gradient, "gradient").needs)
        return 0 if anchor is None else len(anchor.exact)

    def forget_rows(self):
        """Keep sums alone of the mode's anchors: what a batch needs of its rows is computed."""
        self.anchors = {key: anchor.sums() for key, anchor in self.anchors.items()}
        self.known = None

    def bounds(self, hessian, scheme="", weight=None):
        """The bounds of slopes and curvatures, with or without the matrix for all rows at once.

        `weight` is 1 / (N p_j) of a scheme of that name that draws rows with unequal probabilities.
        """
        key = hessian, scheme
        if key not in self.limits:
            deadline.check(operations=2.0 * self.cells)
            centre = self.coordinates.from_white(np.zeros(self.model.dim))
            with one_blas_thread():
                self.limits[key] = Bounds(
                    self.model, self.prior, self.coordinates.map, centre, hessian, weight
                )
        return self.limits[key]

    def remainders(self, order):
        """The bounds of remainders of the rows' Taylor polynomials at the mode."""
        key = "remainders", order
        if key not in self.limits:
            deadline.check(operations=2.0 * self.cells)
            centre = self.coordinates.from_white(np.zeros(self.model.dim))
            with one_blas_thread():
                self.limits[key] = Remainders(self.model, self.coordinates.map, centre, order)
        return self.limits[key]

    def anchor(self, needs):
        """The anchor at the mode that an estimator needs, or None."""
        if "anchor" not in needs:
            return None
        key = "curvature" in needs
        if key not in self.anchors:
            centre = self.coordinates.natural(self.coordinates.from_white(np.zeros(self.dim)))
            at_mode = self.known is not None and np.array_equal(self.known.centre, centre)
            self.anchors[key] = self.known if at_mode else Anchor(self.model, centre, key)
            if key:
                deadline.check(operations=2.0 * self.model.n * self.dim**2)
                exact = high_leverage(self.model, self.coordinates, self.anchors[key])
                self.anchors[key] = self.anchors[key].with_exact(exact)
        return self.anchors[key]


# ---- rows of high leverage -----------------------------------------------------------------------

# A minibatch should not be left to find them: few, and each with much to say about some parameter.


def high_leverage(model, coordinates, anchor):
    """Rows to compute at every step, because their second-order residuals would dominate the
    gradient noise.

    The residual of row i is about w_i' eta^2 / 2 with eta ~ N(0, s_i^2), |w_i'| <= w_i exp(2 s_i),
    and moves no parameter by more than s_i sds: it adds at most N (3/4) (w_i exp(2 s_i))^2 s_i^6
    to V1.  The set is the one that needs the fewest rows a step, itself and the batch that keeps
    the rest within the tolerance at h = 1.

    Returns
    -------
    rows : array of int
    """
    white = None if coordinates.rotated and coordinates.map is None else coordinates.inner
    largest = int(MAX_EXACT_SHARE * model.n) + 1
    large = too_many(model, 2 * model.width)
    if large:  # a list of more is of no use in a step, and may not fit into memory
        largest = min(largest, MAX_EXACT)
    wild, worth, shares = np.empty(0, dtype=int), np.empty(0, dtype=int), np.empty(0)
    for rows in spans(model.n) if large else [slice(0, model.n)]:
        far, found, share = candidates(*leverages(model, white, anchor, rows), model.n)
        wild = np.concatenate([wild, rows.start + far])
        worth, shares = np.concatenate([worth, rows.start + found]), np.concatenate([shares, share])
        if len(worth) > largest:
            kept = np.sort(np.argsort(-shares, kind="stable")[:largest])
            worth, shares = worth[kept], shares[kept]
    return np.union1d(wild, worth)


def outstanding(s, w, n):
    """The rows of `high_leverage` among those with predictors' sds s and curvatures w, of n rows in
    all, and their shares of the noise; of one that no expansion serves it is infinite.
    """
    wild, worth, share = candidates(s, w, n)
    largest = int(MAX_EXACT_SHARE * n) + 1
    if len(worth) > largest:
        kept = np.argsort(-share, kind="stable")[:largest]
        worth, share = worth[kept], share[kept]
    rows = np.concatenate([wild, worth])
    share = np.concatenate([np.full(len(wild), np.inf), share])
    order = np.argsort(rows)
    return rows[order], share[order]


def candidates(s, w, n):
    """Places of rows beyond any expansion, and of those that are worth their computation, with
    their shares of the noise; of n rows in all.
    """
    # a row is worth it from the share of noise at which a larger batch costs as much
    least = 3 * VARIANCE_TOLERANCE / (0.75 * n)
    # exp(2 s) w s^3 = sqrt(least) for the largest w at some s <= end: nearly all rows are below
    end = (np.sqrt(least) / max(w.max(initial=0.0), 1e-300)) ** (1 / 3)
    low = end * np.exp(-2 / 3 * min(end, MAX_EXPANDED_SD))
    looked = np.flatnonzero(s > min(low, MAX_EXPANDED_SD))
    s, w = s[looked], w[looked]
    wild = s > MAX_EXPANDED_SD
    share = np.where(wild, 0.0, (np.exp(2 * np.minimum(s, MAX_EXPANDED_SD)) * w * s**3) ** 2)
    worth = np.flatnonzero(share > least)
    return looked[wild], looked[worth], share[worth]


# ---- the sampler of problems without a pilot -----------------------------------------------------

# Hamiltonian paths of all parameters at once, in coordinates that make these nearly standard
# normal.


def rotating_paths(walkers=1):
    """The specification of the sampler, with so many walkers a chain."""
    how = dict(walkers=walkers) if walkers > 1 else dict(rotations=2)
    return registry.room("samplers")["hmc"](target_accept=ACCEPTED, **how)


def paths_between_draws(settings, cells, gradients, most=MOST_PATHS):
    """Paths between draws, at most so many: these are nearly independent where so many paths, each
    of so many gradients, cost little.
    """
    work = gradients * settings.draws * settings.chains * cells
    return int(np.clip(AFFORDABLE // work, 1, most))
