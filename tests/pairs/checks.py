"""Public methods of results against the reference, a group of methods at a time."""

import numpy as np
import pandas as pd

import sgmc

from ..formula.reference import values_of
from .comparing import RTOL, assert_near, assert_refused, assert_same, quiet
from .factors import DATA, FAMILIES, LABELS, ORDERED, SECOND, SEVERAL, STAGED, TWO_PARTS, ZEROS
from .made import beside_of

SLOPES = 1e-3  # differences are one-sided at the ends of a range, to the share of their step
# nodes of integrals over effects are chosen for log densities; of the inverse Gaussian's, which are
# not concave, nine leave 0.3 % of a mean where an sd is 1.6
OVER_EFFECTS, NOT_CONCAVE = 2e-3, 5e-3


def kinds_last(values):
    """(..., kind, row) as tables have it."""
    return np.moveaxis(values, -2, -1) if values.ndim == 3 else values


def over_rows(made, found):
    """Index of a pandas table is that of its rows."""
    index = getattr(found, "index", None)
    if made.case.table == "frame" and index is not None:
        pd.testing.assert_index_equal(index, made.rows.index, check_names=False)


# ---- predictions ---------------------------------------------------------------------------------


def predictions(made):
    """predict, get_prediction, fittedvalues, zero_probability at effects of zero or without
    groups.
    """
    results, reference = made.results, made.reference
    how = {"random": False} if made.case.groups != "none" and made.grouped else {}
    if made.case.rows == "of the fit":
        effects = made.effects
        prediction, predicted = results.get_prediction(), results.predict()
        if made.grouped:
            without = results.get_prediction(random=False).summary_frame()["mean"]
            wanted = reference.mean(made.draws, made.rows).mean(axis=0)
            without = np.asarray(without).reshape(wanted.T.shape)  # kinds last
            assert_same(made, without, wanted.T, "get_prediction(random=False)")
    else:
        effects = ()
        prediction = quiet(lambda: results.get_prediction(made.asked, **how, **made.beside))
        predicted = quiet(lambda: results.predict(made.asked, **how, **made.beside))
    mean = reference.mean(made.draws, made.rows, effects)
    wanted = kinds_last(mean).mean(axis=0)
    integrates = made.case.groups in ("intercepts", "slopes") and made.case.family not in SEVERAL
    if not (effects and integrates):  # see `levels`
        assert_same(made, predicted, wanted, "predict")
        if made.case.rows == "of the fit":
            assert_same(made, results.fittedvalues, wanted, "fittedvalues")
    over_rows(made, predicted)
    if FAMILIES[made.case.family][0] not in ("kind", "grade"):
        frame = quiet(prediction.summary_frame)
        over_rows(made, frame)
        assert_same(made, frame["mean"], wanted, "get_prediction")
        assert_same(made, frame["mean_se"], mean.std(axis=0, ddof=1), "mean_se")
        ends = np.quantile(mean, [0.025, 0.975], axis=0)
        assert_same(made, frame["mean_ci_lower"], ends[0], "mean_ci_lower")
        assert_same(made, frame["mean_ci_upper"], ends[1], "mean_ci_upper")
        of_draws(made, mean, effects, how)
    if made.case.family in SECOND:
        asked = () if made.case.rows == "of the fit" else (made.asked,)
        name = reference.law.parameter
        wanted = np.exp(reference.eta(made.draws, made.rows)[:, 1]).mean(axis=0)
        wanted = np.where(np.isnan(mean.mean(axis=0)), np.nan, wanted)
        found = quiet(lambda: results.predict(*asked, which=name))
        assert_same(made, found, wanted, "predict(which=)")
    if made.case.family in ZEROS and made.case.rows != "new levels":  # whose effects are drawn
        asked, beside = () if made.case.rows == "of the fit" else (made.asked,), made.beside
        if isinstance(made.asked, str):  # reads rows in memory alone
            assert_refused(lambda: results.zero_probability(*asked), "DataFrame", "exposure=")
            asked, beside = (made.rows,), beside_of(made.case, made.rows)
        eta = reference.eta(made.draws, made.rows, made.effects)
        wanted = np.exp(reference.law.log_density(0.0, eta, {})).mean(axis=0)
        assert_same(made, results.zero_probability(*asked, **beside), wanted, "zero_probability")


def of_draws(made, mean, effects, how):
    """posterior_epred and, at effects of zero, posterior_linpred: each draw."""
    results, asked, beside = made.results, (made.asked,), made.beside
    if made.case.rows == "of the fit":
        asked, beside, how = (), {}, {}
    elif isinstance(made.asked, str):  # they read rows in memory alone
        asked, beside = (made.rows,), beside_of(made.case, made.rows)
    found = quiet(lambda: results.posterior_epred(*asked, **how, **beside))
    assert_same(made, found, mean, "posterior_epred")
    if not effects and len(how) == bool(made.grouped):
        found = quiet(lambda: results.posterior_linpred(*asked, **how, **beside))
        eta = np.asarray(made.reference.eta(made.draws, made.rows))
        wanted = eta if eta.ndim == 2 else eta[:, 0]  # the first is that of the mean
        assert_same(made, found, wanted, "posterior_linpred")


def effects(made):
    """predictions, slopes, comparisons, their averages, get_margeff: at effects of zero."""
    results, reference, rows, draws = made.results, made.reference, made.rows, made.draws
    weights = np.ones(len(rows)) if reference.weights is None else np.array(rows[reference.weights])
    if made.case.rows == "of the fit":
        how = {}
        if made.case.table == "prepared":
            how = {"data": made.own}
        if made.case.life == "resumed" and made.case.table == "prepared":
            how = {"data": made.own}
    elif made.case.table == "arrays":
        how = {"data": made.asked, **made.beside, "weights": weights}
    else:
        how = {"data": made.asked}
    arrays = made.case.table == "arrays"
    mean = reference.mean(draws, rows)
    if mean.ndim == 3:
        mean = mean.swapaxes(0, 1)  # kinds first
    gaps = np.isnan(rows.x).any() or any(
        one is None for name in LABELS.values() for one in values_of(rows[name])
    )
    found = quiet(lambda: results.predictions(**how))
    assert_same(made, found["estimate"], mean.mean(axis=-2).reshape(-1), "predictions")
    if mean.ndim == 2:
        ends = np.quantile(mean, [0.025, 0.975], axis=0)
        assert_same(made, found[["conf_low", "conf_high"]], ends.T, "predictions' intervals")
        assert_same(made, found["std_error"], mean.std(axis=0, ddof=1), "predictions' std_error")
        if made.case.family not in (*TWO_PARTS, *ORDERED):
            eta = reference.eta(draws, rows)
            link = quiet(lambda: results.predictions(type="link", **how))
            assert_same(made, link["estimate"], eta.mean(axis=0), "predictions of the link")
    if gaps:
        assert_refused(lambda: results.avg_predictions(**how), "x", "missing", "lacks")
        return
    average = reference.average(mean, weights)
    found = quiet(lambda: results.avg_predictions(**how))
    assert_same(made, found["estimate"], np.atleast_1d(average.mean(axis=-1)), "avg_predictions")
    if arrays or mean.ndim == 3:
        return
    assert_same(made, found["std_error"], [average.std(ddof=1)], "avg_predictions' std_error")
    change = reference.average(reference.comparison(draws, rows, "x", -1.0, 1.0), weights)
    found = quiet(lambda: results.avg_comparisons({"x": [-1.0, 1.0]}, **how))
    assert_same(made, found["estimate"], [change.mean()], "avg_comparisons of x")
    single = quiet(lambda: results.comparisons({"x": [-1.0, 1.0]}, **how))
    change = reference.comparison(draws, rows, "x", -1.0, 1.0).mean(axis=0)
    assert_same(made, single["estimate"], change, "comparisons of x")
    if len(rows) > 1:  # the step is a share of the range
        slope = reference.slope(draws, rows, "x")
        wanted = slope.mean(axis=0)
        found = quiet(lambda: results.slopes("x", **how))
        assert_same(made, found["estimate"], wanted, "slopes", SLOPES)
        found = quiet(lambda: results.avg_slopes("x", **how))["estimate"]
        average = reference.average(slope, weights).mean()
        most = np.abs(wanted).max()  # an average may be small beside the slopes, and their errors
        np.testing.assert_allclose(found, [average], atol=SLOPES * most, rtol=0)
    labelled(made, how, weights)


def labelled(made, how, weights):
    """Comparisons and averages by the levels of a factor."""
    results, reference, draws = made.results, made.reference, made.draws
    name = LABELS.get(made.case.terms)
    if name is None or made.case.rows == "other label type":
        return
    if made.case.terms == "monotonic":
        levels = list(reference.design.memory["mo", name])
    else:
        levels = reference.design.levels["C" if name == "k" else "column", name]
    wanted = [
        reference.average(
            reference.comparison(draws, made.rows, name, levels[0], level), weights
        ).mean()
        for level in levels[1:]
    ]
    found = quiet(lambda: results.avg_comparisons(name, **how))
    assert_same(made, found["estimate"], wanted, f"avg_comparisons of {name}")
    mean = reference.mean(draws, made.rows)
    here = np.array(made.rows[name])
    wanted = [
        reference.average(mean[:, here == level], weights[here == level]).mean()
        for level in levels
        if (here == level).any()
    ]
    found = quiet(lambda: results.avg_predictions(by=name, **how))
    assert_same(made, found["estimate"], wanted, f"avg_predictions(by={name!r})")


def grids(made):
    """Predictions on a grid, at the means and most frequent labels of all that is not named."""
    here = made.case.life in ("fit", "resumed") and made.case.table not in ("arrays", "prepared")
    if not here or made.reference.law.equations in ("kinds", "ordered"):
        return
    grid = sgmc.datagrid(made.results, x=[-1.0, 0.5])
    if "k" in grid:  # a level, not a mean
        assert set(grid.k) <= set(DATA.k)
    found = quiet(lambda: made.results.predictions(grid))
    wanted = made.reference.mean(made.draws, grid.astype({"k": int} if "k" in grid else {}))
    assert_same(made, found["estimate"], wanted.mean(axis=0), "predictions of a grid")


# ---- outcomes ------------------------------------------------------------------------------------


def densities(made):
    """log_lik of any rows; at the rows of the fit llf, residuals, r2."""
    results, reference, draws, rows = made.results, made.reference, made.draws, made.rows
    at_fit = made.case.rows == "of the fit"
    effects = made.effects if at_fit else ()
    wanted = reference.log_lik(draws, rows, effects)
    if at_fit:
        found = results.log_lik()
    else:
        how = {"random": False} if made.grouped else {}
        outcomes = rows[reference.outcome].to_numpy()
        if made.case.table == "file":
            outcomes = reference.outcome if isinstance(made.asked, str) else outcomes
        found = quiet(lambda: results.log_lik(made.asked, outcomes, **how, **made.beside))
    assert_same(made, found, wanted, "log_lik")
    if not at_fit or FAMILIES[made.case.family][0] in ("kind", "grade"):
        return
    mean = reference.mean(draws, rows, effects)
    variance = reference.variance(draws, rows, effects)
    y, w = reference.outcomes(rows), np.ones(len(rows))
    if reference.weights is not None:
        w = np.array(rows[reference.weights], dtype=float)
    assert_same(made, results.resid_response, y - mean.mean(axis=0), "resid_response")
    assert_same(made, results.residuals("response"), y - mean.mean(axis=0), "residuals")
    pearson = ((y - mean) / np.sqrt(variance)).mean(axis=0)
    assert_same(made, results.resid_pearson, pearson, "resid_pearson")
    middle = mean @ (w / w.sum())
    spread = (mean - middle[:, None]) ** 2 @ w
    share = spread / (spread + variance @ w)
    assert_same(made, results.r2()[["mean", "sd"]], [share.mean(), share.std(ddof=1)], "r2")
    if made.case.groups == "none":
        at_mean = reference.log_lik(draws.mean(axis=0)[None], rows)[0]
        assert_same(made, results.llf, at_mean @ w, "llf")


def simulated(made):
    """posterior_predict: the mean of each row."""
    results, reference, draws, rows = made.results, made.reference, made.draws, made.rows
    at_fit = made.case.rows == "of the fit"
    how = {"random": False} if made.grouped and not at_fit else {}
    asked = () if at_fit else (made.asked,)
    found = quiet(lambda: results.posterior_predict(*asked, **how, **made.beside))
    assert found.shape == (len(draws), len(rows))
    mean = reference.mean(draws, rows, made.effects if at_fit else ())
    if mean.ndim == 3:  # places of kinds
        for k in range(mean.shape[1]):
            p = mean[:, k]
            error = np.sqrt((p * (1 - p)).mean(axis=0) / len(p)) + 1 / len(p)
            share = np.where(np.isnan(found), np.nan, found == k).mean(axis=0)
            assert_near(share, p.mean(axis=0), error, "posterior_predict")
        return
    variance = reference.variance(draws, rows, made.effects if at_fit else ())
    error = np.sqrt(variance.mean(axis=0) / len(draws))
    # a sum of skewed outcomes is not normal in the tail
    assert_near(found.mean(axis=0), mean.mean(axis=0), 2 * error + 1e-9, "posterior_predict")


# ---- parameters ----------------------------------------------------------------------------------


def moments(made):
    """Means, sds, intervals, tables and statements of the parameters."""
    results, d = made.results, np.asarray(made.results.flat)
    first, last = results.names[0], results.names[-1]
    told = ~np.isnan(np.asarray(results.bse))  # tails of few draws may be called heavy
    sd = d.std(axis=0, ddof=1)
    assert_same(made, results.params[told], d.mean(axis=0)[told], "params", RTOL)
    assert_same(made, results.bse[told], sd[told], "bse", RTOL)
    assert_same(made, results.cov_params(), np.cov(d.T), "cov_params", RTOL)
    assert_same(
        made, results.conf_int(), np.quantile(d, [0.025, 0.975], axis=0).T, "conf_int", RTOL
    )
    assert_same(made, results.prob_positive, (d > 0).mean(axis=0), "prob_positive", RTOL)
    share = (d > 0).mean(axis=0)
    assert_same(made, results.prob_direction, np.maximum(share, 1 - share), "prob_direction", RTOL)
    frame = results.summary_frame()
    assert_same(made, frame["mean"][told], d.mean(axis=0)[told], "summary_frame", RTOL)
    assert_same(made, results.to_frame()[list(results.names)], d, "to_frame", RTOL)
    assert list(results.draws.shape) == [2, len(d) // 2, len(results.names)]
    text = f"2*`{first}` - `{last}`"
    assert_same(made, results.linear(text), 2 * d[:, 0] - d[:, -1], "linear", RTOL)
    for name in ("contrast", "t_test"):
        found = getattr(results, name)(text)
        assert_same(made, found["mean"], [(2 * d[:, 0] - d[:, -1]).mean()], name, RTOL)
    found = results.hypothesis(f"`{first}` > `{last}`")
    assert_same(made, found["prob"], (d[:, 0] > d[:, -1]).mean(), "hypothesis", RTOL)
    w = sum(
        one.shape[0] if made.reference.weights is None else one[made.reference.weights].sum()
        for one in ([made.reference.table, made.own] if made.case.life == "updated" else
                    [made.reference.table])
    )  # fmt: skip
    assert results.nobs == w, f"nobs {results.nobs}, {w} wanted"
    columns = made.reference.columns
    equations = 2 if made.case.family == "mnlogit" else 1
    if made.case.family not in (*TWO_PARTS, *ORDERED):
        assert results.df_model == equations * (columns - 1)
        assert results.k_constant == equations and results.df_resid == w - equations * columns
    if made.grouped:
        count = equations * columns + made.reference.stages + (made.case.family in TWO_PARTS)
        told = told[:count]
        assert_same(made, results.fe_params[told], d.mean(axis=0)[:count][told], "fe_params", RTOL)
        assert_same(made, results.bse_fe[told], sd[:count][told], "bse_fe", RTOL)


def priors(made):
    """prior_summary has the scales of the definition; draws of the Laplace approximation have its
    mode and sds.
    """
    results, reference = made.results, made.reference
    if made.case.life == "updated" or made.case.terms in ("monotonic", *STAGED):
        return  # priors of steps and stages have tests of their own
    columns = len(reference.scales) - (made.case.family in ORDERED)
    first = made.case.family in ORDERED
    used = results.prior_summary()["used"].iloc[: columns + first]
    told = np.array([float(str(one).split(",")[1].rstrip(") ")) for one in used])
    assert_same(
        made, told, reference.scales, "scales of the default prior", 5e-4
    )  # four digits printed
    if made.case.groups != "none" or made.case.family in ORDERED:
        return
    draws = made.draws.copy()
    k = draws.shape[1] - len(reference.law.auxiliary)
    draws[:, k:] = np.log(draws[:, k:])
    mode, covariance, _ = reference.laplace(draws.mean(axis=0))
    sd = np.sqrt(np.diag(covariance))
    # auxiliary parameters: the product's coordinates have their marginal mode
    assert_near(draws.mean(axis=0)[:k], mode[:k], sd[:k] / np.sqrt(len(draws)), "mode")
    ratio = draws.std(axis=0, ddof=1)[:k] / sd[:k]
    assert_near(ratio, 1.0, 1 / np.sqrt(2 * len(draws)), "sds at the mode")


# ---- effects of levels ---------------------------------------------------------------------------


def levels(made):
    """Known levels by the draws of their effects or integrated, new ones by their population,
    labels of another type refused.
    """
    results, reference, draws, rows = made.results, made.reference, made.draws, made.rows
    if not made.grouped:
        return
    at_fit = made.case.rows == "of the fit"
    asked = () if at_fit else (made.asked,)
    known = np.array(rows["s"]) != 99
    mean = reference.mean(draws, rows, made.effects)
    mean, single_kind = kinds_last(mean), mean.ndim == 2
    found = np.asarray(quiet(
        lambda: results.get_prediction(*asked, **made.beside).summary_frame()["mean"]
    ), dtype=float).reshape(mean.shape[1:])  # fmt: skip
    assert_same(made, found[known], mean.mean(axis=0)[known], "get_prediction with effects")
    predicted = np.asarray(quiet(lambda: results.predict(*asked, **made.beside)), dtype=float)
    if made.case.rows == "other label type":  # none of these is a level, and their text is
        text = made.rows.assign(s=made.rows["s"].astype(str))
        assert_refused(lambda: results.predict(text, **made.beside), "s")
    single = made.case.groups in ("intercepts", "slopes") and made.case.family not in SEVERAL
    if not single:
        assert_same(made, predicted[known], mean.mean(axis=0)[known], "predict with effects")
    else:  # the product integrates: means over draws of the effects are near
        spread = mean.std(axis=0, ddof=1) / np.sqrt(len(draws))
        assert_near(predicted[known], mean.mean(axis=0)[known], 2 * spread[known] + 1e-9, "predict")
    whole = single and made.case.groups == "intercepts" and single_kind
    if whole:
        wanted = integrated(made)
        most = NOT_CONCAVE if made.case.family == "inversegaussian" else OVER_EFFECTS
        assert_same(made, predicted[known], wanted[known], "predict over effects", most)
    if not known.all():
        spread = mean.std(axis=0, ddof=1)[~known]
        # a new level's effects are as wide as the population's: several sds of it
        assert np.isfinite(predicted).all() and (found[~known] != mean.mean(axis=0)[~known]).all()
        if whole:
            wanted = population(made)[~known]
            assert_same(made, predicted[~known], wanted, "predict of a new level", OVER_EFFECTS)
        assert_refused(
            lambda: results.predict(*asked, new_levels="error", **made.beside), "99", "s"
        )
    if made.case.life == "fit" and at_fit:
        tables = results.ranef()
        tables = list(tables.values()) if isinstance(tables, dict) else [tables]
        for table, effects in zip(tables, made.effects):
            wanted = np.stack(list(effects.values()), axis=1)  # (m, level, effect)
            error = wanted.std(axis=0, ddof=1) / np.sqrt(len(draws))
            assert_near(table["mean"], wanted.mean(axis=0).reshape(-1), error.reshape(-1), "ranef")


def effect_grid(made):
    """Sds of the intercepts (m, 1), and effects (m, k) on a grid with the weights of the prior."""
    place = list(made.results.names).index("sd(1|s)")
    sd = made.draws[:, [place]]
    t = np.linspace(-1, 1, 800)  # dense around zero, where outcomes keep effects of a large sd
    u = 8 * t**3
    return sd * u, t**2 * np.exp(-(u**2) / 2)


def integrated(made):
    """E[y] of each row over the effect of its level given the outcomes of the level, by quadrature
    on a grid of 800 points of 16 sds.
    """
    reference, draws = made.reference, made.draws
    u, prior = effect_grid(made)
    law, extra = reference.law, reference.split(draws)[1]
    extra3 = {name: one[..., None] for name, one in extra.items()}
    own = reference.eta(draws, made.own)[..., None] + u[:, None, :]
    y = reference.outcomes(made.own)[None, :, None]
    w = 1.0 if reference.weights is None else np.array(made.own[reference.weights])[None, :, None]
    rows = reference.eta(draws, made.rows)[..., None] + u[:, None, :]
    means, out = law.mean(rows, extra3), np.full(len(made.rows), np.nan)
    with np.errstate(invalid="ignore"):  # a share has no density where its mean rounds to 0 or 1
        density = w * np.nan_to_num(law.log_lik(y, own, extra3), nan=-np.inf, neginf=-np.inf)
    for level in np.unique(made.rows["s"]):
        log = np.log(prior) + density[:, np.array(made.own["s"]) == level].sum(axis=1)
        p = np.exp(log - log.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        here = np.array(made.rows["s"]) == level
        out[here] = (means[:, here] * p[:, None, :]).sum(axis=2).mean(axis=0)
    return out


def population(made):
    """E[y] of each row over the effect of a new level."""
    reference, draws = made.reference, made.draws
    u, prior = effect_grid(made)
    extra = {name: one[..., None] for name, one in reference.split(draws)[1].items()}
    eta = reference.eta(draws, made.rows)[..., None] + u[:, None, :]
    return (reference.law.mean(eta, extra) @ (prior / prior.sum())).mean(axis=0)


CHECKS = (predictions, effects, grids, densities, simulated, moments, priors, levels)
