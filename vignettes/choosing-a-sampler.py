# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Choosing a sampler
#
# `sampler="auto"` is there so that nobody needs this page. It shows what stands behind that choice,
# and when another one pays: what a sampler costs as rows and coefficients grow, what its default
# settings do to the posterior, what control variates buy, and which posteriors want an exact
# sampler. It ends with a table made from the numbers of this run.
#
# **Cost** is counted, not timed: *rows* whose gradients are computed, warmup included, over the
# smallest effective sample size of a coefficient. Notation: N rows, n in a minibatch, d
# coefficients, g the gradient of the log posterior, h the step, V the variance of the estimate of g
# in whitened coordinates.

# %%
import time
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy import sparse
from story import Story

import sgmc

story = Story("choosing-a-sampler", minutes=5)
# bad choices are made on purpose; results keep their warnings
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
pd.set_option("display.width", 140, "display.max_columns", None, "display.max_colwidth", 60)


def simulated(n, d, intercept=-0.5, seed=1):
    """A logit with d slopes of norm one together, as arrays."""
    rng = np.random.default_rng([seed, n, d])
    X = np.column_stack([np.ones(n), rng.normal(size=(n, d))])
    eta = X @ np.append(intercept, np.full(d, d**-0.5))
    return (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int), X


def rows_a_draw(res):
    """Rows touched for an effective draw of the worst coefficient."""
    return float(res.chain_diagnostics().data_passes.sum() * res.nobs / res.ess().min())


# %% [markdown]
# ## More rows
#
# An exact sampler (`mala`, `hmc`) accepts or rejects by the whole posterior: N rows a step,
# whatever else it does. Minibatches with plain sums over a batch are no better, because the noise
# of such a sum grows with N as the posterior narrows: to keep V small n must grow as N. Control
# variates subtract from each row's gradient what it was at the mode (`cv`), or its expansion there
# (`taylor`, the default). What is left shrinks as the posterior concentrates, and n need not grow
# at all: the review (Nemeth & Fearnhead 2021, section 2.3) has O(1) for O(N) an effective draw.
# `zzcv` is the same idea for an exact process in continuous time, one row an event.

# %%
sizes = story.pick([300, 1_000, 3_000, 10_000, 30_000, 100_000], [300, 1_000, 3_000])
SHORT = {"draws": 200, "chains": 2, "seed": 1}
GROWING = {
    "mala": SHORT,
    "hmc": SHORT,
    "lmsgld-simple": SHORT,
    "lmsgld-cv": {"seed": 1},
    "lmsgld-taylor": {"seed": 1},
    "sbps": {"seed": 1, "chains": 2},
    "zzcv": {"seed": 1, "chains": 2, "draws": 500},
}
models = {n: sgmc.Logit(*simulated(n, 5)) for n in sizes}
by_rows = pd.DataFrame(
    {
        name: {n: rows_a_draw(model.fit(sampler=name, **how)) for n, model in models.items()}
        for name, how in GROWING.items()
    }
)
slopes = by_rows.apply(lambda column: np.polyfit(np.log(by_rows.index), np.log(column), 1)[0])
print(by_rows.map("{:,.0f}".format), slopes.round(2).rename("power of N"), sep="\n\n")

# %% [markdown]
# ## More coefficients
#
# In whitened coordinates a Langevin step need not shrink fast with d; `hmc` makes up for its longer
# trajectories only where d is large. A zig-zag turns one of d coordinates at an event. With many
# coefficients for the rows the posterior is wide, and the noise that control values leave is what
# costs.

# %%
widths = story.pick([2, 8, 24, 96], [2, 6, 16])
wide = {d: sgmc.Logit(*simulated(story.pick(20_000, 2_000), d)) for d in widths}
WIDE = {
    name: GROWING[name]
    for name in ["mala", "hmc", "lmsgld-taylor", "sbps", "zzcv"][: story.pick(5, 4)]
}
by_width = pd.DataFrame(
    {
        name: {
            d: rows_a_draw(model.fit(sampler=name, **how))
            for d, model in wide.items()
            if d < 50 or name != "zzcv"
        }
        for name, how in WIDE.items()
    }
)
print(by_width.map("{:,.0f}".format))

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
styles = dict(zip(by_rows, ["o-", "s-", "^--", "v--", "D--", "P:", "X:"]))
colours = dict(zip(by_rows, plt.rcParams["axes.prop_cycle"].by_key()["color"] * 2))
for ax, frame, label, title in zip(
    axes,
    (by_rows, by_width),
    ("rows N (d = 6)", f"slopes (N = {story.pick(20_000, 2_000):,})"),
    ("Control variates: flat in N", "With d the noise grows, and takes over"),
):
    for name in frame:
        ax.plot(
            frame.index, frame[name], styles[name], color=colours[name], markersize=5, label=name
        )
    ax.set(xscale="log", yscale="log", xlabel=label, title=title)
    ax.xaxis.set_minor_formatter("")
axes[0].set_ylabel("row gradients an effective draw")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")
story.figure("rows", figure)

# %%
story.claim(
    "review, section 2.3",
    "exact samplers and plain minibatches cost O(N) rows an effective draw",
    f"powers of N: mala {slopes['mala']:.2f}, hmc {slopes['hmc']:.2f}, lmsgld-simple "
    f"{slopes['lmsgld-simple']:.2f}",
    slopes[["mala", "hmc", "lmsgld-simple"]].between(0.8, 1.2).all(),
)
largest = by_rows.iloc[-1]
flat = slopes[["lmsgld-cv", "lmsgld-taylor", "zzcv", "sbps"]]
story.claim(
    "review, section 2.3",
    "with control variates O(1) rows an effective draw",
    "powers of N: " + ", ".join(f"{name} {power:.2f}" for name, power in flat.items()),
    flat.max() < 0.25,
)
story.claim(
    "README",
    "a batch of 32 rows is usually enough, at any number of rows",
    f"N = {sizes[-1]:,}: {largest['lmsgld-taylor']:,.0f} rows an effective draw, mala "
    f"{largest['mala'] / largest['lmsgld-taylor']:,.0f} times as many",
    largest["mala"] > 10 * largest["lmsgld-taylor"],
)
taken = by_width.iloc[-1]
story.claim(
    "text",
    "with more coefficients costs grow, of control variates most",
    f"from {widths[0]} to {widths[-1]} slopes: "
    + ", ".join(
        f"{name} x {taken[name] / by_width[name].iloc[0]:.1f}"
        for name in ("mala", "hmc", "lmsgld-taylor")
    ),
    taken["lmsgld-taylor"] / by_width["lmsgld-taylor"].iloc[0]
    > taken["mala"] / by_width["mala"].iloc[0],
)

# %% [markdown]
# ## What control variates buy, and where they do not
#
# `res.gradient_noise()` has tau, the sd of the estimate in whitened coordinates.
# `V1 = n tau^2 / (1 - n / N)` is the variance with one row; a sampler needs n in proportion to it.
# Control values are those of the mode, so that their advantage is the smallness of the posterior:
# with few rows, or rare outcomes, it is wide, and the advantage less.

# %%
n_of_batch = 20


def one_row(y, X, gradient):
    """V1, the mean over coordinates."""
    how = {
        "sampler": "sgld",
        "step_size": 0.1,
        "batch_size": n_of_batch,
        "draws": 100,
        "thin": 1,
        "subsample": "uniform",
        "seed": 1,
    }
    tau = sgmc.Logit(y, X).fit(gradient=gradient, **how).gradient_noise().tau
    return float((tau**2).mean() * n_of_batch / (1 - n_of_batch / len(y)))


def frame_of(make):
    """V1 of three estimators by N."""
    found = {
        n: {gradient: one_row(*make(n), gradient) for gradient in ("simple", "cv", "taylor")}
        for n in sizes
    }
    return pd.DataFrame(found).T


noise = {
    "balanced": frame_of(lambda n: simulated(n, 5)),
    "3 % successes": frame_of(lambda n: simulated(n, 5, intercept=-4.2)),
}
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), sharey=True)
for ax, (name, frame) in zip(axes, noise.items()):
    for gradient, style in zip(frame, ("o-", "s-", "D-")):
        ax.plot(frame.index, frame[gradient], style, markersize=5, label=f"gradient={gradient!r}")
    ax.set(xscale="log", yscale="log", xlabel="rows N", title=name)
    ax.xaxis.set_minor_formatter("")
axes[0].set_ylabel("V1, noise of one row (whitened)")
axes[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
story.figure("noise", figure)
gain = {name: frame["simple"] / frame["cv"] for name, frame in noise.items()}
print(pd.concat(noise).map("{:,.3g}".format))
power = np.polyfit(np.log(sizes), np.log(noise["balanced"]["taylor"]), 1)[0]
grown = noise["balanced"].iloc[-1] / noise["balanced"].iloc[0]
story.claim(
    "review, section 2.3",
    "the variance falls from O(N^2/n) to O(N/n): in whitened coordinates, from O(N) to O(1)",
    f"{sizes[-1] / sizes[0]:.0f} times the rows: V1 times {grown['simple']:.0f} (simple) and "
    f"{grown['cv']:.2f} (cv)",
    0.5 < grown["simple"] * sizes[0] / sizes[-1] < 2 and grown["cv"] < 3,
)
story.claim(
    "text",
    "second-order control values (not tried at the review's time) leave a noise that falls with N",
    f"power of N: {power:.2f}",
    power < -0.4,
)
growth = np.polyfit(np.log(sizes), np.log(gain["balanced"]), 1)[0]
story.claim(
    "review, section 2.3",
    "control variates save O(N) of the variance",
    f"V1 {gain['balanced'].iloc[0]:.0f} times smaller at N = {sizes[0]}, "
    f"{gain['balanced'].iloc[-1]:,.0f} at N = {sizes[-1]:,}, power of N {growth:.2f}; with 3 % "
    f"successes {gain['3 % successes'].iloc[0]:.0f} and {gain['3 % successes'].iloc[-1]:,.0f} "
    "times",
    0.8 < growth < 1.2,
)

# %% [markdown]
# ## What default settings do to the posterior
#
# The sepsis cohort: 110,204 stays, 93 % of them survived, predictors on raw scales. Every
# stochastic sampler at its derived step and batch beside a long run of `mala`. Derived settings aim
# at +0.5 % of the sd, so that what is seen should be Monte Carlo error of 4 x 1000 draws; but costs
# differ by two orders of magnitude.

# %%
SEPSIS = "hospital_outcome_1alive_0dead ~ age_years + sex_0male_1female + episode_number"
cohort = story.data("sepsis").iloc[:: story.pick(1, 20)]
long = sgmc.logit(SEPSIS, cohort, sampler="mala", draws=story.pick(4000, 2000), seed=9)
names = [
    "lmsgld",
    "baoab",
    "sghmc",
    "sgld",
    "csgld",
    "msgld",
    "psgld",
    "vsgbd",
    "csgbd",
    "esgbd",
    "sglrw",
    "sgnht",
    "badodab",
    "sgrld",
    "sbps",
    "psbps",
    "zzcv",
    "mala",
    "hmc",
    "barker",
    "laplace",
]
quick = ["lmsgld", "baoab", "sgld", "vsgbd", "esgbd", "sbps", "mala", "laplace"]


def beside(res, reference):
    """Errors of the worst coefficient beside a reference, and the cost."""
    return {
        "mean off": (res.params - reference.params).abs().div(reference.bse).max(),
        "sd off": (res.bse / reference.bse - 1).abs().max(),
        "rows a draw": rows_a_draw(res),
        "trusted": res.verdict.trustworthy,
    }


table = pd.DataFrame(
    {
        name: beside(
            sgmc.logit(SEPSIS, cohort, sampler=name, seed=1, draws=story.pick(1000, 500)), long
        )
        for name in story.pick(names, quick)
    }
).T
table[["mean off", "sd off", "rows a draw"]] = table[["mean off", "sd off", "rows a draw"]].astype(
    float
)
print(table.sort_values("rows a draw").round(3))

# %%
drawn = table.drop(index=["laplace"]).sort_values("rows a draw", ascending=False)
place = np.arange(len(drawn))
figure, axes = plt.subplots(1, 2, figsize=(8.6, 0.2 * len(drawn) + 1.3), sharey=True)
axes[0].plot(drawn["rows a draw"], place, "o", markersize=5)
axes[0].set(xscale="log", yticks=place, yticklabels=drawn.index, title=f"Cost, N = {len(cohort):,}")
axes[0].set_xlabel("row gradients an effective draw")
for name, style, label in (
    ("mean off", "o", "of a mean, in sds"),
    ("sd off", "x", "of an sd, relative"),
):
    axes[1].plot(drawn[name], place, style, markersize=5, markeredgewidth=1.5, label=label)
axes[1].axvline(0.1, color="0.6", linestyle=":", linewidth=1)
axes[1].set(xscale="log", xlabel="worst error", title="Error: all but one are Monte Carlo's")
axes[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
for ax in axes:
    ax.grid(axis="y", color="0.92")
    ax.set_axisbelow(True)
story.figure("defaults", figure)
honest = drawn.drop(index="esgbd")
others = drawn["rows a draw"].drop(["lmsgld", "esgbd", "sbps", "psbps"], errors="ignore")
story.claim(
    "README, Accuracy at default settings",
    "means within 0.1 sd, sds within 5 % (here 6: the reference errs too)",
    f"{len(honest)} samplers: means within {honest['mean off'].max():.3f} sd, sds within "
    f"{honest['sd off'].max():.1%}",
    honest["mean off"].max() < 0.1 + 2 / np.sqrt(long.ess().min())
    and honest["sd off"].max() < story.pick(0.06, 0.1),
)
story.claim(
    "README",
    "esgbd's spread is not the posterior's, and it always says so",
    f"sds off by {table['sd off']['esgbd']:.0%}",
    table["sd off"]["esgbd"] > 0.3 and not table.trusted["esgbd"],
)
story.claim(
    "README",
    "lmsgld, the default, has no discretisation bias on a Gaussian, so that its steps are long",
    f"{table['rows a draw']['lmsgld']:,.0f} rows a draw, the cheapest of others "
    f"({others.idxmin()}) {others.min():,.0f}, sgld {others['sgld']:,.0f}; sbps "
    f"{table['rows a draw']['sbps']:,.0f}",
    table["rows a draw"]["lmsgld"] <= 1.1 * others.min(),
)

# %% [markdown]
# ## Wide and sparse tables
#
# A scipy CSR array is never made dense: a row costs its ones. Here 2 % of the entries are ones, and
# the draws are those of the dense table.

# %%
rng = np.random.default_rng(3)
rows, columns = story.pick((20_000, 200), (3_000, 80))
ones = sparse.random_array(
    (rows, columns - 1),
    density=0.02,
    rng=rng,
    format="csr",
    data_sampler=lambda size: np.ones(size),
)
CSR = sparse.hstack([sparse.csr_array(np.ones((rows, 1))), ones], format="csr")
bought = (rng.random(rows) < 1 / (1 + np.exp(-CSR @ rng.normal(scale=0.5, size=columns)))).astype(
    int
)


def timed(X, **how):
    """A fit, and its seconds of the processor."""
    begun = time.process_time()
    res = sgmc.Logit(bought, X).fit(seed=1, **how)
    return res, time.process_time() - begun


kinds = {
    "CSR": timed(CSR),
    "dense": timed(CSR.toarray()),
    "CSR, mala": timed(CSR, sampler="mala", draws=story.pick(1000, 300)),
}
found = pd.DataFrame(
    {
        name: {
            "sampler": res.header[0][2][1],
            "rows a draw": rows_a_draw(res),
            "smallest ESS": res.ess().min(),
            "seconds over CSR's": seconds / kinds["CSR"][1],
            "trusted": res.verdict.trustworthy,
        }
        for name, (res, seconds) in kinds.items()
    }
).T
print(found)
apart = np.abs(kinds["CSR"][0].draws - kinds["dense"][0].draws).max() / kinds["dense"][0].bse.min()
size = (CSR.data.nbytes + CSR.indices.nbytes + CSR.indptr.nbytes) / (8 * rows * columns)
story.claim(
    "README",
    "CSR arrays are never made dense",
    f"{size:.0%} of the memory, {kinds['dense'][1] / kinds['CSR'][1]:.1f} times as fast, "
    f"draws at most {apart:.0e} sd from the dense table's",
    apart < 1e-6 and size < 0.1,
)

# %% [markdown]
# ## Heavy tails, skewed posteriors, and what `auto` makes of all this
#
# Eight posteriors of different kinds. For each, some samplers at default settings beside a long run
# of an exact one: which are right (means within 0.1 sd and sds within 10 %, Monte Carlo error
# allowed for), and what they cost. `auto` does not try anything out: it counts the rows that each
# would touch, and looks at how far a few draws of the Laplace approximation are from the posterior.
# Under the horseshoe, whose density has a pole at zero, only `mala` and its like are asked: `hmc`
# diverges there, unadjusted samplers leave.


# %%
def regressions():
    """Name -> model and arguments: posteriors near a Gaussian."""
    shapes = {
        "few rows, N = 100": (100, 4, -0.5),
        "many rows, N = 20,000": (20_000, 10, -0.5),
        "1.5 % successes": (10_000, 5, -5.0),
        "60 slopes, N = 1,500": (1_500, 60, -0.5),
    }
    return {name: (sgmc.Logit(*simulated(*shape)), {}) for name, shape in shapes.items()}


def skewed():
    """Name -> model and arguments: posteriors that are not."""
    rng = np.random.default_rng(7)
    x, Z = rng.normal(size=(300, 3)), rng.normal(size=(200, 40))
    X = np.column_stack([np.ones(300), x])
    hit = rng.random(200) < 1 / (1 + np.exp(2 * Z[:, 1] - 2 * Z[:, 0]))
    counts = rng.poisson(np.exp(1 + 0.3 * x[:, 0]) * rng.gamma(5, 0.2, size=300))
    few = rng.poisson(np.exp(0.3 * x[:, 0] - 3.5))
    return {
        f"{few.sum()} events in 300 counts": (sgmc.Poisson(few, X), {"prior": "flat"}),
        "negative binomial": (sgmc.NegativeBinomial(counts, X), {}),
        "t errors, df learned": (
            sgmc.RLM(x @ [1.0, 0.5, 0.0] + rng.standard_t(2, size=300), X, df=None),
            {},
        ),
        "horseshoe, 40 slopes": (
            sgmc.Logit(hit.astype(int), np.column_stack([np.ones(200), Z])),
            {"prior": sgmc.horseshoe(nonzero=2)},
        ),
    }


def monte_carlo(*fits):
    """Three Monte Carlo errors of the worst mean or sd, in sds, of both fits together."""
    return 3 * np.sqrt(
        sum(max((res.mcse(of) / res.bse).max() for of in ("mean", "sd")) ** 2 for res in fits)
    )


TRIED = story.pick(
    ["auto", "lmsgld", "baoab", "sbps", "zzcv", "barker", "hmc", "mala"],
    ["auto", "lmsgld", "sbps", "mala"],
)
runs, told = [], {}
kept = story.pick(slice(None), slice(None, None, 2))
for problem, (model, how) in list({**regressions(), **skewed()}.items())[kept]:
    reference = model.fit(sampler="mala", draws=story.pick(4000, 1500), thin=2, seed=9, **how)
    for sampler in [
        name for name in TRIED if "horseshoe" not in problem or name in ("auto", "barker", "mala")
    ]:
        try:
            res = model.fit(sampler=sampler, seed=1, **how)
        except (sgmc.errors.NotSupported, sgmc.errors.ArgumentError) as refused:
            told[str(refused).split(";")[0][:110]] = f"{sampler}, {problem}"
            continue
        runs.append(
            {
                "problem": problem,
                "sampler": sampler,
                **beside(res, reference),
                "error": monte_carlo(res, reference),
                "took": dict(res.header[0])["Sampler"].split("-")[0],
            }
        )
runs = pd.DataFrame(runs)
runs["right"] = (runs["mean off"] < 0.1 + runs.error) & (runs["sd off"] < 0.1 + runs.error)
cost = runs.pivot(index="problem", columns="sampler", values="rows a draw").reindex(
    runs.problem.unique()
)[TRIED]
print("\n".join(f"{who}: {words} ..." for words, who in told.items()))
print("rows an effective draw", cost.map("{:,.0f}".format), "worst error of an sd", sep="\n")
print(
    runs.pivot(index="problem", columns="sampler", values="sd off")
    .reindex(cost.index)[TRIED]
    .map("{:.3f}".format)
)

# %% [markdown]
# ## The choice of `auto`
#
# Beside the cheapest of the right ones; and what stubbornness would have cost: always `lmsgld`,
# always `mala`.

# %%
right = (
    runs[runs.right]
    .pivot(index="problem", columns="sampler", values="rows a draw")
    .reindex(cost.index)
)
tried = right.drop(columns="auto")
choice = runs[runs.sampler == "auto"].set_index("problem")
decision = pd.DataFrame(
    {
        "auto takes": choice.took,
        "cheapest that is right": tried.fillna(np.inf).idxmin(axis=1),
        "rows a draw": tried.min(axis=1),
        "auto / cheapest": right["auto"] / tried.min(axis=1),
        "lmsgld / cheapest": right["lmsgld"] / tried.min(axis=1),
        "mala / cheapest": right["mala"] / tried.min(axis=1),
    }
)
print(decision.round(1).astype(object).fillna("-"))
figure, ax = plt.subplots(figsize=(8, 3.8))
place = np.arange(len(cost))[::-1]
for sampler, style in zip(TRIED[1:], ("s", "v", "D", "X", "^", "P", "o")):
    ratio = cost[sampler] / tried.min(axis=1)
    ax.plot(ratio, place, style, markersize=6, linestyle="none", label=sampler)
ax.plot(
    decision["auto / cheapest"],
    place,
    "o",
    markersize=13,
    fillstyle="none",
    color="k",
    linestyle="none",
    label="auto's choice",
)
ax.set(
    xscale="log",
    yticks=place,
    yticklabels=cost.index,
    xlabel="rows an effective draw, over the cheapest that is right",
    title="auto is seldom far from the best",
)
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
story.figure("auto", figure)
story.claim(
    "README",
    "auto is right without being told anything",
    f"right in {int(choice.right.sum())} of {len(choice)} problems",
    choice.right.all(),
)
share = decision["auto / cheapest"]
story.claim(
    "README",
    "auto chooses by counting rows",
    f"{share.median():.1f} times the rows of the best in the median, at most {share.max():.1f} "
    f"({share.idxmax()}); always mala: up to {decision['mala / cheapest'].max():,.0f} times",
    share.max() < 5 and share.median() < 2,
)
trust = runs.trusted.astype(bool) == runs.right
story.claim(
    "README, Whether to trust it",
    "the verdict tells right fits from wrong ones",
    f"in {trust.sum()} of {len(runs)}",
    trust.mean() >= 0.9,
)

# %% [markdown]
# ## Which one, then
#
# With the numbers of this run.

# %%
rare = "1.5 % successes"
plain, last = cost.loc["few rows, N = 100"], f"N = {sizes[-1]:,}"
advice = {
    "any regression": (
        "auto",
        (
            f"right in {int(choice.right.sum())} of {len(choice)}, at most {share.max():.1f} times "
            "the least"
        ),
    ),
    "many rows": (
        "lmsgld (auto's)",
        f"{last}: {largest['lmsgld-taylor']:,.0f} rows a draw, mala {largest['mala']:,.0f}",
    ),
    "few rows": (
        "mala (auto's)",
        f"{plain['mala']:,.0f} rows a draw, lmsgld {plain['lmsgld']:,.0f}; and exact",
    ),
    "many slopes": (
        "auto",
        (
            f"{widths[-1]}: lmsgld {taken['lmsgld-taylor']:,.0f} rows a draw, mala "
            f"{taken['mala']:,.0f}"
        ),
    ),
    "rare outcomes": (
        "auto",
        f"lmsgld {cost['lmsgld'][rare]:,.0f} rows a draw, mala {cost['mala'][rare]:,.0f}",
    ),
    "few counts, poles": (
        "auto",
        f"mala, at {share.max():.1f} times the rows of an lmsgld that was lucky",
    ),
    "exact, by subsamples": (
        "zzcv",
        f"{largest['zzcv'] / largest['lmsgld-taylor']:.0f} times lmsgld's rows, more with d",
    ),
    "few slopes": ("sbps", f"{largest['sbps'] / largest['lmsgld-taylor']:.1f} times lmsgld's rows"),
    "sparse columns": (
        "a CSR array",
        f"{kinds['dense'][1] / kinds['CSR'][1]:.1f} times as fast, the same draws",
    ),
    "a paper's sampler": (
        "its name",
        f"sgld: {others['sgld'] / table['rows a draw']['lmsgld']:.0f} times lmsgld's rows",
    ),
}
for name, (take, why) in {"your posterior": ("take", "because here"), **advice}.items():
    print(f"{name:22s}{take:18s}{why}")
story.end(sizes=sizes, widths=widths, sepsis_rows=len(cohort), tried=TRIED, batch=n_of_batch)
