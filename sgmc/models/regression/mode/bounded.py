"""Coefficients whose priors have ends, are horseshoes or increments of monotonic effects: the mode,
and the coordinates, of free numbers.

Parameters phi of the table's columns are c(u): u itself for other priors, and else a quantile map
of u, to a horseshoe's coefficient, to the log of the distance from the only end, or to the logit of
the place between two, which makes u about standard normal.  Increments are those of their sum and
of shares of it.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from sgmc.coordinates.approximations.laplace import (
    MAX_CURVATURE_DIM,
    LaplaceApproximation,
    exact_gradient,
    laplace_approximation,
)
from sgmc.coordinates.approximations.mode import Mode, PriorTerms
from sgmc.coordinates.approximations.propagation import Sites, propagate
from sgmc.coordinates.priors.prior_table import Monotone, PriorTable
from sgmc.coordinates.shapes.cut import Cut
from sgmc.coordinates.shapes.separation_transform import GRID
from sgmc.coordinates.shapes.shrinkage import GRID as FINE_GRID
from sgmc.coordinates.shapes.shrinkage import Spike
from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.transforms.constraints import Constrained
from sgmc.coordinates.transforms.maps import Affine, Scaling, Warp
from sgmc.coordinates.transforms.partial_map import PartialMap
from sgmc.coordinates.whitened.free import root_of_inverse
from sgmc.coordinates.whitened.report import Report
from sgmc.coordinates.whitened.whitening import Coordinates, eigenvalue_range
from sgmc.core.engine import full
from sgmc.core.system.blas import one_blas_thread
from sgmc.errors import NotSupported, PriorWarning
from sgmc.models.regression.mode.increments import (
    CLEAR_SIGN,
    SURE_SIGN,
    Lost,
    few_lose,
    increments_near,
    misfit,
    monotone_map,
    share_of,
    truly_lost,
)
from sgmc.models.regression.mode.search import RegressionMode
from sgmc.priors import flat, normal

CONTRADICTED = 3.0  # sds beyond an end at which the data speak against it
LEAST_CURVED = 0.05  # eigenvalue of a precision with a diagonal of ones
NEAR_ENOUGH = 0.02  # sds from the mode; where maps are interpolated no search gets much nearer


class Searched(Protocol):
    """A posterior whose mode is known.

    Attributes
    ----------
    kernel : Model
        Of all rows, or of few that have their sums.
    priors : PriorTable
    mode : Mode
    terms : PriorTerms
        Of the priors.
    """

    kernel: Any
    priors: PriorTable
    mode: Mode
    terms: PriorTerms

    def terms_of(self, priors: PriorTable) -> PriorTerms:
        """Other priors' share in log density, gradient and precision."""

    def density_of(self, priors: PriorTable) -> Any:
        """Other priors, compiled."""


@dataclass(frozen=True)
class Between:
    """A posterior between the ends of priors.

    Attributes
    ----------
    constraints : Composed
        c.
    free : LaplaceApproximation
        Of u.
    mode : Mode
        The mode of u's density, as phi.
    warnings : list of SGMCWarning
    light : bool
        The data leave a tail to a prior whose density falls as a power.
    open_sign : bool
        The data leave the sign of a monotonic effect open.
    """

    constraints: Composed
    free: LaplaceApproximation
    mode: Mode
    warnings: list
    light: bool = False
    open_sign: bool = False

    @property
    def why_exact(self) -> str:
        """What speaks for an exact sampler, in words."""
        return "the sign of a monotonic effect is open" if self.open_sign else ""

    def coordinates(
        self, back: np.ndarray, precondition: str | None, log_params: int
    ) -> Coordinates:
        """Return coordinates in which the posterior is sampled; parameters are those of
        `whitening.coordinates`.
        """
        centre, precision = self.free.place, self.free.precision
        root, between, (soft, stiff) = root_of_inverse(precision), None, (1.0, 1.0)
        approximation = None
        if precondition == "dense":
            between = Affine(centre, root)
        elif precondition == "diag":
            between = Scaling(centre, 1 / np.sqrt(np.diag(precision)))
        if precondition != "dense":
            scale = np.ones(len(centre)) if between is None else np.asarray(between.scale)
            soft, stiff = eigenvalue_range(precision * np.outer(scale, scale))
            # of u, whose Gaussian no end cuts off
            place = centre if between is None else np.zeros(len(centre))
            approximation = Affine(place, root / scale[:, None])
        with one_blas_thread():
            inner = self.constraints.jacobian(centre) @ root
            return Coordinates(
                rotated=False,
                L=inner,
                origin=self.mode.theta,
                back=back,
                map=self.constraints if between is None else Composed(self.constraints, between),
                to_theta=back,
                theta_centre=np.zeros(len(centre)),
                white=back @ inner,
                max_precision=stiff,
                min_precision=soft,
                report=Report(log_params),
                approximation=approximation,
                heavy=self.light,
                light=self.light,
            )


def without_ends(priors, poles=True):
    """The table with priors that lead a search to where one with ends can begin: the same without
    them, or a normal law with about their mean and sd; for a horseshoe, without `poles`, one with
    its scale.
    """
    pairs = zip(priors.used, priors.bounded)
    used = [surrogate_prior(one) if ends else one for one, ends in pairs]
    for j in () if poles else priors.shrunk:
        used[j] = normal(0.0, used[j].scale)
    for one in priors.monotone:
        used = [share_of(one) if j in one.places else other for j, other in enumerate(used)]
    together = [one for one in priors.together if not isinstance(one, Monotone)]
    return replace(priors, used=used, together=together)


def surrogate_prior(one):
    """A prior without ends for one with them."""
    match one.family:
        case "uniform":
            return normal(0.5 * (one.low + one.high), (one.high - one.low) / np.sqrt(12))
        case "gamma":
            return normal(one.df * one.scale, np.sqrt(one.df) * one.scale)
        case "inverse_gamma":
            return normal(one.scale / (one.df + 1), one.scale)
        case "lognormal":
            return normal(one.scale, one.scale * max(one.df, 1.0))
    return replace(one, low=-np.inf, high=np.inf, half=False)


def between_ends(found: Searched, priors: PriorTable, rows: int) -> Between:
    """Return the posterior under priors with ends.

    Parameters
    ----------
    found : Searched
        With priors `without_ends`.
    priors : PriorTable
        With their ends.
    rows : int
        Of the table.
    """
    with one_blas_thread():
        places, cuts, effects, open_ = ends_of(priors, signs_lost(found, priors, rows))
        data, told = margins_told(found, priors, places, cuts)
        constraints, centre = free_map(data, told.mean, effects, places, alone_of(cuts, told))
        slopes = constraints.jacobian(centre)
        curved = slopes.T @ found.mode.precision @ slopes
        # of quantiles one, of shares at most one; sums have the data's, and their priors' there
        shares = [j for one in effects for j in one[1:]]
        curved[[*places, *shares], [*places, *shares]] += 1.0
        root = root_of_inverse(curved)
        map = Composed(constraints, Affine(centre, root))
        exact = exact_gradient(found.kernel, found.density_of(priors), map)
        top, warnings = laplace_approximation(exact, 0 * centre, NEAR_ENOUGH)
        back = np.linalg.inv(root)
        precision = np.eye(len(centre)) if top.precision is None else top.precision
        free = LaplaceApproximation(centre + root @ top.place, back.T @ precision @ back, top.whole)
        place, back = constraints(free.place), np.linalg.inv(constraints.jacobian(free.place))
        whole, likelihood = back.T @ free.precision @ back, found.mode.likelihood
    return Between(
        constraints,
        free,
        Mode(place, likelihood, whole - likelihood, top.whole and found.mode.whole),
        warnings + contradicted(priors, places, cuts, told) + open_,
        any(cut.tailed(h) for cut, h in zip(cuts, told.h)),
        bool(effects),
    )


def with_ends(found: RegressionMode, priors: PriorTable) -> RegressionMode:
    """Return what was found under priors `without_ends`, under those with them."""
    pairs = zip(priors.bounded, priors.used, found.priors.used)  # of horseshoes with their scales
    priors = replace(priors, used=[one if bounded else other for bounded, one, other in pairs])
    between = between_ends(found, priors, len(found.table.y))
    return replace(
        found,
        priors=priors,
        mode=between.mode,
        warnings=found.warnings + between.warnings,
        power=0.0,  # the map of the ends whitens logs of auxiliary parameters, too
        between=between,
    )


def signs_lost(found: Searched, priors: PriorTable, rows: int) -> list[tuple[float, Lost]]:
    """For each monotonic effect the sign with which less is lost, and the `Lost`."""
    lost, density = [], None
    for one in priors.monotone:
        of_gaussian = found.mode.precision, found.mode.theta, one.places
        sign, near, _ = increments_near(*of_gaussian)
        # few rows are no Gaussian: outcomes that its tails leave out may be as likely as others
        if few_lose(near, rows).beside < SURE_SIGN:
            density = density or exact_gradient(found.kernel, found.density_of(found.priors), None)
            sign, near = truly_lost(lambda theta: full(density, theta), *of_gaussian)
        lost.append((sign, near))
    return lost


def ends_of(priors, lost):
    """Places of parameters that are quantiles of free numbers; a `Cut` or a `Spike` for each; the
    places of each monotonic effect whose sign the data leave open, whose increments are made of
    their sum, while those of others have their end at zero; and what to warn of.

    Parameters
    ----------
    priors : PriorTable
    lost : list of (float, Lost)
        What `signs_lost` returns.
    """
    low, high = priors.bounds()
    places = list(priors.by_quantiles)
    cuts = [
        Spike(priors.used[j])
        if j in priors.shrunk
        else Cut(priors.used[j], priors.logged[j], low[j], high[j])
        for j in places
    ]
    effects, warnings = [], []
    for one, (sign, near) in zip(priors.monotone, lost):
        warnings += misfit(near, priors.names[one.places[0]])
        if near.beside < CLEAR_SIGN:
            effects.append(one.places)
            continue
        ends = (0.0, np.inf) if sign > 0 else (-np.inf, 0.0)
        places += list(one.places)
        cuts += [Cut(share_of(one), False, *ends)] * len(one.places)
    return np.array(places, dtype=int), cuts, effects, warnings


def margins_told(found, priors, places, cuts):
    """Precision (d, d) of the likelihood and of the priors without ends, as a Gaussian around the
    mode, and the `Propagated` of those with ends on it; increments keep their surrogates.
    """
    others = found.terms_of(flattened(found.priors, places))
    mode, (_, slope, _) = found.mode, found.terms(found.mode.theta)
    _, other_slope, other_precision = others(mode.theta)
    data = definite(mode.likelihood + other_precision)
    linear = data @ mode.theta + other_slope - slope
    linear[places] -= priors.logged[places]  # that Jacobian is the margins'
    stand_ins = np.diag(mode.prior - other_precision)[places]
    begin = (slope - other_slope + priors.logged)[places] + stand_ins * mode.theta[places]
    return data, propagate(data, linear, places, tilt_of(cuts), Sites(stand_ins, begin))


def alone_of(cuts, told):
    """The map of parameters by quantiles, None where there are none."""
    return alone_by_quantiles(cuts, told) if cuts else None


def definite(precision):
    """The precision of a Gaussian: where effects are integrated out, and a prior is taken off, it
    may have a direction without a mode, which is given a share of what its numbers have alone.
    """
    scale = np.sqrt(np.maximum(np.diag(precision), 1e-300))
    values, vectors = np.linalg.eigh(precision / np.outer(scale, scale))
    if values[0] > 0:
        return precision
    return (vectors * np.maximum(values, LEAST_CURVED)) @ vectors.T * np.outer(scale, scale)


def flattened(priors, places):
    """The table with flat priors at some places."""
    return replace(priors, used=[flat() if j in places else p for j, p in enumerate(priors.used)])


def tilt_of(cuts):
    """Means and variances of parameters, as `propagate` asks for them."""

    def tilt(place, h):
        return np.array([cut.moments(*one) for cut, *one in zip(cuts, place, h)]).T

    return tilt


def alone_by_quantiles(cuts, told):
    """The map from standard normal numbers to parameters with such margins, each by itself."""
    spikes = any(isinstance(cut, Spike) for cut in cuts)
    grid = FINE_GRID if spikes else GRID
    margins = [cut.margin(*one, grid) for cut, *one in zip(cuts, told.place, told.h)]
    blocks = [block_of(cut) for cut in cuts]
    values, log_slopes, bends = (np.array(part) for part in zip(*margins))
    return Composed(Constrained(blocks), Warp(len(cuts), grid, values, log_slopes, bends))


def block_of(cut):
    """The block of `Constrained`."""
    return ("free", 1, 0.0, 0.0) if isinstance(cut, Spike) else ("interval", 1, cut.low, cut.high)


def free_map(data, mean, effects, places, alone):
    """The map c, and where a search begins, (d,).

    By c parameters with ends are quantiles of their margins, so that the free numbers are about
    standard normal, increments are those of free numbers, and the others are what they are expected
    to be given these, plus their free numbers.

    Parameters
    ----------
    data : array (d, d)
        Precision of the likelihood and of the other priors.
    mean : array (d,)
    effects : list of array
        Places of the increments of monotonic effects.
    places : array (k,) of int
        Of parameters by quantiles.
    alone : Map or None
        Of these.
    """
    d, centre = len(mean), np.zeros(len(mean))
    bent = np.concatenate([places, *effects]).astype(int)
    rest, basis = np.setdiff1d(np.arange(d), bent), np.eye(d)
    if len(rest):
        of_bent = np.ix_(rest, bent)
        basis[of_bent] = -np.linalg.solve(data[np.ix_(rest, rest)], data[of_bent])
        centre[rest] = mean[rest] - basis[of_bent] @ mean[bent]
    map = Affine(np.zeros(d), basis)
    if alone is not None:
        map = Composed(map, PartialMap(d, places, alone))
    if effects:
        inner, at = monotone_map(effects), np.concatenate(effects)
        centre[at] = inner.inverse(
            np.concatenate([increments_near(data, mean, one)[-1] for one in effects])
        )
        map = Composed(map, PartialMap(d, at, inner))
    return map, centre


def contradicted(priors, places, cuts, told):
    """PriorWarnings, in a list, of ends that the data and the other priors speak against."""
    found = []
    for j, cut, place, h in zip(places, cuts, told.place, told.h):
        if j in priors.increments:  # which are warned of together
            continue
        below, above = (cut.low - place) / np.sqrt(h), (place - cut.high) / np.sqrt(h)
        if max(below, above) > CONTRADICTED:
            end = priors.used[j].bounds[int(above > below)]
            found.append(
                PriorWarning(
                    f"prior {priors.specified[j]}: the data put {priors.names[j]!r} "
                    f"{max(below, above):.2g} of its standard deviations beyond the end {end:.4g}.",
                    "Give another end, or a prior without ends.",
                )
            )
    return found


def refuse_beside_ends(priors, settings, table):
    """NotSupported for settings, and tables, that do not go with ends."""
    spec, d = settings.sampler, len(priors.names)
    if not len(priors.bent):
        return
    j = int([*np.flatnonzero(priors.bounded), *priors.shrunk][0])
    has = "has ends" if priors.bounded[j] else "is a horseshoe beside effects"
    what = f"prior {priors.specified[j]} of {priors.names[j]!r} {has}, which does not go with "
    instead = "use e.g. sgmc.normal(0, 2.5)"
    if j in priors.increments:
        what = f"the monotonic effect of {priors.names[j]!r} has one sign, which does not go with "
        instead = "give levels a coefficient each, by C()"
    constant = priors.bounded[priors.intercepts].any()
    for wrong, because, text in (
        (
            settings.robust,
            "mathematics",
            f"cov_type={settings.cov_type!r}: a sandwich is around a mode away from ends and "
            f"poles; {instead}, or take cov_type='nonrobust' where the family has it",
        ),
        (
            settings.modes == "search",
            "limit",
            "modes='search', which tells modes by Gaussians, of which ends and poles have none: "
            "leave modes='one'",
        ),
        (
            spec is not None and (spec.sticky or spec.continuous),
            "mathematics",
            f"sampler={spec and spec.name!r}, which moves along straight lines: use 'hmc', 'mala' "
            "or 'sgld'",
        ),
        (
            spec is not None and spec.needs_noise,
            "limit",
            f"sampler={spec and spec.name!r}, which needs the noise of single coordinates: use "
            "'hmc', 'mala' or 'sgld'",
        ),
        (d > MAX_CURVATURE_DIM, "limit", f"{d} parameters: at most {MAX_CURVATURE_DIM}"),
        (
            constant and np.any(table.shift),
            "limit",
            "a prepared table, whose columns are centred: use a prior of the intercept without "
            "ends",
        ),
    ):
        if wrong:
            raise NotSupported(what + text, because=because)


def bounds_intercept(prior, data):
    """Whether what the user wrote gives the intercept a prior with ends, so that columns are to be
    left where they are.
    """
    constants = {data.names[j] for j in data.intercepts}
    given = prior.items() if isinstance(prior, dict) else ()
    return any(key in constants and getattr(one, "bounded", False) for key, one in given)
