# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Your table has groups
#
# Rows often come in groups: days of a subject, cows of a herd, women of a district. Rows of a group
# are alike, so they carry less information than as many independent rows. A group term lets
# coefficients vary between groups: `(1 | g)` fits an intercept for each level of `g`,
# `(1 + x | g)` a slope of `x` as well. This page fits three published tables and a million
# simulated rows, and shows what goes wrong when groups are ignored.
#
# The tables are part of the R packages lme4 and mlmRev. They are read from CSV files in the folder
# `grouped` of `SGMC_DATA`. Sections whose file is missing print nothing; the simulated ones need no
# file. Folded cells check what the text states.

# %%
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy import special

import sgmc


def published(name):
    """Return a table of the folder SGMC_DATA/grouped, or None if it is not there."""
    path = Path(os.environ.get("SGMC_DATA", "")) / "grouped" / f"{name}.csv"
    return pd.read_csv(path) if path.exists() else None


# %% tags=["hide-cell"]
from story import Story  # noqa: E402

story = Story("groups", minutes=12)
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)  # the summaries repeat them
for name in ("sleepstudy", "cbpp", "contraception"):
    if published(name) is None:
        story.note(f"grouped/{name}.csv is not in SGMC_DATA: its section is skipped")

# %% [markdown]
# ## Reaction times, with slopes that vary
#
# Eighteen subjects slept three hours a night; their reaction times were measured on ten days
# (Belenky et al. 2003). Each subject has an intercept and a slope of days. `sd(Days|Subject)` is
# the standard deviation of the slopes between subjects. `plot_ranef` shows the effects of the
# subjects, with 95 % intervals.

# %%
sleep = published("sleepstudy")
if sleep is not None:
    res = sgmc.ols("Reaction ~ Days + (1 + Days | Subject)", sleep, seed=1)
    print(res.summary())
    axes = res.plot_ranef()

# %% [markdown]
# lme4 gives point estimates of the same model by maximum likelihood: 251.405 and 10.467, with
# standard deviations 23.8 and 5.7. The fixed effects agree. Maximum likelihood underestimates
# standard deviations where groups are few.

# %% tags=["hide-cell"]
if sleep is not None:
    story.figure("sleepstudy", axes[0].figure)
    sds = ["sd(1|Subject)", "sd(Days|Subject)"]
    fixed = res.fe_params
    apart = np.abs(fixed - [251.4051, 10.4673]) / res.bse_fe
    story.claim(
        "sleepstudy",
        "fixed effects as lme4 has them: 251.405 and 10.467",
        f"{fixed.iloc[0]:.1f} and {fixed.iloc[1]:.2f}",
        apart.max() < 0.1,
    )
    story.claim(
        "sleepstudy",
        "sds 23.8 and 5.7 by maximum likelihood, which is known to be low for few groups",
        f"posterior means {res.params[sds[0]]:.1f} and {res.params[sds[1]]:.1f}, 95 % intervals "
        + " and ".join(f"{a:.1f} to {b:.1f}" for a, b in res.conf_int().loc[sds].to_numpy()),
        (res.params[sds] > [23.8, 5.7]).all(),
    )

# %% [markdown]
# ## Counts of cases in herds
#
# A cattle disease in 15 herds over four periods (Lesnoff et al. 2004). Outcomes are cases among
# animals: two columns of counts left of the tilde.

# %%
cbpp = published("cbpp")
if cbpp is not None:
    cbpp = cbpp.assign(healthy=cbpp["size"] - cbpp.incidence)
    res = sgmc.logit("incidence + healthy ~ C(period) + (1 | herd)", cbpp, seed=1)
    print(res.summary())

# %% tags=["hide-cell"]
if cbpp is not None:
    apart = np.abs(res.fe_params - [-1.3992, -0.9914, -1.1278, -1.5795]) / res.bse_fe
    story.claim(
        "cbpp",
        "fixed effects as lme4 has them (25 nodes)",
        f"farthest {apart.max():.2f} posterior sds apart",
        apart.max() < 0.25,
        "priors and averages in the place of a maximum",
    )

# %% [markdown]
# ## Women in districts, and new districts
#
# Use of contraception by 1,934 women in 60 districts of Bangladesh (1988). The effect of living in
# a town may vary between districts.

# %%
women = published("contraception")

# %% tags=["hide-cell"]
if women is not None:
    women = women[women.district <= story.pick(60, 10)]

# %% [markdown]
# `compare` estimates how well each model predicts a woman from all other women, by leave-one-out
# cross-validation.

# %%
if women is not None:
    plain = "use ~ age + I(age**2) + urban + C(livch)"
    flat = sgmc.logit(plain, women, seed=1)
    by_district = sgmc.logit(f"{plain} + (1 | district)", women, seed=1)
    by_town = sgmc.logit(f"{plain} + (1 + urban | district)", women, seed=1)
    print(by_town.summary())
    found = sgmc.compare(flat=flat, by_district=by_district, by_town=by_town)
    print(found.round(2))

# %% [markdown]
# `loo(group=True)` leaves out a district at a time: how well a model predicts districts that it has
# not seen is another question.

# %%
if women is not None:
    new_districts = sgmc.compare(
        by_district=by_district.loo(group=True), by_town=by_town.loo(group=True)
    )
    print(new_districts.round(2))
    ax = by_district.plot_ranef()

# %% [markdown]
# Predictions for a level of the fit use its effect. Predictions for a new level draw one from the
# population, so their intervals are wider.

# %%
if women is not None:
    new = pd.DataFrame({"age": 0.0, "urban": "Y", "livch": "2", "district": [1, "new"]})
    band = by_district.get_prediction(new).summary_frame()
    print(band.round(3))

# %% tags=["hide-cell"]
if women is not None:
    story.figure("contraception", np.ravel(ax)[0].figure)
    gain = found.elpd["by_district"] - found.elpd["flat"]
    story.claim(
        "contraception",
        "districts differ: other women of a district help to predict a woman",
        f"elpd {gain:.1f} higher with districts",
        gain > story.pick(10, 2),
    )
    width = (band["mean_ci_upper"] - band["mean_ci_lower"]).to_numpy()
    story.claim(
        "contraception",
        "the use in a new district is less certain than in a known one",
        f"intervals {width[0]:.2f} wide for a known district, {width[1]:.2f} for a new one",
        width[1] > 1.3 * width[0],
    )

# %% [markdown]
# ## A million rows
#
# A million simulated rows in 100,000 groups. The effects of the groups are integrated out, so the
# sampler moves nine coefficients and one standard deviation. Mini-batches consist of whole groups.

# %%
rows, levels = 1_000_000, 100_000

# %% tags=["hide-cell"]
rows, levels = story.pick((rows, levels), (10_000, 1_000))
begun = time.perf_counter()

# %%
rng = np.random.default_rng(1)
X, g = rng.normal(size=(rows, 8)), rng.integers(0, levels, rows)
beta, sd = 0.3 * rng.normal(size=8), 0.7
eta = -0.5 + X @ beta + sd * rng.normal(size=levels)[g]
big = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
big = big.assign(g=g, y=(rng.random(rows) < special.expit(eta)).astype(int))
res = sgmc.logit("y ~ x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + (1 | g)", big, seed=1)
print(res.summary())

# %% tags=["hide-cell"]
seconds = time.perf_counter() - begun
apart = np.abs(res.params.to_numpy() - [-0.5, *beta, sd]) / res.bse.to_numpy()
story.claim(
    "a million rows",
    "the posterior is where the truth is",
    f"the truth is at most {apart.max():.1f} posterior sds from the ten means; {seconds:.1f} s "
    "with the simulation",
    apart.max() < 3.3,
)
story.claim(
    "a million rows",
    "the verdict is trustworthy",
    res.verdict.text.partition(":")[0],
    res.verdict.trustworthy,
)

# %% [markdown]
# ## What goes wrong when groups are ignored
#
# ### Intervals of a group's predictor are too narrow
#
# A predictor that is the same for all rows of a group, such as the size of a school, has only as
# many values as there are groups. A regression that ignores groups counts rows instead. Here 40
# groups of 25 rows are simulated many times, and the coefficient of `size` is 0.5. A 95 % interval
# should contain it in 95 of 100 tables.

# %%
g, tables = np.repeat(np.arange(40), 25), 100


def simulated(seed):
    """Return rows of 40 groups whose log odds have sd 0.8 between groups of one size."""
    rng = np.random.default_rng([7, seed])
    size = rng.normal(size=40)
    eta = (0.5 * size + 0.8 * rng.normal(size=40))[g]
    y = (rng.random(len(g)) < special.expit(eta)).astype(int)
    return pd.DataFrame({"y": y, "size": size[g], "g": g})


# %% tags=["hide-cell"]
tables = story.pick(tables, 6)

# %%
ends = {"y ~ size": [], "y ~ size + (1 | g)": []}
for seed in range(tables):
    df = simulated(seed)
    for formula, intervals in ends.items():
        fit = sgmc.logit(formula, df, seed=seed, draws=500)
        intervals.append(fit.conf_int().loc["size"].to_numpy())
shares = {}
figure, axes = plt.subplots(1, 2, figsize=(7, 3.4), sharex=True, sharey=True)
for ax, (formula, intervals) in zip(axes, ends.items()):
    low, high = np.array(intervals).T
    holds = (low <= 0.5) & (high >= 0.5)
    shares[formula] = holds.mean()
    colors = np.where(holds, "tab:gray", "tab:red")[:50]
    ax.hlines(np.arange(len(colors)), low[:50], high[:50], color=colors, linewidth=1.5)
    ax.axvline(0.5, color="black", linewidth=0.8)
    ax.set(title=formula, xlabel=f"coefficient of size: {len(colors)} intervals", yticks=[])
print(pd.Series(shares).map("{:.0%}".format))

# %% [markdown]
# Red intervals do not contain the true value 0.5.

# %% tags=["hide-cell"]
story.figure("ignored", figure)
share = list(shares.values())
story.claim(
    "ignored groups",
    "95 % intervals of a group's predictor hold the truth far too rarely without groups",
    f"{share[0]:.0%} without groups, {share[1]:.0%} with them",
    share[0] < 0.75 and share[1] > 0.85,
)

# %% [markdown]
# ### New groups are predicted with too much certainty
#
# A fit of the first of these tables predicts ten other simulations, 400 new groups. How many of the
# 25 rows of a new group have outcome 1? Without groups, the answer varies by binomial noise alone.

# %%
df = simulated(0)
others = pd.concat(
    [simulated(10_000 + k).assign(g=lambda t, k=k: f"{k}-" + t.g.astype(str)) for k in range(10)],
    ignore_index=True,
)
happened = others.y.to_numpy().reshape(-1, 25).sum(axis=1)
covered = {}
for formula in ends:
    fit = sgmc.logit(formula, df, seed=1)
    draws = fit.posterior_predict(others, draws=500)
    counts = np.asarray(draws).reshape(500, -1, 25).sum(axis=2)
    low, high = np.quantile(counts, [0.025, 0.975], axis=0)
    covered[formula] = ((low <= happened) & (happened <= high)).mean()
print(pd.Series(covered).map("{:.0%}".format))

# %% tags=["hide-cell"]
share = list(covered.values())
story.claim(
    "ignored groups",
    "95 % predictive intervals of a new group's count hold it far too rarely without groups",
    f"{share[0]:.0%} of 400 new groups without group term, {share[1]:.0%} with it",
    share[0] < 0.8 and share[1] > 0.88,
)

# %% [markdown]
# ## Where next
#
# `docs/groups.md` lists the forms of group terms, priors of standard deviations, how effects are
# integrated out, and limits. With scikit-learn, pass `groups=` to `fit` and `predict` of the
# estimators in `sgmc.sklearn`.

# %% tags=["hide-cell"]
story.end(rows=rows, groups=levels, tables=tables)
