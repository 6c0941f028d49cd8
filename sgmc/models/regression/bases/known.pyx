"""Regressions with a scale or dispersion that is known:
the whole model's coefficients, its auxiliary parameters held.
"""
import numpy as np

from sgmc.arguments.numbers import positive
from sgmc.core.contract cimport OK
from sgmc.errors import ArgumentError
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.glm cimport Glm

cdef enum:
    KNOWN_TILE = 64                    # rows at a time
    MAX_SCORES = 4                    # scores of a row of the whole model


cdef class Known(Glm):
    """y_i ~ family(eta_i, auxiliary parameters), theta = beta alone.

    Parameters
    ----------
    whole : Dispersed
        The model with its auxiliary parameters.
    auxiliary : array (k,)
        Their values.
    """

    def __init__(self, Dispersed whole, auxiliary):
        Glm.__init__(self, whole.X, whole.y, whole.offset if whole.offset.shape[0] else None,
                     whole.weight if whole.weight.shape[0] else None)
        if whole.width > MAX_SCORES:
            raise ValueError(f"at most {MAX_SCORES - 1} auxiliary parameters")
        self.whole, self.theta = whole, np.append(np.zeros(whole.X.d), np.log(auxiliary))

    def units(self, theta):
        return self.whole.units(np.asarray(self.theta))[:1]

    def row_bounds(self):
        return self.weighed(self.whole.bounds_of_known(np.exp(np.asarray(self.theta)[self.X.d:])))

    def remainder_bounds(self, order, eta):
        known = np.exp(np.asarray(self.theta)[self.X.d:])
        if order == 1:
            return self.row_bounds()[1]
        return self.weighed((self.whole.third_of_known(known),))[0]

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, count, k = 0, width = self.whole.width
        cdef double both[KNOWN_TILE * MAX_SCORES]
        while k < m:
            count = min(KNOWN_TILE, m - k)
            self.whole.family(&self.theta[0], count, eta + k, y + k, both, density + k if density
                              != NULL else NULL)
            for i in range(count):
                r[k + i] = both[i * width]
            k += count
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        return self.first(False, m, eta, y, w)

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        return self.first(True, m, eta, y, w)

    cdef int first(self, bint expected, Py_ssize_t m, const double *eta, const double *y,
                   double *w) except -1 nogil:
        """The predictor's curvatures among those of the whole model."""
        cdef Py_ssize_t i, count, k = 0, size = self.whole.width * self.whole.width
        cdef double all_of_them[KNOWN_TILE * MAX_SCORES * MAX_SCORES]
        while k < m:
            count = min(KNOWN_TILE, m - k)
            if expected:
                self.whole.expected_information(&self.theta[0], count, eta + k, y + k, all_of_them)
            else:
                self.whole.observed_information(&self.theta[0], count, eta + k, y + k, all_of_them)
            for i in range(count):
                w[k + i] = all_of_them[i * size]
            k += count
        return OK


def known_value(name, value):
    """Return an auxiliary parameter that is known, or None;
    ArgumentError for what is not positive.
    """
    if isinstance(value, str) and "~" in value:
        raise ArgumentError(f"{name}={value!r} must be a positive number here: a formula with "
                            "predictors of it, such as '~ z', belongs to from_formula()")
    return positive(name, value, none=True, advice="give None to learn it")


def with_known(family, values):
    """The family itself where no value is given,
    or one that holds its auxiliary parameters at those given.

    Parameters
    ----------
    family : Family
    values : dict
        Auxiliary parameter's name -> positive number, or None where it is to be learned.

    Raises
    ------
    ArgumentError
        For values that are none, or some without the others.
    """
    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        return family
    given = {name: known_value(name, value) for name, value in given.items()}
    learned = [one.name for one in family.auxiliary if one.name not in given]
    if learned:
        raise ArgumentError(f"{', '.join(given)} is given, and {', '.join(learned)} to be learned: "
                            "give both, or leave both to be learned")
    return KnownFamily(family, tuple(given[one.name] for one in family.auxiliary))


class KnownFamily:
    """What `Family` has, for auxiliary parameters that are known: there are none to sample.

    Parameters
    ----------
    whole : Family
    values : tuple of float
        Of its auxiliary parameters.
    """

    auxiliary = ()

    def __init__(self, whole, values):
        self.whole, self.values = whole, values
        self.known = {one.name: value for one, value in zip(whole.auxiliary, values)}

    def __getattr__(self, name):
        # as pickle asks before there is anything
        if name.startswith("__") or "whole" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.whole, name)

    @property
    def extra(self):
        """The values as draws of auxiliary parameters are given, (parameter, draw)."""
        return np.array(self.values)[:, None]

    @property
    def expands(self):
        """Whether third derivatives have a bound, as where curvatures have one."""
        return self.whole.bounded_if_known

    def unbounded(self):
        """Why curvatures have no bound, empty where they have one."""
        return "" if self.whole.bounded_if_known else ("its curvature grows without limit in the "
                                                       "linear predictor")

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model."""
        return Known(self.whole.kernel(X, y, offset, weight), self.values)

    def start(self, mean, variance):
        """A start at outcomes of this mean and variance, without auxiliary parameters."""
        return self.whole.start(mean, variance)[0], []

    def of_ends(self):
        """The family of censored and truncated outcomes, at the known parameters."""
        return KnownFamily(self.whole.of_ends(), self.values)

    def centre(self, eta, extra=None):
        """`Family.centre` at the known parameters."""
        return self.whole.centre(eta, self.extra)

    def variance(self, eta, extra=None):
        """`Family.variance` at the known parameters."""
        return self.whole.variance(eta, self.extra)

    def simulate(self, eta, rng, extra=None):
        """`Family.simulate` at the known parameters."""
        return self.whole.simulate(eta, rng, self.extra)

    def log_density(self, y, eta, extra=None):
        """`Family.log_density` at the known parameters."""
        return self.whole.log_density(y, eta, self.extra)

    def deviance(self, y, mean, extra=None):
        """`Family.deviance` at the known parameters."""
        return self.whole.deviance(y, mean, self.extra)

    def of_trials(self, trials):
        """The family itself: outcomes have no trials."""
        return self
