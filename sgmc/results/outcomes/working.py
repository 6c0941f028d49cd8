"""What there is not where the likelihood is a working one, of a feature of the outcomes alone."""

from sgmc.errors import NotSupported


def refuse_working(results, what):
    """NotSupported, naming `what` was asked for, for families whose outcomes have no law.

    Parameters
    ----------
    results : Results
    what : str
    """
    family = results.model.family
    if family.working:
        raise NotSupported(
            f"{what} needs a model of the outcomes, and {family.name} has none: its likelihood is "
            "a working one, of the quantile alone. For the quantile use predict() or "
            "get_prediction(); for the rest a model of the outcomes, such as sgmc.ols() or "
            "sgmc.rlm()",
            because="mathematics",
        )
