"""Lengths that compiled code takes from what a file holds."""

import numpy as np
import pytest
from scipy import sparse

from sgmc.errors import ArgumentError
from sgmc.models.factorization.bpmf import NormalGamma
from sgmc.models.factorization.hierarchy import Everyone
from sgmc.models.lda.folding import Completion, Folding
from sgmc.models.mixed.loading import Loading

# two users, one item and two factors: U, V, then mu and lambda of each
PRIOR = NormalGamma(14, [(0, 2, 2, 6, 10, 1), (4, 1, 2, 8, 12, 1)], (0.0, 1.0, 1.0, 1.0))


def test_draws_and_ranks_of_a_factorisation():
    everyone = Everyone(PRIOR, (2, 1, 2), False, (1, 0))
    U, V, *_ = everyone.of(np.arange(1.0, 15.0), 0)
    assert U[:2].tolist() == [[1, 2], [3, 4]] and V.tolist() == [[5, 6]] and len(U) == 3
    with pytest.raises(ArgumentError, match="a draw of 13 numbers, not 14"):
        everyone.of(np.zeros(13), 0)
    for sizes, biases in (((2, 1, 3), False), ((9, 9, 2), False), ((-1, 1, 2), False)):
        with pytest.raises(ArgumentError, match=r"factors of rank \[2, 2\] are not those of"):
            Everyone(PRIOR, sizes, biases, (0, 0))


def test_words_of_topics_and_documents():
    counts, fewer = sparse.csr_array(np.eye(3)), sparse.csr_array(np.eye(3)[:2])
    assert Folding(counts, 0.1).proportions(np.full((2, 3), 1 / 3)).shape == (3, 2)
    for topics in (np.ones((2, 2)), np.ones((2, 4)), np.ones(3)):
        with pytest.raises(ArgumentError, match="are not of 3 words"):
            Folding(counts, 0.1).proportions(topics)
        with pytest.raises(ArgumentError, match="are not of 3 words"):
            Completion(counts, counts, 0.1).probabilities(topics)
    with pytest.raises(ArgumentError, match="documents of shapes"):
        Completion(counts, fewer, 0.1)


def test_coordinates_of_a_loading():
    loading = Loading([(2, True)])
    assert loading.derivatives(np.ones(3), np.ones(3))[0].shape == (3, 3)
    for points, weights in ((2, 3), (3, 2), (4, 3)):
        with pytest.raises(ValueError, match="coordinates and"):
            loading.derivatives(np.ones(points), np.ones(weights))
