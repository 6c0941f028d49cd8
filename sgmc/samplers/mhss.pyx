"""Metropolis-Hastings with scalable subsampling: exact, few rows at each step."""
from sgmc.core.spec import Parameter
from sgmc.errors import NotSupported
from sgmc.samplers.bases.metropolis import MetropolisSpec
from sgmc.samplers.bases.subsampled import SubsampledMetropolis


class MHSS(MetropolisSpec):
    """Metropolis-Hastings with scalable subsampling (Prado, Nemeth & Sherlock 2024,
    arXiv:2407.19602): exact, few rows at each step.

    Log-likelihoods of rows are replaced by their Taylor polynomials at the mode, whose sum needs no
    rows: L(x), with the log prior.  What the i-th leaves of log pi(y) - log pi(x) is the remainder
    r_i(x, y) = -r_i(y, x), and |r_i| <= c_i m(x, y) (`sgmc.core.targets.remainders`).  Counts s_i ~
    Poisson(phi_i(x, y)) are drawn with the proposal y ~ q(x, .), phi_i(x, y) = c_i m - max(0, r_i),
    and y is accepted with probability

        min(1, exp(L(y) - L(x)) q(y, x) / q(x, y) prod_i (phi_i(y, x) / phi_i(x, y))^s_i).

    As phi_i(y, x) - phi_i(x, y) = r_i(x, y), the Poisson probabilities' exp(-phi_i) supply the
    missing exp(r_i): pi(x) q(x, y) prod_i Poisson(s_i; phi_i(x, y)) times this probability is
    symmetric in x and y for all s, which is detailed balance (counts as in Zhang, Cooper & De Sa
    2020, arXiv:2006.11677).  The counts are thinned from a Poisson(m sum_i c_i) number of
    candidates, each row drawn with probability c_i / sum c: only these are computed.  Of all
    phi_i <= c_i m with this difference it has the largest rates, and so the least variance of
    the log ratio, sum_i r_i^2 / (c_i m) about.  Where candidates would be more than the rows,
    the ratio is computed from all rows; as m is symmetric, this keeps detailed balance.

    With second-order polynomials sum c is proportional to N^(-1/2) in coordinates whitened at the
    mode, with first-order ones it does not depend on N; both grow with the number d of
    coefficients, m about like d^(3/2) and d.  Proposals are x* + (1 - h/2) (x - x*) + sqrt(h -
    h^2/4) xi (``proposal="gaussian"``), reversible with respect to the Gaussian at the mode x* and
    independent of x at h = 2, or x + sqrt(h) xi (``"walk"``).  Candidates are proportional to
    |y - x| where proposals are short: then h times the acceptance rate per candidate is greatest
    where l 2 Phi(-l / 2) is, at 0.45 (l^2 = h times the target's roughness; Roberts, Gelman & Gilks
    1997), which is the default target.

    Families must have bounds of the second or third derivative of a row's log-likelihood in its
    linear predictor: logit, probit, cauchit, cloglog, loglog and Poisson, and where the auxiliary
    parameter is known Gaussian, Student-t and negative binomial ones.  Those of Poisson, cloglog
    and loglog are for the ball around the mode that holds both places.
    """

    name = "mhss"
    all_rows = False
    minibatches = False
    needs_bounds = True
    estimator = "taylor"
    parameters = (
        Parameter("order", 2, "of the Taylor polynomials", 1, 2, whole=True),
        Parameter("proposal", "gaussian", "reversible for the Gaussian at the mode, or a random "
                                          "walk", choices=("gaussian", "walk")),
        Parameter("target_accept", 0.45, "acceptance rate that warmup aims at", 0.0, 1.0),
    )

    @property
    def remainder(self):
        return self.order

    def fitted_to(self, whitened, dim):
        """Proposals and bounds are those of whitened coordinates."""
        if not whitened:
            raise NotSupported("mhss needs coordinates that are whitened at the mode; leave "
                               "precondition='mode', or use sampler='mala'",
                               because="limit")
        return self

    def build(self, dim, step):
        return SubsampledMetropolis(dim, step, self.target_accept, self.proposal == "walk")

    def first_step(self, dim):
        """Independent proposals; a walk's best step on a Gaussian, by the default target."""
        return 2.0 if self.proposal == "gaussian" else min(2.0, 1.5 ** 2 / dim)
