"""Posteriors of hidden Markov models against Gibbs sampling, and what they refuse."""

import numpy as np
import pandas as pd
import pytest
from _ext import mistakes as _mistakes

import sgmc
from sgmc.errors import ArgumentError, DataError

from .hmm import MEAN, SD, simulated

# ---- posteriors ----------------------------------------------------------------------------------

STEPS, PARALLEL, SWEEPS = 400, 150, 120


DIRICHLET = 8.0


@pytest.fixture(scope="module")
def letters():
    """Categories of two states that stay apart."""
    rng = np.random.default_rng(8)
    x = simulated(STEPS, np.array([[0.9, 0.1], [0.15, 0.85]]), rng)
    p = np.array([[0.7, 0.25, 0.05], [0.1, 0.2, 0.7]])
    return np.array([rng.choice(3, p=p[k]) for k in x])


def model_of(letters, buffer=None):
    """With a uniform first law, under which Gibbs sampling is conjugate."""
    return sgmc.HMM(letters, 2, "categorical", window=8, buffer=buffer, initial="uniform")


PRIOR = {"transition": sgmc.dirichlet(DIRICHLET), "probability": sgmc.dirichlet(DIRICHLET)}


@pytest.fixture(scope="module")
def gibbs(letters):
    """Means and sds of (transition, probability) by forward filtering and backward sampling (Scott
    2002), many chains at once.
    """
    rng = np.random.default_rng(9)
    transition = np.tile([[0.9, 0.1], [0.15, 0.85]], (PARALLEL, 1, 1))
    p = np.tile([[0.7, 0.25, 0.05], [0.1, 0.2, 0.7]], (PARALLEL, 1, 1))
    draws, every = [], np.arange(PARALLEL)
    for sweep in range(SWEEPS):
        laws = np.empty((STEPS, PARALLEL, 2))
        for t, c in enumerate(letters):
            ahead = (
                np.full((PARALLEL, 2), 0.5)
                if t == 0
                else np.einsum("cj,cjk->ck", laws[t - 1], transition)
            )
            laws[t] = ahead * p[:, :, c]
            laws[t] /= laws[t].sum(axis=1, keepdims=True)
        moves, counts = np.full((PARALLEL, 2, 2), DIRICHLET), np.full((PARALLEL, 2, 3), DIRICHLET)
        x = (rng.random(PARALLEL) < laws[-1][:, 1]).astype(int)
        counts[every, x, letters[-1]] += 1
        for t in range(STEPS - 2, -1, -1):
            w = laws[t] * transition[every, :, x]
            before = (rng.random(PARALLEL) * w.sum(axis=1) < w[:, 1]).astype(int)
            moves[every, before, x] += 1
            counts[every, before, letters[t]] += 1
            x = before
        gamma = [rng.standard_gamma(m) for m in (moves, counts)]
        transition, p = (g / g.sum(axis=2, keepdims=True) for g in gamma)
        if sweep >= 20:
            draws.append(np.hstack([transition.reshape(PARALLEL, -1), p.reshape(PARALLEL, -1)]))
    draws = np.concatenate(draws)
    first = draws[:, 4] > draws[:, 7]
    assert first.mean() > 0.999  # labels never changed
    return draws.mean(axis=0), draws.std(axis=0)


def departures(results, gibbs):
    """Largest errors of means, in posterior sds, and of sds, relative; the fit's labels put in the
    order of the simulation's.
    """
    mean, sd = results.params.to_numpy(), results.bse.to_numpy()
    if mean[4] < mean[7]:
        order = [3, 2, 1, 0, 7, 8, 9, 4, 5, 6]
        mean, sd = mean[order], sd[order]
    return np.abs((mean - gibbs[0]) / gibbs[1]).max(), np.abs(sd / gibbs[1] - 1).max()


SIMPLE = dict(
    seed=2,
    prior=PRIOR,
    sampler="sgld",
    gradient="simple",
    step_size=0.03,
    batch_size=25,
    thin=30,
    warmup=200,
    draws=800,
)


@pytest.mark.extended
@pytest.mark.parametrize(
    "arguments",
    [
        dict(sampler="mala", draws=3000),
        dict(sampler="hmc", draws=1000),
        dict(sampler="sgld", gradient="cv", step_size=0.05, batch_size=15, thin=30),
        dict(sampler="sghmc", gradient="cv", batch_size=15),
    ],
    ids=lambda a: a["sampler"],
)
def test_posteriors_against_gibbs_sampling(letters, gibbs, arguments):
    mean, sd = departures(model_of(letters).fit(seed=1, prior=PRIOR, **arguments), gibbs)
    assert mean < MEAN and sd < SD


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_the_plain_estimate_of_the_paper(letters, gibbs):
    mean, sd = departures(model_of(letters).fit(**SIMPLE), gibbs)
    assert mean < MEAN and sd < SD


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("mistake", ["no buffer", "N/n", "no prior"])
def test_planted_mistakes_are_seen(letters, gibbs, mistake, monkeypatch):
    right = sgmc.HMM.problem
    if mistake == "N/n":

        def heavy(self, prior, checked):
            made = right(self, prior, checked)
            made.model = _mistakes.Heavy(made.model, 0.5)
            return made

        monkeypatch.setattr(sgmc.HMM, "problem", heavy)
    prior = {name: sgmc.dirichlet(1 if mistake == "no prior" else DIRICHLET) for name in PRIOR}
    mean, sd = departures(
        model_of(letters, 0 if mistake == "no buffer" else None).fit(**{**SIMPLE, "prior": prior}),
        gibbs,
    )
    assert mean > 2 * MEAN or sd > 2 * SD


def test_windows_stay_within_their_sequences():
    model = sgmc.HMM(np.arange(12.0), 2, sequence=list("aaaaabbbbbbb"), window=3)
    assert model.windows.tolist() == [
        [0, 3, 0, 5],
        [3, 5, 0, 5],
        [5, 8, 5, 12],
        [8, 11, 5, 12],
        [11, 12, 5, 12],
    ]


@pytest.mark.parametrize(
    "error, text, arguments",
    [
        (DataError, "missing or infinite values, first at step 1", dict(y=[1, np.nan, 2, 3, 4])),
        (DataError, "too few for 2 states", dict(y=[1.0, 2.0, 3.0])),
        (DataError, "at least 2 is needed", dict(y=[1.0])),
        (DataError, "nothing was observed in column 0", dict(y=np.ma.masked_all(8))),
        (
            DataError,
            "y with emission='poisson' must hold counts",
            dict(y=[1, 2, 0.5, 3], emission="poisson"),
        ),
        (
            DataError,
            "y with emission='poisson' must hold counts",
            dict(y=[1, -2, 5, 3], emission="poisson"),
        ),
        (
            DataError,
            "missing categories, first at step 2",
            dict(y=["a", "b", None, "a"], emission="categorical"),
        ),
        (
            DataError,
            "missing categories, first at step 1",
            dict(y=pd.Categorical(["a", None, "b", "a"]), emission="categorical"),
        ),
        (
            DataError,
            "missing categories, first at step 3",
            dict(y=pd.array(["a", "b", "a", None], dtype="string"), emission="categorical"),
        ),
        (DataError, "1 category", dict(y=["a"] * 5, emission="categorical")),
        (DataError, "one label a step", dict(y=[["a", "b"]] * 5, emission="categorical")),
        (DataError, "sequence has shape", dict(y=np.arange(5.0), sequence=[1, 2])),
        (DataError, "are not neighbours", dict(y=np.arange(5.0), sequence=[1, 1, 2, 1, 1])),
        (ArgumentError, "states=1", dict(y=np.arange(5.0), states=1)),
        (ArgumentError, "emission='normal'", dict(y=np.arange(5.0), emission="normal")),
        (ArgumentError, "initial='first'", dict(y=np.arange(5.0), initial="first")),
        (
            ArgumentError,
            "2 probabilities that sum to 1",
            dict(y=np.arange(5.0), initial=[0.5, 0.6]),
        ),
        (ArgumentError, "ordered=True needs one number", dict(y=np.ones((5, 2)), ordered=True)),
        (ArgumentError, "window=0", dict(y=np.arange(5.0), window=0)),
        (ArgumentError, "buffer=-1", dict(y=np.arange(5.0), buffer=-1)),
    ],
)
def test_what_it_refuses(error, text, arguments):
    with pytest.raises(error, match=text):
        sgmc.HMM(**{"states": 2, **arguments})


def test_categories_that_do_not_occur_are_kept_where_they_are_named():
    model = sgmc.HMM(pd.Categorical(list("abab") * 5, categories=list("abc")), 2, "categorical")
    assert model.categories == ["a", "b", "c"] and model.parameters["probability"] == (2, 3)
    assert model.start["probability"].shape == (2, 3) and (model.start["probability"] > 0).all()
    masked = sgmc.HMM(np.ma.masked_array(list("abcab"), [0, 0, 1, 0, 0]), 2, "categorical")
    assert masked.categories == ["a", "b"] and np.isnan(masked.y[2, 0])


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_categories_that_the_fit_has_not_seen(letters):
    results = sgmc.HMM(np.array(list("abc"))[letters], 2, "categorical").fit(
        seed=1, sampler="laplace", draws=50
    )
    assert results.categories == ["a", "b", "c"]
    ahead = results.forecast(2, data=sgmc.HMM(list("cabcab"), 2, "categorical"))
    assert ahead["mean"].shape == (2, 3) and ahead["mean"].sum(axis=1) == pytest.approx(1)
    with pytest.raises(
        ArgumentError, match="data has the categories ..a., .b., .d..; those of the fit are"
    ):
        results.smooth(data=sgmc.HMM(list("abdabd"), 2, "categorical"))
