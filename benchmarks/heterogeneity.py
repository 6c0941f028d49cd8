"""Logistic regression on sepsis with raw columns (Mauri & Zanella, sections 5.1.1 and A.4.3): one step for unlike scales.

    SGMC_DATA=... python benchmarks/heterogeneity.py [--quick]

As in the paper: 80 % of the 110,204 rows, age, sex, episode number and a constant as they come, theta ~ N(0, I), minibatches of
1 % of the rows, the plain gradient estimate, chains from the posterior mean, 200,000 steps.  The paper shows traces and densities
for a "small" and a "large" sigma without saying which; here sigma runs from 0.1 to 20 posterior sds of age, the coordinate with
the smallest, which for sgld is h = sigma^2.  The second table has the paper's second experiment: sigma of each coordinate 10 %,
20 % and more of its own sd, the same as equal steps on columns multiplied by those sds.

Errors of means are in posterior sds, sds are ratios to the reference (importance sampling by `reference.py`, which shares no
code with sgmc), for age and for the farthest of the other three; the last columns are the smallest effective sample sizes.
"""
import argparse
import warnings

import numpy as np
from reference import Posterior, importance_sampling

import sgmc

NAMES = ["age", "sex", "episode", "const"]
SAMPLERS = ("sgld", "vsgbd", "csgbd", "esgbd")
SHARED, OWN = (0.1, 0.3, 0.5, 1.0, 3.0, 10.0, 20.0), (0.1, 0.2, 0.5, 1.0)
LENGTH = {"full": (2, 200_000), "quick": (1, 20_000)}          # chains, steps


def training_rows():
    """80 % of the rows, at random: design and outcomes."""
    data = sgmc.datasets.load("sepsis").sample(frac=0.8, random_state=1)
    X = data[["age_years", "sex_0male_1female", "episode_number"]].to_numpy(float)
    return np.column_stack([X, np.ones(len(X))]), data["hospital_outcome_1alive_0dead"].to_numpy(float)


def reference(X, y, seed=1, size=50_000):
    """Posterior means and sds under theta ~ N(0, I)."""
    posterior = Posterior(X, y, np.zeros(X.shape[1]), np.ones(X.shape[1]))
    theta, weights = importance_sampling(posterior, posterior.mode(), np.random.default_rng(seed), size)[:2]
    mean = theta @ weights
    return mean, np.sqrt((theta - mean[:, None]) ** 2 @ weights)


def compare(data, sampler, sigma, scale, length):
    """Errors of the means in sds, ratios of the sds, and effective sample sizes, of a run on columns times `scale`.

    Parameters
    ----------
    data : tuple
        X, y, and the reference's mean and sd.
    sampler : str
    sigma : float
        In units of theta / scale.
    scale : array (d,)
    length : tuple
        Chains and steps.
    """
    X, y, mean, sd = data
    prior = {name: sgmc.normal(0, 1 / s) for name, s in zip(NAMES, scale)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.SGMCWarning)
        try:
            results = sgmc.Logit(y, X * scale, names=NAMES).fit(
                sampler=sampler, gradient="simple", subsample="uniform", batch_size=len(y) // 100, precondition=None, prior=prior,
                step_size=sigma ** 2 if sampler == "sgld" else sigma, init=mean / scale, chains=length[0], draws=length[1] // 20,
                thin=20, warmup=length[1] // 100, seed=1)
        except sgmc.errors.ArgumentError:                          # every chain diverged before its first draw
            return np.full((3, len(mean)), np.nan)
    found, spread = results.params.to_numpy() * scale, results.bse.to_numpy() * scale
    return np.array([(found - mean) / sd, spread / sd, results.ess().to_numpy()])


def line(label, found):
    """Print one row."""
    (shift, *shifts), (ratio, *ratios), (size, *sizes) = found
    far = max(shifts, key=abs)
    print(f"{label} {shift:+9.2f} {far:+9.2f} {ratio:9.2f} {min(ratios):9.2f} ..{max(ratios):7.2f} {size:9.0f} {min(sizes):7.0f}",
          flush=True)


def main():
    """Print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="one chain of 20,000 steps, fewer sigmas")
    quick = arguments.parse_args().quick
    X, y = training_rows()
    data = (X, y, *reference(X, y))
    print("posterior sds:", ", ".join(f"{name} {s:.3g}" for name, s in zip(NAMES, data[3])))
    head = f"{'mean: age':>10s} {'others':>9s} {'sd: age':>9s} {'others':>9s} {'':9s} {'ESS: age':>9s} {'others':>7s}"
    for title, scale, sigmas, unit in (("one sigma for all, in sds of age", np.ones(4), SHARED, data[3][0]),
                                       ("sigma in sds of each coordinate", data[3], OWN, 1.0)):
        print(f"\n{title}\n{'sampler':8s} {'sigma':>6s}{head}")
        for sampler in SAMPLERS:
            for sigma in (sigmas[::3] if quick else sigmas):
                found = compare(data, sampler, sigma * unit, scale, LENGTH["quick" if quick else "full"])
                line(f"{sampler:8s} {sigma:6g}", found)


if __name__ == "__main__":
    main()
