"""sgmc at its defaults: formula to printed summary."""

import warnings

import numpy as np
import pandas as pd
from problem import Answer, answer_of_draws

import sgmc

PACKAGES, KIND, LABEL = ["sgmc"], "posterior", "sgmc"
LENGTHS = [4000 * 2**k for k in range(6)]  # four chains, 1,000 draws each by default
SAMPLER = "auto"
VERBS = {
    "logit": "logit",
    "poisson": "poisson",
    "ols": "ols",
    "studentt": "rlm",
    "negbin": "negativebinomial",
}


def priors(problem):
    """The priors of a task, as the argument `prior`."""
    scale = problem.prior
    normal = sgmc.normal(0, scale["coef"])
    given = {"*": normal, "Intercept": normal}
    if problem.groups or problem.terms:
        given["sd"] = sgmc.half_normal(scale["sd"])
    if any(slopes for _, slopes in problem.groups):
        given["cor"] = sgmc.lkj(1)
    if problem.family in ("ols", "studentt"):
        given["sigma"] = sgmc.half_normal(scale["sigma"])
    if problem.family == "studentt":
        given["df"] = sgmc.gamma(2, rate=0.1)
    if problem.family == "negbin":
        given["alpha"] = sgmc.half_normal(scale["alpha"])
    return given


def density(problem):
    """The two densities as `sgmc.NumbaModel`."""
    y = problem.y.astype(float)
    if problem.family == "schools":

        def log_lik(theta, effect, se, j):
            z = (effect - theta.mu - theta.tau * theta.z[j]) / se
            return -0.5 * z * z

        prior = {"mu": sgmc.normal(0, 5), "tau": sgmc.half_t(1, 5), "z": sgmc.normal(0, 1)}
        data = (y, problem.frame["se"].to_numpy(float), np.arange(8))
        shapes, constraints = {"mu": (), "tau": (), "z": 8}, {"tau": "positive"}
    else:

        def log_lik(theta, x, y):
            z = (y - theta.a + theta.b * theta.c**x) / theta.sigma
            return -0.5 * z * z - np.log(theta.sigma)

        prior = {"a": sgmc.normal(0, 10), "b": sgmc.normal(0, 10), "c": "flat"}
        prior["sigma"] = sgmc.half_normal(1)
        data, shapes = (problem.frame["x"].to_numpy(), y), {"a": (), "b": (), "c": (), "sigma": ()}
        constraints = {"sigma": "positive", "c": ("interval", 0.5, 0.95)}
    return sgmc.NumbaModel(log_lik, data, parameters=shapes, constraints=constraints, prior=prior)


def reported(problem, results):
    """Means and sds of a density's fit by draws."""
    columns = {name: results.draws_of(name) for name in problem.names if "[" not in name}
    if problem.family == "schools":
        z = results.draws_of("z")
        for j in range(8):
            columns[f"theta[{j}]"] = columns["mu"] + columns["tau"] * z[..., j]
    return answer_of_draws(problem, columns)


def prepare(problem, sampler=SAMPLER):
    """One small fit loads what is loaded at first use; a density is compiled."""
    warnings.simplefilter("ignore")
    few = pd.DataFrame({"x": np.arange(60.0) % 7, "y": np.arange(60) % 2})
    str(sgmc.logit("y ~ x", few, seed=0).summary())
    own = density(problem) if problem.kind == "density" else None
    if own is not None:
        own.kernel()

    def run(length, seed):
        settings = {"sampler": sampler, "draws": length // 4, "seed": seed, "threads": 1}
        if problem.kind == "density":
            results = own.fit(**settings)
            str(results.summary())
            return reported(problem, results)
        fit = getattr(sgmc, VERBS[problem.family])
        if problem.exposure:
            settings["exposure"] = problem.exposure
        if problem.family == "studentt":
            settings["df"] = None
        graph = next((term.graph for term in problem.terms), None)  # noqa: F841 by the formula
        results = fit(problem.formula, problem.frame, prior=priors(problem), **settings)
        str(results.summary())
        note = f"{type(results.sampler).__name__.lower()}; {results.verdict.text.split(':')[0]}"
        curves = [name for term in problem.terms for name in term.names]
        names = [name for name in problem.names if name not in curves]
        found = [np.stack([results.params[names], results.bse[names]])]
        tables = [results.smooth(term.label, at=list(term.at)) for term in problem.terms]
        found += [table[["mean", "sd"]].to_numpy().T for table in tables]
        mean, sd = np.concatenate(found, axis=1)
        return Answer([*names, *curves], mean, sd, length, note)

    return run
