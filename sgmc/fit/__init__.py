"""From a problem to draws: settings, pilot, plan, chains.

What other rooms call is named here; the modules behind it are the room's own affair.
"""

from sgmc.fit.noise import share_design_effect
from sgmc.fit.plan import OVERHEAD
from sgmc.fit.run.chains import CHUNK_SECONDS, POLL_SECONDS
from sgmc.fit.sampling import build_chain, check_init, decide, fit, planned
from sgmc.fit.settings import entropy

__all__ = [
    "CHUNK_SECONDS",
    "OVERHEAD",
    "POLL_SECONDS",
    "build_chain",
    "check_init",
    "decide",
    "entropy",
    "fit",
    "planned",
    "share_design_effect",
]
