"""What a regression family is to the rest of the package; a family leaf defines one of these beside its compiled kernel."""
import numpy as np

from sgmc.errors import DataError


class Family:
    """Base of regression families.

    Attributes
    ----------
    name : str
        As in the verb ``sgmc.logit``.
    title : str
        As printed in summaries.
    outcome : {"binary", "numeric"}
        How the formula codes the response.
    kernel : type
        The compiled model, called with (design, y, offset, weight); its density may lack what does not depend on coefficients.
    counts : bool
        Whether outcomes are counts, for which an exposure has a meaning.
    walled : bool
        Whether columns with few contrary outcomes get quantile coordinates, which are made for logistic tails.
    """

    name = None
    title = None
    outcome = "numeric"
    kernel = None
    counts = False
    walled = False

    @staticmethod
    def mean(eta):
        """E[y | x] from linear predictors, elementwise."""
        raise NotImplementedError

    @staticmethod
    def check(y, label):
        """Raise DataError where the outcomes do not suit the family; `label` names the response."""

    @staticmethod
    def log_density(y, eta):
        """log p(y | eta), complete, elementwise."""
        raise NotImplementedError


class Binary(Family):
    """Base of families of outcomes 0 and 1."""

    outcome = "binary"

    @staticmethod
    def check(y, label):
        """Outcomes are 0 or 1, and both occur."""
        if not np.isin(y, (0.0, 1.0)).all():
            raise DataError(f"the outcome {label!r} must be 0 or 1 (or bool, or two levels); recode it first")
        if y.min() == y.max():
            raise DataError(f"the outcome {label!r} is {y[0]:g} in every row used: there is nothing to explain")
