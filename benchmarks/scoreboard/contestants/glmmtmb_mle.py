"""Maximum likelihood by glmmTMB in R (Laplace), on one thread."""

from contestants import NotExpressible
from contestants.by_r import runner

PACKAGES, KIND, LABEL = [], "floor", "glmmTMB"
LENGTHS = [0]
FAMILIES = {"ols": "gaussian()", "logit": "binomial()", "negbin": "nbinom2()"}
AFTER = "b <- fixef(f)$cond; e <- sqrt(diag(as.matrix(vcov(f)$cond)))"


def prepare(problem):
    """Models with group terms, and negative binomial ones."""
    if problem.family not in FAMILIES or not (problem.groups or problem.family == "negbin"):
        raise NotExpressible("models with group terms and negative binomial ones are given to it")
    call = f"glmmTMB({problem.formula}, d, {FAMILIES[problem.family]})"
    return runner(problem, problem.coefficients, package="glmmTMB", call=call, after=AFTER)
