"""Claims of the tutorial curves."""

import numpy as np

MINUTES = 4
FIGURES = ("engel", "straight", "levels", "season", "surface")


def check(story, page):
    """Compare what the page states with its variables."""
    household(story, page)
    straight(story, page)
    levels(story, page)
    season(story, page)
    sites(story, page)
    outside(story, page)
    mgcv(story, page)
    fits = {"engel": page.curve, "levels": page.levels, "season": page.season}
    trusted = {
        name: res.verdict.trustworthy for name, res in (fits | {"sites": page.grouped}).items()
    }
    story.claim(
        "the verdict",
        "enough draws make the verdict trustworthy: 4,000 per chain, of levels with a line 8,000",
        ", ".join(f"{name}: {'trustworthy' if ok else 'not'}" for name, ok in trusted.items()),
        all(trusted.values()),
    )


def household(story, page):
    """One row decides on the bend of Engel's curve."""
    gain, left = (t.elpd["curve"] - t.elpd["line"] for t in (page.households, page.without))
    story.claim(
        "a first curve",
        "one household decides: the curve is ahead with it, and not without it",
        f"elpd of the curve {gain:+.0f} with it, {left:+.0f} without it",
        gain > 10 and left < 0,
    )


def straight(story, page):
    """A line is enough for the votes."""
    gain = page.voters.elpd["bent"] - page.voters.elpd["straight"]
    table = page.bent.smooth("s(logpopul)")
    line = page.straight.params["logpopul"] * (table.logpopul - page.votes.logpopul.mean())
    away = ((table["mean"] - line) / table.sd).abs().max()
    story.claim(
        "a straight line",
        "leave-one-out finds no gain of a curve over the line",
        f"elpd differs by {gain:.1f}, its standard error is {page.voters.diff_se['bent']:.1f}",
        gain < 2 * page.voters.diff_se["bent"],
    )
    story.claim(
        "a straight line",
        "the line is within the band of the curve",
        f"at most {away:.1f} posterior sds from the curve's mean",
        away < 2,
    )


def levels(story, page):
    """Curves of three levels, one of which is a line."""
    edf = page.levels.smooths.edf
    story.claim(
        "a curve for each level",
        "the bands hold the true curves nearly everywhere",
        "shares of the range where a 95 % band misses: "
        + ", ".join(f"{s:.0%}" for s in page.outside),
        max(page.outside) < 0.2 and np.mean(page.outside) < 0.1,
    )
    story.claim(
        "a curve for each level",
        "the straight line of one level is found",
        "effective degrees of freedom " + ", ".join(f"{one:.1f}" for one in edf),
        edf.iloc[1] < 2 < 5 < min(edf.iloc[0], edf.iloc[2]),
    )


def season(story, page):
    """The months of carbon dioxide, and of sea temperatures."""
    table = page.season.smooth("s(month)")
    ends = page.season.smooth("s(month)", at=[0.5, 12.5])["mean"]
    top, bottom = table.month[table["mean"].idxmax()], table.month[table["mean"].idxmin()]
    story.claim(
        "a season",
        "highest in May, lowest around the end of September",
        f"highest at month {top:.1f}, lowest at {bottom:.1f}",
        4.5 < top < 5.5 and 9 < bottom < 10.5,
    )
    story.claim(
        "a season",
        "the curve closes",
        f"{ends.iloc[0]:.4f} and {ends.iloc[1]:.4f} at its ends",
        np.isclose(*ends),
    )
    low = page.surface.conf_int().loc[page.sds].iloc[:, 0]
    story.claim(
        "a surface",
        "the season bends, and its shape shows no bent change over the years",
        "95 % intervals of the sds begin at " + ", ".join(f"{one:.2f}" for one in low),
        low.iloc[1] > 1 and low.iloc[2] < 0.05,
    )


def sites(story, page):
    """A curve beside groups."""
    at = np.linspace(0.02, 0.98, 25)
    table = page.grouped.smooth("s(x)", at=at)
    true = np.sin(2 * np.pi * at) - np.sin(2 * np.pi * page.sites.x).mean()
    apart = np.abs((table["mean"] - true) / table.sd).max()
    low, high = page.grouped.conf_int().loc["sd(1|site)"]
    story.claim(
        "groups beside a curve",
        "the curve and the sd of the sites are where the truth is",
        f"the curve at most {apart:.1f} posterior sds away; sd(1|site) {low:.2f} to {high:.2f}, "
        "truth 0.5",
        apart < 3 and low < 0.5 < high,
    )


def outside(story, page):
    """What a curve does beyond the data."""
    steps = np.diff(page.far["mean"].to_numpy()[1:]) / np.diff(page.incomes[1:])
    widths = [
        (t["mean_ci_upper"] - t["mean_ci_lower"]).to_numpy() for t in (page.far, page.open_end)
    ]
    story.claim(
        "outside of the range",
        "a straight line beyond the largest income, with intervals that widen",
        "slopes "
        + ", ".join(f"{one:.3f}" for one in steps)
        + "; widths "
        + ", ".join(f"{one:.0f}" for one in widths[0]),
        np.ptp(steps) < 1e-6 and (np.diff(widths[0]) > 0).all(),
    )
    story.claim(
        "outside of the range",
        "with knots beyond the data, intervals include further bends",
        f"{widths[1][-1]:.0f} wide at an income of 10,000, {widths[0][-1]:.0f} without such knots",
        widths[1][-1] > widths[0][-1],
    )


def mgcv(story, page):
    """The same curves by R's mgcv."""
    beside = page.beside
    apart = ((beside["mean"] - beside["mgcv"]) / beside["mgcv_se"]).abs().max()
    ratio = beside["sd"] / beside["mgcv_se"]
    story.claim(
        "beside mgcv",
        "curves agree with those of mgcv, standard errors included",
        f"curves at most {apart:.2f} standard errors apart, sds {ratio.min():.2f} to "
        f"{ratio.max():.2f} of mgcv's",
        apart < 0.3 and ratio.between(0.85, 1.2).all(),
    )
