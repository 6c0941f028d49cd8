"""Results as ArviZ has them."""

from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pandas as pd

from sgmc.arguments.data.limited import ENDS, is_records
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError, MissingExtra, SGMCWarning, warn
from sgmc.results.outcomes.data.offers import LAW, need, need_posterior
from sgmc.results.outcomes.data.rows import fitted_rows
from sgmc.results.outcomes.predicted.prediction import outcome_draws, outcome_stream
from sgmc.results.outcomes.predicted.residuals import in_order, log_lik

OUTCOME, ROW, WARMUP = "y", "row", "warmup_posterior"
DIMENSIONS = ("chain", "draw", ROW)
SLASH = "\N{DIVISION SIGN}"  # in the place of a slash, which is a path in trees
FIRST_OF_TREES = 1  # release of ArviZ that reads them
MOST_VARIABLES = 500  # parameters; more of them are one variable along a dimension
TOGETHER, PARAMETER = "params", "parameter"


@dataclass(frozen=True)
class Wanted:
    """Which groups a tree has besides the posterior, where the data of the fit are there."""

    log_likelihood: bool = False
    posterior_predictive: bool = False
    observed_data: bool = True


def to_arviz(results, wanted, more=None):
    """Return the results as a tree of ArviZ; see `Results.to_arviz`.

    `more` are further variables of the posterior by name: draws (draw, label) in the order of
    `flat`, the name of the dimension and the labels.
    """
    if wanted.log_likelihood or wanted.posterior_predictive:
        need(results, "to_arviz with log_likelihood or posterior_predictive", LAW)
    if wanted.log_likelihood:  # what ArviZ leaves rows out by
        need_posterior(results, "to_arviz with log_likelihood")
        refuse_weights(fitted_rows(results, "log_lik"))
    from_dict = tree_maker()
    chains, draws, _ = results.draws.shape
    kept = (
        np.arange(draws) if results.weights is None else moments.systematic(results.weights, draws)
    )
    dims, coords = {}, {}
    for variable, (_, dim, labels) in (more or {}).items():
        dims[variable], coords[dim] = [dim], labels
    posterior = parameters(results, results.draws[:, kept], [*DIMENSIONS, *coords])
    if TOGETHER in posterior and posterior[TOGETHER].ndim > 2:
        dims[TOGETHER], coords[PARAMETER] = [PARAMETER], list(results.names)
    for variable, (values, *_) in (more or {}).items():
        posterior[variable] = values.reshape(chains, draws, -1)[:, kept]
    groups = {"posterior": posterior}
    if results.warmup is not None:
        groups[WARMUP] = parameters(results, results.warmup.draws, [*DIMENSIONS, *coords])
    if results.weights is not None:
        groups["sample_stats"] = {"kept_draw": np.broadcast_to(kept, (chains, draws)).copy()}
    of_rows = row_groups(results, wanted, kept)
    if of_rows:
        names = dict.fromkeys(name for group in of_rows.values() for name in group)
        dims |= {name: [ROW] for name in names}
        coords[ROW] = row_labels(results)
    tree = from_dict({**groups, **of_rows}, save_warmup=True, dims=dims, coords=coords)
    tree.attrs.update(facts(results))
    tree["posterior"].attrs.update(facts(results))
    if WARMUP in groups:
        every = results.warmup.every
        tree[WARMUP].attrs.update({**facts(results), "steps_between_positions": every})
    for name in of_rows:
        tree[name].attrs["outcome"] = str(results.model.endog_names)
    return tree


def refuse_weights(rows):
    """ArgumentError for densities of rows that count other than once."""
    if rows.frequency is not None and (rows.frequency != 1).any():
        raise ArgumentError(
            "to_arviz(log_likelihood=True): the fit has weights=, and ArviZ counts each row of "
            "log densities once; use loo(), compare() and log_lik() of the results, or fit to a "
            "table in which each row occurs as often as it counts"
        )


def tree_maker():
    """Return arviz-base's function that makes trees; an older ArviZ beside it is warned of.

    Raises
    ------
    MissingExtra
        If arviz-base is not installed.
    """
    made, old = from_dict(), release_before_trees()
    if old:
        warn(
            SGMCWarning(
                f"ArviZ {old} is installed, whose functions do not read a DataTree.",
                "Give them arviz.InferenceData.from_datatree(tree), use arviz_stats, or install "
                "ArviZ 1.0, which needs Python 3.12.",
            )
        )
    return made


def from_dict():
    """Return arviz-base's function that makes trees; MissingExtra where it is not installed."""
    try:
        from arviz_base import from_dict as made
    except ImportError as error:
        raise MissingExtra(
            "to_arviz needs arviz-base, which is not installed: pip install 'sgmc[arviz]'"
        ) from error
    return made


def release_before_trees():
    """Return the release of an installed ArviZ that does not read trees; "" for none."""
    try:
        found = version("arviz")
    except PackageNotFoundError:
        return ""
    return found if int(found.partition(".")[0]) < FIRST_OF_TREES else ""


def readable(tree):
    """Return a tree as the installed ArviZ reads it: before 1.0 as `InferenceData`."""
    if not release_before_trees():
        return tree
    from arviz import InferenceData

    return InferenceData.from_datatree(tree)


def parameters(results, draws, taken):
    """Draws (chain, draw, parameter) of each parameter by its name, (chain, draw); a name that
    trees cannot have has its slashes replaced, and one that is a dimension ends in "_".
    """
    if len(results.names) > MOST_VARIABLES:
        return {TOGETHER: draws}
    found = {}
    for k, name in enumerate(results.names):
        name = name.replace("/", SLASH)
        while name in taken or name in found:
            name += "_"
        found[name] = draws[..., k]
    return found


def row_groups(results, wanted, kept):
    """Groups of what each row has, a dict."""
    shape, groups = (*results.draws.shape[:2], -1), {}
    rows_known = results._fit is not None and not results._fit.problem.prior_alone
    if rows_known and wanted.observed_data:
        rows = fitted_rows(results, "to_arviz")
        columns = {OUTCOME: results.model.family.numbers(rows.y)}
        if is_records(rows.y):
            columns |= {name: rows.y[name] for name in ENDS.names}
        groups["observed_data"] = {name: in_order(rows, one) for name, one in columns.items()}
    if wanted.log_likelihood:
        values = log_lik(results, None, None, None, None, None)
        groups["log_likelihood"] = {OUTCOME: by_chain(values, shape, kept)}
    if wanted.posterior_predictive:
        rows = replace(fitted_rows(results, "to_arviz"), weights=None)  # a draw each, in order
        rows.fits("posterior_predictive")
        values = outcome_draws(rows, outcome_stream(results, None))
        groups["posterior_predictive"] = {OUTCOME: by_chain(values, shape, kept)}
    return groups


def by_chain(values, shape, kept):
    """Values (draw, row) by chain, of the draws that are kept; of fewer whole draws all of them."""
    chains, draws, _ = shape
    found = values.reshape(chains, -1, values.shape[1])
    return found[:, kept] if found.shape[1] == draws else found


def row_labels(results):
    """Labels of the rows: of a pandas table its index, if these differ; else numbers from 0."""
    rows = fitted_rows(results, "to_arviz")
    if isinstance(rows.index, pd.Index) and rows.index.nlevels == 1 and rows.index.is_unique:
        return rows.index.to_numpy()
    return np.arange(rows.n)


def facts(results):
    """What made the draws, as attributes."""
    return {
        "inference_library": "sgmc",
        "sampler": results.sampler.name,
        "model": results.model.title,
        "formula": str(results.model.formula or ""),
        "weighted_draws": "resampled in proportion to step-size weights"
        if results.weights is not None
        else "no",
    }
