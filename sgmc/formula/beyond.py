"""Terms of other packages that are not there: what they would be, and what is near."""

PROCESSES = (
    "gp", "hsgp", "Matern", "Exponential", "spatial", "car", "icar", "bym", "bym2", "sar",
    "besag", "mrf",
)  # fmt: skip
SERIES = ("ar", "ar1", "arma", "ma", "rw1", "rw2", "ou")
NEAR = {
    "ifelse": ": use np.where(x > 0, 1, 0)",
    "if_else": ": use np.where(x > 0, 1, 0)",
    "cut": ": use pd.cut(x, bins)",
    "ln": ": use log(x)",
    "mean": ": use center(x) for x less its mean, or make a column of it",
    "lag": ": make a column of it first, df['x'].shift()",
    "c": ": add terms by +; a response of two columns is cbind(successes, failures)",
    "interaction": ": use g:h",
    "t2": ": use te(x, z)",
    "ti": ": use te(x, z), which has both curves in it",
    "rcs": ": use ns(x, df=4), natural cubic splines",
    "mi": ": missing values are not imputed; drop such rows, or fill them first",
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
