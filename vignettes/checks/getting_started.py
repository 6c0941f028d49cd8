"""Claims of the tutorial getting-started."""

import numpy as np

MINUTES = 3
FIGURES = ("pp-check", "plans")


def check(story, page):
    """Compare what the page states with its variables."""
    story.claim(
        "a posterior in one line",
        "a co-payment goes with fewer visits, and the verdict is trustworthy",
        f"coefficient of share {page.res.params['share']:.4f}, sd {page.res.bse['share']:.4f}",
        page.res.verdict.trustworthy and page.res.params["share"] < -5 * page.res.bse["share"],
    )
    story.claim(
        "a posterior in one line",
        "with many rows and a weak prior, posterior means are close to maximum likelihood",
        f"at most {page.apart.max():.2f} standard errors apart",
        page.apart.max() < 0.2,
    )
    groups = page.res.pp_check().filter(like="group", axis=0)
    better = page.plans.pp_check().filter(like="group", axis=0)
    outside = [int((np.abs(t.p - 0.5) > 0.475).sum()) for t in (groups, better)]
    story.claim(
        "does the model fit?",
        "several of ten groups lie outside of their 95 % ranges where share is straight",
        f"{outside[0]} with a straight line, {outside[1]} with a coefficient per plan",
        outside[0] >= 3 > outside[1],
    )
    gain = page.scores.elpd["plans"] - page.scores.elpd["straight"]
    error = page.scores.diff_se["straight"]
    story.claim(
        "does the model fit?",
        "a coefficient for each plan predicts better, by many standard errors",
        f"elpd larger by {gain:.0f}, with a standard error of {error:.0f}",
        gain > 4 * error,
    )
    rates = page.table.groupby("share").visit.mean()
    story.claim(
        "does the model fit?",
        "visits are rarer where the share is 95 percent than where it is 100 percent",
        f"shares of rows with a visit: {rates[95]:.3f} and {rates[100]:.3f}",
        rates[95] < rates[100] - 0.05,
    )
    before, after = (fit.params[["limited", "deductible"]] for fit in (page.wide, page.narrow))
    story.claim(
        "your prior",
        "with 200 rows a narrow prior moves the estimates towards zero",
        ", ".join(f"{name}: {before[name]:.3f} becomes {after[name]:.3f}" for name in before.index),
        (after.abs() < before.abs()).all(),
    )
    story.claim(
        "save and continue",
        "a resumed run continues",
        f"{page.more.draws.shape[1]:,} draws per chain after {page.plans.draws.shape[1]:,}",
        page.more.draws.shape[1] == page.plans.draws.shape[1] + 500,
    )
