"""Maximum likelihood by gpboost (Laplace), with a normal law at the coefficients' estimate."""

import gpboost
import numpy as np
from problem import Answer

from contestants import NotExpressible

PACKAGES, KIND, LABEL = ["gpboost"], "floor", "gpboost"
LENGTHS = [0]
FAMILIES = {"logit": "bernoulli_logit", "poisson": "poisson", "ols": "gaussian"}


def prepare(problem):
    """Models with group terms."""
    if not problem.groups or problem.family not in FAMILIES:
        raise NotExpressible("models with group terms alone are given to it")
    columns = np.column_stack([problem.codes(g)[0] for g, _ in problem.groups])
    varying = [(k + 1, s) for k, (_, slopes) in enumerate(problem.groups) for s in slopes]
    also = {}
    if varying:
        also["group_rand_coef_data"] = problem.frame[[s for _, s in varying]].to_numpy(float)
        also["ind_effect_group_rand_coef"] = [k for k, _ in varying]

    def run(length, seed):
        model = gpboost.GPModel(
            group_data=columns, likelihood=FAMILIES[problem.family], num_parallel_threads=1, **also
        )
        model.fit(y=problem.y, X=problem.X)
        table = np.asarray(model.get_coef(std_err=True), float)
        note = "slopes uncorrelated with intercepts" if varying else ""
        return Answer(problem.coefficients, table[0], table[1], note=note)

    return run
