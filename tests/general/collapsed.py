"""The exact posterior of topics by collapsed Gibbs sampling, many chains side by side."""

import numpy as np


def topics(counts, K, alpha, beta, rng, sweeps, chains, unused):
    """Draws (sweep, chain, K, W) of topics given all assignments of tokens, each of which is drawn
    given the others (Griffiths & Steyvers 2004), from assignments at random.
    """
    document, word = np.nonzero(counts)
    tokens = counts[document, word]
    document, word = np.repeat(document, tokens), np.repeat(word, tokens)
    every, z = np.arange(chains), rng.integers(K, size=(len(word), chains))
    here, there = np.zeros((len(counts), chains, K)), np.zeros((counts.shape[1], chains, K))
    for t in range(len(word)):
        here[document[t], every, z[t]] += 1
        there[word[t], every, z[t]] += 1
    total, out = there.sum(axis=0), []
    for s in range(sweeps):
        for t, (d, w) in enumerate(zip(document, word)):
            for count in (here[d], there[w], total):
                count[every, z[t]] -= 1
            p = (here[d] + alpha) * (there[w] + beta) / (total + len(there) * beta)
            p = p.cumsum(axis=1)
            z[t] = (p < rng.random((chains, 1)) * p[:, -1:]).sum(axis=1)
            for count in (here[d], there[w], total):
                count[every, z[t]] += 1
        if s >= unused:
            gammas = rng.gamma(beta + there.transpose(1, 2, 0))
            out.append(gammas / gammas.sum(axis=2, keepdims=True))
    return np.array(out)


def ordered(draws, word):
    """Topics (..., K, W) by the probability of a word, largest first: labels mean nothing."""
    order = np.argsort(-draws[..., word], axis=-1)
    return np.take_along_axis(draws, order[..., None], axis=-2)
