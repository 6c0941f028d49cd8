"""Maximum likelihood by statsmodels, with a normal law at its estimate."""

import warnings

import numpy as np
import statsmodels.api as sm
import statsmodels.formula.api as smf
from problem import Answer

from contestants import NotExpressible

PACKAGES, KIND, LABEL = ["statsmodels"], "floor", "statsmodels MLE"
LENGTHS = [0]


def prepare(problem):
    """Formulas, or mixed models for one factor with normal outcomes."""
    warnings.simplefilter("ignore")
    crossed = len(problem.groups) > 1
    if problem.kind == "density" or crossed or problem.family == "studentt":
        raise NotExpressible("no such model")
    if problem.terms:
        raise NotExpressible("penalties are given, not learned")
    if problem.groups and problem.family != "ols":
        raise NotExpressible("its mixed GLMs are variational")
    formula = "y ~ " + " + ".join([*problem.factors, *problem.numbers])

    def run(length, seed):
        names = list(problem.coefficients)
        if problem.groups:
            [(g, slopes)] = problem.groups
            model = smf.mixedlm(
                formula, problem.frame, groups=g, re_formula="~" + "+".join(["1", *slopes])
            )
            fit = model.fit()
        elif len(problem.numbers) > 100:  # its formulas end at some hundred terms
            frame = problem.frame
            X = sm.add_constant(frame[problem.numbers]).rename(columns={"const": "Intercept"})
            fit = sm.Logit(frame["y"], X).fit(disp=0)
        else:
            call = {"logit": smf.logit, "poisson": smf.poisson, "ols": smf.ols}
            call = call.get(problem.family, smf.negativebinomial)
            also = {"exposure": problem.frame[problem.exposure]} if problem.exposure else {}
            fit = call(formula, problem.frame, **also).fit(**({} if call is smf.ols else SILENT))
            names += ["alpha"] if problem.family == "negbin" else []
        str(fit.summary())
        return Answer(names, np.asarray(fit.params[names]), np.asarray(fit.bse[names]))

    return run


SILENT = {"disp": 0}
