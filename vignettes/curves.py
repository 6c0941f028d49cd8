# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Curves
#
# In a regression `y ~ x`, one more unit of `x` adds the same amount everywhere. With `y ~ s(x)`, a
# smooth curve takes the place of the line, and the data determine how much it bends. The curve is a
# straight line plus a set of flexible columns. The coefficients of these columns have a common
# prior, normal around zero, and its standard deviation `sd(s(x))` is estimated with everything
# else. If it is near zero, the columns vanish and the line is left. If it is large, the curve bends
# where the data bend. Intervals include the uncertainty about the amount of bending.
#
# Real tables on this page come with statsmodels. The others are simulated on the page.

# %%
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from statsmodels import datasets

import sgmc


def compared(**fits):
    """Return the columns of `sgmc.compare` that this page reads."""
    return sgmc.compare(**fits)[["elpd", "se", "elpd_diff", "diff_se"]].round(2)


# %% [markdown]
# ## A first curve
#
# Ernst Engel published incomes and food expenditures of 235 Belgian households. Of each additional
# franc, do richer households spend as much on food as poorer ones?

# %%
engel = datasets.engel.load_pandas().data
line = sgmc.ols("foodexp ~ income", engel, seed=1)
curve = sgmc.ols("foodexp ~ s(income)", engel, seed=1, draws=4000)
print(curve.summary())

# %% [markdown]
# - `income` is the slope of the straight line nearest to the curve.
# - `sd(s(income))` is the root mean square of what the curve adds to that line, in units of the
#   outcome: several dozen francs.
# - Effective degrees of freedom (edf) count the coefficients that a curve uses up. A line has 1. A
#   curve with ten basis functions has at most 9, as the intercept takes one.
#
# `plot_smooth` draws the posterior mean of the curve, its line included, and a 95 % band. Marks at
# the bottom are the incomes of the table. The mean over the rows is zero, because the intercept has
# the level; the units are francs. `smooth` returns the same as a table, at values of your choice.

# %%
curve.plot_smooth("s(income)")
print(curve.smooth("s(income)", at=[500, 1000, 2000, 4000]).round(1))

# %% [markdown]
# `compare` estimates by leave-one-out cross-validation how well each model predicts a household
# from all others. The second table leaves out the richest household, whose income is nearly twice
# that of the next.

# %%
households = compared(line=line, curve=curve)
print(households)
others = engel[engel.income < engel.income.max()]
without = compared(
    line=sgmc.ols("foodexp ~ income", others, seed=1),
    curve=sgmc.ols("foodexp ~ s(income)", others, seed=1, draws=4000),
)
print(without)

# %% [markdown]
# With all households the curve is ahead, by about one standard error of the difference. Without the
# richest one the line is ahead. The bend of this curve rests on a single row. A curve follows
# single rows at the ends of the range, where neighbours are few, so look at these rows first.

# %% [markdown]
# ## When a straight line is enough
#
# The American election study of 1996: did respondents from larger places vote for Dole less often,
# and is the relation straight on the scale of log odds?

# %%
votes = datasets.anes96.load_pandas().data
straight = sgmc.logit("vote ~ logpopul", votes, seed=1)
bent = sgmc.logit("vote ~ s(logpopul)", votes, seed=1, draws=4000)
print(bent.conf_int().round(3))
bent.plot_smooth()
voters = compared(straight=straight, bent=bent)
print(voters)

# %% [markdown]
# The interval of `sd(s(logpopul))` begins near zero, a straight line is inside the band, and
# leave-one-out finds no gain. Report the line. The edf of the summary is computed at one central
# value of the sd. If the sd may be near zero, look at its interval as well: edf alone can suggest
# more bending than there is.

# %% [markdown]
# ## A curve for each level
#
# `s(x, by=g)` fits a curve for each level of `g`, each with a standard deviation of its own, and
# adds the levels themselves. This table is simulated: a sine, a straight line, and a hill.

# %%
rng = np.random.default_rng(3)
n = 900
g, x = rng.choice(["a", "b", "c"], n), rng.uniform(0, 1, n)
truth = {
    "a": lambda x: np.sin(2 * np.pi * x),
    "b": lambda x: 1.5 * x,
    "c": lambda x: np.exp(-30 * (x - 0.6) ** 2),
}
mean = np.select([g == level for level in truth], [f(x) for f in truth.values()])
three = pd.DataFrame({"y": mean + 0.4 * rng.normal(size=n), "x": x, "g": g})
levels = sgmc.ols("y ~ s(x, by=g)", three, seed=1, draws=8000)
print(levels.smooths.round(1))
print(levels.verdict)

# %%
figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), sharey=True, layout="constrained")
outside = []
for ax, (level, f) in zip(axes, truth.items()):
    levels.plot_smooth(f"s(x):g[{level}]", ax=ax)
    centre = f(x[g == level]).mean()
    table = levels.smooth(f"s(x):g[{level}]")
    ax.plot(table.x, f(table.x) - centre, color="black", linestyle="--", linewidth=1)
    low, high = table.iloc[:, -2], table.iloc[:, -1]
    true = f(table.x) - centre
    outside.append(((true < low) | (true > high)).mean())

# %% [markdown]
# Blue lines and bands are posterior means and 95 % intervals, dashed lines the true curves. The
# second curve is a straight line, so `sd(s(x):g[b])` may be zero. Its posterior is then skewed, and
# few draws visit its upper tail. The verdict covers every parameter of the table, this one
# included, so this fit takes 8,000 draws per chain. Curves hardly depend on that tail.

# %% [markdown]
# ## A season
#
# Carbon dioxide on Mauna Loa, monthly means since 1958: a trend and a season. With `bs="cc"` the
# curve has the same value, slope and curvature at both ends. `knots=(0.5, 12.5)` gives these ends:
# the middle of December to January is both 0.5 and 12.5.

# %%
co2 = datasets.co2.load_pandas().data.co2.resample("MS").mean().dropna()
when = co2.index
co2 = pd.DataFrame(
    {"co2": co2.to_numpy(), "year": when.year + (when.month - 0.5) / 12, "month": when.month}
)
trend = "s(year, k=20)"
season = sgmc.ols(
    f"co2 ~ {trend} + s(month, bs='cc', k=12, knots=(0.5, 12.5))", co2, seed=1, draws=4000
)
figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for ax, name in zip(axes, ("s(year)", "s(month)")):
    season.plot_smooth(name, ax=ax)
print(season.smooth("s(month)", at=[1, 5, 10]).round(2))

# %% [markdown]
# Both curves are in parts per million. Residuals of neighbouring months are correlated, as for any
# regression of a time series. The model takes them for independent, so that its intervals are too
# narrow.

# %% [markdown]
# ## A surface
#
# `te(x, z)` fits a surface of two covariates. It consists of a curve in `x` whose shape may change
# linearly with `z`, a curve in `z` whose shape may change linearly with `x`, and what is left. Each
# of the three has a standard deviation. The table has monthly sea temperatures off Peru,
# 1950 to 2010. Did the season change over the years?

# %%
wide = datasets.elnino.load_pandas().data
months = {name: k + 1 for k, name in enumerate(wide.columns[1:])}
sea = wide.melt("YEAR", value_name="degrees")
sea = sea.assign(month=sea.variable.map(months))
surface = sgmc.ols("degrees ~ te(YEAR, month)", sea, seed=1, draws=4000)
surface.plot_smooth()
sds = [name for name in surface.params.index if name.startswith("sd(")]
print(surface.conf_int().loc[sds].round(3))

# %% [markdown]
# Colours are degrees Celsius above or below the mean. The season dominates. The last sd, of what
# bends in both directions at once, has an interval that begins near zero: these data show no such
# change.

# %% [markdown]
# ## Groups beside a curve
#
# Counts at 40 sites. Sites differ, and the mean is a curve in `x`. Group terms and smooths are in
# the same formula.

# %%
rng = np.random.default_rng(5)
n = 1200
site, at = rng.integers(0, 40, n), rng.uniform(0, 1, n)
eta = 0.5 + np.sin(2 * np.pi * at) + 0.5 * rng.normal(size=40)[site]
sites = pd.DataFrame({"y": rng.poisson(np.exp(eta)), "x": at, "site": site})
grouped = sgmc.poisson("y ~ s(x) + (1 | site)", sites, seed=1, draws=4000)
print(grouped.summary())

# %% [markdown]
# ## Outside of the range
#
# Beyond the data, a curve goes on as the straight line that it has at the end. A prediction there
# raises an `ExtrapolationWarning`. Intervals widen, as the slope at the end is uncertain. They do
# not include the possibility that the curve bends again.

# %%
incomes = np.array([2000, 5000, 6000, 8000, 10000.0])
far = curve.get_prediction(pd.DataFrame({"income": incomes})).summary_frame()
print(pd.concat([pd.Series(incomes, name="income"), far.iloc[:, :4]], axis=1).round(0))

# %% [markdown]
# `knots=(low, high)` in the formula widens the range, so that the curve may bend up to these ends.
# Nothing but the prior determines it there. Intervals show that.

# %%
wider = sgmc.ols("foodexp ~ s(income, knots=(0, 10000), k=20)", engel, seed=1, draws=4000)
open_end = wider.get_prediction(pd.DataFrame({"income": incomes})).summary_frame()
print(pd.concat([pd.Series(incomes, name="income"), open_end.iloc[:, :4]], axis=1).round(0))

# %% [markdown]
# ## Beside mgcv
#
# R's mgcv fits the same curves. It maximises the restricted likelihood (REML) to choose the
# penalty, where the posterior here is an average over it. At the same penalty both agree to five
# digits and more (`tests/splines/test_mgcv.py`). The table has the numbers of mgcv 1.8-41 for two
# fits of this page. Standard errors include its correction for the choice of the penalty
# (`unconditional=TRUE`).

# %%
mgcv = pd.DataFrame(
    [
        ("s(income)", 500, -272.8187, 11.0365, 3.31),
        ("s(income)", 1500, 299.5742, 11.0734, 3.31),
        ("s(income)", 4500, 1228.2765, 79.0508, 3.31),
        ("s(year)", 1960, -23.3702, 0.0706, 17.88),
        ("s(year)", 1988, 10.3005, 0.0747, 17.88),
        ("s(month)", 5, 2.9163, 0.0543, 9.41),
        ("s(month)", 10, -3.1509, 0.0526, 9.41),
    ],
    columns=["smooth", "at", "mgcv", "mgcv_se", "mgcv_edf"],
)
here = []
for row in mgcv.itertuples():
    res = curve if row.smooth == "s(income)" else season
    value = res.smooth(row.smooth, at=[row.at]).iloc[0]
    here.append((value["mean"], value["sd"], res.smooths.edf[row.smooth]))
beside = mgcv.assign(**dict(zip(("mean", "sd", "edf"), np.array(here).T)))
print(beside.round(3).to_string(index=False))

# %% [markdown]
# Engel's table tells little of how much its curve bends. There the average differs most from the
# plug-in: 3.6 instead of 3.3 effective degrees of freedom, and wider bands.
#
# ## The verdict
#
# The verdict under each summary covers all printed parameters, `sd(s(x))` included. Its posterior
# is skewed to the right, and the Monte Carlo error of its sd is larger than that of any curve. With
# the default of 1,000 draws per chain this is often the number that misses the limit, depending on
# the seed. The verdict then names the `draws` that are needed. This page has taken 4,000
# and more.

# %%
for seed in (1, 2, 3):
    print("1,000 draws:", sgmc.ols("foodexp ~ s(income)", engel, seed=seed).verdict)
print("4,000 draws:", curve.verdict)

# %% [markdown]
# ## Where next
#
# `docs/smooths.md` lists options and priors, what a smooth's numbers mean, costs, and what mgcv has
# that this package has not.
