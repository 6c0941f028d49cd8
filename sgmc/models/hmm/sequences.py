"""Sequences with a hidden state, cut into windows with buffers: what such models have in common."""

from dataclasses import replace

import numpy as np

from sgmc.arguments.data.arrays import numeric, shaped
from sgmc.arguments.numbers import whole
from sgmc.errors import DataError
from sgmc.models.bases.model import Model
from sgmc.models.hmm import buffers

MAX_WINDOW = 50  # default steps of a window: a hundredth of all, from 10 to that


class Sequences(Model):
    """A model of sequences with a hidden state; see `HMM` for windows and buffers.

    Parameters
    ----------
    y : array (T, D)
        Checked; NaN where nothing was observed.
    sequence : array_like (T,) or None
        What sequence each step belongs to; its steps are neighbours.
    window, buffer : int or None
    """

    def __init__(self, y, sequence, window, buffer):
        self.y, self.buffer = y, whole("buffer", buffer, none=True)
        self.edges = edges(sequence, len(y))
        length = whole("window", window, 1, none=True) or int(
            np.clip(len(y) // 100, 10, MAX_WINDOW)
        )
        self.windows = np.array(
            [
                (first, min(first + length, end), begin, end)
                for begin, end in zip(self.edges[:-1], self.edges[1:])
                for first in range(begin, end, length)
            ],
            dtype=np.intp,
        )
        self.n = len(self.windows)

    @property
    def used_buffer(self):
        """The buffer given, or what stands for it until the mode is known."""
        return buffers.UNSCALED if self.buffer is None else self.buffer

    def gradient_bias(self, theta, tried):
        """What buffers do to the gradient of the log likelihood:
        sum of all windows' terms, minus the exact one.

        Parameters
        ----------
        theta : dict or array (size,)
        tried : list of int
            Buffers: steps on both sides of the windows.

        Returns
        -------
        array (len(tried), size)
        """
        theta = np.asarray(self.layout().pack(theta), dtype=float)
        shaped("theta", theta, (self.layout().size,), advice="or give a dict by name")
        return buffers.bias(self.kernel(), theta, [whole("tried", b) for b in tried])

    def problem(self, prior, checked):
        # chooses buffers whose bias is negligible, or looks at those given
        made = super().problem(prior, checked)
        minibatches = checked.sampler is None or checked.sampler.minibatches
        if minibatches and made.coordinates.scaled and self.n > 1:
            model, warnings = buffers.with_checked_buffer(made, self.buffer, checked.seed)
            return replace(made, model=model, warnings=[*made.warnings, *warnings])
        return made


def edges(sequence, steps):
    """Where sequences begin, and the end of the last: an array of step numbers."""
    if steps < 2:
        raise DataError(f"y has {steps} steps; a sequence of at least 2 is needed")
    if sequence is None:
        return np.array([0, steps])
    labels = np.asarray(sequence)
    shaped("sequence", labels, (steps,), advice="give one label a step", error=DataError)
    starts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]])
    if len(set(labels[starts].tolist())) < len(starts):
        raise DataError(
            "sequence: the steps of some sequence are not neighbours; sort by sequence, and by "
            "time within it"
        )
    if len(starts) == steps:
        raise DataError(
            "sequence: every sequence has a single step, so that no step follows another; give "
            "sequences of at least 2 steps, or leave sequence=None for a single sequence"
        )
    return np.append(starts, steps)


def refuse_constant(y, fewest=2, cure="leave it out"):
    """Refuse columns of outcomes (T, D) with fewer than `fewest` different values."""
    for column in range(y.shape[1]):
        different = len(np.unique(y[~np.isnan(y[:, column]), column]))
        if different == 1:
            raise DataError(
                f"y is constant in column {column}, which cannot distinguish states; leave it out"
            )
        if different < fewest:
            raise DataError(f"y has only {different} different values in column {column}; {cure}")


def outcomes(y, called="y"):
    """Numbers (T, D), NaN where a masked array masks them; DataError for NaN that is not masked,
    and for what is infinite.
    """
    masked = np.ma.getmaskarray(y) if isinstance(y, np.ma.MaskedArray) else None
    array = np.array(numeric(called, np.ma.getdata(y) if masked is not None else y), dtype=float)
    if array.ndim == 1:
        array, masked = array[:, None], None if masked is None else masked[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(
            f"{called} has shape {array.shape}; it must be one number a step, or a row of them"
        )
    if masked is not None:
        array[masked] = 0.0
    if not np.isfinite(array).all():
        step = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise DataError(
            f"{called} has missing or infinite values, first at step {step}; mask steps "
            f"without an observation, e.g. by numpy.ma.masked_invalid({called})"
        )
    if masked is not None:
        array[masked] = np.nan
    if np.isnan(array).all(axis=0).any():
        raise DataError(
            f"{called}: nothing was observed in column "
            f"{int(np.flatnonzero(np.isnan(array).all(axis=0))[0])}; leave it out"
        )
    return array
