"""Groups whose rows tell their effect by a normal law: densities without another pass over rows."""

from dataclasses import dataclass

import numpy as np

from sgmc.arguments.types import Floats
from sgmc.core.expansion import expand


@dataclass(frozen=True)
class NormalGroups:
    """Log densities of groups of one effect, expanded to second order by coefficients and effect.

    With the anchor's expansion h b - K b^2 / 2, where h moves by -M (beta - beta_0), effects of
    sd s have the integral

        s^2 h^2 / (2 (1 + K s^2)) - log(1 + K s^2) / 2

    (Pinheiro & Bates 1995, section 2.4; doi:10.1080/10618600.1995.10474663).  What other rows tell
    of the coefficients is taken from the expansion of the integrated density at the anchor, with
    which this one agrees there.

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
