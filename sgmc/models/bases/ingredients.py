"""What a model that is no regression brings to its posterior."""

from dataclasses import dataclass

from sgmc.coordinates.transforms.layout import Layout
from sgmc.core.contract import Prior
from sgmc.core.partial import SubsetRecorder
from sgmc.fit.parts import EXACT, Functionals, is_foreign


@dataclass(frozen=True)
class Ingredients:
    """What a model that is no regression brings.

    Attributes
    ----------
    kernel : Model
    layout : Layout
    prior : Prior or None
        A compiled one, in the place of independent ones by name.
    start : callable
        ``start(rng)`` with a numpy Generator gives theta, (size,).
    scaled : bool
        Whether a Gaussian approximation is to be looked for.
    shuffled : bool
        Whether rows are in random order, so that blocks of them are minibatches.
    recorder : callable
        Makes a `SubsetRecorder`, or what else sums up draws that are not kept.
    own_metric : bool
        Whether the kernel's metric keeps parameters within their constraints.
    own_starts : bool
        Whether each start is one of the model's own making, and not near one place.
    compiled : bool
        Whether the kernel runs without the interpreter.
    differenced : bool
        Whether the kernel's gradients are differences of its density.
    functionals
        See `Problem`.
    exact_sampler : str
        See `Problem`.
    derived_step : callable
        See `sgmc.Model.derived_step`.
    checked : bool
        Whether a user's gradient and rows are checked before anything else.
    called : str
        What messages call the model.
    """

    kernel: object
    layout: Layout
    prior: Prior | None
    start: object
    scaled: bool
    shuffled: bool
    recorder: object = SubsetRecorder
    own_metric: bool = False
    own_starts: bool = False
    compiled: bool = False
    differenced: bool = False
    functionals: Functionals | None = None
    exact_sampler: str = EXACT
    own_sampler: str = ""
    derived_step: object = None
    checked: bool = True
    called: str = "the model"

    @property
    def foreign(self):
        """Whether its density is computed by code of users."""
        return is_foreign(self.kernel) or is_foreign(self.prior)
