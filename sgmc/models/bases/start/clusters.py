"""Clusters of rows, for chains to start at."""

import numpy as np

MAX_LLOYD_STEPS = 50  # steps of it at most: chains only start there


def clusters(X, K, rng):
    """Centres and members of K clusters: k-means++ (Arthur & Vassilvitskii 2007), then Lloyd's
    algorithm, in units of the columns' sds.

    Parameters
    ----------
    X : array (n, D)
        Of fewer than K different rows some clusters are empty.
    K : int
    rng : numpy Generator

    Returns
    -------
    centres : array (K, D)
    members : array (n,) of int
    """
    scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    Z = X / scale
    centres = Z[[rng.integers(len(Z))]]
    while len(centres) < K:
        far = distances(Z, centres).min(axis=1) + np.finfo(float).tiny
        centres = np.vstack([centres, Z[rng.choice(len(Z), p=far / far.sum())]])
    for _ in range(MAX_LLOYD_STEPS):
        members = distances(Z, centres).argmin(axis=1)
        moved = np.array(
            [Z[members == k].mean(axis=0) if (members == k).any() else centres[k] for k in range(K)]
        )
        if (moved == centres).all():
            break
        centres = moved
    return centres * scale, members


def distances(Z, centres):
    """Squared distances of rows and centres, (n, K), centre by centre:
    memory does not grow with the columns.
    """
    return np.column_stack([((Z - centre) ** 2).sum(axis=1) for centre in centres])
