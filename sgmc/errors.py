"""Every error and warning of sgmc, so that users can catch them by name.

Errors say what is wrong, name the column or argument, and say what to do.  Warnings are one family,
`SGMCWarning`; each carries the advice that the summary repeats, and points at the user's line.
"""

import sys
import types
import warnings
from typing import Literal, Self

Because = Literal["mathematics", "limit", "not yet"]


class SGMCError(Exception):
    """Base of all errors raised on purpose by sgmc.

    Parameters
    ----------
    *args
        The message.
    because : {"mathematics", "limit", "not yet"}, optional
        Why it is refused: what is asked has no meaning or no known method (the default of all
        errors but `NotSupported`), a stated limit of a method or a size, or nobody has written it
        yet (the default of `NotSupported`).

    Attributes
    ----------
    because : str
    """

    because: Because = "mathematics"

    def __init__(self, *args: object, because: Because | None = None) -> None:
        super().__init__(*args)
        if because is not None:
            self.because = because


class FormulaError(SGMCError, ValueError):
    """The formula cannot be read, or does not fit the data."""


class DataError(SGMCError, ValueError):
    """The data cannot be used as they are: missing, infinite, empty, of a wrong type or length."""


class ArgumentError(SGMCError, ValueError):
    """An argument is out of range, unknown, or does not apply here."""


class NotSupported(SGMCError, NotImplementedError):
    """A combination that is refused by name, with the reason; `because` has its kind."""

    because: Because = "not yet"


class DivergenceError(ArgumentError):
    """Every chain left the finite numbers before its first draw."""


class BoundError(SGMCError, ArithmeticError):
    """A rate of events exceeded the bound that it is simulated by:
    the draws of an exact sampler would be wrong.
    """


class OutOfMemoryError(SGMCError, MemoryError):
    """The fit needs more memory than there is; the message names what makes it so large."""


class DiskError(SGMCError, OSError):
    """A file cannot be written: no room, no permission; the message says which, and where."""


class MissingExtra(SGMCError, ImportError):
    """A package is needed that is not installed; the message names the extra that brings it."""


SHORTFALL_UNTOLD = 4.0  # a `shortfall` where nothing tells how many draws would do


class SGMCWarning(UserWarning):
    """Base of all warnings: what was seen, in numbers, and what to do about it.

    Parameters
    ----------
    message : str
        What was seen, with its numbers.
    advice : str, optional
        What the user can do, e.g. ``"draws=4000"``.
    shortfall : float, optional
        Of what more draws may cure: times as many as there are that would, about.
    """

    def __init__(self, message: str, advice: str = "", shortfall: float | None = None) -> None:
        super().__init__(f"{message} {advice}".strip())
        self.message = message
        self.advice = advice
        self.shortfall = shortfall

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (self.message, self.advice)

    @property
    def code(self) -> str:
        """The warning's name, as printed in the summary."""
        return type(self).__name__


class ColumnsLeftOutWarning(SGMCWarning):
    """The dot of a formula left some columns out: dates, constants, text with many levels; or
    effects of all variables did, those that are neither numbers nor labels.
    """


class RowsLeftOutWarning(SGMCWarning):
    """An expression of a formula left rows out that lack nothing: values outside of its bins."""


class PowerWarning(SGMCWarning):
    """A power of one column in a formula, ``x^2``, is the column: powers there are of sums."""


class SubsetWarning(SGMCWarning):
    """A condition of ``subset=`` keeps rows in which a column of it is missing."""


class WeightsWarning(SGMCWarning):
    """Weights, which count rows, sum to far fewer than there are."""


class TextNumbersWarning(SGMCWarning):
    """Digits that are stored as text are read as the levels of a factor."""


class PriorWarning(SGMCWarning):
    """A prior that other packages read differently, a scale where these have a rate; or one with
    ends that the data contradict.
    """


class SeparationWarning(SGMCWarning):
    """Some predictors separate the outcomes: the likelihood has no maximum, the prior decides."""


class ConditionWarning(SGMCWarning):
    """The design is nearly collinear: the data do not determine some directions."""


class ExactFitWarning(ConditionWarning):
    """The predictors fit all outcomes to rounding errors: these alone are left for a scale."""


class ModeWarning(SGMCWarning):
    """Newton's method did not reach the mode of the posterior."""


class ModesWarning(SGMCWarning):
    """The posterior has more than one mode: chains that do not move between them do not weigh them
    rightly.
    """


class SignWarning(ModesWarning):
    """The data speak for a monotonic effect of either sign, and against none."""


class DensityWarning(SGMCWarning):
    """A user's log density, its gradient and its sums over rows disagree where the draws are."""


class QuadratureWarning(SGMCWarning):
    """Effects of groups were integrated out with too few nodes."""


class GroupsWarning(SGMCWarning):
    """Groups tell little about their effects: few rows, alike outcomes, or sds that may be zero."""


class BoundaryWarning(SGMCWarning):
    """A user's log density jumps, or ends at -inf, where draws are: gradients do not show that."""


class ShapeWarning(SGMCWarning):
    """The posterior is far from the Gaussian at its mode, on which a method or default relies."""


class GradientNoiseWarning(SGMCWarning):
    """The noise of the minibatch gradient widens the posterior by more than the tolerance."""


class StepSizeWarning(SGMCWarning):
    """The discretisation error of the step widens the posterior by more than the tolerance, or the
    step is so small that chains hardly move.
    """


class BoundWarning(SGMCWarning):
    """Rates of events exceeded the bounds that a stochastic sampler predicts so often that the
    posterior is wider than it should be.
    """


class SpreadWarning(SGMCWarning):
    """The spread of the draws is not the posterior's: by the construction of the sampler, or as
    scores along random directions show.
    """


class BufferWarning(SGMCWarning):
    """The buffers around the windows of a sequence are too short: gradients of minibatches are
    biased by more than the tolerance.
    """


class ParticleWarning(SGMCWarning):
    """Particles are so few that the bias of their gradients moves posterior means."""


class SweepsWarning(SGMCWarning):
    """Gibbs sweeps over documents are so few that the bias of their gradients moves topics."""


class LowESSWarning(SGMCWarning):
    """Too few effective draws for the promised accuracy of means and standard deviations."""


class AccuracyWarning(SGMCWarning):
    """A limit ended the run before means were known as well as `accuracy` asks for."""


class ConvergenceWarning(SGMCWarning):
    """Chains disagree: R-hat above its limit."""


class TailWarning(SGMCWarning):
    """Tails so heavy that draws cannot tell some means or sds, or that these do not exist."""


class DivergenceWarning(SGMCWarning):
    """A chain left the finite numbers and was stopped; what came before is kept."""


class DivergentTransitionsWarning(SGMCWarning):
    """Some proposals of an exact sampler lost so much posterior density that its steps are too long
    for where they began.
    """


class ProposalWarning(SGMCWarning):
    """Proposals are too narrow for the posterior: their weights have a heavy tail."""


class LowEnergyWarning(SGMCWarning):
    """Momenta of Hamiltonian Monte Carlo explore the energies too slowly:
    E-BFMI below its limit.
    """


class TreeDepthWarning(SGMCWarning):
    """Many paths of the No-U-Turn sampler were ended by `max_depth` before they turned back."""


class ReplacedSamplerWarning(SGMCWarning):
    """Chains of the default sampler diverged, and an exact one took its place."""


class ReadingWarning(SGMCWarning):
    """An exact sampler would read a table that lies in a file very often."""


class InterruptedWarning(SGMCWarning):
    """The run was stopped early, by Ctrl-C or a time limit: partial results."""


class ExtrapolationWarning(SGMCWarning):
    """New rows are beyond the range that a smooth was fitted to."""


class ResolutionWarning(SGMCWarning):
    """A Gaussian process has shorter length scales than its basis functions resolve."""


class NewLevelsWarning(SGMCWarning):
    """New rows have levels that the fit has not seen: their effects are drawn from the
    population.
    """


class UpdateWarning(SGMCWarning):
    """New rows lead so far from the earlier posterior that too much of the earlier rows is
    neglected.
    """


class ReservoirWarning(SGMCWarning):
    """The sample of rows that stands for a cluster's moves means or sds by more than is trusted."""


class ClusterCountWarning(SGMCWarning):
    """So few clusters of rows that intervals by their sandwich cover less than they state."""


class LeverageWarning(SGMCWarning):
    """Rows of such high leverage that intervals by their sandwich cover less than they state."""


class ExtremeQuantileWarning(SGMCWarning):
    """So few rows lie beyond a quantile that intervals by the sandwich cover less than they
    state.
    """


class InfluenceWarning(SGMCWarning):
    """Leaving out single rows changes the posterior too much for what was estimated from it."""


class RefitWarning(SGMCWarning):
    """Fits without some of the rows are not trustworthy."""


class CheckpointWarning(SGMCWarning):
    """A checkpoint could not be written; the run went on."""


def caller() -> types.FrameType:
    """Return the nearest frame outside the package: the user's line."""
    frame = sys._getframe(1)
    while frame.f_back is not None and inside(frame):
        frame = frame.f_back
    return frame


def inside(frame: types.FrameType) -> bool:
    """Return whether a frame runs code of this package."""
    return str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]


def warn(warning: SGMCWarning) -> None:
    """Issue a warning at the user's line, however deep in the package it was noticed.

    Parameters
    ----------
    warning : SGMCWarning
    """
    frame = caller()
    warnings.warn_explicit(
        warning,
        None,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__"),
        frame.f_globals.setdefault("__warningregistry__", {}),
    )
