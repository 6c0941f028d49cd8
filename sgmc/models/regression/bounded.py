"""Coefficients whose priors have ends: the mode, and the coordinates, of free numbers.

Parameters phi of the table's columns are c(u): u itself where there is no end, and elsewhere a
quantile map of u to the log of the distance from the only end, or to the logit of the place between
two, which makes u about standard normal.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from sgmc.coordinates.composed import Composed
from sgmc.coordinates.constraints import Constrained
from sgmc.coordinates.cut import Cut, straight
from sgmc.coordinates.free import root_of_inverse
from sgmc.coordinates.maps import Affine, Scaling, Warp
from sgmc.coordinates.mode import Mode, PriorTerms
from sgmc.coordinates.peak import MAX_CURVATURE_DIM, Peak, exact_gradient, peak
from sgmc.coordinates.propagation import Sites, propagate
from sgmc.coordinates.walls import GRID
from sgmc.coordinates.whitening import Coordinates, eigenvalue_range
from sgmc.core.blas import one_blas_thread
from sgmc.errors import ArgumentError, NotSupported
from sgmc.models.regression.search import Found
from sgmc.priors import flat, normal

NEAR_ENOUGH = 0.02  # sds from the mode; where maps are interpolated no search gets much nearer


@dataclass(frozen=True)
class Bounded(Found):
    """See `Found`; `mode` is the peak of u's density, as phi.

    Attributes
    ----------
    link : Composed
        c.
    free : Peak
        Of u.
    """

    link: Composed = None
    free: Peak = None

    def trouble(self, data, family):
        """See `Found`: coordinates know ends, and no walls beside them."""
        return [], super().trouble(data, family)[1]

    def where(self, back, precondition):
        """See `chosen_coordinates`."""
        centre, precision = self.free.place, self.free.precision
        root, between, (soft, stiff) = root_of_inverse(precision), None, (1.0, 1.0)
        if precondition == "dense":
            between = Affine(centre, root)
        elif precondition == "diag":
            between = Scaling(centre, 1 / np.sqrt(np.diag(precision)))
        if precondition != "dense":
            scale = np.ones(len(centre)) if between is None else np.asarray(between.scale)
            soft, stiff = eigenvalue_range(precision * np.outer(scale, scale))
        with one_blas_thread():
            inner = self.link.jacobian(centre) @ root
            return BoundedCoordinates(
                rotated=False,
                L=inner,
                origin=self.mode.theta,
                back=back,
                map=self.link if between is None else Composed(self.link, between),
                to_theta=back,
                theta_centre=np.zeros(len(centre)),
                white=back @ inner,
                max_precision=stiff,
                min_precision=soft,
                logs=self.priors.auxiliary,
                root=root,
                centre=centre,
                between=between,
            )


@dataclass(frozen=True)
class BoundedCoordinates(Coordinates):
    """See `Coordinates`.

    Attributes
    ----------
    root : array (d, d)
        u's covariance is approximately root root'.
    centre : array (d,)
        Of u.
    between : Affine, Scaling or None
        From x to u.
    """

    root: np.ndarray = None
    centre: np.ndarray = None
    between: object = None

    def from_white(self, z):
        """See `Coordinates`: a draw of u's approximation, which no end cuts off."""
        if self.whitened:
            return z
        u = self.centre + self.root @ z
        return u if self.between is None else self.between.inverse(u)

    def from_reported(self, values):
        """See `Coordinates`."""
        try:
            return super().from_reported(values)
        except ValueError:
            raise ArgumentError(
                "init: a parameter is not between the ends of its prior; start inside"
            ) from None


def without_ends(priors):
    """The table with priors that lead a search to where one with ends can begin: the same without
    them, or a normal law with about their mean and sd.
    """
    return replace(
        priors,
        used=[
            stand_in(one) if bounded else one for one, bounded in zip(priors.used, priors.bounded)
        ],
    )


def stand_in(one):
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


def between_ends(found, priors):
    """The `Bounded` of a table.

    Parameters
    ----------
    found : Found
        With priors `without_ends`.
    priors : PriorTable
        With their ends.
    """
    places, centre, link = quantile_link(found, priors)
    with one_blas_thread():
        slopes = link.jacobian(centre)
        curved = slopes.T @ found.mode.precision @ slopes
        curved[places, places] += 1.0
        root = root_of_inverse(curved)
        asked = replace(found, priors=priors)
        gradient = exact_gradient(
            found.model, asked.density(), Composed(link, Affine(centre, root))
        )
        top, concerns = peak(gradient, 0 * centre, NEAR_ENOUGH)
        back = np.linalg.inv(root)
        precision = np.eye(len(centre)) if top.precision is None else top.precision
        free = Peak(centre + root @ top.place, back.T @ precision @ back, top.whole)
        place, back = link(free.place), np.linalg.inv(link.jacobian(free.place))
        whole, likelihood = back.T @ free.precision @ back, found.mode.likelihood
    known = {one.name: getattr(found, one.name) for one in fields(Found)}
    known |= dict(
        priors=priors,
        mode=Mode(place, likelihood, whole - likelihood, top.whole and found.mode.whole),
        concerns=found.concerns + concerns,
        power=0.0,
    )
    return Bounded(**known, link=link, free=free)


def quantile_link(found, priors):
    """Places of the parameters with ends, where a search begins (d,), and the map c, by which the
    others are what they are expected to be given these, and each of these is about standard
    normal.  Expectation propagation on the Gaussian around the mode without ends tells
    their margins.
    """
    low, high = priors.ends()
    places = np.flatnonzero(priors.bounded)
    cuts = [Cut(priors.used[j], priors.logged[j], low[j], high[j]) for j in places]
    used = list(found.priors.used)
    for j in places:
        used[j] = flat()
    rest = PriorTerms(replace(found.priors, used=used), found.shift)
    mode, (_, slope, _) = found.mode, found.terms(found.mode.theta)
    _, own, curved = rest(mode.theta)
    stand_ins = np.diag(mode.prior - curved)[places]
    with one_blas_thread():
        likelihood = mode.likelihood + curved
        linear = likelihood @ mode.theta + own - slope
        linear[places] -= priors.logged[places]  # that Jacobian is the margins'
        site = (slope - own + priors.logged)[places] + stand_ins * mode.theta[places]

        def tilt(place, h):
            return np.array([cut.moments(*one) for cut, *one in zip(cuts, place, h)]).T

        told = propagate(likelihood, linear, places, tilt, Sites(stand_ins, site))
    margins = [straight()] * (places[-1] + 1)
    for j, cut, place, h in zip(places, cuts, told.place, told.h):
        margins[j] = cut.margin(place, h)
    blocks = [("free", 1, 0.0, 0.0)] * len(told.mean)
    for j in places:
        blocks[j] = ("interval", 1, low[j], high[j])
    own = Composed(Constrained(blocks), Warp(len(blocks), GRID, *map_of(margins)))
    basis = given_the_others(likelihood, places)
    rest = np.setdiff1d(np.arange(len(blocks)), places)
    centre = np.zeros(len(blocks))
    centre[rest] = told.mean[rest] - basis[np.ix_(rest, places)] @ told.mean[places]
    return places, centre, Composed(Affine(np.zeros(len(blocks)), basis), own)


def given_the_others(precision, places):
    """B (d, d): what parameters are expected to be for those at `places`, and themselves for these,
    under a Gaussian.
    """
    basis = np.eye(len(precision))
    rest = np.setdiff1d(np.arange(len(precision)), places)
    if len(rest):
        basis[np.ix_(rest, places)] = -np.linalg.solve(
            precision[np.ix_(rest, rest)], precision[np.ix_(rest, places)]
        )
    return basis


def map_of(margins):
    """What `Warp` is made of."""
    return (np.array(part) for part in zip(*margins))


def refuse_beside_ends(priors, settings, table):
    """NotSupported for settings, and tables, that do not go with ends."""
    spec, d = settings.sampler, len(priors.names)
    j = int(np.flatnonzero(priors.bounded)[0])
    what = f"prior {priors.specified[j]} of {priors.names[j]!r} has ends, which does not go with "
    constant = priors.bounded[priors.intercepts].any()
    for wrong, text in (
        (
            settings.robust,
            f"cov_type={settings.cov_type!r}: a sandwich is around a mode away from them; leave "
            "cov_type='nonrobust', or use a prior without ends",
        ),
        (settings.modes == "search", "modes='search': leave modes='one'"),
        (
            spec is not None and (spec.sticky or spec.continuous),
            f"sampler={spec and spec.name!r}, which moves along straight lines: use 'hmc', 'mala' "
            "or 'sgld'",
        ),
        (
            spec is not None and spec.needs_noise,
            f"sampler={spec and spec.name!r}, which needs the noise of single coordinates: use "
            "'hmc', 'mala' or 'sgld'",
        ),
        (d > MAX_CURVATURE_DIM, f"{d} parameters: at most {MAX_CURVATURE_DIM}"),
        (
            constant and np.any(table.shift),
            "a prepared table, whose columns are centred: use a prior of the intercept without "
            "ends",
        ),
    ):
        if wrong:
            raise NotSupported(what + text)


def bounds_intercept(prior, data):
    """Whether what the user wrote gives the intercept a prior with ends, so that columns are to be
    left where they are.
    """
    constants = {data.names[j] for j in data.intercepts}
    given = prior.items() if isinstance(prior, dict) else ()
    return any(key in constants and getattr(one, "bounded", False) for key, one in given)
