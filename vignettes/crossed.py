# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Crossed factors: who rates whom
#
# Students rate lecturers, users rate films. Each row belongs to a level of two factors at once, and
# every student meets several lecturers: the factors cross. `(1 | student) + (1 | lecturer)` fits an
# effect for each student and each lecturer. A lecturer with strict students is then not blamed for
# them, and a lecturer with three good ratings is not called the best of all.
#
# `sgmc.datasets.course_ratings` simulates such a table. It has the shape of a well-known table of
# ratings at a university (`InstEval`, in R's lme4), and returns the true parameters as well.

# %%
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import sgmc

RATINGS = 12_000  # quick: 3_000
STUDENTS = 600  # quick: 150
LECTURERS = 300  # quick: 80

# %%
table, truth = sgmc.datasets.course_ratings(RATINGS, STUDENTS, LECTURERS)
print(table.head())

# %% [markdown]
# ## Students, lecturers, departments
#
# `service` marks courses for students of other departments.

# %%
formula = "rating ~ service + (1 | student) + (1 | lecturer) + (1 | department)"
res = sgmc.ols(formula, table, seed=1)
print(res.summary())

# %% [markdown]
# Effects of normal outcomes are integrated out, so that draws are independent. There are many
# students and lecturers: their standard deviations are well determined. There are only 14
# departments: the posterior of `sd(1|department)` is wide and skewed. The table has the true values
# beside the posterior.

# %%
print(res.conf_int().set_axis(["2.5 %", "97.5 %"], axis=1).assign(truth=truth).round(3))

# %% [markdown]
# ## Best and worst lecturers
#
# `ranef` returns the effects with intervals.

# %%
lecturers = res.ranef("lecturer").sort_values("mean")
lecturers["ratings"] = table.lecturer.value_counts().reindex(lecturers.index)
print(pd.concat([lecturers.head(5), lecturers.tail(5)]).round(2))

# %% [markdown]
# Effects of lecturers with few ratings are shrunk towards zero. In the left figure, each point is a
# lecturer: raw mean against posterior mean. Small points have few ratings, and are farthest from
# the grey diagonal. The right figure shows the extremes. Points are posterior means, bars are 95 %
# intervals. These overlap, so the order of neighbours in the ranking means little.

# %%
raw = table.groupby("lecturer").rating.mean().reindex(lecturers.index) - table.rating.mean()
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.scatter(raw, lecturers["mean"], s=4 * np.sqrt(lecturers["ratings"]), alpha=0.5)
left.axline((0, 0), slope=1, color="0.6", lw=0.8)
left.set(xlabel="raw mean rating, centred", ylabel="posterior mean of the effect")
ends = pd.concat([lecturers.head(10), lecturers.tail(10)])
place = np.arange(len(ends))
right.hlines(place, ends.iloc[:, 2], ends.iloc[:, 3], color="0.6")
right.plot(ends["mean"], place, "o", ms=4)
right.set(yticks=place, yticklabels=ends.index, xlabel="effect on the rating", ylabel="lecturer")
right.set_title("10 worst and 10 best")

# %% [markdown]
# ## A new student and a known lecturer
#
# Now the outcome is whether a rating is at least 4. A tenth of the ratings is held out.

# %%
table = table.assign(good=(table.rating >= 4).astype(int))
held = np.random.default_rng(1).random(len(table)) < 0.1
chance = sgmc.logit("good ~ 1 + (1 | student) + (1 | lecturer)", table[~held], seed=1)
print(chance.summary())

# %% [markdown]
# Predictions use the effects of known students and lecturers, and draw an effect for each new one.
# Here a student is new, so only the lecturer's effect is known. The interval is that of the
# probability for one new student.

# %%
new = pd.DataFrame({"student": -1, "lecturer": lecturers.index[[0, 1, -2, -1]]})
band = chance.get_prediction(new, new_levels="sample").summary_frame()
print(pd.concat([new.lecturer, band.iloc[:, :4]], axis=1).round(2))

# %% [markdown]
# Are the predicted probabilities right? The ratings that were held out are sorted by their
# prediction into ten groups. In each group, the observed share of good ratings should be near the
# mean prediction, that is near the grey diagonal. Bars are two standard errors.

# %%
test = table[held].assign(p=np.asarray(chance.predict(table[held])))
test["group"] = pd.qcut(test.p, 10, labels=False)
groups = test.groupby("group").agg(p=("p", "mean"), share=("good", "mean"), size=("good", "size"))
error = np.sqrt(groups.p * (1 - groups.p) / groups["size"])
figure, ax = plt.subplots(figsize=(4.4, 4), layout="constrained")
ax.errorbar(groups.p, groups.share, 2 * error, fmt="o")
ax.axline((0, 0), slope=1, color="0.6", lw=0.8)
ax.set(xlabel="predicted probability", ylabel="observed share", title="ratings held out")

# %% [markdown]
# ## Where next
#
# `docs/groups.md` has the forms of terms, how crossed factors are sampled, when Gibbs sampling by
# factor would be faster, and why there are no mini-batches for them.
