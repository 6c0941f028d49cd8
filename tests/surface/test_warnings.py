"""Warnings point at the line of the user, for every way to call."""

import warnings

import numpy as np
import pytest

import sgmc
from sgmc.errors import ColumnsLeftOutWarning, InfluenceWarning, LowESSWarning, SGMCWarning, warn

random = np.random.default_rng(0)
N = 80
DATA = dict(x=random.normal(size=N), y=random.integers(0, 2, N))
DATES = {**DATA, "day": np.arange(N).astype("datetime64[D]")}
X = np.column_stack([np.ones(N), DATA["x"]])
FEW = dict(draws=10, seed=1)
MODEL = sgmc.Logit(DATA["y"], X)


class Location(sgmc.Model):
    """y ~ N(mu, 1)."""

    parameters = {"mu": ()}
    n = N

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        return -0.5 * ((DATA["x"][rows] - theta["mu"]) ** 2).sum()


def estimator():
    """An estimator of scikit-learn."""
    estimators = pytest.importorskip("sgmc.sklearn", exc_type=ImportError)
    return estimators.BayesianLogisticRegression(draws=10, random_state=1)


def quiet(call):
    """The value of a call whose warnings do not matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        return call()


def outlying():
    """A fit with one row that matters too much."""
    x = np.append(random.normal(size=30), 12.0)
    return quiet(lambda: sgmc.OLS(np.append(x[:-1], -40.0), x[:, None]).fit(seed=1))


# each way on a line of its own: the warning must have that line
WAYS = {
    "verb": lambda: sgmc.logit("y ~ x", DATA, **FEW),
    "glm": lambda: sgmc.glm("y ~ x", DATA, family="binomial", **FEW),
    "class, formula": lambda: sgmc.Logit.from_formula("y ~ x", DATA).fit(**FEW),
    "class, arrays": lambda: sgmc.Logit(DATA["y"], X).fit(**FEW),
    "sample": lambda: sgmc.sample(MODEL, **FEW),
    "sample of a model of the user": lambda: sgmc.sample(Location(), **FEW),
    "fit of a model of the user": lambda: Location().fit(**FEW),
    "fit of another model": lambda: sgmc.TiedMeans(DATA["x"]).fit(sampler="mala", **FEW),
    "fit(tune=)": lambda: MODEL.fit(tune="default", sampler="sgld", **FEW),
    "verb with tune=": lambda: sgmc.logit("y ~ x", DATA, tune="default", sampler="sgld", **FEW),
    "resume": lambda: quiet(lambda: MODEL.fit(**FEW)).resume(draws=1),
    "resume with data": lambda: quiet(lambda: MODEL.fit(**FEW)).resume(draws=1, data=MODEL),
    "scikit-learn": lambda: estimator().fit(X[:, 1:], DATA["y"]),
}
FORMULAS = {
    "verb": lambda: sgmc.logit("y ~ .", DATES, seed=1),
    "glm": lambda: sgmc.glm("y ~ .", DATES, family="binomial", seed=1),
    "class": lambda: sgmc.Logit.from_formula("y ~ .", DATES),
    "network": lambda: sgmc.BNN("y ~ .", DATES, hidden=(2,)),
}


def lines_of(call, kind):
    """Files and lines of the warnings of a kind."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [(one.filename, one.lineno) for one in caught if one.category is kind]


@pytest.mark.parametrize("way", WAYS)
def test_a_fit_warns_at_the_users_line(way):
    found = lines_of(WAYS[way], LowESSWarning)
    assert found == [(__file__, WAYS[way].__code__.co_firstlineno)]


@pytest.mark.parametrize("way", FORMULAS)
def test_a_formula_warns_at_the_users_line(way):
    found = lines_of(FORMULAS[way], ColumnsLeftOutWarning)
    assert found == [(__file__, FORMULAS[way].__code__.co_firstlineno)]


def test_results_warn_at_the_users_line():
    fit = outlying()
    call = lambda: fit.loo()
    assert lines_of(call, InfluenceWarning) == [(__file__, call.__code__.co_firstlineno)]


def test_the_default_filter_shows_a_warning_once_per_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            warn(LowESSWarning("few"))
        warn(LowESSWarning("few"))
    found = [one.lineno for one in caught]
    assert len(found) == 2 and found[0] != found[1]


def test_warnings_can_be_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", LowESSWarning)
        with pytest.raises(LowESSWarning, match="draws="):
            MODEL.fit(**FEW)
