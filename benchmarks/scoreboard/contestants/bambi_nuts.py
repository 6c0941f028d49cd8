"""bambi: PyMC's NUTS by a formula, one chain, 1,000 tuning steps; centred effects of groups, as all
have them.
"""

import logging

import bambi
import numpy as np
from problem import answer_of_draws

from contestants import NotExpressible

PACKAGES, KIND, LABEL = ["bambi", "pymc"], "posterior", "bambi"
LENGTHS = [500 * 2**k for k in range(8)]
FAMILIES = {"logit": "bernoulli", "poisson": "poisson", "ols": "gaussian", "studentt": "t"}


def priors(problem):
    """Those of the task."""
    scale = problem.prior
    normal = bambi.Prior("Normal", mu=0, sigma=scale["coef"])
    found = dict.fromkeys(["Intercept", *problem.factors, *problem.numbers], normal)
    spread = bambi.Prior("HalfNormal", sigma=scale["sd"])
    found |= {f"1|{g}": bambi.Prior("Normal", mu=0, sigma=spread) for g, _ in problem.groups}
    if problem.family in ("ols", "studentt"):
        found["sigma"] = bambi.Prior("HalfNormal", sigma=scale["sigma"])
    if problem.family == "studentt":
        found["nu"] = bambi.Prior("Gamma", alpha=2, beta=0.1)
    return found


def prepare(problem):
    """The model."""
    if problem.family not in FAMILIES:
        raise NotExpressible("no such family, or not with this prior")
    if any(slopes for _, slopes in problem.groups):
        raise NotExpressible("slopes of groups are uncorrelated with intercepts")
    if problem.terms:
        raise NotExpressible("no smooth whose sd is learned, no neighbours")
    logging.getLogger("pymc").setLevel(logging.ERROR)
    frame, formula = problem.frame, problem.formula
    if problem.exposure:
        frame = frame.assign(log_exposure=problem.offset)
        formula += " + offset(log_exposure)"
    for g, _ in problem.groups:
        frame = frame.assign(**{g: frame[g].astype("category")})
    model = bambi.Model(
        formula, frame, family=FAMILIES[problem.family], priors=priors(problem),
        center_predictors=False, noncentered=False,
    )  # fmt: skip
    model.build()

    def run(length, seed):
        trace = model.fit(
            length, tune=1000, chains=1, cores=1, random_seed=seed, progressbar=False,
            compute_convergence_checks=False,
        )  # fmt: skip
        group = trace["posterior"]
        draws = {str(name): np.asarray(group[name])[0] for name in group.data_vars}
        for factor in problem.factors:
            levels = problem.levels(factor)[1:]
            draws |= {f"{factor}[T.{v}]": draws[factor][:, j] for j, v in enumerate(levels)}
        draws |= {f"sd(1|{g})": draws[f"1|{g}_sigma"] for g, _ in problem.groups}
        return answer_of_draws(problem, {"df": draws.get("nu")} | draws)

    return run
