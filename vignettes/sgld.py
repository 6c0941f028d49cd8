# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Stochastic gradient Langevin dynamics: an optimiser that becomes a sampler
#
# Welling & Teh (2011) add to a step of stochastic gradient ascent normal noise of the right size,
#
# $$\theta' = \theta + \tfrac h2\, \hat g(\theta) + \sqrt h\, \xi, \qquad
# \hat g = \nabla \log p(\theta) + \tfrac Nn \sum_{i \in S} \nabla \log p(x_i \mid \theta),$$
#
# and let the step h shrink. The minibatch's noise moves $\theta$ by a variance of $h^2 V / 4$, the
# injected one by h. While h is large the first is larger, and the chain climbs as an optimiser
# does; when h is small the second is, and the chain samples the posterior. This page runs the
# paper's first experiments: two tied means (figures 1 and 2) and logistic regression (figure 3).
# Its independent components (figures 4 to 6) have a page of their own, `sgld-ica`.

# %%
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy.special import expit, logsumexp
from story import Story, because

import sgmc

story = Story("sgld", minutes=6)
# what they would say is the subject of this page
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)

# %% [markdown]
# ## Two tied means (section 5.1)
#
# $x_i \sim \frac12 N(\theta_1, 2) + \frac12 N(\theta_1 + \theta_2, 2)$ with priors N(0, 10) and
# N(0, 1) (variances): 100 rows, drawn with $\theta = (0, 1)$. A second mode has the two means
# exchanged. On a grid the posterior is known to all digits.

# %%
rng = np.random.default_rng(29)
y = rng.normal((rng.random(100) < 0.5) * 1.0, np.sqrt(2))
N = len(y)
one, two = np.linspace(-1.5, 2.5, 201), np.linspace(-3, 3, 301)


def log_posterior(t1, t2):
    """The log density, up to a constant, at arrays of places."""
    rows = np.logaddexp(-((y - t1[..., None]) ** 2) / 4, -((y - (t1 + t2)[..., None]) ** 2) / 4)
    return rows.sum(axis=-1) - t1**2 / 20 - t2**2 / 2


def row_scores(theta, rows):
    """Gradients of the log densities of rows (..., n), (..., n, 2)."""
    first = (rows - theta[..., :1]) / 2
    second = (rows - theta.sum(axis=-1, keepdims=True)) / 2
    share = expit(first**2 - second**2)  # probability that the row is of the second component
    return np.stack([first + share * (second - first), share * second], axis=-1)


grid = log_posterior(*np.meshgrid(one, two, indexing="ij"))
grid = np.exp(grid - logsumexp(grid))

# %% [markdown]
# The paper's run: one row a step, 10,000 sweeps, $h_t = a (b + t)^{-0.55}$ from 0.01 down
# to 0.0001. `Polynomial.between` finds a and b, and draws are weighted by their steps (section
# 4.2), here and in all that the results compute. Besides the paper's one run there are others, so
# that what is chance can be told from what is bias.

# %%
steps, runs = story.pick((1_000_000, 24), (100_000, 3))
schedule = sgmc.Polynomial.between(0.01, 0.0001, steps)
paper = sgmc.TiedMeans(y).fit(
    sampler="sgld",
    gradient="simple",
    step_size=schedule,
    batch_size=1,
    draws=20_000,
    thin=steps // 20_000,
    warmup=0,
    chains=runs,
    init=np.zeros((runs, 2)),
    seed=1,
)
edges = one[::8], two[::12]
blocks = np.add.reduceat(
    np.add.reduceat(grid[:-1, :-1], np.arange(0, 200, 8), 0), np.arange(0, 300, 12), 1
)
blocks /= blocks.sum()


def histogram(draws, weights):
    """Shares of the cells of `edges`."""
    counts = np.histogram2d(*draws.T, bins=edges, weights=weights)[0]
    return counts / counts.sum()


def distance(draws, weights):
    """Total variation distance of the draws from the posterior, over those cells."""
    return 0.5 * np.abs(histogram(draws, weights) - blocks).sum()


single = np.array([distance(chain, paper.weights) for chain in paper.draws])
pooled = distance(paper.flat, paper.flat_weights)
tens = sgmc.TiedMeans(y).fit(
    sampler="sgld",
    gradient="simple",
    step_size=schedule,
    batch_size=10,
    draws=20_000,
    thin=steps // 20_000,
    warmup=0,
    chains=runs,
    init=np.zeros((runs, 2)),
    seed=1,
)
quieter = distance(tens.flat, tens.flat_weights)
span = paper.weights.sum() * (steps // 20_000)
exact = sgmc.TiedMeans(y).fit(
    sampler="mala",
    step_size=0.01,
    draws=int(span / 0.01),
    warmup=0,
    chains=runs,
    init=np.zeros((runs, 2)),
    seed=1,
)
alone = np.array([distance(chain, None) for chain in exact.draws])
upper = ((paper.draws[..., 1] > 0) * paper.weights).sum(axis=1) / paper.weights.sum()
truth = grid[:, two > 0].sum()
each = {"one run": single, "exact, one run": alone, "P(theta2 > 0)": upper}
print(
    pd.DataFrame(
        {name: np.quantile(values, (0.5, 0, 1)) for name, values in each.items()},
        index=["median run", "least", "most"],
    ).round(3)
)
print(
    f"all runs together: distance {pooled:.3f}, with ten rows a step {quieter:.3f}, exact "
    f"{distance(exact.flat, None):.3f}; P(theta2 > 0) is {truth:.3f}"
)

# %%
figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.3), sharex=True, sharey=True)
shown = [
    blocks,
    histogram(paper.draws[int(np.argsort(single)[runs // 2])], paper.weights),
    histogram(paper.flat, paper.flat_weights),
]
for ax, cells, title in zip(
    axes, shown, ("posterior", "one run (the median)", f"{runs} runs"), strict=True
):
    mesh = ax.pcolormesh(
        *edges, cells.T, cmap="viridis", vmin=0, vmax=blocks.max(), rasterized=True
    )
    ax.set(xlabel=r"$\theta_1$", title=title)
axes[0].set(ylabel=r"$\theta_2$", xlim=(-1.2, 2.2), ylim=(-2.9, 2.9))
figure.colorbar(mesh, ax=axes, label="probability of a cell", pad=0.01)
story.figure("1-posterior", figure)
story.claim(
    "fig 1",
    "the estimated posterior distribution is very accurate",
    f"total variation distance of one run {np.median(single):.2f} (median of {runs}; cells of 0.16 "
    f"x 0.24), of exact Langevin (mala) in the same time {np.median(alone):.2f}; criterion: at "
    "most 1.25 of it",
    np.median(single) <= 1.25 * np.median(alone),
    because(
        (
            quieter < pooled,
            f"gradient noise widens the posterior: {runs} runs together are {pooled:.3f} from it, "
            f"and {quieter:.3f} with ten rows a step",
        )
    ),
)
story.claim(
    "section 4.1",
    "with alpha well below 1 the algorithm samples approximately from the posterior",
    f"distance of {runs} runs together {pooled:.3f}, with ten rows a step, a tenth of alpha, "
    f"{quieter:.3f}, exact {distance(exact.flat, None):.3f}; criterion: ten rows at most 0.02 more "
    "than exact",
    quieter < distance(exact.flat, None) + 0.02,
)

# %% [markdown]
# Both modes are found, and their shapes are right. What one run does not have right is the modes'
# *shares*, because it changes mode a few times only: shares differ from run to run, as they do for
# an exact sampler that is given the same time. Runs together show the bias that is left, a
# posterior that is too wide. It is the noise of one row in a hundred: with ten rows a step it is
# all but gone.
#
# ## Two phases (figure 2, left)
#
# At each kept draw the row gradients' covariance $V_s$ gives the variance of a step's gradient
# noise, $h^2 N^2 / (4n)$ times it, beside the injected h. The phase ends where the two cross. The
# paper's threshold $\alpha$ (equation 10) is their ratio in the worst direction.

# %%
at = np.unique(np.geomspace(1, len(paper.weights), 60).astype(int)) - 1
h = paper.weights[at]
covariances = (
    np.array(
        [[np.cov(row_scores(theta, y).T) for theta in chain[at]] for chain in paper.draws]
    ).mean(axis=0)
    * N**2
)
moved = h[:, None] ** 2 / 4 * np.diagonal(covariances, axis1=1, axis2=2)
alpha = h / 4 * np.linalg.eigvalsh(covariances)[:, -1]
iteration = (at + 1) * (steps // 20_000)
crossed = int(np.exp(np.interp(0, -np.log(alpha), np.log(iteration))))
print(
    pd.DataFrame(
        {"first step kept": [h[0], alpha[0]], "last step": [h[-1], alpha[-1]]}, index=["h", "alpha"]
    ).round(5),
    f"\nalpha is 1 at iteration {crossed:,} of {steps:,}",
)

# %% [markdown]
# ## Rejections that need not be made (figure 2, right)
#
# A step is a proposal that nobody accepts or rejects. How often *would* it be rejected? Given its
# minibatch, the step from $\theta$ to $\theta'$ has density $q(\theta \to \theta') = N(\theta';
# \theta + \frac h2 \hat g(\theta), h)$, which with the posterior gives the Metropolis-Hastings
# probability. As in the paper steps here shrink exponentially from $10^{-2}$ to $10^{-8}$;
# `step_size` takes any function of the step's number.

# %%
long = story.pick(1_000_000, 50_000)
fall = sgmc.TiedMeans(y).fit(
    sampler="sgld",
    gradient="simple",
    step_size=lambda t: 10.0 ** (-2 - 6 * t / long),
    batch_size=1,
    draws=1000,
    thin=long // 1000,
    warmup=0,
    chains=1,
    init=[0.0, 0.0],
    seed=2,
)


def rejected(theta, h, batches=100):
    """Mean probability that a step from theta (k, 2), of lengths h (k,), would be rejected."""
    theta = np.repeat(theta, batches, axis=0)
    h, rows = np.repeat(h, batches)[:, None], rng.choice(y, (len(theta), 1))

    def gradient(at):
        return N * row_scores(at, rows)[:, 0] - at / np.array([10.0, 1.0])

    there = theta + h / 2 * gradient(theta) + np.sqrt(h) * rng.normal(size=theta.shape)
    forth, back = ((b - a - h / 2 * gradient(a)) for a, b in ((theta, there), (there, theta)))
    ratio = (
        log_posterior(*there.T)
        - log_posterior(*theta.T)
        + ((forth**2 - back**2) / (2 * h)).sum(axis=1)
    )
    return (1 - np.exp(np.minimum(0, ratio))).reshape(-1, batches).mean(axis=1)


lengths, share = fall.weights, rejected(fall.draws[0], fall.weights)
binned = (
    pd.DataFrame({"h": lengths, "rejected": share})
    .groupby(pd.cut(np.log10(lengths), np.arange(-8, -1.9, 0.5)), observed=True)
    .mean()
)
slope = np.polyfit(np.log(binned.h[binned.h < 1e-5]), np.log(binned.rejected[binned.h < 1e-5]), 1)[
    0
]

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.3))
for j, name in enumerate((r"gradient noise, $\theta_1$", r"gradient noise, $\theta_2$")):
    left.loglog(iteration, moved[:, j], label=name)
left.loglog(iteration, h, "k--", label="injected noise")
left.axvline(crossed, color="0.7", linewidth=1)
left.set(
    xlabel="iteration",
    ylabel="variance of a step",
    title=f"Equal in the worst direction at iteration {crossed:,}",
)
left.legend(loc="lower left")
right.loglog(lengths, share, ".", markersize=2, alpha=0.3)
right.loglog(binned.h, binned.rejected, "k", label=f"mean; slope {slope:.2f} below h = 1e-5")
right.set(
    xlabel="step h",
    ylabel="probability of a rejection",
    title="Short steps would hardly be rejected",
)
right.legend(loc="lower right")
story.figure("2-phases", figure)
story.claim(
    "fig 2, headline",
    "two phases: gradient noise dominates the injected noise, then the converse",
    f"gradient noise {alpha[0]:.1f} times the injected at the first kept step, {alpha[-1]:.2f} "
    f"times at the last; equal at iteration {crossed:,} of {steps:,}",
    alpha[0] > 1 > alpha[-1],
)
story.claim(
    "fig 2",
    "the rejection probability decreases to zero with the step, from 1e-2 to 1e-8",
    f"{binned.rejected.iloc[-1]:.2f} falls to {binned.rejected.iloc[0]:.5f}, in the end as "
    f"h^{slope:.2f}",
    binned.rejected.iloc[0] < 1e-2 < 0.3 < binned.rejected.iloc[-1]
    and binned.rejected.is_monotonic_increasing,
)

# %% [markdown]
# The fall is that of $\sqrt h$: with one row in a hundred it is the minibatch's noise that would be
# rejected. (With all rows it would be $h^{3/2}$, as for any Langevin proposal.)
#
# ## Logistic regression with a Laplace prior (section 5.2, figure 3)
#
# a9a: 123 binary columns and a constant of -1, prior Laplace(0, 1), ten rows a step, 80 % of the
# rows to train, the others to test, a new split for every run. The paper does not give its steps:
# here $h_t$ falls from $3 \cdot 10^{-5}$ to $3 \cdot 10^{-6}$ in 12 sweeps, in the parameters' own
# coordinates (`precondition=None`), from zero. Between the data and the model there is but a line
# of `sgmc`.

# %%
table = story.data("a9a").iloc[:: story.pick(1, 8)]
X = np.column_stack([table.drop(columns="y").to_numpy(float), -np.ones(len(table))])
labels = (table.y.to_numpy() > 0).astype(int)
sweeps, points = story.pick(12, 4), 10  # points a sweep


def learn(seed, sampler="sgld"):
    """Log joint density a row and accuracy on test rows along a run, of draws and of their running
    average, and alpha at its begin.
    """
    order = np.random.default_rng(seed).permutation(len(labels))
    train, test = np.split(order, [int(0.8 * len(order))])
    total = sweeps * len(train) // 10
    res = sgmc.Logit(labels[train], X[train]).fit(
        prior=sgmc.laplace(0, 1),
        sampler=sampler,
        gradient="simple",
        subsample="uniform",
        precondition=None,
        batch_size=10,
        chains=1,
        step_size=sgmc.Polynomial.between(3e-5, 3e-6, total),
        draws=sweeps * points,
        thin=total // (sweeps * points),
        warmup=0,
        init=np.zeros(X.shape[1]),
        seed=seed,
    )
    draws, signs = res.draws[0], 1 - 2 * labels[train]
    joint = (
        -np.logaddexp(0, signs * (draws @ X[train].T)).sum(axis=1)
        - np.abs(draws).sum(axis=1)
        - draws.shape[1] * np.log(2)
    )
    found = expit(draws @ X[test].T)
    running = np.cumsum(found * res.weights[:, None], axis=0) / np.cumsum(res.weights)[:, None]
    right = [((p > 0.5) == labels[test]).mean(axis=1) for p in (found, running)]
    return np.array([joint / len(train), *right]), res.sampling_threshold


curves, alphas = map(
    np.array, zip(*[learn(seed) for seed in range(story.pick(50, 2))], strict=True)
)
climbed = np.mean([learn(seed, "sgd")[0] for seed in range(story.pick(5, 1))], axis=0)
passes = np.arange(1, sweeps * points + 1) / points
mean, sd = curves.mean(axis=0), curves.std(axis=0)

# %%
# from theta = 0, where a row's log-likelihood is -log 2
rise = mean[0, -points:].mean() + np.log(2)
settled = np.append(passes, np.inf)[
    np.nonzero(np.abs(mean[0] - mean[0, -points:].mean()) > 0.02 * rise)[0].max(initial=-1) + 1
]
after_one = mean[1:, points - 1]
after_ten = mean[1:, min(10, sweeps) * points - points : min(10, sweeps) * points].mean(axis=1)
figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.3))
for ax, j, title in (
    (left, 0, "Log joint density of a training row"),
    (right, 1, "Accuracy on test rows"),
):
    ax.plot(passes, mean[j], label="sgld, mean of runs")
    ax.fill_between(
        passes, mean[j] - sd[j], mean[j] + sd[j], alpha=0.3, linewidth=0, label="one sd"
    )
    ax.plot(passes, climbed[j], ":", label="sgd")
    ax.set(xlabel="sweeps through the data", title=title)
extra = [
    right.axhline(after_ten[0], linestyle="--", color="0.4", label="after ten sweeps"),
    right.plot(passes, mean[2], "-.", label="average of draws so far")[0],
]
left.set(ylabel="nats")
right.set(ylabel="share of rows", ylim=(None, mean[2].max() + 0.01))
left.legend(loc="lower right")
right.legend(handles=extra, loc="lower right")
story.figure("3-a9a", figure)
along = pd.DataFrame(
    {"log joint": mean[0], "accuracy": mean[1], "of averages": mean[2], "sgd": climbed[1]},
    index=passes,
)
print(along.iloc[[0, points - 1, 3 * points - 1, -1]].round(4))

# %% [markdown]
# In which phase is this? `sampling_threshold` has $\alpha$ of equation 10 at the first draw; it is
# proportional to the step, so that the last draw's is a tenth of it. On all of a9a both are far
# above one: figure 3 is a figure of the first phase, and without the noise (`"sgd"`) it would look
# much the same. The method is "anytime": its fit is good long before its spread is the posterior's.

# %%
story.claim(
    "fig 3",
    "the joint probability has converged after at most 10 iterations through the data",
    f"within 2 % of its rise from sweep {settled:.1f} on",
    settled <= 10,
)
story.claim(
    "fig 3",
    "accuracy has converged after less than 1 iteration through the data",
    f"{after_one[0]:.4f} after one, {after_ten[0]:.4f} in the tenth, {len(curves)} runs; "
    "criterion: within 0.005",
    abs(after_one[0] - after_ten[0]) < 0.005,
)
story.claim(
    "section 3",
    "in the first phase the algorithm imitates stochastic gradient ascent",
    f"alpha from {alphas.mean():.3g} to {alphas.mean() / 10:.3g}; accuracy in the last sweep "
    f"{mean[1, -points:].mean():.4f}, of sgd {climbed[1, -points:].mean():.4f}",
    alphas.mean() > 10 and abs(mean[1, -points:].mean() - climbed[1, -points:].mean()) < 0.005,
)

# %%
story.end(
    tied_means={"steps": steps, "runs": runs, "h": [0.01, 0.0001]},
    a9a={"runs": len(curves), "sweeps": sweeps, "batch": 10, "h": [3e-5, 3e-6]},
)
