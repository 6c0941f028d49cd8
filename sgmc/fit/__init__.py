"""From a problem to draws: settings, choice, plan, run.

What other rooms call is named here; the modules behind it are the room's own affair.
"""

from sgmc.fit.chains import CHUNK_SECONDS, POLL_SECONDS, build_chain
from sgmc.fit.choose import choose_sampler, plan_fit
from sgmc.fit.fitted import variance_of
from sgmc.fit.noise import noise_of, noise_of_plan, share_design_effect
from sgmc.fit.plan import make_plan
from sgmc.fit.run import fit, sample
from sgmc.fit.settings import check_init, check_settings, check_step
from sgmc.fit.stopping import ACCURACY_IS, error_bound, largest_time, looks, quantile
from sgmc.fit.tolerance import OVERHEAD

__all__ = [
    "CHUNK_SECONDS",
    "ACCURACY_IS",
    "OVERHEAD",
    "POLL_SECONDS",
    "build_chain",
    "check_init",
    "check_settings",
    "check_step",
    "choose_sampler",
    "error_bound",
    "fit",
    "largest_time",
    "looks",
    "make_plan",
    "noise_of",
    "noise_of_plan",
    "plan_fit",
    "quantile",
    "sample",
    "share_design_effect",
    "variance_of",
]
