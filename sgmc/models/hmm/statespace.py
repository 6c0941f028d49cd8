"""Linear-Gaussian state-space models as users meet them."""

import numpy as np

from sgmc.arguments.data.arrays import vector
from sgmc.arguments.messages import must_be
from sgmc.coordinates.transforms.layout import Layout
from sgmc.errors import DataError
from sgmc.models.hmm.sequences import Sequences, outcomes, refuse_constant
from sgmc.priors import normal


class PolarLayout(Layout):
    """With coordinates of its own for samplers that may mix them."""

    def map_for(self, spec):
        from sgmc.models.hmm.polar import Polar

        return self.map if spec is not None and spec.needs_noise else Polar()


class LinearGaussian(Sequences):
    """A hidden autoregression by stochastic gradients on windows with buffers (Aicher, Ma, Foti &
    Fox 2019).

        x_t = a x_{t-1} + N(0, q^2),   |a| < 1, x_1 from the stationary law N(0, q^2 / (1 - a^2)),
        y_td = level_d + loading_d x_t + N(0, r_d^2).

    Windows and buffers are those of `HMM`: all rows together are the exact likelihood by the Kalman
    filter, minibatches take the terms of their windows under the states' law given the window and
    `buffer` steps on both sides, of which the bias falls geometrically.

    Parameters
    ----------
    y : array_like (T,) or (T, D)
        Sequences one after another; masked where nothing was observed.
    sequence : array_like (T,), optional
        What sequence each step belongs to.  Default: one.
    window : int, optional
        Steps of a window.  Default: a hundredth of all, from 10 to 50.
    buffer : int, optional
        Default: chosen at the mode, the first power of 2 that moves no posterior mean by more than
        0.01 sd; else 50.
    loadings : array_like (D,), optional
        loading, known.  Default: ones.

    Raises
    ------
    DataError
        For outcomes that are missing but not masked, constant, or of sequences that are cut up.
    ArgumentError
        Naming the argument.

    Notes
    -----
    Parameters are ``a``, ``q``, and ``r`` and ``level``, of shape () or (D,).  Priors by default: a
    flat, q and r half-normal with 2.5 times the sd of y, levels normal around the mean of y with
    2.5 times its sd.  With one outcome a step, chains move in the angle of (q, r) and their size,
    in which the arc along which the data hardly tell q from r is straight.
    """

    title = "Linear-Gaussian"
    exact_sampler = "hmc"

    def __init__(self, y, *, sequence=None, window=None, buffer=None, loadings=None):
        super().__init__(outcomes(y), sequence, window, buffer)
        d = self.y.shape[1]
        self.loadings = np.ones(d) if loadings is None else vector("loadings", loadings)
        if self.loadings.shape != (d,) or not self.loadings.any():
            wanted = f"{d} numbers, one for each column of y, and not all zero"
            raise must_be("loadings", loadings, wanted)
        if len(self.y) < 4:
            raise DataError(f"y has {len(self.y)} steps, too few for this model: at least 4")
        mean, sd = np.nanmean(self.y, axis=0), np.nanstd(self.y, axis=0)
        refuse_constant(self.y)
        shape = () if d == 1 else (d,)
        self.parameters = {"a": (), "q": (), "r": shape, "level": shape}
        self.constraints = {"a": ("interval", -1.0, 1.0), "q": "positive", "r": "positive"}
        self.start = {
            "a": 0.5,
            "q": 0.5 * float(sd.min()) / float(np.abs(self.loadings).max()),
            "r": 0.7 * sd.reshape(shape),
            "level": mean.reshape(shape),
        }
        labels = [""] if d == 1 else [f"[{j}]" for j in range(d)]
        self.prior = {"a": "flat", "q": normal(0, 2.5 * float(sd.max()))}
        for label, centre, spread in zip(labels, mean, sd):
            self.prior |= {
                f"r{label}": normal(0, 2.5 * float(spread)),
                f"level{label}": normal(float(centre), 2.5 * float(spread)),
            }

    def layout(self):
        kind = PolarLayout if self.y.shape[1] == 1 else Layout
        return kind(self.parameters, self.constraints)

    def kernel(self):
        from sgmc.models.hmm.kalman import LinearGaussianKernel

        return LinearGaussianKernel(self.y, self.windows, self.used_buffer, self.loadings)

    def result_class(self):
        from sgmc.models.hmm.results import LinearGaussianResults

        return LinearGaussianResults
