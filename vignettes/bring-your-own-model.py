# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Bring your own model
#
# A model that is no regression is a class with named parameters and a log density of some rows, in
# numpy. Samplers, default steps, checks and results are those of the regressions. This page writes
# one, breaks it, constrains it, gives it priors, checks its posterior against a known one, and then
# writes it again for JAX, numba and Cython.
#
# Notation: theta are the parameters, d numbers in all; N rows, n in a minibatch.

# %%
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from story import HERE, Story

import sgmc

story = Story("bring-your-own-model", minutes=3)
pd.set_option("display.width", 140, "display.max_columns", None, "display.max_colwidth", 100)

# %% [markdown]
# ## A model in twelve lines
#
# Concentrations fall exponentially: `y = size exp(-rate t) + N(0, sigma^2)`. `parameters` gives
# names and shapes, `constraints` what is positive (also `"ordered"`, `"positive_ordered"`,
# `"simplex"`, `("interval", low, high)`), `prior` what is known beforehand, all in the parameters'
# own units. `log_lik` is the log density of the rows asked for, together; `rows` is a slice or an
# array of numbers.


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
t = rng.uniform(0, 3, story.pick(2000, 500))
y = 2 * np.exp(-1.5 * t) + 0.3 * rng.normal(size=len(t))
model = Decay(t, y)
print(sgmc.check_model(model))
res = model.fit(seed=1)
print(res.summary())

# %% [markdown]
# The mode was found, coordinates whitened there, step and minibatch derived, as for a regression;
# gradients are finite differences until the model has a `grad`. Draws come back in their shapes.

# %%
print(res.draws_of("rate").shape, f"P(rate > 1.4) = {res.hypothesis('rate > 1.4').prob:.3f}")
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2))
at = np.linspace(0, 3, 100)
curves = res.draws_of("size").ravel()[::20, None] * np.exp(
    -res.draws_of("rate").ravel()[::20, None] * at
)
axes[0].plot(t, y, ".", color="0.75", markersize=2)
axes[0].plot(at, curves.mean(0))
axes[0].fill_between(at, *np.quantile(curves, [0.025, 0.975], axis=0), alpha=0.4, linewidth=0)
axes[0].set(xlabel="t", ylabel="y", title="Data, mean curve and 95 % band")
axes[1].plot(
    res.draws_of("rate").ravel()[::4], res.draws_of("size").ravel()[::4], ".", markersize=2
)
axes[1].set(xlabel="rate", ylabel="size", title="Joint draws")
story.figure("decay", figure)
truth = {"size": 2, "rate": 1.5, "sigma": 0.3}
off = {
    name: abs(float(res.mean_of(name)) - value) / float(res.sd_of(name))
    for name, value in truth.items()
}
story.claim(
    "README",
    "a class with a log density of rows is all that is needed",
    "the values that made the data are "
    + ", ".join(f"{value:.1f}" for value in off.values())
    + " sd from the means; "
    + str(res.verdict).split(":")[0],
    res.verdict.trustworthy and max(off.values()) < 3.5,
)

# %% [markdown]
# ## What is wrong with it
#
# Five ways to break it, most of which produce numbers all the same, and what `check_model` says. A
# wrong gradient is the worst: an exact sampler goes on being right and becomes slow, others become
# wrong.


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
    """The mean over rows where their sum is wanted."""

    def log_lik(self, theta, rows):
        """Log density, divided."""
        return super().log_lik(theta, rows) / len(self.y[rows])


class AllRows(Decay):
    """All rows whatever was asked for."""

    def log_lik(self, theta, rows):
        """Log density of everything."""
        return super().log_lik(theta, slice(None))


class Random(Decay):
    """Something drawn anew at each call."""

    def log_lik(self, theta, rows):
        """Log density and noise."""
        return super().log_lik(theta, rows) + np.random.default_rng().normal()


class Misspelt(Decay):
    """A prior of a parameter that there is not."""

    prior = {"speed": sgmc.gamma(2, rate=1)}


broken = {
    cls.__name__: sgmc.check_model(cls(t, y))
    for cls in (WrongGradient, Mean, AllRows, Random, Misspelt)
}
for report in broken.values():
    print(report, "\n")
story.claim(
    "README",
    "check_model says what is wrong, in words",
    f"{sum(not report.ok for report in broken.values())} of {len(broken)} broken models found out, "
    "none of the right one",
    sgmc.check_model(model).ok and not any(report.ok for report in broken.values()),
)

# %% [markdown]
# A fit makes the same comparisons at a few rows before it samples, and refuses what is clearly
# wrong:

# %%
refused = {}
for cls in (WrongGradient, Mean, AllRows, Random, Misspelt):
    try:
        cls(t, y).fit(seed=1)
    except sgmc.errors.ArgumentError as error:
        refused[cls.__name__] = str(error)
print("\n\n".join(refused.values()))
story.claim(
    "README",
    "a fit refuses a model that is clearly wrong, before it samples",
    f"{len(refused)} of {len(broken)} broken models refused",
    len(refused) == len(broken),
)

# %% [markdown]
# ## A known posterior
#
# With conjugate priors an answer in closed form exists: counts of three kinds with probabilities p
# on the simplex and a Dirichlet prior have a Dirichlet posterior; rates with a gamma prior have a
# gamma one. One model has both, and neither coordinates nor Jacobians are the user's business.


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


kind = rng.choice(3, story.pick(1500, 400), p=[0.6, 0.3, 0.1])
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
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)  # the verdict, below, says the same
errors = {}
for sampler in story.pick(
    ["auto", "mala", "hmc", "lmsgld", "baoab", "sgld", "sbps"], ["auto", "mala", "lmsgld"]
):
    found = shop.fit(sampler=sampler, seed=1, draws=story.pick(2000, 1000))
    apart = np.abs((found.params.to_numpy() - exact["mean"]) / exact.sd)
    errors[sampler] = {
        "sampler": found.header[0][1][1],
        "mean off (sd)": apart.max(),
        "sd off": np.abs(found.bse.to_numpy() / exact.sd - 1).max(),
        "trusted": found.verdict.trustworthy,
    }
errors = pd.DataFrame(errors).T
print(errors)
trusted, refused = errors[errors.trusted.astype(bool)], errors[~errors.trusted.astype(bool)]
off = ", ".join(f"{name} (sds {error:.0%} off)" for name, error in refused["sd off"].items())
story.claim(
    "README",
    "any sampler drives a user's model, and the draws are of its posterior, or the verdict says "
    "that they are not",
    f"{', '.join(trusted.index)}: means within {trusted['mean off (sd)'].max():.3f} sd of "
    f"Dirichlet and gamma, sds within {trusted['sd off'].max():.1%}; refused: {off or 'none'}",
    {"auto", "mala", "lmsgld"} <= set(trusted.index)
    and trusted["mean off (sd)"].max() < 0.1
    and trusted["sd off"].max() < 0.07,
)

# %%
found = shop.fit(seed=1, draws=2000)
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.1))
for ax, name, label in zip(axes, ("p", "rate"), ("probability of a kind", "purchases of a kind")):
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
axes[0].set_title("Draws and beta densities")
axes[1].set_title("Draws and gamma densities")
story.figure("known", figure)

# %% [markdown]
# ## The same model, compiled
#
# A numpy model costs Python's calls at every step, which for small minibatches are most of it.
# Where that matters, the same density can be a JAX function, whose gradient is JAX's own; a numba
# `cfunc`, or any compiled function by its address; or Cython that cimports sgmc's contracts. Draws
# are the same to rounding. Ways whose packages are not installed here are skipped, and this page
# says so.


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


said = {"constraints": Line.constraints, "prior": Line.prior}


def with_jax(X, y):
    """A function of theta and a batch of the data, in jax.numpy."""
    import jax.numpy as jnp

    def log_lik(theta, batch):
        X, y = batch
        e = (y - X @ theta["b"]) / theta["sigma"]
        return -0.5 * jnp.sum(e**2) - y.shape[0] * jnp.log(theta["sigma"])

    return sgmc.JaxModel(log_lik, (X, y), parameters={"b": X.shape[1], "sigma": ()}, **said)


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
        log_lik, len(y), data=np.column_stack([X, y]), parameters={"b": d, "sigma": ()}, **said
    )


# %% [markdown]
# The Cython model is a package of its own, in `examples/cython_model` (60 lines, most of them the
# loop over rows); here it is built in a temporary folder, in the full mode alone.


# %%
def with_cython(X, y):
    """The example package, built."""
    if story.fast:
        raise ImportError("nothing is built in the fast mode")
    importlib.import_module("Cython")
    place = Path(tempfile.mkdtemp()) / "model"
    shutil.copytree(HERE.parent / "examples" / "cython_model", place)
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            [str(Path(sgmc.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        ),
    }
    built = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=place,
        env=env,
        capture_output=True,
    )
    if built.returncode:
        raise ImportError("Cython, its headers or a C compiler are not here")
    sys.path.insert(0, str(place))
    return importlib.import_module("line_model").Line(X, y)


def chain(model, thin):
    """200 draws of one chain of lmsgld with control variates,
    and the seconds of the processor that they took.
    """
    how = {
        "sampler": "lmsgld",
        "gradient": "cv",
        "step_size": 0.5,
        "batch_size": 50,
        "warmup": 0,
        "chains": 1,
        "threads": 1,
        "seed": 1,
    }
    begun = time.process_time()
    return model.fit(draws=200, thin=thin, **how), time.process_time() - begun


X = rng.normal(size=(story.pick(20_000, 4_000), 10))
line = X @ rng.normal(size=10) + 0.8 * rng.normal(size=len(X))
thin, ways = story.pick(201, 51), {}
for name, make in {
    "numpy": Line,
    "JAX": with_jax,
    "numba": with_numba,
    "Cython": with_cython,
}.items():
    try:
        written = make(X, line)
    except ImportError as error:
        story.note(f"{name} left out: {error}")
        continue
    chain(written, 1)  # compiles
    once, (fitted, often) = min(chain(written, 1)[1] for _ in range(3)), chain(written, thin)
    ways[name] = {
        "draws": fitted.draws,
        "step": (often - once) / (200 * (thin - 1)),
        "ok": sgmc.check_model(written).ok,
    }
compared = pd.DataFrame(
    {
        name: {
            "over numpy's time of a step": way["step"] / ways["numpy"]["step"],
            "check_model": way["ok"],
            "largest difference from numpy's draws": np.abs(
                way["draws"] - ways["numpy"]["draws"]
            ).max(),
        }
        for name, way in ways.items()
    }
).T
print(compared)
if len(ways) > 1:
    story.claim(
        "README",
        "the draws are the same",
        f"{', '.join(list(ways)[1:])}: at most {compared.iloc[1:, 2].max():.0e} from numpy's",
        compared.iloc[1:, 2].max() < 1e-8,
    )
if {"numba", "Cython"} & set(ways):
    quick = (
        min(ways[name]["step"] for name in ("numba", "Cython") if name in ways)
        / ways["numpy"]["step"]
    )
    story.claim(
        "README",
        "a compiled step takes 0.11 to 0.15 of numpy's time",
        f"{quick:.2f} of it, the quickest way",
        quick < 0.5,
    )

# %% [markdown]
# ## Where next
#
# `docs/models.md` has what else a model may say of itself: where chains start, `scaled = False` for
# posteriors of several modes, priors by hand, and how the package's own models are written. `trust`
# shows what happens to a verdict when there are two modes.

# %%
story.end(rows=len(X), batch=50, steps=200 * thin, ways=list(ways))
