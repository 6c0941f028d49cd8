"""The log density of one prior at many numbers."""

import numpy as np


def prior_curve(prior, b):
    """The log density of a prior, up to a constant and without its ends, and its derivative.

    Parameters
    ----------
    prior : PriorSpec
        A horseshoe counts as normal: its pole is no matter of ends and walls.
    b : array
    """
    e, nu = (b - prior.location) / prior.scale, prior.df
    match prior.family:
        case "student_t":
            value, slope = -0.5 * (nu + 1) * np.log1p(e**2 / nu), -(nu + 1) * e / (nu + e**2)
        case "laplace":
            value, slope = -np.abs(e), -np.sign(e)
        case "gamma":
            value, slope = (nu - 1) * np.log(e) - e, (nu - 1) / e - 1
        case "inverse_gamma":
            value, slope = -(nu + 1) * np.log(e) - 1 / e, (1 / e - nu - 1) / e
        case "lognormal":
            log_e = np.log(e) / nu
            value, slope = -0.5 * log_e**2 - np.log(e), -(log_e / nu + 1) / e
        case "flat" | "uniform":
            value, slope = np.zeros_like(e), np.zeros_like(e)
        case _:
            value, slope = -0.5 * e**2, -e
    return value, slope / prior.scale
