"""pygam: penalised B-splines, the penalty by its grid search, and a normal law at the estimates."""

import numpy as np
from problem import Answer
from pygam import LinearGAM, LogisticGAM, l, s

from contestants import NotExpressible

PACKAGES, KIND, LABEL = ["pygam"], "floor", "pygam"
LENGTHS = [0]
MODELS = {"ols": LinearGAM, "logit": LogisticGAM}
ONE_SD = 0.6826894921370859  # probability of an interval of one sd on each side


def prepare(problem):
    """A straight line of z and a curve of x."""
    if not problem.terms or problem.terms[0].kind != "s" or problem.family not in MODELS:
        raise NotExpressible("models with smooths alone are given to it")
    [term] = problem.terms
    X = problem.frame[["z", term.column]].to_numpy(float)

    def run(length, seed):
        model = MODELS[problem.family](l(0) + s(1, n_splines=10))
        model.gridsearch(X, problem.y, progress=False)
        place = np.column_stack([np.zeros(len(term.at)), term.at])
        curve, ends = model.partial_dependence(term=1, X=place, width=ONE_SD)
        slope = model.coef_[0], np.sqrt(model.statistics_["cov"][0, 0])
        mean = curve - model.partial_dependence(term=1, X=X).mean()
        sd = (ends[:, 1] - ends[:, 0]) / 2
        return Answer(["z", *term.names], np.r_[slope[0], mean], np.r_[slope[1], sd])

    return run
