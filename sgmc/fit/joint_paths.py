"""Hamiltonian paths of all parameters at once, of posteriors in coordinates that make these nearly
standard normal.
"""

import numpy as np

from sgmc import registry

ACCEPTED = 0.9  # of paths: a rotation more costs less than what is rejected
# paths between draws at most; numbers of the table in all gradients
MOST_PATHS, AFFORDABLE = 4, 1.2e10


def rotating_paths(walkers=1):
    """The specification of the sampler, with so many walkers a chain."""
    how = dict(walkers=walkers) if walkers > 1 else dict(rotations=2)
    return registry.room("samplers")["hmc"](target_accept=ACCEPTED, **how)


def paths_between_draws(settings, cells, gradients, most=MOST_PATHS):
    """Paths between draws, at most so many: these are nearly independent where so many paths, each
    of so many gradients, cost little.
    """
    work = gradients * settings.draws * settings.chains * cells
    return int(np.clip(AFFORDABLE // work, 1, most))
