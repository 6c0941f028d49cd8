"""What gradient noise there was, coordinate by coordinate."""

import numpy as np
import pandas as pd

from sgmc.errors import NotSupported


def noise_table(fit, names):
    """Return the gradient noise of each coordinate; None where gradients had no noise.

    Parameters
    ----------
    fit : Fit
    names : list of str
        Of the parameters.
    """
    if not fit.plan.spec.noisy:
        return None
    tau, limit = fit.noise.tau, fit.plan.spec.breaking_point(fit.kept_step)
    index = coordinate_names(fit.problem.coordinates, names, len(tau))
    table = pd.DataFrame({"tau": tau}, index=index)
    return table.assign(breaking_point=limit, ratio=tau / limit) if np.isfinite(limit) else table


def coordinate_names(where, names, dim):
    """Names of the sampler's `dim` coordinates: the parameters',
    or z1, z2, ... where it moves mixtures of them.
    """
    mixed = where.rotated or not (where.map is None or where.map.diagonal)
    return [f"z{j + 1}" for j in range(dim)] if mixed else list(names)


def refused(spec):
    """The error for a sampler whose draws show no noise of its gradients."""
    if spec.minibatches:
        return NotSupported(
            f"gradient_noise: {spec.name} leaves the posterior as it is, whatever the noise of its "
            "gradients",
            because="mathematics",
        )
    return NotSupported(
        f"gradient_noise: {spec.name} has none, its gradients are those of all rows",
        because="mathematics",
    )


def mainly(where, names, j):
    """The parameter that the sampler's coordinate j moves most, in sds."""
    if not where.scaled:
        return names[j]
    sd = np.sqrt((where.white**2).sum(axis=1))
    moved = where.white if where.whitened else np.eye(len(names))
    return names[int(np.argmax((np.abs(moved[:, j]) / sd)[: len(names)]))]
