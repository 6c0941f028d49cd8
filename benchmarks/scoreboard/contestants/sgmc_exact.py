"""sgmc with an exact sampler by name."""

from contestants import sgmc_default

PACKAGES, KIND, LABEL = ["sgmc"], "posterior", "sgmc, exact sampler"
LENGTHS = sgmc_default.LENGTHS


def prepare(problem):
    """mala, or with crossed factors hmc."""
    return sgmc_default.prepare(problem, "hmc" if len(problem.groups) > 1 else "mala")
