"""The same seed gives the same bits: for any threads, order, cutting, company, process, hash seed
and threads of BLAS.
"""

import hashlib
import os
import subprocess
import sys
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

import sgmc
from sgmc.errors import SGMCWarning
from sgmc.fit import chains as running
from sgmc.fit.chains import build_chain
from sgmc.fit.noise import share_design_effect
from sgmc.fit.run import fit

SAMPLERS = {
    "auto": dict(),
    "lmsgld": dict(sampler="lmsgld"),
    "csgbd": dict(sampler="csgbd"),
    "mala": dict(sampler="mala"),
    "simple": dict(sampler="sgld-simple", subsample="uniform", thin=5, warmup=100),
    "laplace": dict(sampler="laplace"),
}
every_sampler = pytest.mark.parametrize("sampler", SAMPLERS)


def frame(n=800, seed=0):
    """Rows with outcome y and predictors a, b."""
    rng = np.random.default_rng([seed, n])
    df = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    return df.assign(y=(rng.random(n) < 1 / (1 + np.exp(0.5 - df.a + 0.5 * df.b))).astype(int))


def drawn(sampler, df=None, **how):
    """Draws (chain, draw, d) of a short fit."""
    how = dict(seed=5, draws=300) | how
    with warnings.catch_warnings():
        # of few draws, and of the noise of simple gradients
        warnings.simplefilter("ignore", SGMCWarning)
        return np.asarray(
            sgmc.logit("y ~ a + b", frame() if df is None else df, **SAMPLERS[sampler], **how).draws
        )


def digest(draws):
    """A hash of every bit of the draws."""
    return hashlib.sha256(np.ascontiguousarray(draws).tobytes()).hexdigest()


@cache
def usual(sampler):
    """The hash that all the others must equal."""
    return digest(drawn(sampler))


@pytest.mark.cover(0)
@every_sampler
def test_threads_do_not_matter(sampler):
    assert {digest(drawn(sampler, threads=threads)) for threads in (1, 2, 4)} == {usual(sampler)}
    assert digest(drawn(sampler, seed=6)) != usual(sampler)


@pytest.mark.extended("csgbd", "mala", "simple")
@every_sampler
def test_a_chain_does_not_depend_on_how_many_there_are(sampler):
    four = drawn(sampler)
    for chains in (1, 2):
        np.testing.assert_array_equal(
            drawn(sampler, chains=chains, draws=500)[:, :300], four[:chains]
        )
    assert len({chain.tobytes() for chain in four}) == 4


@pytest.mark.extended("0.0005-csgbd", "1.0-csgbd")
@every_sampler
@pytest.mark.parametrize("seconds", [0.0005, 1.0])
def test_the_length_of_chunks_does_not_matter(sampler, seconds, monkeypatch):
    monkeypatch.setattr(running, "CHUNK_SECONDS", seconds)
    assert digest(drawn(sampler)) == usual(sampler)


def test_other_fits_in_between_do_not_matter():
    model, other = (sgmc.Logit.from_formula("y ~ a + b", frame(seed=seed)) for seed in (0, 1))
    np.random.seed(1)
    first = model.fit(seed=1)
    other.fit(seed=1, sampler="mala")
    model.fit(seed=2, sampler="mala", precondition="diag")
    np.random.seed(2)  # numpy's own state is not used
    np.testing.assert_array_equal(model.fit(seed=1).draws, first.draws)


# ---- chains by themselves ------------------------------------------------------------------------


def parts(sampler, monkeypatch):
    """Draws and plan of a fit, caught on their way."""
    caught = []

    def spy(problem, settings, begun, saved):
        done = fit(problem, settings, begun, saved)
        caught.extend((done.x, done.plan))
        return done

    monkeypatch.setattr("sgmc.fit.run.fit", spy)
    drawn(sampler)
    return caught


def to_the_end(chain, plan, draws, length):
    """Run a chain in pieces of that length, with a pause for others after each."""
    for last, warming in (
        (plan.warmup, plan.step_origin != "given"),
        (plan.warmup + plan.thin * draws, False),
    ):
        chain.sampler.warming = warming
        while chain.steps < last:
            chain.run(min(length, last - chain.steps), last > plan.warmup)
            yield


@pytest.mark.extended("csgbd", "simple")
@every_sampler
def test_chains_built_alone_and_run_in_turns_are_those_of_the_fit(sampler, monkeypatch):
    """Chain k from k alone, the last first; then two chains a few steps each in turn,
    in pieces of different lengths.
    """
    x, plan = parts(sampler, monkeypatch)
    for order in ([3], [2, 0]):
        chains = {k: build_chain(plan, k) for k in order}
        share_design_effect(plan, list(chains.values()))
        turns = [to_the_end(chains[k], plan, x.shape[1], 7 + k) for k in order]
        while turns:
            turns = [turn for turn in turns if next(turn, "done") != "done"]
        for k, chain in chains.items():
            assert np.array_equal(np.asarray(chain.recorder.draws), x[k])


# ---- processes -----------------------------------------------------------------------------------

CODE = """
import hashlib, sys, warnings
import pandas as pd, sgmc
warnings.simplefilter("ignore")
df = pd.read_pickle(sys.argv[1])
for how in SAMPLERS:
    r = sgmc.logit("y ~ a + b", df, seed=5, draws=300, **how)
    print(hashlib.sha256(r.draws.tobytes()).hexdigest())
prior = {"a": "normal", "b": sgmc.laplace(0, 1), "*": "cauchy"}
print(hashlib.sha256(sgmc.logit("y ~ b + a", df, seed=5, prior=prior).draws.tobytes()).hexdigest())
""".replace("SAMPLERS", repr(list(SAMPLERS.values())))


@pytest.mark.extended
def test_processes_hash_seeds_and_threads_of_blas_do_not_matter(tmp_path):
    """Three fresh processes at once against each other and against this one,
    which has made other fits before.
    """
    path = tmp_path / "frame.pickle"
    frame().to_pickle(path)
    settings = [("0", "1"), ("1", "2"), ("4242", "1")]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CODE, path],
            text=True,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONHASHSEED": hash_seed,
                "OPENBLAS_NUM_THREADS": threads,
                "OMP_NUM_THREADS": threads,
            },
        )
        for hash_seed, threads in settings
    ]
    found = [child.communicate(timeout=120)[0].split() for child in running]
    assert [child.returncode for child in running] == [0, 0, 0] and found[0] == found[1] == found[2]
    assert found[0][:-1] == [usual(sampler) for sampler in SAMPLERS] and len(found[0][-1]) == 64


@pytest.mark.extended
@pytest.mark.parametrize(
    "precondition, sparse_table",
    [("dense", False), ("diag", False), (None, False), ("dense", True)],
)
def test_threads_of_blas_do_not_matter(precondition, sparse_table):
    rng = np.random.default_rng(0)  # OpenBLAS takes a second thread from about 200 columns
    X, y = rng.normal(size=(1500, 250)), rng.integers(0, 2, 1500)
    model, found = sgmc.Logit(y, sparse.csr_array(X) if sparse_table else X), set()
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"), warnings.catch_warnings():
            warnings.simplefilter("ignore", SGMCWarning)  # of few draws
            found.add(
                digest(
                    model.fit(
                        seed=1,
                        prior=sgmc.normal(0, 0.3),
                        sampler="sgld",
                        precondition=precondition,
                        draws=20,
                        thin=1,
                        warmup=0,
                    ).draws
                )
            )
    assert len(found) == 1


# ---- seeds ---------------------------------------------------------------------------------------


def test_a_seed_not_given_is_recorded_and_reproduces():
    first, second = (sgmc.logit("y ~ a", frame()) for _ in range(2))
    assert first.seed != second.seed and digest(first.draws) != digest(second.draws)
    assert digest(sgmc.logit("y ~ a", frame(), seed=first.seed).draws) == digest(first.draws)


def test_seeds_of_numpy():
    def of(seed):
        return sgmc.logit("y ~ a", frame(), seed=seed)

    assert digest(of(np.random.SeedSequence(9)).draws) == digest(of(9).draws)
    one, other = (of(np.random.default_rng(9)) for _ in range(2))
    assert digest(one.draws) == digest(other.draws) == digest(of(one.seed).draws)


def test_verbs_models_and_sample_are_one():
    df = frame()
    model = sgmc.Logit.from_formula("y ~ a", df)
    results = [sgmc.logit("y ~ a", df, seed=1), model.fit(seed=1), sgmc.sample(model, seed=1)]
    assert len({digest(r.draws) for r in results}) == 1
