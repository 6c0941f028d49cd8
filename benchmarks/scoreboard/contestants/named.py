"""Draws of models whose sites are those of `numpyro_model` and `pymc_model`."""

import numpy as np


def columns(problem, draws):
    """Draws by the scoreboard's names, of draws by site, one chain."""
    found = {name: np.asarray(draws[name]) for name in problem.names if name in draws}
    if problem.family == "schools":
        theta = found["mu"][:, None] + found["tau"][:, None] * np.asarray(draws["z"])
        return found | {f"theta[{j}]": theta[:, j] for j in range(8)}
    if problem.kind == "density":
        return found
    beta = np.asarray(draws["beta"])
    found |= {"Intercept": beta[:, 0]}
    found |= {name: beta[:, 1 + j] for j, name in enumerate(problem.numbers)}
    for factor in problem.factors:
        dummies = np.asarray(draws[f"levels of {factor}"])
        levels = problem.levels(factor)[1:]
        found |= {f"{factor}[T.{level}]": dummies[:, j] for j, level in enumerate(levels)}
    effects = [np.asarray(draws[f"effects of {term.label}"]) for term in problem.terms]
    values = np.concatenate([beta, *effects], axis=1) @ problem.values.T if effects else None
    names = [name for term in problem.terms for name in term.names]
    return found | {name: values[:, j] for j, name in enumerate(names)}
