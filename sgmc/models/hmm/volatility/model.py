"""Stochastic volatility as users meet it."""

from dataclasses import replace

import numpy as np

from sgmc.arguments.numbers import whole
from sgmc.errors import DataError, NotSupported
from sgmc.models.hmm.sequences import Sequences, outcomes
from sgmc.models.hmm.volatility import particle_bias
from sgmc.priors import normal

FEWEST_STEPS = 10
MOST_ZEROS = 5  # in a row: the volatility that explains more of them is zero
LARGEST_MEAN = 0.5  # of y, in its sds: returns are far below, prices far above
# steps from which minibatches can be cheaper than all rows: an effective draw of theirs touches
# about 550 windows of 50 steps, one of exact samplers half of all (5,030 daily returns)
LONG_SERIES = 50_000


class StochasticVolatility(Sequences):
    """Outcomes whose log variance is a hidden autoregression, such as daily returns (Taylor 1982;
    Kim, Shephard & Chib 1998, doi 10.1111/1467-937X.00050), by stochastic gradients on windows with
    buffers (Aicher, Putcha, Nemeth, Fearnhead & Fox 2019, arXiv:1901.10568).

        x_t = phi x_{t-1} + N(0, sigma^2),   x_1 ~ N(0, sigma^2 / (1 - phi^2)), the stationary law,
        y_t = beta exp(x_t / 2) N(0, 1).

    Windows and buffers are those of `HMM`.  By default the state is integrated out on a grid
    (Kitagawa 1987, doi 10.1080/01621459.1987.10478534), to about eight digits: all rows together
    are the exact likelihood and its gradient, which any sampler can use.  With ``particles=N``
    gradients of minibatches are by particles, as published, and exact samplers are refused.

    Parameters
    ----------
    y : array_like (T,)
        Sequences one after another, with mean about zero; masked where nothing was observed.
    sequence : array_like (T,), optional
        What sequence each step belongs to.  Default: one.
    window : int, optional
        Steps of a window.  Default: a hundredth of all, from 10 to 50.
    buffer : int, optional
        Default: chosen at the mode, the first power of 2 that moves no posterior mean by more than
        0.01 sd; else 50.
    particles : int, optional
        Particles of a window's filter, at least 2.  Default: a grid.

    Raises
    ------
    DataError
        For outcomes that are missing but not masked, constant, far from mean zero, exactly zero
        many times in a row, or of sequences that are cut up.
    ArgumentError
        Naming the argument.

    Notes
    -----
    Parameters are ``phi`` in (-1, 1), ``sigma`` and ``beta``.  Priors by default: phi normal(0.95,
    0.15) between -1 and 1, with the mean 0.86 and sd 0.10 of the beta prior of Kim, Shephard & Chib
    (section 2.2.1); sigma half-normal(1) (Kastner & Fruehwirth-Schnatter 2014, doi
    10.1016/j.csda.2013.01.002, section 2.1); beta half-normal with the sd of y, which it
    seldom exceeds, as the variance of y is beta^2 exp(sigma^2 / (1 - phi^2) / 2).

    Without `sampler`, series of fewer than 50,000 steps are fitted by `hmc`, and longer ones by
    what is cheaper; with particles by `sgld`.  A gradient costs about 2 microseconds a step on the
    grid, 20 by 100 particles and 200 by 1,000.  Particles bias it by order 1 / N; what that does
    to posterior means is estimated at the mode, and a `ParticleWarning` is issued from 0.1 sds on.

    Examples
    --------
    >>> returns = 100 * np.diff(np.log(price))
    >>> results = sgmc.StochasticVolatility(returns - returns.mean()).fit(seed=1)
    >>> results.volatility(), results.forecast(10)
    """

    title = "Stochastic Volatility"

    def __init__(self, y, *, sequence=None, window=None, buffer=None, particles=None):
        super().__init__(outcomes(y), sequence, window, buffer)
        self.particles = whole("particles", particles, 2, none=True)
        check_returns(self.y, self.edges)
        sd = float(np.nanstd(self.y))
        self.parameters = {"phi": (), "sigma": (), "beta": ()}
        self.constraints = {
            "phi": ("interval", -1.0, 1.0),
            "sigma": "positive",
            "beta": "positive",
        }
        self.start = {"phi": 0.95, "sigma": 0.2, "beta": 0.9 * sd}
        self.prior = {
            "phi": normal(0.95, 0.15),
            "sigma": normal(0, 1),
            "beta": normal(0, sd),
        }

    def derived(self, given):
        # particles give gradients alone; posteriors are skewed, in which `hmc` has about twice the
        # effective draws of `mala` for the same work
        if self.particles is not None:
            return {"sampler": "sgld"}
        return {"sampler": "hmc"} if len(self.y) < LONG_SERIES else {}

    def problem(self, prior, checked):
        # samplers that go over all rows are refused with particles
        if self.particles is not None and not getattr(checked.sampler, "minibatches", False):
            name = "auto" if checked.sampler is None else checked.sampler.name
            raise NotSupported(
                f"sampler={name!r} uses the likelihood of all rows, which particles do not give; "
                "use 'sgld', or particles=None, with which the likelihood is exact",
                because="mathematics",
            )
        made = super().problem(prior, checked)
        if self.particles is not None and made.coordinates.scaled:
            more = particle_bias.bias_warnings(made, checked.seed)
            return replace(made, warnings=[*made.warnings, *more])
        return made

    def kernel(self):
        from sgmc.models.hmm.volatility.grid import GridVolatility
        from sgmc.models.hmm.volatility.particles import ParticleVolatility

        given = self.y, self.windows, self.used_buffer
        if self.particles is None:
            return GridVolatility(*given)
        return ParticleVolatility(*given, self.particles)

    def result_class(self):
        from sgmc.models.hmm.volatility.results import VolatilityResults

        return VolatilityResults


def check_returns(y, edges):
    """DataError for what can have no changing volatility, or is no series of returns."""
    if y.shape[1] != 1:
        raise DataError(f"y has {y.shape[1]} columns; this model is of one number a step")
    if np.isfinite(y).sum() < FEWEST_STEPS:
        raise DataError(
            f"y has {np.isfinite(y).sum()} observed steps, too few for this model: at least "
            f"{FEWEST_STEPS}"
        )
    mean, sd = float(np.nanmean(y)), float(np.nanstd(y))
    if sd == 0:
        raise DataError(f"y is constant: all of its values are {mean:g}")
    if abs(mean) > LARGEST_MEAN * sd:
        raise DataError(
            f"y has mean {mean:.4g} and sd {sd:.4g}; the model's mean is zero: of prices, take "
            "returns, e.g. numpy.diff(numpy.log(price)), and subtract their mean"
        )
    first = longest_zeros(y[:, 0], edges)
    if first is not None:
        raise DataError(
            f"y is exactly 0 at more than {MOST_ZEROS} steps in a row, from step {first}: the "
            "volatility there would be zero; mask these steps, e.g. numpy.ma.masked_equal(y, 0)"
        )


def longest_zeros(y, edges):
    """Where the first run of more than MOST_ZEROS zeros begins, within a sequence; None if there
    is none.
    """
    length = 0
    starts = set(edges[:-1].tolist())
    for t, zero in enumerate(y == 0):
        length = (0 if t in starts else length) + 1 if zero else 0
        if length > MOST_ZEROS:
            return t - MOST_ZEROS
    return None
