"""Where chains begin: nodes in blocks, by the eigenvectors of the network (von Luxburg 2007)."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from sgmc.models.bases.start.clusters import clusters

MOST_DENSE = 500  # nodes up to which eigenvectors are those of a dense matrix
TRIES = 3  # clusterings from starts at random
SURE = 0.8  # membership of a node in its block


def adjacency(pairs, n):
    """The adjacency matrix of links, a CSR array."""
    A = sparse.coo_array((np.ones(len(pairs.first)), (pairs.first, pairs.second)), shape=(n, n))
    return (A + A.T).tocsr()


def leading(A, k):
    """The k largest eigenvalues of a symmetric matrix, the largest last, and their vectors."""
    n = A.shape[0]
    if n <= max(MOST_DENSE, k + 1):
        values, vectors = np.linalg.eigh(A.toarray())
        return values[-k:], vectors[:, -k:]
    return eigsh(A, k, which="LA", v0=np.ones(n))


def embedding(A, K):
    """Nodes as points (n, K): rows of length one of the leading eigenvectors of D^-1/2 A D^-1/2,
    with the mean degree added to each degree (Amini, Chen, Bickel & Levina 2013; Qin & Rohe 2013).
    """
    degree = A.sum(axis=0)
    root = sparse.diags_array(1 / np.sqrt(degree + max(degree.mean(), 1e-3)))
    X = leading((root @ A @ root).tocsr(), K)[1]
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


def blocks(X, K, rng):
    """The block of each node (n,), the largest one first: the best of some clusterings."""
    tried = [clusters(X, K, rng) for _ in range(TRIES)]
    within = [((X - centres[members]) ** 2).sum() for centres, members in tried]
    members = tried[int(np.argmin(within))][1]
    order = np.argsort(-np.bincount(members, minlength=K), kind="stable")
    return np.argsort(order)[members]


def memberships(members, K, rng):
    """Memberships (n, K) around blocks: for the most part that in the block, the others at
    random.
    """
    return SURE * np.eye(K)[members] + (1 - SURE) * rng.dirichlet(np.ones(K), len(members))


def strengths(A, members, K, eta):
    """Means of beta given the blocks, (K,)."""
    inside = sparse.csr_array(np.eye(K)[members])
    links = 0.5 * (inside.T @ A @ inside).diagonal()
    size = np.bincount(members, minlength=K).astype(float)
    return (eta[0] + links) / (sum(eta) + 0.5 * size * (size - 1))
