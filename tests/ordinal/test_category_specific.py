"""Category-specific effects of sequential models, cs(z): densities against products of stages,
posteriors against logit regressions of expanded rows, results, and what is refused.
"""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from _ext.probes import Probe, block
from scipy import special

import sgmc
from sgmc.core.designs.design import design
from sgmc.errors import DataError, FormulaError, NotSupported
from sgmc.formula.outside import formula as outside
from sgmc.formula.stages import has_stages, split_stages
from sgmc.models.regression.families.ordinal import CategorySpecificFamily

from ..importance import apart
from ..sbc import KEPT, p_values
from .densities import assert_density
from .derivatives import assert_derivatives
from .test_sequential import FUNCTIONS, LINKS, NAMES, STEPS

PLACES = [(-0.7, 0.3, -0.4, 0.8), (0.5, -0.6, 0.0, 0.2), (0.0, 1.1, 0.9, -1.0)]  # eta and zetas


def family(link):
    """Of four levels: a column of the common predictor, and one of each stage."""
    return CategorySpecificFamily(
        np.arange(4), (0,), None, link=link, labels=tuple(NAMES), shares=np.full(4, 0.25),
        coefficients=["Intercept", *(f"z[{k}]" for k in range(3))], intercept=0,
    )  # fmt: skip


def compiled(link, y):
    """The compiled model of one outcome, its parameters being eta, zetas and steps."""
    return Probe(family(link).kernel(design(np.ones((1, 4))), np.array([float(y)])))


def by_numpy(link, y, theta, mistake=None):
    """log p(y) at (eta, zetas, steps); `mistake` is a planted one."""
    zeta = np.roll(theta[1:4], 1) if mistake == "another stage's" else theta[1:4]
    t = np.cumsum([0.0, *theta[4:]]) - theta[0] + (zeta if mistake == "sign" else -zeta)
    stops = FUNCTIONS[link](t)
    return np.log(np.prod(1 - stops[:y]) * (stops[y] if y < 3 else 1.0))


# ---- densities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("y", range(4))
@pytest.mark.parametrize("link", LINKS)
def test_densities_are_products_of_stages(link, y):
    """To 1e-10; passing has an error of 1e-16 over its probability, here above 1e-4."""
    for place in PLACES:
        right = by_numpy(link, y, np.array([*place, *STEPS]))
        assert_density(compiled(link, y), family(link), place, STEPS, y, right)


@pytest.mark.parametrize("mistake", ["sign", "another stage's"])
@pytest.mark.parametrize("link", LINKS)
def test_mistakes_are_seen_by_densities(link, mistake):
    """Planted: the sign of z . gamma; the effect of the stage before."""
    theta = np.array([*PLACES[0], *STEPS])
    off = [
        compiled(link, y).value(theta, block(0, 1)) - by_numpy(link, y, theta, mistake)
        for y in range(4)
    ]
    assert np.abs(off).max() > 0.1


@pytest.mark.parametrize("link", LINKS)
def test_scores_and_curvatures_are_those_of_numpys_densities(link):
    assert_derivatives(compiled, by_numpy, link, [*PLACES[1], *STEPS])


# ---- posteriors ----------------------------------------------------------------------------------

CUTS, GAMMA = np.array([0.4, -0.6, 0.9]), np.array([0.6, -0.5, 0.1])
STAGES = [f"{low}|{high}" for low, high in zip(NAMES, NAMES[1:])]
PRIOR = {
    "x": sgmc.normal(0, 1),
    "Intercept": sgmc.normal(0, 2),
    "step[mid]": sgmc.normal(0, 1.5),
    "step[high]": sgmc.normal(0, 1.5),
}
OF_Z, OF_F = sgmc.normal(0, 0.7), sgmc.normal(0, 1.2)


@cache
def table(n=400, groups=12):
    """Four levels; z is far from 0, and has another effect in each stage."""
    rng = np.random.default_rng(9)
    x, z, g = rng.normal(0.5, 1.0, n), rng.normal(4.0, 1.5, n), rng.integers(0, groups, n)
    f, w = rng.choice(["u", "v"], n), rng.integers(1, 4, n)
    eta = 0.8 * x + 1.2 * rng.normal(size=groups)[g] - 0.5 * (f == "v")
    stops = special.expit(CUTS - eta[:, None] - GAMMA * (z[:, None] - 4))
    left = rng.random((n, 3)) < stops
    codes = np.where(left.any(axis=1), left.argmax(axis=1), 3)
    y = pd.Categorical.from_codes(codes, NAMES, ordered=True)
    return pd.DataFrame({"y": y, "x": x, "z": z, "f": f, "g": g, "w": w})


def means(weights):
    """Of z and of the second level of f over the rows."""
    frame, w = table(), table().w if weights else None
    return np.average(frame.z, weights=w), np.average(frame.f == "v", weights=w)


def expanded(weights):
    """A row of 0 and 1 for each stage that a row reaches: whether it stops."""
    frame, rows = table(), []
    z_mean, v_mean = means(weights)
    for code, x, z, f, g, w in zip(frame.y.cat.codes, *(frame[k] for k in "xzfgw")):
        for stage in range(min(code, 2) + 1):
            here = -(np.arange(3) == stage).astype(float)
            own = [*((z - z_mean) * here), *(((f == "v") - v_mean) * here)]
            rows.append([float(code == stage), -x, g, w, stage >= 1, stage >= 2, *own])
    names = ["stops", "x", "g", "w", "mid", "high"]
    names += [f"{one}{k}" for one in "zf" for k in range(3)]
    return pd.DataFrame(rows, columns=names).astype({"mid": float, "high": float})


@cache
def of_stages(terms="z", groups="", weights=None, centred=True):
    """Means and sds of the same parameters by the logit regression of the expanded rows, printed
    thresholds being those at predictors of 0; those of others where not `centred`, a mistake.
    """
    own = [f"{one}{k}" for one in terms for k in range(3)]
    prior = {"x": PRIOR["x"], "Intercept": PRIOR["Intercept"]}
    prior |= dict.fromkeys(("mid", "high"), PRIOR["step[mid]"])
    prior |= {name: OF_Z if name[0] == "z" else OF_F for name in own}
    fit = sgmc.logit(
        f"stops ~ x + mid + high + {' + '.join(own)}{groups}", expanded(weights), prior=prior,
        seed=2, draws=3000, weights=weights,
    )  # fmt: skip
    draws = fit.to_frame()
    cuts = draws[["Intercept", "mid", "high"]].cumsum(axis=1).to_numpy()
    for one, mean in zip("zf", means(weights) if centred else ()):
        if one in terms:
            cuts = cuts + mean * draws[[f"{one}{k}" for k in range(3)]].to_numpy()
    between = [name for name in fit.names if name.startswith("sd(")]
    own = [f"{one}{k}" for one in sorted(terms) for k in range(3)]  # factors come first
    values = np.column_stack([draws[["x", *own, *between]], cuts])
    return values.mean(axis=0), values.std(axis=0)


@cache
def fitted(terms="z", groups="", **how):
    """The fit of the rows themselves."""
    prior = PRIOR | {"cs(z)": OF_Z} | ({"cs(f)": OF_F} if "f" in terms else {})
    return sgmc.ordinal(
        f"y ~ x + cs({', '.join(terms)}){groups}", table(), kind="sequential", prior=prior,
        **{"seed": 1, "draws": 3000, **how},
    )  # fmt: skip


@pytest.mark.parametrize(
    "terms, groups, weights",
    [("z", "", None), ("z", "", "w"), ("zf", "", None), ("z", " + (1 | g)", None)],
)
def test_posteriors_are_those_of_expanded_rows(terms, groups, weights):
    """0.1 sd and 5 %: both have some 3,000 effective draws, errors of 0.03 sd and 2 % each."""
    found = fitted(terms, groups, weights=weights)
    off, wide = apart(found, *of_stages(terms, groups, weights))
    assert off < 0.1 and wide < 0.05 + 0.03 * bool(groups)  # sds of skewed sds of groups: 3 % more
    assert str(found.verdict).startswith("trustworthy")


@pytest.mark.parametrize("mistake", ["sign", "thresholds", "stages"])
def test_mistakes_are_seen_by_posteriors(mistake):
    """Planted: gamma of the other sign; thresholds at the mean of z; stages in another order."""
    mean, sd = of_stages(centred=mistake != "thresholds")
    if mistake == "sign":
        mean = mean * np.array([1, -1, -1, -1, 1, 1, 1])
    if mistake == "stages":
        mean = mean[[0, 2, 3, 1, 4, 5, 6]]
    assert apart(fitted(), mean, sd)[0] > 1


def test_mini_batches_have_the_same_posterior():
    """Of mini-batches, whose error is held below 1 % of the variance; some 2,000 draws count."""
    off, wide = apart(fitted(sampler="lmsgld", batch_size=60, draws=1000), *of_stages())
    assert off < 0.15 and wide < 0.1


def test_robust_sds_are_those_of_clusters_of_stages():
    """Of the Gaussian of the sandwich, which both draw from, the other's clusters being the rows;
    5 % is three errors of sds of 4,000 draws.
    """
    own, frame = [f"z{k}" for k in range(3)], expanded(None)
    frame["row"] = np.repeat(np.arange(len(table())), np.minimum(table().y.cat.codes, 2) + 1)
    prior = {"x": PRIOR["x"], "Intercept": PRIOR["Intercept"], **dict.fromkeys(own, OF_Z)}
    prior |= dict.fromkeys(("mid", "high"), PRIOR["step[mid]"])
    other = sgmc.logit(
        f"stops ~ x + mid + high + {' + '.join(own)}", frame, prior=prior, seed=2,
        cov_type="cluster", groups="row",
    )  # fmt: skip
    found = fitted(cov_type="robust").bse.to_numpy()[:4]
    np.testing.assert_allclose(found, other.bse[["x", *own]], rtol=0.05)
    plain = fitted().bse.to_numpy()[:4]
    assert np.abs(found / plain - 1).max() > 0.01  # it is another one


@pytest.mark.extended
def test_the_truth_of_many_rows():
    """100,000 rows, five levels: within four sds of all coefficients and thresholds."""
    rng, n = np.random.default_rng(6), 100_000
    d = pd.DataFrame(rng.normal(size=(n, 2)), columns=list("ab")).assign(z=rng.normal(3, 2, n))
    gamma, cuts = np.array([0.3, -0.2, 0.0, 0.1]), np.array([0.2, -1.0, 0.4, -0.3])
    eta = 0.5 * d.a - 0.3 * d.b
    stops = special.expit(cuts - eta.to_numpy()[:, None] - gamma * d.z.to_numpy()[:, None])
    left = rng.random((n, 4)) < stops
    d["y"] = np.where(left.any(axis=1), left.argmax(axis=1), 4)
    fit = sgmc.ordinal("y ~ a + b + cs(z)", d, kind="sequential", seed=1)
    assert str(fit.verdict).startswith("trustworthy")
    z = (fit.params.to_numpy() - [0.5, -0.3, *gamma, *cuts]) / fit.bse.to_numpy()
    assert np.abs(z).max() < 4


def replicate(seed):
    """Ranks of parameters from the prior among the draws of the posterior of outcomes of them."""
    rng, n = np.random.default_rng([5, seed]), 150
    while True:
        x, z = rng.normal(size=n), rng.normal(2, 1, n)
        slope, gamma = rng.normal(), rng.normal(0, 0.7, 3)
        cuts = np.cumsum(rng.normal(0, [1.0, 1.0, 1.0])) + gamma * z.mean()
        stops = special.expit(cuts - slope * x[:, None] - gamma * z[:, None])
        left = rng.random((n, 3)) < stops
        y = np.where(left.any(axis=1), left.argmax(axis=1), 3)
        if len(np.unique(y)) == 4:
            break
    prior = {"x": sgmc.normal(0, 1), "Intercept": sgmc.normal(0, 1), "cs(z)": sgmc.normal(0, 0.7)}
    prior |= {f"step[{k}]": sgmc.normal(0, 1) for k in (1, 2)}
    frame = pd.DataFrame({"y": y, "x": x, "z": z})
    fit = sgmc.ordinal("y ~ x + cs(z)", frame, kind="sequential", prior=prior, seed=seed, draws=500)
    some = fit.flat[np.linspace(0, len(fit.flat) - 1, KEPT).astype(int)]
    truth = np.array([slope, *gamma, *cuts])
    return (some < truth).sum(axis=0), (some * [1, -1, 1, 1, 1, 1, 1] < truth).sum(axis=0)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_ranks_are_uniform_and_those_of_a_mistake_are_not():
    """P-values of 60 replicates and seven parameters: the least of fair ones is above 1e-3 in 99 %
    of runs; with the sign of one effect turned one is far below.
    """
    right, wrong = (np.array(one) for one in zip(*(replicate(seed) for seed in range(60))))
    assert p_values(right).min() > 1e-3 > p_values(wrong).min()


# ---- results -------------------------------------------------------------------------------------


def levels_of(draws, frame, effects=0.0):
    """Probabilities (draw, row, level) at draws of x, z in each stage, and thresholds."""
    x, z = frame.x.to_numpy(), frame.z.to_numpy()
    eta = (draws[:, :1] * x + effects)[:, :, None] + draws[:, None, 1:4] * z[:, None]
    stops = special.expit(draws[:, None, -3:] - eta)
    left = np.cumprod(1 - stops, axis=2)
    return np.concatenate([stops[..., :1], left[..., :2] * stops[..., 1:], left[..., 2:]], axis=2)


def test_predictions_effects_and_log_densities_by_hand():
    fit, frame = fitted(), table()
    assert fit.names == ["x", *(f"z[{one}]" for one in STAGES), *STAGES]
    draws, some = fit.flat[::40], frame[:50]
    np.testing.assert_allclose(
        fit.predict(some), levels_of(fit.flat, some).mean(axis=0), atol=1e-10
    )
    codes = some.y.cat.codes.to_numpy()
    own = np.take_along_axis(levels_of(fit.flat, some), codes[None, :, None], axis=2)[:, :, 0]
    np.testing.assert_allclose(fit.log_lik()[:, :50], np.log(own), atol=1e-10)
    change = levels_of(fit.flat, some.assign(z=some.z + 1)) - levels_of(fit.flat, some)
    found = fit.avg_comparisons("z", data=some)["estimate"]
    np.testing.assert_allclose(found, change.mean(axis=(0, 1)), atol=1e-10)
    h = 1e-4
    slope = (levels_of(draws, some.assign(z=some.z + h)) - levels_of(draws, some)) / h
    found = fit.avg_slopes("z", data=some)["estimate"]
    np.testing.assert_allclose(found, slope.mean(axis=(0, 1)), atol=5e-3)  # of a 40th of the draws
    shares = np.array([(fit.posterior_predict(some, seed=3) == k).mean() for k in range(4)])
    np.testing.assert_allclose(shares, levels_of(fit.flat, some).mean(axis=(0, 1)), atol=0.005)


def test_predictions_of_known_groups_by_hand():
    """Given draws of effects, which fits keep fewer of; loo has the same log densities."""
    fit, frame = fitted("z", " + (1 | g)"), table()[:20]
    effects = fit.ranef_draws("g", levels=list(range(12)))[:, frame.g, 0]
    whole, where = fit.whole("this"), fit._fit.problem.coordinates
    draws = where.printed(whole[:, where.places])
    right = levels_of(draws, frame, effects)
    found = fit.get_prediction(frame).summary_frame()["mean"].to_numpy().reshape(20, 4)
    np.testing.assert_allclose(found, right.mean(axis=0), atol=1e-10)
    codes = frame.y.cat.codes.to_numpy()
    own = np.take_along_axis(right, codes[None, :, None], axis=2)[:, :, 0]
    np.testing.assert_allclose(fit.log_lik()[:, :20], np.log(own), atol=1e-8)
    typical = levels_of(draws, frame, 0 * effects).mean(axis=0)
    np.testing.assert_allclose(fit.predict(frame, random=False), typical, atol=0.01)


def test_offsets_move_all_stages():
    frame = table().assign(o=0.7 * table().x)
    fit = sgmc.ordinal("y ~ x + cs(z)", frame, kind="sequential", offset="o", seed=1)
    plain = sgmc.ordinal("y ~ x + cs(z)", frame, kind="sequential", seed=1)
    change = fit.params - plain.params
    assert change["x"] == pytest.approx(-0.7, abs=0.02)
    assert np.abs(change.drop("x") / plain.bse.drop("x")).max() < 0.15  # Monte Carlo errors
    np.testing.assert_allclose(
        fit.predict(frame[:9], offset=frame.o[:9]), plain.predict(frame[:9]), atol=0.01
    )


def test_marginal_effects_are_average_slopes():
    fit = fitted()
    found = np.ravel(fit.get_margeff().margeff).reshape(4, 4)  # of x, and of z in each stage
    np.testing.assert_allclose(found[0], fit.avg_slopes("x")["estimate"], atol=1e-3)
    np.testing.assert_allclose(found[1:].sum(axis=0), fit.avg_slopes("z")["estimate"], atol=1e-3)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-9)  # of probabilities


def test_loo_prefers_effects_of_each_stage_where_there_are_some():
    frame = table()
    plain = sgmc.ordinal("y ~ x + z", frame, kind="sequential", seed=1)
    assert fitted().loo().elpd > plain.loo().elpd + 10
    assert fitted().pp_check(seed=3).p.min() > 0.01


def test_terms_names_and_priors():
    """Factors, products and several calls; a term's prior, and a column's."""
    frame = table()
    how = dict(kind="sequential", seed=1, draws=20, chains=1, warmup=20, sampler="mala")
    with pytest.warns(sgmc.errors.SGMCWarning):
        fit = sgmc.ordinal(
            "y ~ cs(z:x, f) + x + cs(np.log(z + 9))", frame, **how,
            prior={"cs(f)": sgmc.normal(0, 1), "z:x[mid|high]": sgmc.normal(0, 2)},
        )  # fmt: skip
    of = ["f[T.v]", "z:x", "np.log(z + 9)"]
    assert fit.names == ["x", *(f"{one}[{k}]" for one in of for k in STAGES), *STAGES]
    used = fit.prior_summary()["used"].astype(str)
    assert (used[[f"f[T.v][{k}]" for k in STAGES]] == "normal(0, 1)").all()
    assert used["z:x[mid|high]"] == "normal(0, 2)" != used["z:x[low|mid]"]
    assert fit.model.endog_names == "y" and "cs(z:x, f)" in str(fit.summary())
    assert np.allclose(fit.predict(frame[:3]).sum(axis=1), 1)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_scales_of_default_priors_are_those_of_columns():
    """2.5 / sd of a number, 2.5 of a factor's level."""
    fit = sgmc.ordinal("y ~ x + cs(z + f)", table(), kind="sequential", seed=1, draws=100)
    used = fit.prior_summary()["used"].astype(str)
    sds = [float(used[f"z[{one}]"].split(", ")[1][:-1]) for one in STAGES]
    np.testing.assert_allclose(sds, 2.5 / table().z.std(), rtol=1e-3)
    assert (used[[f"f[T.v][{one}]" for one in STAGES]] == "normal(0, 2.5)").all()


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_missing_rows_new_rows_and_subsets():
    frame = table().assign(z=lambda d: d.z.where(d.index % 7 > 0))
    fit = sgmc.ordinal("y ~ x + cs(z)", frame, kind="sequential", seed=1, draws=100)
    kept = frame.dropna()
    same = sgmc.ordinal("y ~ x + cs(z)", kept, kind="sequential", seed=1, draws=100)
    np.testing.assert_array_equal(fit.draws, same.draws)
    found = fit.predict(frame[:8])
    assert found.isna().all(axis=1).tolist() == [True, *[False] * 6, True]
    half = sgmc.ordinal(
        "y ~ x + cs(z)", table(), kind="sequential", seed=1, draws=100, subset=table().x > 0
    )
    other = sgmc.ordinal(
        "y ~ x + cs(z)", table()[table().x > 0], kind="sequential", seed=1, draws=100
    )
    np.testing.assert_array_equal(half.draws, other.draws)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("groups", ["", " + (1 | g)"])
def test_files_pickles_and_changed_formulas(groups, tmp_path):
    frame = table()
    fit = sgmc.ordinal(f"y ~ x + cs(z){groups}", frame, kind="sequential", seed=1, draws=100)
    fit.save(tmp_path / "fit.sgmc")
    for one in (sgmc.load(tmp_path / "fit.sgmc"), pickle.loads(pickle.dumps(fit))):
        assert str(one.summary()) == str(fit.summary())
        np.testing.assert_array_equal(one.predict(frame[:9]), fit.predict(frame[:9]))
    between = ["sd(1|g)"] if groups else []
    assert fit.update(". ~ . - cs(z)", data=frame).names == ["x", *between, *STAGES]
    more = fit.update(". ~ . + cs(f)", data=frame)
    assert [name.partition("[")[0] for name in more.names[1:7]] == ["f"] * 3 + ["z"] * 3
    with pytest.raises(FormulaError, match="is taken out of .*, and is not in it"):
        fit.update(". ~ . - cs(f)", data=frame)


def test_updates_add_rows():
    """To the posterior of both parts together; thresholds stay at the means of the first rows."""
    frame, prior = table(), PRIOR | {"cs(z)": OF_Z}
    part = sgmc.ordinal("y ~ x + cs(z)", frame[:250], kind="sequential", prior=prior, seed=1)
    both = part.update(frame[250:], seed=1)
    whole = fitted()
    # means of z are those of the first rows: priors of thresholds differ by less than 0.1 sd
    off, wide = apart(both, whole.params.to_numpy(), whole.bse.to_numpy())
    assert off < 0.2 and wide < 0.1


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_groups_smooths_and_structured_terms_are_common_to_all_stages():
    frame = table()
    for term in ("(1 + x | g)", "s(x, k=5)", "ar1(g)", "mo(w)"):
        fit = sgmc.ordinal(
            f"y ~ {term} + cs(z)", frame, kind="sequential", seed=1, draws=50, chains=2
        )
        assert [f"z[{one}]" in fit.names for one in STAGES] == [True] * 3
        np.testing.assert_allclose(fit.predict(frame[:4]).sum(axis=1), 1)
        assert np.isfinite(fit.loo().elpd)


# ---- formulas ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, common, own",
    [
        ("y ~ x + cs(z)", "y ~ x", "y ~ z"),
        ("y ~ cs(z) + x", "y ~ x", "y ~ z"),
        ("y~cs(z)", "y~ 1", "y~ z"),
        ("y ~ x + cs(z, f) - 1", "y ~ x - 1", "y ~ z + f"),
        ("y ~ cs(bs(z, df=4)) + x + cs(f)", "y ~ x", "y ~ bs(z, df=4) + f"),
        ("y ~ `a, (b` + cs(`c, d)`, f)", "y ~ `a, (b`", "y ~ `c, d)` + f"),
        ("y ~ cs(x) + cs(z) + (1 | g) - cs( x )", "y ~ (1 | g)", "y ~ z"),
    ],
)
def test_formulas_are_split(text, common, own):
    found = ["".join(str(part).split()) for part in split_stages(text)]
    assert found == ["".join(part.split()) for part in (common, own)]


@pytest.mark.parametrize(
    "text",
    ["y ~ x", "y ~ cs", "y ~ acs(x)", "y ~ x:cs(z)", "y ~ (x + cs(z))", "y ~ f('cs(z)')",
     "y ~ x + cs(z) - cs(z)"],
)  # fmt: skip
def test_other_formulas_have_no_such_term(text):
    assert not has_stages(text)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_formulas_from_outside():
    fit = sgmc.ordinal(
        outside("y ~ x + cs(z)", safe=True), table(), kind="sequential", seed=1, draws=100
    )
    assert fit.names[1] == f"z[{STAGES[0]}]"


# ---- refusals ------------------------------------------------------------------------------------


def of(terms, kind="sequential", **how):
    """A call that is refused."""
    return sgmc.ordinal(f"y ~ x + {terms}", table(), kind=kind, seed=1, **how)


REFUSED = {
    "cumulative": (NotSupported, "thresholds with effects of their own cross",
                   lambda: of("cs(z)", "cumulative")),
    "default": (NotSupported, "use kind='sequential'", lambda: sgmc.ordinal("y ~ cs(z)", table())),
    "discrimination": (NotSupported, "tell the same",
                       lambda: of("cs(z)", discrimination="~ x")),
    "another family": (FormulaError, "kind='sequential'", lambda: sgmc.ols("x ~ cs(z)", table())),
    "product": (FormulaError, "add it as a term of its own", lambda: of("x:cs(z)")),
    "twice": (FormulaError, "'z' is there without cs", lambda: of("z + cs(z)")),
    "dot": (FormulaError, "is there without cs", lambda: sgmc.ordinal(
        "y ~ . + cs(z)", table(), kind="sequential")),
    "nothing": (FormulaError, r"has no predictor: write cs\(z\)", lambda: of("cs()")),
    "one": (FormulaError, "thresholds are the intercepts", lambda: of("cs(1)")),
    "levels": (FormulaError, "leave '0 \\+' out", lambda: of("cs(0 + f)")),
    "offset": (FormulaError, "an offset has no coefficient", lambda: of("cs(z + offset(w))")),
    "groups": (NotSupported, "group terms and smooths are common", lambda: of("cs(z + (1 | g))")),
    "smooth": (NotSupported, "group terms and smooths are common", lambda: of("cs(s(z))")),
    "taken out": (FormulaError, "is not in it", lambda: of("z - cs(x)")),
    "monotonic": (NotSupported, "monotonic effects are common", lambda: of("cs(mo(w))")),
    "no intercept": (DataError, "leave '0 \\+'", lambda: of("cs(z) - 1")),
    "flat": (DataError, "is flat", lambda: of("cs(z)", prior={"cs(z)": "flat"})),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_go_is_said_in_a_sentence(case):
    error, text, call = REFUSED[case]
    with pytest.raises(error, match=text):
        call()


def test_reasons_have_their_kind():
    with pytest.raises(NotSupported) as cumulative:
        of("cs(z)", "cumulative")
    with pytest.raises(NotSupported) as groups:
        of("cs(z + (1 | g))")
    assert (cumulative.value.because, groups.value.because) == ("mathematics", "limit")


@pytest.mark.parametrize("formula", ["y ~ 0 + cs(x)", "y ~ cs(x) - 1"])
def test_thresholds_stay_where_all_else_is_of_stages(formula):
    df = pd.DataFrame({"x": np.arange(9.0), "y": np.arange(9) % 3})
    with pytest.raises(FormulaError, match="thresholds are the intercepts of the stages, and stay"):
        sgmc.ordinal(formula, df, kind="sequential")
