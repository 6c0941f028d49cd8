"""What a regression family is to the rest of the package; a family leaf defines one of these beside its compiled kernel."""


class Family:
    """Base of regression families.

    All functions are of blocks: `eta` has a row for each row of the data and a column for each draw, outcomes `y` are (row, 1),
    and `extra` has the draws of the family's own parameters (a scale, a dispersion), (parameter, draw), or is None where there
    are none.  In the draws of a result these parameters follow the coefficients.

    Attributes
    ----------
    name : str
        As in the verb ``sgmc.logit``.
    title : str
        As printed in summaries.
    outcome : {"binary", "numeric"}
        How the formula codes the response.
    kernel : type
        The compiled model, called with (design, y, offset, weight).
    graded : bool
        Whether an interval of single outcomes says something, as it does not of 0 and 1.
    """

    name = None
    title = None
    outcome = "numeric"
    kernel = None
    graded = True

    @staticmethod
    def mean(eta):
        """E[y | x] from linear predictors, elementwise."""
        raise NotImplementedError

    @staticmethod
    def variance(eta, extra=None):
        """Var[y | x] from linear predictors, elementwise."""
        raise NotImplementedError

    @staticmethod
    def simulate(eta, rng, extra=None):
        """Outcomes drawn by a numpy Generator, one for each linear predictor; these are finite."""
        raise NotImplementedError

    @staticmethod
    def log_density(y, eta, extra=None):
        """log p(y | eta), with every constant: it is compared between models."""
        raise NotImplementedError

    @staticmethod
    def deviance(y, mean):
        """Unit deviance, 2 (log p(y; y) - log p(y; mean)) at unit dispersion, elementwise."""
        raise NotImplementedError

    @staticmethod
    def check(y, label):
        """Raise DataError where the outcomes do not suit the family; `label` names the response."""
