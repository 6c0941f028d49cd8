"""The results of models of sequences: the hidden states, what comes next, and what buffers do."""

import numpy as np
import pandas as pd

from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import whole
from sgmc.diagnostics.chains.moments import systematic
from sgmc.errors import ArgumentError
from sgmc.models.bases.results import ModelResults
from sgmc.models.hmm.buffers import bias
from sgmc.results.outcomes.data.rows import evenly


def stationary(A):
    """Stationary laws (..., K) of transition matrices (..., K, K), by elimination (Grassmann,
    Taksar & Heyman 1985, Operations Research 33).
    """
    A, K = A.copy(), A.shape[-1]
    law = np.ones(A.shape[:-1])
    for k in range(K - 1, 0, -1):  # a state less each time: sums alone, exact where states last
        A[..., :k, k] /= A[..., k, :k].sum(axis=-1)[..., None]
        A[..., :k, :k] += A[..., :k, k, None] * A[..., None, k, :k]
    for k in range(1, K):
        law[..., k] = (law[..., :k] * A[..., :k, k]).sum(axis=-1)
    return law / law.sum(axis=-1, keepdims=True)


def long_run(results):
    """What outcomes are in the long run, whatever the states are called: mean, sd and lag-one
    correlation of each column (of categories their probabilities and that of the same one twice),
    and the trace of the transitions; names and draws (chain, draw, k).
    """
    A, (centre, variance) = results.draws_of("transition"), results.moments_of_states()
    law = stationary(A)
    mean = np.einsum("...k,...kd->...d", law, centre)
    moved = np.einsum("...k,...kd,...kl,...ld->...d", law, centre, A, centre)
    trace = np.trace(A, axis1=-2, axis2=-1)[..., None]
    if variance is None:
        parts = mean, moved.sum(axis=-1)[..., None]
        names = [*(f"P({label})" for label in results.categories), "P(same twice)"]
    else:
        square = np.einsum("...k,...kd->...d", law, variance + centre**2) - mean**2
        parts = mean, np.sqrt(square), (moved - mean**2) / square
        kinds = ("mean", "sd", "lag-one correlation")
        names = [f"{kind} of column {d}" for kind in kinds for d in range(mean.shape[-1])]
    return [*names, "trace of transition"], np.concatenate([*parts, trace], axis=-1)


class SequenceResults(ModelResults):
    """Results of models of sequences: `HMMResults` and `LinearGaussianResults`.

    Attributes
    ----------
    buffer : int
        Steps on both sides of the windows of minibatches.
    categories : list or None
        Of categorical outcomes, in the order of their probabilities.
    """

    @classmethod
    def besides(cls, fit):
        kernel = fit.problem.model
        return {
            **super().besides(fit),
            "buffer": kernel.buffer,
            "categories": getattr(kernel, "labels", None),
        }

    def buffer_bias(self, buffers=None, data=None):
        """Estimate what buffers do to the sum of all windows' gradients at the posterior mean.

        Parameters
        ----------
        buffers : list of int, optional
            Default: 0, powers of 2, and the fit's own.
        data : model, optional
            For results that were loaded from a file: the model of the fit.

        Returns
        -------
        DataFrame
            By buffer: ``gradient``, the norm of the bias, and ``shift``, by how many posterior sds
            the mean of a parameter moves, to first order; the largest.  With control variates what
            is common to the mode cancels.
        """
        buffers = (
            sorted({0, 1, 2, 4, 8, 16, 32, self.buffer})
            if buffers is None
            else [whole("buffers", b) for b in buffers]
        )
        off = bias(self._kernel(data), self.params.to_numpy(), buffers)
        moved = off @ self.cov_params().to_numpy() / self.bse.to_numpy()
        return pd.DataFrame(
            {"gradient": np.linalg.norm(off, axis=1), "shift": np.abs(moved).max(axis=1)},
            index=pd.Index(buffers, name="buffer"),
        )

    def _kernel(self, data):
        """The compiled model of the fit, or of other sequences."""
        if data is None:
            if self._fit is None:
                raise ArgumentError(
                    f"these results are without their data: give data=<the {self.model.title} "
                    "model of the fit>"
                )
            return self._fit.problem.model
        same = hasattr(data, "windows") and data.layout().shapes == self.model.shapes
        if not same:
            wanted = f"a {self.model.title} model with the parameters of the fit"
            raise must_be("data", data, wanted)
        kernel = data.kernel()
        if getattr(kernel, "labels", None) != self.categories:
            raise ArgumentError(
                f"data has the categories {kernel.labels}; those of the fit are {self.categories}: "
                "name them all, as a pandas categorical"
            )
        return kernel

    def _thetas(self, draws):
        """Some draws of theta, evenly spaced, or in proportion to their weights: (draws, size)."""
        if self._moments is not None:
            raise ArgumentError("this needs draws of all parameters: fit without keep=")
        flat, w = self.flat, self.flat_weights
        count = min(whole("draws", draws, 1), len(flat))
        return flat[evenly(len(flat), count) if w is None else systematic(w, count)]


class HMMResults(SequenceResults):
    """The posterior of a hidden Markov model."""

    def moments_of_states(self):
        """Return draws of the outcomes' means and variances in each state, (chain, draw, K, D); of
        categories their probabilities, and None.
        """
        if "probability" in self.model.shapes:
            return self.draws_of("probability"), None
        name = "log_rate" if "log_rate" in self.model.shapes else "mean"
        first = self.draws_of(name)
        second = np.exp(first) if name == "log_rate" else self.draws_of("sd") ** 2
        first = second if name == "log_rate" else first
        return tuple(
            one[..., None] if len(self.model.shapes[name]) == 1 else one for one in (first, second)
        )

    def smooth(self, draws=100, data=None):
        """Return probabilities of the states at each step given all outcomes of the sequence,
        averaged over draws: (T, K).

        Parameters
        ----------
        draws : int
        data : HMM, optional
            Other sequences, or those of the fit for results that were loaded from a file.
        """
        kernel, thetas = self._kernel(data), self._thetas(draws)
        return sum(kernel.laws(theta) for theta in thetas) / len(thetas)

    def path(self, data=None):
        """Return the likeliest path of states at the posterior mean, (T,), by Viterbi's algorithm;
        `data` as in `smooth`.
        """
        return self._kernel(data).path(self.params.to_numpy())

    def forecast(self, steps, draws=200, data=None):
        """Return states and outcomes after the end of the last sequence, averaged over draws.

        Parameters
        ----------
        steps : int
        draws : int
        data : HMM, optional
            As in `smooth`.

        Returns
        -------
        dict
            ``states`` (steps, K): probabilities; ``mean`` and ``sd`` (steps, D) of outcomes, of
            categories (steps, C) ``mean`` is their probabilities.
        """
        kernel, thetas = self._kernel(data), self._thetas(draws)
        steps = whole("steps", steps, 1)
        states, mean, square = [], [], []
        for theta in thetas:
            A = theta[: kernel.states**2].reshape(kernel.states, -1)
            laws = [kernel.last_laws(theta)[-1]]
            for _ in range(steps):
                laws.append(laws[-1] @ A)
            centre, variance = kernel.moments(theta)
            states.append(laws[1:])
            mean.append(states[-1] @ centre)
            square.append(states[-1] @ (variance + centre**2))
        mean, square = np.mean(mean, axis=0), np.mean(square, axis=0)
        return {"states": np.mean(states, axis=0), "mean": mean, "sd": np.sqrt(square - mean**2)}


class LinearGaussianResults(SequenceResults):
    """The posterior of a linear-Gaussian state-space model."""

    def smooth(self, draws=100, data=None):
        """Return the state at each step given all outcomes of the sequence, a DataFrame with
        ``mean`` and ``sd`` over states and draws.

        Parameters
        ----------
        draws : int
        data : LinearGaussian, optional
            Other sequences, or those of the fit for results that were loaded from a file.
        """
        kernel, thetas = self._kernel(data), self._thetas(draws)
        laws = np.array(
            [(m, v + m**2) for m, v in (kernel.laws(theta).T for theta in thetas)]
        ).mean(axis=0)
        return pd.DataFrame({"mean": laws[0], "sd": np.sqrt(laws[1] - laws[0] ** 2)})

    def forecast(self, steps, draws=200, data=None):
        """Return outcomes after the end of the last sequence: a dict of ``mean`` and ``sd``,
        (steps, D); `data` as in `smooth`.
        """
        kernel, thetas = self._kernel(data), self._thetas(draws)
        steps = whole("steps", steps, 1)
        c, ahead = np.asarray(kernel.rest[0]), np.arange(1, steps + 1)[:, None]
        mean, square = [], []
        for theta in thetas:
            (m, v), (a, q) = kernel.last_laws(theta)[-1], theta[:2]
            r, level = theta[2:].reshape(2, -1)
            spread = a ** (2 * ahead) * v + q**2 * (1 - a ** (2 * ahead)) / (1 - a**2)
            mean.append(level + c * a**ahead * m)
            square.append(mean[-1] ** 2 + c**2 * spread + r**2)
        mean, square = np.mean(mean, axis=0), np.mean(square, axis=0)
        return {"mean": mean, "sd": np.sqrt(square - mean**2)}
