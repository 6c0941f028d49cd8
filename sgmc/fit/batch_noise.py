"""The noise of mini-batches by their size, which a plan is derived from."""

import math
from collections.abc import Callable
from typing import NamedTuple


class Noise(NamedTuple):
    """What a gradient estimator's minibatches cost.

    Attributes
    ----------
    one_row : float
        V1 of the worst parameter.
    always : int
        Rows computed at every step.
    each : float
        Row gradients computed for each row drawn.
    shared : float
        Noise that a batch's rows have in common, whatever their number (`Gradient.block_noise`).
    law : callable or None
        V of a batch by its size, for schemes that draw no simple samples.
    anisotropy : float
        Largest noise of any direction over that of the worst parameter.
    sweeps : bool
        Whether the errors of the batches of a sweep cancel (`Subsampler.sweeps`).
    """

    one_row: float
    always: int
    each: float = 1.0
    shared: float = 0.0
    law: Callable | None = None
    anisotropy: float = 1.0
    sweeps: bool = False

    def of(self, batch, n):
        """Noise V of batches of that size, of n rows."""
        if self.law is not None:
            return self.law(batch)
        return (self.one_row / batch + self.shared) * (1 - batch / n)

    def felt(self, spec, batch, n):
        """Return V of independent batches that widen the draws as much, as a function of the
        Langevin time h of a step.
        """
        alone = self.of(batch, n)
        if not self.sweeps:
            return lambda h: alone
        return lambda h: alone * spec.noise_left(h, math.ceil(n / batch))

    def rows(self, batch):
        """Row gradients a step."""
        return self.each * batch + self.always
