# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Crossed factors: who rates whom
#
# Students rate lecturers, users rate films. Each row belongs to a level of two factors at once, and
# every student meets several lecturers: the factors cross. `(1 | s) + (1 | d)` fits an effect for
# each student and each lecturer. A lecturer with strict students is then not punished for them, and
# a film with three ratings is not called the best of all.
#
# The page uses InstEval (73,421 ratings of lecturers at ETH Zurich, from the R package lme4) and
# MovieLens-100k (Harper & Konstan 2015), read from the folder `SGMC_DATA`. Simulated tables of the
# same kind take their places where a file is missing. Folded cells check what the text states.

# %%
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import sgmc

DATA = Path(os.environ.get("SGMC_DATA", ""))


def simulated(rows, first, second, names):
    """Return ratings from 1 to 5 by levels of two factors, some of which have many rows."""
    rng = np.random.default_rng(0)
    share = [rng.gamma(0.7, size=k) for k in (first, second)]
    codes = [rng.choice(len(p), rows, p=p / p.sum()) for p in share]
    u, v = 0.35 * rng.normal(size=first), 0.5 * rng.normal(size=second)
    rating = 3.3 + u[codes[0]] + v[codes[1]] + 1.1 * rng.normal(size=rows)
    return pd.DataFrame(dict(zip(names, codes))).assign(y=np.clip(rating.round(), 1, 5))


# %% tags=["hide-cell"]
from story import Story  # noqa: E402

story = Story("crossed", minutes=15)
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)  # the summaries repeat them

# %%
path = DATA / "grouped" / "insteval.csv.gz"
there = path.exists()
if there:
    ratings = pd.read_csv(path)
else:
    ratings = simulated(20_000, 600, 250, ["s", "d"])
    ratings = ratings.assign(service=ratings.s % 2, dept=ratings.d % 14)

# %% tags=["hide-cell"]
if not there:
    story.note("grouped/insteval.csv.gz is not in SGMC_DATA: a simulated table is used instead")
    story.simulated.append("insteval")
if story.fast:  # some students
    ratings = ratings[ratings.s.isin(ratings.s.unique()[:150])]
draws, more = story.pick((1000, 3000), (100, 100))

# %% [markdown]
# ## Students, lecturers, departments
#
# `y` is a rating from 1 to 5, `s` the student, `d` the lecturer, `dept` the department, and
# `service` marks lectures for students of other departments.

# %%
formula = "y ~ service + (1 | s) + (1 | d) + (1 | dept)"
res = sgmc.ols(formula, ratings, seed=1, draws=draws)
print(res.summary(details=True))

# %% [markdown]
# Read the verdict first. Students and lecturers are many, and their standard deviations are well
# determined. There are only 14 departments: the posterior of `sd(1|dept)` has a long upper tail,
# and it has the fewest effective draws. The verdict states how many draws it needs.
#
# The line on autocorrelation compares samplers. Gibbs sampling updates the effects of one factor
# given those of the others. It is slow where factors nearly coincide: most lecturers teach in a
# single department. The first number is the autocorrelation it would have for the worst pair of
# factors. Here all effects move together, and the last numbers are those of this fit.

# %%
res = res.resume(draws=more)
print(res.verdict)

# %% tags=["hide-cell"]
enough = res.verdict.trustworthy
story.claim(
    "more draws",
    "with the draws that the verdict asks for, the fit is called trustworthy, or the verdict asks "
    "for more",
    str(res.verdict)[:110],
    enough or "draws" in str(res.verdict),
)
if there and not story.fast:
    lme4 = pd.Series(
        {"Intercept": 3.2826, "service": -0.0926, "sd(1|s)": 0.3255, "sd(1|d)": 0.5150}
        | {"sd(1|dept)": 0.0785, "sigma": 1.1775}
    )
    apart = (res.params[lme4.index] - lme4) / res.bse[lme4.index]
    story.claim(
        "lme4",
        "maximum likelihood: 3.2826, -0.0926; sds 0.3255, 0.5150, 0.0785 and 1.1775",
        ", ".join(f"{v:.4f}" for v in res.params[lme4.index])
        + f"; farthest {apart.abs().max():.1f} posterior sds",
        apart.abs().max() < 1.0,
    )

# %% [markdown]
# lme4 estimates the same model by maximum likelihood: coefficients 3.2826 and -0.0926, standard
# deviations 0.3255 (students), 0.5150 (lecturers), 0.0785 (departments) and 1.1775 (residual). The
# posterior means agree, but for departments: of so few levels the likelihood of the standard
# deviation is lopsided, and its mean lies above its maximum.
#
# ## Best and worst lecturers
#
# `ranef` returns the effects with intervals.

# %%
lecturers = res.ranef("d").sort_values("mean")
lecturers["rows"] = ratings.d.value_counts().reindex(lecturers.index)
print(pd.concat([lecturers.head(5), lecturers.tail(5)]).round(2))

# %% [markdown]
# Effects of lecturers with few ratings are shrunk towards zero. The left figure shows raw means
# beside posterior means: the fewer the rows (the smaller the point), the farther from the diagonal.
# The right figure shows the extremes with 95 % intervals. These overlap, so the order of neighbours
# in the ranking means little.

# %%
raw = (ratings.groupby("d").y.mean() - ratings.y.mean()).reindex(lecturers.index)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.scatter(raw, lecturers["mean"], s=np.sqrt(lecturers["rows"]), alpha=0.5)
left.axline((0, 0), slope=1, color="0.6", lw=0.8)
left.set(xlabel="raw mean, centred", ylabel="posterior mean of the effect", title="shrinkage")
ends = pd.concat([lecturers.head(15), lecturers.tail(15)])
place = np.arange(len(ends))
low, high = ends.iloc[:, 2], ends.iloc[:, 3]
right.hlines(place, low, high, color="0.6")
right.plot(ends["mean"], place, "o", ms=3)
right.set(yticks=place[::3], yticklabels=ends.index[::3], title="15 worst and 15 best lecturers")

# %% tags=["hide-cell"]
story.figure("lecturers", figure)
few = lecturers["rows"] <= lecturers["rows"].quantile(0.25)
shrunk = [np.abs(lecturers["mean"][k]).mean() / np.abs(raw[k]).mean() for k in (few, ~few)]
story.claim(
    "shrinkage",
    "effects of lecturers with few ratings are shrunk more than others",
    f"mean size over that of raw means: {shrunk[0]:.2f} with few rows, {shrunk[1]:.2f} with more",
    shrunk[0] < shrunk[1],
)

# %% [markdown]
# ## Films: a new user and a known film
#
# Now the outcome is whether a rating of a film is 4 or 5.

# %%
folder = DATA / "movielens-100k"
films_there = (folder / "u.data.gz").exists()
if films_there:
    films = pd.read_csv(folder / "u.data.gz", sep="\t", names=["user", "item", "rating", "time"])
else:
    films = simulated(10_000, 300, 400, ["user", "item"]).rename(columns={"y": "rating"})
films = films.assign(liked=(films.rating >= 4).astype(int))

# %% tags=["hide-cell"]
if not films_there:
    story.note("movielens-100k is not in SGMC_DATA: a simulated table is used instead")
    story.simulated.append("movielens-100k")
if story.fast:
    films = films[films.user.isin(films.user.unique()[:80])]
rng = np.random.default_rng(1)

# %% [markdown]
# A tenth of the ratings is held out.

# %%
held = rng.random(len(films)) < 0.1
res = sgmc.logit("liked ~ 1 + (1 | user) + (1 | item)", films[~held], seed=1, draws=draws)
print(res.summary())

# %% [markdown]
# `predict` takes known users and films by their effects, and draws an effect for each new one. A
# new user has no rating yet; the film's effect is what is known. Averages over new users are less
# extreme than for the typical user, and single ratings stay uncertain: the interval is that of the
# probability for one new user, whose own effect is unknown.

# %%
counts = films[~held].item.value_counts()
known = counts[counts >= counts.quantile(0.9)].index[:200]
new = pd.DataFrame({"user": -1, "item": known})  # a user that the fit has not seen
found = res.get_prediction(new).summary_frame().set_index(known).sort_values("mean")
print(found.iloc[[0, 1, -2, -1]].round(2))

# %% tags=["hide-cell"]
test = films[held]
y = test.liked.to_numpy()


def log_score(p):
    """Mean log score of probabilities."""
    return float(np.mean(np.log(np.where(y == 1, p, 1 - p))))


chance = np.full(len(test), films[~held].liked.mean())
item = films[~held].groupby("item").liked.mean().reindex(test.item).fillna(chance[0])
p = res.predict(test)
scores = [log_score(one) for one in (p, np.clip(item.to_numpy(), 0.01, 0.99), chance)]
story.claim(
    "films",
    "ratings held out are predicted better than by the mean of the film, or of all ratings",
    f"mean log score {scores[0]:.3f}; film's mean {scores[1]:.3f}; overall mean {scores[2]:.3f}",
    scores[0] > max(scores[1:]),
)
edges = np.quantile(p, np.linspace(0, 1, 11))
cell = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, 9)
seen = np.array([[p[cell == k].mean(), y[cell == k].mean()] for k in range(10)])
size = np.array([(cell == k).sum() for k in range(10)])
z = (seen[:, 1] - seen[:, 0]) / np.sqrt(seen[:, 0] * (1 - seen[:, 0]) / size)
story.claim(
    "calibration",
    "among ratings held out that are given a probability p, a share p is 4 or 5",
    f"ten groups by p: largest difference {np.abs(seen[:, 1] - seen[:, 0]).max():.3f}, largest z "
    f"{np.abs(z).max():.1f}",
    np.abs(z).max() < 3.5,
)
figure, axis = plt.subplots(figsize=(4.2, 4))
axis.plot(seen[:, 0], seen[:, 1], "o-")
axis.axline((0, 0), slope=1, color="0.6", lw=0.8)
axis.set(xlabel="predicted", ylabel="observed share", title="ratings held out")
story.figure("calibration", figure)

# %% [markdown]
# ## Where next
#
# `docs/groups.md` has the forms of terms, how crossed factors are sampled, when Gibbs sampling by
# factor would be faster, and why there are no mini-batches for them.

# %% tags=["hide-cell"]
story.end(rows=len(ratings), ratings=len(films), draws=more)
