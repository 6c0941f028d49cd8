"""What a regression family is to the rest of the package; a family leaf defines one of these beside its compiled kernel."""


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
        The compiled model, called with (design, y, offset, weight).
    """

    name = None
    title = None
    outcome = "numeric"
    kernel = None

    @staticmethod
    def mean(eta):
        """E[y | x] from linear predictors, elementwise."""
        raise NotImplementedError

    @staticmethod
    def check(y, label):
        """Raise DataError where the outcomes do not suit the family; `label` names the response."""
