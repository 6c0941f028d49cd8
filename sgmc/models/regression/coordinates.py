"""Which coordinates suit a regression: whitened, walled, shrunk, dispersed or those of the
sandwich.
"""

from dataclasses import replace

import numpy as np

from sgmc.coordinates.priors.densities import LONGEST_PULLED, Pulled, Quadratic
from sgmc.coordinates.shapes.dispersion import dispersed_coordinates
from sgmc.coordinates.shapes.separation_transform import separation_coordinates
from sgmc.coordinates.shapes.shrinkage import shrunk_coordinates
from sgmc.coordinates.transforms.maps import Affine, Scaling
from sgmc.coordinates.whitened.free import root_of_inverse
from sgmc.coordinates.whitened.report import Report
from sgmc.coordinates.whitened.sandwich import sandwich_coordinates
from sgmc.coordinates.whitened.score_covariance import covariance_of_scores
from sgmc.coordinates.whitened.whitening import Coordinates, coordinates, undo_centring
from sgmc.core.system.blas import one_blas_thread
from sgmc.errors import NotSupported
from sgmc.fit.problem import ANY_MAP


def chosen_coordinates(found, precondition, rotated, walls, settings, groups=None):
    """The coordinates that suit posterior and sampler.

    Parameters
    ----------
    found : RegressionMode
    precondition : {"dense", "diag", None}
    rotated : bool
        Whether the table will be rotated.
    walls : list of Wall
    settings : Settings
    groups : array (n,), optional
        The cluster of each row of the table.
    """
    mode, priors, sampler = found.mode, found.priors, settings.sampler
    back = undo_centring(found.model.dim, priors.shifts(found.table.shift), priors.intercepts)
    warped = precondition == "dense" and (
        sampler is None or sampler.uses_gradient and not sampler.continuous
    )
    if found.between is not None:
        where = found.between.coordinates(back, precondition, priors.auxiliary)
    elif settings.robust:
        refuse_poles(priors, settings.cov_type, found.table.working is None)
        rest = mode.theta, found.table.weight, len(priors.names) - priors.auxiliary
        V = covariance_of_scores(settings.cov_type, found.model, *rest, groups)
        where = sandwich_coordinates(mode, back, V, rotated, priors.auxiliary)
    elif found.cavities and warped:
        where = shrunk_coordinates(
            mode, back, found.cavities, priors.shrunk, rotated, priors.auxiliary, walls
        )
    elif walls and warped:
        where = separation_coordinates(
            mode,
            back,
            walls,
            found.terms(mode.theta)[1],
            priors.used,
            priors.intercepts[0] if priors.intercepts else 0,  # or any: other values are 0
            rotated,
            found.likelihood.family,
        )
    elif found.power and precondition == "dense":
        where = dispersed_coordinates(mode, back, priors.auxiliary, found.power)
    else:
        one = len(priors.names) - priors.auxiliary == found.table.X.shape[1]  # equation
        tips = getattr(found.table.X, "tips", ()) if one else ()
        where = coordinates(mode, back, precondition, rotated, priors.auxiliary, tips)
    if sampler is not None and sampler.sticky:
        where = about_zero(where, mode)
    if (
        found.model.width > 1
        and settings.precondition == "mode"
        and found.between is None
        and sampler is not None
        and sampler.refusal(where.map)
    ):
        where = coordinates(
            mode, back, None if sampler.refusal(ANY_MAP) else "diag", False, priors.auxiliary
        )
    return where


def about_zero(where, mode):
    """Coordinates by scales alone in which zero is zero, as coefficients that are kept there need
    it.
    """
    if where.map is None:
        return where
    scale = 1 / np.sqrt(np.diag(mode.precision))
    return replace(where, map=Scaling(np.zeros(len(scale)), scale))


def triangular_coordinates(mode, back, log_params=0):
    """Coordinates by the triangular root of the covariance at the mode: at a tenth of the cost of
    eigenvectors, and without the prior's share of each direction.

    Parameters are those of `whitening.coordinates`.
    """
    L = root_of_inverse(mode.precision)
    with one_blas_thread():
        white = back @ L
    return Coordinates(
        rotated=False,
        L=L,
        origin=mode.theta,
        back=back,
        map=Affine(mode.theta, L),
        to_theta=back,
        theta_centre=np.zeros(len(mode.theta)),
        white=white,
        max_precision=1.0,
        min_precision=1.0,
        report=Report(log_params),
    )


def refuse_poles(priors, cov_type, choice=True):
    """NotSupported where the sandwich is asked for under a horseshoe; `choice` says whether there
    is another covariance to take.
    """
    if len(priors.shrunk):
        other = ", or cov_type='nonrobust'" if choice else ", such as sgmc.normal(0, 2.5)"
        raise NotSupported(
            f"cov_type={cov_type!r} under a horseshoe prior, whose posterior has no Gaussian to "
            f"give a covariance to; use another prior{other}",
            because="mathematics",
        )


def preconditioner(d, settings):
    """ "dense", "diag" or None from ``precondition=``, for d parameters; "mode" is dense where d^3
    work and d^2 memory allow.
    """
    wide = d > LONGEST_PULLED
    if settings.robust and wide:
        raise NotSupported(
            f"cov_type={settings.cov_type!r} with {d} parameters: at most {LONGEST_PULLED}; leave "
            "cov_type='nonrobust'",
            because="limit",
        )
    if settings.sampler is not None and settings.sampler.sticky:
        if settings.precondition == "dense":
            raise NotSupported(
                f"precondition='dense' with {settings.sampler.name}: mixtures of coefficients "
                "do not stay at zero; use 'diag', or None",
                because="mathematics",
            )
        return "diag" if settings.precondition == "mode" else settings.precondition
    if settings.precondition == "mode":
        return "diag" if wide else "dense"
    if settings.precondition == "dense" and wide:
        raise NotSupported(
            f"precondition='dense' with {d} parameters: at most {LONGEST_PULLED}; use 'diag'",
            because="limit",
        )
    return settings.precondition


def rotated_prior(prior, diagonal, terms, where):
    """The prior as a function of y: phi = origin + L y.

    Gaussian ones are diagonal there if L whitens at the mode.
    """
    L = where.L
    if not diagonal:
        return Pulled(prior, Affine(where.origin, L))
    _, gradient, precision = terms(where.origin)
    return Quadratic(np.einsum("jk,jl,lk->k", L, precision, L, optimize=True), -L.T @ gradient)
