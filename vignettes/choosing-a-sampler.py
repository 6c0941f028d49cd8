# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Choosing a sampler
#
# With `sampler="auto"`, the default, nobody needs this page. It shows what the choice is based on:
# how the cost of a sampler grows with rows and coefficients, what its default settings do to the
# posterior, and which posteriors need an exact sampler.
#
# **Cost** is counted, not timed: the number of rows whose gradients are computed, warmup included,
# divided by the smallest effective sample size of a coefficient. This is called *rows per effective
# draw*. Notation: N rows, n rows in a mini-batch, d coefficients.

# %%
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy import sparse

import sgmc

SIZES = [300, 1_000, 3_000, 10_000, 30_000, 100_000]  # quick: [300, 1_000, 3_000]
WIDTHS = [2, 8, 24, 96]  # quick: [2, 6, 16]
WIDE_ROWS = 20_000  # quick: 2_000
STAYS = 30_000  # quick: 5_000
SPARSE_ROWS = 20_000  # quick: 3_000
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)  # some choices are bad on purpose


def simulated(n, d, intercept=-0.5, seed=1):
    """Return outcomes and a design of a logistic regression whose slopes have norm one."""
    rng = np.random.default_rng([seed, n, d])
    X = np.column_stack([np.ones(n), rng.normal(size=(n, d))])
    eta = X @ np.append(intercept, np.full(d, d**-0.5))
    return (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int), X


def cost(res):
    """Return rows per effective draw of the worst coefficient."""
    return float(res.chain_diagnostics().data_passes.sum() * res.nobs / res.ess().min())


# %% [markdown]
# ## More rows
#
# An exact sampler (`mala`, `hmc`) accepts or rejects by the whole posterior, and uses all N rows in
# each step. Plain mini-batches (`simple`) are no better: their noise grows with N as the posterior
# gets narrower. Control variates subtract from the gradient of each row its value at the mode
# (`cv`) or its expansion there (`taylor`, the default). What remains shrinks with the posterior, so
# n need not grow (Nemeth & Fearnhead 2021, section 2.3). `lmsgld` is the default mini-batch
# sampler. `zzcv` and `sbps` move in continuous time.

# %%
SHORT = {"draws": 200, "chains": 2}
FITS = {
    "mala": SHORT,
    "hmc": SHORT,
    "lmsgld-simple": SHORT,
    "lmsgld-cv": {},
    "lmsgld-taylor": {},
    "sbps": {"chains": 2},
    "zzcv": {"chains": 2, "draws": 500},
}


def costs(models, names):
    """Return a table of costs: a row for each model, a column for each sampler."""
    return pd.DataFrame(
        {
            name: {k: cost(m.fit(sampler=name, seed=1, **FITS[name])) for k, m in models.items()}
            for name in names
        }
    )


by_rows = costs({n: sgmc.Logit(*simulated(n, 5)) for n in SIZES}, FITS)
powers = by_rows.apply(lambda column: np.polyfit(np.log(SIZES), np.log(column), 1)[0])
print(by_rows.map("{:,.0f}".format).to_string())
print(powers.round(2).rename("cost grows as this power of N").to_string())

# %% [markdown]
# ## More coefficients
#
# A Langevin step shrinks slowly with d. With many coefficients for the rows the posterior is wide,
# and control variates leave more noise. The left figure has the cost by the number of rows, the
# right figure by the number of slopes.

# %%
models = {d: sgmc.Logit(*simulated(WIDE_ROWS, d)) for d in WIDTHS}
by_width = costs(models, ["mala", "hmc", "lmsgld-taylor", "sbps"])
print(by_width.map("{:,.0f}".format).to_string())
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
styles = dict(zip(by_rows, ["o-", "s-", "^--", "v--", "D--", "P:", "X:"]))
colors = {name: f"C{k}" for k, name in enumerate(by_rows)}
for ax, frame, label in zip(axes, (by_rows, by_width), ("rows N (six coefficients)", "slopes")):
    for name in frame:
        ax.plot(frame.index, frame[name], styles[name], color=colors[name], label=name)
    ax.set(xscale="log", yscale="log", xlabel=label)
    ax.xaxis.set_minor_formatter("")
axes[0].set_ylabel("rows per effective draw")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")

# %% [markdown]
# ## What control variates save
#
# `gradient_noise` returns tau, the sd of the gradient estimate in whitened coordinates. V1 is the
# variance of an estimate from one row; n has to grow in proportion to it. Control variates use the
# mode, so they save less where the posterior is wide: with few rows, or with rare outcomes.


# %%
def one_row(y, X, gradient, n=20):
    """Return V1, the mean over coordinates."""
    how = {"sampler": "sgld", "step_size": 0.1, "batch_size": n, "subsample": "uniform"}
    fit = sgmc.Logit(y, X).fit(gradient=gradient, draws=100, thin=1, seed=1, **how)
    return float((fit.gradient_noise().tau ** 2).mean() * n / (1 - n / len(y)))


GRADIENTS = ("simple", "cv", "taylor")
noise = {
    title: pd.DataFrame(
        {g: {n: one_row(*simulated(n, 5, intercept), g) for n in SIZES} for g in GRADIENTS}
    )
    for title, intercept in (("balanced outcomes", -0.5), ("3 % successes", -4.2))
}
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), sharey=True, layout="constrained")
for ax, (title, frame) in zip(axes, noise.items()):
    for gradient, style in zip(GRADIENTS, ("o-", "s-", "D-")):
        ax.plot(frame.index, frame[gradient], style, label=f"gradient={gradient!r}")
    ax.set(xscale="log", yscale="log", xlabel="rows N", title=title)
    ax.xaxis.set_minor_formatter("")
axes[0].set_ylabel("V1, variance from one row")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")

# %% [markdown]
# ## What default settings do to the posterior
#
# `sgmc.datasets.hospital_stays` simulates `STAYS` hospital stays, 93 % of which are survived, with
# predictors on raw scales. Each sampler runs with its default settings, beside a long run of
# `mala`. `mean off` is the largest difference of a mean in posterior sds, `sd off` the largest
# relative difference of an sd.

# %%
stays, truth = sgmc.datasets.hospital_stays(STAYS)
formula = "alive ~ age + female + episode"
reference = sgmc.logit(formula, stays, sampler="mala", draws=4000, seed=9)


def beside(res, reference):
    """Return the errors of the worst coefficient beside a reference, and the cost."""
    return {
        "mean off": (res.params - reference.params).abs().div(reference.bse).max(),
        "sd off": (res.bse / reference.bse - 1).abs().max(),
        "rows per draw": cost(res),
        "trusted": res.verdict.trustworthy,
    }


names = "lmsgld baoab sghmc sgld csgld vsgbd esgbd sgnht sbps zzcv mala hmc barker".split()
fits = {name: sgmc.logit(formula, stays, sampler=name, seed=1) for name in names}
defaults = pd.DataFrame([beside(res, reference) for res in fits.values()], index=names)
defaults = defaults.sort_values("rows per draw", ascending=False)
print(defaults.round(3).to_string())

# %% [markdown]
# In the left figure, costs differ by orders of magnitude. In the right figure, nearly all errors
# are Monte Carlo errors of 4,000 draws; the dotted line is at 0.1.

# %%
place = np.arange(len(defaults))
figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.8), sharey=True, layout="constrained")
axes[0].plot(defaults["rows per draw"], place, "o")
axes[0].set(xscale="log", xlabel="rows per effective draw", yticks=place)
axes[0].set_yticklabels(defaults.index)
axes[1].plot(defaults["mean off"], place, "o", label="of a mean, in sds")
axes[1].plot(defaults["sd off"], place, "x", label="of an sd, relative")
axes[1].axvline(0.1, color="0.6", linestyle=":")
axes[1].set(xscale="log", xlabel="largest error")
figure.legend(*axes[1].get_legend_handles_labels(), loc="outside right center")
for ax in axes:
    ax.grid(axis="y", color="0.92")

# %% [markdown]
# ## Wide and sparse tables
#
# A scipy CSR array is never made dense: a row costs as much as it has nonzero entries. Here 2 % of
# the entries are ones.

# %%
rng = np.random.default_rng(3)
ones = sparse.random_array((SPARSE_ROWS, 79), density=0.02, rng=rng, format="csr")
ones.data[:] = 1.0
csr = sparse.hstack([sparse.csr_array(np.ones((SPARSE_ROWS, 1))), ones], format="csr")
eta = csr @ rng.normal(scale=0.5, size=80)
bought = (rng.random(SPARSE_ROWS) < 1 / (1 + np.exp(-eta))).astype(int)
narrow, dense = (sgmc.Logit(bought, X).fit(seed=1) for X in (csr, csr.toarray()))
between = ((narrow.params - dense.params) / dense.bse).abs().max()
print(f"posterior means differ by at most {between:.3f} sd")
memory = (csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes) / (8 * csr.shape[0] * 80)
print(f"memory of the table: {memory:.0%} of that of the dense one")

# %% [markdown]
# ## What `auto` chooses
#
# Six posteriors of different kinds, with some samplers at default settings beside a long run of
# `mala`. A fit counts as right if means are within 0.1 sd and sds within 10 %, plus three Monte
# Carlo errors. `auto` tries nothing out: it counts the rows that each sampler would use, and
# measures how far the posterior is from the Gaussian at its mode.

# %%
rng = np.random.default_rng(7)
x = np.column_stack([np.ones(300), rng.normal(size=(300, 3))])
rare = rng.poisson(np.exp(0.3 * x[:, 1] - 4.5))
counts = rng.poisson(np.exp(1 + 0.3 * x[:, 1]) * rng.gamma(5, 0.2, size=300))
heavy = x @ [0.0, 1.0, 0.5, 0.0] + rng.standard_t(2, size=300)
PROBLEMS = {
    "few rows": (sgmc.Logit(*simulated(100, 4)), {}),
    "many rows": (sgmc.Logit(*simulated(20_000, 10)), {}),
    "rare outcomes": (sgmc.Logit(*simulated(10_000, 5, -5.0)), {}),
    f"{rare.sum()} events in 300 counts": (sgmc.Poisson(rare, x), {"prior": "flat"}),
    "negative binomial": (sgmc.NegativeBinomial(counts, x), {}),
    "t errors": (sgmc.RLM(heavy, x, df=None), {}),
}
TRIED = ["auto", "lmsgld", "sbps", "hmc", "mala"]
rows = []
for problem, (model, how) in PROBLEMS.items():
    exact = model.fit(sampler="mala", draws=3000, thin=2, seed=9, **how)
    for name in TRIED:
        res = model.fit(sampler=name, seed=1, **how)
        errors = [(fit.mcse(of) / fit.bse).max() for fit in (res, exact) for of in ("mean", "sd")]
        row = {"problem": problem, "sampler": name, **beside(res, exact)}
        within = 0.1 + 3 * float(np.hypot(max(errors[:2]), max(errors[2:])))
        rows.append(row | {"right": max(row["mean off"], row["sd off"]) < within})
runs = pd.DataFrame(rows)
table = runs.pivot(index="problem", columns="sampler", values="rows per draw")[TRIED]
print(table.reindex(list(PROBLEMS)).map("{:,.0f}".format).to_string())
print(f"right: {runs.right.sum()} of {len(runs)} fits")
print(runs[~runs.right][["problem", "sampler", "mean off", "sd off", "trusted"]].to_string())

# %% [markdown]
# The figure has the cost of each sampler over that of the cheapest right one. Black circles are the
# choice of `auto`.

# %%
cheapest = runs[runs.right & (runs.sampler != "auto")].groupby("problem")["rows per draw"].min()
ratio = table.div(cheapest, axis=0).reindex(list(PROBLEMS))
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
place = np.arange(len(ratio))[::-1]
for name, style in zip(TRIED[1:], ("s", "v", "D", "X")):
    ax.plot(ratio[name], place, style, label=name)
ax.plot(ratio["auto"], place, "ko", markersize=13, fillstyle="none", label="auto")
ax.set(xscale="log", xlabel="rows per effective draw, over the cheapest right sampler")
ax.set(yticks=place, yticklabels=ratio.index)
figure.legend(loc="outside right center")

# %% [markdown]
# ## In short
#
# - **Any regression**: `auto`.
# - **Many rows**: `lmsgld`, which `auto` takes.
# - **A posterior far from a Gaussian**: an exact sampler such as `mala`, which `auto` takes.
# - **Exact, by mini-batches**: `zzcv`, at a higher cost that grows with the number of coefficients.
# - **Sparse columns**: pass a CSR array.
# - **A sampler of a paper**: pass its name. The verdict reports its error.
