"""Maximum likelihood by glum, factors as categorical columns, with a normal law at its estimate."""

import numpy as np
import pandas as pd
from glum import GeneralizedLinearRegressor
from problem import Answer

from contestants import NotExpressible

PACKAGES, KIND, LABEL = ["glum"], "floor", "glum MLE"
LENGTHS = [0]
FAMILIES = {"logit": "binomial", "poisson": "poisson", "ols": "gaussian"}


def prepare(problem):
    """Generalized linear models without groups."""
    if problem.groups or problem.terms or problem.family not in FAMILIES:
        raise NotExpressible("no such model")
    frame = problem.frame
    predictors = frame[[*problem.factors, *problem.numbers]]

    def run(length, seed):
        model = GeneralizedLinearRegressor(
            family=FAMILIES[problem.family], alpha=0, drop_first=True
        )
        also = {"offset": problem.offset} if problem.exposure else {}
        model.fit(predictors, frame["y"], **also)
        table = model.coef_table(predictors, frame["y"], **also)
        assert isinstance(table, pd.DataFrame) and len(table) == len(problem.coefficients)
        mean, sd = table["coef"].to_numpy(), table["se"].to_numpy()
        return Answer(problem.coefficients, mean, np.asarray(sd, float))

    return run
