"""PyMC's own NUTS, one chain, its default of 1,000 tuning steps; it compiles in each call."""

import logging

import pymc as pm
from problem import answer_of_draws

from contestants import pymc_model
from contestants.named import columns

PACKAGES, KIND, LABEL = ["pymc"], "posterior", "PyMC NUTS"
LENGTHS = [500 * 2**k for k in range(8)]


def prepare(problem):
    """The model."""
    logging.getLogger("pymc").setLevel(logging.ERROR)
    model = pymc_model.build(problem)

    def run(length, seed):
        trace = pm.sample(
            length, tune=1000, chains=1, cores=1, model=model, random_seed=seed,
            progressbar=False, compute_convergence_checks=False,
        )  # fmt: skip
        return answer_of_draws(problem, columns(problem, pymc_model.draws_of(trace)))

    return run
