"""Sequential models of ordered outcomes: densities against products of stages, posteriors against
logit regressions of expanded rows, results, and what is refused.
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
from sgmc.core.expansion import of_rows
from sgmc.errors import ArgumentError
from sgmc.models.regression.families.ordinal import CategorySpecificFamily, SequentialFamily

from ..importance import apart
from ..sbc import p_values, ranks
from .densities import assert_density
from .derivatives import assert_derivatives

FUNCTIONS = {
    "logit": special.expit,
    "probit": special.ndtr,
    "cloglog": lambda z: -np.expm1(-np.exp(z)),
}
LINKS = list(FUNCTIONS)
STEPS = np.array([-0.8, 1.3])  # of four levels
NAMES = ["low", "mid", "high", "top"]


def family(link):
    """Of four levels and an intercept."""
    shares = np.full(4, 0.25)
    return SequentialFamily(link, tuple(NAMES), shares, ["Intercept"], 0)


def compiled(link, y):
    """The compiled model of one outcome, its parameters being eta and steps."""
    return Probe(family(link).kernel(design(np.ones((1, 1))), np.array([float(y)])))


def by_numpy(link, y, theta, mistake=None):
    """log p(y) at (eta, steps); `mistake` is a planted one."""
    cuts = np.cumsum([0.0, *(np.exp(theta[1:]) if mistake == "ordered" else theta[1:])])
    stops = FUNCTIONS[link](cuts - (-theta[0] if mistake == "sign" else theta[0]))
    passes = 1 - stops
    if mistake == "backwards":  # from the highest level on
        stops, y = stops[::-1], 3 - y
        passes = 1 - stops
    return np.log(np.prod(passes[:y]) * (stops[y] if y < 3 else 1.0))


# ---- densities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("y", range(4))
@pytest.mark.parametrize("link", LINKS)
def test_densities_are_products_of_stages(link, y):
    """To 1e-10; passing has an error of 1e-16 over its probability, here above 1e-5."""
    one, extra = family(link), STEPS[:, None]
    for eta in np.linspace(-2.0, 2.0, 9):
        right = by_numpy(link, y, [eta, *STEPS])
        if not np.isfinite(right) or right < np.log(1e-5):
            continue
        assert_density(compiled(link, y), one, [eta], STEPS, y, right)
        placed = one.predictors(np.ones((1, 1)), np.full((1, 1), eta), np.zeros(1), extra)
        assert one.mean(placed).sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("mistake", ["sign", "ordered", "backwards"])
@pytest.mark.parametrize("link", LINKS)
def test_mistakes_are_seen_by_densities(link, mistake):
    """Planted: the sign of x . theta; steps that are logs; stages from the highest level on."""
    theta = [0.6, *STEPS]
    off = [
        compiled(link, y).value(theta, block(0, 1)) - by_numpy(link, y, theta, mistake)
        for y in range(4)
    ]
    assert np.abs(off).max() > 0.1


@pytest.mark.parametrize("link", LINKS)
def test_scores_and_curvatures_are_those_of_numpys_densities(link):
    assert_derivatives(compiled, by_numpy, link, [0.4, *STEPS])


@pytest.mark.parametrize("levels", [3, 4, 7])
@pytest.mark.parametrize("own", [False, True])
def test_rows_together_are_those_one_after_the_other(levels, own):
    """Of 300 rows, in blocks of 128 and what is left: sums in another order, right to 1e-12."""
    random = np.random.default_rng(levels)
    n, stages = 300, levels - 1
    y = random.integers(0, levels, n).astype(float)
    y[:128] = np.minimum(y[:128], 1.0)  # a block whose later stages no row comes to
    if own:
        X, columns = random.normal(size=(n, stages + 1)), np.arange(stages + 1)
        names = tuple(range(levels))
        made = CategorySpecificFamily(
            columns, link="logit", labels=names, shares=y, coefficients=[]
        )
    else:
        X = random.normal(size=(n, 1))
        made = SequentialFamily("logit", tuple(range(levels)), y, ["x"], 0)
    theta = np.concatenate([random.normal(size=X.shape[1]), random.normal(size=levels - 2)])
    whole = of_rows(made.kernel(design(X), y), theta)
    cuts = np.cumsum([0.0, *theta[X.shape[1] :]])
    value, slope = 0.0, np.zeros(len(theta))
    for x, k in zip(X, y.astype(int)):
        t = cuts - x[0] * theta[0] - (x[1:] * theta[1 : stages + 1] if own else 0.0)
        reached, stops = np.arange(stages) <= k, np.arange(stages) == k
        F = special.expit(t)
        value += np.log(np.where(stops, F, 1 - F))[reached].sum()
        by_t = np.where(reached, stops - F, 0.0)
        slope[0] -= x[0] * by_t.sum()
        if own:
            slope[1 : stages + 1] -= x[1:] * by_t
        slope[X.shape[1] :] += np.cumsum(by_t[::-1])[::-1][1:]
    assert whole[0] == pytest.approx(value, rel=1e-12)
    assert whole[1] == pytest.approx(slope, rel=1e-11, abs=1e-11)


def test_nothing_overflows():
    for theta in ([800.0, 0.0, 0.0], [-800.0, 900.0, -900.0], [0.0, -1e6, 1e6]):
        for link in LINKS:
            for y in range(4):
                probe = compiled(link, y)
                assert not np.isnan(probe.value(theta, block(0, 1)))
                assert np.isfinite(probe.gradient(theta, block(0, 1))).all()
            placed = family(link).placed(np.full((1, 1), theta[0]), np.array(theta[1:])[:, None])
            assert family(link).mean(placed).sum() == pytest.approx(1.0)


# ---- posteriors ----------------------------------------------------------------------------------

CUTS = np.array([0.4, -0.6, 0.9])  # without an order
PRIOR = {"x": sgmc.normal(0, 1), "Intercept": sgmc.normal(0, 2)}
OF_STEPS = {"step[mid]": sgmc.normal(0, 1.5), "step[high]": sgmc.normal(0, 1.5)}


@cache
def table(n=300, groups=12):
    """Four levels, in groups."""
    rng = np.random.default_rng(7)
    x, g = rng.normal(0.5, 1.0, n), rng.integers(0, groups, n)
    stops = special.expit(CUTS - (0.8 * x + 1.2 * rng.normal(size=groups)[g])[:, None])
    left = rng.random((n, 3)) < stops
    codes = np.where(left.any(axis=1), left.argmax(axis=1), 3)
    y = pd.Categorical.from_codes(codes, NAMES, ordered=True)
    return pd.DataFrame({"y": y, "x": x, "g": g, "w": rng.integers(1, 3, n)})


@cache
def expanded():
    """A row of 0 and 1 for each stage that a row reaches: whether it stops.  Columns of the steps
    are 1 from their stage on, and x has the other sign.
    """
    frame = table()
    rows = [
        (float(code == stage), -x, g, w, float(stage >= 1), float(stage >= 2))
        for code, x, g, w in zip(frame.y.cat.codes, frame.x, frame.g, frame.w)
        for stage in range(min(code, 2) + 1)
    ]
    return pd.DataFrame(rows, columns=["stops", "x", "g", "w", "mid", "high"])


def of_stages(groups="", link="logit", **how):
    """Means and sds of the same parameters by the binary regression of the expanded rows; an
    intercept of either sign has the same prior, which is at predictors of 0 where it is named.
    """
    prior = PRIOR | {name[5:-1]: one for name, one in OF_STEPS.items()}
    fit = getattr(sgmc, link)(
        f"stops ~ x + mid + high{groups}", expanded(), prior=prior, seed=2, draws=3000, **how
    )
    draws = fit.to_frame()
    cuts = draws[["Intercept", "mid", "high"]].cumsum(axis=1).to_numpy()
    between = [name for name in fit.names if name.startswith("sd(")]
    values = np.column_stack([draws[["x", *between]], cuts])
    return values.mean(axis=0), values.std(axis=0)


def sequential(groups="", **how):
    """The fit of the rows themselves."""
    return sgmc.ordinal(
        f"y ~ x{groups}", table(), kind="sequential", prior=PRIOR | OF_STEPS,
        **{"seed": 1, "draws": 3000, **how},
    )  # fmt: skip


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("groups", ["", " + (1 | g)"])
def test_posteriors_are_those_of_expanded_rows(groups, link):
    """0.1 sd and 5 %: both have some 3,000 effective draws, errors of 0.03 sd and 2 % each."""
    found = sequential(groups, link=link)
    off, wide = apart(found, *of_stages(groups, link))
    assert off < 0.1 and wide < 0.05 + 0.03 * bool(groups)  # sds of skewed sds of groups: 3 % more


def test_weighted_rows_are_those_of_expanded_ones():
    off, wide = apart(sequential(weights="w"), *of_stages(weights="w"))
    assert off < 0.1 and wide < 0.05


@pytest.mark.filterwarnings("ignore::sgmc.errors.ResolutionWarning")  # the same basis in both
@pytest.mark.parametrize("terms, prior", [("x + w", "ridge"), ("w + gp(x, k=8)", "numbers")])
def test_other_logs_beside_steps_stay_logs(terms, prior):
    """Learned scales of priors and length scales stand before the steps, which are no logs."""
    own = {one: sgmc.ridge() if prior == "ridge" else sgmc.normal(0, 1) for one in ("x", "w")}
    own = {name: one for name, one in own.items() if name in terms.split(" + ")}
    own |= {"Intercept": PRIOR["Intercept"]}
    how = {"sampler": "hmc", "draws": 3000, "seed": 1}
    found = sgmc.ordinal(f"y ~ {terms}", table(), kind="sequential", prior=own | OF_STEPS, **how)
    rows = expanded().assign(w=lambda d: -d.w)
    if prior == "numbers":
        rows["x"] = -rows["x"]  # a curve, of the other sign
    steps = {name[5:-1]: one for name, one in OF_STEPS.items()}
    other = sgmc.logit(f"stops ~ {terms} + mid + high", rows, prior=own | steps, **how)
    names = [name for name in found.names if "|" not in name]
    off = (found.params - other.params)[names] / other.bse[names]
    assert np.abs(off).max() < 0.1  # of 3,000 effective draws each
    np.testing.assert_allclose(found.bse[names], other.bse[names], rtol=0.1)  # of heavy tails


def test_a_cumulative_model_is_another_one():
    """Planted: outcomes of the wrong kind, and thresholds in the order of the others."""
    mean, sd = of_stages()
    cumulative = sgmc.ordinal("y ~ x", table(), prior=PRIOR, seed=1)
    assert apart(cumulative, mean, sd)[0] > 1
    found = sequential()
    assert apart(found, np.append(mean[:1], np.sort(mean[1:])), sd)[0] > 1
    assert apart(found, np.append(-mean[:1], mean[1:]), sd)[0] > 1


def test_mini_batches_have_the_same_posterior():
    """Of mini-batches, whose error is held below 1 % of the variance; some 2,000 draws count."""
    mean, sd = of_stages()
    off, wide = apart(sequential(sampler="lmsgld", batch_size=60, draws=1000), mean, sd)
    assert off < 0.15 and wide < 0.1


@pytest.mark.extended
def test_ranks_are_uniform():
    """P-values of 60 replicates and five parameters: the least of fair ones is above 1e-3 in 99.5 %
    of runs.
    """
    assert p_values(ranks("sequential", 60)).min() > 1e-3


@pytest.mark.extended
@pytest.mark.mistake("calibration of sequential models: a step's sign")
@pytest.mark.parametrize("name", ["sequential"])
def test_ranks_of_a_mistake_are_not(name):
    signs = np.array([1, 1, 1, -1, 1])
    assert p_values(ranks(name, 60, distort=lambda draws: signs * draws)).min() < 1e-3


# ---- results -------------------------------------------------------------------------------------


@cache
def short(groups=""):
    """A few draws."""
    return sgmc.ordinal(
        f"y ~ x{groups}", table(), kind="sequential", seed=1, draws=400, warmup=200, sampler="mala"
    )


def levels_of(draws, frame, effects=0.0):
    """Probabilities (draw, row, level) at draws of x and thresholds."""
    eta = draws[:, :1] * frame.x.to_numpy() + effects
    stops = special.expit(draws[:, None, -3:] - eta[:, :, None])
    left = np.cumprod(1 - stops, axis=2)
    return np.concatenate([stops[..., :1], left[..., :2] * stops[..., 1:], left[..., 2:]], axis=2)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_predictions_and_log_densities_by_hand():
    fit, frame = short(), table()
    assert fit.names == ["x", "low|mid", "mid|high", "high|top"]
    right = levels_of(fit.flat, frame)
    np.testing.assert_allclose(fit.predict(frame), right.mean(axis=0), atol=1e-10)
    codes = frame.y.cat.codes.to_numpy()
    own = np.take_along_axis(right, codes[None, :, None], axis=2)[:, :, 0]
    np.testing.assert_allclose(fit.log_lik(), np.log(own), atol=1e-10)
    change = levels_of(fit.flat, frame.assign(x=frame.x + 1)) - right
    found = fit.avg_comparisons("x")["estimate"].to_numpy()
    np.testing.assert_allclose(found, change.mean(axis=(0, 1)), atol=1e-10)
    drawn = fit.posterior_predict(frame, seed=3)
    shares = [(drawn == k).mean() for k in range(4)]
    np.testing.assert_allclose(shares, right.mean(axis=(0, 1)), atol=0.005)  # of 120,000 outcomes
    assert np.isfinite(fit.loo().elpd) and list(fit.pp_check().index)


def test_steps_alone_are_no_logs():
    report = family("logit").report
    assert report.signed == 2 and report.with_between(["sd(1|g)"]).signed == 2
    theta = np.array([0.5, -0.8, 1.3])
    np.testing.assert_allclose(report.printed(theta), [-0.5, -1.3, 0.0])
    np.testing.assert_allclose(report.sampled(report.printed(theta)), theta)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_thresholds_need_no_order_and_steps_have_priors():
    fit = short()
    assert (np.diff(fit.params.iloc[-3:]) < 0).any()
    names = ["Intercept", "x", "step[mid]", "step[high]"]
    assert list(fit.prior_summary().index) == names
    text = str(fit.summary())
    assert "Sequential ordinal (logit link)" in text and "low < mid < high < top" in text
    held = sgmc.ordinal(
        "y ~ x", table(), kind="sequential", seed=1, sampler="mala",
        prior={"step[mid]": sgmc.normal(-3, 0.01), "step[high]": sgmc.half_normal(1)},
    )  # fmt: skip
    low, mid, high = held.params.iloc[-3:]
    assert mid - low == pytest.approx(-3, abs=0.05) and (held.flat[:, 3] > held.flat[:, 2]).all()
    alone = sgmc.ordinal("y ~ x", table(), kind="sequential", seed=1, prior_only=True)
    step = alone.flat[:, 2] - alone.flat[:, 1]
    assert step.std() == pytest.approx(2.5, rel=0.1) and abs(step.mean()) < 0.3
    with pytest.raises(ArgumentError, match=r"a flat one of 'step\[mid\]'"):
        sgmc.ordinal("y ~ x", table(), kind="sequential", prior="flat")


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("groups", ["", " + (1 | g)"])
def test_saved_and_pickled_results_are_the_same(groups, tmp_path):
    fit, frame = short(groups), table()[:5]
    fit.save(tmp_path / "stages.sgmc")
    for again in (sgmc.load(tmp_path / "stages.sgmc"), pickle.loads(pickle.dumps(fit))):
        assert str(again.summary()) == str(fit.summary())
        np.testing.assert_array_equal(again.predict(frame), fit.predict(frame))
        np.testing.assert_array_equal(again.summary_frame(), fit.summary_frame())


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_log_priors_and_bayes_factors_are_those_of_steps():
    from scipy import stats

    from sgmc.results.priors.sensitivity import log_prior

    fit = sequential(sampler="mala")
    theta = fit._joint_draws[::50]
    slope, first, second, third = theta.T
    parts = [
        stats.norm.logpdf(slope, 0, 1),
        stats.norm.logpdf(first, 0, 2),
        stats.norm.logpdf(second - first, 0, 1.5),
        stats.norm.logpdf(third - second, 0, 1.5),
    ]
    ours = log_prior(fit, theta)
    assert np.ptp(ours - sum(parts)) < 1e-9 < 0.1 < np.ptp(ours - sum(parts[:3]))
    found = fit.bayes_factor("`low|mid` = 0.4")
    assert found["log_prior"] == pytest.approx(stats.norm.logpdf(0.4, 0, 2), abs=1e-9)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_starts_may_have_any_order_and_updates_add_rows():
    start = [0.5, 1.0, 0.0, 0.7]
    fit = sgmc.ordinal("y ~ x", table(), kind="sequential", seed=1, draws=20, init=start)
    assert np.isfinite(fit.flat).all()
    first, rest = table()[:150], table()[150:]
    whole = sequential()
    part = sgmc.ordinal("y ~ x", first, kind="sequential", prior=PRIOR | OF_STEPS, seed=1)
    off, wide = apart(part.update(rest, seed=1), whole.params.to_numpy(), whole.bse.to_numpy())
    assert off < 0.15 and wide < 0.1  # 1,000 draws a chain


def test_arrays_have_the_same_draws():
    frame = table()
    X = np.column_stack([np.ones(len(frame)), frame.x])
    model = sgmc.Ordinal(frame.y.cat.codes, X, kind="sequential", names=["const", "x"])
    found = model.fit(seed=1)
    assert found.names == ["x", "0|1", "1|2", "2|3"]
    np.testing.assert_allclose(
        found.flat, sgmc.ordinal("y ~ x", frame, kind="sequential", seed=1).flat, rtol=1e-10
    )


# ---- refusals ------------------------------------------------------------------------------------


def test_refusals_say_what_to_do():
    with pytest.raises(ArgumentError, match="kind='stages' must be one of 'cumulative'"):
        sgmc.ordinal("y ~ x", table(), kind="stages")
    for name in ("sratio", "cratio", "acat"):
        with pytest.raises(AttributeError, match="kind='sequential'"):
            getattr(sgmc, name)
