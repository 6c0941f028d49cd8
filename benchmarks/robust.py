"""How often 95 % intervals by the sandwich of independent rows have the true coefficient, and how
many fits are trusted: outcomes whose mean is right and whose spread is not, beside statsmodels.

    python benchmarks/robust.py [DATA_SETS] [ROWS]
"""

import sys
import warnings

import numpy as np
import pandas as pd
import statsmodels.api as sm

import sgmc
from sgmc.errors import SGMCWarning

TRUE = np.array([0.5, 0.3, -0.2, 0.1, 0.25])
COV_TYPES = "robust", "HC3"


def counts(rng, eta):
    """Poisson counts times gammas: the variance is mean + 1.4 mean^2."""
    return rng.poisson(np.exp(eta) * rng.gamma(0.7, 1 / 0.7, len(eta)))


def binary(rng, eta):
    """A binary outcome, of which the model is right."""
    return rng.random(len(eta)) < 1 / (1 + np.exp(-eta))


def spread(rng, eta):
    """Real outcomes whose sd rises with the mean."""
    return eta + np.exp(eta) * rng.normal(size=len(eta))


def positive(rng, eta):
    """Positive outcomes whose coefficient of variation rises with the mean."""
    shape = np.exp(-eta)
    return np.exp(eta) * rng.gamma(shape, 1 / shape)


CASES = {
    "poisson": (counts, "poisson", sm.families.Poisson()),
    "logit": (binary, "logit", sm.families.Binomial()),
    "ols": (spread, "ols", sm.families.Gaussian()),
    "gamma": (positive, "gamma", sm.families.Gamma(sm.families.links.Log())),
}


def one(case, cov_type, rows, seed):
    """(trusted, whether our intervals have the truth, whether those of statsmodels do, widths over
    theirs).
    """
    draw, verb, family = CASES[case]
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    df = pd.DataFrame(X, columns=list("abcd"))
    df["y"] = draw(rng, TRUE[0] + X @ TRUE[1:]).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        res = getattr(sgmc, verb)("y ~ a + b + c + d", df, cov_type=cov_type, seed=seed)
    ours = res.conf_int().to_numpy()[: len(TRUE)]
    design, start = sm.add_constant(X), res.params.to_numpy()[: len(TRUE)]
    model = sm.GLM(df.y, design, family=family)  # its own start may diverge
    if cov_type == "HC3":  # it has none: R's, by hand
        theirs = hc3(df.y.to_numpy(), design, model.fit(start_params=start))
    else:
        theirs = np.asarray(model.fit(start_params=start, cov_type="HC0").conf_int())
    has = [(ends[:, 0] <= TRUE) & (ends[:, 1] >= TRUE) for ends in (ours, theirs)]
    return res.verdict.trustworthy, *has, np.ptp(ours, axis=1) / np.ptp(theirs, axis=1)


def hc3(y, X, fitted):
    """Intervals by HC3 at the maximum likelihood estimate of a GLM."""
    slope = fitted.family.link.inverse_deriv(X @ fitted.params)
    weight = slope**2 / fitted.family.variance(fitted.mu)
    bread = np.linalg.inv((X.T * weight) @ X)
    h = weight * np.einsum("ij,jk,ik->i", X, bread, X)
    score = (y - fitted.mu) * slope / fitted.family.variance(fitted.mu) / (1 - h)
    sd = np.sqrt(np.diag(bread @ ((X.T * score**2) @ X) @ bread))
    return np.column_stack([fitted.params - 1.96 * sd, fitted.params + 1.96 * sd])


def main():
    """Print a row per family."""
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rows = [int(n) for n in sys.argv[2:]] or [100, 500]
    print("| family | rows | `cov_type=` | trusted | draws | statsmodels | width |")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        for n in rows:
            for cov_type in COV_TYPES:
                found = [one(case, cov_type, n, seed) for seed in range(sets)]
                trusted, ours, theirs, width = (np.mean(part) for part in zip(*found, strict=True))
                print(
                    f"| {case} | {n} | {cov_type} | {trusted:.2f} | {ours:.3f} | {theirs:.3f} "
                    f"| {width:.3f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
