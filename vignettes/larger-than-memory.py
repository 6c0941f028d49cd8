# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # A table larger than memory
#
# Each step of a mini-batch sampler reads a few dozen rows. With a very large table, most of the
# time goes into everything else: reading the files, finding the mode, checking the draws. This page
# fits a model to a folder of Parquet files. The files are read twice and written once, in random
# order, as one file that fits read where it is. Memory stays bounded throughout.
#
# The table is simulated, so the true coefficients are known. Its size is a setting: every line
# below is the same for a hundred times as many rows. Folded cells check what the text states.

# %%
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import sgmc

folder = Path(tempfile.mkdtemp())

# %% tags=["hide-cell"]
from story import Story  # noqa: E402

story = Story("larger-than-memory", minutes=4)
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)  # the summaries repeat them

# %% [markdown]
# ## A folder of files
#
# A log of visits to a shop, one file a month. Each visit has a device, an age, and a sale or not.
# As in any log, rows are in the order of time, and visitors change with time: phones become more
# common, and visitors younger.

# %%
rows = 3_000_000
rows = story.pick(rows, rows // 25)
effects = {"desktop": 0.0, "phone": -0.5, "tablet": 0.2}
truth = {"Intercept": -2.0, "device[T.phone]": -0.5, "device[T.tablet]": 0.2, "age": 0.03}


def visits(month, rows):
    """The visits of one month."""
    rng = np.random.default_rng(month)
    shares = [0.85 - 0.05 * month, 0.10 + 0.05 * month, 0.05]
    device = rng.choice(list(effects), rows, p=shares)
    age = rng.normal(50 - month, 12, rows)
    eta = -2 + pd.Series(device).map(effects) + 0.03 * age
    sale = rng.random(rows) < 1 / (1 + np.exp(-eta))
    return pd.DataFrame({"sale": sale.astype(int), "device": device, "age": age})


log = folder / "log"
log.mkdir()
for month in range(1, 13):
    visits(month, rows // 12).to_parquet(log / f"{month:02d}.parquet")

# %% [markdown]
# ## Prepare once
#
# `sgmc.prepare` reads the files twice. The first pass finds the levels of factors, means, sds and
# missing values. The second writes the rows in random order, each as the numbers and codes that the
# model needs. Both passes keep a bounded part of the table in memory. If the process is killed, the
# same call goes on where it was.

# %%
prepared = sgmc.prepare("sale ~ device + age", f"{log}/*.parquet", folder / "visits.sgmc", seed=1)
print(prepared)

# %% [markdown]
# Every verb takes the result in the place of a data frame. In another session,
# `sgmc.open(folder / "visits.sgmc")` opens the file.

# %%
res = sgmc.logit("sale ~ device + age", prepared, seed=1)
print(res.summary())

# %% [markdown]
# `sgmc.logit("sale ~ device + age", "log/*.parquet", cache="cache")` does both in one call. A table
# that fits in memory is simply read.

# %% tags=["hide-cell"]
whole = pd.concat([pd.read_parquet(path) for path in sorted(log.iterdir())], ignore_index=True)
memory = sgmc.logit("sale ~ device + age", whole, seed=2)
apart = ((res.params - memory.params) / memory.bse).abs().max()
ratio = (res.bse / memory.bse - 1).abs().max()
story.claim(
    "a fit from the file",
    "the posterior is that of the same rows in memory: means within .1 sd, sds within 5 %",
    f"means differ by at most {apart:.3f} sd, sds by at most {ratio:.1%}",
    apart < 0.1 and ratio < 0.05,
)
away = ((res.params - pd.Series(truth)) / res.bse).abs().max()
story.claim(
    "a fit from the file",
    "the true coefficients are within 3.5 posterior sds",
    f"at most {away:.1f} sds away",
    away < 3.5,
)

# %% [markdown]
# ## Why the rows are shuffled
#
# A mini-batch is a block of consecutive rows: disks and memory are fastest at that. In a file that
# is sorted by time, a block is one day, and the gradient of one day is a poor estimate of that of
# the year. In random order, each block is a random sample. The figure shows the mean age in blocks
# of 1,000 rows, before and after.

# %%
blocks = whole.age.to_numpy()[: len(whole) // 1000 * 1000].reshape(-1, 1000).mean(axis=1)
age = (prepared.X[:, -1] + prepared.shift[-1])[: len(whole) // 1000 * 1000]
shuffled = age.reshape(-1, 1000).mean(axis=1)
figure, axes = plt.subplots(1, 2, figsize=(8, 2.8), sharey=True)
for ax, means, title in zip(axes, (blocks, shuffled), ("the files", "the prepared file")):
    ax.plot(means, linewidth=0.7)
    ax.set(title=title, xlabel="block of 1,000 rows")
axes[0].set_ylabel("mean age")

# %% tags=["hide-cell"]
story.figure("order", figure)
simple = whole.age.std() / np.sqrt(1000)
story.claim(
    "order of rows",
    "means of blocks vary as those of random samples of 1,000 rows, and far more in the files",
    f"sd {shuffled.std():.3f} after, {blocks.std():.3f} before, {simple:.3f} of random samples",
    abs(shuffled.std() / simple - 1) < 0.15 and blocks.std() > 5 * simple,
)

# %% [markdown]
# ## What a draw costs
#
# The rows that are read for one draw do not depend on how many there are. With more rows the
# posterior is narrower, and so are the steps, but in units of the posterior's sds all is the same.

# %%
costs = []
for part in (rows // 30, rows // 10, rows // 3, rows):
    some = whole.sample(part, random_state=1)
    fit = sgmc.logit("sale ~ device + age", some, seed=1, sampler="lmsgld")
    passes = fit.chain_diagnostics().data_passes.sum()
    seen = passes * part / fit.draws[..., 0].size
    costs.append({"rows": part, "rows read per draw": round(seen)})
costs = pd.DataFrame(costs)
print(costs)

# %% tags=["hide-cell"]
few, many = costs.iloc[0, 1], costs.iloc[-1, 1]
story.claim(
    "cost of a draw",
    "thirty times as many rows, no more rows read per draw",
    f"{few:.0f} rows read per draw with {costs.rows.iloc[0]:,} rows, {many:.0f} with {rows:,}",
    many < 1.3 * few,
)

# %% [markdown]
# ## A month later
#
# In January a thirteenth file arrives. `update` carries the posterior on with the new rows alone.
# The old rows count by their expansion around the old mode, and the summary says what that leaves
# out.

# %%
january = visits(13, rows // 12)
carried = res.update(january, seed=1)
print(carried.summary())

# %% tags=["hide-cell"]
both = sgmc.logit("sale ~ device + age", pd.concat([whole, january]), seed=3)
apart = ((carried.params - both.params) / both.bse).abs().max()
ratio = (carried.bse / both.bse - 1).abs().max()
story.claim(
    "a month later",
    "the posterior is that of all thirteen months: means within .1 sd, sds within 5 %",
    f"means differ by at most {apart:.3f} sd, sds by at most {ratio:.1%}",
    apart < 0.1 and ratio < 0.05,
)

# %% [markdown]
# ## Predictions into a file
#
# Predictions for files are made chunk by chunk. `to=` names the file for the results.

# %%
carried.predict(f"{log}/*.parquet", to=folder / "chances.parquet")
chances = pd.read_parquet(folder / "chances.parquet")
print(chances.head(3))

# %% tags=["hide-cell"]
expected = np.asarray(carried.predict(whole))
story.claim(
    "predictions",
    "one line for each row of the files, in their order, with the predictions of the same rows in "
    "memory",
    f"{len(chances):,} lines; they differ by at most "
    f"{np.abs(chances.iloc[:, -1] - expected).max():.1g}",
    len(chances) == len(whole) and np.allclose(chances.iloc[:, -1], expected, rtol=1e-12),
)

# %% [markdown]
# ## Where next
#
# `docs/files.md` lists what can be read, what is kept in memory, and what is refused.
# `docs/cluster.md` fits tables that are spread over several machines.

# %% tags=["hide-cell"]
story.end(rows=rows)
