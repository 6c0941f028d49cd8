"""The tasks as NumPyro models."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist

jax.config.update("jax_enable_x64", True)


def normal(name, scale, size):
    """Independent normals."""
    return numpyro.sample(name, dist.Normal(0, scale).expand([size]).to_event(1))


def effects(g, slopes, groups, scale):
    """Centred effects of a factor (groups, 1 or 2)."""
    names = ["1", *slopes]
    sds = [numpyro.sample(f"sd({one}|{g})", dist.HalfNormal(scale)) for one in names]
    with numpyro.plate(f"levels of {g}", groups):
        u = numpyro.sample(f"u0 of {g}", dist.Normal(0, sds[0]))
        if not slopes:
            return [u]
    r = numpyro.sample(f"cor(1,{slopes[0]}|{g})", dist.Uniform(-1, 1))
    with numpyro.plate(f"slopes of {g}", groups):
        given = dist.Normal(r * sds[1] / sds[0] * u, sds[1] * jnp.sqrt(1 - r * r))
        return [u, numpyro.sample(f"u1 of {g}", given)]


def arrays(problem):
    """What a regression's model takes as its arguments."""
    return {
        "X": jnp.asarray(problem.X),
        "y": jnp.asarray(problem.y),
        "offset": jnp.asarray(problem.offset),
        "codes": {c: jnp.asarray(problem.codes(c)[0]) for c in problem.factors},
        "groups": {g: jnp.asarray(problem.codes(g)[0]) for g, _ in problem.groups},
        "terms": {
            term.label: (jnp.asarray(one.Z), None if one.codes is None else jnp.asarray(one.codes))
            for term, one in zip(problem.terms, problem.bases)
        },
        "slopes": {s: jnp.asarray(problem.frame[s]) for _, some in problem.groups for s in some},
    }


def regression(problem):
    """A model of the arrays."""
    scale, family = problem.prior, problem.family
    sizes = {c: problem.codes(c)[1] for c in problem.factors}
    groups = {g: problem.codes(g)[1] for g, _ in problem.groups}

    def model(X, y, offset, codes, groups_of_rows, slopes, terms):
        eta = X @ normal("beta", scale["coef"], X.shape[1]) + offset
        for factor, size in sizes.items():
            dummies = normal(f"levels of {factor}", scale["coef"], size - 1)
            eta = eta + jnp.concatenate([jnp.zeros(1), dummies])[codes[factor]]
        for g, some in problem.groups:
            u = effects(g, some, groups[g], scale["sd"])
            eta = eta + u[0][groups_of_rows[g]]
            if some:
                eta = eta + u[1][groups_of_rows[g]] * slopes[some[0]]
        for label, (Z, levels) in terms.items():
            sd = numpyro.sample(f"sd({label})", dist.HalfNormal(scale["sd"]))
            value = Z @ normal(f"effects of {label}", sd, Z.shape[1])
            eta = eta + (value if levels is None else value[levels])
        numpyro.sample("y", outcome(family, eta, scale), obs=y)

    return model


def outcome(family, eta, scale):
    """The law of outcomes."""
    if family == "logit":
        return dist.BernoulliLogits(eta)
    if family == "poisson":
        return dist.Poisson(jnp.exp(eta))
    if family == "negbin":
        alpha = numpyro.sample("alpha", dist.HalfNormal(scale["alpha"]))
        return dist.NegativeBinomial2(jnp.exp(eta), 1 / alpha)
    sigma = numpyro.sample("sigma", dist.HalfNormal(scale["sigma"]))
    if family == "ols":
        return dist.Normal(eta, sigma)
    return dist.StudentT(numpyro.sample("df", dist.Gamma(2, 0.1)), eta, sigma)


def density(problem):
    """The two densities."""
    y = jnp.asarray(problem.y)

    def schools():
        se = jnp.asarray(problem.frame["se"])
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        numpyro.sample("y", dist.Normal(mu + tau * normal("z", 1.0, 8), se), obs=y)

    def curve():
        x = jnp.asarray(problem.frame["x"])
        a, b = (numpyro.sample(name, dist.Normal(0, 10)) for name in "ab")
        c = numpyro.sample("c", dist.Uniform(0.5, 0.95))
        sigma = numpyro.sample("sigma", dist.HalfNormal(1))
        numpyro.sample("y", dist.Normal(a - b * c**x, sigma), obs=y)

    return {"schools": schools, "curve": curve}[problem.family]


def build(problem):
    """(model, its arguments)."""
    if problem.kind == "density":
        return density(problem), ()
    a = arrays(problem)
    return regression(problem), (
        a["X"], a["y"], a["offset"], a["codes"], a["groups"], a["slopes"], a["terms"],
    )  # fmt: skip
