"""Draws from conditional distributions leave the joint law of parameters and outcomes as it is:
parameters from their prior, outcomes given these, and some steps of the sampler on these outcomes
(Geweke 2004, doi:10.1198/016214504000001132).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.fit.settings import check_settings
from sgmc.models.regression.latent.shrunk.conditionals import ScaleConditionals
from sgmc.models.regression.latent.shrunk.model import LearnedRegression
from sgmc.models.regression.latent.shrunk.shrinking import Shrunk

REPLICATES, STEPS = 3000, 3
# z of the largest of some 40 differences: above 4.2 with probability .001
FAR = 4.2
TAU, SLAB, SIGMA, INTERCEPT = 0.4, 1.5, 0.8, 0.7
HORSESHOE = sgmc.horseshoe(scale=TAU, slab=SLAB, autoscale=False, learned=True)
R2D2 = sgmc.r2d2(mean=0.4, precision=5.0)
CASES = {
    "more rows": (14, 5, {"*": HORSESHOE}),
    "more columns": (6, 9, {"*": HORSESHOE}),
    "R2": (6, 9, {"*": R2D2}),
    "R2 of few": (14, 5, {"*": R2D2}),
    "beside others": (9, 8, {"*": HORSESHOE, "x1": sgmc.normal(0.3, 0.6), "x2": "flat"}),
    "beside a ridge": (9, 8, {"*": HORSESHOE, **{f"x{j}": sgmc.ridge(5, 0.6) for j in (1, 2, 3)}}),
}


@cache
def known(case):
    """The `ScaleConditionals` of a case, in which the intercept's prior is its own."""
    n, p, prior = CASES[case]
    rng = np.random.default_rng(n + p)
    X = 0.5 + rng.normal(size=(n, p)) @ (np.eye(p) + 0.4)
    names = ["Intercept", *(f"x{j}" for j in range(p))]
    model = sgmc.OLS(rng.normal(size=n), np.column_stack([np.ones(n), X]), names=names)
    prior = {
        **prior,
        "sigma": sgmc.exponential(scale=SIGMA),
        "Intercept": sgmc.normal(0.2, INTERCEPT),
    }
    settings = check_settings(seed=1, progress=False)
    problem = LearnedRegression.of(model, prior, settings).problem(prior, settings)
    assert isinstance(problem.conditionals, ScaleConditionals)
    return problem.conditionals


class Law(NamedTuple):
    """Of a positive number: a draw, and the share below a value."""

    draw: Callable
    share: Callable


LAWS = {
    "horseshoe": Law(
        lambda rng: TAU * np.abs(rng.standard_cauchy()),
        lambda value: 2 / np.pi * np.arctan(value / TAU),
    ),
    "r2d2": Law(
        lambda rng: 1 / rng.gamma(0.6 * 5.0), lambda value: special.gammaincc(0.6 * 5.0, 1 / value)
    ),
    "ridge": Law(
        lambda rng: 0.6 * np.abs(rng.standard_t(5)),
        lambda value: 2 * special.stdtr(5, value / 0.6) - 1,
    ),
}


class Joint:
    """Parameters and outcomes from their joint law."""

    def __init__(self, of, groups):
        self.of, self.shrunk, self.groups = of, of.shrunk, groups
        self.kind = np.asarray(self.shrunk.local)

    def prior(self, rng):
        """theta from the prior; its intercept is that of `columns`, where others are flat 0."""
        of, s = self.of, self.shrunk
        theta = np.zeros(s.size)
        theta[-1] = np.log(rng.exponential(SIGMA))
        at = s.first_group
        for i, one in enumerate(self.groups):
            theta[at + i] = np.log(one.draw(rng))
        for j, v in enumerate(s.own):
            if self.kind[j] == 1:
                theta[v] = np.log(np.abs(rng.standard_cauchy()))
            elif self.kind[j] == 2:
                theta[v] = 0.5 * np.log(rng.gamma(s.shape[j]))
        sd = np.sqrt(s.variances(theta)[0])
        for j in range(s.d):
            if of.precision[j] > 0:
                theta[j] = of.location[j] + rng.normal() / np.sqrt(of.precision[j])
        theta[np.asarray(s.where)] = sd * rng.normal(size=s.k)
        if of.pivot >= 0:
            theta[of.pivot] -= of.shift @ theta[: s.d]
        return theta

    def outcomes(self, theta, rng):
        """Rows with the products of all."""
        of, sigma = self.of, np.exp(theta[-1])
        beta = np.array(theta[: self.shrunk.d])
        if of.pivot >= 0:
            beta[of.pivot] += of.shift @ beta
        (d, m), n = of.columns.shape, int(of.weight)
        y = beta @ of.columns + sigma * rng.normal(size=m)
        if n > m:  # what rows beyond one a column have left
            assert m == d + 1
            y[-1] = sigma * np.sqrt(rng.chisquare(n - d))
        return y

    def normal(self, theta):
        """Numbers of parameters that are standard normal under the prior."""
        of, s = self.of, self.shrunk
        sd, beta = np.sqrt(s.variances(theta)[0]), np.array(theta[: s.d])
        if of.pivot >= 0:
            beta[of.pivot] += of.shift @ beta
        plain = of.precision > 0
        values = [(beta[plain] - of.location[plain]) * np.sqrt(of.precision[plain])]
        values.append(beta[np.asarray(s.where)] / sd)
        shares = [1 - np.exp(-np.exp(theta[-1]) / SIGMA)]
        at = s.first_group
        for i, one in enumerate(self.groups):
            shares.append(one.share(np.exp(theta[at + i])))
        for j, v in enumerate(s.own):
            if self.kind[j] == 1:
                shares.append(2 / np.pi * np.arctan(np.exp(theta[v])))
            elif self.kind[j] == 2:
                shares.append(special.gammainc(s.shape[j], np.exp(2 * theta[v])))
        values.append(special.ndtri(np.clip(shares, 1e-12, 1 - 1e-12)))
        return np.concatenate(values)


def groups_of(case):
    """Laws of global parameters, in the order of their groups."""
    order = []
    for j in range(CASES[case][1]):
        prior = CASES[case][2].get(f"x{j}", CASES[case][2]["*"])
        kind = getattr(prior, "family", "")
        if kind in LAWS and kind not in order:
            order.append(kind)
    return [LAWS[kind] for kind in order]


def shift(case, *, step=None, changed=lambda of: of, replicates=REPLICATES):
    """z values of the changes of means and mean squares by steps."""
    of = known(case)
    joint, wrong = Joint(of, groups_of(case)), changed(of)
    rng, own = np.random.default_rng(7), Rng(seed_sequence(7, "chain"))
    moved = []
    for _ in range(replicates):
        theta = joint.prior(rng)
        now = replace(wrong, y=joint.outcomes(theta, rng))
        sweeps, after = now.sweeps(), np.array(theta)
        for _ in range(STEPS):
            if step is None:
                sweeps.sweep(after, own, 1)
                now.draw_together(after, own)
            else:
                step(now, sweeps, after, own)
        before, after = joint.normal(theta), joint.normal(after)
        moved.append(np.concatenate([after - before, after**2 - before**2]))
    moved = np.array(moved)
    sd = moved.std(axis=0)
    return moved.mean(axis=0) / np.where(sd > 0, sd, 1.0) * np.sqrt(len(moved))


def sweep_alone(now, sweeps, theta, own):
    sweeps.sweep(theta, own, 1)


def together_alone(now, sweeps, theta, own):
    now.draw_together(theta, own)


PARTS = {"sweeps": sweep_alone, "together": together_alone}


@pytest.mark.parametrize("case", [one for one in CASES if one != "beside others"])
@pytest.mark.parametrize("part", PARTS)
def test_steps_leave_the_joint_law_as_it_is(case, part):
    assert np.abs(shift(case, step=PARTS[part])).max() < FAR


def with_shrunk(of, **how):
    """With other scales."""
    s = of.shrunk
    names = ("where", "group", "local", "shape", "unit", "slab", "share", "noise")
    given = {name: np.asarray(getattr(s, name)) for name in names} | how
    return replace(of, shrunk=Shrunk(s.d, s.groups, s.log_params, **given))


def doubled(now, sweeps, theta, own):
    """Noise of coefficients times sqrt 2, about their mean."""
    before = np.array(theta)
    now.draw_together(theta, own)
    again = np.array(before)
    now.draw_together(again, own)
    d = now.shrunk.d
    theta[:d] += (np.sqrt(2) - 1) / np.sqrt(2) * (theta[:d] - again[:d])


MISTAKES = {
    "noise": dict(step=doubled),
    "rows": dict(changed=lambda of: replace(of, weight=1.15 * of.weight)),
    "prior": dict(changed=lambda of: with_shrunk(of, unit=1.1 * np.asarray(of.shrunk.unit))),
    "slab": dict(changed=lambda of: with_shrunk(of, slab=np.full(of.shrunk.k, np.inf))),
    "sigma in scales": dict(changed=lambda of: with_shrunk(of, noise=np.zeros(of.shrunk.k))),
    "intercept": dict(changed=lambda of: replace(of, shift=0 * of.shift)),
}


@pytest.mark.extended
@pytest.mark.mistake("conditional draws: {name}")
@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes_move_it(name):
    """Noise x sqrt 2, a sum of weights too large, scales x 1.1, no slab, scales not in units of
    sigma, the prior of the intercept at other predictors.
    """
    assert np.abs(shift("more columns", **MISTAKES[name])).max() > FAR


# ---- fits ----------------------------------------------------------------------------------------

FEW = dict(prior={"*": sgmc.horseshoe(learned=True)}, seed=3, progress=False)
GIBBS = "Gibbs"


def frame(n=40, p=6):
    """Rows with weights, offsets and a factor."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, p))
    df = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    df["g"] = rng.choice(list("abc"), n)
    df["off"], df["w"] = rng.normal(size=n), rng.integers(1, 4, n)
    df["y"] = 1 + 2 * df.x0 + df.off + rng.normal(size=n)
    return df


def fitted(df, **how):
    formula = "y ~ g + " + " + ".join(f"x{j}" for j in range(6))
    return sgmc.ols(formula, df, **{"draws": 60, **FEW, **how})


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_the_same_seed_has_the_same_bits_and_runs_go_on(tmp_path):
    df, path = frame(), str(tmp_path / "run")
    whole = fitted(df)
    assert type(whole.sampler).__name__ == GIBBS
    assert np.array_equal(fitted(df, threads=1).draws, whole.draws)
    assert np.array_equal(fitted(df, draws=25).resume(35).draws, whole.draws)
    fitted(df, draws=25, checkpoint=path)
    assert np.array_equal(fitted(df, checkpoint=path).draws, whole.draws)
    assert not np.array_equal(fitted(df, seed=4).draws, whole.draws)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_weights_are_rows_that_repeat():
    df = frame()
    settings = check_settings(seed=1, progress=False)
    found = []
    for rows, how in ((df, {"weights": df.w}), (df.loc[df.index.repeat(df.w)], {})):
        model = sgmc.OLS.from_formula("y ~ x0 + x1 + x2", rows, offset=rows.off, **how)
        one = LearnedRegression.of(model, FEW["prior"], settings)
        of = one.problem(FEW["prior"], settings).conditionals
        rest = of.y @ of.y
        found.append((of.gram, of.columns @ of.y, rest, of.weight, np.asarray(of.shrunk.unit)))
    for weighted, repeated in zip(*found):
        np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_what_conditionals_are_not_for_takes_paths():
    df = frame()
    for how in (
        dict(sampler="hmc"),
        dict(prior={"*": sgmc.horseshoe(learned=True), "x1": sgmc.student_t(4)}),
        dict(sigma=1.0),
    ):
        assert type(fitted(df, **how).sampler).__name__ == "HMC"
    assert type(fitted(df, sampler="gibbs").sampler).__name__ == GIBBS
    with pytest.raises(NotSupported, match="gibbs draws from conditional distributions"):
        fitted(df, sampler="gibbs", prior=sgmc.normal(0, 1))
    with pytest.raises(ArgumentError, match="step_size does not apply to gibbs"):
        fitted(df, sampler="gibbs", step_size=0.1)


def test_more_coefficients_than_are_drawn_in_turn_are_refused():
    X = np.random.default_rng(0).normal(size=(4, 5001))
    with pytest.raises(NotSupported, match="5001 coefficients .* more than 5000"):
        sgmc.OLS(X[:, 0], X).fit(prior=sgmc.horseshoe(learned=True), seed=1)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_column_that_no_row_tells_has_its_prior():
    """Rows of weight zero alone have it: draws in turn are those of a column of zeros."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    frame["y"] = 2 * frame.a - frame.b + rng.normal(size=60)
    frame["z"], frame["w"] = 0.0, 1.0
    frame.loc[:4, "z"], frame.loc[:4, "w"] = rng.normal(size=5), 0.0
    fit = sgmc.ols("y ~ a + b + z", frame, prior={"*": HORSESHOE}, weights="w", seed=1, draws=500)
    assert fit.sampler.name == "gibbs"
    # of 2,000 draws of a symmetric law 50 % are above zero, +- 4 %: draws are nearly independent
    assert abs((fit.draws[..., 3] > 0).mean() - 0.5) < 0.08
    assert fit.params["a"] == pytest.approx(2, abs=0.5)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_rows_that_count_twice_and_are_fitted_exactly_are_refused():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(8, 12)), columns=[f"x{j}" for j in range(12)])
    frame["y"], frame["w"] = rng.normal(size=8), 3.0
    with pytest.raises(DataError, match="13 coefficients can fit all 8 rows exactly, and weights"):
        sgmc.ols("y ~ .-w", frame, prior={"*": HORSESHOE}, weights="w", seed=1, draws=50)
    once = sgmc.ols("y ~ .-w", frame, prior={"*": HORSESHOE}, seed=1, draws=50)
    assert once.sampler.name == "gibbs"


@pytest.mark.parametrize("case", ["R2", "more columns"])
def test_chains_begin_where_scales_are_numbers(case):
    """Logs of many columns' scales reach down by a thousand: starts as far above their mean were
    infinite, and a slice around what is no number never ended.
    """
    of = known(case)
    theta = of.map(np.zeros(of.shrunk.size))
    theta[of.shrunk.d : of.shrunk.first_group] = 579.0
    x = of.map.inner.inverse(np.nan_to_num(of.map.outer.inverse(theta)))
    of.turns().step(x, 1, Rng(seed_sequence(1, "pilot")))
    after = of.map(x)
    assert np.isfinite(after).all()
    assert after[of.shrunk.d : of.shrunk.first_group].max() <= 100
