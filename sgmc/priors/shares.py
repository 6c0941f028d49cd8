"""Priors of probabilities and of correlations."""

from sgmc.priors.other_names import with_other_names
from sgmc.priors.spec import PriorSpec


def dirichlet(concentration: float = 1.0) -> PriorSpec:
    """Dirichlet prior of parameters on a simplex: density proportional to prod_k
    theta_k^(concentration - 1).

    Other concentrations for single ones are given by their names:
    ``prior={"w[0]": sgmc.dirichlet(5)}``.
    """
    return PriorSpec("dirichlet", 0.0, 1.0, concentration)


@with_other_names
def lkj(eta: float = 1.0) -> PriorSpec:
    """Prior of the correlation matrix R of a group's effects: density proportional to
    det(R)^(eta - 1), flat for 1 (Lewandowski, Kurowicka & Joe 2009;
    doi:10.1016/j.jmva.2009.04.008).
    """
    return PriorSpec("lkj", 0.0, 1.0, eta)
