"""Priors by name, and as arguments."""

from sgmc.arguments.choices import nearest
from sgmc.errors import ArgumentError
from sgmc.priors.coefficients import cauchy, flat, horseshoe, laplace, normal
from sgmc.priors.joint import JointNormal
from sgmc.priors.spec import PriorSpec

INTERCEPT = "Intercept"
SLOPE, CENTRED_INTERCEPT = normal(0, 2.5, autoscale=True), normal(0, 2.5)
BY_NAME = {
    "flat": flat(),
    "normal": SLOPE,
    "laplace": laplace(0, 2.5, autoscale=True),
    "cauchy": cauchy(0, 2.5, autoscale=True),
    "horseshoe": horseshoe(),
}
MAKERS = (  # priors as functions of the package
    "normal", "student_t", "cauchy", "laplace", "horseshoe", "ridge", "r2d2", "flat", "gamma",
    "inverse_gamma", "lognormal", "exponential", "half_t", "half_normal", "lkj",
    "uniform", "truncated", "mvnormal",
)  # fmt: skip


def as_spec(prior: object, argument: str = "prior") -> PriorSpec:
    """A PriorSpec from a name or object; `argument` is what the user calls it."""
    if isinstance(prior, PriorSpec):
        return prior
    if isinstance(prior, str) and prior in BY_NAME:
        return BY_NAME[prior]
    if isinstance(prior, JointNormal):
        raise ArgumentError(
            f"{argument}: {prior} is for coefficients of a regression without group terms; give "
            "each parameter a prior of its own, such as sgmc.normal(0, 2.5)",
            because="limit",
        )
    if isinstance(prior, str) and prior.split("(")[0].removeprefix("sgmc.") in MAKERS:
        call = prior if prior.startswith("sgmc.") else f"sgmc.{prior}"
        call = call if "(" in call else f"{call}()"
        raise ArgumentError(f"{argument}={prior!r} is text: write {call}, without quotes")
    near = nearest(prior, BY_NAME) if isinstance(prior, str) else ""
    hint = near or (
        f"; use one of {', '.join(BY_NAME)}, or sgmc.normal(0, 2.5), sgmc.student_t(df, 0, 2.5), "
        "sgmc.laplace(), sgmc.cauchy(), sgmc.horseshoe(), sgmc.ridge(), sgmc.r2d2(), sgmc.flat()"
    )
    raise ArgumentError(f"{argument}={prior!r} is not a prior{hint}")


def learns(prior: object) -> bool:
    """Whether a prior as the user wrote it, one or a dict of them, has scales that are learned."""
    each = prior.values() if isinstance(prior, dict) else [prior]
    return any(isinstance(one, PriorSpec) and one.learned for one in each)
