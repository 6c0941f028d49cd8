"""Claims of the tutorial groups, and fits of published tables where SGMC_DATA has them."""

import numpy as np
from statsmodels.stats.contingency_tables import StratifiedTable

import sgmc

MINUTES = 5
FIGURES = ("subjects", "ignored")
LME4 = {  # lme4 1.1-31: REML for sleepstudy, 25 nodes for cbpp
    "sleepstudy": ("Reaction ~ Days + (1 + Days | Subject)", [251.4051, 10.4673]),
    "cbpp": (
        "incidence + healthy ~ C(period) + (1 | herd)",
        [-1.3992, -0.9914, -1.1278, -1.5795],
    ),
}


def farthest(res, truth):
    """Largest distance of posterior means from the truth, in posterior sds."""
    return float(((res.params - np.asarray(truth)) / res.bse).abs().max())


def check(story, page):
    """Compare what the page states with its variables."""
    for where, res, truth in (
        ("reaction times", page.slopes, page.truth),
        ("patients in clinics", page.by_illness, page.true_clinics),
        ("many rows", page.many, page.true_big),
    ):
        apart = farthest(res, truth)
        story.claim(
            where,
            "the true parameters are within 3.5 posterior sds of the means",
            f"at most {apart:.1f} posterior sds away; {str(res.verdict).split(':')[0]}",
            apart < 3.5 and res.verdict.trustworthy,
        )
    counts = page.china.to_numpy(dtype=float).reshape(-1, 2, 2)
    pooled = StratifiedTable(list(counts.transpose(1, 2, 0).transpose(2, 0, 1))).oddsratio_pooled
    ratio = float(np.exp(page.odds.params["smoker"]))
    story.claim(
        "counts of cases in cities",
        "smokers have about twice the odds of lung cancer",
        f"{ratio:.2f}; the Mantel-Haenszel estimate is {pooled:.2f}",
        abs(np.log(ratio / pooled)) < 0.1 and 1.7 < ratio < 2.5,
    )
    gain = page.patients_left_out.elpd["by_clinic"] - page.patients_left_out.elpd["flat"]
    story.claim(
        "patients in clinics",
        "other patients of a clinic help to predict a patient",
        f"elpd {gain:.1f} higher with a term for clinics",
        gain > 10,
    )
    width = (page.prediction["mean_ci_upper"] - page.prediction["mean_ci_lower"]).to_numpy()
    story.claim(
        "patients in clinics",
        "predictions for a new clinic have wider intervals than those for a known one",
        f"{width[1]:.2f} wide for a new clinic, {width[0]:.2f} for clinic 1",
        width[1] > 1.3 * width[0],
    )
    ignored, modelled = page.covered.values()
    story.claim(
        "ignored groups",
        "95 % intervals of a group's predictor miss the truth far too often without a group term",
        f"{ignored:.0%} contain it without a group term, {modelled:.0%} with one",
        ignored < 0.8 and modelled > 0.85,
    )
    ignored, modelled = page.predicted.values()
    story.claim(
        "ignored groups",
        "95 % predictive intervals miss new groups far too often without a group term",
        f"{ignored:.0%} of 400 new groups are inside without a group term, {modelled:.0%} with one",
        ignored < 0.8 and modelled > 0.88,
    )
    for name, (formula, lme4) in LME4.items():
        table = story.published(name)
        if table is None:
            continue
        if name == "cbpp":
            table["healthy"] = table["size"] - table.incidence
        res = sgmc.logit if name == "cbpp" else sgmc.ols
        res = res(formula, table, seed=1)
        apart = np.abs(res.fe_params - lme4) / res.bse_fe
        story.claim(
            f"published table {name}",
            "fixed effects agree with those of lme4 to a quarter of a posterior sd",
            f"farthest {apart.max():.2f} posterior sds apart",
            apart.max() < 0.25,
        )
