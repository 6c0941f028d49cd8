# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # The stochastic bouncy particle sampler
#
# Figures 1 to 5 of Pakman, Gilboa, Carlson & Paninski (2017); figure 6 is the story `sbps-network`.
# A *bouncy particle* moves through the posterior on straight lines: theta(t) = theta + v t. With
# U = -log posterior it bounces off at rate $[v \cdot \nabla U]_+$, which is positive only uphill,
# and then has the velocity $v - 2 (v \cdot g) g / |g|^2$, $g = \nabla U$. There is no step to
# choose and nothing is ever rejected.
#
# The *stochastic* one replaces the gradient by that of a fresh minibatch of n rows. Noise does not
# change what is sampled (theorem 1), if the rate stays below the bound that bounces are proposed
# from. That bound is predicted: the noisy rates seen since the last bounce are regressed on time,
# and k standard errors above the line is the bound (section 4). `sgmc.SBPS` is this sampler, and
# `chain_diagnostics` says how often the bound was broken.

# %%
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from story import Story, because, quiet_fit
from tools import Band, acf, line_means, path_at, seconds_of

import sgmc

# of slow mixing and broken bounds, which are counted below
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
story = Story("sbps", minutes=4)

# %% [markdown]
# ## The data of section 7.1
#
# N = 1,000 rows, d = 20, slopes from Unif[-5, 5], one column of variance 6, minibatches of 100
# random rows, k = 3. The paper names no prior; here it is N(0, 10^2). All samplers move in raw
# coordinates, as theirs do (`precondition=None`). An *epoch* is N rows touched. SBPS draws its
# velocity anew at bounces alone, as in the paper: `refresh=0`.

# %%
N, D = story.pick((1000, 20), (300, 6))
BATCH, STARTS = N // 10, 5
rng = np.random.default_rng(71)
X, slopes = rng.normal(size=(N, D)), rng.uniform(-5, 5, D)
X[:, 0] *= np.sqrt(6)
y = (rng.random(N) < 1 / (1 + np.exp(-X @ slopes))).astype(int)
model = sgmc.Logit(y, X)
RAW = {"prior": {"*": sgmc.normal(0, 10)}, "precondition": None, "seed": 1, "threads": 1}
MINI = {"gradient": "simple", "subsample": "uniform", "batch_size": BATCH}
reference = model.fit(
    sampler="mala", prior=RAW["prior"], seed=1, draws=story.pick(100_000, 2000), threads=1
)
spread, axes = np.linalg.eigh(model.fit(sampler="laplace", prior=RAW["prior"], seed=1).cov_params())
# directions of the largest and of the smallest variance of the Laplace approximation
ENDS = axes[:, [-1, 0]]
TRUE = (reference.flat @ ENDS).std(axis=0)


def loss(theta):
    """Negative log likelihood a row, of coefficients (..., d)."""
    eta = theta @ X.T
    return np.mean(np.logaddexp(0, eta) - y * eta, axis=-1)


print(
    f"sds by mala: {TRUE[0]:.3f} in the widest direction, {TRUE[1]:.3f} in the narrowest; negative "
    f"log likelihood a row {loss(reference.params.to_numpy()):.4f} at the mean, "
    f"{loss(reference.flat[::97]).mean():.4f} a draw"
)

# %% [markdown]
# ## Figure 1: noise leaves the law alone and costs time
#
# Two columns, coordinates whitened at the mode: the posterior is about a standard normal, and a
# minibatch of about N / 26 rows has gradient noise of sd 5 in each coordinate, as in the paper's
# figure (which does not name its density). The same sampler, all rows and few.

# %%
Z = rng.normal(size=(2000, 2))
pair = sgmc.Logit((rng.random(2000) < 1 / (1 + np.exp(-Z @ [0.5, -0.3]))).astype(int), Z)
noisy = {"exact": 2000, "noisy": 77}
walks = {
    name: pair.fit(
        sampler=sgmc.SBPS(confidence=5.0),
        gradient="simple",
        subsample="uniform",
        batch_size=n,
        seed=2,
        chains=1,
        threads=1,
        draws=story.pick(20_000, 1000),
    )
    for name, n in noisy.items()
}
tau = walks["noisy"].gradient_noise()["tau"].to_numpy()
truth = pair.fit(sampler="mala", seed=3, draws=story.pick(10_000, 1000), threads=1)


def white(results):
    """Draws, centred and divided by the reference's sds."""
    return (results.flat - truth.params.to_numpy()) / truth.bse.to_numpy()


gaps = {name: np.diff(walk.skeleton().times) for name, walk in walks.items()}
facts = pd.DataFrame(
    {
        name: [
            gaps[name].mean(),
            *white(walk).std(axis=0),
            walk.path_summary().ess.min() / walk.skeleton().times[-1],
            walk.chain_diagnostics().violations[0],
        ]
        for name, walk in walks.items()
    },
    index=[
        "time between bounces",
        "sd of x1 over mala's",
        "sd of x2",
        "effective draws a unit of time",
        "violations",
    ],
)
print(f"gradient noise: sd {tau[0]:.1f}, {tau[1]:.1f}")
print(facts.round(4))

# %%
figure, axs = plt.subplot_mosaic("AABBCC;DDDEEE", figsize=(9, 5.6))
for ax, (name, walk) in zip((axs["A"], axs["B"]), walks.items()):
    line = walk.skeleton().positions.iloc[:51].to_numpy()
    ax.plot(*line.T, lw=0.9, marker=".", ms=3)
    ax.set(
        title=f"{name} gradient: 50 bounces",
        xlabel="x1",
        ylabel="x2",
        xlim=np.quantile(truth.flat[:, 0], [0, 1]),
        ylim=np.quantile(truth.flat[:, 1], [0, 1]),
    )
    axs["C"].hist(
        gaps[name], bins=60, range=(0, 6), density=True, histtype="step", lw=1.5, label=name
    )
    axs["D"].plot(
        *(np.quantile(white(w)[:, 0], np.linspace(0.005, 0.995, 80)) for w in (truth, walk)),
        ".",
        ms=4,
        label=name,
    )
    turns = walk.skeleton()
    grid = np.interp(
        np.arange(0, turns.times[-1], gaps["exact"].mean()), turns.times, turns.positions.iloc[:, 0]
    )
    axs["E"].plot(acf(grid, 20), marker=".", label=name)
axs["C"].set(xlabel="time between bounces", ylabel="density", title="noise: shorter lines")
axs["D"].axline((0, 0), slope=1, color="0.7", lw=0.8, zorder=0)
axs["D"].set(
    xlabel="quantiles of x1, mala (sds)", ylabel="bouncy particles", title="the law is the same"
)
axs["E"].set(
    xlabel="lag (mean lines of the exact path)",
    ylabel="autocorrelation of x1",
    title="and mixing is slower",
)
for name in "CDE":
    axs[name].legend()
story.figure("1-noise", figure)
ratio = gaps["noisy"].mean() / gaps["exact"].mean()
story.claim(
    "fig 1",
    "shorter times until bouncing with noisy gradients, N(0, 5^2) a component",
    f"{ratio:.2f} of the exact gradient's (noise {tau.mean():.1f})",
    ratio < 0.8,
)
wrong = np.abs(white(walks["noisy"]).std(axis=0) - 1).max()
slower = facts.loc["effective draws a unit of time"]
story.claim(
    "fig 1, theorem 1",
    "the invariant distribution is not changed by the noise",
    f"sds within {wrong:.1%} of mala's",
    wrong < 0.05,
)
story.claim(
    "fig 1",
    "slower mixing in the noisy case",
    f"{slower['noisy'] / slower['exact']:.2f} of the effective draws a unit of time",
    slower["noisy"] < 0.9 * slower["exact"],
)

# %% [markdown]
# ## Figure 2: how a bounce is proposed
#
# A logit of two columns, N = 1,000, n = 100. Take a line of a path, and follow the paper's recipe
# along it: the rates seen so far, each with its own noise variance c^2 from the minibatch (eq. 10),
# are regressed on time with a normal prior on the slope, and the next look is drawn from the rate
# $[\hat\beta_1 t + \hat\beta_0 + k \rho(t)]_+$ (eq. 11-13).

# %%
flat = np.random.default_rng(2)
X2 = flat.normal(size=(1000, 2))
y2 = (flat.random(1000) < 1 / (1 + np.exp(-X2 @ [2.0, -1.5]))).astype(int)
small = sgmc.Logit(y2, X2).fit(
    sampler=sgmc.SBPS(refresh=0.0), chains=1, draws=500, **{**RAW, **MINI, "batch_size": 100}
)
path = small.skeleton()
P, V = path.positions.to_numpy()[:-1], path.velocities.to_numpy()[:-1]


def row_rates(theta, v):
    """v . gradient of U, row by row and with the prior's part shared out."""
    return (1 / (1 + np.exp(-X2 @ theta)) - y2) * (X2 @ v) + theta @ v / 100 / 1000


def looked(theta, v):
    """The rate by 100 random rows, and its variance (eq. 10)."""
    some = row_rates(theta, v)[flat.choice(1000, 100, replace=False)]
    return 1000 * some.mean(), 1000**2 / 100 * (1 - 100 / 1000) * some.var(ddof=1)


lengths = np.diff(path.times)
rises = np.array(
    [
        (row_rates(P[j] + V[j] * s, V[j]).sum() - row_rates(P[j], V[j]).sum()) / s
        for j, s in enumerate(lengths[:300])
    ]
)
prior_slope = rises.mean(), rises.var()


# %%
# of the long lines, one with some looks before the bounce
for j in np.argsort(lengths[:300])[-20:]:
    seen, bands = Band(lambda t: looked(P[j] + V[j] * t, V[j]), prior_slope).until_bounce(
        np.linspace(0, 6 * lengths[j], 6000), flat
    )
    if len(bands) >= 5:
        break
unit = np.linalg.norm(V[j])
times, rates, _ = np.array(seen).T
horizon = np.linspace(0, times[-1], 300)
exact = np.array([row_rates(P[j] + V[j] * t, V[j]).sum() for t in horizon])
# of any row's rate, times N: that of exact subsampling
bound = 1000 * np.linalg.norm(X2, axis=1).max() * unit
line = np.polynomial.Polynomial.fit(horizon, exact, 1)(horizon)
bent = np.abs(exact - line).max() / np.ptp(exact)

# %%
figure, (ax, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1.4, 1])
for number, (t, gamma) in enumerate(bands):
    ax.plot(t, gamma / unit, color="C1", lw=1, label="bound, k = 3" if number == 0 else None)
ax.plot(horizon, exact / unit, color="0.2", label="exact rate")
ax.plot(times[:-1], rates[:-1] / unit, "o", ms=4, color="C2", label="looks: no bounce")
ax.plot(times[-1], rates[-1] / unit, "D", ms=6, color="C3", label="bounce")
ax.set(
    xlabel="time since the last bounce",
    ylabel="rate, per unit of length",
    title="a bound from the looks so far",
)
some = slice(max(j - 6, 0), j + 7)
grid = np.stack(
    np.meshgrid(
        *(
            small.params.to_numpy()[i] + small.bse.to_numpy()[i] * np.linspace(-3.2, 3.2, 60)
            for i in (0, 1)
        )
    ),
    -1,
)
gap = grid - small.params.to_numpy()
height = np.einsum("...i,ij,...j", gap, np.linalg.inv(small.cov_params()), gap)
right.contour(grid[..., 0], grid[..., 1], height, [1, 4, 9], colors="0.75", zorder=0)
right.plot(*P[some].T, lw=1)
right.plot(*np.array([P[j], P[j + 1]]).T, color="C3", lw=2.2, label="the line on the left")
right.set(xlabel="theta 1", ylabel="theta 2", title="and the path, over the Laplace approximation")
figure.legend(loc="outside lower center", ncols=5)
story.figure("2-bound", figure)
top = np.mean([g.mean() for _, g in bands]) / unit
story.claim(
    "fig 2",
    "the linear approximation of G(t) is quite accurate",
    f"farthest from a line {bent:.1%} of its range",
    bent < 0.05,
)
story.claim(
    "fig 2",
    "constant bounds of exact subsampling, 1e4 to 2e4 there, are much higher than the predicted "
    "one",
    f"{bound / unit:,.0f} and {top:,.0f} along this line",
    bound / unit > 5 * top,
)

# %% [markdown]
# ## Figure 4: against tuned SGLD, mSGNHT and exact subsampling
#
# First, **convergence** from five random places. The state after e epochs is where a fit with so
# many steps of warmup begins to record: ten looks of 100 rows are an epoch. `lipsbps` and `zzss`
# are exact, with bounds that always hold, and look at one row at a time; their looks come at a
# constant rate, so that epochs are time along the path.
#
# SGLD's step is the question. The paper scans steps for the largest whose bias is not "overly
# large" and finds 0.1, in a unit that it does not name. Here h is that of the posterior of all
# rows, theta + h/2 times its gradient + N(0, h), and the scan is repeated below, by quarters of a
# decade: on a coarser one the longest step that passes is too short by up to half a decade. "Not
# overly large" is read as an sd of the narrowest direction that is right to 10 %, and between two
# steps of the scan costs are interpolated to the step that is just so. mSGNHT has such a scan of
# its step e.

# %%
EPOCHS = np.unique(np.geomspace(1, story.pick(3000, 60), story.pick(36, 9)).astype(int))
starts = np.random.default_rng(4).normal(size=(STARTS, D))
BOUNCY = {
    "sbps": sgmc.SBPS(refresh=0.0),
    "psbps": sgmc.PSBPS(refresh=0.0),
    "sbps, refreshed": sgmc.SBPS(refresh=0.2),
}
SCAN = 10.0 ** np.arange(-5, -1.9, story.pick(0.25, 0.5))
THERMOSTAT = 10.0 ** np.arange(-3, -0.9, story.pick(0.25, 0.5))
EXACT = ("lipsbps", "zzss")


def states(sampler, **how):
    """Coefficients after so many epochs, (epoch, start, d), of a sampler by minibatches; None where
    a chain is lost.
    """
    if "step_size" in how:
        found = quiet_fit(
            model,
            sampler=sampler,
            init=starts,
            chains=STARTS,
            warmup=0,
            thin=N // BATCH,
            draws=int(EPOCHS[-1]),
            **how,
            **MINI,
            **RAW,
        )
        whole = found is not None and found.draws.shape[:2] == (STARTS, EPOCHS[-1])
        return found.draws[:, EPOCHS - 1].swapaxes(0, 1) if whole else None
    fits = (
        model.fit(
            sampler=sampler,
            init=starts,
            chains=STARTS,
            warmup=int(N // BATCH * e),
            draws=2,
            **MINI,
            **RAW,
        )
        for e in EPOCHS
    )
    return np.array([[fit.skeleton(k).positions.iloc[0] for k in range(STARTS)] for fit in fits])


def along(results, k, epochs):
    """The path of chain k after so many epochs, looks coming at a constant rate."""
    turns, touched = results.skeleton(k), results.chain_diagnostics().data_passes[k]
    at = np.asarray(epochs) * turns.times[-1] / touched
    return path_at(turns, at)


way = {name: states(spec) for name, spec in BOUNCY.items()}
STEPS = {f"sgld {h:.1e}": ("sgld", h) for h in SCAN}
STEPS |= {f"msgnht {e:.1e}": ("msgnht", e) for e in THERMOSTAT}
way |= {name: states(sampler, step_size=step) for name, (sampler, step) in STEPS.items()}
way = {name: theta for name, theta in way.items() if theta is not None}
paths = {
    name: model.fit(sampler=name, init=starts, chains=STARTS, warmup=0, draws=2, **RAW)
    for name in EXACT
}
way |= {
    name: np.stack([along(fit, k, EPOCHS) for k in range(STARTS)], 1) for name, fit in paths.items()
}
curves = pd.DataFrame(
    {name: loss(theta).mean(axis=1) for name, theta in way.items()},
    index=pd.Index(EPOCHS, name="epochs"),
)
print(curves.iloc[::5].round(3).T.to_string())

# %% [markdown]
# A chain has arrived when the mean of the five is within one sd of what draws of the Laplace
# approximation have, NLL(mode)/N + (d/2 + sqrt(d/2)) / N. Then **mixing**: after a burn-in, points
# five times an epoch, in the widest and in the narrowest direction.

# %%
BURN, LONG = story.pick((3000, 50_000), (100, 600))
mode = reference.params.to_numpy()
arrived = loss(mode) + (D / 2 + np.sqrt(D / 2)) / N


def points(name):
    """Five an epoch in the two directions, after the burn-in: (point, 2)."""
    if name in EXACT:
        grids = [
            np.arange(min(BURN, 0.3 * p), p, 0.2)
            for p in paths[name].chain_diagnostics().data_passes
        ]
        return np.concatenate([along(paths[name], k, grid) @ ENDS for k, grid in enumerate(grids)])
    at = {"init": mode, "chains": 1, "warmup": BURN * N // BATCH, **MINI, **RAW}
    if name in STEPS:
        sampler, step = STEPS[name]
        how = {"sampler": sampler, "step_size": step, "thin": 2, "draws": 5 * LONG}
        found = quiet_fit(model, **how, **at)
        lost = found is None or len(found.flat) < 5 * LONG
        return np.full((2, 2), np.nan) if lost else found.flat @ ENDS
    turns = model.fit(
        sampler=BOUNCY[name], draws=LONG, max_data_passes=BURN + LONG, **at
    ).skeleton()
    return path_at(turns, np.linspace(0, turns.times[-1], 5 * LONG)) @ ENDS


x = {name: points(name) for name in way}
x = {name: v for name, v in x.items() if np.isfinite(v).all()}
mixing = pd.DataFrame(
    {
        name: [
            *(len(v) / 5 / sgmc.diagnostics.ess(v[None], method="mean")),
            *(v.std(axis=0) / TRUE),
        ]
        for name, v in x.items()
    },
    index=["epochs a draw, widest", "narrowest", "sd ratio, widest", "sd ratio, narrowest"],
).T
mixing.insert(
    0,
    "epochs to arrive",
    [next((e for e, v in curves[name].items() if v < arrived), np.inf) for name in mixing.index],
)
print(mixing.round(2).to_string())


# %%
def longest(sampler, every=1):
    """The longest step of a scan whose sd in the narrowest direction is right to 10 %."""
    tried = [name for name in mixing.index if name.startswith(sampler)][::every]
    right = [n for n in tried if abs(mixing.loc[n, "sd ratio, narrowest"] - 1) < 0.1]
    return (right or tried[:1])[-1]


tuned, thermostat = longest("sgld"), longest("msgnht")
shown = ["sbps", tuned, "sgld 3.2e-05", "sgld 3.2e-03", thermostat, *EXACT]
figure, axs = plt.subplot_mosaic("AABC;AADE", figsize=(11, 6))
for number, name in enumerate(shown):
    look = {
        "color": f"C{number}",
        "lw": 2 if name in ("sbps", tuned) else 1,
        "ls": "-" if number < 4 else "--",
    }
    label = name + (" (tuned)" if name in (tuned, thermostat) else "")
    axs["A"].loglog(EPOCHS, curves[name], label=label, **look)
    for way_of, acf_of, j in (("B", "C", 0), ("D", "E", 1)):
        axs[way_of].plot(EPOCHS, (way[name][:, 0] - mode) @ ENDS[:, j], **look)
        far = min(250 if j == 0 else 40, len(x[name]) // 20)
        axs[acf_of].plot(np.arange(5 * far + 1) / 5, acf(x[name][:, j], 5 * far), **look)
axs["A"].axhspan(loss(mode), arrived, color="0.85", lw=0, label="mode to one sd above a draw")
axs["A"].set(
    xlabel="epochs",
    ylabel="negative log likelihood a row",
    title="five random starts: SBPS is late, but not the last",
)
figure.legend(*axs["A"].get_legend_handles_labels(), loc="outside lower center", ncols=4)
for name, after, which in (("B", "C", "widest"), ("D", "E", "narrowest")):
    axs[name].set(xlabel="epochs", ylabel="from the mode", title=f"{which} direction", xscale="log")
    axs[after].set(
        xlabel="lag in epochs", ylabel="autocorrelation", title="after burn-in", ylim=(-1.05, 1.05)
    )
story.figure("4-logit", figure)


# %%
def just_right(sampler):
    """Costs at the step of a scan whose sd in the narrowest direction is just 10 % too large,
    between the last step that passes and the next one, by their logs.
    """
    last = longest(sampler)
    tried = [name for name in mixing.index if name.startswith(sampler)]
    after = tried[min(tried.index(last) + 1, len(tried) - 1)]
    a, b = (mixing.loc[name, "sd ratio, narrowest"] for name in (last, after))
    share = (1.1 - a) / (b - a) if b > 1.1 > a else 0.0
    costs = np.exp((1 - share) * np.log(mixing.loc[last]) + share * np.log(mixing.loc[after]))
    return costs, STEPS[last][1] ** (1 - share) * STEPS[after][1] ** share


best, step = just_right("sgld")
print(f"SGLD, interpolated to h = {step:.2e}:\n{best.round(2).to_string()}")

# %% [markdown]
# **Seconds.** An epoch of single rows costs a thousand looks, each with its random numbers; one of
# minibatches costs ten.

# %%
counted = {
    "sbps": (1002, BOUNCY["sbps"], MINI),
    "lipsbps": (10, "lipsbps", {}),
    "zzss": (6, "zzss", {}),
}
cpu = pd.Series(
    {
        name: seconds_of(
            lambda draws: model.fit(
                sampler=sampler, chains=1, draws=draws, warmup=10, init=mode, **how, **RAW
            ),
            most,
        )
        for name, (most, sampler, how) in counted.items()
    }
)
print((cpu / cpu["sbps"]).round(1).to_string())

# %% [markdown]
# The headline: at the same data, SBPS with its default k = 3 against SGLD with the best step of the
# scan.

# %%
one = mixing.loc["sbps"]
wide, narrow = best.iloc[1] / one.iloc[1], best.iloc[2] / one.iloc[2]
coarse = longest("sgld", every=2)
story.claim(
    "fig 4 (headline)",
    "SBPS outperforms optimally tuned SGLD at equal data; k = 3 untuned (curves, no numbers)",
    f"{one.iloc[1]:,.0f} epochs an effective draw in the widest direction, sgld {step:.1e} "
    f"{best.iloc[1]:,.0f}: {wide:.0f} times fewer (narrowest: {one.iloc[2]:.1f} against "
    f"{best.iloc[2]:.1f})",
    wide > 1.5,
)
story.claim(
    "fig 4",
    "in the narrowest direction too",
    f"{narrow:.2f} times fewer epochs an effective draw than sgld {step:.1e}",
    narrow > 1,
    because(
        (
            narrow <= 1 < mixing.loc[coarse].iloc[2] / one.iloc[2],
            "it hangs on the scan: at the longest step by half decades, "
            f"{coarse.split()[1]}, SGLD takes {mixing.loc[coarse].iloc[2]:.1f} epochs, at the step "
            f"that is 10 % off, {best.iloc[2]:.1f}",
        )
    ),
)
story.claim(
    "fig 4",
    "SBPS converges faster than optimally tuned SGLD",
    f"{one.iloc[0]:,.0f} epochs, sgld {step:.1e} {best.iloc[0]:,.0f}; {coarse}, the longest by "
    f"half decades, {mixing.loc[coarse].iloc[0]:,.0f}",
    one.iloc[0] < best.iloc[0],
    because(
        (
            best.iloc[0] <= one.iloc[0] < mixing.loc[coarse].iloc[0],
            "it hangs on the scan: SBPS is ahead of the best step by half decades, and behind the "
            "one that is 10 % off; the unit of the paper's steps is not known",
        )
    ),
)
first = mixing.loc[["sbps", thermostat, *EXACT]].iloc[:, 0]
first.loc[f"sgld {step:.1e}"] = best.iloc[0]
story.claim(
    "fig 4",
    "SBPS is the fastest of the five to converge",
    "epochs: " + ", ".join(f"{name} {value:,.0f}" for name, value in first.items()),
    first.idxmin() == "sbps",
    because(
        (
            first.idxmin() == thermostat,
            "mSGNHT arrives first, at the longest step that leaves the narrowest direction's sd "
            f"right to 10 %; its sd in the widest one is {mixing.loc[thermostat].iloc[3]:.2f} of "
            "mala's. The paper ran it at 0.1 in an unnamed unit",
        ),
        (first.idxmin().startswith("sgld"), "SGLD with the best step of its scan is first"),
    ),
)
orders = [mixing.loc[name].iloc[1] / one.iloc[1] for name in EXACT]
story.claim(
    "section 7.1",
    "lip-SBPS and ZZ-SS are orders of magnitude slower",
    f"{orders[0]:,.0f} and {orders[1]:,.0f} times more "
    "epochs an effective draw in the widest direction, at least",
    min(orders) >= 10,
)
late = [mixing.loc[name].iloc[0] / one.iloc[0] for name in EXACT]
story.claim(
    "section 7.1",
    "SBPS converges orders of magnitude faster than both",
    f"lip-SBPS takes {late[0]:.1f} times the epochs to arrive, ZZ-SS {late[1]:.1f} (inf: not "
    f"within {EPOCHS[-1]:,})",
    min(late) >= 10,
    because(
        (
            late[0] < 10,
            "far from the mode rates are large for all, and a look at one row costs a hundredth of "
            "a minibatch",
        )
    ),
)
story.claim(
    "fig 4, inset",
    "35 times less CPU time an epoch with n = 100 than with n = 1",
    f"{cpu['lipsbps'] / cpu['sbps']:.0f} times "
    f"(lip-SBPS), {cpu['zzss'] / cpu['sbps']:.0f} (ZZ-SS); criterion: a third of 35",
    min(cpu[1:]) / cpu["sbps"] > 35 / 3,
    effect=(35, min(cpu[1:]) / cpu["sbps"]),
)
bias = (mixing.loc["sbps"].iloc[3:] - 1).abs().max()
story.claim(
    "section 4.1",
    "k = 3: a small bias",
    f"sds within {bias:.0%} of mala's; criterion: 10 %",
    bias < 0.1,
)
again = mixing.loc["sbps, refreshed"].iloc[1] / one.iloc[1]
story.claim(
    "section 7.1",
    "no refreshment is needed",
    f"{again:.1f} times the epochs per effective draw with refresh=0.2",
    again > 1 and bias < 0.1,
)

# %% [markdown]
# ## Figure 3: a preconditioner that is learned
#
# pSBPS scales each coordinate by gradients seen (`sgmc.PSBPS`; learned in warmup, then fixed). The
# paper shows it on the data above. Its own condition is a posterior that is anisotropic *along
# the axes*: besides, the same model with columns of sds from 1 down to a hundredth, and a prior
# N(0, 100^2).

# %%
Z = rng.normal(size=(N, D))
unlike = sgmc.Logit(
    (rng.random(N) < 1 / (1 + np.exp(-Z @ np.full(D, 0.3)))).astype(int),
    Z * np.geomspace(1, 0.01, D),
)
aligned = {
    name: unlike.fit(
        sampler=BOUNCY[name],
        chains=1,
        warmup=story.pick(3000, 300),
        draws=10**5,
        init=np.zeros(D),
        max_data_passes=story.pick(20_000, 400),
        **MINI,
        **{**RAW, "prior": {"*": sgmc.normal(0, 100)}},
    )
    for name in ("sbps", "psbps")
}
figure, axs = plt.subplots(1, 3, figsize=(10, 3.2))
for name in ("sbps", "psbps"):
    axs[0].semilogx(EPOCHS, (way[name][:, 0] - mode) @ ENDS[:, 0], label=name)
    axs[1].plot(np.arange(5 * 40 + 1) / 5, acf(x[name][:, 0], 200), label=name)
    turns = aligned[name].skeleton()
    slow = path_at(turns, np.linspace(0, turns.times[-1], 5 * story.pick(19_700, 370)))[:, -1]
    axs[2].plot(np.arange(201) / 5, acf(slow, 200), label=name)
axs[0].set(xlabel="epochs", ylabel="widest direction, from the mode", title="section 7.1: way in")
axs[1].set(
    xlabel="lag in epochs", ylabel="autocorrelation", title="widest direction: hardly a gain"
)
(
    axs[2].set(
        xlabel="lag in epochs", ylabel="autocorrelation", title="columns of unlike scales: gain"
    ),
    axs[2].legend(),
)
story.figure("3-preconditioned", figure)
least = {name: fit.path_summary().ess.min() for name, fit in aligned.items()}
loading = (ENDS[:, 0] ** 2).max()  # 1 where the widest direction is an axis
oblique = (
    loading < 0.5,
    f"this posterior's widest direction is along no axis (its largest squared loading is "
    f"{loading:.2f}), which a diagonal does not see",
)
story.claim(
    "fig 3",
    "pSBPS converges to the mode faster",
    f"{mixing.loc['psbps'].iloc[0]:,.0f} epochs against {one.iloc[0]:,.0f}",
    mixing.loc["psbps"].iloc[0] < 0.9 * one.iloc[0],
    because(oblique),
)
gain = one.iloc[1] / mixing.loc["psbps"].iloc[1]
story.claim(
    "fig 3",
    "and mixes faster in the direction of greatest covariance",
    f"{gain:.2f} times as fast",
    gain > 1.2,
    because(oblique),
)
story.claim(
    "section 5",
    "performs favourably when the posterior is highly anisotropic and axis-aligned",
    f"{least['psbps'] / least['sbps']:.1f} times the effective draws of the slowest slope (sds 1 "
    "to 100)",
    least["psbps"] > 1.2 * least["sbps"],
)

# %% [markdown]
# ## Supplement F: k, n and refreshment
#
# Section 7.1 sums it up: k from 3 to 5; n small, but large enough for a normal noise; no
# refreshment where batches are small. Here each of the three is varied with the others as in
# figure 4, from the mode, at the same number of epochs. `refresh` counts draws of a new velocity in
# a path as long as the sd of the narrowest direction. Left out, it is derived from the noise.

# %%
SCANNED = {
    "confidence": (1.0, 2.0, 3.0, 4.0, 5.0),
    "batch_size": tuple(N * share // 1000 for share in (20, 50, 100, 200, 500, 1000)),
    "refresh": (0.0, 0.001, 0.01, 0.05, 0.2),
}
SPAN = story.pick((2000, 40_000), (100, 400))


def scanned(batch_size=BATCH, **how):
    """What a setting gives: facts of one path."""
    fit = model.fit(
        sampler=sgmc.SBPS(**{"refresh": 0.0, **how}),
        init=mode,
        chains=1,
        warmup=SPAN[0] * N // batch_size,
        draws=10**5,
        max_data_passes=sum(SPAN),
        **{**MINI, "batch_size": batch_size},
        **RAW,
    )
    turns, told = fit.skeleton(), fit.chain_diagnostics()
    span = told.data_passes[0] - SPAN[0]
    v = path_at(turns, np.linspace(0, turns.times[-1], 5 * SPAN[1])) @ ENDS
    return [
        told.violations[0],
        *(v.std(axis=0) / TRUE),
        *(span / sgmc.diagnostics.ess(v[None], method="mean")),
    ]


FACTS = ["violations", "sd, widest", "sd, narrowest", "epochs, widest", "epochs, narrowest"]
scan = pd.DataFrame(
    {
        (name, value): scanned(**{name: value})
        for name, values in SCANNED.items()
        for value in values
    },
    index=FACTS,
).T
scan.loc[("refresh", np.nan), :] = scanned(refresh=None)
print(scan.round(4).to_string())

# %%
figure, axs = plt.subplots(2, 3, figsize=(10, 5), sharex="col")
for column, (name, label) in enumerate(
    {"confidence": "k", "batch_size": "n", "refresh": "refreshments per sd"}.items()
):
    part = scan.loc[name].loc[list(SCANNED[name])]
    at = np.maximum(part.index.to_numpy(), 3e-4 if name == "refresh" else 0)
    for row, fact in enumerate(("sd", "epochs")):
        for which in ("widest", "narrowest"):
            axs[row, column].plot(at, part[f"{fact}, {which}"], "o-", label=which)
    axs[1, column].set(yscale="log", xlabel=label)
    axs[0, column].axhline(1, color="0.7", lw=0.8, zorder=0)
    if name != "confidence":
        axs[1, column].set_xscale("log")
axs[0, 0].set(ylabel="sd over mala's")
axs[1, 0].set(ylabel="epochs per effective draw")
axs[0, 0].legend(title="direction")
axs[0, 2].set_title("leftmost: none", fontsize="small")
story.figure("f-settings", figure)

# %%
by_k, by_n, by_r = (scan.loc[name] for name in SCANNED)
sds, cost = ["sd, widest", "sd, narrowest"], ["epochs, widest", "epochs, narrowest"]
off = (scan[sds] - 1).abs()
# Monte Carlo error of an sd, by effective draws of the mean
sure = np.sqrt(scan[cost].to_numpy() / (2 * SPAN[1]))
far = (off - 2 * sure).max(axis=1)
story.claim(
    "section 7.1, supplement F",
    "k can be set in the range from 3 to 5",
    f"sds within {off.loc['confidence'].loc[3.0:5.0].max().max():.0%} of mala's there, "
    f"{off.loc['confidence'].loc[1.0].max():.0%} at k = 1; violations "
    f"{by_k.violations.loc[3.0]:.4f} to {by_k.violations.loc[5.0]:.4f}; "
    "criterion: 10 % and two Monte Carlo errors",
    far.loc["confidence"].loc[3.0:5.0].max() < 0.1 < far.loc["confidence"].loc[1.0],
)
story.claim(
    "section 7.1, supplement F",
    "n large enough for a normal noise",
    f"sds {by_n[sds].iloc[0].max():.1f} times mala's at n = {by_n.index[0]:.0f}, "
    f"violations {by_n.violations.iloc[0]:.2f}",
    far.loc["batch_size"].iloc[0] > 0.1,
)
near = by_n["epochs, narrowest"].loc[[N // 20, N // 10, N // 5]]
story.claim(
    "section 7.1, supplement F",
    "results are not sensitively dependent on n",
    f"{near.min():.1f} to {near.max():.1f} epochs per effective draw, narrowest, for "
    f"n from {N // 20} to {N // 5}; criterion: a factor of 2",
    near.max() / near.min() < 2,
)
whole, small_n = by_n.iloc[-1], by_n.loc[BATCH]
story.claim(
    "section 7.1, supplement F",
    "n should be small",
    f"{small_n['epochs, narrowest']:.1f} epochs per effective draw of the narrowest direction at "
    f"n = {BATCH}, {whole['epochs, narrowest']:.1f} with all rows",
    small_n["epochs, narrowest"] < whole["epochs, narrowest"],
    because(
        (
            abs(whole["sd, widest"] - small_n["sd, widest"]) < 0.1,
            "N is small: a look at all rows costs ten times the data of one at a tenth of them, "
            f"and the looks per effective draw fall {10 * small_n.iloc[-1] / whole.iloc[-1]:.0f} "
            "times; sds are as right, the widest direction's "
            f"{whole['sd, widest']:.2f} and {small_n['sd, widest']:.2f} times mala's",
        )
    ),
)
story.claim(
    "section 7.1, supplement F",
    "at small n no refreshment is needed",
    f"{by_r['epochs, widest'].loc[0.0]:,.0f} epochs per effective draw of the widest direction "
    f"without it, {by_r['epochs, widest'].loc[0.2]:,.0f} at 0.2",
    by_r["epochs, widest"].loc[0.0]
    < 1.2 * by_r["epochs, widest"].loc[list(SCANNED["refresh"])].min(),
)

# %% [markdown]
# ## Figure 5: the whole path, not points of it
#
# E f for f = sin((theta_1 - mode) / r), zero for a Gaussian: its mean along the path (in closed
# form on every line; `results.expect(f)` does this for any f by quadrature), and at as many points
# of the path as it has bounces. b is the mean length of a line along theta_1.

# %%
RUNS, LENGTH, RADII = story.pick(10, 2), story.pick(1000, 60), (1.0, 0.3, 0.1, 0.03, 0.01)
errors = {r: [] for r in RADII}
figure, axs = plt.subplots(1, 3, figsize=(10, 3.2))
for run in range(RUNS):
    turns = model.fit(
        sampler=BOUNCY["sbps"],
        chains=1,
        init=mode,
        warmup=50 * N // BATCH,
        draws=10**5,
        max_data_passes=50 + LENGTH,
        **MINI,
        **{**RAW, "seed": 100 + run},
    ).skeleton()
    b = np.abs(np.diff(turns.positions.iloc[:, 0])).mean()
    scattered = path_at(turns, np.linspace(0, turns.times[-1], len(turns.times)))[:, 0]
    for r in RADII:

        def on_line(p, q, unit=r * b):
            move = np.where(np.abs(q - p) < 1e-9, 1e-9, q - p) / unit
            return (np.cos((p - mode[0]) / unit) - np.cos((p - mode[0]) / unit + move)) / move

        when, running = line_means(turns, on_line)
        dots = np.cumsum(np.sin((scattered - mode[0]) / (r * b))) / np.arange(1, len(scattered) + 1)
        errors[r].append([abs(running[-1]), abs(dots[-1])])
        if run == 0 and r in (1.0, 0.01):
            ax, epochs = axs[int(r < 1)], when * LENGTH / when[-1]
            ax.plot(epochs, running, label="along the path")
            ax.plot(epochs, dots[1:], label="at points", lw=0.9)
            ax.axhline(0, color="0.7", lw=0.8, zorder=0)
            ax.set(
                xlabel="epochs",
                ylabel="mean of f",
                title=f"r = {r:g} b",
                ylim=(-0.3, 0.3) if r == 1 else (-0.06, 0.06),
            )
            ax.legend()
error = pd.DataFrame(
    {r: np.mean(found, axis=0) for r, found in errors.items()},
    index=["along the path", "at points"],
)
print(
    f"b = {b:.3f}; mean absolute error of E f over {RUNS} runs of {LENGTH:,} epochs, by r / b:\n"
    + error.round(5).to_string()
)
(
    axs[2].loglog(RADII, error.loc["along the path"], "o-"),
    axs[2].loglog(RADII, error.loc["at points"], "s-", lw=0.9),
)
axs[2].set(xlabel="r / b", ylabel="mean absolute error", title="the path's mean gains where r < b")
story.figure("5-paths", figure)
story.claim("fig 5", "b = 2e-2, the mean length of a line", f"{b:.3f}", 0.01 < b < 0.04)
story.claim(
    "fig 5",
    "for r = b little difference between continuous and discrete samples",
    f"errors {error.loc['along the path', 1.0]:.4f} and {error.loc['at points', 1.0]:.4f}",
    0.8 < error.loc["along the path", 1.0] / error.loc["at points", 1.0] < 1.25,
)
gain = error.loc["at points", 0.01] / error.loc["along the path", 0.01]
story.claim(
    "fig 5",
    "for r = b / 100 the continuous mean is better",
    f"{gain:.1f} times smaller errors",
    gain > 1.5,
)
story.end(
    rows=N,
    columns=D,
    batch=BATCH,
    epochs_after_burn_in=LONG,
    prior="normal(0, 10)",
    scan=[f"{h:.1e}" for h in SCAN],
    scan_of_msgnht=[f"{e:.1e}" for e in THERMOSTAT],
)
