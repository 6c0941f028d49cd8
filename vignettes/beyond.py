# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Beyond the five papers: three samplers that are left out
#
# Users of other packages for stochastic gradient MCMC ask for *AMAGOLD* (Zhang, Cooper & De Sa
# 2020, arXiv:2003.00193), for *cyclical* SGLD (Zhang, Li, Zhang, Chen & Wilson 2020,
# arXiv:1902.03932) and for *contour* SGLD (Deng, Lin & Liang 2020, arXiv:2010.09800). Here they are
# in plain numpy (`tools.py`), beside what the package has, on four posteriors whose truth is known,
# with equal numbers of row gradients. A sampler that is ahead of all that is there would be taken
# in.

# %%
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy.special import expit
from story import Story, because
from tools import amagold, contour, cyclical

import sgmc

# of chains that do not change mode, which is the subject
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
story = Story("beyond", minutes=12)
PASSES, RUNS, CHAINS = story.pick((1200, 4, 4), (60, 1, 2))
LONG = story.pick(4000, 300)  # draws of the truth

# %% [markdown]
# ## Four posteriors
#
# Two have two modes: the tied means of Welling & Teh (2011), and a double well, y ~ N(theta^2, 1)
# with an uneven prior. Two have one: a logit with 3 % of ones, whose minibatch gradients are
# skewed, and a logit with 20 correlated columns. The truth of the first two is a grid's, of the
# others a long run of `nuts`. The plain samplers have the help of the truth: coordinates are
# whitened by it, chains begin at draws of N(0, I), which are on both sides of a valley (the
# package's begin at the mode that its search finds), and steps are the best of five.


# %%
class DoubleWell(sgmc.Model):
    """y ~ N(theta^2, 1), theta ~ N(0.3, 0.5^2)."""

    parameters, prior = {"theta": ()}, sgmc.normal(0.3, 0.5)

    def __init__(self, y):
        self.y, self.n = y, len(y)

    def log_lik(self, theta, rows):
        """Log density of rows together."""
        return -((self.y[rows] - theta["theta"] ** 2) ** 2).sum() / 2

    def grad(self, theta, rows):
        """Its derivative."""
        at = theta["theta"]
        return {"theta": 2 * at * (self.y[rows] - at**2).sum()}


class Target:
    """A posterior: the package's model, energies of rows with their gradients in coordinates
    z = L^-1 (theta - centre), and draws of the truth.

    ``rows(theta, index)`` returns the sum of the energies of rows and its gradient, ``index`` being
    (chain, row); ``prior(theta)`` the same of the prior.
    """

    def __init__(self, model, n, batch, rows, prior, truth, whiten, how=None):
        self.model, self.n, self.batch, self.how = model, n, batch, how or {}
        self.rows, self.prior, self.truth = rows, prior, truth
        d = truth.shape[1]
        self.centre = truth.mean(axis=0) if whiten else np.zeros(d)
        self.root = np.linalg.cholesky(np.cov(truth.T)) if whiten else np.eye(d)

    def both(self, z, rng):
        """Gradient and energy by a minibatch of each chain."""
        theta = self.back(z)
        energy, slope = self.rows(theta, rng.integers(self.n, size=(len(z), self.batch)))
        own, pull = self.prior(theta)
        share = self.n / self.batch
        return (share * slope + pull) @ self.root, share * energy + own

    def gradient(self, z, rng):
        """By a minibatch."""
        return self.both(z, rng)[0]

    def energy(self, z):
        """By all rows."""
        theta = self.back(z)
        index = np.broadcast_to(np.arange(self.n), (len(z), self.n))
        return self.rows(theta, index)[0] + self.prior(theta)[0]

    def back(self, z):
        """Parameters of coordinates."""
        return self.centre + z @ self.root.T

    def forth(self, theta):
        """Coordinates of parameters."""
        return np.linalg.solve(self.root, (theta - self.centre).T).T


def normal(mean, sd):
    """Energy and gradient of a normal prior of all coordinates."""
    return lambda theta: (
        ((theta - mean) ** 2 / (2 * sd**2)).sum(axis=1),
        (theta - mean) / sd**2,
    )


def on_grid(energy, *axes):
    """Draws of a density of one or two parameters, its cells by their probabilities."""
    places = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    value = energy(places)
    share = np.exp(value.min() - value)
    return places[np.random.default_rng(1).choice(len(places), 20_000, p=share / share.sum())]


def tied_means():
    """Welling & Teh (2011), section 5.1."""
    rng = np.random.default_rng(29)
    y = rng.normal((rng.random(100) < 0.5) * 1.0, np.sqrt(2))

    def rows(theta, index):
        first = (y[index] - theta[:, :1]) / 2
        second = (y[index] - theta.sum(axis=1, keepdims=True)) / 2
        share = expit(first**2 - second**2)
        slope = np.stack([first + share * (second - first), share * second], axis=-1)
        return -np.logaddexp(-(first**2), -(second**2)).sum(axis=1), -slope.sum(axis=1)

    def prior(theta):
        width = np.array([10.0, 1.0])
        return (theta**2 / (2 * width)).sum(axis=1), theta / width

    def energy(theta):
        parts = np.array_split(theta, 60)  # memory
        index = np.arange(len(y))
        return np.concatenate(
            [
                rows(part, np.broadcast_to(index, (len(part), len(y))))[0] + prior(part)[0]
                for part in parts
            ]
        )

    truth = on_grid(energy, np.linspace(-1.5, 2.5, 201), np.linspace(-3, 3, 301))
    return Target(sgmc.TiedMeans(y), len(y), 10, rows, prior, truth, whiten=False)


def double_well():
    """Two modes of one parameter, of uneven mass."""
    y = np.random.default_rng(3).normal(0.25, 1, 100)

    def rows(theta, index):
        left = y[index] - theta**2
        return (left**2).sum(axis=1) / 2, -2 * theta * left.sum(axis=1, keepdims=True)

    prior = normal(0.3, 0.5)
    everyone = np.arange(len(y))

    def energy(theta):
        return rows(theta, np.broadcast_to(everyone, (len(theta), len(y))))[0] + prior(theta)[0]

    truth = on_grid(energy, np.linspace(-2, 2, 2001))
    return Target(DoubleWell(y), len(y), 10, rows, prior, truth, whiten=False)


def logit(n, d, constant, correlation, batch, seed):
    """A logistic regression with slopes of about 0.5."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    X[:, 0] = 1
    slopes = np.concatenate([[constant], rng.normal(0, 0.5, d - 1)])
    y = (rng.random(n) < expit(X @ slopes)).astype(int)
    sd = 2.5

    def rows(theta, index):
        design = X[index]
        at = np.einsum("cnd,cd->cn", design, theta)
        energy = (np.logaddexp(0, at) - y[index] * at).sum(axis=1)
        return energy, np.einsum("cn,cnd->cd", expit(at) - y[index], design)

    model, prior = sgmc.Logit(y, X), sgmc.normal(0, sd)
    exact = model.fit(prior=prior, sampler="nuts", draws=LONG, seed=1, threads=1)
    return Target(
        model, n, batch, rows, normal(0.0, sd), exact.flat, whiten=True, how={"prior": prior}
    )


TARGETS = {
    "tied means": tied_means(),
    "double well": double_well(),
    "rare ones": logit(1000, 4, -4.0, 0.0, 100, seed=5),
    "20 columns": logit(1000, 20, 0.5, 0.8, 100, seed=6),
}

# %% [markdown]
# ## How far draws are from the truth
#
# The largest, over parameters, of Wasserstein distances of the marginals, in sds: it sees means,
# sds and the shares of modes. A run is four chains of 1,200 passes through the data each, the first
# fifth of which is not counted; numbers are means of four runs. A distance of 0.05 is that of a few
# hundred independent draws.


# %%
def distance(draws, weights, truth):
    """Largest Wasserstein distance of a parameter, in sds of the truth."""
    at, found = (np.arange(500) + 0.5) / 500, []
    for x, right in zip(draws.T, truth.T, strict=True):
        order = np.argsort(x)
        place = np.cumsum(weights[order])
        ours = x[order][np.minimum(np.searchsorted(place, at * place[-1]), len(x) - 1)]
        found.append(np.abs(ours - np.quantile(right, at)).mean() / right.std())
    return max(found)


def judged(target, draws, weights=None):
    """Mean distance of runs, of draws (draw, chain, d) of all runs in z."""
    if not np.isfinite(draws).all():
        return np.inf
    weights = np.ones(draws.shape[:2]) if weights is None else weights
    weights = weights / weights.sum(axis=0)
    runs = [
        distance(
            target.back(draws[:, run]).reshape(-1, draws.shape[2]),
            weights[:, run].ravel(),
            target.truth,
        )
        for run in np.array_split(np.arange(draws.shape[1]), RUNS)
    ]
    return float(np.mean(runs))


def kept(path):
    """All but the first fifth."""
    return path[len(path) // 5 :]


STEPS = story.pick((0.03, 0.07, 0.15, 0.3, 0.5), (0.05, 0.2))
PATH, FRICTION, CYCLES = 10, 1.0, story.pick(20, 4)


def of_amagold(target, step, start, rng):
    """Distance, and what the page shows beside it: the share of accepted paths."""
    work = PATH * target.batch + target.n
    draws = int(PASSES * target.n / work)
    path, accepted = amagold(
        target.gradient, target.energy, start, rng, step, FRICTION, PATH, draws
    )
    return judged(target, kept(path)), {"accepted": accepted}


def of_cyclical(target, step, start, rng):
    """And R-hat of the cycles of one chain, as if they were chains: its own diagnostic."""
    steps = PASSES * target.n // target.batch
    path = cyclical(target.gradient, start, rng, step**2, steps, CYCLES)
    cycles = path[CYCLES // 5 :]
    if not np.isfinite(cycles).all():
        return np.inf, {"R-hat": np.inf}
    rhat = np.mean(
        [sgmc.diagnostics.rhat(cycles[:, :, chain]).max() for chain in range(cycles.shape[2])]
    )
    upper = (target.back(cycles)[..., -1] > 0).mean()
    return judged(target, cycles.reshape(-1, *start.shape)), {"R-hat": rhat, "upper mode": upper}


def of_contour(target, step, start, rng):
    """And how many regions of energy have been learned to be likely."""
    steps = PASSES * target.n // target.batch
    energies = target.energy(target.forth(target.truth[:400]))
    noise = np.std([target.both(start[:1] * 0, rng)[1] for _ in range(50)])
    low, width = energies.min() - 2 * noise, max(np.ptp(energies), 4 * noise) / 40
    path, weights, chance = contour(target.both, start, rng, step**2 / 2, steps, low, width, 60)
    return judged(target, kept(path), kept(weights)), {
        "regions": (chance.mean(axis=0) > 0.01).sum(),
        "noise of energies": noise,
    }


OURS = {
    "sghmc": {"sampler": "sghmc"},
    "esgbd": {"sampler": "esgbd"},
    "nuts": {"sampler": "nuts"},
    "modes=": {"sampler": "nuts", "modes": "search"},
}
PLAIN = {"amagold": of_amagold, "cyclical": of_cyclical, "contour": of_contour}


def of_package(target, how):
    """Mean distance of runs of the package, with the same passes, and the passes of a chain."""
    found, used = [], []
    whole = "nuts" in str(how["sampler"]).lower()
    how = {**target.how, **how, "chains": CHAINS, "threads": 1, "thin": 1}
    if not whole:
        how["batch_size"] = target.batch
        tried = target.model.fit(**how, seed=1, warmup=0, draws=20)
        steps = int(PASSES / (tried.chain_diagnostics().data_passes.mean() / 20))
        length = {"warmup": steps // 5, "draws": steps - steps // 5}
    else:  # until the passes are used; they are those of all chains
        length = {"warmup": PASSES // 20, "draws": PASSES, "max_data_passes": CHAINS * PASSES}
    for seed in range(RUNS):
        res = target.model.fit(**how, **length, seed=seed)
        used.append(res.chain_diagnostics().data_passes.mean())
        found.append(distance(res.flat, np.ones(len(res.flat)), target.truth))
    return float(np.mean(found)), {"passes": np.mean(used)}


found, beside = {}, {}
for name, target in TARGETS.items():
    for label, how in OURS.items():
        found[label, "", name], beside[label, "", name] = of_package(target, how)
    for label, run in PLAIN.items():
        for step in STEPS:
            rng = np.random.default_rng(7)
            start = rng.normal(size=(RUNS * CHAINS, target.truth.shape[1]))
            with np.errstate(all="ignore"):
                found[label, step, name], beside[label, step, name] = run(target, step, start, rng)
distances = pd.Series(found).unstack()[list(TARGETS)]
beside = pd.DataFrame(beside).T.astype(float)
print("distance from the truth, sds\n" + distances.round(3).to_string())
for column in beside:
    print(column, beside[column].dropna().unstack().round(2).to_string(), sep="\n")

# %%
figure, axes = plt.subplots(1, 4, figsize=(11, 3.2), sharey=True)
for ax, name in zip(axes, TARGETS, strict=True):
    for j, label in enumerate(PLAIN):
        ax.plot(STEPS, distances.loc[label, name], marker="o", ms=3, color=f"C{j}", label=label)
    for j, label in enumerate(OURS):
        ax.axhline(
            distances.loc[(label, ""), name],
            color="0.3",
            ls=("-", "--", "-.", ":")[j],
            lw=1,
            label=label,
        )
    ax.set(title=name, xlabel="step", xscale="log", yscale="log", ylim=(0.03, 3))
    ax.set_xticks(STEPS, [f"{step:g}" for step in STEPS])
    ax.xaxis.set_minor_locator(plt.NullLocator())
axes[0].set_ylabel("distance from the truth, sds")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
story.figure("distances", figure)

# %% [markdown]
# A sampler would be taken in that has, at its best step, a distance below nine tenths of the
# smallest of the package's, on one of the four.

# %%
best = distances.groupby(level=0).min()
package = best.loc[list(OURS)]
least, first = package.min(), package.idxmin()
at = {label: distances.loc[label].idxmin() for label in PLAIN}
TWO = ["tied means", "double well"]


def numbers(labels, names=TARGETS):
    """Distances in words."""
    return "; ".join(
        f"{name}: " + ", ".join(f"{label} {best.loc[label, name]:.3f}" for label in labels)
        for name in names
    )


accepted = {name: float(beside.accepted["amagold", at["amagold"][name], name]) for name in TARGETS}
story.claim(
    "AMAGOLD, arXiv:2003.00193",
    "more accurate than SGHMC with the same work, as it has no bias",
    numbers(["amagold", "sghmc"]) + "; criterion: for three of four",
    (best.loc["amagold"] < best.loc["sghmc"]).sum() >= 3,
    because(
        (
            np.mean(list(accepted.values())) < 0.5,
            "noise of minibatches has paths rejected: at its best steps "
            + ", ".join(f"{share:.0%}" for share in accepted.values())
            + " are accepted",
        )
    ),
)
(_, cycles, _), (momentum, _, all_rows, _) = PLAIN, OURS
behind = best.loc[cycles, TWO] / best.loc[all_rows, TWO]
right = {name: float((TARGETS[name].truth[:, -1] > 0).mean()) for name in TWO}
share = {name: float(beside["upper mode"]["cyclical", at["cyclical"][name], name]) for name in TWO}
story.claim(
    "cyclical SGLD, arXiv:1902.03932",
    "explores several modes, and is the more accurate where there are some",
    numbers(["cyclical", "sghmc", "nuts", "modes="], TWO)
    + "; criterion: than sghmc and nuts, both",
    (best.loc["cyclical", TWO] < best.loc[["sghmc", "nuts"], TWO].min()).all(),
    because(
        (
            max(abs(share[name] - right[name]) for name in TWO) > 0.1,
            "cycles do not end in modes as often as these are likely: in the upper one "
            + ", ".join(f"{share[name]:.2f} for {right[name]:.2f}" for name in TWO),
        ),
        (
            (best.loc[cycles, TWO] < best.loc[momentum, TWO]).all(),
            "it is ahead of sghmc on both, and behind nuts, which takes all rows, "
            f"{behind.iloc[0]:.1f} and {behind.iloc[1]:.1f} times as far",
        ),
    ),
)
whole = beside["R-hat"].dropna()
far = pd.Series({key: found[key] for key in whole.index}) > 0.3
warned = whole > 1.1
story.claim(
    "cyclical SGLD, R-hat of its cycles",
    "cycles, taken as chains, differ where draws are far from the truth, and only there",
    f"R-hat above 1.1 for {int(warned[far].sum())} of {int(far.sum())} fits further than 0.3 sd, "
    f"and for {int(warned[~far].sum())} of the {int((~far).sum())} others; criterion: nine tenths "
    "right",
    (warned == far).mean() >= 0.9,
    because(
        (
            warned[~far].any(),
            "draws of a cycle stay near the place that it fell into, and are narrower as steps "
            f"fall: R-hat of the nearer fits is {whole[~far].min():.2f} and more",
        )
    ),
)
noise = {name: float(beside["noise of energies"]["contour", STEPS[0], name]) for name in TARGETS}
spread = {
    name: float(np.std(target.energy(target.forth(target.truth[:: LONG // 100]))))
    for name, target in TARGETS.items()
}
story.claim(
    "contour SGLD, arXiv:2010.09800",
    "right where there are several modes, which SGLD does not leave",
    numbers(["contour", "sghmc", "nuts", "modes="], TWO) + "; criterion: than sghmc and nuts, both",
    (best.loc["contour", TWO] < best.loc[["sghmc", "nuts"], TWO].min()).all(),
    because(
        (
            min(noise[name] / spread[name] for name in TARGETS) > 1,
            "it is to be flat over levels of the energy, whose sd in the posterior is "
            + ", ".join(f"{value:.1f}" for value in spread.values())
            + ", and which minibatches know to "
            + ", ".join(f"{value:.0f}" for value in noise.values()),
        )
    ),
)
for label in PLAIN:
    ahead = [name for name in TARGETS if best.loc[label, name] < 0.9 * least[name]]
    story.claim(
        f"{label} beside the package",
        "ahead on one of the four posteriors, so that it would be taken in",
        "; ".join(
            f"{name}: {best.loc[label, name]:.3f}, {first[name]} {least[name]:.3f}"
            for name in TARGETS
        ),
        bool(ahead),
        because(
            (
                not ahead,
                "its smallest ratio to the smallest distance of the package is "
                f"{(best.loc[label] / least).min():.2f}, on {(best.loc[label] / least).idxmin()}",
            )
        ),
    )

# %%
story.end(passes=PASSES, runs=RUNS, chains=CHAINS, steps=STEPS, cycles=CYCLES)
