# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---
# %% [markdown]
# # Whether to trust a posterior: fits that fail, and the warning of each
#
# A sampler returns numbers whether they are right or not. This page makes fits fail on purpose,
# where the right answer is known. It shows what the package reports in each case: the **verdict**
# under the summary, `accuracy()`, warnings, R-hat and effective sample sizes (ESS). Two cases at
# the end cannot be detected by any of these.
#
# Notation: N rows, n rows in a mini-batch, h the step size. A *score* is the gradient of the log
# posterior at a draw.

# %%
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy import optimize, special, stats

import sgmc

REFERENCE = 40_000  # quick: 4_000
warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)  # this page collects them in tables

# %% [markdown]
# ## A known answer
#
# The table `fair` comes with statsmodels: 6,366 answers to a survey. The model is a logistic
# regression with eight standardised predictors and normal priors with sd 2.5. The posterior means
# and sds are computed by importance sampling with Student-t proposals around the mode, with
# `REFERENCE` proposals. This code shares nothing with the samplers.

# %%
survey = sgmc.datasets.load("fair")
Z = survey.drop(columns="affairs")
table = ((Z - Z.mean()) / Z.std()).assign(y=(survey.affairs > 0).astype(int))
X, y = np.column_stack([np.ones(len(table)), table.drop(columns="y")]), table.y.to_numpy()


def minus_log_posterior(theta):
    """Return minus the log posterior, up to a constant."""
    eta = X @ theta
    return np.logaddexp(0, eta).sum() - y @ eta + 0.5 * (theta @ theta) / 2.5**2


def slope(theta):
    """Return its gradient."""
    return X.T @ (special.expit(X @ theta) - y) + theta / 2.5**2


mode = optimize.minimize(minus_log_posterior, np.zeros(X.shape[1]), jac=slope, method="BFGS").x
p = special.expit(X @ mode)
curvature = (X.T * (p * (1 - p))) @ X + np.eye(len(mode)) / 2.5**2
proposals = stats.multivariate_t(mode, np.linalg.inv(curvature), df=8, seed=0)
theta = proposals.rvs(REFERENCE)
weight = special.softmax([-minus_log_posterior(at) for at in theta] - proposals.logpdf(theta))
mean = weight @ theta
sd = np.sqrt(weight @ (theta - mean) ** 2)
size = 1 / (weight @ weight)
print(f"effective draws: {size:,.0f}; error of a mean about {1 / np.sqrt(size):.3f} sd")

# %% [markdown]
# ## A fit that is right

# %%
PRIOR = {"Intercept": sgmc.normal(0, 2.5), "*": sgmc.normal(0, 2.5)}


def fit(seed=1, **how):
    """Fit the survey's model."""
    return sgmc.logit("y ~ .", table, prior=PRIOR, seed=seed, **how)


good = fit()
print(good.summary())

# %% [markdown]
# - **Verdict.** If draws are from the right posterior, their scores have mean zero and a known
#   covariance with the draws. The package estimates the errors of means and sds from scores at some
#   of the draws. `res.accuracy()` returns these errors for each parameter.
# - **ESS** and **R-hat** measure how many independent draws the chains are worth, and whether
#   chains agree with each other. They do not detect a bias that all chains share.
#
# ## Ten ways to go wrong
#
# Each fit is compared with the known answer. `mean off` is the largest error of a mean in posterior
# sds, `sd off` the largest relative error of an sd. Beside them is what `accuracy()` estimates
# without the known answer.

# %%
seen = []


def largest(errors):
    """Return the error of largest size, with its sign."""
    return float(errors[np.argmax(np.abs(errors))])


def case(name, res, mean, sd):
    """Keep the true errors of a fit beside its own estimates."""
    estimated = res.accuracy()
    seen.append(
        {
            "case": name,
            "mean off": float(np.abs((res.params - mean) / sd).max()),
            "estimated": estimated.mean_error.abs().max(),
            "sd off": largest(res.bse.to_numpy() / sd - 1),
            "estimated ": largest(estimated.sd_error.to_numpy()),
            "R-hat": res.rhat().max(),
            "ESS": res.ess().min(),
            "trusted": res.verdict.trustworthy,
            "warnings": ", ".join(type(w).__name__.removesuffix("Warning") for w in res.warnings),
        }
    )
    return res


WAYS = {
    "defaults": {},
    "step too large": dict(sampler="sgld", step_size=1.0),
    "step far too large": dict(sampler="sgld", step_size=30.0),
    "momentum, step too large": dict(sampler="sghmc", step_size=0.8),
    "batch too small": dict(sampler="sgld", gradient="simple", batch_size=32, step_size=0.05),
    "too noisy to correct": dict(sampler="csgld", gradient="simple", batch_size=32, step_size=0.3),
    "esgbd as published": dict(sampler=sgmc.ESGBD(noise="batch")),
    "too few draws": dict(draws=20),
    "rather few draws": dict(draws=60),
    "no warmup": dict(sampler="sgld", step_size=0.01, thin=1, warmup=0, init=mean + 30 * sd),
}
fits = {name: case(name, fit(**how), mean, sd) for name, how in WAYS.items()}
shown = pd.DataFrame(seen).set_index("case")
print(shown.drop(columns=["trusted", "warnings"]).map("{:.3g}".format).to_string())
print(shown[["trusted", "warnings"]].to_string())

# %% [markdown]
# Only the first fit is trusted. Where a step is too large or a batch too small, R-hat is 1.00 and
# ESS is in the thousands, because the chains agree with each other on the wrong spread. The scores
# detect this, and their estimate is close to the true error. Where chains are too short, R-hat and
# ESS report it.
#
# ## What a step size does, what a batch size does
#
# On a Gaussian in whitened coordinates, draws of SGLD have variance (1 + h V / 4) / (1 - h / 4),
# where V is the variance of the gradient estimate. A larger step widens the draws, and so does a
# smaller batch.

# %%
STEPS, SIZES = [0.05, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0], [32, 100, 316, 1000, 3162]
by_step = [fit(sampler="sgld", step_size=h) for h in STEPS]
by_size = [fit(sampler="sgld", gradient="simple", batch_size=n, step_size=0.05) for n in SIZES]
noise = np.array([(res.gradient_noise().tau ** 2).mean() for res in by_size])
step_formula = np.sqrt(1 / (1 - np.array(STEPS) / 4)) - 1
size_formula = np.sqrt((1 + 0.05 * noise / 4) / (1 - 0.05 / 4)) - 1

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), sharey=True, layout="constrained")
for ax, at, several, formula, label in (
    (axes[0], STEPS, by_step, step_formula, "step size h (whitened coordinates)"),
    (axes[1], SIZES, by_size, size_formula, "rows in a mini-batch n (h = 0.05)"),
):
    true = [(res.bse / sd - 1).mean() for res in several]
    estimated = [res.accuracy().sd_error.mean() for res in several]
    ax.plot(at, formula, label="formula")
    ax.plot(at, true, "o", markersize=8, fillstyle="none", label="true error")
    ax.plot(at, estimated, "x", label="estimate of accuracy()")
    ax.axhline(0.05, color="0.6", linestyle=":", label="5 %")
    ax.set(xscale="log", xlabel=label)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:+.0%}")
axes[0].set(ylabel="error of posterior sds (mean of nine)", title="a longer step widens the draws")
axes[1].set(title="so does a smaller batch")
axes[0].legend()
print([h for h, res in zip(STEPS, by_step) if "StepSize" in str(list(map(type, res.warnings)))])

# %% [markdown]
# The line is the formula. Circles are the true errors, crosses the estimates of `accuracy()`. All
# three agree, though `accuracy()` does not use the formula. The last line of output lists the step
# sizes that cause a `StepSizeWarning`.
#
# ## Second opinions
#
# `ksd_test` tests whether draws are from the posterior; with enough draws it detects any bias.
# `half_step` repeats a part of the fit with half the step size. `zv_means` uses scores to remove
# Monte Carlo error from means.

# %%
doubtful = by_step[4]  # h = 1
tests = {"defaults": good.ksd_test(seed=1).pvalue, "h = 1": doubtful.ksd_test(seed=1).pvalue}
print(pd.Series(tests, name="p-value").round(3))
half = doubtful.half_step(draws=500)
print("change of sds from h/2 to h:", half.sd_change.round(3).to_list())
short = fit(draws=100)
improved = pd.DataFrame({"mean": short.params, "zv_means": short.zv_means()["mean"]})
print(improved.sub(mean, axis=0).div(sd, axis=0).abs().max().rename("largest error, sds").round(4))

# %% [markdown]
# ## A posterior that is not Gaussian
#
# There are two events in six years, and the prior of the log rate is flat. The posterior is the law
# of the log of a gamma variable, with known mean and sd. `sampler="laplace"` draws from the
# Gaussian at the mode, and is a third of an sd off. In the second table, `x > 0.1` separates the
# outcomes completely. The likelihood has no maximum, and only the prior bounds the slope. Here the
# answer comes from quadrature on a grid.

# %%
events = pd.DataFrame({"y": [0, 1, 0, 0, 1, 0]})
exact = special.digamma(2) - np.log(6), np.sqrt(special.polygamma(1, 2))
few, separated = {}, {}
for name in ("laplace", "auto"):
    res = sgmc.poisson("y ~ 1", events, prior="flat", sampler=name, draws=2000, seed=1)
    few[name] = case(f"two events, {name}", res, *exact)

x = np.sort(np.random.default_rng(3).normal(size=40))
apart = pd.DataFrame({"x": x, "y": (x > 0.1).astype(int)})
a, b = np.meshgrid(np.linspace(-12, 12, 401), np.linspace(-5, 20, 501), indexing="ij")
logs = -0.5 * (a**2 + b**2) / 2.5**2
for x_i, y_i in apart.itertuples(index=False):
    logs += y_i * (a + b * x_i) - np.logaddexp(0, a + b * x_i)
mass = special.softmax(logs)
centre = np.array([(mass * a).sum(), (mass * b).sum()])
width = np.sqrt([(mass * a**2).sum() - centre[0] ** 2, (mass * b**2).sum() - centre[1] ** 2])
for name in ("laplace", "auto"):
    res = sgmc.logit("y ~ x", apart, prior=PRIOR, sampler=name, draws=2000, seed=1)
    separated[name] = case(f"separation, {name}", res, centre, width)

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
grid = np.linspace(-5.5, 1, 300)
axes[0].plot(grid, np.exp(2 * (grid + np.log(6)) - np.exp(grid + np.log(6))), "k", label="exact")
axes[1].plot(b[0], mass.sum(0) / (b[0, 1] - b[0, 0]), "k", label="exact")
for name in ("laplace", "auto"):
    for ax, res, term in ((axes[0], few[name], "Intercept"), (axes[1], separated[name], "x")):
        draws = res.to_frame()[term]
        ax.hist(draws, 60, density=True, histtype="step", label=f"sampler={name!r}")
axes[0].set(xlabel="log rate per year", ylabel="posterior density", title="two events")
axes[1].set(xlabel="slope of x", title="complete separation", xlim=(-1, 14))
axes[0].legend(loc="upper left")
skewed = pd.DataFrame(seen[len(WAYS) :]).set_index("case")
print(skewed[["mean off", "sd off", "trusted", "warnings"]].round(3).to_string())

# %% [markdown]
# Black lines are the exact densities. The histograms of `auto` follow them. Those of `laplace` are
# symmetric, and their verdict is not trustworthy.
#
# ## Predictors that are nearly the same
#
# `a` and `b` have correlation 0.9998. With a known `sigma` the posterior is a Gaussian in closed
# form, and about a hundred times as long as it is wide. By default, coordinates are whitened at the
# mode, and the fit is good. With `precondition=None`, as in most papers, the step has to be short
# enough for the narrow direction, and chains hardly move along the long one. A fit goes on by
# itself while more draws can mend that: it takes `mala` many of them to be trusted.

# %%
rng = np.random.default_rng(4)
left = rng.normal(size=2000)
twins = pd.DataFrame({"a": left, "b": left + 0.02 * rng.normal(size=2000)})
twins["y"] = twins.a + twins.b + rng.normal(size=2000)
D = np.column_stack([np.ones(2000), twins.a, twins.b])
covariance = np.linalg.inv(D.T @ D)
known = covariance @ D.T @ twins.y.to_numpy(), np.sqrt(np.diag(covariance))
raw = dict(precondition=None)
for name, how in {
    "defaults": {},
    "raw sgld": dict(sampler="sgld", step_size=2e-4, thin=5, **raw),
    "raw mala": dict(sampler="mala", **raw),
}.items():
    res = sgmc.ols("y ~ a + b", twins, prior="flat", sigma=1.0, seed=1, **how)
    case(f"twins, {name}", res, *known)
sums = twins.assign(c=twins.a + twins.b)
collinear = sgmc.ols("y ~ a + b + c", sums, sigma=1.0, seed=1)
long = pd.DataFrame(seen[-3:]).set_index("case")
print(long[["mean off", "R-hat", "ESS", "trusted", "warnings"]].round(3).to_string())
print(collinear.warnings[0])

# %% [markdown]
# The last line is the warning for a predictor that is the sum of two others.
#
# ## What cannot be detected: a mode that no chain has found
#
# y is normal with mean theta^2, so theta and -theta are equally likely and the posterior mean is
# zero. Chains start at the mode that the search finds, and stay there. All diagnostics are good,
# and half of the posterior is missing. Chains that start at different places (`init=`) disagree,
# and R-hat reports it. Regressions have one mode; mixtures, factorisations and networks have many.


# %%
class Squared(sgmc.Model):
    """y ~ N(theta^2, 1)."""

    parameters, prior, start = {"theta": ()}, {"theta": sgmc.normal(0, 3)}, {"theta": 1.0}

    def __init__(self, y):
        self.y, self.n = y, len(y)

    def log_lik(self, theta, rows):
        """Log density of rows."""
        e = self.y[rows] - theta["theta"] ** 2
        return -0.5 * (e @ e)

    def grad(self, theta, rows):
        """Its gradient."""
        return {"theta": 2 * theta["theta"] * (self.y[rows] - theta["theta"] ** 2).sum()}


model = Squared(2.25 + rng.normal(size=25))
one = model.fit(seed=1, draws=500)
spread = model.fit(seed=1, draws=500, init=np.array([[-1.5], [-1.4], [1.4], [1.5]]))
print("chains from one mode:    ", one.verdict)
print("chains from four places: ", spread.verdict)
fine = np.linspace(-3, 3, 6001)
density = special.softmax([-0.5 * ((model.y - t**2) ** 2).sum() - t**2 / 18 for t in fine])
figure, ax = plt.subplots(figsize=(5.8, 3.2), layout="constrained")
ax.fill_between(fine, density / (fine[1] - fine[0]), color="0.8", label="posterior")
bins = np.linspace(-2.2, 2.2, 89)
for res, label in ((one, "chains from one mode"), (spread, "chains from four places")):
    ax.hist(res.flat[:, 0], bins, density=True, histtype="step", linewidth=1.5, label=label)
ax.set(xlabel="theta", ylabel="density", xlim=(-2.2, 2.2))
ax.legend(loc="upper center")

# %% [markdown]
# ## What the verdict does not judge: the model
#
# These counts vary far more than a Poisson variable. The verdict on the Poisson posterior is good,
# as it should be, but the model is wrong and its interval too narrow. `pp_check` and `compare` show
# this.

# %%
counts = rng.poisson(np.exp(0.5 + 0.5 * left) * rng.gamma(0.5, 2, size=2000))
wild = pd.DataFrame({"a": left, "y": counts})[:1000]
narrow = sgmc.poisson("y ~ a", wild, seed=1)
honest = sgmc.negativebinomial("y ~ a", wild, seed=1)
checks = pd.DataFrame({"poisson": narrow.pp_check().loc["sd"]})
checks["negativebinomial"] = honest.pp_check().loc["sd"]
print(checks.T[["observed", "replicated", "p"]].round(3))
print("sd of the slope:", round(narrow.bse["a"], 3), "and", round(honest.bse["a"], 3))
print("verdict on the Poisson model:", narrow.verdict)

# %% [markdown]
# ## In short
#
# | what goes wrong | how it is reported | what to do |
# |---|---|---|
# | step too large | `StepSizeWarning`, verdict | leave `step_size=None` |
# | batch too small | `GradientNoiseWarning`, verdict | leave `batch_size=None` |
# | means biased by momentum | verdict | a smaller step |
# | a sampler with another spread | `SpreadWarning` | use its means only |
# | too few draws | `LowESSWarning` | `resume(draws=...)` |
# | chains do not mix | `ConvergenceWarning` | `precondition="mode"`, more draws |
# | posterior not Gaussian | `ShapeWarning` | `sampler="auto"` or `"mala"` |
# | separation | `SeparationWarning` | check the named predictors and the prior |
# | collinearity | `ConditionWarning` | check the named predictors and the prior |
# | a second mode | not reported | chains from several places: `init=` |
# | a wrong model | not reported | `pp_check()`, `loo()`, `compare` |
