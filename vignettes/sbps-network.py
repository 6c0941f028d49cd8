# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Bouncy particles in a small neural network
#
# Figure 6 of Pakman, Gilboa, Carlson & Paninski (2017), section 7.3: MNIST images made 7 x 7
# pixels, four digits, pixels that are always zero left out, a softmax of the others: N = 8,340, d =
# 192 (and here four biases). Its posterior is no Gaussian, the gradient of its prior has no bound,
# and so exact subsampling samplers do not apply; `sbps` does, as it does for any model that `sgmc`
# knows.
#
# The paper's penalty is c |w|^2 with c = 0.001, which is a prior N(0, 1 / (2 c)). A number added to
# the weights of all four digits changes no probability: in these directions the posterior is the
# prior, with an sd of 22, while others are known to a hundredth.

# %%
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from story import Story
from tools import acf, path_at, pooled

import sgmc

warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)  # of slow mixing, which is the subject
story = Story("sbps-network", minutes=5)

# %%
DIGITS, ROWS, BATCH = 4, story.pick(8340, 1000), 500
table = story.data("mnist")
table = table[table.label < DIGITS].iloc[:ROWS]
pixels, digit = pooled(table), table.label.to_numpy()
pixels = pixels[:, pixels.any(axis=0)]
model = sgmc.BNN(pixels, digit, hidden=(), scale="table")
HOW = {"prior": sgmc.normal(0, 1 / np.sqrt(2 * 0.001)), "seed": 1, "threads": 1}
print(f"N = {len(pixels):,}, {pixels.shape[1]} pixels, {DIGITS} digits")

# %% [markdown]
# ## The truth, and three directions
#
# The paper's reference is a random walk Metropolis run of 4 x 10^5 epochs. Here it is `mala` in
# coordinates that are whitened at the mode. Directions of the largest, the median and the smallest
# variance are those of the Laplace approximation, which is exact about its covariance, while that
# of some thousand draws in 196 dimensions is not.

# %%
laplace = model.fit(sampler="laplace", **HOW)
values, vectors = np.linalg.eigh(laplace.cov_params())
middle = len(values) // 2
ENDS, WHICH = vectors[:, [-1, middle, 0]], ["largest", "median", "smallest"]
truth = model.fit(sampler="mala", draws=story.pick(3000, 300), **HOW)
TRUE, CENTRE = (truth.flat @ ENDS).std(axis=0), (truth.flat @ ENDS).mean(axis=0)
size = truth.flat.shape[1]
print(
    pd.DataFrame(
        {
            "Laplace": np.sqrt(values[[-1, middle, 0]]),
            "mala": TRUE,
            "effective draws": sgmc.diagnostics.ess(truth.draws @ ENDS),
        },
        index=WHICH,
    ).round(4)
)

# %% [markdown]
# ## SBPS and SGLD at the same data
#
# Raw coordinates, all weights zero at the start, n = 500, the same number of epochs (the paper:
# 10^4; here fewer). SGLD's steps h are a hundredth, a tenth and one of the smallest variance; SBPS
# has its default, k = 3.

# %%
EPOCHS = story.pick(6000, 1000)
RAW = {
    "precondition": None,
    "init": np.zeros(size),
    "chains": 1,
    "gradient": "simple",
    "subsample": "uniform",
    "batch_size": BATCH,
    **HOW,
}
steps = {
    f"sgld, {share:g} of the smallest variance": share * values[0] for share in (0.01, 0.1, 1.0)
}
x = {}
for name, h in steps.items():
    fit = model.fit(
        sampler="sgld",
        step_size=h,
        warmup=0,
        thin=4,
        draws=EPOCHS * len(pixels) // BATCH // 4,
        **RAW,
    )
    x[name] = fit.flat @ ENDS
fit = model.fit(
    sampler=sgmc.SBPS(refresh=0.0), warmup=1, draws=10**5, max_data_passes=EPOCHS, **RAW
)
turns, facts = fit.skeleton(), fit.chain_diagnostics().iloc[0]
x["sbps, k = 3"] = path_at(turns, np.linspace(0, turns.times[-1], len(x[name]))) @ ENDS
print(
    f"sbps: {facts.acceptance:.1%} of the looks are bounces, {facts.violations:.2%} are above "
    f"their bound, which lost {facts.missed:.1%} of the bounces"
)

# %%
figure, axs = plt.subplots(2, 3, figsize=(11, 5.6))
lags, table = min(100, EPOCHS // 4), {}
each = len(x["sbps, k = 3"]) / EPOCHS  # points an epoch
for depth, (name, way) in enumerate(x.items()):
    half = way[len(way) // 3 :]  # the first third is the way in
    table[name] = [
        *(len(half) / each / sgmc.diagnostics.ess(half[None], method="mean")),
        *(half.std(axis=0) / TRUE),
    ]
    for j in range(3):
        look = {
            "lw": 1.8 if "sbps" in name else 0.9,
            "label": name,
            "zorder": 3 if "sbps" in name else 2 - depth / 10,
        }
        axs[0, j].plot(
            np.arange(len(way)) / each,
            (way[:, j] - CENTRE[j]) / TRUE[j],
            **{**look, "lw": look["lw"] / 2},
        )
        found = acf(half[:, j], int(lags * each))
        axs[1, j].plot(np.arange(len(found)) / each, found, **look)
for j, which in enumerate(WHICH):
    axs[0, j].axhspan(-2, 2, color="0.9", lw=0, zorder=0)
    axs[0, j].set(
        xlabel="epochs",
        ylabel="sds from mala's mean",
        title=f"{which} variance: sd {TRUE[j]:.3g}",
        ylim=(-6, 6),
    )
    axs[1, j].set(xlabel="lag in epochs", ylabel="autocorrelation", ylim=(-0.3, 1.05))
axs[0, 2].set_xlim(EPOCHS * 0.97, EPOCHS)
figure.legend(*axs[1, 2].get_legend_handles_labels(), loc="outside lower center", ncols=4)
story.figure("6-directions", figure)
table = pd.DataFrame(
    table,
    index=[
        *(f"epochs a draw, {which}" for which in WHICH),
        *(f"sd ratio, {which}" for which in WHICH),
    ],
).T
print(table.round(2).to_string())

# %% [markdown]
# The *appropriate* step is the longest whose sd in the narrowest direction is right to 15 %. How
# far a chain's mean is from mala's says what autocorrelations of a chain that has not mixed cannot.

# %%
sgld = [name for name in steps if abs(table.loc[name].iloc[5] - 1) < 0.15] or list(steps)[:1]
fitting, short, long, ours = sgld[-1], list(steps)[0], list(steps)[-1], "sbps, k = 3"
away = {name: abs(way[len(way) // 3 :, 1].mean() - CENTRE[1]) / TRUE[1] for name, way in x.items()}
print(
    pd.Series(away, name="median direction: mean of the last two thirds, sds from mala's")
    .round(2)
    .to_string()
)
once = table.iloc[:, 1]
story.claim(
    "fig 6",
    "SBPS mixes comparably to an appropriately chosen SGLD, without a scan",
    f"median direction: {once[ours]:,.0f} epochs a draw, {fitting} {once[fitting]:,.0f}; mean "
    f"{away[ours]:.1f} and {away[fitting]:.1f} sds off",
    once[ours] < 2 * once[fitting] and away[ours] < away[fitting] + 0.5,
)
story.claim(
    "fig 6",
    "a poor choice of step leads to slow mixing",
    f"{short}: {away[short]:.1f} sds off in the median direction, sd "
    f"{table.loc[short].iloc[4]:.2f} of the right",
    away[short] > 1 or table.loc[short].iloc[4] < 0.5,
)
story.claim(
    "fig 6",
    "or to bias in the narrow directions",
    f"{long}: sd {table.loc[long].iloc[5]:.2f} of the right",
    table.loc[long].iloc[5] > 1.3,
)
story.claim(
    "fig 6, section 4.1",
    "the bias of SBPS is small",
    f"sd {table.loc[ours].iloc[5]:.2f} of the right in the narrowest direction",
    abs(table.loc[ours].iloc[5] - 1) < 0.15,
)
story.end(
    rows=len(pixels),
    parameters=size,
    batch=BATCH,
    epochs=EPOCHS,
    steps={name: float(h) for name, h in steps.items()},
)
