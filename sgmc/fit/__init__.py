"""From a problem to draws: settings, pilot, plan, chains.

What other rooms call is named here; the modules behind it are the room's own affair.
"""

from sgmc.fit.decision import check_init, decide, planned
from sgmc.fit.noise import share_design_effect
from sgmc.fit.plan import OVERHEAD
from sgmc.fit.run.chains import CHUNK_SECONDS, POLL_SECONDS
from sgmc.fit.sampling import build_chain, fit
from sgmc.fit.settings import check_settings, check_step

__all__ = [
    "CHUNK_SECONDS",
    "OVERHEAD",
    "POLL_SECONDS",
    "build_chain",
    "check_init",
    "check_settings",
    "check_step",
    "decide",
    "fit",
    "planned",
    "share_design_effect",
]
