"""The sandwich: the covariance of coefficients that holds where the model is wrong about the spread
of the outcomes.

With H the posterior's precision at the mode, J and P its likelihood's and its prior's part, and V
the covariance of the likelihood's score, sum_i s_i s_i' over the rows, the error of the mode has
covariance

    Sigma = H^-1 (V + P) H^-1.

V = J where the model is right, and Sigma is then the posterior's H^-1; with many rows P vanishes,
and Sigma is the sandwich J^-1 V J^-1 of Huber (1967) and White (1982), HC0.  (The mode is H^-1 (J
mle + P location); the mle's error has covariance J^-1 V J^-1, the prior's P^-1.)

Chains reach Sigma by themselves.  A step theta + A ghat with a matrix A, E ghat = -H (theta - mode)
and noise covariance C keeps Sigma where

    A H Sigma + Sigma H A' = A M A',  M = C + H Sigma H;

the solutions are A = Sigma H M^-1/2 (I + Q) M^-1/2 with Q orthogonal (complete the square).  With
Q = I it is
A = 2 Sigma H (C + H Sigma H)^-1, stable for every C > 0, as the eigenvalues of A H are then between
0 and 2.  (The step of Wang, Ding & Huggins, with Sigma H + H Sigma in the place of 2 Sigma H, keeps
Sigma only where these commute.)  H Sigma H is V + P, so that for noise C = (4/h - 1)(V + P) in all
it is A = h/2 H^-1: the whitened Langevin step, with the scores' covariance in the place of the
curvature in its noise.  In coordinates x with theta = mode + L x, L L' = Sigma and L' H L =
diag(mu) that is

    x_j + h/2 (1/mu_j) g_j + sqrt(h) xi_j,

the step of any sampler without accept-reject, on a gradient that is -x at the mode: steps, batches
and warnings are derived as for a posterior.  mu_j is the sandwich's variance over the model's in
direction j.  The plain minibatch noise of simple samples is isotropic there, N/n - 1 in each x_j,
so that `sgd` with gradient "simple", subsample "uniform" and h = 4 n/N needs no other noise at all
(cf. Mandt, Hoffman & Blei 2017, section 3; blocks of rows have another covariance).

All this is of second order at the mode, as the sandwich itself.  Skewness moves the mean of the
draws as it does that of a posterior as wide as they are.
"""

import numpy as np

from sgmc import registry
from sgmc.coordinates.transforms.maps import Affine, Scaling, Tempered
from sgmc.coordinates.whitened.report import Report
from sgmc.coordinates.whitened.whitening import Coordinates, joint_axes
from sgmc.core.contract import Prior
from sgmc.core.expansion import row_noise
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.storage import made
from sgmc.errors import DataError, NotSupported
from sgmc.subsampling.uniform import FullBatch

FLATTEST = 1e-6  # variance over the model's below which the residuals say nothing of a direction


def score_covariance(model, theta, weight=None):
    """V at theta: sum_i w_i s_i s_i' - (sum_i w_i s_i)(sum_i w_i s_i)' / W, s_i the score of a row
    and W the sum of the weights.

    Frequency weights w_i stand for so many equal rows; trials do not: s_i is of all the trials of a
    row.

    Parameters
    ----------
    model : Model
        Its scores are w_i s_i.
    theta : array (dim,)
    weight : array (n,), optional
    """

    def inverse(rows):
        w = weight[rows]
        return np.divide(1.0, w, out=np.zeros(len(w)), where=w > 0)

    once = None if weight is None else made(model.n, weight, inverse)
    total, spread = score_moments(model, theta, once)
    rows = model.n if weight is None else weight.sum()
    return spread / model.n + np.outer(total, total) * (1 / model.n - 1 / rows)


def score_moments(model, theta, times=None):
    """Sum of the rows' scores z_i, and n sum_i times_i z_i z_i' less its square; `times` are one
    where they are not given.
    """
    simple = registry.lookup("gradients", "simple", "gradient")
    gradient = simple(
        model, Prior(model.dim), FullBatch(model.n), Rng(seed_sequence(0, "pilot", 1))
    )
    return row_noise(gradient, theta, weight=times)


def sandwich_coordinates(mode, back, V, rotate, log_params=0):
    """Coordinates in which the sandwich is the identity and the posterior's precision diagonal;
    see above.

    Parameters
    ----------
    mode : Mode
        In phi.
    back : array (d, d)
        T, from phi to theta.
    V : array (d, d)
        Covariance of the likelihood's score.
    rotate : bool
        Whether the table will be rotated.
    log_params : int
        How many of the last theta are logs.

    Raises
    ------
    DataError
        Where the residuals say nothing of some direction, as when every row has a coefficient of
        its own.
    """
    d, scale = len(mode.theta), 1 / np.sqrt(np.diag(mode.precision))
    unit = np.outer(scale, scale)
    with one_blas_thread():
        mu, vectors = joint_axes((V + mode.prior) * unit, mode.precision, scale)
    if mu[0] < FLATTEST:
        raise DataError(
            f"the sandwich: the residuals leave no variance in {(mu < FLATTEST).sum()} of {d} "
            "directions of the parameters, as where rows, or clusters, have coefficients of "
            "their own.  Drop these, or leave cov_type='nonrobust'; of a factor equal to the "
            "clusters, take the mean of each cluster off the outcome and the predictors, and fit "
            "these with '- 1'"
        )
    L = scale[:, None] * vectors * np.sqrt(mu)
    common = dict(
        L=L,
        origin=mode.theta,
        back=back,
        white=back @ L,
        max_precision=1.0,
        min_precision=1.0,
        report=Report(log_params),
    )
    if rotate:
        return Coordinates(
            rotated=True,
            map=Tempered(Scaling(np.zeros(d), np.ones(d)), 1 / mu),
            to_theta=back @ L,
            theta_centre=back @ mode.theta,
            **common,
        )
    return Coordinates(
        rotated=False,
        map=Tempered(Affine(mode.theta, L), 1 / mu),
        to_theta=back,
        theta_centre=np.zeros(d),
        **common,
    )


def refuse(spec, precondition, cov_type="robust"):
    """NotSupported for what cannot lead to the sandwich; `spec` is None for ``sampler="auto"``."""
    if precondition not in ("mode", "dense"):
        raise NotSupported(
            f"cov_type={cov_type!r} with precondition={precondition!r}: the sandwich needs the "
            "full matrices at the mode; leave precondition='mode'",
            because="limit",
        )
    if spec is None:
        return
    if spec.exact:
        raise NotSupported(
            f"cov_type={cov_type!r} with sampler={spec.name!r}: its accept-reject step leads to "
            "the posterior, whose density the sandwich has not; use sampler='auto' or 'lmsgld'",
            because="mathematics",
        )
    if spec.continuous:
        raise NotSupported(
            f"cov_type={cov_type!r} with sampler={spec.name!r}: the rates of its events lead to "
            "the posterior, whose density the sandwich has not; use sampler='auto' or 'lmsgld'",
            because="mathematics",
        )
    if spec.own_units:
        raise NotSupported(
            f"cov_type={cov_type!r} with sampler={spec.name!r}: its metric is the model's own "
            "information; use sampler='auto' or 'lmsgld'",
            because="mathematics",
        )
