"""The tasks as PyMC models."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt


def effects(g, slopes, groups, scale):
    """Centred effects of a factor."""
    sds = [pm.HalfNormal(f"sd({one}|{g})", scale) for one in ["1", *slopes]]
    u = pm.Normal(f"u0 of {g}", 0, sds[0], shape=groups)
    if not slopes:
        return [u]
    r = pm.Uniform(f"cor(1,{slopes[0]}|{g})", -1, 1)
    given = r * sds[1] / sds[0] * u, sds[1] * pt.sqrt(1 - r * r)
    return [u, pm.Normal(f"u1 of {g}", *given, shape=groups)]


def regression(problem):
    """Within a model's context."""
    scale, y = problem.prior, problem.y
    beta = pm.Normal("beta", 0, scale["coef"], shape=problem.X.shape[1])
    eta = pt.dot(problem.X, beta) + problem.offset
    for factor in problem.factors:
        codes, size = problem.codes(factor)
        dummies = pm.Normal(f"levels of {factor}", 0, scale["coef"], shape=size - 1)
        eta = eta + pt.concatenate([pt.zeros(1), dummies])[codes]
    for g, slopes in problem.groups:
        codes, size = problem.codes(g)
        u = effects(g, slopes, size, scale["sd"])
        eta = eta + u[0][codes]
        if slopes:
            eta = eta + u[1][codes] * problem.frame[slopes[0]].to_numpy()
    for term, one in zip(problem.terms, problem.bases):
        sd = pm.HalfNormal(f"sd({term.label})", scale["sd"])
        u = pm.Normal(f"effects of {term.label}", 0, sd, shape=one.Z.shape[1])
        value = pt.dot(one.Z, u)
        eta = eta + (value if one.codes is None else value[one.codes])
    family = problem.family
    if family == "logit":
        pm.Bernoulli("y", logit_p=eta, observed=y.astype(int))
    elif family == "poisson":
        pm.Poisson("y", pt.exp(eta), observed=y.astype(int))
    elif family == "negbin":
        alpha = pm.HalfNormal("alpha", scale["alpha"])
        pm.NegativeBinomial("y", mu=pt.exp(eta), alpha=1 / alpha, observed=y.astype(int))
    else:
        sigma = pm.HalfNormal("sigma", scale["sigma"])
        if family == "ols":
            pm.Normal("y", eta, sigma, observed=y)
        else:
            df = pm.Gamma("df", alpha=2, beta=0.1)
            pm.StudentT("y", nu=df, mu=eta, sigma=sigma, observed=y)


def density(problem):
    """Within a model's context."""
    if problem.family == "schools":
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        mean = mu + tau * pm.Normal("z", 0, 1, shape=8)
        pm.Normal("y", mean, problem.frame["se"].to_numpy(), observed=problem.y)
        return
    a, b = (pm.Normal(name, 0, 10) for name in "ab")
    c, sigma = pm.Uniform("c", 0.5, 0.95), pm.HalfNormal("sigma", 1)
    pm.Normal("y", a - b * c ** problem.frame["x"].to_numpy(), sigma, observed=problem.y)


def build(problem):
    """The model."""
    with pm.Model() as model:
        (density if problem.kind == "density" else regression)(problem)
    return model


def draws_of(trace):
    """Draws by site, one chain."""
    group = trace["posterior"]
    return {str(name): np.asarray(group[name])[0] for name in group.data_vars}
