"""Stochastic bouncy particle samplers: bounces by minibatches, proposed below a regression of their
noisy rate on time.
"""
import math

from sgmc.core.spec import Derivable, Parameter
from sgmc.errors import ArgumentError
from sgmc.samplers.bases.piecewise.band import Band, Drifting
from sgmc.samplers.bases.piecewise.bounces import REFRESHMENT_COST
from sgmc.samplers.bases.events import EventSpec
from sgmc.samplers.bases.piecewise.local_bands import Fading, Process
from sgmc.samplers.bases.piecewise.predicted import RegressionTransition

BANDS = {"drifting": Drifting, "published": Band, "fading": Fading, "process": Process}
# Refreshments in a path of one sd that are best without noise, and how many of them noise of
# variance one is worth: of |x|^2 on normals in 2 to 20 dimensions
REFRESHMENT, WORTH = 0.2, 2.0


class SBPS(EventSpec):
    """Stochastic bouncy particle sampler (Pakman, Gilboa, Carlson & Paninski 2017, section 4).

    Bounces v - 2 (v . g) g / |g|^2 at rate max(0, v . g), g an estimate of U' from a fresh
    minibatch at each look, U = -log posterior: with rates below their bound the posterior is
    invariant whatever the noise (their theorem 1).  A look computes v . g alone, a bounce g.  The
    bound is the upper edge of a confidence band: rates seen since the last bounce are regressed on
    time, with noise c^2 = N^2/n (1 - n/N) Var_i[v . grad log p_i] (eq. 10-13); `confidence` is
    their k.  Where a rate exceeds its bound, too few bounces happen and draws are too wide.

    ``band="published"`` is that of eq. 9-13.  The others make room for posteriors that are not
    Gaussian, by what they learn from errors of predictions, and for batches of nearly all rows, by
    a c of at least 0.01 sqrt(d) / sd.  ``"drifting"`` adds q^2 (t - t_m)^2 to the variance of a
    prediction, t_m the time of the last look and q learned; ``"fading"`` gives looks weights
    exp(-r (t - t_i)), r learned, and ``"process"`` adds a Gaussian process of learned amplitude to
    the line (the last two: end of section 4).

    `refresh` is derived as max(0, 0.2 - 2 V), V the variance of the gradient's noise over the
    posterior precision, in a path as long as the largest sd: noise above V = 0.1 turns the velocity
    often enough, and nothing is drawn anew, as published.

    A posterior with several modes has stretches where rates fall.  A line through them predicts no
    bounces until far up the other side.  `horizon` bounds how long one travels without a look, and
    ``falling=False`` extrapolates no fall: a negative slope is replaced by mu, or zero, in a line
    through the mean of the observations.
    """

    name = "sbps"
    exact = False
    needs_bounds = False
    parameters = (
        Parameter("confidence", 3.0, "k, sds by which the bound lies above the rate predicted; 3 "
                                     "to 5", 0.0, 100.0),
        Derivable("refresh", None, "times that the velocity is drawn anew in a path as long as a "
                                   "posterior sd, the smallest of any direction; 0: never", 0.0,
                  1e6),
        Parameter("band", "drifting", "how rates are predicted", choices=tuple(BANDS)),
        Parameter("horizon", 4.0, "longest path without a look, in such sds", 0.0, 1e6),
        Parameter("falling", True, "extrapolate rates that fall", choices=(False, True)),
    )

    def __init__(self, **values):
        super().__init__(**values)
        if self.band == "process" and not self.falling:
            raise ArgumentError(f"{type(self).__name__}: falling=False does not apply to "
                                "band='process', whose predictions have no slope; leave it out, or "
                                "choose another band")

    def build(self, dim, step):
        return RegressionTransition(dim, step, self.refresh or 0.0, self.predictions(dim, step))

    def predictions(self, dim, step):
        """The band of a chain."""
        how = {} if self.band == "process" else {"falling": self.falling}
        scale = math.sqrt(dim) / step
        return BANDS[self.band](self.confidence, step, scale, self.horizon, **how)

    def derived(self, terms, share):
        if self.refresh is not None:
            return self
        refresh = max(REFRESHMENT - WORTH * terms.noise, 0.0) * share
        return type(self)(**{**self.values(), "refresh": refresh})

    def inflation(self, h, noise):
        """Rates G + c Z with c far above G lose 2 P(Z > k) of their difference between v and -v,
        which is what holds x back.
        """
        return math.erfc(self.confidence / math.sqrt(2)) if noise else 0.0

    def widening(self, missed):
        """Relative error of the variance where that share of all bounces is lost.

        Bounces at (1 - loss) times the right rates leave that power of the posterior invariant.
        The loss is `missed` where rates have no noise, and 2 P(Z > k) sqrt(1 / (2 pi)) / E max(0,
        Z - k) times that where they are mostly noise: see `inflation`.
        """
        k = self.confidence
        tail, peak = 0.5 * math.erfc(k / math.sqrt(2)), 1 / math.sqrt(2 * math.pi)
        above = peak * math.exp(-0.5 * k * k) - k * tail
        loss = missed * max(1.0, 2 * tail * peak / above) if above > 0 else missed
        return loss / (1 - loss) if loss < 1 else math.inf

    def expected(self):
        """Share of proposals whose rates exceed the bound if the regression is right."""
        return 0.5 * math.erfc(self.confidence / math.sqrt(2))

    def events(self, bounds, unit):
        """Proposals below a band around G + c Z with G of sd sqrt(d) / unit, and refreshment."""
        root, c = math.sqrt(bounds.dim), math.sqrt(bounds.noise)
        return root / unit * (0.8 + self.confidence * min(c, 1 + c / 2) + (self.refresh or 0.0))

    def memory(self, bounds, unit):
        """As of `bps`; a bounce of noise turns v by as much as 3/d refreshments,
        at rate 0.4 c sqrt(d) / unit.
        """
        turns = ((self.refresh or 0.0) * math.sqrt(bounds.dim)
                 + 1.2 * math.sqrt(bounds.noise / bounds.dim))
        return 2 * unit * (1 + REFRESHMENT_COST * turns)


class PSBPS(SBPS):
    """Preconditioned stochastic bouncy particle sampler (Pakman, Gilboa, Carlson & Paninski 2017,
    section 5).

    `sbps` for z, x = A z: the path is x + A u t, it bounces at rate max(0, u . A g), u - 2 (u . A
    g) A g / |A g|^2.  A_j is proportional to 1 / (eps + sqrt(v_j)), v_j <- a v_j + (1 - a) g_j^2
    over gradients of looks (eq. 17-18).

    ``scale="frozen"``: A is learned in warmup and constant from then on, a linear map, which
    changes nothing that is invariant (eq. 14-16); its smallest element is one.
    ``scale="published"``: the mean of A is one (eq. 18), and A is renewed at every look, which then
    computes the whole gradient.  A depends on the path then, and by the derivative that eq. 16
    leaves out draws are too wide: where gradients are large A is small, and the path is slow.
    """

    name = "psbps"
    parameters = (
        *SBPS.parameters,
        Parameter("past", 0.99, "a, weight of the past in the mean of squared gradients", 0.0, 1.0),
        Parameter("floor", 1e-4, "eps, added to the root of that mean", 0.0, 1e10),
        Parameter("scale", "frozen", "what A is in the end", choices=("frozen", "published")),
    )

    def build(self, dim, step):
        return RegressionTransition(dim, step, self.refresh or 0.0, self.predictions(dim, step),
                                    self.past, self.floor, self.scale == "published")
