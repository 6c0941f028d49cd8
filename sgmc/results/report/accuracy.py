"""How far the numbers of the table are from the posterior's: by the scores at the draws,
without a second run.
"""

import numpy as np
import pandas as pd

from sgmc.diagnostics.chains.moments import Quantiles
from sgmc.diagnostics.chains.tails import WITHIN_ONE_SD, far_out, tail_index
from sgmc.diagnostics.chains.visits import SHARES
from sgmc.results.checks.scores.edges import LOOKED_BEYOND
from sgmc.results.checks.scores.laplace import from_laplace
from sgmc.results.checks.scores.printed import HALF_WIDTH, KINDS, LOOKED_AT, printed_errors

# by which errors of an sd outgrow their own estimates where a tail is longer than its draws show:
# both are too small where it is short of draws.  Of 1,000 or 4,000 draws of t laws with 3 to 8
# degrees of freedom, log-normals and inverse gammas 99 % of the errors are below 5 estimates, 2.5
# times this
UNSEEN_TAIL = 2.0
LONG_TAIL = 0.2  # tail index: of draws of exponential laws it is found below
EIGHT_MOMENTS = 0.125  # tail index up to which errors of an sd are told as by their estimates
AS_LONG = 0.1  # difference of two indices, which is their error


def quantiles_of(theta, weights):
    """All `Quantiles` of printed draws that checks look at."""
    return Quantiles(theta, (*LOOKED_AT, *SHARES, *WITHIN_ONE_SD), weights)


def accuracy(fit, theta, names, some, quantiles):
    """Errors of what is printed of some parameters; see `Results.accuracy`.

    Parameters
    ----------
    fit : Fit
    theta : array (chain, draw, p)
        Draws as they are printed.
    names : list of str, (p,)
    some : Scored or None
        Draws with scores; None where they cannot be had.
    quantiles : Quantiles
        Of the draws.
    """
    shift, spread = from_laplace(fit)
    beside = pd.DataFrame(
        {"laplace_shift": shift, "laplace_sd": spread - 1}, index=list(fit.problem.free_names)
    )
    table = printed_errors(fit, theta, names, some, quantiles).join(
        beside[~beside.index.duplicated()], how="left"
    )
    signs = fit.problem.signs
    # draws of steps without accept-reject have no other measure
    untold = signs.untold(fit.x) if fit.plan.spec.exact else signs.names
    table.loc[table.index.isin(untold), "departure"] = np.inf
    by_slopes = table.pop("edge_index").to_numpy()
    # a bound that is known is in the place of an estimate beyond it: what exists is printed
    shape = fit.problem.shape
    bounds = shape.tail_bounds(names)
    settled = np.array([name in shape.settled for name in names], dtype=bool)
    by_draws = np.zeros(len(names))
    asked = ~(settled & (bounds == 0) & np.isnan(by_slopes))  # of others it is known to be zero
    by_draws[asked] = tail_index(theta[..., asked], fit.weights, quantiles.of(asked))
    estimated = np.fmin(np.fmax(by_draws, by_slopes), bounds)
    estimated = np.where(shape.without_sd(names), bounds, estimated)
    table["tail_index"] = np.fmax(estimated, shape.tail_index)
    unseen = (by_slopes > LONG_TAIL) & ~(by_draws > by_slopes - AS_LONG)
    unknown = np.isnan(by_slopes) & ~(by_draws > LONG_TAIL)
    # independent draws have no scores; of sds that rows settle the tail is known without them
    unknown &= ~(settled & (bounds <= EIGHT_MOMENTS))
    if unknown.any():
        some = far_out(theta[..., unknown], LOOKED_BEYOND, quantiles.of(unknown))
        unknown[unknown] = some
    table[["mcse_sd_error", "mcse_sd"]] *= np.where(unseen | unknown, UNSEEN_TAIL, 1.0)[:, None]
    if not fit.settings.robust:
        return table
    wide, off = table.laplace_sd, table.laplace_shift  # the draws' law is a Gaussian that is known
    return table.assign(
        mean_error=off,
        sd_error=wide,
        low_error=off / HALF_WIDTH - wide,
        high_error=off / HALF_WIDTH + wide,
        **{f"mcse_{kind}_error": 0.0 for kind in KINDS},
        departure=0.0,
    )
