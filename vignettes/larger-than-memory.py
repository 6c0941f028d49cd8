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
# The table is simulated, so the true coefficients are known. `ROWS` is its size: every line below
# is the same for a hundred times as many rows. Writing Parquet files needs the package `pyarrow`.

# %%
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import sgmc

ROWS = 3_000_000  # quick: 120_000
folder = Path(tempfile.mkdtemp())

# %% [markdown]
# ## A folder of files
#
# A log of visits to a shop, one file a month. Each visit has a device, an age, and a sale or not.
# As in any log, rows are in the order of time, and visitors change with time: phones become more
# common, and visitors younger.

# %%
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
    visits(month, ROWS // 12).to_parquet(log / f"{month:02d}.parquet")

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

# %% [markdown]
# ## Why the rows are shuffled
#
# A mini-batch is a block of consecutive rows: disks and memory are fastest at that. In a file that
# is sorted by time, a block is one day, and the gradient of one day is a poor estimate of that of
# the year. In random order, each block is a random sample. The figure shows the mean age in blocks
# of 1,000 rows, before and after.

# %%
whole = pd.concat([pd.read_parquet(path) for path in sorted(log.iterdir())], ignore_index=True)
blocks = whole.age.to_numpy()[: len(whole) // 1000 * 1000].reshape(-1, 1000).mean(axis=1)
age = (prepared.X[:, -1] + prepared.shift[-1])[: len(whole) // 1000 * 1000]
shuffled = age.reshape(-1, 1000).mean(axis=1)
figure, axes = plt.subplots(1, 2, figsize=(8, 2.8), sharey=True, layout="constrained")
for ax, means, title in zip(axes, (blocks, shuffled), ("the files", "the prepared file")):
    ax.plot(means, linewidth=0.7)
    ax.set(title=title, xlabel="block of 1,000 rows, in order")
axes[0].set_ylabel("mean age (years)")

# %% [markdown]
# ## What a draw costs
#
# This table is small enough to read it as a whole, so that parts of it can be fitted beside it. The
# rows that are read for one draw do not depend on how many there are. With more rows the
# posterior is narrower, and so are the steps, but in units of the posterior's sds all is the same.

# %%
costs = []
for part in (ROWS // 30, ROWS // 10, ROWS // 3, ROWS):
    some = whole.sample(part, random_state=1)
    fit = sgmc.logit("sale ~ device + age", some, seed=1, sampler="lmsgld")
    passes = fit.chain_diagnostics().data_passes.sum()
    seen = passes * part / fit.draws[..., 0].size
    costs.append({"rows": part, "rows read per draw": round(seen)})
costs = pd.DataFrame(costs)
print(costs)

# %% [markdown]
# ## A month later
#
# In January a thirteenth file arrives. `update` carries the posterior on with the new rows alone.
# The old rows count by their expansion around the old mode, and the summary says what that leaves
# out.

# %%
january = visits(13, ROWS // 12)
carried = res.update(january, seed=1)
print(carried.summary())

# %% [markdown]
# ## Predictions into a file
#
# Predictions for files are made chunk by chunk. `to=` names the file for the results.

# %%
carried.predict(f"{log}/*.parquet", to=folder / "chances.parquet")
chances = pd.read_parquet(folder / "chances.parquet")
print(chances.head(3))

# %% [markdown]
# ## Where next
#
# `docs/files.md` lists what can be read, what is kept in memory, and what is refused.
# `docs/cluster.md` fits tables that are spread over several machines.
