"""Arguments that end a run: how many draws, how exact, how long."""

from sgmc.arguments.parameter import Keyword

ENDED = ("regression", "model")  # fit() of regressions and of all other models

HOW_MANY = (
    Keyword(
        "draws",
        1000,
        "Kept draws per chain.",
        "int >= 1",
        "int",
        ENDED,
        int,
    ),
    Keyword(
        "accuracy",
        None,
        """Largest accepted Monte Carlo error of posterior means, in posterior sds, e.g. 0.05.
        Chains stop at the first of 250, 500, 1000, ... draws per chain at which all means are
        within it with 95 % confidence.  `draws` is then the limit, 20,000 by default.  Draws are
        the first ones of a longer run.  Samplers in continuous time and `client` are refused.""",
        "float between 0 and 1",
        "float | None",
        ENDED,
        float,
    ),
)
HOW_LONG = (
    Keyword(
        "time_limit",
        None,
        """Seconds from the call to the return, within a tenth and half a second, checks included.
        Draws are the first ones of the unlimited run; where there is no time for any, they are of
        the Gaussian approximation at the mode, and marked (``results.stand_in``); where there is
        none for the mode, the summary has no numbers.""",
        "float > 0",
        "float | None",
        ENDED,
        float,
    ),
    Keyword(
        "max_data_passes",
        None,
        """Data passes (rows used, divided by their number) after which sampling stops.  Its draws
        are the first ones of the unlimited run.""",
        "float > 0",
        "float | None",
        ENDED,
        float,
    ),
)
