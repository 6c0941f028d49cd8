# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Getting started: a pandas user's first hour
#
# You have a table and a question, and the answer is uncertain. The question here: do people see a
# doctor less often if they pay a share of the bill? You may know `statsmodels.formula.api.logit`,
# or R's `glm`. `sgmc.logit` takes the same formula. It returns draws from a posterior distribution
# in place of point estimates.
#
# Every cell of this page runs in an empty notebook. It needs `sgmc` and Matplotlib.

# %%
import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from matplotlib import pyplot as plt
from statsmodels import datasets

import sgmc

# %% [markdown]
# ## A table
#
# In the RAND Health Insurance Experiment, families were randomly assigned to insurance plans. The
# table comes with statsmodels. Each of its 20,190 rows is a person in a year. `share` is the share
# of the bill that the plan leaves to the person, in percent. `deductible` marks plans with a
# deductible for each person. `limited` marks people with a physical limitation. `diseases` is an
# index of chronic diseases.

# %%
rand = datasets.randhie.load_pandas().data
table = pd.DataFrame(
    {
        "visit": (rand.mdvis > 0).astype(int),  # 1: at least one visit to a doctor
        "share": (np.exp(rand.lncoins) - 1).round(),
        "deductible": rand.idp,
        "limited": rand.physlm,
        "diseases": rand.disea,
        "health": rand[["hlthg", "hlthf", "hlthp"]].idxmax(axis=1),
    }
)
table["health"] = table.health.map({"hlthg": "good", "hlthf": "fair", "hlthp": "poor"})
table.loc[rand[["hlthg", "hlthf", "hlthp"]].sum(axis=1) == 0, "health"] = "excellent"
print(table.groupby("share").visit.agg(["size", "mean"]).round(3))

# %% [markdown]
# ## A posterior in one line
#
# The formula has an outcome left of `~` and predictors right of it. Nothing has to be tuned. The
# sampler, its step size and its mini-batches are chosen from the data. `seed` makes the result
# reproducible.

# %%
res = sgmc.logit("visit ~ share + deductible + limited + diseases + health", table, seed=1)
print(res.summary())

# %% [markdown]
# Each coefficient is a difference in log odds. A negative coefficient of `share` means fewer
# visits. `mean` and `sd` describe the posterior; the two columns beside them are the ends of a 95 %
# interval. The **verdict** below the table states whether to trust these numbers, and how large
# their numerical error is.
#
# With many rows and a weak prior, the posterior mean is close to the maximum-likelihood estimate.
# The next cell prints the largest distance, in standard errors.

# %%
likelihood = smf.logit("visit ~ share + deductible + limited + diseases + health", table).fit(
    disp=0
)
apart = (res.params - likelihood.params.to_numpy()).abs() / likelihood.bse.to_numpy()
print(f"farthest coefficients: {apart.max():.2f} standard errors apart")

# %% [markdown]
# ## Questions that a posterior answers
#
# `hypothesis` returns the probability of a statement about the coefficients. `contrast` returns a
# difference with its own interval.

# %%
print(res.hypothesis("limited > 0"))
print(res.contrast(["health[T.poor] - health[T.fair]"]))
print(res.conf_int().round(3))

# %% [markdown]
# A prediction for a new row is an average over the draws, so it has an interval as well. Here one
# person has each of five plans in turn. All plans with a share of 100 percent have a deductible.

# %%
person = pd.DataFrame({"share": [0.0, 25, 50, 95, 100]})
person = person.assign(deductible=[0, 0, 0, 0, 1], limited=0, diseases=10.0, health="good")
straight_band = res.get_prediction(person).summary_frame()
print(pd.concat([person.share, straight_band.iloc[:, :4]], axis=1).round(3))

# %% [markdown]
# ## Does the model fit?
#
# `plot_pp_check` draws new outcomes from the posterior and compares them with the observed ones.
# Rows are sorted by their fitted probability into ten groups. For each group, the figure shows the
# observed share of visits and the range of the simulated shares.

# %%
axes = res.plot_pp_check()

# %% [markdown]
# Several groups lie outside of their ranges, so the model is wrong. The verdict does not see this:
# it judges the sampling, not the model. The table at the top of this page has a reason: visits are
# rarer where the share is 95 percent than where it is 100 percent, and a straight line in `share`
# cannot do that. `C(share)` gives each plan its own coefficient. `compare` estimates by
# leave-one-out cross-validation how well each model predicts a row from all others (`elpd`: larger
# is better).

# %%
plans = sgmc.logit("visit ~ C(share) + deductible + limited + diseases + health", table, seed=1)
scores = sgmc.compare(straight=res, plans=plans)
print(scores[["elpd", "elpd_diff", "diff_se"]].round(1))

# %% [markdown]
# The difference is many standard errors, in favour of a coefficient for each plan. The figure shows
# the predictions of both models for the same person: points are posterior means, bars are 95 %
# intervals.

# %%
figure, ax = plt.subplots(figsize=(5.5, 3.5), layout="constrained")
bands = {"straight in share": straight_band}
bands["one coefficient per plan"] = plans.get_prediction(person).summary_frame()
for shift, (label, band) in zip((-1, 1), bands.items()):
    low, high = band["mean"] - band["mean_ci_lower"], band["mean_ci_upper"] - band["mean"]
    ax.errorbar(person.share + shift, band["mean"], [low, high], fmt="o", label=label)
ax.set(xlabel="share of the bill paid by the person (%)", ylabel="probability of a visit in a year")
ax.legend()

# %% [markdown]
# ## Your prior
#
# The default prior of a slope is normal with mean 0 and standard deviation 2.5, in units of the
# predictor's standard deviation. It matters little with many rows. Other priors are passed by
# `prior`, for all slopes or by name. With 200 rows, a narrow prior moves the estimates towards
# zero.

# %%
few = table.sample(200, random_state=1)
wide = sgmc.logit("visit ~ limited + deductible", few, prior=sgmc.normal(0, 10), seed=1)
narrow = sgmc.logit("visit ~ limited + deductible", few, prior=sgmc.normal(0, 0.2), seed=1)
print(pd.DataFrame({"sd 10": wide.params, "sd 0.2": narrow.params}).round(3))

# %% [markdown]
# ## Save and continue
#
# `plans.save("visits.sgmc")` writes draws and summary to a file, without the data. `resume`
# continues a run.

# %%
more = plans.resume(draws=500)
print(f"{plans.draws.shape[1]:,} draws per chain became {more.draws.shape[1]:,}")

# %% [markdown]
# ## Where next
#
# - `trust`: fits that fail, and the warning of each
# - `groups`: rows that belong to persons, schools or clinics
# - `curves`: relations that are not straight
# - `choosing-a-sampler`: what each sampler costs
# - `bring-your-own-model`: models that are not regressions
