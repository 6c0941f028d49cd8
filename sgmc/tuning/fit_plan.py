"""What `sgmc.plan` returns."""

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class FitPlan:
    """What a fit to an accuracy takes; ``model.fit(**plan.arguments)`` runs it.

    Attributes
    ----------
    accuracy : float
        Of the means, in posterior sds, with 95 % confidence.
    sampler : SamplerSpec
    gradient : str
    step_size : float
        The first one; NaN where it is found in warmup.
    batch_size, thin, warmup, chains : int
    draws : int
        Kept draws per chain, the first of 250, 500, 1000, ... with the accuracy expected.
    effective_draws : float
        For the worst mean, expected of all chains together.
    sd_change : float
        Relative change of posterior sds by step and gradient noise, by the sampler's law on a
        Gaussian; 0 for exact samplers.
    rows : float
        Used by the steps of all chains.
    data_passes : float
        These rows, divided by those of the data.
    seconds : float
        On this machine as it is now, from the call to the last draw.
    basis : str
        What the effective draws were predicted by.
    arguments : dict
        Of ``model.fit``.
    """

    accuracy: float
    sampler: object
    gradient: str
    step_size: float
    batch_size: int
    thin: int
    warmup: int
    chains: int
    draws: int
    effective_draws: float
    sd_change: float
    rows: float
    data_passes: float
    seconds: float
    basis: str
    arguments: dict = field(repr=False)

    def __str__(self):
        step = "found in warmup" if math.isnan(self.step_size) else f"{self.step_size:.4g}"
        lines = {
            "sampler": repr(self.sampler),
            "gradient": f"{self.gradient}, {self.batch_size} rows per step",
            "step size": step,
            "chains": f"{self.chains}, {self.warmup} steps of warmup, thinning {self.thin}",
            "draws": f"{self.draws} per chain, {self.effective_draws:.0f} effective ({self.basis})",
            "sds": f"{100 * self.sd_change:+.2g} % by step size and gradient noise",
            "rows": f"{self.rows:.4g}, {self.data_passes:.4g} data passes",
            "seconds": f"{self.seconds:.2g} on this machine",
        }
        head = f"Plan of a fit to {self.accuracy:g} posterior sd, with 95 % confidence"
        return "\n".join([head, *(f"{name + ':':<10} {text}" for name, text in lines.items())])
