# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Your table has groups
#
# Rows often come in groups: days of a subject, patients of a clinic, persons of a city. Rows of a
# group are alike, so they carry less information than as many independent rows. A group term lets
# coefficients vary between groups: `(1 | g)` fits an intercept for each level of `g`,
# `(1 + x | g)` a slope of `x` as well. This page fits four tables, and shows what goes wrong when
# groups are ignored.
#
# One table is real and comes with statsmodels. The others are simulated, so the true values are
# known. Sizes that decide how long the page takes are named here, with a smaller value beside each.

# %%
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy import special
from statsmodels import datasets

import sgmc

ROWS = 200_000  # quick: 10_000
TABLES = 40  # quick: 6

# %% [markdown]
# ## Reaction times, with slopes that vary
#
# `sgmc.datasets.reaction_times` simulates a table with the shape of a well-known study (Belenky et
# al. 2003): eighteen subjects sleep too little, and their reaction times are measured on ten days.
# It returns the table and the true parameters. Each subject has an intercept and a slope of `day`.
# `sd(day|subject)` is the standard deviation of the slopes between subjects.

# %%
sleep, truth = sgmc.datasets.reaction_times()
slopes = sgmc.ols("reaction ~ day + (1 + day | subject)", sleep, seed=1, draws=4000)
print(slopes.summary())

# %% [markdown]
# The next table has the true values beside the posterior. With 18 subjects, the standard deviations
# between subjects are known only roughly.

# %%
print(slopes.conf_int().set_axis(["2.5 %", "97.5 %"], axis=1).assign(truth=truth).round(2))

# %% [markdown]
# `plot_ranef` draws the effects of the subjects: points are posterior means, bars are 95 %
# intervals. Zero is the average subject. The units are milliseconds, and milliseconds per day.

# %%
axes = slopes.plot_ranef()

# %% [markdown]
# ## Counts of cases in cities
#
# Eight studies in Chinese cities counted smokers and non-smokers among people with lung cancer and
# among people without it (Liu 1992, in `statsmodels.datasets`). Outcomes may be two columns of
# counts left of the tilde: cases and others. Each city has an intercept of its own.

# %%
china = datasets.china_smoking.load_pandas().data
smokers, others = (
    pd.DataFrame(
        {
            "city": china.index,
            "smoker": smoker,
            "cancer": china[f"smoking_{word}_cancer_yes"].to_numpy(),
            "healthy": china[f"smoking_{word}_cancer_no"].to_numpy(),
        }
    )
    for smoker, word in ((1, "yes"), (0, "no"))
)
cities = pd.concat([smokers, others], ignore_index=True)
odds = sgmc.logit("cancer + healthy ~ smoker + (1 | city)", cities, seed=1)
print(odds.summary())
print("odds ratio:", np.exp(odds.conf_int().loc["smoker"]).round(2).to_list())

# %% [markdown]
# The studies chose how many people without cancer to ask, so the intercepts mean little. The
# coefficient of `smoker` is a log odds ratio: smokers have about twice the odds of lung cancer.
#
# ## Patients in clinics, and new clinics
#
# `sgmc.datasets.recoveries` simulates patients of 40 clinics who recover or not. The effect of a
# severe illness varies between clinics.

# %%
patients, true_clinics = sgmc.datasets.recoveries(patients=1_200, clinics=40)
flat = sgmc.logit("recovered ~ age + severe", patients, seed=1)
by_clinic = sgmc.logit("recovered ~ age + severe + (1 | clinic)", patients, seed=1)
by_illness = sgmc.logit(
    "recovered ~ age + severe + (1 + severe | clinic)", patients, seed=1, draws=1500
)
print(by_illness.summary())

# %% [markdown]
# `compare` estimates how well each model predicts a patient from all other patients, by
# leave-one-out cross-validation (`elpd`: larger is better).

# %%
columns = ["elpd", "elpd_diff", "diff_se"]
patients_left_out = sgmc.compare(flat=flat, by_clinic=by_clinic)
print(patients_left_out[columns].round(1))

# %% [markdown]
# `loo(group=True)` leaves out a clinic at a time. It estimates how well a model predicts clinics
# that it has not seen. That is another question, and may have another answer.

# %%
clinics_left_out = sgmc.compare(
    by_clinic=by_clinic.loo(group=True), by_illness=by_illness.loo(group=True)
)
print(clinics_left_out[columns].round(1))

# %% [markdown]
# Predictions for a level of the fit use its effect. Predictions for a new level draw an effect from
# the population, so their intervals are wider.

# %%
new = pd.DataFrame({"age": 0.0, "severe": 0, "clinic": [1, "new"]})
prediction = by_clinic.get_prediction(new, new_levels="sample").summary_frame()
print(prediction.iloc[:, :4].set_axis(["clinic 1", "new clinic"]).round(3))

# %% [markdown]
# ## Many rows
#
# `ROWS` simulated rows in a tenth as many groups. The effects of the groups are integrated out, so
# the sampler moves five coefficients and one standard deviation. Mini-batches consist of whole
# groups.

# %%
rng = np.random.default_rng(1)
X, g = rng.normal(size=(ROWS, 4)), rng.integers(0, ROWS // 10, ROWS)
true_big = pd.Series([-0.5, 0.3, -0.3, 0.2, 0.0, 0.7])
eta = -0.5 + X @ true_big[1:5] + 0.7 * rng.normal(size=ROWS // 10)[g]
big = pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"])
big = big.assign(g=g, y=(rng.random(ROWS) < special.expit(eta)).astype(int))
many = sgmc.logit("y ~ x0 + x1 + x2 + x3 + (1 | g)", big, seed=1)
print(many.summary())

# %% [markdown]
# The true coefficients are -0.5, 0.3, -0.3, 0.2 and 0. The true standard deviation of the groups is
# 0.7.
#
# ## What goes wrong when groups are ignored
#
# ### Intervals of a group's predictor are too narrow
#
# A predictor that is the same for all rows of a group, such as the size of a school, has only as
# many values as there are groups. A regression that ignores groups counts rows instead. Here 40
# groups of 25 rows are simulated `TABLES` times, and the coefficient of `size` is 0.5. A 95 %
# interval should contain this value in 95 of 100 tables.

# %%
warnings.simplefilter("ignore", sgmc.errors.LowESSWarning)  # short fits, as there are many


def schools(seed):
    """Simulate rows of 40 groups whose log odds have sd 0.8 between groups of one size."""
    rng, g = np.random.default_rng([7, seed]), np.repeat(np.arange(40), 25)
    size = rng.normal(size=40)
    eta = (0.5 * size + 0.8 * rng.normal(size=40))[g]
    y = (rng.random(len(g)) < special.expit(eta)).astype(int)
    return pd.DataFrame({"y": y, "size": size[g], "g": g})


intervals = {"y ~ size": [], "y ~ size + (1 | g)": []}
for seed in range(TABLES):
    for formula, ends in intervals.items():
        fit = sgmc.logit(formula, schools(seed), seed=seed, draws=500)
        ends.append(fit.conf_int().loc["size"].to_numpy())
figure, axes = plt.subplots(1, 2, figsize=(7, 3.6), sharex=True, sharey=True, layout="constrained")
covered = {}
for ax, (formula, ends) in zip(axes, intervals.items()):
    low, high = np.array(ends).T
    holds = (low <= 0.5) & (high >= 0.5)
    covered[formula] = holds.mean()
    ax.hlines(np.arange(TABLES), low, high, color=np.where(holds, "tab:gray", "tab:red"))
    ax.axvline(0.5, color="black", linewidth=0.8)
    ax.set(title=formula, xlabel="coefficient of size", yticks=[])
axes[0].set_ylabel("simulated tables")
print(pd.Series(covered).map("{:.0%} of the intervals contain 0.5".format))

# %% [markdown]
# Each line is the 95 % interval from one table. The black line is the true value. Red intervals do
# not contain it.
#
# ### New groups are predicted with too much certainty
#
# A fit of the first table predicts 400 groups of ten other tables. How many of the 25 rows of a new
# group have outcome 1? Without a group term, this number varies by binomial noise alone.

# %%
later = pd.concat(
    [schools(10_000 + k).assign(g=lambda t, k=k: f"{k}-" + t.g.astype(str)) for k in range(10)],
    ignore_index=True,
)
happened = later.y.to_numpy().reshape(-1, 25).sum(axis=1)
predicted = {}
for formula in intervals:
    fit = sgmc.logit(formula, schools(0), seed=1)
    counts = np.asarray(fit.posterior_predict(later, draws=500)).reshape(500, -1, 25).sum(axis=2)
    low, high = np.quantile(counts, [0.025, 0.975], axis=0)
    predicted[formula] = ((low <= happened) & (happened <= high)).mean()
print(pd.Series(predicted).map("{:.0%} of the counts are in their 95 % interval".format))

# %% [markdown]
# ## Where next
#
# `docs/groups.md` lists the forms of group terms, priors of standard deviations, how effects are
# integrated out, and limits. The page `crossed` has rows that belong to two groups at once. With
# scikit-learn, pass `groups=` to `fit` and `predict` of the estimators in `sgmc.sklearn`.
