"""Samples of a table's rows in proportion to what they contribute, and totals by them."""

import math
from dataclasses import dataclass

import numpy as np

from sgmc.core.random.rng import seed_sequence
from sgmc.results.outcomes.data.large import room_for
from sgmc.results.outcomes.predicted.residuals import in_order

# antithetic pairs of draws that every row is evaluated at: two numbers of a row are then known
# to about sqrt(2 / 32), a quarter
REPEATS = 32
# of the sample, spread evenly over the rows: bounds what a row that was thought to matter little
# can count
EVEN_SHARE = 0.1


@dataclass(frozen=True)
class Expected:
    """Cheap approximations of what leaving out each row would give.

    Attributes
    ----------
    elpd, p : array (n,)
        Log predictive density without the row, and by how much it falls short of that with it.
    size : array (n,)
        In proportion to which the approximations may be off.
    """

    elpd: np.ndarray
    p: np.ndarray
    size: np.ndarray


@dataclass(frozen=True)
class Sample:
    """Some rows of a table.

    Attributes
    ----------
    rows : array (m,) of int
        In ascending order.
    probability : array (m,)
        With which each was to be among them.
    """

    rows: np.ndarray
    probability: np.ndarray


def expected(table):
    """Approximations for all rows, in the order of the output, by second-order expansion.

    With l the log density of a row, m the posterior mean and d a draw's distance from it, log
    E[exp(l)] and -log E[exp(-l)] are l(m) + E[d'l''d] / 2 +- Var(l'd) / 2 up to terms of third
    order.  l(m + d) + l(m - d) - 2 l(m) and l(m + d) - l(m - d) give both without derivatives, and
    without the first-order error of a mean over few draws.
    """
    centre, few = table.at_mean(), table.of_equal_weight(REPEATS)
    pairs = few.mirrored(centre)
    at_centre = centre.average(centre.log_density)
    bend, variance, size = (room_for(table.n) for _ in range(3))
    for at, eta in pairs.blocks():
        there, back = np.split(pairs.log_density(at, eta), 2, axis=1)
        where = pairs.place(at)
        even = (there + back) / 2 - at_centre[where, None]
        square = ((there - back) / 2) ** 2
        bend[where], variance[where] = even.mean(axis=1), square.mean(axis=1)
        size[where] = (np.abs(even) + square).mean(axis=1)
    frequency = 1.0 if table.frequency is None else in_order(table, table.frequency)
    return Expected(at_centre + bend - variance / 2, variance, frequency * size)


def drawn(size, count, seed):
    """A sample of `count` rows with probabilities in proportion to `size`, as `Sample`.

    Rows are passed in random order and taken at equal steps of the cumulated probability.  A row
    whose share is above one is certain to be taken.
    """
    n = len(size)
    if count >= n:
        return Sample(np.arange(n), np.ones(n))
    total = size.sum()
    share = np.full(n, 1 / n) if total == 0 else (1 - EVEN_SHARE) * size / total + EVEN_SHARE / n
    probability, certain = np.minimum(count * share, 1.0), -1
    while (probability == 1).sum() > certain:
        certain = int((probability == 1).sum())
        rest = probability < 1
        probability[rest] = np.minimum((count - certain) * share[rest] / share[rest].sum(), 1.0)
    rng = np.random.Generator(np.random.PCG64(seed_sequence(seed, "predict", 1)))
    order = rng.permutation(n)
    passed = np.cumsum(probability[order])
    at = np.searchsorted(passed * (count / passed[-1]), rng.random() + np.arange(count), "right")
    rows = np.sort(order[at])
    return Sample(rows, probability[rows])


def estimated(values, approximate, frequency, sample):
    """Sum over all rows from those of a sample, the error of that, and the standard error over data
    sets.

    The difference estimator (Magnusson, Vehtari, Jonasson & Andersen 2020, eq. 7), with
    probabilities p_i that differ: sum_i a_i + sum_S (v_i - a_i) / p_i, for an approximation a_i
    that is known for all rows.  Its variance is that of Hajek (1964): of the terms about their mean
    with weights 1 - p_i, times m / (m - 1).  Rows count `frequency` times.
    """
    here, w, chosen = approximate[sample.rows], frequency, frequency[sample.rows]
    each = chosen * (values - here) / sample.probability
    estimate = float(w @ approximate + each.sum())
    squares = w @ approximate**2 + np.sum(chosen * (values**2 - here**2) / sample.probability)
    sampling = variance_of_total(each, sample.probability)
    variance = max(squares - (estimate**2 - sampling) / w.sum(), 0.0)
    return estimate, math.sqrt(sampling), math.sqrt(variance)


def variance_of_total(each, probability):
    """Of the sum of terms that are already divided by their rows' probabilities."""
    unsure = 1 - probability
    m = int((unsure > 0).sum())
    if m < 2:
        return 0.0
    middle = unsure @ each / unsure.sum()
    return float(m / (m - 1) * (unsure @ (each - middle) ** 2))
