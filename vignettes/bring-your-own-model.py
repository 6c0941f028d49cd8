# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Bring your own model
#
# A model that is not a regression is a class with named parameters and a log density of some rows,
# in numpy. Samplers, default step sizes, checks and results are those of the regressions. This page
# writes a model, breaks it, constrains its parameters, compares it with a known posterior, and then
# writes it again for JAX and numba. All data are simulated on the page.
#
# Notation: theta are the parameters; N rows, n rows in a mini-batch.

# %%
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import sgmc

ROWS = 2000  # quick: 500

# %% [markdown]
# ## A model in twelve lines
#
# A concentration falls exponentially: `y = size exp(-rate t) + N(0, sigma^2)`. `parameters` has
# names and shapes. `constraints` names what is positive; other constraints are `"ordered"`,
# `"positive_ordered"`, `"simplex"` and `("interval", low, high)`. `prior` has a prior for each
# parameter, in the parameter's own units. `log_lik` returns the sum of the log densities of some
# rows; `rows` is a slice or an array of row numbers.


# %%
class Decay(sgmc.Model):
    """y = size exp(-rate t) + N(0, sigma^2)."""

    parameters = {"size": (), "rate": (), "sigma": ()}
    constraints = {"rate": "positive", "sigma": "positive"}
    prior = {"size": sgmc.normal(0, 5), "rate": sgmc.gamma(2, rate=1), "sigma": sgmc.exponential(1)}

    def __init__(self, t, y):
        self.t, self.y, self.n = t, y, len(y)

    def log_lik(self, theta, rows):
        """Log density of rows together."""
        e = (self.y[rows] - theta["size"] * np.exp(-theta["rate"] * self.t[rows])) / theta["sigma"]
        return -0.5 * (e @ e) - len(e) * np.log(theta["sigma"])


rng = np.random.default_rng(0)
t = rng.uniform(0, 3, ROWS)
y = 2 * np.exp(-1.5 * t) + 0.3 * rng.normal(size=len(t))
model = Decay(t, y)
print(sgmc.check_model(model))
res = model.fit(seed=1)
print(res.summary())

# %% [markdown]
# The sampler, its step size and its mini-batches are chosen as for a regression. Gradients are
# finite differences until the model has a method `grad`. `draws_of` returns the draws of a
# parameter in its shape. The left figure has the data, the posterior mean of the curve, and its 95
# % band. The right figure has joint draws of two parameters.

# %%
print(res.draws_of("rate").shape, f"P(rate > 1.4) = {res.hypothesis('rate > 1.4').prob:.3f}")
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
at = np.linspace(0, 3, 100)
curves = res.draws_of("size").ravel()[::20, None] * np.exp(
    -res.draws_of("rate").ravel()[::20, None] * at
)
axes[0].plot(t, y, ".", color="0.75", markersize=2)
axes[0].plot(at, curves.mean(0))
axes[0].fill_between(at, *np.quantile(curves, [0.025, 0.975], axis=0), alpha=0.4, linewidth=0)
axes[0].set(xlabel="time t", ylabel="concentration y", title="data, mean curve, 95 % band")
axes[1].plot(
    res.draws_of("rate").ravel()[::4], res.draws_of("size").ravel()[::4], ".", markersize=2
)
axes[1].set(xlabel="rate (1 / time)", ylabel="size", title="joint draws")

# %% [markdown]
# ## Finding mistakes
#
# Here are five ways to break the model. Most of them still return numbers. `check_model` reports
# what is wrong. A wrong gradient is the worst mistake: an exact sampler becomes slow, and others
# become wrong.


# %%
class WrongGradient(Decay):
    """The derivative with respect to sigma lacks a term."""

    def grad(self, theta, rows):
        """A gradient, nearly."""
        decay = np.exp(-theta["rate"] * self.t[rows])
        e = (self.y[rows] - theta["size"] * decay) / theta["sigma"]
        return {
            "size": e @ decay / theta["sigma"],
            "rate": -(e * self.t[rows]) @ decay * theta["size"] / theta["sigma"],
            "sigma": (e @ e) / theta["sigma"],
        }


class Mean(Decay):
    """The mean over rows in place of the sum."""

    def log_lik(self, theta, rows):
        """Log density, divided."""
        return super().log_lik(theta, rows) / len(self.y[rows])


class AllRows(Decay):
    """All rows in place of those that were asked for."""

    def log_lik(self, theta, rows):
        """Log density of everything."""
        return super().log_lik(theta, slice(None))


class Random(Decay):
    """Something drawn anew at each call."""

    def log_lik(self, theta, rows):
        """Log density and noise."""
        return super().log_lik(theta, rows) + np.random.default_rng().normal()


class Misspelt(Decay):
    """A prior for a parameter that does not exist."""

    prior = {"speed": sgmc.gamma(2, rate=1)}


broken = {
    cls.__name__: sgmc.check_model(cls(t, y))
    for cls in (WrongGradient, Mean, AllRows, Random, Misspelt)
}
for report in broken.values():
    print(report, "\n")

# %% [markdown]
# A fit makes the same checks with a few rows before it samples. It raises an error where a model is
# clearly wrong.

# %%
refused = {}
for cls in (WrongGradient, Mean, AllRows, Random, Misspelt):
    try:
        cls(t, y).fit(seed=1)
    except sgmc.errors.ArgumentError as error:
        refused[cls.__name__] = str(error)
print("\n\n".join(refused.values()))

# %% [markdown]
# ## A known posterior
#
# With conjugate priors the posterior is known. Customers are of three kinds, with probabilities `p`
# on the simplex and a Dirichlet prior: their posterior is a Dirichlet distribution. Each kind buys
# at its own Poisson rate with a gamma prior: its posterior is a gamma distribution. One model has
# both. Transformations to unconstrained coordinates, and their Jacobians, are done by the package.


# %%
class Shop(sgmc.Model):
    """Customers of three kinds (a row each), and what each buys:
    Poisson with the rate of the kind.
    """

    parameters = {"p": 3, "rate": 3}
    constraints = {"p": "simplex", "rate": "positive"}
    prior = {"p": sgmc.dirichlet(2.0), "rate": sgmc.gamma(2, rate=1)}

    def __init__(self, kind, bought):
        self.kind, self.bought, self.n = kind, bought, len(kind)

    def log_lik(self, theta, rows):
        """Log density of rows together."""
        kind, rate = self.kind[rows], theta["rate"][self.kind[rows]]
        return np.log(theta["p"][kind]).sum() + (self.bought[rows] * np.log(rate) - rate).sum()

    def grad(self, theta, rows):
        """Its gradient."""
        customers = np.bincount(self.kind[rows], minlength=3)
        things = np.bincount(self.kind[rows], self.bought[rows], minlength=3)
        return {"p": customers / theta["p"], "rate": things / theta["rate"] - customers}


kind = rng.choice(3, ROWS, p=[0.6, 0.3, 0.1])
shop = Shop(kind, rng.poisson(np.array([1.0, 3.0, 0.5])[kind]))
customers, things = np.bincount(kind), np.bincount(kind, shop.bought)
a, b = 2.0 + customers, 2.0 + things
p = a / a.sum()
exact = pd.DataFrame(
    {
        "mean": np.append(p, b / (1 + customers)),
        "sd": np.append(np.sqrt(p * (1 - p) / (a.sum() + 1)), np.sqrt(b) / (1 + customers)),
    }
)
print(sgmc.check_model(shop))
rows = []
for name, how in {
    "auto": {},
    "mala": {"sampler": "mala"},
    "lmsgld": {"sampler": "lmsgld"},
    "sgld, long step": {"sampler": "sgld", "step_size": 1.0},
}.items():
    fit = shop.fit(seed=1, draws=1000, **how)
    rows.append(
        {
            "sampler": name,
            "mean off (sd)": np.abs((fit.params.to_numpy() - exact["mean"]) / exact.sd).max(),
            "sd off": np.abs(fit.bse.to_numpy() / exact.sd - 1).max(),
            "trusted": fit.verdict.trustworthy,
        }
    )
errors = pd.DataFrame(rows).set_index("sampler")
print(errors.round(3))

# %% [markdown]
# A sampler whose draws are not accurate is not trusted: a warning is issued, and the verdict gives
# the reason. The next figure has the draws of `auto` as histograms, and the exact densities as
# lines.

# %%
found = shop.fit(seed=1, draws=2000)
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.1), layout="constrained")
for ax, name, label in zip(
    axes, ("p", "rate"), ("probability of a kind of customer", "purchases per customer")
):
    for k in range(3):
        draws, (mean, sd) = (
            found.draws_of(name)[..., k].ravel(),
            exact.iloc[k + 3 * (name == "rate")],
        )
        grid = np.linspace(mean - 4 * sd, mean + 4 * sd, 200)
        ax.hist(draws, 40, density=True, alpha=0.45, color=f"C{k}", label=f"{name}[{k}]")
        if name == "p":
            logs = (a[k] - 1) * np.log(grid) + (a.sum() - a[k] - 1) * np.log1p(-grid)
        else:
            logs = (b[k] - 1) * np.log(grid) - (1 + customers[k]) * grid
        law = np.exp(logs - logs.max())
        ax.plot(grid, law / (law.sum() * (grid[1] - grid[0])), color=f"C{k}")
    ax.set(xlabel=label, ylabel="density")
    ax.legend()

# %% [markdown]
# ## The same model, compiled
#
# A numpy model is called from Python at every step. With small mini-batches, these calls take most
# of the time. The same density can be a JAX function, whose gradient JAX computes, or a function
# compiled by numba. Both give the same draws as numpy, up to rounding; 200 draws show it. The next
# cells skip what is not installed.


# %%
class Line(sgmc.Model):
    """y ~ N(X b, sigma^2), in numpy."""

    constraints = {"sigma": "positive"}
    prior = {"b": sgmc.normal(0, 2), "sigma": sgmc.exponential(1)}

    def __init__(self, X, y):
        self.X, self.y, self.n, self.parameters = X, y, len(y), {"b": X.shape[1], "sigma": ()}

    def log_lik(self, theta, rows):
        """Log density of rows."""
        e = (self.y[rows] - self.X[rows] @ theta["b"]) / theta["sigma"]
        return -0.5 * (e @ e) - len(e) * np.log(theta["sigma"])

    def grad(self, theta, rows):
        """Its gradient, as one vector."""
        e = (self.y[rows] - self.X[rows] @ theta["b"]) / theta["sigma"]
        return np.append(e @ self.X[rows] / theta["sigma"], (e @ e - len(e)) / theta["sigma"])


options = {"constraints": Line.constraints, "prior": Line.prior}


def with_jax(X, y):
    """A function of theta and a batch of the data, in jax.numpy."""
    import jax.numpy as jnp

    def log_lik(theta, batch):
        X, y = batch
        e = (y - X @ theta["b"]) / theta["sigma"]
        return -0.5 * jnp.sum(e**2) - y.shape[0] * jnp.log(theta["sigma"])

    return sgmc.JaxModel(log_lik, (X, y), parameters={"b": X.shape[1], "sigma": ()}, **options)


# %% [markdown]
# `sgmc.CompiledModel` takes an address: `f(d, theta, m, rows, grad, data)` returns the log density
# of m rows and fills `grad`.


# %%
def with_numba(X, y):
    """The address of a cfunc; X and y are one array, whose memory it gets."""
    from numba import carray, cfunc, types

    shape, d = (X.shape[0], X.shape[1] + 1), X.shape[1]
    number = types.CPointer(types.double)

    @cfunc(
        types.double(types.int64, number, types.int64, types.CPointer(types.int64), number, number)
    )
    def log_lik(size, theta, m, rows, grad, data):
        at, slope = carray(theta, size), carray(grad, size)
        chosen, table = carray(rows, m), carray(data, shape)
        total = 0.0
        for i in chosen:
            e = table[i, d]
            for j in range(d):
                e -= table[i, j] * at[j]
            e /= at[d]
            total -= 0.5 * e * e + np.log(at[d])
            for j in range(d):
                slope[j] += e * table[i, j] / at[d]
            slope[d] += (e * e - 1) / at[d]
        return total

    return sgmc.CompiledModel(
        log_lik, len(y), data=np.column_stack([X, y]), parameters={"b": d, "sigma": ()}, **options
    )


# %%
X = rng.normal(size=(ROWS, 5))
line = X @ rng.normal(size=5) + 0.8 * rng.normal(size=ROWS)
how = dict(sampler="lmsgld", gradient="cv", step_size=0.5, batch_size=50, chains=1, seed=1)
ways = {}
for name, make in {"numpy": Line, "JAX": with_jax, "numba": with_numba}.items():
    try:
        written = make(X, line)
    except ImportError as error:
        print(f"skipped: {error}")
        continue
    ways[name] = written.fit(draws=200, **how).draws
    apart = np.abs(ways[name] - ways["numpy"]).max()
    print(f"{name}: draws differ from numpy's by at most {apart:.0e}; {sgmc.check_model(written)}")

# %% [markdown]
# A Cython model is a package of its own. `examples/cython_model` in the repository has one in 60
# lines.
#
# ## Where next
#
# `docs/models.md` lists the other attributes of a model: where chains start, `scaled = False` for
# posteriors with several modes, and how the package's own models are written. The page `trust`
# shows what happens to a verdict when there are two modes.
