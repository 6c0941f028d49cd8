"""Tables with groups for these tests, and likelihoods by other means."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special

from sgmc import registry
from sgmc.core.designs.design import design
from sgmc.models.mixed.loading import Loading
from sgmc.models.regression.latent.densities.gaussian import GaussianMarginal
from sgmc.models.regression.latent.densities.quadrature import Quadrature

# parameters of families besides coefficients
OWN = {
    "negativebinomial": [0.5],
    "gamma": [0.4],
    "inversegaussian": [0.4],
    "rlm": [0.8],
    "ols": [0.9],
    "beta": [6.0],
    "survreg": [0.6],
}


def published(name):
    """A table of `grouped` in the folder SGMC_DATA."""
    path = Path(os.environ.get("SGMC_DATA", "")) / "grouped" / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"no copy of grouped/{name}.csv in SGMC_DATA")
    return pd.read_csv(path)


def by_group(frame, name):
    """Rows sorted by a column, and where its groups begin."""
    codes = pd.factorize(frame[name], sort=True)[0]
    return frame.iloc[np.argsort(codes, kind="stable")], starts_of(codes)


def starts_of(codes):
    """First row of each group of sorted codes, and the number of rows."""
    return np.append(0, np.cumsum(np.bincount(codes)))


def family_of(name):
    """The family of a verb, its other parameters to be learned."""
    return registry.room("families")[name].family


def marginal(family, rows, theta, blocks, nodes=25):
    """The compiled density of groups at an anchor.

    Parameters
    ----------
    family : Family
    rows : dict
        ``X``, ``y``, ``Z``, ``starts`` and, optional, ``offset`` and ``weight``.
    theta : array (dim,)
    blocks : list of (int, bool)
    nodes : int
    """
    glm = family.kernel(design(rows["X"]), rows["y"], rows.get("offset"), rows.get("weight"))
    loading = Loading(blocks)
    if family.name == "ols":
        return GaussianMarginal(glm, rows["starts"], rows["Z"], loading)
    made = Quadrature(glm, rows["starts"], rows["Z"], loading, nodes=nodes)
    return made.anchored(theta)


def simulated(family, seed=1, groups=12, effects=1, extra=()):
    """Rows of a family with effects of sd 0.7, offsets and weights: a dict, see `marginal`."""
    rng = np.random.default_rng(seed)
    codes = np.sort(np.append(np.arange(groups), rng.integers(0, groups, 6 * groups)))
    n = len(codes)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    Z = np.ascontiguousarray(X[:, :effects])
    offset = 0.2 * rng.normal(size=n)
    eta = X @ [0.2, 0.5, -0.3] + offset
    eta += (Z * 0.7 * rng.normal(size=(groups, effects))[codes]).sum(axis=1)
    scale = np.reshape(extra, (-1, 1)) if len(extra) else None
    y = family.simulate(eta, rng, scale)
    y = np.maximum(y, 1e-3) if family.name in ("gamma", "inversegaussian") else y
    weight = rng.integers(1, 3, n).astype(float)
    return dict(X=X, y=y, Z=Z, starts=starts_of(codes), offset=offset, weight=weight)


def log_integrals(family, rows, beta, root, extra=None, reach=9.0, points=4001):
    """Sum over groups of log int p(y | x . beta + z . root t) N(t; 0, I) dt, on a grid (one effect:
    trapezoids, exponentially exact; two: a product of them).
    """
    q = rows["Z"].shape[1]
    points = points if q == 1 else 201
    line = np.linspace(-reach, reach, points)
    grid = np.array(np.meshgrid(*[line] * q, indexing="ij")).reshape(q, -1)
    mass = -0.5 * (grid**2).sum(axis=0) - 0.5 * q * np.log(2 * np.pi)
    mass += q * np.log(line[1] - line[0])
    total, scale = 0.0, None if extra is None else np.reshape(extra, (-1, 1))
    for a, b in zip(rows["starts"][:-1], rows["starts"][1:]):
        eta = (rows["X"][a:b] @ beta + rows["offset"][a:b])[:, None]
        eta = eta + rows["Z"][a:b] @ (root @ grid)
        density = family.log_density(rows["y"][a:b, None], eta, scale)
        total += special.logsumexp(rows["weight"][a:b] @ density + mass)
    return total


def slopes(value, theta, h=1e-5):
    """Central differences of a function at theta, one a coordinate."""
    return np.array(
        [(value(theta + e) - value(theta - e)) / (2 * h) for e in h * np.eye(len(theta))]
    )


def table_of(family, groups=12, seed=1):
    """Outcomes of a family, two predictors and the groups of `simulated`, as a data frame."""
    rows = simulated(family, seed, groups, 1, OWN.get(family.name, []))
    codes = np.repeat(np.arange(groups), np.diff(rows["starts"]))
    return pd.DataFrame(dict(y=rows["y"], x1=rows["X"][:, 1], x2=rows["X"][:, 2], g=codes))
