"""The weights of independent proposals: whether the proposals reach as far as the posterior."""

import numpy as np

from sgmc.diagnostics.chains.pareto import tail_shape
from sgmc.diagnostics.chains.tails import FEWEST_FITTED, NEVER, index_error
from sgmc.errors import SHORTFALL_UNTOLD, ProposalWarning
from sgmc.results.report.verdict import EXACT, another

# largest weight, of the mean: below it no place is held for long, and the tail's index, which is
# that of small differences, has no meaning
HELD = 5.0
# standard errors of the index above its limit, from which more draws are no cure
SURELY_ABOVE = 2.0
EVEN = 0.9  # effective share of proposals, of those that are nearly the posterior


def pareto_k(log_weights):
    """The tail index of exp(log_weights), all of them as one sample: above 0.7 no number of
    proposals tells a mean in practice (Vehtari et al. 2024, section 3.2).

    NaN for fewer than 50 weights.
    """
    if len(log_weights) < FEWEST_FITTED:
        return np.nan
    return tail_shape(np.exp(log_weights - np.max(log_weights))[None])


def proposals(fit):
    """A ProposalWarning, in a list, where weights of independent proposals have a tail so heavy
    that chains miss what is beyond; or where no score tells what they miss.
    """
    if not fit.plan.spec.independent:
        return []
    # of skewed sds without a table weights look even as long as no tail is reached
    if fit.problem.transport is None and fit.problem.signs.names:
        return [
            ProposalWarning(
                f"{', '.join(fit.problem.signs.names)} may be zero: it is unknown whether the "
                "proposals reach as far as the posterior.",
                "Use sampler='auto', 'barker' or 'hmc'.",
            )
        ]
    if fit.problem.transport is None and fit.problem.coordinates.light:
        return [
            ProposalWarning(
                "no outcome bounds the tails of a prior, which fall as powers, and proposals have "
                "lighter ones: chains miss what is there.",
                f"Use {another(fit, *EXACT)}.",
            )
        ]
    weights = np.concatenate([state["sampler"]["log_weights"] for state in fit.states])
    over = np.exp(weights - np.max(weights))
    if 1 / np.mean(over) < HELD:
        return []
    k = pareto_k(weights)
    if not k > NEVER:
        return []
    seen = (
        f"the weights of {len(weights)} proposals have a Pareto k of {k:.2g}, above {NEVER}: the "
        "posterior reaches farther than the proposals, and chains stay long at few places."
    )
    # proposals that are nearly the posterior have few weights that differ, whose index is noise
    even = np.mean(over) ** 2 > EVEN * np.mean(over**2)
    if even and k - SURELY_ABOVE * index_error(k, len(weights)) < NEVER:
        return [ProposalWarning(seen, shortfall=SHORTFALL_UNTOLD)]
    return [ProposalWarning(seen, f"Use {another(fit, *EXACT)}.")]
