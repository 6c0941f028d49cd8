"""Regressions with a scale or dispersion that is known:
the whole model's coefficients, its own parameters held.
"""
import math
import numbers

import numpy as np

from sgmc.core.contract cimport OK
from sgmc.errors import ArgumentError
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.glm cimport Glm

cdef enum:
    CHUNK = 64                    # rows at a time
    WIDEST = 4                    # scores of a row of the whole model


cdef class Known(Glm):
    """y_i ~ family(eta_i, own parameters), theta = beta alone.

    Parameters
    ----------
    whole : Dispersed
        The model with its own parameters.
    own : array (k,)
        Their values.
    """

    def __init__(self, Dispersed whole, own):
        Glm.__init__(self, whole.X, whole.y, whole.offset if whole.offset.shape[0] else None,
                     whole.weight if whole.weight.shape[0] else None)
        if whole.width > WIDEST:
            raise ValueError(f"at most {WIDEST - 1} own parameters")
        self.whole, self.theta = whole, np.append(np.zeros(whole.X.d), np.log(own))

    def units(self, theta):
        """See `Model.units`."""
        return self.whole.units(np.asarray(self.theta))[:1]

    def row_bounds(self):
        """See `Model.row_bounds`."""
        return self.weighed(self.whole.bounds_of_known(np.exp(np.asarray(self.theta)[self.X.d:])))

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, count, k = 0, width = self.whole.width
        cdef double both[CHUNK * WIDEST]
        while k < m:
            count = min(CHUNK, m - k)
            self.whole.family(&self.theta[0], count, eta + k, y + k, both, density + k if density
                              != NULL else NULL)
            for i in range(count):
                r[k + i] = both[i * width]
            k += count
        return OK

    cdef int bend(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                  double *w) except -1 nogil:
        return self.first(False, m, eta, y, w)

    cdef int inform(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *w) except -1 nogil:
        return self.first(True, m, eta, y, w)

    cdef int first(self, bint expected, Py_ssize_t m, const double *eta, const double *y,
                   double *w) except -1 nogil:
        """The predictor's curvatures among those of the whole model."""
        cdef Py_ssize_t i, count, k = 0, size = self.whole.width * self.whole.width
        cdef double all_of_them[CHUNK * WIDEST * WIDEST]
        while k < m:
            count = min(CHUNK, m - k)
            if expected:
                self.whole.inform(&self.theta[0], count, eta + k, y + k, all_of_them)
            else:
                self.whole.bend(&self.theta[0], count, eta + k, y + k, all_of_them)
            for i in range(count):
                w[k + i] = all_of_them[i * size]
            k += count
        return OK


def with_known(family, values):
    """The family itself where no value is given,
    or one that holds its own parameters at those given.

    Parameters
    ----------
    family : Family
    values : dict
        Own parameter's name -> positive number, or None where it is to be learned.

    Raises
    ------
    ArgumentError
        For values that are none, or some without the others.
    """
    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        return family
    for name, value in given.items():
        if (isinstance(value, bool) or not isinstance(value, numbers.Real)
            or not 0 < value < math.inf):
            raise ArgumentError(f"{name}={value!r} must be a positive number, or None to learn it")
    learned = [own.name for own in family.own if own.name not in given]
    if learned:
        raise ArgumentError(f"{', '.join(given)} is given, and {', '.join(learned)} to be learned: "
                            "give both, or leave both to be learned")
    return KnownFamily(family, tuple(float(given[own.name]) for own in family.own))


class KnownFamily:
    """What `Family` has, for own parameters that are known: there are none to sample.

    Parameters
    ----------
    whole : Family
    values : tuple of float
        Of its own parameters.
    """

    own = ()

    def __init__(self, whole, values):
        self.whole, self.values = whole, values
        self.known = {own.name: value for own, value in zip(whole.own, values)}

    def __getattr__(self, name):
        # as pickle asks before there is anything
        if name.startswith("__") or "whole" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.whole, name)

    @property
    def extra(self):
        """The values as draws of own parameters are given, (parameter, draw)."""
        return np.array(self.values)[:, None]

    def unbounded(self):
        """See `Family.unbounded`."""
        return "" if self.whole.bounded_if_known else ("its curvature grows without limit in the "
                                                       "linear predictor")

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        return Known(self.whole.kernel(X, y, offset, weight), self.values)

    def start(self, mean, variance):
        """See `Family.start`."""
        return self.whole.start(mean, variance)[0], []

    def variance(self, eta, extra=None):
        """See `Family.variance`."""
        return self.whole.variance(eta, self.extra)

    def simulate(self, eta, rng, extra=None):
        """See `Family.simulate`."""
        return self.whole.simulate(eta, rng, self.extra)

    def log_density(self, y, eta, extra=None):
        """See `Family.log_density`."""
        return self.whole.log_density(y, eta, self.extra)

    def deviance(self, y, mean, extra=None):
        """See `Family.deviance`."""
        return self.whole.deviance(y, mean, self.extra)

    def of_trials(self, trials):
        """See `Family.of_trials`."""
        return self
