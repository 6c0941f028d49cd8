"""nutpie on the PyMC model, compiled by numba, one chain, its default tuning."""

import nutpie
from problem import answer_of_draws

from contestants import pymc_model
from contestants.named import columns

PACKAGES, KIND, LABEL = ["nutpie", "pymc", "numba"], "posterior", "nutpie"
LENGTHS = [500 * 2**k for k in range(8)]


def prepare(problem):
    """Compile the model."""
    compiled = nutpie.compile_pymc_model(pymc_model.build(problem), backend="numba")

    def run(length, seed):
        trace = nutpie.sample(
            compiled, draws=length, chains=1, cores=1, seed=seed, progress_bar=False
        )
        return answer_of_draws(problem, columns(problem, pymc_model.draws_of(trace)))

    return run
