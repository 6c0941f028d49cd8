"""sgmc with an exact sampler by name."""

from contestants import sgmc_default

PACKAGES, KIND, LABEL = ["sgmc"], "posterior", "sgmc, exact sampler"
LENGTHS = sgmc_default.LENGTHS


def prepare(problem):
    """mala, with crossed factors hmc, and of densities of one's own nuts."""
    usual = "hmc" if len(problem.groups) > 1 else "mala"
    return sgmc_default.prepare(problem, "nuts" if problem.kind == "density" else usual)
