# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Tuning by a race of arms: MAMBA
#
# Coullon, South & Nemeth (2023): figures 1 to 4, tables 1, 2 and 5 to 8; the network of section 4.3
# has a page of its own. Samplers by minibatches have a step h, a minibatch n and more to choose,
# and no accept-reject step that would reject what is too long. MAMBA makes every combination an
# *arm* of a bandit: all run for a short time, each is scored by the *Stein discrepancy* (KSD) of
# its draws, which needs gradients of the log posterior alone, the best third go on for three times
# as long, and so on. `sgmc.tune` is that race; `model.fit(tune="mamba")` races and then fits.
#
# **What is smaller here.** The paper tunes by seconds on a laptop, for hours. Here budgets are of
# *work*, rows of gradients, so that the same arms win on any machine: on the logit as many passes
# as its second of tuning had (2,200 minibatches of 1 %), and as its ten seconds of sampling.
# Grid searches by log-loss have 1,000 steps an arm in the place of 5,000. Ratings are those of the
# 100 busiest users for the 150 busiest items, with five factors in the place of twenty; curves are
# means of three runs in the place of ten.

# %%
import time
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from story import Story, because, quiet_fit
from tools import Case, factor_score, pooled, stein

import sgmc

# of steps that are too long, which is the subject
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
story = Story("mamba", minutes=35)
SAMPLERS = story.pick(
    ("sgld", "sgld-cv", "sghmc", "sghmc-cv", "sgnht", "sgnht-cv"), ("sgld", "sghmc-cv")
)
WAYS = (
    "MAMBA-KSD",
    "MAMBA-FSSD",
    "grid, loss",
    "heuristic",
    "grid, KSD",
    "MAMBA-FSSD, power",
)


# %% [markdown]
# ## A case: a model, its grids, and five ways of tuning (`tools.Case`)
#
# The paper's dt is h / 2 of Langevin steps here and e^2 of samplers with momentum; its grid of
# log10(dt) goes down by halves. Friction and diffusion, which it does not tune, are those of its
# software: e C = e A = 0.01 per leapfrog step, `per="step"`, and momenta of SGHMC drawn anew at
# each step, which is explicit Euler's as there (`sgmc.published("sghmc-euler")`). MAMBA-FSSD has
# ten locations moved by Adam uphill on the discrepancy itself, as the paper has them
# (`metric="fssd-max"`); "power" has them where a test would be strongest, and judges by other draws
# (`"fssd-opt"`). Grid search looks at the loss of predictions with a tenth of the rows, tunes no
# minibatch, and its arms begin at the true coefficients, a hundredth off the mode, plus noise of
# the paper's size. The heuristic is dt = 1 / N with a tenth of the rows and ten leapfrog steps
# (Brosse, Durmus & Moulines 2018). Then what was chosen is run anew, all with the same work.


# %%
# %%
def raced(case, ways, extra):
    """Tune each sampler in each way, run what was chosen, and return a table;
    `extra(fit)` adds columns.
    """
    rows = []
    for label in SAMPLERS:
        for way in ways:
            begun = time.process_time()
            race = case.tune(label, way)
            spent = time.process_time() - begun
            case.found[label, way] = race
            fit = case.fit(race.best, case.work)
            rows.append(
                {
                    "sampler": label,
                    "way": way,
                    **case.chosen(label, race.best),
                    "KSD": case.discrepancy(race.best, case.work),
                    "draws": 0 if fit is None else case.steps_of(race.best, case.work),
                    "seconds": spent,
                    **extra(fit),
                }
            )
    return pd.DataFrame(rows).set_index(["sampler", "way"])


def shown(table, columns):
    """One table for each column: samplers across, ways down."""
    ways = list(dict.fromkeys(table.index.get_level_values("way")))
    for name in columns:
        print(
            f"{name}\n"
            f"{table[name].unstack('sampler').loc[ways, list(SAMPLERS)].round(2).to_string()}\n"
        )


# %% [markdown]
# ## Logistic regression (section 4.1; tables 1, 5, 6, figure 3)
#
# A million rows, ten columns, prior N(0, 10). Errors of the posterior sds are relative to a long
# run of `mala` (the paper: NUTS). `sgmc.tune` takes KSD in whitened coordinates. The paper takes it
# in the coefficients as they are, whose sds are a hundredth of the kernel's width: that KSD is
# about the size of the mean score, and hardly sees a wrong spread. Both are below, the paper's as
# "raw KSD".

# %%
N = story.pick(1_000_000, 5_000)
rng = np.random.default_rng(0)
X, theta = rng.normal(size=(N, 10)), rng.normal(size=10)
y, new = (rng.random(N) < 1 / (1 + np.exp(-X @ theta))).astype(int), rng.normal(size=(20_000, 10))
outcome = rng.random(20_000) < 1 / (1 + np.exp(-new @ theta))
PRIOR = sgmc.normal(0, 10**0.5)
LEAST, GRID = story.pick(600, 400), story.pick(0.5, 1.5)
logit = Case(
    sgmc.Logit(y, X),
    N,
    10.0 ** np.arange(-1, -7.6, -GRID),
    (1.0, 0.1, 0.01, 0.001),
    budget=story.pick(22, 5),
    work=story.pick(220, 20),
    loss="log_loss",
    begin={"prior": PRIOR},
    least=LEAST,
    iterations=story.pick(1000, 50),
    noisy=theta + 0.2 * rng.normal(size=10),
)
exact = logit.model.fit(sampler="mala", prior=PRIOR, seed=1, draws=story.pick(2000, 200), threads=1)


def raw(fit):
    """KSD in the coefficients as they are, of some draws."""
    some = fit.scored_draws("exact", draws=story.pick(200, 50))
    if not np.isfinite(some.scores).all():
        return np.inf
    return sgmc.diagnostics.ksd(some.draws, some.scores)


def of_logit(fit):
    """The paper's KSD, relative error of the sds and accuracy on new rows, in %."""
    if fit is None:
        return {"raw KSD": np.inf, "sd error %": np.inf, "accuracy %": np.nan}
    wrong = sgmc.diagnostics.relative_sd_error((fit.params, fit.bse), (exact.params, exact.bse))
    return {
        "raw KSD": raw(fit),
        "sd error %": 100 * wrong,
        "accuracy %": 100 * np.mean((new @ fit.params.to_numpy() > 0) == outcome),
    }


# %% [markdown]
# One race, to see it: the arms' discrepancies fall from rung to rung, and fewer go on.

# %%
race = logit.tune("sgld", "MAMBA-KSD")
race.plot(kind="race")
story.figure("race")
last = (
    race.history.merge(race.arms, left_on="arm", right_index=True)
    .sort_values(["rung", "metric"])
    .tail(6)
)
print(last.to_string(index=False, float_format="{:.3g}".format))

# %%
table1 = raced(logit, WAYS, of_logit)
shown(
    table1, ["KSD", "raw KSD", "sd error %", "log10 dt", "tau %", "accuracy %", "draws", "seconds"]
)


# %%
def wins(table, rivals, column="KSD"):
    """For how many samplers MAMBA-KSD has the least KSD among itself and the rivals,
    or is within 5 % of it.
    """
    ksd = table[column].unstack("way")
    return int((ksd["MAMBA-KSD"] <= 1.05 * ksd[list(rivals)].min(axis=1)).sum())


def ratios(table, rival, column="KSD"):
    """Median over samplers of the rival's KSD over MAMBA's."""
    ksd = table[column].unstack("way")
    return float((ksd[rival] / ksd["MAMBA-KSD"]).median())


cost, K = table1["seconds"].unstack("way"), len(SAMPLERS)
rivals = ["grid, loss", "heuristic"]
few = int((table1["tau %"].unstack("way")["MAMBA-KSD"] <= 1.01).sum())
for column, where in (("raw KSD", "table 1"), ("KSD", "table 1, whitened")):
    ksd, most = table1[column].unstack("way").loc["sgld"], wins(table1, rivals, column)
    story.claim(
        where,
        "MAMBA-KSD has a lower KSD than grid search by log-loss and the heuristic for 5 of 6 "
        "samplers (SGLD: 66, 106 and 100)",
        f"{column}: lowest, or within 5 %, for {most} of {K} (SGLD: {ksd['MAMBA-KSD']:.3g}, "
        f"{ksd['grid, loss']:.3g} and {ksd['heuristic']:.3g}); medians: grid "
        f"{ratios(table1, 'grid, loss', column):.2f} times MAMBA's, heuristic "
        f"{ratios(table1, 'heuristic', column):.2f}",
        most >= 5 / 6 * K,
        because(
            (
                few == K and ratios(table1, "heuristic", column) < 1,
                "minibatches of 1 % or less win the short race by their many draws; in runs "
                f"{logit.work / logit.budget:.0f} times as long their bias shows, and the "
                f"heuristic's KSD is {ratios(table1, 'heuristic', column):.2f} times theirs",
            )
        ),
    )
faster = cost["grid, KSD"] / cost["MAMBA-KSD"]
story.claim(
    "section 4.1",
    "grid search by KSD is 1.2 to 2.2 times slower than MAMBA-KSD",
    f"{faster.min():.1f} to {faster.max():.1f} times slower",
    faster.min() > 1.2,
    "less than that for a sampler most of whose arms diverge, which ends a grid early",
)
alike = table1["KSD"].unstack("way")
near = float((alike["grid, KSD"] / alike["MAMBA-KSD"]).median())
story.claim(
    "section 4.1",
    "and its results are comparable to MAMBA-KSD's",
    f"KSD {near:.2f} times",
    0.7 < near < 1.4,
)
hmc = [label for label in SAMPLERS if label.startswith("sghmc")]
speed = float((cost["grid, loss"] / cost["MAMBA-KSD"])[hmc].mean())
story.claim(
    "section 4.1",
    "SGHMC with three numbers to tune: MAMBA is about 3 times faster than grid search with two",
    f"{speed:.1f} times, the grid with {logit.iterations:,} of its 5,000 steps",
    speed > 1.5,
)
story.claim(
    "table 5",
    "MAMBA-KSD chooses minibatches of 1 % or less for all six",
    f"for {few} of {K}",
    few == K,
    "with plain gradients a longer step with more rows does as well: arms along that line score "
    "alike",
)
spread = np.nanmax(table1["accuracy %"]) - np.nanmin(table1["accuracy %"])
story.claim(
    "table 6",
    "predictive accuracy does not tell the ways apart (93.9 % but for SGHMC by the heuristic, 92.7 "
    "%)",
    f"{np.nanmin(table1['accuracy %']):.1f} to {np.nanmax(table1['accuracy %']):.1f} %",
    spread < 1.5,
    "a run that is still on its way",
)
cv = table1["sd error %"].unstack("way")["MAMBA-KSD"]
varied = [label for label in SAMPLERS if label.endswith("-cv")]
story.claim(
    "table 1",
    "sd errors by MAMBA-KSD in %: SGLD-CV 5.2, SGHMC-CV 8.4, SGNHT-CV 0.8",
    ", ".join(f"{label} {cv[label]:.1f}" for label in varied),
    cv[varied].max() < 15,
    "a step that is stable in the race can diverge in a longer run, as the paper finds of SGNHT in "
    "section 4.3",
)
bad = float(table1["sd error %"].unstack("way")["heuristic"][hmc].max())
story.claim(
    "table 1",
    "the heuristic fails for SGHMC: sd errors of 3,000 %",
    f"{bad:.1f} %",
    bad > 100,
    effect=(3000, bad),
)

# %% [markdown]
# Figure 3: KSD as a run goes on, for each way, by work. The line marks the work that the race
# was for: its winner is the best there, and need not be in longer runs, where a bias does not go
# away and others have draws enough. A curve that ends early diverged.


# %%
def curves(case, ways, title, metric=None, ylabel="KSD"):
    """A panel a sampler: mean of a few runs and two sds, by work;
    the means at the race's own work, (sampler, way).
    """
    works, at_race = np.array([case.budget / 9, case.budget / 3, case.budget, case.work]), {}
    figure, axs = plt.subplots(
        *story.pick((2, 3), (1, 2)),
        figsize=story.pick((10, 5.4), (7, 3)),
        sharex=True,
        squeeze=False,
    )
    for ax, label in zip(np.ravel(axs), SAMPLERS):
        for way in ways:
            best = case.found[label, way].best
            runs = np.array(
                [
                    [(metric or case.discrepancy)(best, work, seed) for work in works]
                    for seed in range(11, story.pick(14, 12))
                ]
            )
            good, look = np.isfinite(runs).all(axis=0), {"color": f"C{WAYS.index(way)}"}
            mean, wide = runs[:, good].mean(axis=0), 2 * runs[:, good].std(axis=0)
            ax.plot(
                works[good],
                mean,
                marker="o",
                ms=3,
                label=way,
                ls=("-", ":", "--", "-.")[WAYS.index(way)],
                lw=3 if way == WAYS[0] else 1.4,
                **look,
            )  # ways that chose alike stay visible
            ax.fill_between(
                works[good],
                np.maximum(mean - wide, mean / 3),
                mean + wide,
                alpha=0.15,
                lw=0,
                **look,
            )
            at_race[label, way] = runs[:, 2].mean()
        ax.axvline(case.budget, color="0.8", lw=0.8, zorder=0)
        ax.set(xscale="log", yscale="log" if ylabel == "KSD" else "linear", title=label)
        ax.set_xticks(works, [f"{work:.0f}" for work in works])
        ax.xaxis.set_minor_locator(plt.NullLocator())
    for ax in axs[-1]:
        ax.set_xlabel("passes through the data")
    for row in axs:
        row[0].set_ylabel(ylabel)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(ways))
    story.figure(title, figure)
    return pd.Series(at_race).rename("KSD").rename_axis(["sampler", "way"]).to_frame()


short = curves(logit, WAYS[:4], "3-logit")
lead = wins(short, rivals)
story.claim(
    "fig 3 (headline)",
    "tuned by MAMBA, samples have the lowest KSD for all but one of the six samplers",
    f"at the race's own work: lowest, or within 5 %, for {lead} of {K}; medians: grid "
    f"{ratios(short, 'grid, loss'):.1f} times MAMBA's, heuristic {ratios(short, 'heuristic'):.1f}",
    lead >= 5 / 6 * K,
)

# %% [markdown]
# ## Matrix factorisation (section 4.2; tables 2, 7, 8, figure 4)
#
# MovieLens, u1: ratings 1 to 5, y_ij ~ N(U_i . V_j, 1/3), precisions of the factors from Gamma(4,
# 5), sampled by their logs with the rest. The truth: `hmc` (the paper: six hours of NUTS). All
# chains begin where that one ended, so that no chain has a burn-in.
#
# `sgmc.tune` takes any function of the draws as its metric: its own Stein discrepancies do not look
# at factors, whose precisions it draws by themselves, so here is KSD of U and V in units of the sds
# of `hmc`, with scores of all ratings.

# %%
stars, held = story.data("movielens-100k-u1-train"), story.data("movielens-100k-u1-test")
users, items = (
    stars[name].value_counts().index[: story.pick(most, 30)]
    for name, most in (("user", 100), ("item", 150))
)
part, held = (
    t[t.user.isin(users) & t.item.isin(items)].sort_values(["user", "item"]) for t in (stars, held)
)
held = held[held.user.isin(part.user) & held.item.isin(part.item)]
PRIORS = {"alpha": 3.0, "a": 4.0, "b": 5.0, "update": "sampled"}
pmf_model = sgmc.BPMF(part, dim=5, test=held, hyper=PRIORS)
ALL = {"keep": list(pmf_model.parameters)}
hmc_run = pmf_model.fit(
    sampler="hmc",
    draws=story.pick(1500, 60),
    warmup=story.pick(500, 60),
    chains=1,
    seed=1,
    threads=1,
    **ALL,
)
TRUE = hmc_run.moments()["sd"]
pairs = [np.unique(part[name], return_inverse=True)[1] for name in ("user", "item")]
where = (
    np.searchsorted(np.unique(part.user), held.user),
    np.searchsorted(np.unique(part.item), held.item),
)
size_u, size_v = part.user.nunique() * 5, part.item.nunique() * 5
mean_rating, fair = part.rating.mean(), held.rating.to_numpy()


def rmse(draws):
    """Of mean predictions of the held-out ratings, clipped to 1 .. 5,
    by draws of all parameters.
    """
    some = draws[:: max(1, len(draws) // 50)]
    U = some[:, :size_u].reshape(len(some), -1, 5)
    V = some[:, size_u : size_u + size_v].reshape(len(some), -1, 5)
    predicted = np.clip(
        mean_rating + np.einsum("kij,kij->ki", U[:, where[0]], V[:, where[1]]), 1, 5
    )
    return float(np.sqrt(np.mean((predicted.mean(axis=0) - fair) ** 2)))


pmf = Case(
    pmf_model,
    len(part),
    10.0 ** np.arange(-2, -7.6, -GRID),
    (1.0, 0.1, 0.01),
    budget=story.pick(100, 5),
    work=story.pick(300, 10),
    loss=rmse,
    begin={"init": hmc_run.draws[0, -1]},
    least=LEAST,
    iterations=story.pick(2000, 50),
    noisy=hmc_run.draws[0, -1] + rng.normal(size=len(TRUE)),
    metric=stein(
        factor_score(*pairs, part.rating - mean_rating, 5, rng),
        story.pick(200, 30),
        np.array(TRUE[: size_u + size_v]),
    ),
)
print(
    f"{len(part):,} ratings, {len(TRUE):,} parameters; test error by hmc {hmc_run.rmse:.3f} "
    f"({rmse(hmc_run.draws[0]):.3f} by hand)"
)


def of_pmf(fit):
    """Relative error of the sds, in %, and test error."""
    if fit is None:
        return {"sd error %": np.inf, "RMSE": np.inf}
    return {
        "sd error %": 100
        * float(np.linalg.norm(fit.moments()["sd"] - TRUE) / np.linalg.norm(TRUE)),
        "RMSE": fit.rmse,
    }


CORE = ("MAMBA-KSD", "grid, loss", "heuristic")
table2 = raced(pmf, CORE, of_pmf)
shown(table2, ["KSD", "sd error %", "RMSE", "log10 dt", "tau %", "draws", "seconds"])
short = curves(pmf, CORE, "4-factors")

# %%
sds = table2["sd error %"].unstack("way")
for where, table in (("fig 4 (headline)", short), ("table 2", table2)):
    least = wins(table, rivals)
    story.claim(
        where,
        "MAMBA gives the lowest KSD for all six samplers (SGLD: 213, grid 429, heuristic 237)",
        f"lowest, or within 5 %, for {least} of {K}; medians: grid "
        f"{ratios(table, 'grid, loss'):.2f} times MAMBA's, heuristic "
        f"{ratios(table, 'heuristic'):.2f}",
        least == K,
        because(
            (
                not np.isfinite(table["KSD"]).all(),
                "some steps that win the race diverge in the longer run",
            )
        ),
        effect=(429 / 213, ratios(table, "grid, loss")),
    )
better = int((sds["heuristic"] < sds["MAMBA-KSD"]).sum())
story.claim(
    "table 2",
    "for some samplers the heuristic has the lower error of the sds (SGHMC: 50 % against MAMBA's "
    "80 %)",
    f"for {better} of {K}; median {sds['heuristic'].median():.0f} % against "
    f"{sds['MAMBA-KSD'].median():.0f} %",
    better >= 1,
)
cost = table2["seconds"].unstack("way")
story.claim(
    "section 4.2",
    "tuning SGHMC by MAMBA is about twice as fast as grid search by log-loss",
    f"{(cost['grid, loss'] / cost['MAMBA-KSD'])[hmc].mean():.2f} times",
    (cost["grid, loss"] / cost["MAMBA-KSD"])[hmc].mean() > 1.3,
    "discrepancies of 1,000 parameters cost more than the steps of so small a model, and "
    "predictions next to nothing",
)
errors = table2["RMSE"].unstack("way")
story.claim(
    "table 8",
    "RMSE by MAMBA is no worse than by grid search (1.10 to 1.13, grid 1.15 to 1.25)",
    f"{errors['MAMBA-KSD'].min():.3f} to {errors['MAMBA-KSD'].max():.3f}, grid "
    f"{errors['grid, loss'].min():.3f} to {errors['grid, loss'].max():.3f}",
    (errors["MAMBA-KSD"] < errors["grid, loss"] + 0.01).all(),
    "grid search looks at just these ratings, and here chooses well",
)

# %% [markdown]
# ## Figures 1 and 2: which scores a discrepancy needs
#
# SGLD at a grid of steps (minibatches of 1 %) and of minibatches (one step): as many passes as the
# paper's second, 2,200 minibatches of 1 % of the logit, 780 of ratings and 320 of digits, and all
# draws. KSD by all rows or by minibatches like the sampler's, of all draws or of every fifth; means
# of a few seeds. The noise of a draw's score goes with itself into KSD, as its variance over the
# number of draws. The logit has a tenth of the rows here, and the network (softmax units) images of
# 7 x 7 pixels.

# %%
part_of = slice(0, story.pick(100_000, N))
small = sgmc.Logit(y[part_of], X[part_of])
digits = story.data("mnist").iloc[: story.pick(10_000, 1000)]
pixels = pooled(digits)
pixels = (pixels - pixels.mean()) / pixels.std()
HIDDEN = story.pick(20, 5)
net = sgmc.BNN(pixels, digits.label.to_numpy(), hidden=(HIDDEN,), activation="softmax", scale=None)
first = net.fit(seed=1, threads=1, chains=1, draws=story.pick(400, 30), warmup=story.pick(400, 30))
LOADINGS = slice(0, size_u + size_v)
# model, its rows, arguments, passes, log10 dt, ends of the steps, coordinates and their scale
CASES = {
    "logit": (
        small,
        len(y[part_of]),
        {"prior": PRIOR, "init": theta},
        22,
        -4.5,
        (-7.0, -4.0),
        slice(None),
        None,
    ),
    "factors": (
        pmf_model,
        len(part),
        {"init": hmc_run.draws[0, -1], **ALL},
        7.8,
        -4.5,
        (-7.5, -3.5),
        LOADINGS,
        np.array(TRUE[LOADINGS]),
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
SEEDS = range(7, story.pick(10, 8))


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


agree = {}
for number, (axis, what) in enumerate((("log10 dt", "steps"), ("minibatch over N", "batches")), 1):
    figure, axs = plt.subplots(1, 3, figsize=(10, 3.1))
    for ax, (name, (*_, dt, ends, _, _)) in zip(axs, CASES.items()):
        least = 0.001 if name == "logit" else 0.01
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
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    story.figure(f"{number}-{what}", figure)
print(
    "rank correlation of KSD by minibatches with KSD by all rows:\n"
    + pd.Series(agree).unstack().round(2).to_string()
)
for where, what in (("fig 1", "steps"), ("fig 2", "batches")):
    found = {name: agree[name, what] for name in CASES}
    story.claim(
        where,
        "KSD by minibatch gradients of all draws follows KSD by all rows well",
        f"rank correlations along the curve, means of {len(SEEDS)} seeds: "
        + ", ".join(f"{name} {value:.2f}" for name, value in found.items())
        + "; criterion: above 0.7",
        min(found.values()) > 0.7,
        "the noise of scores by 1 % of a small table is itself larger than the discrepancy; the "
        "paper takes all rows in its races",
    )
story.end(
    rows=N,
    ratings=len(part),
    parameters=len(TRUE),
    images=len(digits),
    hidden=HIDDEN,
    samplers=list(SAMPLERS),
    work=[case.work for case in (logit, pmf)],
)
