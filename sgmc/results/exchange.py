"""Results as ArviZ has them."""

import numpy as np

from sgmc.diagnostics import moments
from sgmc.errors import MissingExtra
from sgmc.results.outcomes.residuals import in_order, log_lik, numbers_of
from sgmc.results.outcomes.rows import fitted_rows


def to_arviz(results, log_likelihood, more=None):
    """See `Results.to_arviz`.

    `more` are further variables of the posterior by name: draws (draw, label) in the order of
    `flat`, the name of the dimension and the labels.
    """
    try:
        from arviz_base import from_dict
    except ImportError as error:
        raise MissingExtra(
            "to_arviz needs arviz-base, which is not installed: pip install 'sgmc[arviz]'"
        ) from error
    chains, draws, _ = results.draws.shape
    kept = (
        np.arange(draws) if results.weights is None else moments.systematic(results.weights, draws)
    )
    groups = {"posterior": {"params": results.draws[:, kept]}}
    dims, coords = {"params": ["parameter"]}, {"parameter": list(results.names)}
    for variable, (values, dim, labels) in (more or {}).items():
        groups["posterior"][variable] = values.reshape(chains, draws, -1)[:, kept]
        dims[variable], coords[dim] = [dim], labels
    if results.weights is not None:
        groups["sample_stats"] = {"kept_draw": np.broadcast_to(kept, (chains, draws)).copy()}
    if results._fit is not None:
        rows, name = fitted_rows(results, "to_arviz"), results.model.endog_names
        columns = dict(zip(("y", "censored"), numbers_of(rows.y)))
        groups["observed_data"] = {key: in_order(rows, one) for key, one in columns.items()}
        dims |= {key: ["row"] for key in columns}
        coords = {**coords, "row": np.arange(rows.n)}
    if log_likelihood:
        values = log_lik(results, None, None, None, None, None).reshape(chains, draws, -1)
        groups["log_likelihood"] = {"y": values[:, kept]}
    tree = from_dict(groups, dims=dims, coords=coords)
    tree.attrs.update(facts(results))
    tree["posterior"].attrs.update(facts(results))
    if results._fit is not None:
        tree["observed_data"].attrs["outcome"] = str(name)
    return tree


def facts(results):
    """What made the draws, as attributes."""
    return {
        "inference_library": "sgmc",
        "sampler": results.sampler.name,
        "model": results.model.title,
        "formula": results.model.formula or "",
        "weighted_draws": "resampled in proportion to step-size weights"
        if results.weights is not None
        else "no",
    }
