"""Models beyond regression at their defaults: ``.fit(seed=s)``, ten seeds, two data sets each.

    python benchmarks/defaults.py [--quick] [--only LDA]

Of each: how many verdicts are "trustworthy"; over the seeds, median and largest error of means, in
posterior sds, and of sds, relative, of the judged quantities (`judged_quantities`), against a
reference that shares no code with the samplers (`default_references`: Gibbs sampling, forward
filtering, quadrature; of ICA a long run of hmc in other coordinates); R-hat of these quantities;
seconds of the processor for a fit.  The reference's own error, by its two halves, stands beside.
"""

import argparse
import time
import warnings
from types import SimpleNamespace

import default_references as references
import numpy as np

import sgmc
from sgmc.diagnostics.chains.convergence import rhat

SEEDS, SWEEPS = 10, 6000
EACH = {"precisions": "each"}  # as some of the papers


def mixed_normals(seed, n, places, sd=1.0):
    """Numbers around places, in equal parts."""
    rng = np.random.default_rng(seed)
    return rng.choice(places, n) + sd * rng.normal(size=n)


def switching(seed, T, gap):
    """Normal numbers around 0 and `gap`, by a Markov chain that stays with probability 0.9."""
    rng = np.random.default_rng(seed)
    state = np.cumsum(rng.random(T) < 0.1) % 2
    return gap * state + rng.normal(size=T)


def autoregression(seed, T, a, q, r):
    """A hidden autoregression."""
    rng, x = np.random.default_rng(seed), np.zeros(T)
    x[0] = q / np.sqrt(1 - a * a) * rng.normal()
    for t in range(1, T):
        x[t] = a * x[t - 1] + q * rng.normal()
    return x + r * rng.normal(size=T)


def sources(seed, n, d):
    """Mixed Laplace sources."""
    rng = np.random.default_rng(seed)
    return rng.laplace(size=(n, d)) @ rng.normal(size=(d, d)).T


def corpus(seed, documents, tokens, words, topics):
    """Counts of words by topics that are drawn once."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(words, 0.3), topics)
    p = rng.dirichlet(np.full(topics, 0.3), documents) @ theta
    return np.array([rng.multinomial(tokens, one) for one in p])


def network(seed, n, K, beta, delta, alpha):
    """Links (m, 2) between nodes of mixed membership."""
    rng = np.random.default_rng(seed)
    pi = rng.dirichlet(np.full(K, alpha), n)
    a, b = np.triu_indices(n, 1)
    linked = rng.random(len(a)) < delta + (beta - delta) * (pi[a] * pi[b]).sum(axis=1)
    return np.column_stack([a, b])[linked]


def ratings(seed, users, items, share, counts):
    """Users, items and ratings, normal or counts, of factors of rank two."""
    rng = np.random.default_rng(seed)
    U, V = rng.gamma(1, 1, (users, 2)), rng.gamma(1, 2, (items, 2))
    user, item = np.nonzero(rng.random((users, items)) < share)
    rate = (U[user] * V[item]).sum(axis=1)
    normal = 0.3 * rate + 0.6 * rng.normal(size=len(user))
    return user, item, rng.poisson(rate).astype(float) if counts else normal


def with_draws(results, theta):
    """Results with other draws in the place of their own."""
    other = object.__new__(type(results))
    other.__dict__.update(results.__dict__)
    other.__dict__["draws"] = theta[None]
    other.__dict__.update(
        {name: None for name in ("_scores", "_chain_means") if name in vars(other)}
    )
    return other


def summed(found):
    """Means and sds of draws, and the error of the means by the two halves."""
    mean, sd = found.mean(axis=0), found.std(axis=0)
    first, second = np.array_split(found, 2)
    return mean, sd, np.abs((first.mean(axis=0) - second.mean(axis=0)) / (2 * sd)).max()


def by_draws(make):
    """A reference from draws of theta, the first tenth left out: (mean, sd, its own error)."""

    def reference(model, results):
        theta = make(model, np.random.default_rng(7))
        theta = theta[len(theta) // 10 :].reshape(-1, model.layout().size)
        return summed(with_draws(results, theta).judged_quantities()[1][0])

    return reference


def by_predictions(make):
    """A reference from draws of the judged predictions themselves."""

    def reference(model, results):
        return summed(make(model, np.random.default_rng(7)))

    return reference


def by_points(make):
    """A reference from weighted points of theta."""

    def reference(model, results):
        theta, weights = make(model)
        found = with_draws(results, theta).judged_quantities()[1][0]
        mean = np.average(found, axis=0, weights=weights)
        return mean, np.sqrt(np.average((found - mean) ** 2, axis=0, weights=weights)), 0.0

    return reference


def long_hmc(model, rng):
    """Draws of hmc in the coordinates of the parameters."""
    how = dict(sampler="hmc", precondition=None, draws=SWEEPS, warmup=4000, chains=1, thin=2)
    return model.fit(seed=99, **how).draws[0]


def cases():
    """Name -> (two models, reference)."""
    lda = dict(alpha=0.3, beta=0.3)
    return {
        "TiedMeans": (
            [sgmc.TiedMeans(mixed_normals(s, 100, (0.0, 1.0), np.sqrt(2))) for s in (29, 3)],
            by_points(lambda m: references.tied_means(m.y, m.variance)),
        ),
        "GaussianMixture": (
            [
                sgmc.GaussianMixture(mixed_normals(0, 500, (-3.0, 0.0, 4.0)), 3),
                sgmc.GaussianMixture(mixed_normals(1, 300, (0.0, 2.5)), 2),
            ],
            by_draws(lambda m, rng: references.mixture(m.X[:, 0], m.components, SWEEPS, rng)),
        ),
        "HMM": (
            [sgmc.HMM(switching(0, 400, 2.5), 2), sgmc.HMM(switching(1, 300, 1.5), 2)],
            by_draws(lambda m, rng: references.hidden_markov(m.y[:, 0], SWEEPS, rng)),
        ),
        "LinearGaussian": (
            [
                sgmc.LinearGaussian(autoregression(3, 200, 0.8, 0.6, 0.6)),
                sgmc.LinearGaussian(autoregression(1, 300, 0.7, 1.0, 0.3)),
            ],
            by_points(references.linear_gaussian),
        ),
        "ICA": (
            [sgmc.ICA(sources(0, 1000, 3)), sgmc.ICA(sources(1, 1000, 5))],
            by_draws(long_hmc),
        ),
        "LDA": (
            [
                sgmc.LDA(corpus(0, 60, 20, 12, 2), 2, **lda),
                sgmc.LDA(corpus(1, 300, 20, 15, 3), 3, **lda),
            ],
            by_draws(
                lambda m, rng: references.topics(
                    m.counts.toarray(), m.K, m.alpha, m.prior["topics"].df, SWEEPS // 4, rng
                )
            ),
        ),
        "MMSB": (
            [
                sgmc.MMSB(network(0, 40, 3, 0.6, 0.03, 0.1), 3, nodes=range(40), delta=0.03),
                sgmc.MMSB(network(1, 120, 3, 0.5, 0.01, 0.1), 3, nodes=range(120), delta=0.01),
            ],
            by_draws(lambda m, rng: references.communities(m, 5 * SWEEPS, rng)),
        ),
        "BPMF": (
            [
                sgmc.BPMF(ratings(0, 20, 15, 0.6, False), dim=2),
                sgmc.BPMF(ratings(1, 60, 40, 0.3, False), dim=3, centre=False, hyper=EACH),
            ],
            by_predictions(lambda m, rng: references.gaussian_factors(m, SWEEPS, rng)),
        ),
        "PPMF": (
            [
                sgmc.PPMF(ratings(0, 20, 15, 0.6, True), dim=2),
                sgmc.PPMF(ratings(1, 60, 40, 0.3, True), dim=2),
            ],
            by_predictions(lambda m, rng: references.poisson_factors(m, 4 * SWEEPS, rng)),
        ),
    }


def line(name, number, model, reference, seeds):
    """Fit, and print a line of the table."""
    found = SimpleNamespace(mean=[], sd=[], rhat=[], seconds=[], good=0)
    target = None
    for seed in range(seeds):
        begun = time.process_time()
        results = model.fit(seed=seed)
        found.seconds.append(time.process_time() - begun)
        target = target or reference(model, results)
        mean, sd, own = target
        draws = results.judged_quantities()[1]
        flat = draws.reshape(-1, draws.shape[2])
        found.mean.append(np.abs((flat.mean(axis=0) - mean) / sd).max())
        found.sd.append(np.abs(flat.std(axis=0) / sd - 1).max())
        found.rhat.append(np.max(rhat(draws)))
        found.good += bool(results.verdict.trustworthy)
    print(
        f"{name + ' ' + str(number):18}{results.sampler.name:8}{found.good:4}/{seeds:<3}"
        f"{np.median(found.mean):8.3f}{max(found.mean):8.3f}{np.median(found.sd):8.3f}"
        f"{max(found.sd):8.3f}{max(found.rhat):8.3f}{np.median(found.seconds):9.2f}{own:9.3f}",
        flush=True,
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three seeds")
    parser.add_argument("--only", help="one model")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"{'model, data':18}{'sampler':8}{'trusted':>8}{'mean':>7}{'worst':>8}{'sd':>8}{'worst':>8}"
        f"{'R-hat':>8}{'seconds':>9}{'ref. error':>11}"
    )
    for name, (models, reference) in cases().items():
        for number, model in enumerate(models if chosen.only in (None, name) else (), 1):
            line(name, number, model, reference, 3 if chosen.quick else SEEDS)


if __name__ == "__main__":
    main()
