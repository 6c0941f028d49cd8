"""Standard deviations of a term's columns that differ from one another in a way that is learned:
sd_k = sd f_k, the f_k being functions of one more parameter.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np


class SpectralParameter(ABC):
    """A parameter that f_k depend on.

    Attributes
    ----------
    name : str
        What it is printed as, before the term.
    form : str
        Of the f_k, a key of `models.regression.latent.densities.spectrum.FORMS`.
    numbers : array (columns,)
        What f_k of a column depends on, too.
    """

    name: ClassVar[str]
    form: ClassVar[str]
    numbers: np.ndarray

    @abstractmethod
    def of_columns(self, places: np.ndarray) -> Self:
        """The same of other columns, by their numbers among these."""


@dataclass(frozen=True)
class LengthScale(SpectralParameter):
    """The length scale l of a Gaussian process with covariances exp(-d^2 / (2 l^2)): f_k = sqrt(l)
    exp(-l^2 w_k^2 / 4), the root of its spectral density at the frequency w_k but for a factor that
    columns have in them.

    Attributes
    ----------
    numbers : array (columns,)
        w_k^2, in units of the covariate.
    ends : (float, float)
        Between which 98 % of the default prior are.
    shortest : float
        What the waves resolve.
    waves : int
        Of the covariate; those of two are multiplied.
    """

    numbers: np.ndarray
    ends: tuple[float, float]
    shortest: float
    waves: int
    name, form = "scale", "waves"

    def of_columns(self, places: np.ndarray) -> Self:
        """See `SpectralParameter`."""
        return replace(self, numbers=self.numbers[places])


@dataclass(frozen=True)
class StructuredShare(SpectralParameter):
    """The share rho of the variance that is of structured effects with variances v_k, the rest
    being of independent ones: f_k^2 = rho v_k + 1 - rho.

    Attributes
    ----------
    numbers : array (columns,)
        v_k.
    """

    numbers: np.ndarray
    name, form, low = "rho", "mixture", 0.0

    def of_columns(self, places: np.ndarray) -> Self:
        """See `SpectralParameter`."""
        return replace(self, numbers=self.numbers[places])


@dataclass(frozen=True)
class Autocorrelation(SpectralParameter):
    """The correlation rho of neighbouring times, of which there are m, see `terms.autoregression`:
    1 / f_k^2 is the precision of the cosine k's coefficient where the sd is one.

    Attributes
    ----------
    numbers : array (m,)
        k = 0, ..., m - 1.
    """

    numbers: np.ndarray
    name, form, low = "rho", "chain", -1.0

    def of_columns(self, places: np.ndarray) -> Self:
        """See `SpectralParameter`."""
        return replace(self, numbers=self.numbers[places])


def of_product(parameters: list[SpectralParameter]) -> list[SpectralParameter]:
    """Parameters of several bases for the products of their columns, those of the last fastest."""
    sizes = [len(one.numbers) for one in parameters]
    places = np.indices(sizes).reshape(len(sizes), -1)
    return [one.of_columns(at) for one, at in zip(parameters, places)]
