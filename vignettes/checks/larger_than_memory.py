"""Claims of the tutorial larger-than-memory."""

import numpy as np
import pandas as pd

import sgmc

MINUTES = 4
FIGURES = ("order",)
FORMULA = "sale ~ device + age"


def beside(res, other):
    """Largest differences of means in sds, and of sds."""
    apart = ((res.params - other.params) / other.bse).abs().max()
    return apart, (res.bse / other.bse - 1).abs().max()


def check(story, page):
    """Compare what the page states with its variables."""
    apart, ratio = beside(page.res, sgmc.logit(FORMULA, page.whole, seed=2))
    story.claim(
        "a fit from the file",
        "the posterior is that of the same rows in memory: means within 0.1 sd, sds within 5 %",
        f"means differ by at most {apart:.3f} sd, sds by at most {ratio:.1%}",
        apart < 0.1 and ratio < 0.05,
    )
    away = ((page.res.params - pd.Series(page.truth)) / page.res.bse).abs().max()
    story.claim(
        "a fit from the file",
        "the true coefficients are within 3.5 posterior sds",
        f"at most {away:.1f} sds away",
        away < 3.5,
    )
    simple = page.whole.age.std() / np.sqrt(1000)
    after, before = page.shuffled.std(), page.blocks.std()
    story.claim(
        "order of rows",
        "means of blocks vary as those of random samples of 1,000 rows, and far more in the files",
        f"sd {after:.3f} in the prepared file, {before:.3f} in the files, {simple:.3f} of random "
        "samples",
        # 2 sds of an estimate of an sd by so many blocks, or 15 % if there are more than 90
        abs(after / simple - 1) < max(0.15, 2 / np.sqrt(2 * len(page.shuffled)))
        and before > 5 * simple,
    )
    few, many = page.costs.iloc[0, 1], page.costs.iloc[-1, 1]
    story.claim(
        "cost of a draw",
        "thirty times as many rows, no more rows read per draw",
        f"{few:.0f} rows read per draw with {page.costs.rows.iloc[0]:,} rows, {many:.0f} with "
        f"{page.ROWS:,}",
        many < 1.3 * few,
    )
    both = sgmc.logit(FORMULA, pd.concat([page.whole, page.january]), seed=3)
    apart, ratio = beside(page.carried, both)
    story.claim(
        "a month later",
        "the posterior is that of all thirteen months: means within 0.1 sd, sds within 5 %",
        f"means differ by at most {apart:.3f} sd, sds by at most {ratio:.1%}",
        apart < 0.1 and ratio < 0.05,
    )
    expected, chances = np.asarray(page.carried.predict(page.whole)), page.chances
    story.claim(
        "predictions",
        "the file has one prediction per row, in their order, as for the same rows in memory",
        f"{len(chances):,} lines; they differ by at most "
        f"{np.abs(chances.iloc[:, -1] - expected).max():.1g}",
        len(chances) == len(page.whole) and np.allclose(chances.iloc[:, -1], expected, rtol=1e-12),
    )
