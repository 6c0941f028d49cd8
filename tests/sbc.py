"""Simulation-based calibration (Talts et al. 2018) of fits at default settings: parameters from the
prior, outcomes from these, the rank of each parameter among the draws of its posterior; over many
replicates ranks are uniform.

    python tests/sbc.py [--replicates 200] [--cases logit poisson]
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from scipy import special, stats

import sgmc
from sgmc.errors import SGMCWarning

ROWS, KEPT, BINS = 150, 99, 10
PRIOR = {"a": sgmc.normal(0, 1), "b": sgmc.normal(0, 1), "Intercept": sgmc.normal(-0.5, 0.7)}
NAMES = ["Intercept", "a", "b"]
# auxiliary parameters
OWN = {
    "ols": {"sigma": sgmc.exponential(scale=2.0)},
    "negativebinomial": {"alpha": sgmc.exponential(1.0)},
    "ordinal": {"gap[1]": sgmc.exponential(scale=1.5), "gap[2]": sgmc.exponential(scale=1.5)},
    "sequential": {"step[1]": sgmc.normal(0, 1.0), "step[2]": sgmc.normal(0, 1.0)},
    "beta": {"phi": sgmc.exponential(scale=20.0)},
}
ZEROS = {"zero:Intercept": sgmc.normal(-0.5, 1), "zero:b": sgmc.normal(0, 1)}
SECOND = {  # of two designs
    "zeroinflated": ZEROS,
    "hurdle": ZEROS,
    "dispersion": {
        "dispersion:Intercept": sgmc.normal(-0.5, 0.7),
        "dispersion:b": sgmc.normal(0, 0.7),
    },
}
for parameter, level in {"sigma": 0.3, "phi": 2.5}.items():
    SECOND[parameter] = {
        f"{parameter}:Intercept": sgmc.normal(level, 0.7),
        f"{parameter}:b": sgmc.normal(0, 0.7),
    }
SECOND["discrimination"] = {"discrimination:b": sgmc.normal(0, 0.7)}  # without an intercept
OWN["discrimination"] = OWN["ordinal"]
SECOND["sharper stages"], OWN["sharper stages"] = SECOND["discrimination"], OWN["sequential"]
BARS = ("zeroinflated", "hurdle", "dispersion")  # whose formulas have two parts
# where the name is another
VERBS = {"dispersion": "negativebinomial", "sigma": "ols", "phi": "beta"}
VERBS["discrimination"] = VERBS["sequential"] = VERBS["sharper stages"] = "ordinal"
ARGUMENTS = {
    "sequential": {"kind": "sequential"},
    "sharper stages": {"kind": "sequential", "discrimination": "~ b"},
}
OUTCOMES = {
    "logit": lambda eta, rng: (rng.random(len(eta)) < special.expit(eta)).astype(int),
    "probit": lambda eta, rng: (rng.random(len(eta)) < special.ndtr(eta)).astype(int),
    "cloglog": lambda eta, rng: (rng.random(len(eta)) < -np.expm1(-np.exp(eta))).astype(int),
    "poisson": lambda eta, rng: rng.poisson(np.exp(eta)),
    "ols": lambda eta, rng, sigma: eta + sigma * rng.normal(size=len(eta)),
    "negativebinomial": lambda eta, rng, alpha: rng.poisson(
        np.exp(eta) * alpha * rng.gamma(1 / alpha, size=len(eta))
    ),
    "ordinal": lambda eta, rng, *gaps: np.searchsorted(
        np.cumsum([0.0, *gaps]), eta + rng.logistic(size=len(eta))
    ),
    "beta": lambda eta, rng, phi: rng.beta(phi * special.expit(eta), phi * special.expit(-eta)),
}
# all of which must occur
LEVELS = {"logit": 2, "probit": 2, "cloglog": 2}
LEVELS |= dict.fromkeys(("ordinal", "discrimination", "sequential", "sharper stages"), 4)


def zero_inflated(eta, zeta, rng):
    """Zeros of their own, or Poisson counts."""
    return np.where(rng.random(len(eta)) < special.expit(zeta), 0, rng.poisson(np.exp(eta)))


def over_hurdle(eta, zeta, rng):
    """Zeros, or Poisson counts above zero by quantiles."""
    mu = np.exp(eta)
    count = stats.poisson.isf(rng.random(len(eta)) * -np.expm1(-mu), mu)
    return np.where(rng.random(len(eta)) < special.expit(zeta), 0, np.maximum(count, 1))


def of_second(family):
    """Outcomes of a family of one auxiliary parameter, exp(zeta)."""
    return lambda eta, zeta, rng: OUTCOMES[family](eta, rng, np.exp(zeta))


def discriminated(eta, zeta, rng, *gaps):
    """Levels of a latent variable whose errors are divided by the discrimination exp(zeta)."""
    errors = rng.logistic(size=len(eta)) / np.exp(zeta)
    return np.searchsorted(np.cumsum([0.0, *gaps]), eta + errors)


def in_stages(eta, rng, *steps):
    """Levels at which a row stops, passing each stage where a latent variable is above it."""
    errors = rng.logistic(size=(len(eta), 1 + len(steps)))
    stops = eta[:, None] + errors < np.cumsum([0.0, *steps])
    return np.where(stops.any(axis=1), stops.argmax(axis=1), 1 + len(steps))


def in_sharper_stages(eta, zeta, rng, *steps):
    """The same, with errors that are divided by the discrimination exp(zeta)."""
    errors = rng.logistic(size=(len(eta), 1 + len(steps))) / np.exp(zeta)[:, None]
    stops = eta[:, None] + errors < np.cumsum([0.0, *steps])
    return np.where(stops.any(axis=1), stops.argmax(axis=1), 1 + len(steps))


OUTCOMES |= {"zeroinflated": zero_inflated, "hurdle": over_hurdle}
OUTCOMES |= {name: of_second(family) for name, family in VERBS.items()}
OUTCOMES |= {"discrimination": discriminated, "sequential": in_stages}
OUTCOMES["sharper stages"] = in_sharper_stages


def names(family):
    """Of the parameters."""
    return [*NAMES, *SECOND.get(family, {}), *OWN.get(family, {})]


def drawn(prior, rng):
    """A number from an exponential or a normal prior."""
    if prior.family == "normal":
        return rng.normal(prior.location, prior.scale)
    return rng.exponential(prior.scale)


def simulated(family, rng):
    """Parameters from the prior and a table from the model, drawn anew where no fit is possible
    (one class, no event; a proportion that is rounded to 0 or 1).
    """
    while True:
        normal = PRIOR | SECOND.get(family, {})
        theta = np.array(
            [
                rng.normal(p.location, p.scale)
                for p in map(normal.get, names(family))
                if p is not None
            ]
        )
        own = np.array([drawn(one, rng) for one in OWN.get(family, {}).values()])
        X = np.column_stack([np.ones(ROWS), rng.normal(size=(ROWS, 2))])
        if family in SECOND:
            Z = X[:, [0, 2][-len(SECOND[family]) :]]  # an intercept and b, or b alone
            y = OUTCOMES[family](X @ theta[:3], Z @ theta[3:], rng, *own)
        else:
            y = OUTCOMES[family](X @ theta, rng, *own)
        if VERBS.get(family, family) == "beta" and not 0 < y.min() <= y.max() < 1:
            continue
        if (
            y.max() > 0
            and (SECOND.get(family) is not ZEROS or y.min() == 0)
            and len(np.unique(y)) >= LEVELS.get(family, 1)
        ):
            return np.append(theta, own), pd.DataFrame({"y": y, "a": X[:, 1], "b": X[:, 2]})


def ranks(family, replicates, seed=1, prior=PRIOR, sampler="auto", distort=lambda draws: draws):
    """Ranks 0 .. KEPT of the true parameters, (replicates, parameters), for a prior of the fit and
    a distortion of its draws.

    A sample of one class has no posterior here, which conditions on there being two: with 150 rows
    and these priors that is a matter of about one in a hundred replicates.
    """
    found = []
    for k in range(replicates):
        rng = np.random.default_rng([seed, k])
        theta, frame = simulated(family, rng)
        with warnings.catch_warnings():
            # of few events and separation, as the prior has it
            warnings.simplefilter("ignore", SGMCWarning)
            results = getattr(sgmc, VERBS.get(family, family))(
                "y ~ a + b | b" if family in BARS else "y ~ a + b",
                frame,
                **ARGUMENTS.get(family, {}),
                **(
                    {family: "~ b"}
                    if family in SECOND and family not in (*BARS, *ARGUMENTS)
                    else {}
                ),
                prior=prior | OWN.get(family, {}) | SECOND.get(family, {}),
                sampler=sampler,
                seed=k,
                draws=500,
            )
        draws = distort(results.model.family.sampled(results.flat))
        some = draws[np.linspace(0, len(draws) - 1, KEPT).astype(int)]
        found.append((some < theta).sum(axis=0))
    return np.array(found)


def p_values(found):
    """Of uniform ranks, for each parameter: chi-squared over BINS bins."""
    edges = np.linspace(0, KEPT + 1, BINS + 1)
    return np.array([stats.chisquare(np.histogram(column, edges)[0]).pvalue for column in found.T])


def calibrate(description, cases, names, ranks):
    """Print histograms and p-values of ranks: of a command, its cases, ``names(case)`` of the
    parameters, and ``ranks(case, replicates)``.
    """
    arguments = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--replicates", type=int, default=200)
    arguments.add_argument("--cases", nargs="+", default=list(cases))
    options = arguments.parse_args()
    for case in options.cases:
        found = ranks(case, options.replicates)
        for name, column, p in zip(names(case), found.T, p_values(found)):
            bins = np.histogram(column, np.linspace(0, KEPT + 1, BINS + 1))[0]
            shown = " ".join(f"{b:3d}" for b in bins)
            print(f"{case:16s} {name!s:20s} {shown}   p {p:.3f}", flush=True)


if __name__ == "__main__":
    calibrate(__doc__, OUTCOMES, names, ranks)
