# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Your table has groups
#
# Rows often come in groups: days of a subject, cows of a herd, women of a district. Rows of a group
# are alike, so that they tell less than as many independent rows. A group term lets coefficients
# vary between groups: `(1 | g)` an intercept for each level of `g`, `(1 + x | g)` a slope of `x` as
# well. This page fits three published tables and a million simulated rows, and shows what goes
# wrong when groups are ignored.

# %%
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy import special
from story import Story

import sgmc

story = Story("groups", minutes=12)
folder = Path(os.environ.get("SGMC_DATA", "")) / "grouped"
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)  # the summaries repeat them


def published(name):
    """A table of the folder SGMC_DATA/grouped, or None where it is not there."""
    path = folder / f"{name}.csv"
    if path.exists():
        return pd.read_csv(path)
    story.note(f"grouped/{name}.csv is not in SGMC_DATA: its part is left out")
    return None


# %% [markdown]
# ## Reaction times, with slopes that vary
#
# Eighteen subjects slept three hours a night for ten days; their reaction times were measured each
# day (Belenky et al. 2003). Each subject has an intercept and a slope of days:
#
# ```python
# res = sgmc.ols("Reaction ~ Days + (1 + Days | Subject)", df)
# ```
#
# `sd(Days|Subject)` is how much slopes vary between subjects. lme4 gives point estimates of the
# same model by maximum likelihood.

# %%
sleep = published("sleepstudy")
if sleep is not None:
    res = sgmc.ols("Reaction ~ Days + (1 + Days | Subject)", sleep, seed=1)
    print(res.summary())
    axes = res.plot_ranef()
    story.figure("sleepstudy", axes[0].figure)
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
        f"posterior means {res.params['sd(1|Subject)']:.1f} and "
        f"{res.params['sd(Days|Subject)']:.1f}, 95 % intervals "
        + " and ".join(
            f"{a:.1f} to {b:.1f}"
            for a, b in res.conf_int().loc[["sd(1|Subject)", "sd(Days|Subject)"]].to_numpy()
        ),
        (res.params[["sd(1|Subject)", "sd(Days|Subject)"]] > [23.8, 5.7]).all(),
    )

# %% [markdown]
# ## Counts of cases in herds
#
# A cattle disease in 15 herds over four periods (Lesnoff et al. 2004): outcomes are cases among
# animals, two columns of counts left of the tilde.
#
# ```python
# res = sgmc.logit("incidence + healthy ~ C(period) + (1 | herd)", df)
# ```

# %%
cbpp = published("cbpp")
if cbpp is not None:
    cbpp = cbpp.assign(healthy=cbpp["size"] - cbpp.incidence)
    res = sgmc.logit("incidence + healthy ~ C(period) + (1 | herd)", cbpp, seed=1)
    print(res.summary())
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
# a town may vary between districts. Two models are compared by predictions of districts that they
# have not seen: `loo(group=True)` leaves out a district at a time.

# %%
women = published("contraception")
if women is not None:
    women = women[women.district <= story.pick(60, 20)]
    plain = "use ~ age + I(age**2) + urban + C(livch)"
    flat = sgmc.logit(plain, women, seed=1)
    by_district = sgmc.logit(f"{plain} + (1 | district)", women, seed=1)
    by_town = sgmc.logit(f"{plain} + (1 + urban | district)", women, seed=1)
    print(by_town.summary())
    found = sgmc.compare(flat=flat, by_district=by_district, by_town=by_town)
    print(found.round(2))
    gain = found.elpd["by_district"] - found.elpd["flat"]
    story.claim(
        "contraception",
        "districts differ: other women of a district help to predict a woman",
        f"elpd {gain:.1f} higher with districts",
        gain > story.pick(10, 2),
    )
    new_districts = {
        "by_district": by_district.loo(group=True),
        "by_town": by_town.loo(group=True),
    }
    print(sgmc.compare(**new_districts).round(2))
    by_district.plot_ranef()
    story.figure("contraception")

    new = pd.DataFrame(
        {"age": 0.0, "urban": "Y", "livch": "2", "district": [women.district[0], "new"]}
    )
    some = by_district.get_prediction(new).summary_frame()
    print(some.round(3))
    width = (some.iloc[:, -1] - some.iloc[:, -2]).to_numpy()
    story.claim(
        "contraception",
        "the use in a new district is less certain than in a known one",
        f"intervals {width[0]:.2f} wide for a known district, {width[1]:.2f} for a new one",
        width[1] > 1.3 * width[0],
    )

# %% [markdown]
# ## A million rows
#
# Effects are integrated out, so that chains move nine coefficients and an sd; minibatches are of
# groups.

# %%
rows, levels = story.pick((1_000_000, 100_000), (30_000, 3_000))
rng = np.random.default_rng(1)
X, g = rng.normal(size=(rows, 8)), rng.integers(0, levels, rows)
beta, sd = 0.3 * rng.normal(size=8), 0.7
eta = X @ beta + sd * rng.normal(size=levels)[g] - 0.5
big = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]).assign(
    g=g, y=(rng.random(rows) < special.expit(eta)).astype(int)
)
begun = time.perf_counter()
res = sgmc.logit(f"y ~ {' + '.join(big.columns[:8])} + (1 | g)", big, seed=1)
seconds = time.perf_counter() - begun
print(res.summary())
apart = np.abs(res.params.to_numpy() - [-0.5, *beta, sd]) / res.bse.to_numpy()
story.claim(
    "a million rows",
    "the posterior is where the truth is",
    f"the truth is at most {apart.max():.1f} posterior sds from the ten means; {seconds:.1f} s",
    apart.max() < 3.3,
)
story.claim(
    "a million rows",
    "trusted",
    res.verdict.text.partition(":")[0],
    res.verdict.trustworthy,
)

# %% [markdown]
# ## What goes wrong when groups are ignored
#
# A predictor that is the same for all rows of a group, as a school's size, has as many values as
# there are groups. A regression that ignores groups counts rows, and its intervals are too narrow.
# Here 40 groups of 25 rows are simulated many times; a 95 % interval should hold the truth in 95 of
# 100 tables.

# %%
tables = story.pick(200, 8)
covered = {"without groups": 0, "(1 | g)": 0}
g = np.repeat(np.arange(40), 25)
for k in range(tables):
    rng = np.random.default_rng([7, k])
    size = rng.normal(size=40)
    eta = 0.5 * size[g] + 0.8 * rng.normal(size=40)[g]
    y = (rng.random(len(g)) < special.expit(eta)).astype(int)
    df = pd.DataFrame({"y": y, "size": size[g], "g": g})
    for name, formula in (("without groups", "y ~ size"), ("(1 | g)", "y ~ size + (1 | g)")):
        low, high = sgmc.logit(formula, df, seed=k, draws=500).conf_int().loc["size"]
        covered[name] += low <= 0.5 <= high
share = {name: count / tables for name, count in covered.items()}
print(pd.Series(share).map("{:.0%}".format))
story.claim(
    "ignored groups",
    "95 % intervals of a group's predictor hold the truth far too rarely without groups",
    f"{share['without groups']:.0%} without groups, {share['(1 | g)']:.0%} with them",
    share["without groups"] < 0.75 and share["(1 | g)"] > 0.85,
)

# %% [markdown]
# The same tables tell how wide honest intervals are: the last of them, with and without groups.

# %%
figure, axis = plt.subplots(figsize=(5, 2.2))
for place, formula in enumerate(["y ~ size", "y ~ size + (1 | g)"]):
    fit = sgmc.logit(formula, df, seed=1)
    low, high = fit.conf_int().loc["size"]
    axis.hlines(place, low, high, linewidth=3)
    axis.plot(fit.params["size"], place, "o", color="black")
axis.axvline(0.5, color="0.6", linewidth=0.8)
axis.set_yticks([0, 1], ["without groups", "(1 | g)"])
axis.set_ylim(-0.6, 1.6)
axis.set_xlabel("coefficient of size; the truth is 0.5")
story.figure("ignored", figure)

# %% [markdown]
# ## Where next
#
# docs/groups.md has all forms of group terms, priors of sds, what is computed how, and limits.
# Scikit-learn's users give `groups=` to `fit` and `predict` of `sgmc.sklearn`.

# %%
story.end(rows=rows, groups=levels, tables=tables)
