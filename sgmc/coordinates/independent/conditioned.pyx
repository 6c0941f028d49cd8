"""The map of posteriors that are normal given one parameter, such as the sd of a group's effects,
whose own distribution is not.
"""
import numpy as np
from scipy import linalg

from libc.math cimport fabs, log

from sgmc.core.contract cimport OK, Map

INVERSE_STEPS = 60  # halvings of a cell, in which the place of a number is looked for


cdef class Conditioned(Map):
    """theta_j = t(w) and theta_rest = m(w) + R(w) z, with w = x_j and z = x_rest.

    t, m and R are tabulated on a uniform grid; between its nodes they are cubic polynomials that
    have the values and slopes there.  Beyond the grid t goes on as a line, m and R stay.

    Parameters
    ----------
    place : int
        j.
    grid : array (nodes,)
        Nodes in w, evenly spaced.
    values : array (nodes, 1 + k + k * k)
        t, m, and R row by row, which is upper triangular with a positive diagonal.
    slopes : array (nodes, 1 + k + k * k)
        Their derivatives in w.
    """

    cdef readonly Py_ssize_t place, k, last
    cdef readonly double[::1] grid
    cdef readonly double[:, ::1] values, slopes
    cdef double first, step
    cdef Py_ssize_t[::1] rest

    def __init__(self, Py_ssize_t place, grid, values, slopes):
        self.grid = np.array(grid, dtype=float)
        self.values = np.array(values, dtype=float, order="C")
        self.slopes = np.array(slopes, dtype=float, order="C")
        self.k = int(np.sqrt(self.values.shape[1] - 0.75) - 0.5 + 1e-9)
        if self.values.shape[1] != 1 + self.k + self.k * self.k:
            raise ValueError(f"a table of {self.values.shape[1]} columns")
        self.place, self.last = place, len(grid) - 1
        self.dim = self.size = self.k + 1
        self.rest = np.delete(np.arange(self.dim), place).astype(np.intp)
        self.first, self.step = grid[0], (grid[self.last] - grid[0]) / self.last

    @property
    def centre(self):
        """theta at x = 0."""
        return self(np.zeros(self.dim))

    cdef Py_ssize_t cell(self, double w, double *weight, double *slope,
                         double *bend) noexcept nogil:
        """The node before w, and what values and slopes there and at the next one are multiplied
        by: for the polynomial, its derivative, and its second derivative.
        """
        cdef double place = (w - self.first) / self.step, a, b, h = self.step
        # a lost place fits no integer
        cdef Py_ssize_t i = <Py_ssize_t> min(place, <double> self.last - 1) if place > 0 else 0
        i = min(i, self.last - 1)
        a = place - i
        b = 1 - a
        weight[0], weight[1] = (1 + 2 * a) * b * b, h * a * b * b
        weight[2], weight[3] = a * a * (3 - 2 * a), -h * a * a * b
        slope[0], slope[1] = -6 * a * b / h, b * (1 - 3 * a)
        slope[2], slope[3] = 6 * a * b / h, a * (3 * a - 2)
        bend[0], bend[1] = (12 * a - 6) / (h * h), (6 * a - 4) / h
        bend[2], bend[3] = (6 - 12 * a) / (h * h), (6 * a - 2) / h
        return i

    cdef double at(self, Py_ssize_t i, Py_ssize_t c, const double *weight) noexcept nogil:
        """A polynomial of column c in the cell behind node i."""
        return (weight[0] * self.values[i, c] + weight[1] * self.slopes[i, c]
                + weight[2] * self.values[i + 1, c] + weight[3] * self.slopes[i + 1, c])

    cdef Py_ssize_t locate(self, double w, double *weight, double *slope, double *t, double *dt,
                           double *bend) noexcept nogil:
        """The cell of w with the weights of m and R, and t, t' and t''."""
        cdef double[4] bends
        cdef double end = min(max(w, self.first), self.first + self.last * self.step)
        cdef Py_ssize_t i = self.cell(end, weight, slope, bends), k
        t[0] = self.at(i, 0, weight)
        dt[0] = self.at(i, 0, slope)
        bend[0] = self.at(i, 0, bends)
        if w != end:
            t[0] += (w - end) * dt[0]
            bend[0] = 0
            for k in range(4):
                slope[k] = 0
        return i

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef double[4] weight, slope
        cdef double t, dt, bend, total, entry
        cdef Py_ssize_t a, b, k = self.k, i
        i = self.locate(x[self.place], weight, slope, &t, &dt, &bend)
        theta[self.place] = t
        if log_jacobian != NULL:
            log_jacobian[0] += log(fabs(dt))
        for a in range(k):
            total = self.at(i, 1 + a, weight)
            for b in range(a, k):
                entry = self.at(i, 1 + k + a * k + b, weight)
                total += entry * x[self.rest[b]]
                if b == a and log_jacobian != NULL:
                    log_jacobian[0] += log(entry)
            theta[self.rest[a]] = total
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef double[4] weight, slope
        cdef double t, dt, bend, total, turn = v[self.place]
        cdef Py_ssize_t a, b, c, k = self.k, i
        i = self.locate(x[self.place], weight, slope, &t, &dt, &bend)
        v_theta[self.place] = dt * turn
        for a in range(k):
            total = turn * self.at(i, 1 + a, slope)
            for b in range(a, k):
                c = 1 + k + a * k + b
                total += self.at(i, c, weight) * v[self.rest[b]]
                total += turn * self.at(i, c, slope) * x[self.rest[b]]
            v_theta[self.rest[a]] = total
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef double[4] weight, slope
        cdef double t, dt, bend, g, entry, change, turn
        cdef Py_ssize_t a, b, c, k = self.k, i
        i = self.locate(x[self.place], weight, slope, &t, &dt, &bend)
        turn = dt * grad_theta[self.place] + bend / dt
        for a in range(k):
            g = grad_theta[self.rest[a]]
            turn += g * self.at(i, 1 + a, slope)
            for b in range(a, k):
                c = 1 + k + a * k + b
                entry, change = self.at(i, c, weight), self.at(i, c, slope)
                grad_x[self.rest[b]] += entry * g
                turn += g * change * x[self.rest[b]]
                if b == a:
                    turn += change / entry
        grad_x[self.place] += turn
        return OK

    def __call__(self, x):
        """theta for points x (..., dim)."""
        points = np.ascontiguousarray(x, dtype=float)
        out = np.empty(points.shape)
        cdef const double[:, ::1] given = points.reshape(-1, self.dim)
        cdef double[:, ::1] theta = out.reshape(-1, self.dim)
        cdef Py_ssize_t i
        for i in range(given.shape[0]):
            self.forward(&given[i, 0], &theta[i, 0], NULL)
        return out

    def with_logs(self, x):
        """theta for points x (n, dim), and logs of the Jacobian's determinant there, (n,)."""
        cdef const double[:, ::1] given = np.ascontiguousarray(x, dtype=float)
        cdef double[:, ::1] theta = np.empty((given.shape[0], self.dim))
        cdef double[::1] logs = np.zeros(given.shape[0])
        cdef Py_ssize_t i
        for i in range(given.shape[0]):
            self.forward(&given[i, 0], &theta[i, 0], &logs[i])
        return np.asarray(theta), np.asarray(logs)

    def tables(self, double w):
        """t, m (k,) and R (k, k) at a point."""
        cdef double[4] weight, slope
        cdef double t, dt, bend
        cdef Py_ssize_t i = self.locate(w, weight, slope, &t, &dt, &bend), c
        found = np.array([self.at(i, c, weight) for c in range(self.values.shape[1])])
        return t, found[1 : 1 + self.k], found[1 + self.k :].reshape(self.k, self.k)

    def inverse(self, theta):
        """x for a point theta (size,)."""
        cdef double wanted = theta[self.place], low, high, middle
        ends = np.asarray(self.values)[[0, self.last], 0]
        slopes = np.asarray(self.slopes)[[0, self.last], 0]
        low, high = self.first, self.first + self.last * self.step
        if wanted <= ends[0]:
            low = low + (wanted - ends[0]) / slopes[0]
        elif wanted >= ends[1]:
            low = high + (wanted - ends[1]) / slopes[1]
        else:
            for _ in range(INVERSE_STEPS):
                middle = 0.5 * (low + high)
                if self.tables(middle)[0] < wanted:
                    low = middle
                else:
                    high = middle
        _, m, R = self.tables(low)
        x = np.empty(self.dim)
        x[self.place] = low
        x[np.asarray(self.rest)] = linalg.solve_triangular(R, theta[np.asarray(self.rest)] - m)
        return x

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (dim,)."""
        cdef double[::1] point = np.array(x, dtype=float), v = np.zeros(self.dim)
        cdef double[:, ::1] out = np.zeros((self.dim, self.dim))
        cdef Py_ssize_t k
        for k in range(self.dim):
            v[k] = 1
            self.jvp(&point[0], &v[0], &out[k, 0])
            v[k] = 0
        return np.asarray(out).T.copy()
