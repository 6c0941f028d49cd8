"""The arguments that a family has for itself."""

from sgmc.arguments.parameter import Keyword

DESCRIBED = {
    "dist": (
        "The law of the times.",
        '{"weibull", "exponential", "lognormal", "loglogistic"}',
        "str",
    )
}
KNOWN = (
    "A known value of this parameter; None: it is learned.",
    "float > 0 or None",
    "float | None",
)


def option(name, default):
    """The row of an argument that a family has for itself."""
    return Keyword(name, default, *DESCRIBED.get(name, KNOWN))
