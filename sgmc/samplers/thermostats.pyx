"""Hamiltonian dynamics whose friction learns the gradient's noise: sgnht, msgnht and badodab."""
import math

import numpy as np

from libc.math cimport exp, expm1, fabs, sqrt

from sgmc.core.contract cimport OK, Gradient, Rng, State, normal_fill
from sgmc.samplers.bases.momentum cimport Momentum
from sgmc.samplers.bases.momentum import Underdamped, per
from sgmc.core.spec import Parameter
from sgmc.core.stationary import LinearLaw, composed, expanded, normal_nodes


cdef class ThermostatTransition(Momentum):
    """p <- p + e g - e z p + N(0, 2 e A), theta <- theta + e p, z <- z + e (p^2 - 1), z one a
    coordinate or their mean.
    """

    cdef double diffusion
    cdef bint shared
    cdef double[::1] z

    def __init__(self, Py_ssize_t dim, double step_size, double diffusion, bint shared):
        Momentum.__init__(self, dim, step_size)
        self.diffusion, self.shared, self.z = diffusion, shared, np.full(dim, diffusion)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double e = self.step_size, noise = sqrt(2 * self.step_size * self.diffusion)
        g.estimate(s.x, rng, &self.g[0], NULL)
        normal_fill(rng, s.dim, &self.xi[0])
        for j in range(s.dim):
            self.p[j] += e * (self.g[j] - self.z[j] * self.p[j]) + noise * self.xi[j]
            s.x[j] += e * self.p[j]
        self.heat(e)
        return OK

    cdef void heat(self, double e) noexcept nogil:
        """z <- z + e (p^2 - 1)"""
        cdef Py_ssize_t j
        cdef double mean = 0
        if self.shared:
            for j in range(self.dim):
                mean += self.p[j] * self.p[j] / self.dim
        for j in range(self.dim):
            self.z[j] += e * ((mean if self.shared else self.p[j] * self.p[j]) - 1)

    def state(self):
        """Momentum and thermostat."""
        return {**Momentum.state(self), "z": np.array(self.z)}

    def set_state(self, state):
        """Continue from a `state()`."""
        Momentum.set_state(self, state)
        np.asarray(self.z)[:] = state["z"]


cdef class BADODABTransition(ThermostatTransition):
    """Kick, half a drift, half of z, Ornstein-Uhlenbeck with friction z, half of z, half a
    drift.
    """

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double e = self.step_size, z, keep, variance
        g.estimate(s.x, rng, &self.g[0], NULL)
        normal_fill(rng, s.dim, &self.xi[0])
        for j in range(s.dim):
            self.p[j] += e * self.g[j]
            s.x[j] += 0.5 * e * self.p[j]
        self.heat(0.5 * e)
        for j in range(s.dim):  # dp = -z p dt + sqrt(2 A) dW, solved over e
            z = self.z[j]
            keep = exp(-z * e)
            variance = -expm1(-2 * z * e) / z if fabs(z * e) > 1e-12 else 2 * e
            self.p[j] = keep * self.p[j] + sqrt(self.diffusion * variance) * self.xi[j]
        self.heat(0.5 * e)
        for j in range(s.dim):
            s.x[j] += 0.5 * e * self.p[j]
        return OK


DEGREES = (7, 6, 5, 4)  # of the expansion of the stationary law, in three variables


class Thermostat(Underdamped):
    """Base of the thermostats; the step is that of the leapfrog, e."""

    parameters = (Parameter("diffusion", 1.0, "A, noise injected per unit of time: N(0, 2 e A)",
                            0.0, 1e6), per("diffusion"))
    rate_name = "diffusion"
    largest_step = 0.5

    def friction(self, e, noise):
        """Mean of z, at which the momenta have variance one on a Gaussian: 2 e C^2 - (4 - e^2)
        C + 2 (2A + eV) = 0.
        """
        root = (4 - e * e) ** 2 - 16 * e * (2 * self.diffusion + e * noise)
        return (4 - e * e - math.sqrt(root)) / (4 * e) if root > 0 else math.inf

    @property
    def damping(self):
        # the gradient noise is on top
        return self.diffusion

    def law(self, h, noise):
        """The stationary law by an expansion in position, momentum and z, around momenta of
        variance one and z ~ N(A + e V / 2, 1).

        That is the law of small steps.  The longer the step, the lower the degree at which the
        expansion still holds; from e of about 0.3 on it may not (its variance is then NaN).
        """
        e = self.from_langevin(h)

        def moves(states):
            for weight, after in self.moves(e, noise, *states.T):
                yield weight, np.stack(after, axis=-1), 1.0

        centre = [0.0, 0.0, self.diffusion + e * noise / 2]
        return expanded(moves, centre, [1.0, 1.0, 1.0], DEGREES)


class MSGNHT(Thermostat):
    """Multivariate stochastic gradient Nose-Hoover thermostat (Ding et al. 2014; Li et al. 2016):
    one friction a coordinate.

    p <- p + e g - e z p + N(0, 2 e A), theta <- theta + e p, z_j <- z_j + e (p_j^2 - 1): z settles
    at A + e V_j / 2, which takes the gradient noise out without knowing it.
    """

    name = "msgnht"

    def build(self, dim, step):
        return ThermostatTransition(dim, step, self.diffusion, False)

    def inflation(self, h, noise):
        """-e C / 2 with C the mean friction: momenta of variance one leave positions too narrow."""
        e = self.from_langevin(h)
        C = self.friction(e, noise)
        return -0.5 * e * C if C < math.inf else math.inf

    def moves(self, e, noise, x, p, z):
        """Where a step leads, (weight, (x, p, z)): nodes of its noise."""
        sd = math.sqrt(2 * e * self.diffusion + e * e * noise)
        for u, weight in zip(*normal_nodes(8)):
            after = p - e * (x + z * p) + sd * u
            yield weight, (x + e * after, after, z + e * (after * after - 1))


class SGNHT(MSGNHT):
    """Stochastic gradient Nose-Hoover thermostat (Ding et al. 2014, Algorithm 2; review, table 1):
    one friction for all coordinates.

    p <- p + e g - e z p + N(0, 2 e A), theta <- theta + e p, z <- z + e (|p|^2 / d - 1): right
    where the gradient noise is alike in all coordinates.  With ``per="step"`` the diffusion is a =
    e A; the software of Coullon, South & Nemeth (2023) has 0.01.
    """

    name = "sgnht"

    def build(self, dim, step):
        return ThermostatTransition(dim, step, self.diffusion, True)

    def law(self, h, noise):
        # of many coordinates, whose z is constant, C of `friction`; exact then, and off by about 1
        # / d in d of them
        e = self.from_langevin(h)
        C = min(self.friction(e, noise), 1e6)
        kick = np.diag([0, 2 * e * self.diffusion + e * e * noise])
        pushed = np.array([[1, 0], [-e, 1 - e * C]]), kick
        return LinearLaw(*composed([pushed, (np.array([[1, e], [0, 1]]), np.zeros((2, 2)))]))


class BADODAB(Thermostat):
    """The thermostat of `msgnht` by the symmetric BADODAB splitting (Leimkuhler & Shang 2016).

    p <- p + e g; theta <- theta + e/2 p; z_j <- z_j + e/2 (p_j^2 - 1); p <- exp(-z e) p + N(0, A
    (1 - exp(-2 z e)) / z); z_j <- z_j + e/2 (p_j^2 - 1); theta <- theta + e/2 p.  Errors are of
    second order in e.
    """

    name = "badodab"

    def build(self, dim, step):
        return BADODABTransition(dim, step, self.diffusion, False)

    def inflation(self, h, noise):
        """About -e^2 (1 + V) / 15, measured on a Gaussian: in the mean the splitting is exact to
        e^3 V, but z fluctuates.
        """
        e = self.from_langevin(h)
        return -e * e * (1 + noise) / 15

    def moves(self, e, noise, x, p, z):
        """Where a step leads, (weight, (x, p, z)): nodes of the gradient's noise, and of its
        own.
        """
        own, weights = normal_nodes(8)
        for v, kicked in zip(*(normal_nodes(8) if noise else normal_nodes(1))):
            q = p + e * (math.sqrt(noise) * v - x)
            y, w = x + 0.5 * e * q, z + 0.5 * e * (q * q - 1)
            small = np.abs(w * e) < 1e-8
            safe = np.where(small, 1.0, w)
            variance = np.where(small, 2 * e, -np.expm1(-2 * safe * e) / safe)
            for u, weight in zip(own, weights):
                after = np.exp(-w * e) * q + np.sqrt(self.diffusion * variance) * u
                yield kicked * weight, (y + 0.5 * e * after, after,
                                        w + 0.5 * e * (after * after - 1))
