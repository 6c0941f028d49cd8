# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Getting started: a pandas user's first hour
#
# You have a table and a question with uncertainty in the answer. Here: 336,776 flights that left
# New York in 2013, and what makes a flight arrive more than a quarter of an hour late. You know
# `statsmodels.formula.api.logit`, or R's `glm`. `sgmc.logit` takes the same formula and gives a
# posterior in the place of a point estimate, in about the same time.

# %%
import time
import warnings

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from matplotlib import pyplot as plt
from story import Story

import sgmc

story = Story("getting-started", minutes=3)

# %% [markdown]
# ## A table
#
# `sgmc.datasets.load` reads a copy of the data from the folder that `SGMC_DATA` names, or downloads
# it from its source; any data frame of yours will do as well. Rows with a missing value in a column
# of the formula are left out, and the summary says how many; `missing="raise"` makes them an error
# that names the columns. Here they go before the outcome is made: a flight that never arrived has
# no delay, and to pandas NaN > 15 is False.

# %%
flights = story.data("flights")
table = flights[["arr_delay", "month", "hour", "origin", "carrier", "distance"]].dropna()
table = table[table.carrier.isin(table.carrier.value_counts().index[:8])]
table = table.assign(
    late=(table.arr_delay > 15).astype(int),
    miles=table.distance / 1000,
    winter=table.month.isin([12, 1, 2]).astype(int),
    summer=table.month.isin([6, 7]).astype(int),
)
table = table.iloc[:: story.pick(1, 20)].reset_index(drop=True)
print(f"{len(table):,} flights, {table.late.mean():.1%} late")

# %% [markdown]
# ## A posterior in one line
#
# Patsy's formulas, with R's dot. Nothing has to be tuned: sampler, step, minibatch, warmup and
# thinning are derived from the data, and the summary says what was chosen.

# %%
formula = "late ~ hour + miles + winter + summer + C(origin) + C(carrier)"
begun = time.perf_counter()
res = sgmc.logit(formula, table, seed=1)
seconds = time.perf_counter() - begun
print(res.summary())

# %% [markdown]
# Read it from the bottom. The **verdict** says whether to trust the numbers, and to how much of a
# standard deviation: it compares the draws' means and sds with those that the gradients of the log
# posterior imply, at no second run. Then the header: which sampler, how many rows a step looks at,
# how often all data were gone through, effective sample size, R-hat, the Stein discrepancy.
#
# A maximum-likelihood fit of the same table takes

# %%
begun = time.perf_counter()
mle = smf.logit(formula, table).fit(disp=0)
once = time.perf_counter() - begun
apart = float(((res.params - mle.params.to_numpy()).abs() / mle.bse.to_numpy()).max())
print(
    f"statsmodels {once:.1f} s, posterior {seconds:.1f} s, farthest coefficients {apart:.2f} "
    "standard errors apart"
)
story.claim(
    "README",
    "a posterior in about the time of a point estimate",
    f"{seconds / once:.2f} of statsmodels' seconds",
    seconds < 2 * once,
    "few rows: a point estimate is the sooner there",
)
story.claim(
    "README",
    "with many rows and weak priors, the maximum-likelihood fit's coefficients",
    f"at most {apart:.2f} standard errors apart",
    apart < 0.2,
)

# %% [markdown]
# ## Questions that a posterior answers
#
# The probability of a statement, with no test to look up; contrasts, with their own intervals.

# %%
print(res.hypothesis("C(carrier)[T.EV] > C(carrier)[T.B6]"))
print(res.contrast(["C(carrier)[T.EV] - C(carrier)[T.B6]", "summer - winter"]))
print(res.conf_int().head(4))

# %% [markdown]
# Predictions are averages over draws, never a plug-in of means: a probability has an interval.

# %%
hours = pd.DataFrame(
    {
        "hour": np.arange(6, 23),
        "miles": 1.0,
        "winter": 0,
        "summer": 1,
        "origin": "LGA",
        "carrier": "EV",
    }
)


def draw(title, **fits):
    """The mean and the 95 % interval of the probability by hour, for each of some fits."""
    figure, ax = plt.subplots(figsize=(5.5, 3.2))
    for label, fit in fits.items():
        band = fit.get_prediction(hours).summary_frame()
        ax.fill_between(
            hours.hour, band["mean_ci_lower"], band["mean_ci_upper"], alpha=0.3, linewidth=0
        )
        ax.plot(hours.hour, band["mean"], label=label)
    ax.set(xlabel="scheduled hour", ylabel="P(more than 15 minutes late)", title=title)
    if len(fits) > 1:
        ax.legend()
    return figure


band = res.get_prediction(hours).summary_frame()
story.figure(
    "hours", draw("A summer flight of 1,000 miles from LGA with EV: mean and 95 %", straight=res)
)
story.claim(
    "data",
    "delays pile up over the day",
    f"{band['mean'].iloc[0]:.2f} at six, {band['mean'].iloc[-1]:.2f} at ten in the evening",
    band["mean"].iloc[-1] > band["mean"].iloc[0],
)

# %% [markdown]
# ## Does the model fit?
#
# `pp_check` simulates outcomes from the posterior and compares them with what happened: here the
# share of late flights, in ten groups by their fitted probability.

# %%
ax = res.plot_pp_check()
ax = np.ravel(ax)[0]
ax.set_title("Straight in the hour: observed shares leave the simulated ones")
story.figure("pp-check", ax.figure)

# %% [markdown]
# It does not: the groups at both ends are late more often than the model says, those in the middle
# less. A posterior can be sampled without fault and be that of the wrong model; the verdict speaks
# of the first alone. Delays need not grow by the same log-odds in each hour, so let a spline say
# how (patsy's `bs`, of cubic pieces), and compare the two by leave-one-out accuracy.

# %%
curved = sgmc.logit(
    "late ~ bs(hour, df=4) + miles + winter + summer + C(origin) + C(carrier)", table, seed=1
)
scores = sgmc.compare(straight=res, curved=curved)
print(scores.round(1))
gain = scores.loc["curved", "elpd"] - scores.loc["straight", "elpd"]
error = scores.loc["straight", "diff_se"]
story.claim(
    "text",
    "a curve in the hour predicts better than a line",
    f"elpd larger by {gain:.0f}, with a standard error of {error:.0f}",
    gain > 2 * error,
)

# %%
story.figure(
    "curved", draw("The same flight by both models: mean and 95 %", straight=res, curved=curved)
)

# %% [markdown]
# ## Your prior
#
# Defaults are weak: normal(0, 2.5) in units of a predictor's sd. Others are named, for all slopes
# or one by one.

# %%
few = table.sample(200, random_state=1)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
    wide, narrow = (
        sgmc.logit("late ~ hour + miles + summer", few, prior=sgmc.normal(0, sd), seed=1)
        for sd in (10, 0.1)
    )
print(
    pd.DataFrame(
        {
            "wide: mean": wide.params,
            "sd": wide.bse,
            "narrow: mean": narrow.params,
            "sd ": narrow.bse,
        }
    ).round(3)
)
story.claim(
    "text",
    "a narrow prior pulls slopes of 200 rows towards zero",
    f"miles: {wide.params['miles']:.3f} becomes {narrow.params['miles']:.3f}",
    abs(narrow.params["miles"]) < 0.5 * abs(wide.params["miles"]),
)

# %% [markdown]
# ## Keep it, go on
#
# `res.save("late.sgmc")` keeps draws and summary without the data, `res.resume(draws=1000)` goes on
# where the run stopped, `res.to_arviz()` hands the draws to ArviZ. Where next: `choosing-a-sampler`
# (what the papers' samplers cost and give), `trust` (cases that fail, and how you are told),
# `bring-your-own-model`.

# %%
again = res.resume(draws=200)
story.claim(
    "text",
    "a resumed run goes on",
    f"{again.draws.shape[1]} draws a chain after {res.draws.shape[1]}",
    again.draws.shape[1] > res.draws.shape[1],
)
story.end(rows=len(table))
