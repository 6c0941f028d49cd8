# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Stochastic gradient MCMC: the review's network
#
# A neural network for handwritten digits (Nemeth & Fearnhead 2021, section 6.2, figure 5), by
# Langevin, Hamiltonian and thermostat dynamics with and without control values. The ratings of
# figure 6 are on `review-ratings`.

# %%
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy.special import softmax
from story import Story, because

import sgmc

story = Story("review-models", minutes=20)
# weights that change places, and few effective draws of precisions
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)

# %% [markdown]
# ## A network (section 6.2, figure 5)
#
# 784-100-10 on 55,000 images of MNIST, weights N(0, 1/lambda) and lambda ~ Gamma(1, 1), `sgmc.BNN`
# with softmax hidden units (eq. 14). The posterior has no one mode to expand at, and
# `gradient="svrg"` has control values at a place that follows the chain, renewed once in a pass.
# The review starts samplers with control variates where `sgd` ended; here that place predicts far
# worse than any draw (precisions learned from an optimum let weights grow), and all have as many
# iterations of burn-in as are kept. **What is smaller here:** these are 1,500, where the review has
# 10,000. sghmc makes a fifth of them, of five gradients each. The review names no steps, and these
# are ours.

# %%
digits, test = story.data("mnist"), story.data("mnist-test")
digits, test = digits.iloc[: story.pick(55_000, 2_000)], test.iloc[: story.pick(10_000, 500)]
images, classes = np.ascontiguousarray(digits.iloc[:, 1:]), digits.label.to_numpy()
new, right = test.iloc[:, 1:].to_numpy(), test.label.to_numpy()
network = sgmc.BNN(images, classes, activation="softmax", hyperprior=sgmc.gamma(1, rate=1))
its, size, points = story.pick((1_500, 500, 20), (100, 50, 5))
# images for the noise of gradients, in the units of the table, as the network has them
shown = (images[: story.pick(2_000, 200)] - images.mean()) / images.std()
NETWORK = {
    "sgld": ("sgld", 2e-5, its),
    "sghmc": (sgmc.SGHMC(leapfrog=5, friction=20.0), 1.2e-3, its // 5),
    "sgnht": (sgmc.SGNHT(diffusion=20.0), 1.2e-3, its),
}
common = dict(batch_size=size, chains=1, seed=1)


def of_draws(res):
    """Probabilities of the right classes of the test images, (draw, image)."""
    return res.outputs(new)[:, np.arange(len(new)), right]


def backward(theta):
    """Hidden units, and derivatives of the log density by what enters both layers, a row each."""
    W1, W2 = theta[: 784 * 100].reshape(784, 100), theta[785 * 100 :][:1000].reshape(100, 10)
    hidden = softmax(shown @ W1 + theta[784 * 100 : 785 * 100], axis=1)
    last = np.eye(10)[classes[: len(shown)]] - softmax(
        hidden @ W2 + theta[785 * 100 + 1000 :][:10], axis=1
    )
    below = last @ W2.T
    return hidden, last, hidden * (below - (hidden * below).sum(axis=1, keepdims=True))


def noise_left(anchor, theta):
    """Variance of the gradient with control values at another draw, in that of the plain one."""
    (a, u, v), (b, w, z) = backward(theta), backward(anchor)
    pixels = (shown**2).sum(axis=1)

    def squares(a, u, v):
        return (1 + (a**2).sum(axis=1)) * (u**2).sum(axis=1) + (1 + pixels) * (v**2).sum(axis=1)

    across = (1 + (a * b).sum(axis=1)) * (u * w).sum(axis=1) + (1 + pixels) * (v * z).sum(axis=1)
    return (squares(a, u, v) + squares(b, w, z) - 2 * across).sum() / squares(a, u, v).sum()


optimum = of_draws(
    network.fit(
        sampler="sgd", gradient="simple", step_size=2e-5, draws=2, thin=its // 2, warmup=0, **common
    )
)[-1]
print(f"log-loss where sgd ended: {-np.log(optimum).mean():.3f}")
losses, left = {}, {}
for name, (spec, step, iterations) in NETWORK.items():
    for gradient in ("simple", "svrg"):
        fit = network.fit(
            sampler=spec,
            gradient=gradient,
            step_size=step,
            draws=points,
            thin=iterations // points,
            warmup=iterations,
            **common,
        )
        each = of_draws(fit)
        if gradient == "svrg":
            left[name] = np.mean(
                [noise_left(*pair) for pair in zip(fit.draws[0], fit.draws[0, 1:])]
            )
        averaged = np.cumsum(each, axis=0) / np.arange(1, points + 1)[:, None]
        losses[name, gradient] = pd.DataFrame(
            {"one draw": -np.log(each).mean(axis=1), "average": -np.log(averaged).mean(axis=1)}
        )
ends = pd.DataFrame({key: path.iloc[-points // 2 :].mean() for key, path in losses.items()}).T
print(ends.round(4))
print(
    "variance left by control values:",
    {name: round(float(ratio), 2) for name, ratio in left.items()},
)

# %%
figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.2), sharey=True)
for ax, name in zip(axes, NETWORK, strict=True):
    for colour, gradient, label in (("C0", "simple", "plain"), ("C1", "svrg", "control values")):
        x = np.linspace(1 / points, 1, points) * its
        ax.plot(x, losses[name, gradient]["one draw"], color=colour, alpha=0.4, linewidth=1)
        ax.plot(x, losses[name, gradient]["average"], color=colour, label=label)
    ax.set(xlabel="gradients", title=name)
axes[0].set_ylabel("log-loss of test images")
figure.legend(
    *axes[2].get_legend_handles_labels(),
    loc="outside lower center",
    ncols=2,
    title="bold: mean of draws so far; pale: single draws",
)
story.figure("5-network", figure)
gain = {name: ends["one draw"][name, "simple"] - ends["one draw"][name, "svrg"] for name in NETWORK}
story.claim(
    "fig 5",
    "some indication of improved predictive performance with control variates",
    "log-loss of a draw lower by "
    + ", ".join(f"{name} {value:+.4f}" for name, value in gain.items())
    + "; criterion: for two of three",
    sum(value > 0 for value in gain.values()) >= 2,
    because(
        (
            max(abs(value) for value in gain.values()) < 0.01,
            "all differences are below 0.01: noise of plain gradients costs no accuracy at these "
            "steps",
        ),
        (
            min(left.values()) > 1,
            "from one draw to the next, less than a pass, row gradients change by more than their "
            "size: control values leave "
            + ", ".join(f"{ratio:.1f}" for ratio in left.values())
            + " times the variance of plain gradients",
        ),
        (
            max(left.values()) > 0.5,
            "control values leave "
            + ", ".join(f"{ratio:.2f}" for ratio in left.values())
            + " times the variance of plain gradients one draw on",
        ),
    ),
)
story.claim(
    "fig 5",
    "among the standard methods sghmc and sgnht have the best predictive performance",
    ", ".join(f"{name} {ends['average'][name, 'simple']:.4f}" for name in NETWORK),
    max(ends["average"]["sghmc", "simple"], ends["average"]["sgnht", "simple"])
    < ends["average"]["sgld", "simple"],
)

# %%
story.end(iterations=its, batch=size)
