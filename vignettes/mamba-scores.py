# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Tuning by a race of arms: which scores a discrepancy needs
#
# Coullon, South & Nemeth (2023): figures 1 and 2. A race as on [the first page](mamba.py) judges by
# the Stein discrepancy (KSD) of draws, which takes scores, gradients of the log posterior. By all
# rows they cost more than the draws themselves; the paper looks at what minibatches and a part of
# the draws would give in their place.
#
# SGLD at a grid of steps (minibatches of 1 %) and of minibatches (one step): as many passes as the
# paper's second, 2,200 minibatches of 1 % of the logit, 780 of ratings and 320 of digits, and all
# draws. KSD by all rows or by minibatches like the sampler's, of all draws or of every fifth; means
# of a few seeds. The noise of a draw's score goes with itself into KSD, as its variance over the
# number of draws.
#
# **What is smaller here.** The logit has 50,000 rows in the place of a million, and minibatches of
# 0.3 % or more; ratings are those of the 100 busiest users for the 150 busiest items; the network
# (softmax units) has 5,000 images of 7 x 7 pixels.

# %%
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from story import Story, because, quiet_fit
from tools import busy_ratings, exact_factors, logistic_rows, pooled

import sgmc

# of steps that are too long, which is the subject
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
story = Story("mamba-scores", minutes=20)
X, theta, y = logistic_rows(np.random.default_rng(0), story.pick(50_000, 5_000))
part, held = busy_ratings(story)
pmf_model, hmc_run = exact_factors(story, part, held)
digits = story.data("mnist").iloc[: story.pick(5_000, 1000)]
pixels = pooled(digits)
pixels = (pixels - pixels.mean()) / pixels.std()
HIDDEN = story.pick(20, 5)
net = sgmc.BNN(pixels, digits.label.to_numpy(), hidden=(HIDDEN,), activation="softmax", scale=None)
first = net.fit(seed=1, threads=1, chains=1, draws=story.pick(400, 30), warmup=story.pick(400, 30))
LOADINGS = slice(0, 5 * (part.user.nunique() + part.item.nunique()))
SDS = np.array(hmc_run.moments()["sd"][LOADINGS])
# model, its rows, arguments, passes, log10 dt, ends of the steps, coordinates and their scale
CASES = {
    "logit": (
        sgmc.Logit(y, X),
        len(y),
        {"prior": sgmc.normal(0, 10**0.5), "init": theta},
        22,
        -4.5,
        (-7.0, -4.0),
        slice(None),
        None,
    ),
    "factors": (
        pmf_model,
        len(part),
        {"init": hmc_run.draws[0, -1], "keep": list(pmf_model.parameters)},
        7.8,
        -4.5,
        (-7.5, -3.5),
        LOADINGS,
        SDS,
    ),
    "network": (
        net,
        len(digits),
        {"init": first.networks()[0][-1], "keep": list(net.parameters)},
        3.2,
        -4.5,
        (-7.5, -3.5),
        slice(None),
        None,
    ),
}
KINDS = {
    "all rows": ("exact", 1),
    "all rows, thinned": ("exact", 5),
    "minibatches": ("simple", 1),
    "minibatches, thinned": ("simple", 5),
}
SEEDS = range(7, story.pick(9, 8))


def estimates(name, dt, share, seed):
    """KSD in the four ways."""
    model, n, how, passes, *_, columns, scale = CASES[name]
    batch, draws = max(1, int(share * n)), int(story.pick(passes, passes / 4) / share)
    fit = quiet_fit(
        model,
        sampler="sgld",
        gradient="simple",
        precondition=None,
        step_size=2 * dt,
        batch_size=batch,
        draws=max(draws, 10),
        thin=1,
        warmup=0,
        chains=1,
        threads=1,
        seed=seed,
        **how,
    )
    if fit is None or not np.isfinite(fit.flat).all():
        return [np.nan] * len(KINDS)
    found = []
    for kind, every in KINDS.values():
        some = fit.scored_draws(kind, draws=len(fit.flat), batch_size=batch)
        x, s = (values[::every, columns] for values in (some.draws, some.scores))
        finite = np.isfinite(s).all()
        found.append(sgmc.diagnostics.ksd(x, s, scale=scale) if finite else np.nan)
    return found


agree, raised = {}, {}
for number, (axis, what) in enumerate((("log10 dt", "steps"), ("minibatch over N", "batches")), 1):
    figure, axs = plt.subplots(1, 3, figsize=(10, 3.1))
    for ax, (name, (*_, dt, ends, _, _)) in zip(axs, CASES.items()):
        least = 0.003 if name == "logit" else 0.01
        at = (
            np.arange(*ends, story.pick(0.5, 1.0))
            if number == 1
            else np.geomspace(least, 0.3, story.pick(6, 3))
        )
        values = np.array(
            [
                [
                    estimates(name, 10.0 ** (v if number == 1 else dt), share, seed)
                    for v, share in ((v, 0.01 if number == 1 else v) for v in at)
                ]
                for seed in SEEDS
            ]
        )
        for j, kind in enumerate(KINDS):
            mean, low, high = (f(values[..., j], axis=0) for f in (np.mean, np.min, np.max))
            ax.plot(at, mean, marker="o", ms=3, ls="-" if j < 2 else "--", label=kind)
            ax.fill_between(at, low, high, alpha=0.15, lw=0)
        ax.set(
            xlabel=axis,
            ylabel="KSD" if name == "logit" else None,
            title=name,
            yscale="log",
            xscale="linear" if number == 1 else "log",
        )
        ranks = pd.DataFrame(values.mean(axis=0)).corr(method="spearman")
        agree[name, what] = float(ranks.iloc[0, 2])
        raised[name, what] = float(np.median(values[..., 2] / values[..., 0]))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    story.figure(f"{number}-{what}", figure)
print(
    "rank correlation of KSD by minibatches with KSD by all rows:\n"
    + pd.Series(agree).unstack().round(2).to_string()
)
for where, what in (("fig 1", "steps"), ("fig 2", "batches")):
    found = {name: agree[name, what] for name in CASES}
    worst = min(found, key=found.get)
    story.claim(
        where,
        "KSD by minibatch gradients of all draws follows KSD by all rows well",
        f"rank correlations along the curve, means of {len(SEEDS)} seeds: "
        + ", ".join(f"{name} {value:.2f}" for name, value in found.items())
        + "; criterion: above 0.7",
        min(found.values()) > 0.7,
        because(
            (
                raised[worst, what] > 2,
                f"for {worst} the noise of scores raises KSD by minibatches to "
                f"{raised[worst, what]:.1f} times that by all rows (a median along the curve)",
            )
        ),
    )

# %%
story.end(rows=len(y), ratings=len(part), images=len(digits), hidden=HIDDEN)
