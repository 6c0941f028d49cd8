"""Priors as the user writes them.

With ``autoscale=True`` the scale is divided by the sd of the predictor where that is a number, and
left as it is for levels of factors and columns of 0 and 1 (Gelman, Jakulin, Pittau & Su 2008,
doi:10.1214/08-AOAS191); with normal outcomes it is multiplied by their sd.  The model's default is
``normal(0, 2.5, autoscale=True)`` for slopes and ``normal(0, 2.5)`` for the intercept at centred
predictors.
"""

from sgmc.priors.bounded import truncated, uniform  # noqa: F401
from sgmc.priors.coefficients import (  # noqa: F401
    cauchy,
    flat,
    horseshoe,
    laplace,
    normal,
    r2d2,
    ridge,
    student_t,
)
from sgmc.priors.joint import JointNormal, mvnormal  # noqa: F401
from sgmc.priors.names import (  # noqa: F401
    CENTRED_INTERCEPT,
    INTERCEPT,
    SLOPE,
    as_spec,
    learns,
)
from sgmc.priors.positive import (  # noqa: F401
    exponential,
    gamma,
    half_normal,
    half_t,
    inverse_gamma,
    lognormal,
)
from sgmc.priors.shares import dirichlet, lkj  # noqa: F401
from sgmc.priors.spec import PriorSpec  # noqa: F401
