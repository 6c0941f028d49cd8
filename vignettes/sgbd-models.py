# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Barker dynamics on other models: independent components and factors of ratings
#
# The remaining comparisons of Mauri & Zanella (2024): independent component analysis of MEG (figure
# 6), Gaussian factors of MovieLens ratings (figure 7), Poisson factors (figure 16). What Barker
# dynamics is, is told in `sgbd`. Each model here is one class of `sgmc`, and any sampler fits it;
# what is compared is accuracy on held-out data, of single draws and of averages over draws, which
# is what a Bayesian predicts with.
#
# The paper does not give its steps. So every sampler runs with each of a grid of steps, and is
# compared at its own best. **Steps are in one unit**: sigma for Barker (`vsgbd`, `csgbd`, `esgbd`),
# the square root of h for Langevin (`sgld`, `csgld`, `sgd`).

# %%
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from story import Story, because, quarters, quiet_fit

import sgmc

story = Story("sgbd-models", minutes=7)
LANGEVIN, BARKER = ("sgld", "csgld", "sgd"), ("vsgbd", "csgbd", "esgbd")
LOOK = {
    name: {"color": color, "linestyle": line}
    for names, color in ((LANGEVIN, "C1"), (BARKER, "C0"))
    for name, line in zip(names, (":", "--", "-"))
}
PUBLISHED = {"esgbd": sgmc.ESGBD(noise="batch")}  # by default noise is added to that of batches


def run(model, sampler, sigma, **how):
    """A chain of plain minibatches with a step given as sigma; None where it was lost."""
    step = sigma**2 if sampler in LANGEVIN else sigma
    how = {"gradient": "simple", "chains": 1, "seed": 1, "warmup": 0, **how}
    return quiet_fit(model, sampler=PUBLISHED.get(sampler, sampler), step_size=step, **how)


# %% [markdown]
# ## Independent components of MEG (figure 6)
#
# Ten channels at 17,730 times; p(x | W) = |det W| prod_k 1 / (4 cosh^2(y_k / 2)), y = W x, W_kj ~
# N(0, 1); 80 % of the times for training, minibatches of 100, 40,000 steps from a symmetric
# whitening. `log_lik` returns the mean log-likelihood of a held-out row, of each draw and of the
# average density of all draws.

# %%
X = story.data("meg").to_numpy()[:: story.pick(1, 4)]
train, test = np.split(X[np.random.default_rng(1).permutation(len(X))], [int(0.8 * len(X))])
meg = sgmc.ICA(train, start="whitening")
STEPS = story.pick((0.001, 0.003, 0.01, 0.017, 0.03, 0.06, 0.12, 0.25), (0.003, 0.03))
MIDDLE, components, paths = story.pick(0.01, 0.003), [], {}
for name in LANGEVIN + BARKER:
    for sigma in STEPS:
        res = run(
            meg,
            name,
            sigma,
            batch_size=100,
            thin=40,
            draws=story.pick(1_000, 50),
            precondition=None,  # steps are of W itself
        )
        if res is None:
            components.append((name, sigma, np.nan, np.nan))
        else:
            single, averaged = res.log_lik(test)
            paths[name, sigma] = single[0]
            if (name, sigma) == ("sgld", MIDDLE):
                weights = np.abs(res.unmixing()[-1]).mean()
            components.append((name, sigma, single[0, len(single[0]) // 2 :].mean(), averaged))
components = (
    pd.DataFrame(components, columns=["sampler", "step", "single draws", "averaged"])
    .set_index(["step", "sampler"])
    .unstack()
)
print("held-out log-likelihood of a row, nats\n", components.round(3).to_string())

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.3))
for name in LANGEVIN + BARKER:
    axes[1].plot(STEPS, components["averaged"][name], marker="o", ms=3, label=name, **LOOK[name])
    if (name, MIDDLE) in paths:
        axes[0].plot(
            0.04 * np.arange(1, 1 + len(paths[name, MIDDLE])), paths[name, MIDDLE], **LOOK[name]
        )
axes[0].set(
    xlabel="thousand steps",
    ylabel="held-out log-likelihood, nats a row",
    title=f"single draws, step {MIDDLE:g}",
)
best = components["averaged"].max(axis=None)
axes[1].set(
    xlabel="step",
    xscale="log",
    title="averages over draws: Langevin is lost beyond 0.01",
    ylim=(best - 0.4, best + 0.03),
)
ticks = [step for step in STEPS if step != 0.017]
axes[1].set_xticks(ticks, [f"{step:g}" for step in ticks])
axes[1].minorticks_off()
figure.legend(*axes[1].get_legend_handles_labels(), loc="outside right center")
story.figure("ica", figure)

# %% [markdown]
# At the same small step averages cannot be told apart; from steps of about 0.01 on `csgbd` and
# `esgbd` even make the same draws, because there every increment is beyond the breaking point. What
# differs is how long the step may be: Langevin's single draws scatter already at 0.01, and a step
# or two later it is lost, while Barker's averages are still as good at ten times that step.

# %%
averaged = components["averaged"]
top, at, fair = averaged.max(), averaged.idxmax(), averaged.index[averaged.index <= 0.011]
story.claim(
    "fig 6",
    "both need very small steps",
    f"best: sgld {at['sgld']:g}, vsgbd {at['vsgbd']:g}, entries of W are about {weights:.1f}",
    max(at["sgld"], at["vsgbd"]) < 0.1 * weights,
    why=because(
        (
            at.sgld < at.vsgbd,
            f"SGBD's best averages are at {at.vsgbd / at.sgld:.0f} times the step of SGLD's",
        )
    ),
)
story.claim(
    "fig 6",
    "SGBD and SGLD behave very similarly",
    f"at their best steps {top['vsgbd']:.3f} and {top['sgld']:.3f} nats a row",
    abs(top["vsgbd"] - top["sgld"]) < 0.02,
)
usable = {name: averaged.index[averaged[name] > best - 0.1].max() for name in ("sgld", "vsgbd")}
story.claim(
    "section 6 (headline)",
    "SGBD is the more robust to the step",
    f"the largest step with averages within 0.1 nats of the best: sgld {usable['sgld']:g}, vsgbd "
    f"{usable['vsgbd']:g}",
    usable["vsgbd"] > usable["sgld"],
)
gap = max(
    np.abs(averaged.loc[fair, a] - averaged.loc[fair, b]).max()
    for a, b in (("sgld", "csgld"), ("vsgbd", "csgbd"))
)
story.claim(
    "fig 6",
    "no particular differences between vanilla and corrected",
    f"at most {gap:.3f} nats a row at steps up to 0.01",
    gap < 0.05,
)
story.claim(
    "fig 6",
    "the corrected SGBD's averages have the highest held-out log-likelihood",
    "at their best steps " + ", ".join(f"{name} {top[name]:.4f}" for name in LANGEVIN + BARKER),
    top["csgbd"] == top.max(),
    why=because(
        (np.ptp(top) < gap, f"at their best steps all six are within {np.ptp(top):.4f} nats")
    ),
)

# %% [markdown]
# ## Gaussian factors of ratings (figure 7)
#
# MovieLens 100k, split u1: 80,000 ratings of 1,682 films by 943 users to learn from, 20,000 to
# predict. r_ij ~ N(U_i . V_j, 1/3), d = 20, minibatches of 800, and of each component a mean and a
# precision, Gamma(1, 5), sampled by its log with the factors: the paper's model (equation 18).
# `accuracy_path` has the root mean square error of each draw and of the average so far, clipped to
# 1 to 5.

# %%
ratings, held = story.data("movielens-100k-u1-train"), story.data("movielens-100k-u1-test")
PAPERS = {"alpha": 3.0, "precisions": "each", "update": "sampled"}
bpmf = sgmc.BPMF(ratings, test=held, centre=False, hyper=PAPERS)
VANILLA = story.pick((0.01, 0.02, 0.03, 0.045, 0.06), (0.02, 0.045))
GRID = {
    "sgld": VANILLA,
    "sgd": story.pick((0.003, 0.01, 0.02, 0.03), (0.01,)),
    "vsgbd": VANILLA,
    "esgbd": story.pick((0.003, 0.01, 0.03, 0.06), (0.03,)),
}
THIN = story.pick(25, 10)


def factors(model, grid, steps):
    """Of each sampler and step: accuracy of single draws and of averages along the chain;
    a frame and the paths.
    """
    rows, paths = [], {}
    for name, sigmas in grid.items():
        for sigma in sigmas:
            res = run(model, name, sigma, batch_size=800, thin=THIN, draws=steps // THIN)
            if (
                res is None
                or not len(path := res.accuracy_path().to_numpy())
                or not np.isfinite(path).all()
            ):
                rows.append((name, sigma, np.nan, np.nan))
            else:
                paths[name, sigma] = path
                rows.append((name, sigma, path[-len(path) // 4 :, 0].mean(), path[-1, 1]))
    return pd.DataFrame(rows, columns=["sampler", "step", "single draws", "averaged"]).set_index(
        ["sampler", "step"]
    ), paths


rmse, paths = factors(bpmf, GRID, story.pick(10_000, 300))
print("test RMSE (missing: the chain was lost)\n", rmse.round(4).to_string())


# %%
# extreme variants have little spread to average: their step is the one of the best single draws
MADE_FOR = {name: "averaged" if name in ("sgld", "vsgbd") else "single draws" for name in GRID}
best = {name: rmse.loc[name, what].idxmin() for name, what in MADE_FOR.items()}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.3), sharey=True)
for name, sigma in best.items():
    path = paths[name, sigma]
    for ax, column in zip(axes, (0, 1)):
        ax.plot(
            THIN * np.arange(1, len(path) + 1) / 1000,
            path[:, column],
            label=f"{name}, {sigma:g}",
            **LOOK[name],
        )
for ax, title in zip(axes, ("single draws", "averages so far: the vanilla ones are far ahead")):
    ax.set(xlabel="thousand steps", title=title, ylim=(0.9, 1.2))
axes[0].set_ylabel("test RMSE, stars")
figure.legend(
    *axes[1].get_legend_handles_labels(), loc="outside right center", title="sampler, step"
)
story.figure("bpmf", figure)

# %% [markdown]
# Averages over draws of the posterior beat single ones by far: that is what a posterior is for. The
# extreme variants' draws are better one by one, and gain little by averages. Vanilla Barker is a
# little better than Langevin at their best steps, and does not mind when the step is doubled;
# Langevin is then lost.

# %%
single = {name: rmse.loc[(name, best[name]), "single draws"] for name in GRID}
mean = {name: rmse.loc[name, "averaged"].min() for name in GRID}
story.claim(
    "fig 7",
    "vanilla SGBD's averages predict best of all",
    ", ".join(f"{name} {value:.4f}" for name, value in mean.items()),
    min(mean, key=mean.get) == "vsgbd",
)
langevin, ascent, barker, _ = GRID
*_, third, fourth = quarters(paths[ascent, best[ascent]])
story.claim(
    "fig 7",
    "SGBD outperforms SGLD in all variants",
    f"vanilla {mean['vsgbd']:.4f} against {mean['sgld']:.4f}, extreme, single draws, "
    f"{single['esgbd']:.4f} against {single['sgd']:.4f}",
    mean["vsgbd"] < mean["sgld"] and single["esgbd"] < single["sgd"],
    why=because(
        (
            third > fourth and mean[barker] < mean[langevin],
            f"of the vanilla ones it does; SGD with its best step, {best[ascent]:g}, has not "
            f"arrived: its error falls from {third:.3f} in the third quarter of the steps to "
            f"{fourth:.3f} in the last",
        )
    ),
)
reach = {name: paths[name, best[name]][:, 0] for name in ("vsgbd", "esgbd")}
first = {
    name: int(np.argmax(path < 1.1)) if (path < 1.1).any() else len(path)
    for name, path in reach.items()
}
story.claim(
    "fig 7",
    "extreme SGBD converges faster and its single draws predict better than vanilla's",
    f"RMSE of single draws at the end: vsgbd {single['vsgbd']:.4f}, esgbd {single['esgbd']:.4f}; "
    f"below 1.1 after {THIN * first['vsgbd']:,} and {THIN * first['esgbd']:,} steps",
    single["esgbd"] < single["vsgbd"] and first["esgbd"] <= first["vsgbd"],
)
usable = {
    name: int((rmse.loc[name, "averaged"] < mean[name] + 0.03).sum()) for name in ("sgld", "vsgbd")
}
far = {name: rmse.loc[(name, 0.045), "averaged"] for name in ("sgld", "vsgbd")}
story.claim(
    "section 6 (headline)",
    "SGBD is the more robust to the step",
    f"step 0.045: sgld {far['sgld']:.3f} (nan: lost), vsgbd {far['vsgbd']:.3f}; RMSE within 0.03 "
    f"of its own best at {usable['sgld']} of {len(VANILLA)} steps with sgld, {usable['vsgbd']} "
    "with vsgbd",
    not far["sgld"] < far["vsgbd"] + 0.03,
)

# %% [markdown]
# ## Poisson factors of ratings (figure 16)
#
# r_ij ~ Poisson(U_i . V_j), all factors gamma with shapes 0.3, d = 100: 265,125 positive numbers,
# moved as their logs. Accuracy is the log-likelihood of the test ratings, at predictions as they
# are and clipped to 1 to 5. Steps are the best of a few, tried before.

# %%
rank, length = story.pick(100, 10), story.pick(4_000, 100)
best = {"sgld": 0.055, "sgd": 0.055, "vsgbd": 0.06, "esgbd": 0.03}
paths, per = {}, {}
for title, clip in (("raw", False), ("clipped", (1, 5))):
    model = sgmc.PPMF(ratings, test=held, dim=rank, clip=clip)
    found, paths[title] = factors(model, {name: (sigma,) for name, sigma in best.items()}, length)
    per.update({(title, what): found[what].droplevel(1) / len(held) for what in found})
per = pd.DataFrame(per)
print("log-likelihood of a test rating, nats\n", per.round(4).to_string())

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.3), sharey=True)
for ax, (title, table) in zip(axes, paths.items()):
    for (name, sigma), path in table.items():
        steps = THIN * np.arange(1, len(path) + 1) / 1000
        shade = {"color": LOOK[name]["color"], "alpha": 0.45 if name in ("sgld", "vsgbd") else 1}
        ax.plot(steps, path[:, 0] / len(held), lw=1, **shade)
        ax.plot(steps, path[:, 1] / len(held), "--", label=f"{name}, {sigma:g}", **shade)
    ax.set(xlabel="thousand steps", title=f"{title} predictions")
axes[0].set(ylabel="test log-likelihood, nats a rating", ylim=story.pick((-1.9, -1.67), None))
figure.legend(
    *axes[1].get_legend_handles_labels(),
    loc="outside right center",
    title="solid: single draws\ndashed: averages",
)
story.figure("ppmf", figure)

# %% [markdown]
# The extreme variants are at the end at once: here a mode predicts better than what minibatches of
# 800 make of this posterior. Averages of the vanilla ones, whose draws move slowly, are still on
# their way up.

# %%
ends = per["clipped", "averaged"]
raw = per["raw", "averaged"]
story.claim(
    "fig 16",
    "averages of all algorithms are similar",
    f"clipped: {', '.join(f'{name} {value:.3f}' for name, value in ends.items())} nats a rating; "
    f"raw differ by {np.ptp(raw):.3f}",
    np.ptp(ends) < 0.1,
)
story.claim(
    "fig 16",
    "extreme SGBD's averages are slightly better",
    f"raw: {', '.join(f'{name} {value:.4f}' for name, value in raw.items())}",
    raw.idxmax() == "esgbd" and ends.idxmax() == "esgbd",
    why=because(
        (
            raw.sgd > raw.esgbd > max(raw.sgld, raw.vsgbd),
            "the extreme variants are ahead of the vanilla ones, and SGD, the extreme of Langevin, "
            f"with {raw.sgd:.4f} of extreme SGBD with {raw.esgbd:.4f}",
        )
    ),
)
story.end(
    ica_steps=STEPS,
    bpmf_steps=GRID,
    ppmf_steps=best,
    ppmf_rank=rank,
    batch={"ica": 100, "factors": 800},
)
