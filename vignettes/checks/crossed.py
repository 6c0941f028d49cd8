"""Claims of the tutorial crossed, and a fit of the published table where SGMC_DATA has it."""

import numpy as np
import pandas as pd

import sgmc

MINUTES = 15
FIGURES = ("lecturers", "calibration")
LME4 = {"Intercept": 3.2826, "service": -0.0926, "sd(1|s)": 0.3255, "sd(1|d)": 0.5150} | {
    "sd(1|dept)": 0.0785,
    "sigma": 1.1775,
}


def check(story, page):
    """Compare what the page states with its variables."""
    apart = ((page.res.params - page.truth) / page.res.bse).abs().max()
    story.claim(
        "students, lecturers, departments",
        "the true parameters are within 3.5 posterior sds of the means",
        f"at most {apart:.1f} posterior sds away; {str(page.res.verdict).split(':')[0]}",
        apart < 3.5 and page.res.verdict.trustworthy,
    )
    sds = [name for name in page.res.params.index if name.startswith("sd(")]
    wide = (page.res.bse / page.res.params)[sds]
    story.claim(
        "students, lecturers, departments",
        "sd(1|department) is known least",
        f"to {wide['sd(1|department)']:.0%}, all others to "
        f"{wide.drop('sd(1|department)').max():.0%} or better",
        wide.idxmax() == "sd(1|department)",
    )
    few = page.lecturers["ratings"] <= page.lecturers["ratings"].quantile(0.25)
    shrunk = [
        page.lecturers["mean"][k].abs().mean() / page.raw[k].abs().mean() for k in (few, ~few)
    ]
    story.claim(
        "best and worst lecturers",
        "effects of lecturers with few ratings are shrunk more than others",
        f"mean size over that of raw means: {shrunk[0]:.2f} with few ratings, {shrunk[1]:.2f} with "
        "more",
        shrunk[0] < shrunk[1],
    )
    held_out(story, page)
    z = ((page.groups.share - page.groups.p) / page.error).abs().max()
    story.claim(
        "a new student and a known lecturer",
        "observed shares are near the predicted probabilities",
        f"ten groups: largest difference {(page.groups.share - page.groups.p).abs().max():.3f}, "
        f"{z:.1f} standard errors",
        z < 3.5,
    )
    ratings = None if story.fast else story.published("insteval")
    if ratings is not None:
        res = sgmc.ols("y ~ service + (1 | s) + (1 | d) + (1 | dept)", ratings, seed=1, draws=250)
        lme4 = pd.Series(LME4)
        apart = ((res.params[lme4.index] - lme4) / res.bse[lme4.index]).abs().max()
        story.claim(
            "published table insteval",
            "estimates agree with those of lme4 to one posterior sd",
            ", ".join(f"{v:.4f}" for v in res.params[lme4.index]) + f"; farthest {apart:.1f} sds",
            apart < 1.0,
        )


def held_out(story, page):
    """Predictions of ratings that were held out."""
    seen, test = page.table[~page.held], page.test
    overall = seen.good.mean()
    by_lecturer = seen.groupby("lecturer").good.mean().reindex(test.lecturer).fillna(overall)
    scores = [
        float(np.mean(np.log(np.where(test.good == 1, p, 1 - p))))
        for p in (test.p, np.clip(by_lecturer.to_numpy(), 0.01, 0.99), np.full(len(test), overall))
    ]
    story.claim(
        "a new student and a known lecturer",
        "ratings held out are predicted better than by the lecturer's mean, or by the mean of all",
        f"mean log score {scores[0]:.3f}; lecturer's mean {scores[1]:.3f}; overall mean "
        f"{scores[2]:.3f}",
        scores[0] > max(scores[1:]),
    )
