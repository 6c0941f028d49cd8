"""Groups whose rows tell their effects by a normal law: densities without another pass over rows.

With the anchor's expansion h'b - b'K b / 2, where h moves by -M (beta - beta_0), and
A = I + Lambda'K Lambda, effects of covariance Lambda Lambda' have the integral

    h'Lambda A^-1 Lambda'h / 2 - log det A / 2

(Pinheiro & Bates 1995, section 2.4; doi:10.1080/10618600.1995.10474663).
"""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.core.expansion import expand

LAW_STEP = 0.01  # sds, of differences of integrals: what they leave out is a part in 1e4


def log_integrals(loading, K: Floats, h: Floats, M: Floats, moved: Floats, phi: Floats) -> Floats:
    """Return log integrals over effects, summed over groups.

    Parameters
    ----------
    loading : Loading
    K, h, M : array (groups, q, q), (groups, q), (groups, q, p)
    moved : array (n, p)
        Coefficients' distances from the anchor.
    phi : array (n, size)
    """
    q, root = loading.q, loading.root(phi)
    pull = [h[:, a] - moved @ M[:, a].T for a in range(q)]
    flat = K.reshape(-1, q * q).T
    score = [sum(root[:, a, i, None] * pull[a] for a in range(i, q)) for i in range(q)]
    A = {}
    for i in range(q):
        for j in range(i + 1):
            pairs = root[:, :, i, None] * root[:, None, :, j]
            A[i, j] = pairs.reshape(-1, q * q) @ flat + (i == j)
    out = np.zeros(len(phi))
    for j in range(q):  # elimination, of all groups and points at once
        out += 0.5 * (score[j] ** 2 / A[j, j] - np.log(A[j, j])).sum(axis=1)
        for i in range(j + 1, q):
            share = A[i, j] / A[j, j]
            score[i] = score[i] - share * score[j]
            for k in range(j + 1, i + 1):
                A[i, k] = A[i, k] - share * A[k, j]
    return out


@dataclass(frozen=True)
class SeveralEffects:
    """Log densities of groups of several effects as functions of the coordinate of one sd, by
    differences of their integrals.

    Attributes
    ----------
    loading : Loading
    K, h, M : array
        See `log_integrals`.
    anchor : array (dim,)
    j : int
        Place of the sd's coordinate.
    steps : array (k,)
        Of all other parameters.
    value : float
    slope : array (k,)
    precision : array (k, k)
        Of these, at the anchor, without the integrals.
    """

    loading: object
    K: Floats
    h: Floats
    M: Floats
    anchor: Floats
    j: int
    steps: Floats
    value: float
    slope: Floats
    precision: Floats

    @classmethod
    def of(cls, kernel, theta: Floats, j: int) -> "SeveralEffects":
        """Expand around theta (dim,), whose j-th number is the coordinate of an sd."""
        anchored, q = kernel.anchored(theta), kernel.q
        value, gradient, J = expand(anchored, theta)
        rest = np.delete(np.arange(len(theta)), j)
        gradient, J = gradient[rest], J[np.ix_(rest, rest)]
        K, h = np.reshape(anchored.K, (-1, q, q)), np.asarray(anchored.h)
        M, steps = np.reshape(anchored.M, (-1, q, kernel.p)), LAW_STEP / np.sqrt(np.diag(J))
        none = np.zeros(len(rest)), np.zeros((len(rest), len(rest)))
        found = cls(kernel.loading, K, h, M, theta, j, steps, 0.0, *none)
        own, slope, precision = found.at(theta[j])
        return replace(found, value=value - own, slope=gradient - slope, precision=J - precision)

    def at(self, phi: float) -> tuple[float, Floats, Floats]:
        """See `NormalGroups`."""
        k, p, size = len(self.steps), self.M.shape[2], self.loading.size
        moves = np.insert(np.diag(self.steps), self.j, 0.0, axis=1)
        i, m = np.triu_indices(k, 1)
        both = moves[i] + moves[m]
        away = np.concatenate([np.zeros((1, len(self.anchor))), moves, -moves, both, -both])
        points = self.anchor + away
        points[:, self.j] = phi
        f = log_integrals(
            self.loading, self.K, self.h, self.M, away[:, :p], points[:, p : p + size]
        )
        after, before = f[1 : 1 + k], f[1 + k : 1 + 2 * k]
        slope = (after - before) / (2 * self.steps)
        bend = after + before - 2 * f[0]
        curvature = np.diag(bend)
        pairs = f[1 + 2 * k :].reshape(2, -1).sum(axis=0) - 2 * f[0]
        curvature[i, m] = curvature[m, i] = 0.5 * (pairs - bend[i] - bend[m])
        curvature /= np.outer(self.steps, self.steps)
        return self.value + f[0], self.slope + slope, self.precision - curvature


@dataclass(frozen=True)
class NormalGroups:
    """Log densities of groups of one effect, expanded to second order by coefficients and effect.

    Effects of sd s have the integral s^2 h^2 / (2 (1 + K s^2)) - log(1 + K s^2) / 2.  What other
    rows tell of the coefficients is taken from the expansion of the integrated density at the
    anchor, with which this one agrees there.

    Attributes
    ----------
    loading : Loading
    K, h : array (n,)
    M : array (n, k)
        Of all parameters but the effect's; 0 of auxiliary ones.
    value : float
    slope : array (k,)
    precision : array (k, k)
        Of these, at the anchor, without the integrals.
    """

    loading: object
    K: Floats
    h: Floats
    M: Floats
    value: float
    slope: Floats
    precision: Floats

    @classmethod
    def of(cls, kernel, theta: Floats, j: int) -> "NormalGroups":
        """Expand around theta (dim,), whose j-th number is the coordinate of the sd.

        Parameters
        ----------
        kernel : Quadrature
            Of one effect.
        """
        anchored = kernel.anchored(theta)
        rest = np.delete(np.arange(len(theta)), j)
        value, gradient, J = expand(anchored, theta)
        M = np.zeros((kernel.n, len(rest)))
        M[:, : kernel.p] = anchored.M
        K, h = np.asarray(anchored.K)[:, 0], np.asarray(anchored.h)[:, 0]
        none = cls(kernel.loading, K, h, M, 0.0, np.zeros(len(rest)), np.zeros((len(rest),) * 2))
        own, slope, precision = none.at(theta[j])
        left = J[np.ix_(rest, rest)] - precision
        return cls(kernel.loading, K, h, M, value - own, gradient[rest] - slope, left)

    def at(self, phi: float) -> tuple[float, Floats, Floats]:
        """Return the log density at the anchor's other parameters with phi in the place of its
        sd's coordinate, its gradient (k,) and minus its Hessian (k, k) by these.
        """
        variance = float(self.loading.root(np.array([phi]))[0, 0]) ** 2
        pooled = variance / (1 + self.K * variance)
        value = 0.5 * (pooled @ self.h**2 - np.log1p(self.K * variance).sum())
        slope = -(pooled * self.h) @ self.M
        curvature = -(self.M.T * pooled) @ self.M
        return self.value + value, self.slope + slope, self.precision + curvature
