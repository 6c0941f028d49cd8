"""Refusals of models and their results that no other test makes: one case for each message."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.core.expansion import of_rows
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import SGMCError
from sgmc.models.bases import opening
from sgmc.models.bases.callbacks import PythonKernel
from sgmc.models.bases.priors import check
from sgmc.models.bases.problem import SomeRecord
from sgmc.models.bases.refusals import refuse
from sgmc.models.bases.results import ModelResults
from sgmc.models.bases.start.search import first_place, own_start
from sgmc.models.communities.pairs import of_matrix
from sgmc.models.factorization import data as ratings
from sgmc.models.factorization.results import FactorResults
from sgmc.models.hmm.results import SequenceResults
from sgmc.models.hmm.sequences import outcomes
from sgmc.models.ica.results import ICAResults
from sgmc.models.lda.results import LDAResults
from sgmc.models.regression.latent.covariance.crossed_effects import refuse_more
from sgmc.models.regression.latent.covariance.group_effects import named
from sgmc.models.regression.latent.effects.smooth_results import Smooths
from sgmc.models.regression.latent.levels.problem import inexact
from sgmc.models.regression.latent.levels.results import LevelsResults
from sgmc.models.regression.latent.sampled import refusals as crossed
from sgmc.models.regression.latent.sampled.problem import ThinnedRecord
from sgmc.models.regression.mode import check_loss
from sgmc.models.regression.updated import problem as updated
from sgmc.models.user import check as checking
from sgmc.results.report.ratios import ratio_name
from sgmc.subsampling.uniform import Uniform

from .test_rare import fitted, frame

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

CROSSED = "y ~ x + (1 | g) + (1 | kind)"


class Line(sgmc.Model):
    """y ~ Normal(slope x, 1), of numbers that each test changes."""

    parameters = {"slope": ()}

    def __init__(self, **said):
        self.x = frame().x.to_numpy()
        self.n = len(self.x)
        for name, value in said.items():
            setattr(self, name, value)

    def log_lik(self, theta, rows):
        """Sum over rows of the log density."""
        return -0.5 * ((frame().y.to_numpy()[rows] - theta["slope"] * self.x[rows]) ** 2).sum()

    def grad(self, theta, rows):
        """Gradient of `log_lik`."""
        left = frame().y.to_numpy()[rows] - theta["slope"] * self.x[rows]
        return {"slope": (left * self.x[rows]).sum()}


class Rising(Line):
    """The same with a slope that is positive, and a start that is not."""

    constraints, start = {"slope": "positive"}, {"slope": -1.0}


def short(model, **how):
    """A short fit of a model."""
    return model.fit(**{"draws": 20, "chains": 1, "progress": False, "seed": 1, **how})


def sources():
    """What results of two columns of sources read of theirs."""
    return SimpleNamespace(model=SimpleNamespace(centre=np.zeros(2), unit=1.0))


def not_positive(theta):
    """A map that refuses a start."""
    raise ValueError("-1 is not positive")


def square(n=3, links=((0, 1),)):
    """An adjacency matrix."""
    A = np.zeros((n, n))
    for i, j in links:
        A[i, j] = A[j, i] = 1
    return A


OF_MODELS = {
    "lets slopes of regressions stick to zero; this model has none": lambda: short(
        Line(), sampler="stickyzigzag"
    ),
    "start: [-1.] is not positive": lambda: short(Rising()),
    "start: -1 is not positive": lambda: own_start(
        SimpleNamespace(start=lambda random: [-1.0]), SimpleNamespace(inverse=not_positive), None
    ),
    "init: -1 is not positive": lambda: first_place(
        SimpleNamespace(
            layout=SimpleNamespace(map=SimpleNamespace(inverse=not_positive)), scaled=False
        ),
        SimpleNamespace(init=[-1.0], start_given=True),
    ),
    "nodes has 2 labels; edges has 3 nodes": lambda: of_matrix(
        sparse.csr_array(square()), ["a", "b"]
    ),
    "y has shape (2, 0); it must be one number a step, or a row of them": lambda: outcomes(
        np.ones((2, 0))
    ),
    "counts has shape (0, 3); it must be documents x words": lambda: sgmc.LDA(np.ones((0, 3)), 2),
    "data has 1 columns; it must have 2": lambda: ICAResults._table(sources(), frame()[["x"]]),
    "data has missing or infinite values; drop those rows first": lambda: ICAResults._table(
        sources(), frame()[["x", "z"]] / 0.0
    ),
    "no documents were held out of the fit": lambda: LDAResults.perplexity(
        SimpleNamespace(model=SimpleNamespace(held_out=None))
    ),
    "y is 0 in every row": lambda: sgmc.BNN(
        np.arange(4.0)[:, None], np.zeros(4), outcome="poisson"
    ),
    "formula must be a str, not int": lambda: sgmc.BNN.from_formula(3, frame()),
    "X has no rows": lambda: sgmc.BNN(np.ones((0, 1)), np.ones(0)),
    "exog has shape (80, 0); it must be rows x columns": lambda: sgmc.OLS(
        frame().y, np.ones((80, 0))
    ),
    "the data are empty: no row": lambda: sgmc.OLS(np.ones(0), np.ones((0, 1))),
    "strata has shape (80, 1); it must be one label a row": lambda: sgmc.OLS(
        frame().y, frame()[["x"]], strata=np.ones((80, 1))
    ),
    "groups has shape (80, 1); it must be one label a row": lambda: sgmc.OLS(
        frame().y, frame()[["x"]], groups=np.ones((80, 1))
    ),
    "levels; ordinal takes at most": lambda: sgmc.ordinal(
        "k ~ x",
        pd.DataFrame({"k": pd.Categorical(range(99), ordered=True), "x": np.arange(99.0)}),
    ),
    "init: a parameter is not between the ends of its prior": lambda: fitted.__wrapped__(
        prior={"x": sgmc.truncated(sgmc.normal(0, 1), low=0)},
        init=[0.0, -1.0, 1.0],
    ),
}
OF_GROUPS = {
    "nodes=5 has no use with crossed factors and smooths": lambda: fitted(formula=CROSSED, nodes=5),
    "601 standard deviations of effects and smooths": lambda: refuse_more(601),
    "99 effects of a group: at most": lambda: named(
        [SimpleNamespace(columns=[f"x{k}" for k in range(99)], factor="g", part="")], "of a group"
    ),
    "steps that vary with (1 | g) + (1 | kind): their draws have weights": lambda: fitted(
        formula=CROSSED, sampler="sgld", step_size=sgmc.Polynomial(0.1, 10, 0.6)
    ),
    "thin='distance' does not apply to moments of draws": lambda: SomeRecord(
        None, None, [0]
    ).recorder(None, 10, SimpleNamespace(spaced=True)),
    "decaying steps of sgld with moments of draws that are not kept": lambda: SomeRecord(
        None, None, [0]
    ).recorder(
        None,
        10,
        SimpleNamespace(
            spaced=False,
            weighted=True,
            schedule=lambda k: 1.0,
            spec=SimpleNamespace(name="sgld", langevin_time=lambda h: h**2),
        ),
    ),
    "random=True: effects of new rows need a table with the columns of the groups": lambda: fitted(
        formula="y ~ x + (1 | g)"
    ).predict(np.ones((2, 2)), transform=False),
    "there is no smooth 's(w)': there are s(x)": lambda: fitted(formula="y ~ s(x)").smooth("s(w)"),
    "the model has no smooths, such as s(x)": lambda: Smooths.smooth(fitted(formula=CROSSED)),
    "at: give finite values of x, an array (n, 1)": lambda: fitted(formula="y ~ s(x)").smooth(
        at=[np.nan]
    ),
    "smooths of new rows need a table with their columns": lambda: fitted(
        formula="y ~ s(x)"
    ).predict(np.ones((2, 1)), transform=False),
    "group=True applies to group terms, and the formula has none": lambda: fitted(
        formula="y ~ s(x)"
    ).loo(group=True),
    "subsample='stratified' does not apply to group terms": lambda: fitted(
        "logit", "hit ~ x + (1 | g)", sampler="sgld", subsample="stratified"
    ),
    "metric='log_loss' does not apply to group terms": lambda: sgmc.tune(
        sgmc.Logit.from_formula("hit ~ x + (1 | g)", frame()), "sgld", metric="log_loss"
    ),
}
SPLIT = SimpleNamespace(term="g")
OF_INNER = {
    "log_likelihood does not apply to Line": lambda: ModelResults.to_arviz(
        SimpleNamespace(model=SimpleNamespace(title="Line")), log_likelihood=True
    ),
    "keep=['w']: 1 numbers in 4 chains of many draws are over the limit": lambda: SomeRecord(
        SimpleNamespace(size=3, slices={"w": slice(0, 1)}, known=lambda name, argument: name),
        SimpleNamespace(always=True),
    ).settled(
        SimpleNamespace(coordinates=SimpleNamespace(scaled=False)),
        SimpleNamespace(keep=["w"], draws=1, positions=10**9, chains=4, kept_text="many draws"),
    ),
    "grad returned 3 numbers; it must be 2, one a parameter": lambda: of_rows(
        PythonKernel(2, 5, lambda theta, rows: 0.0, lambda theta, rows: np.zeros(3)), np.zeros(2)
    ),
    "parameters are 2 numbers, the model has 3": lambda: refuse(
        SimpleNamespace(kernel=SimpleNamespace(dim=3), layout=SimpleNamespace(size=2)),
        SimpleNamespace(scheme=Uniform),
    ),
    "judged_quantities: links need the data of the fit": lambda: ModelResults.judged_quantities(
        SimpleNamespace(judged_by="links", _fit=None)
    ),
    "test_log_lik is of counts; of BPMF there is rmse": lambda: FactorResults.test_log_lik.fget(
        SimpleNamespace(
            _need_ratings=lambda _: None,
            model=SimpleNamespace(form={"counts": False}, title="BPMF"),
        )
    ),
    "this needs draws of all parameters: fit without keep=": lambda: SequenceResults._thetas(
        SimpleNamespace(_moments=1), 10
    ),
    "coefficient_draws of 1 coefficients and 1,000,000,000 draws": lambda: (
        LevelsResults.coefficient_draws(
            SimpleNamespace(
                model=SimpleNamespace(split=SPLIT), flat=range(10**9), wanted=lambda _: ["g[a]"]
            )
        )
    ),
    "coefficient_draws needs the data of the fit: these results": lambda: (
        LevelsResults.saved_effects(
            SimpleNamespace(_levels=None, _without_rows=LevelsResults._without_rows),
            "coefficient_draws",
            None,
            None,
        )
    ),
    "transform=False: levels of g are read from the table": lambda: LevelsResults.table_rows(
        SimpleNamespace(model=SimpleNamespace(split=SPLIT)), 1, transform=False
    ),
    "there are no draws of smooths: time_limit left none": lambda: Smooths.curve(
        SimpleNamespace(curve_draws=None)
    ),
    "random=True: effects of new rows need a table with the columns of the groups; ": lambda: (
        fitted(formula=CROSSED).predict(np.ones((2, 2)), transform=False)
    ),
}
OF_REFITS = {
    "reloo needs all 80 rows left out one at a time, loo has 10 of 80": lambda: fitted().reloo(
        fitted().loo(rows=10), frame()
    ),
    "cross-validation does not apply to cov_type='robust'": lambda: fitted(cov_type="robust").kfold(
        frame()
    ),
    "offset of the fit was no column of the data": lambda: with_offset().kfold(frame()),
    "update: the fit was of arrays, without a formula to change": lambda: of_arrays().update(
        ". ~ . + z", data=frame()
    ),
    "update: offset of the fit was no column: give offset= again": lambda: with_offset().update(
        ". ~ . + z", data=frame()
    ),
    "update: give offset= to the model of the new rows": lambda: fitted().update(
        new_data=sgmc.OLS.from_formula("y ~ x", frame()), offset="z"
    ),
    "update: offset belongs to both the fit and the new rows": lambda: fitted().update(
        new_data=sgmc.OLS.from_formula("y ~ x", frame(), offset="z")
    ),
    "exponentiate=True is for regressions, which this is not": lambda: ratio_name(
        SimpleNamespace(model=None)
    ),
    "prior: lkj(2) is for correlations of a group's effects, 'slope' is none; use": lambda: check(
        sgmc.lkj(2), "slope", "", (-np.inf, np.inf)
    ),
    "ranef_draws of 4 levels and 1,000,000,000 draws is 29.8 GB": lambda: fitted(
        formula="y ~ x + (1 | g)"
    ).ranef_draws(draws=10**9),
}
CASES = OF_MODELS | OF_GROUPS | OF_INNER | OF_REFITS


def with_offset():
    """A fit whose offset was no column."""
    return fitted.__wrapped__(offset=np.zeros(80))


def of_arrays():
    """A fit of arrays."""
    data = frame()
    return sgmc.OLS(data.y, data[["one", "x"]]).fit(draws=100, progress=False)


@pytest.mark.cover(1)
@pytest.mark.parametrize("message", CASES)
def test_refusals(message):
    with pytest.raises(SGMCError, match=re.escape(message)):
        CASES[message]()


# ---- what is found while a run goes on -----------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, 0.0])
def test_starts_that_are_not_finite_are_refused(monkeypatch, value):
    for name, stand_in in dict(
        full=lambda *_: (value, np.full(1, np.nan)),
        not_finite=lambda *_: "the log posterior is nan",
        of_rows=lambda *_: (np.nan,),
        of_prior=lambda *_: (0.5,),
    ).items():
        monkeypatch.setattr(opening, name, stand_in)
    model = SimpleNamespace(called="Line", layout=SimpleNamespace(map=None), kernel=None)
    there = "" if value == 0 else ". There log_lik is nan and the log prior 0.5"
    with pytest.raises(SGMCError, match=re.escape(f"Line: the log posterior is nan{there}.")):
        opening.check_finite(None, np.zeros(1), model, None)


def test_too_many_labels_of_ratings_are_refused(monkeypatch):
    monkeypatch.setattr(ratings, "MAX_INDEX", 2)
    with pytest.raises(SGMCError, match="3 labels of 'user' are too many: at most 2"):
        ratings.numbered(pd.Series([*"abc"]), "user")


def test_crossed_factors_with_too_many_levels_are_refused(monkeypatch):
    monkeypatch.setattr(crossed, "LARGEST_BORDER", 3)
    with pytest.raises(SGMCError, match="'kind' has 3 levels, and with 'g' it crosses one that"):
        fitted.__wrapped__(formula=CROSSED)


def test_crossed_draws_beyond_the_memory_are_refused():
    settings = SimpleNamespace(positions=10**9, chains=4, kept_text="10**9 draws")
    with pytest.raises(SGMCError, match="draws in 4 chains of 3 parameters are 89.4 GB, over the"):
        ThinnedRecord([0, 1, 2]).settled(None, settings)


def test_smooths_beyond_their_knots_are_reported():
    far = frame().assign(x=frame().x + 100.0)
    with pytest.warns(sgmc.errors.ExtrapolationWarning, match="80 of 80 new rows have x outside"):
        fitted(formula="y ~ s(x)").predict(far)


def test_quadrature_that_is_not_exact_is_reported():
    (found,) = inexact(SimpleNamespace(nodes=9, error=1.0), SPLIT)
    assert "9 quadrature nodes of each level of g leave errors of 1" in str(found)


def test_searches_of_quantiles_that_do_not_end_are_refused(monkeypatch):
    monkeypatch.setattr(check_loss, "LARGEST_GAP", -1.0)
    with pytest.raises(SGMCError, match="the search for its quantile ended with a relative error"):
        fitted.__wrapped__("quantreg", "y ~ x")


def test_updates_that_time_ends_are_refused(monkeypatch):
    def late(*_):
        raise OutOfTime

    monkeypatch.setattr(updated, "anchored", late)
    with pytest.raises(SGMCError, match="update: time_limit ended the search for the new mode"):
        fitted().update(new_data=frame()[::-1])


def test_priors_by_hand_that_are_not_finite_are_found(monkeypatch):
    monkeypatch.setattr(checking, "of_prior", lambda *_: (np.nan, np.zeros(1)))
    monkeypatch.setattr(checking, "shown", lambda *_: "slope=1")
    with pytest.raises(checking.Wrong, match="log_prior is nan at the start .slope=1."):
        checking.look_at_prior(None, None, None, None)


def test_compiled_models_of_another_size_are_found(monkeypatch):
    monkeypatch.setattr(Line, "kernel", lambda self: SimpleNamespace(dim=3))
    assert "parameters are 1 numbers, the compiled model has 3" in str(sgmc.check_model(Line()))


def test_extras_that_are_not_installed_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    with pytest.raises(SGMCError, match="JaxModel needs jax, which is not installed"):
        sgmc.JaxModel(None, {}, parameters={})
    with pytest.raises(SGMCError, match="to_arviz needs arviz-base, which is not installed"):
        ModelResults.to_arviz(None)


def test_arguments_of_models_in_jax(monkeypatch):
    leaves = SimpleNamespace(leaves=lambda data: list(data.values()))
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(tree=leaves))
    with pytest.raises(SGMCError, match="data: arrays have .2,., .3,. rows; all must have as many"):
        sgmc.JaxModel(None, {"x": np.ones(2), "y": np.ones(3)}, parameters={"slope": ()})
    with pytest.raises(TypeError, match="unexpected keyword argument 'priors'; it has: "):
        sgmc.JaxModel(None, {"x": np.ones(2)}, parameters={"slope": ()}, priors=1)
