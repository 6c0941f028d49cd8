"""Results of every kind are the same when they come from a file."""

import numpy as np
import pandas as pd
import patsy
import pytest

import sgmc
from sgmc.arguments.types import Floats, Frame
from sgmc.core.system.types import fits

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
FEW = dict(draws=60, chains=2, seed=1)
ALONE = dict(draws=20, chains=1, seed=1)


def table():
    """300 rows with an outcome for each family."""
    rng = np.random.default_rng(0)
    x, z, t = *rng.normal(size=(2, 300)), rng.exponential(size=300) + 0.1
    df = pd.DataFrame({"x": x, "z": z, "t": t, "y": x + rng.normal(size=300)})
    df["b"], df["c"] = rng.integers(0, 2, 300), rng.poisson(np.exp(0.3 * x))
    df["u"], df["m"] = rng.beta(2, 3, 300), rng.choice(["r", "s", "t"], 300)
    df["g"], df["h"] = rng.choice(list("abcdefgh"), 300), rng.choice(list("uvwx"), 300)
    return df


DF = table()
X = DF[["x", "z", "t"]].to_numpy()
EDGES = np.argwhere(np.tril(np.random.default_rng(1).random((20, 20)) < 0.2, -1))
RATINGS = pd.DataFrame({"user": DF.index % 20, "item": DF.index % 13, "rating": DF.c})[:200]
RATINGS = RATINGS.drop_duplicates(["user", "item"])
REGRESSIONS = {
    "interactions": lambda: sgmc.ols("y ~ x*g", DF, **FEW),
    "splines": lambda: sgmc.ols("y ~ x + bs(z, 4)", DF, weights="t", **FEW),
    "polynomials": lambda: sgmc.logit("b ~ x + poly(z, 2)", DF, **FEW),
    "offset": lambda: sgmc.poisson("c ~ x + offset(z)", DF, **FEW),
    "shape": lambda: sgmc.negativebinomial("c ~ x", DF, **FEW),
    "dispersion": lambda: sgmc.negativebinomial("c ~ x | z", DF, **FEW),
    "gamma": lambda: sgmc.glm("t ~ x", DF, family="gamma", **FEW),
    "beta": lambda: sgmc.beta("u ~ x", DF, **FEW),
    "ordered": lambda: sgmc.ordinal("c ~ x", DF.assign(c=DF.c.clip(0, 3)), **FEW),
    "classes": lambda: sgmc.mnlogit("m ~ x", DF, **FEW),
    "t errors": lambda: sgmc.rlm("y ~ x", DF, **FEW),
    "quantile": lambda: sgmc.quantreg("y ~ x", DF, **FEW),
    "survival": lambda: sgmc.survreg("Surv(t, b) ~ x", DF, **FEW),
    "hurdle": lambda: sgmc.hurdle("c ~ x", DF, **FEW),
    "zeros": lambda: sgmc.zeroinflated("c ~ x", DF, **FEW),
    "smooth": lambda: sgmc.ols("y ~ s(x, k=5)", DF, **FEW),
    "horseshoe": lambda: sgmc.ols("y ~ x + z", DF, prior=sgmc.horseshoe(), **FEW),
    "sandwich": lambda: sgmc.logit("b ~ x", DF, cov_type="cluster", groups="g", **FEW),
    "prior": lambda: sgmc.logit("b ~ x", DF, prior_only=True, **FEW),
    "laplace": lambda: sgmc.logit("b ~ x", DF, sampler="laplace", **FEW),
    "events": lambda: sgmc.logit("b ~ x", DF, sampler="zzcv", **FEW),
    "race": lambda: sgmc.logit("b ~ x", DF, sampler="sgld", tune="mamba", **FEW),
    "update": lambda: sgmc.logit("b ~ x", DF[:200], **FEW).update(DF[200:]),
    "accuracy": lambda: sgmc.logit("b ~ x", DF, seed=1, accuracy=0.2),
    "groups": lambda: sgmc.ols("y ~ x + (1 + x | g)", DF, **FEW),
    "crossed": lambda: sgmc.logit("b ~ x + (1 | g) + (1 | h)", DF, **FEW),
}
MODELS = {
    "network": lambda: sgmc.BNN(X, DF.y, hidden=(5,), outcome="heteroscedastic").fit(**ALONE),
    "mixture": lambda: sgmc.GaussianMixture(X, 2).fit(**ALONE),
    "tied": lambda: sgmc.TiedMeans(X[:, 0]).fit(**ALONE),
    "components": lambda: sgmc.ICA(X).fit(**ALONE),
    "states": lambda: sgmc.HMM(X[:, 0], 2).fit(**ALONE),
    "linear states": lambda: sgmc.LinearGaussian(X[:, 0]).fit(**ALONE),
    "volatility": lambda: sgmc.StochasticVolatility(X[:, 0]).fit(**ALONE),
    "topics": lambda: sgmc.LDA(DF[["c"] * 40][:30].to_numpy() + 1, topics=3).fit(**ALONE),
    "communities": lambda: sgmc.MMSB(EDGES, communities=2, held_out=0.1).fit(**ALONE),
    "ratings": lambda: sgmc.BPMF(RATINGS, dim=2).fit(**ALONE),
    "counts": lambda: sgmc.PPMF(RATINGS, dim=2).fit(**ALONE),
}


def saved(fit, path):
    """A fit and what is read of its file, after a look at what both have."""
    fit.save(path)
    again = sgmc.load(path)
    assert type(again) is type(fit) and again.params.equals(fit.params)
    np.testing.assert_array_equal(again.draws, fit.draws)
    assert str(again.summary()) == str(fit.summary())
    assert str(again.prior_summary()) == str(fit.prior_summary())
    return again


@pytest.mark.extended("smooth", "race", "crossed")
@pytest.mark.parametrize("kind", REGRESSIONS)
def test_regressions(kind, tmp_path):
    fit = REGRESSIONS[kind]()
    again = saved(fit, tmp_path / "fit")
    how = {"random": False} if kind in ("groups", "crossed") else {}
    np.testing.assert_array_equal(again.predict(DF[:5], **how), fit.predict(DF[:5], **how))


@pytest.mark.extended("network", "volatility", "topics", "communities")
@pytest.mark.parametrize("kind", MODELS)
def test_models(kind, tmp_path):
    saved(MODELS[kind](), tmp_path / "fit")


class Share:
    """A number as a share of the largest: a transform of the user's own."""

    def __init__(self):
        self.most = -np.inf

    def memorize_chunk(self, x):
        """See `patsy.stateful_transform`."""
        self.most = max(self.most, np.max(x))

    def memorize_finish(self):
        """See `patsy.stateful_transform`."""

    def transform(self, x):
        """See `patsy.stateful_transform`."""
        return np.asarray(x) / self.most


share = patsy.stateful_transform(Share)


def test_a_transform_of_ones_own_is_given_again(tmp_path):
    found = sgmc.ols("y ~ share(x)", DF, **FEW)
    found.save(tmp_path / "fit")
    again = sgmc.load(tmp_path / "fit", functions={"share": share})
    few = DF.head(3)
    np.testing.assert_array_equal(again.predict(few), found.predict(few))


@pytest.mark.parametrize(
    "value, kind, right",
    [
        (np.zeros(2), Floats, True),
        ([0.0, 0.0], Floats, False),
        (np.zeros(2), Floats | None, True),
        (DF, Frame, True),  # of what is not imported, nothing is known
        ({"a": DF}, dict[str, Frame], True),
        ({1: DF}, dict[str, Frame], False),
    ],
)
def test_names_of_types_are_annotations_of_what_is_read(value, kind, right):
    assert fits(value, kind) is right


@pytest.mark.parametrize("name", ["True", "None"])
def test_columns_named_like_values_of_python(name, tmp_path):
    """In backticks they are columns when the file is read, too."""
    found = sgmc.ols(f"y ~ `{name}`", DF.rename(columns={"x": name}), **FEW)
    found.save(tmp_path / "fit")
    few = pd.DataFrame({name: [0.0, 1.0]})
    np.testing.assert_array_equal(sgmc.load(tmp_path / "fit").predict(few), found.predict(few))
