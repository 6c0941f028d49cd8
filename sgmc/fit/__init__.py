"""From a problem to draws: settings, pilot, plan, chains.

What other rooms call is named here; the modules behind it are the room's own affair.
"""

from sgmc.fit.decision import check_init, decide, planned
from sgmc.fit.fitted import variance_of
from sgmc.fit.noise import noise_of, noise_of_plan, share_design_effect
from sgmc.fit.run.chains import CHUNK_SECONDS, POLL_SECONDS
from sgmc.fit.sampling import build_chain, fit, prepared, sample
from sgmc.fit.settings import check_settings, check_step
from sgmc.fit.spacing import steps
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
    "decide",
    "error_bound",
    "fit",
    "largest_time",
    "looks",
    "noise_of",
    "noise_of_plan",
    "planned",
    "prepared",
    "quantile",
    "sample",
    "share_design_effect",
    "steps",
    "variance_of",
]
