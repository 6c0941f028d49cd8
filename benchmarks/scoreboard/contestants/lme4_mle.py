"""Maximum likelihood by lme4 in R."""

from contestants import NotExpressible
from contestants.by_r import runner

PACKAGES, KIND, LABEL = [], "floor", "lme4"
LENGTHS = [0]
CALLS = {
    "ols": "lmer({formula}, d, REML=FALSE)",
    "logit": "glmer({formula}, d, binomial)",
}
AFTER = "b <- fixef(f); e <- sqrt(diag(as.matrix(vcov(f))))"


def prepare(problem):
    """Models with group terms."""
    if not problem.groups or problem.family not in CALLS:
        raise NotExpressible("models with group terms alone are given to it")
    call = CALLS[problem.family].format(formula=problem.formula)
    return runner(problem, problem.coefficients, package="lme4", call=call, after=AFTER)
