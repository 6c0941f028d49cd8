# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Stochastic gradient MCMC: the review's ratings
#
# The last experiment of Nemeth & Fearnhead (2021, section 6.3, figure 6): a factorisation of the
# ratings of films, by Langevin and Hamiltonian dynamics with and without control variates, beside
# exact sampling.
#
# **The review's model**: ratings as they come (`centre=False`), 20 factors, each with a precision
# of its own, alpha = 3, Gamma(1, 5), and precisions and means among the parameters that are sampled
# (`"update": "sampled"`). **Its protocol**: a tenth of the ratings in a mini-batch; control
# variates at the place where `sgd` ended, and chains with them begin there. The review names no
# steps: these are the longest of a scan by factors of three that stay stable. It makes 100,000
# iterations of five splits, and 50,000 of `sgd`; here there are fewer.

# %%
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from story import Story, because

import sgmc

story = Story("review-ratings", minutes=12)
# few effective draws of precisions
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)

# %%
ratings = story.data("movielens-100k")
ITERATIONS, SPLITS, BATCH = story.pick((6_000, 3, 8_000), (60, 1, 8_000))
POINTS = story.pick(100, 10)
MODEL = {"alpha": 3.0, "precisions": "each", "update": "sampled"}
SAMPLERS = {
    "sgld": (sgmc.published("sgld"), 3e-4),
    "sgld-cv": (sgmc.published("sgld-cv"), 3e-4),
    "sghmc": (sgmc.published("sghmc", leapfrog=5, friction=10.0), 0.01),
    "sghmc-cv": (sgmc.published("sghmc-cv", leapfrog=5, friction=10.0), 0.01),
}


def split(number):
    """The model of one fifth held out."""
    part = np.arange(len(ratings)) // 20_000 == number
    return sgmc.BPMF(ratings[~part], test=ratings[part], centre=False, hyper=MODEL)


curves = {name: [] for name in SAMPLERS}
for number in range(SPLITS):
    model = split(number)
    how = {"batch_size": BATCH, "chains": 1, "seed": 1, "threads": 1, "warmup": 0}
    optimum = model.fit(
        **sgmc.published("sgd"),
        step_size=2e-4,
        draws=2,
        thin=ITERATIONS // 4,
        keep=list(model.parameters),
        **how,
    )
    for name, (settings, step) in SAMPLERS.items():
        fit = model.fit(
            **settings,
            step_size=step,
            draws=POINTS,
            thin=ITERATIONS // POINTS,
            init=optimum.draws[0, -1] if name.endswith("-cv") else None,
            **how,
        )
        curves[name].append(fit.accuracy_path().average.to_numpy())

# %% [markdown]
# ## Exact sampling
#
# `hmc` on the first split. The review ran NUTS for a tenth of the iterations of the others, half of
# them burn-in, and says that it may not have converged. So here are both: what exact sampling has
# after as many passes through the data as SGLD made, and at the end of a run that is long enough
# for its error to stay as it is.

# %%
WARMUP, DRAWS = story.pick((300, 1_000), (60, 20))
exact = split(0).fit(sampler="hmc", draws=DRAWS, warmup=WARMUP, chains=1, seed=1, threads=1, thin=1)
path = exact.accuracy_path()
each = exact.chain_diagnostics().data_passes[0] / (WARMUP + DRAWS)
passes = {"sgld": ITERATIONS * BATCH / 80_000}
# of the same work, half of it burn-in
few = max(2, int(passes["sgld"] / each / 2))
short = split(0).fit(sampler="hmc", draws=few, warmup=few, chains=1, seed=1, threads=1, thin=1).rmse
errors = {name: np.mean(paths, axis=0) for name, paths in curves.items()}
first = {name: paths[0][-1] for name, paths in curves.items()}
half, end = path.average.iloc[DRAWS // 2 - 1], path.average.iloc[-1]
print(
    pd.DataFrame(
        {"mean of splits": {name: way[-1] for name, way in errors.items()}, "first split": first}
    ).round(4)
)
print(
    f"hmc, {each:.0f} passes a draw: {short:.4f} after {few} + {few} draws, the work of sgld; of "
    f"the long run {half:.4f} after half of its draws, {end:.4f} after all"
)

# %%
figure, ax = plt.subplots(figsize=(6.4, 3.8))
for name, way in errors.items():
    ax.plot(np.linspace(1 / POINTS, 1, POINTS) * ITERATIONS, way, label=name)
ax.axhline(end, color="k", linestyle="--", label="hmc, first split, long run")
ax.axhline(short, color="k", linestyle=":", label="hmc, first split, sgld's work")
ax.set(
    xlabel="iteration",
    ylabel="root mean square error",
    title=f"Test ratings, mean predictions so far, {SPLITS} splits",
    ylim=(0.9, 1.1),
)
ax.legend(fontsize="x-small", ncols=2)
story.figure("6-ratings", figure)
last = {name: way[-1] for name, way in errors.items()}
gain = {name: last[name] - last[f"{name}-cv"] for name in ("sgld", "sghmc")}
said = ", ".join(f"{name} {value:.4f}" for name, value in last.items())
story.claim(
    "fig 6",
    "SGHMC has a lower error than SGLD",
    said,
    last["sghmc"] < last["sgld"],
)
story.claim(
    "fig 6",
    "with equally improved results with control variates",
    f"lower by {gain['sgld']:+.4f} (SGLD) and {gain['sghmc']:+.4f} (SGHMC); criterion: both above "
    "0",
    min(gain.values()) > 0,
    because(
        (
            gain["sghmc"] > 0 >= gain["sgld"],
            "SGHMC's are; SGLD leaves the mode, which predicts worse than its neighbourhood, more "
            "slowly than it arrives from an ordinary start",
        ),
        (gain["sgld"] > 0 >= gain["sghmc"], "SGLD's are, SGHMC's are not"),
    ),
)
early = {name: way[POINTS // 10 - 1] for name, way in errors.items()}
story.claim(
    "fig 6",
    "samplers with control variates have a lower error immediately: they begin at the mode",
    "after a tenth of the iterations: "
    + ", ".join(f"{name} {value:.4f}" for name, value in early.items()),
    early["sgld-cv"] < early["sgld"] and early["sghmc-cv"] < early["sghmc"],
    because(
        (
            early["sghmc-cv"] < early["sghmc"] and early["sgld-cv"] >= early["sgld"],
            f"SGHMC-CV has. The place where sgd ended predicts with {optimum.rmse:.3f} in the last "
            "split; SGLD without control variates is already below that",
        )
    ),
)
others = list(first.values())
story.claim(
    "fig 6",
    "all SGMCMC samplers have a lower error than exact sampling that ran for too few iterations",
    f"first split: hmc {short:.4f} after the data of sgld, others {min(others):.4f} to "
    f"{max(others):.4f}",
    max(others) < short,
    because((max(others) >= short, "exact sampling is quicker here than in the review")),
)
story.claim(
    "fig 6",
    "which exact sampling owes to its number of iterations",
    f"hmc {end:.4f} after {WARMUP + DRAWS:,} draws ({half:.4f} after half of those that are kept)",
    end < max(others) and abs(end - half) < 0.01,
    because(
        (abs(end - half) >= 0.01, "its error still falls"),
        (end >= max(others), "at the end of a long run its error is no lower than the others'"),
    ),
)

# %%
story.end(iterations=ITERATIONS, splits=SPLITS, batch=BATCH, exact=[WARMUP, DRAWS])
