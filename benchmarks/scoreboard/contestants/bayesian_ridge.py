"""scikit-learn's BayesianRidge: a normal posterior at estimated precisions, linear models alone."""

import numpy as np
from problem import Answer
from sklearn.linear_model import BayesianRidge

from contestants import NotExpressible

PACKAGES, KIND, LABEL = ["sklearn"], "approximation", "scikit-learn BayesianRidge"
LENGTHS = [0]


def prepare(problem):
    """The intercept is a column of ones: only so has it an sd."""
    if problem.family != "ols" or problem.groups or problem.terms:
        raise NotExpressible("linear models alone")

    def run(length, seed):
        fit = BayesianRidge(fit_intercept=False).fit(problem.X, problem.y)
        return Answer(problem.coefficients, fit.coef_, np.sqrt(np.diag(fit.sigma_)))

    return run
