"""Terms of other packages that are not there: what they would be, and what is near."""

PROCESSES = (
    "gp", "hsgp", "Matern", "Exponential", "spatial", "car", "icar", "bym", "bym2", "sar",
    "besag", "mrf",
)  # fmt: skip
SERIES = ("ar", "ar1", "arma", "ma", "rw1", "rw2", "ou")
NEAR = {
    "offset": ": it stands right of the tilde, added to other terms",
    "cbind": ": it is a response alone, 'cbind(successes, failures) ~ ...'",
    "mo": ": monotonic effects are not part of this package; use C(x) for a coefficient per level, "
    "x itself for a line, or a smooth s(x)",
    "f": ": latent Gaussian models, as INLA's f(), are not part of this package; write (1 | g) for "
    "model='iid', or a smooth s(x) for a random walk",
    "se": ": use the argument se= of sgmc.ols",
    "resp_se": ": use the argument se= of sgmc.ols",
}
ARE_NOT_PART = ": {what} are not part of this package; use {near}"


def near(name):
    """What to say of a function that there is not, or None."""
    if name in PROCESSES:
        return ARE_NOT_PART.format(
            what="Gaussian processes and spatial effects",
            near="a group term by region, such as (1 | region), or a smooth s(x)",
        )
    if name in SERIES:
        return ARE_NOT_PART.format(
            what="temporal effects with autocorrelation",
            near="a group term by period, such as (1 | period), or a smooth s(x) of time",
        )
    return NEAR.get(name)
