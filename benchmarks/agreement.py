"""Exact samplers against importance sampling and one another: z-scores of means and sds on three
logistic posteriors.

    SGMC_DATA=... python benchmarks/agreement.py [--quick] [--seeds 3]

The reference shares no code with sgmc: a multivariate t at the mode, importance weights smoothed by
a generalised Pareto law (`importance_sampling` of `benchmarks/reference.py`), whose shape k-hat
must be below 0.5.  z = (figure - reference) / sqrt(mcse^2 + mcse of the reference^2) for the mean
and the sd of every coefficient.  Of n independent z the largest exceeds |z| with probability 1 -
(1 - p(z))^n, which is printed; coefficients are correlated, so that the truth is a little larger.
The last lines of each posterior are the largest z of the samplers against one another, and of
planted mistakes: mala's sds as they would be at temperature 1.2, and mala without the prior (but
for Default, whose 10,000 rows say more than any prior).

Posteriors: Default (`default ~ .`), prior as sgmc's default; the first 2,000 rows of a9a, the 24
most frequent columns among those that have at least 25 rows of each outcome both where they are one
and where they are zero and that keep the condition number of the correlations below 1,000,
normal(0, 2.5); a heavy-tailed logit of 600 Cauchy-ish rows, student_t(4, 0, 1).
"""

import argparse
import warnings
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from reference import Posterior, default_prior, importance_sampling
from reference_tables import a9a, default
from scipy import stats

import sgmc
from sgmc.diagnostics import mcse

SAMPLERS = ("rwm", "mala", "barker", "hmc", "mmala")
NO_DATA = "(simulated: SGMC_DATA has not these data)"
DRAWS = {"rwm": 20}  # times as many as the others, thinned


@dataclass(frozen=True)
class Case:
    """A posterior, for the reference and for sgmc.

    Attributes
    ----------
    X, y : array
    posterior : Posterior
        Of the reference.
    prior : Prior, dict or None
        The same for sgmc.
    names : list of str
    note : str
    """

    X: np.ndarray
    y: np.ndarray
    posterior: object
    prior: object
    names: list
    note: str = ""


class StudentPosterior(Posterior):
    """Logistic regression with independent t priors of one scale; its mode is found by Newton's
    method with the normal prior's curvature where the t prior is not concave.
    """

    def __init__(self, X, y, df, scale):
        super().__init__(X, y, np.zeros(X.shape[1]), np.full(X.shape[1], np.inf))
        self.df, self.scale = df, scale

    def log_density(self, theta):
        """See `Posterior.log_density`."""
        prior = np.log1p((theta / self.scale) ** 2 / self.df).sum(axis=0)
        return super().log_density(theta) - (self.df + 1) / 2 * prior

    def gradient(self, theta):
        """See `Posterior.gradient`."""
        return super().gradient(theta) - (self.df + 1) * theta / (
            self.df * self.scale**2 + theta**2
        )

    def curvature(self, theta, bounded=()):
        """See `Posterior.curvature`; never below that of the likelihood."""
        width = self.df * self.scale**2
        prior = (self.df + 1) * (width - theta**2) / (width + theta**2) ** 2
        return super().curvature(theta, bounded) + np.diag(np.maximum(prior, 0))


# ---- the posteriors ------------------------------------------------------------------------------


def coins(X, theta, random):
    """Outcomes of a logistic regression."""
    return (random.random(len(X)) < 1 / (1 + np.exp(-X @ theta))).astype(float)


def default_case():
    """Default, or a stand-in of its shape."""
    try:
        (X, y, names), note = default(), ""
    except (KeyError, FileNotFoundError):
        random = np.random.default_rng(1)
        X = np.column_stack(
            [
                np.ones(10_000),
                random.random(10_000) < 0.3,
                random.normal([835, 33e3], [480, 13e3], (10_000, 2)),
            ]
        )
        y = coins(X, np.array([-10.9, -0.65, 0.0057, 3e-6]), random)
        names, note = ["Intercept", "a", "b", "c"], NO_DATA
    return Case(X, y, Posterior(X, y, *default_prior(X), centred=True), None, names, note)


def a9a_case():
    """A piece of a9a, or a stand-in: 24 binary columns."""
    try:
        (X, y, names), note = a9a(), ""
        X, y = X[:2000], y[:2000]
    except (KeyError, FileNotFoundError):
        random = np.random.default_rng(2)
        X = np.column_stack(
            [np.ones(2000), random.random((2000, 24)) < random.uniform(0.05, 0.5, 24)]
        ).astype(float)
        y = coins(X, np.r_[-1.5, random.normal(0, 0.7, 24)], random)
        names, note = ["Intercept", *map(str, range(24))], NO_DATA
    kept = [0, *informative(X, y, 24)]
    # centred, so that the intercept's prior is the same for all
    X = X[:, kept] - np.r_[0, X[:, kept[1:]].mean(axis=0)]
    d = len(kept)
    return Case(
        X,
        y,
        Posterior(X, y, np.zeros(d), np.full(d, 2.5)),
        {"*": sgmc.normal(0, 2.5)},
        [names[j] for j in kept],
        note,
    )


def informative(X, y, wanted, least=25, condition=1000):
    """Columns by the rule in the head of this file."""
    kept = []
    for j in sorted(range(1, X.shape[1]), key=lambda j: -X[:, j].sum()):
        counts = [
            np.sum((X[:, j] == value) & (y == outcome)) for value in (0, 1) for outcome in (0, 1)
        ]
        if (
            min(counts) >= least
            and np.linalg.cond(np.atleast_2d(np.corrcoef(X[:, [*kept, j]].T))) < condition
        ):
            kept.append(j)
        if len(kept) == wanted:
            break
    return kept


def heavy_case():
    """Cauchy-ish predictors, one outcome in ten, few rows, t priors."""
    random = np.random.default_rng(3)
    X = np.clip(random.standard_cauchy((600, 5)), -30, 30)
    X = np.column_stack([np.ones(600), (X - X.mean(axis=0)) / X.std(axis=0)])
    y = coins(X, np.array([-2.5, 1.0, -1.0, 0.5, 0.0, 0.0]), random)
    names = ["const", *(f"x{j}" for j in range(1, 6))]
    return Case(
        X, y, StudentPosterior(X, y, 4.0, 1.0), dict.fromkeys(names, sgmc.student_t(4, 0, 1)), names
    )


CASES = {"Default": default_case, "a9a piece": a9a_case, "heavy-tailed": heavy_case}


# ---- figures: (2, d) arrays, means and sds, each with its error ----------------------------------


def reference(case, seed, size):
    """Means and sds by importance sampling, their Monte Carlo errors, and k-hat."""
    found = importance_sampling(
        case.posterior, case.posterior.mode(), np.random.default_rng(seed), size
    )
    if found is None:
        raise RuntimeError("importance sampling does not cover this posterior")
    theta, weights, khat, ess_mean, ess_sd = found
    mean = theta @ weights
    squares = (theta - mean[:, None]) ** 2
    sd = np.sqrt(squares @ weights)
    spread = np.sqrt((squares - (sd**2)[:, None]) ** 2 @ weights)
    return (
        np.array([mean, sd]),
        np.array([sd / np.sqrt(ess_mean), spread / (2 * sd * np.sqrt(ess_sd))]),
        khat,
    )


def sampled(case, sampler, seed, draws):
    """The same by a sampler of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.SGMCWarning)
        results = sgmc.Logit(case.y, case.X, names=case.names).fit(
            sampler=sampler, prior=case.prior, draws=draws, seed=seed, thin=DRAWS.get(sampler, 1)
        )
    kept = results.draws
    figures = np.array([kept.mean(axis=(0, 1)), kept.std(axis=(0, 1))])
    return (figures, np.array([mcse(kept), mcse(kept, "sd")])), results.rhat().max()


def planted(case, healthy, draws):
    """Figures with a mistake: sds as at temperature 1.2, and draws without the prior."""
    hot = healthy[0] * np.array([[1.0], [np.sqrt(1.2)]]), healthy[1]
    if case.prior is None:  # weak beside 10,000 rows: its lack would not be seen
        return {"temperature 1.2": hot}
    bare = replace(case, prior=dict.fromkeys(case.names, "flat"))
    return {"temperature 1.2": hot, "no prior": sampled(bare, "mala", 1, draws)[0]}


def z_scores(one, other):
    """Differences in standard errors."""
    return (one[0] - other[0]) / np.hypot(one[1], other[1])


def line(label, z, more=""):
    """Print the largest |z|, of how many, how often that happens by chance,
    and the root mean square.
    """
    largest = np.abs(z).max()
    chance = -np.expm1(z.size * np.log1p(-2 * stats.norm.sf(largest)))
    print(
        f"  {label:34s} max|z| {largest:7.2f} of {z.size:4d}  p {chance:8.2g}  rms z: means "
        f"{rms(z[..., 0, :]):5.2f}, sds {rms(z[..., 1, :]):5.2f} {more}",
        flush=True,
    )


def rms(z):
    """Root mean square: 1 where errors are as they are said to be."""
    return float(np.sqrt(np.mean(np.square(z))))


def compare(name, seeds, draws, size):
    """Print what is found on one posterior."""
    case = CASES[name]()
    *truth, khat = reference(case, 1, size)
    print(f"\n{name}: {case.X.shape[0]:,} x {case.X.shape[1]}, k-hat {khat:.2f} {case.note}")
    found = {}
    for sampler in SAMPLERS:
        runs = [sampled(case, sampler, seed, draws) for seed in range(seeds)]
        found[sampler] = [figures for figures, _ in runs]
        line(
            sampler,
            np.array([z_scores(figures, truth) for figures in found[sampler]]),
            f"R-hat {max(r for _, r in runs):.3f}",
        )
    pairs = [
        z_scores(a, b)
        for one, other in combinations(SAMPLERS, 2)
        for a, b in zip(found[one], found[other])
    ]
    line("one another", np.array(pairs))
    for by, figures in planted(case, found["mala"][0], draws).items():
        line(f"planted: {by}", z_scores(figures, truth))


def main():
    """Print the tables."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--quick", action="store_true", help="one seed, a quarter of the draws")
    arguments.add_argument("--seeds", type=int, default=3)
    options = arguments.parse_args()
    for name in CASES:
        compare(name, *((1, 1000, 20_000) if options.quick else (options.seeds, 4000, 100_000)))


if __name__ == "__main__":
    main()
