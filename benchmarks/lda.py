"""Latent Dirichlet allocation of the AP corpus (2,246 documents, 10,473 words):
held-out perplexity by seconds.

    python benchmarks/lda.py [--quick] [--topics 20] [--only edge]

Every tenth document is held out; of its tokens half serve to infer proportions, and the perplexity
is that of the other half, averaged over draws (`sgmc.models.lda.folding`; the same completion for
all).  Seconds are of the processor, with everything that a fit does.  Beside the samplers
of minibatches: scikit-learn's variational Bayes, with the mean of its topics, and, where numba is
installed, a collapsed Gibbs sampler of all documents (Griffiths & Steyvers 2004), token by token,
averaged over its later half.

The second table is of a sparse posterior that is known, Dirichlet(0.1 + counts) with seven of ten
counts zero: the mean that these have, over the right one, by steps of sgrld in its four coordinates
and of scir.
"""

import argparse
import time
import warnings

import numpy as np
from scipy import sparse

import sgmc
from sgmc.models.lda.folding import Completion

ALPHA = BETA = 0.1
# sampler, step size, documents of a batch
RUNS = [("sgrld", 0.01, 50), ("sgrld", 0.01, 200), ("scir", 0.1, 50), ("scir", 0.3, 200)]
STEPS = {50: (250, 1000, 4000), 200: (125, 500, 2000)}
SWEEPS = (25, 100, 400)
COUNTS = np.array([0, 0, 0, 1, 0, 2, 0, 40, 0, 57])
EDGE = {
    "scir": (1.0, 10.0),
    "expanded-mean": (0.02, 0.005),
    "expanded-natural": (0.0005,),
    "reduced-mean": (1e-3, 2e-4),
    "reduced-natural": (1e-4,),
}


def corpus():
    """Documents to learn from and documents held out, sparse."""
    table = sgmc.datasets.load("ap")
    counts = sparse.csr_array((table["count"], (table["document"], table["word"])))
    held = np.arange(counts.shape[0]) % 10 == 0
    return counts[~held], counts[held]


def by_minibatches(train, test, topics, run, steps):
    """(seconds, perplexity) of a chain: half of the steps are warmup,
    and a tenth of the others are kept.
    """
    (sampler, h, batch), begun = run, time.process_time()
    model = sgmc.LDA(train, topics, ALPHA, BETA, held_out=test)
    results = model.fit(
        sampler=sampler,
        step_size=h,
        batch_size=batch,
        warmup=steps // 2,
        draws=max(steps // 20, 1),
        thin=10,
        chains=1,
        threads=1,
        seed=1,
    )
    return time.process_time() - begun, results.perplexity()


def variational(train, completion, topics, passes):
    """The same of scikit-learn's online variational Bayes."""
    from sklearn.decomposition import LatentDirichletAllocation

    begun = time.process_time()
    fitted = LatentDirichletAllocation(
        topics,
        doc_topic_prior=ALPHA,
        topic_word_prior=BETA,
        learning_method="online",
        max_iter=passes,
        random_state=0,
    ).fit(train.astype(float))
    theta = fitted.components_ / fitted.components_.sum(axis=1, keepdims=True)
    return time.process_time() - begun, completion.perplexity(completion.probabilities(theta))


def sweeper():
    """One sweep of the collapsed Gibbs sampler, compiled by numba;
    None where it is not installed.
    """
    try:
        from numba import njit
    except ImportError:
        return None

    @njit
    def sweep(documents, words, z, of_document, of_word, of_topic, u):
        W, K = of_word.shape
        up = np.empty(K)
        for i in range(len(z)):
            d, w = documents[i], words[i]
            of_document[d, z[i]] -= 1
            of_word[w, z[i]] -= 1
            of_topic[z[i]] -= 1
            total = 0.0
            for k in range(K):
                total += (
                    (of_document[d, k] + ALPHA) * (of_word[w, k] + BETA) / (of_topic[k] + W * BETA)
                )
                up[k] = total
            k = min(np.searchsorted(up, u[i] * total), K - 1)
            z[i] = k
            of_document[d, k] += 1
            of_word[w, k] += 1
            of_topic[k] += 1

    return sweep


def collapsed(sweep, train, completion, topics, sweeps):
    """(seconds, perplexity) of the collapsed Gibbs sampler;
    topics at a sweep are their means given the assignments.
    """
    rng, begun = np.random.default_rng(1), time.process_time()
    documents = np.repeat(np.repeat(np.arange(train.shape[0]), np.diff(train.indptr)), train.data)
    words = np.repeat(train.indices, train.data).astype(np.int64)
    z = rng.integers(0, topics, len(words))
    tables = [
        np.zeros((train.shape[0], topics), dtype=np.int64),
        np.zeros((train.shape[1], topics), dtype=np.int64),
        np.bincount(z, minlength=topics),
    ]
    np.add.at(tables[0], (documents, z), 1)
    np.add.at(tables[1], (words, z), 1)
    total, kept = 0.0, 0
    for i in range(sweeps):
        sweep(documents, words, z, *tables, rng.random(len(z)))
        if i >= sweeps // 2 and i % 5 == 4:
            theta = (tables[1] + BETA) / (tables[2] + train.shape[1] * BETA)
            total, kept = total + completion.probabilities(theta.T), kept + 1
    return time.process_time() - begun, completion.perplexity(total / kept)


def associated_press(topics, quick):
    """The first table."""
    train, test = corpus()
    completion = Completion(*sgmc.LDA(train, topics, held_out=test).held_out, ALPHA)
    frequencies = np.asarray(train.sum(axis=0)).ravel() + BETA
    plain = completion.perplexity(completion.probabilities(frequencies[None] / frequencies.sum()))
    print(
        f"AP corpus, K = {topics}: {train.shape[0]} documents, {test.shape[0]} held out; words' "
        f"frequencies alone: {plain:,.0f}"
    )
    print(f"{'':34}" + "seconds: perplexity, of longer and longer runs")

    def line(name, one, sizes):
        cells = [one(size) for size in (sizes[:1] if quick else sizes)]
        print(f"{name:34}" + "  ".join(f"{s:7.1f}: {p:6,.0f}" for s, p in cells), flush=True)

    for run in RUNS:
        line(
            f"{run[0]}, h = {run[1]}, n = {run[2]}",
            lambda steps, run=run: by_minibatches(train, test, topics, run, steps),
            STEPS[run[2]],
        )
    line(
        "scikit-learn, online",
        lambda passes: variational(train, completion, topics, passes),
        (5, 20, 80),
    )
    sweep = sweeper()
    if sweep is None:
        print("collapsed Gibbs: numba is not installed")
        return
    collapsed(sweep, train, completion, topics, 10)  # compiles it
    line(
        "collapsed Gibbs, all documents",
        lambda sweeps: collapsed(sweep, train, completion, topics, sweeps),
        SWEEPS,
    )


def edge(quick):
    """The second table."""
    print(
        "\nDirichlet(0.1 + counts), seven of ten counts zero: mean of those over the right one "
        "(seconds), all rows at each step"
    )
    right, none = ALPHA / (1 + COUNTS.sum()), COUNTS == 0
    for name, steps in EDGE.items():
        cells = []
        for h in steps[:1] if quick else steps:
            sampler, thin = (
                (name, 1) if name == "scir" else (sgmc.SGRLD(simplex=name), int(np.ceil(0.5 / h)))
            )
            begun = time.process_time()
            model = sgmc.LDA(COUNTS[None], 1, ALPHA, BETA, sweeps=1)
            try:
                results = model.fit(
                    sampler=sampler,
                    step_size=h,
                    batch_size=1,
                    draws=1000,
                    thin=thin,
                    seed=1,
                    threads=1,
                )
                found = f"{results.mean_of('topics')[0, none].mean() / right:8.3g}"
            except sgmc.errors.ArgumentError as error:
                # of steps that an exploding metric has made infinite
                found = "diverged" if "diverged" in str(error) else str(error)
            cells.append(f"h = {h:g}: {found} ({time.process_time() - begun:.1f} s)")
        print(f"{name:20}" + "   ".join(cells), flush=True)


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the shortest run of each alone")
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--only", choices=("ap", "edge"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", sgmc.SGMCWarning)
    if chosen.only != "edge":
        associated_press(chosen.topics, chosen.quick)
    if chosen.only != "ap":
        edge(chosen.quick)


if __name__ == "__main__":
    main()
