"""Claims of the tutorial choosing-a-sampler."""

import numpy as np

MINUTES = 10
FIGURES = ("rows", "noise", "defaults", "auto")


def check(story, page):
    """Compare what the page states with its variables."""
    growth(story, page)
    noise(story, page)
    defaults(story, page)
    choice(story, page)


def growth(story, page):
    """How costs grow with rows and with coefficients."""
    powers = page.powers
    story.claim(
        "more rows",
        "rows per effective draw grow in proportion to N for exact samplers and plain mini-batches",
        "powers of N: "
        + ", ".join(f"{name} {powers[name]:.2f}" for name in ("mala", "hmc", "lmsgld-simple")),
        powers[["mala", "hmc", "lmsgld-simple"]].between(0.8, 1.2).all(),
    )
    flat = powers[["lmsgld-cv", "lmsgld-taylor", "zzcv", "sbps"]]
    story.claim(
        "more rows",
        "with control variates they do not grow with N",
        "powers of N: " + ", ".join(f"{name} {power:.2f}" for name, power in flat.items()),
        flat.max() < 0.25,
    )
    grown = page.by_width.iloc[-1] / page.by_width.iloc[0]
    story.claim(
        "more coefficients",
        "the cost of control variates grows more than that of exact samplers",
        f"from {page.WIDTHS[0]} to {page.WIDTHS[-1]} slopes: mala x {grown['mala']:.1f}, "
        f"lmsgld-taylor x {grown['lmsgld-taylor']:.1f}",
        grown["lmsgld-taylor"] > grown["mala"],
    )


def noise(story, page):
    """The variance that control variates leave."""
    balanced, rare = page.noise.values()
    more = page.SIZES[-1] / page.SIZES[0]
    grown = balanced.iloc[-1] / balanced.iloc[0]
    story.claim(
        "what control variates save",
        "V1 grows with N without control variates, stays with cv, and falls with taylor",
        f"{more:.0f} times the rows: V1 times {grown['simple']:.0f}, {grown['cv']:.2f} and "
        f"{grown['taylor']:.3f}",
        0.5 < grown["simple"] / more < 2 and grown["cv"] < 3 and grown["taylor"] < 1,
    )
    saved = [float((frame["simple"] / frame["cv"]).iloc[-1]) for frame in (balanced, rare)]
    story.claim(
        "what control variates save",
        "they save less where outcomes are rare",
        f"V1 {saved[0]:,.0f} times smaller with balanced outcomes, {saved[1]:,.0f} times with 3 %",
        saved[1] < saved[0],
    )


def defaults(story, page):
    """Errors at default settings."""
    table = page.defaults
    within = 2 / np.sqrt(page.reference.ess().min())
    story.claim(
        "what default settings do",
        "means within 0.1 sd and sds within 7 %, for all samplers",
        f"{len(table)} samplers: means within {table['mean off'].max():.3f} sd, sds within "
        f"{table['sd off'].max():.1%}",
        table["mean off"].max() < 0.1 + within and table["sd off"].max() < 0.07 + within,
    )
    rows = table["rows per draw"]
    story.claim(
        "what default settings do",
        "costs differ by orders of magnitude",
        f"{rows.min():,.0f} ({rows.idxmin()}) to {rows.max():,.0f} ({rows.idxmax()}) rows per "
        "effective draw",
        rows.max() > 10 * rows.min(),
    )
    story.claim(
        "wide and sparse tables",
        "a CSR array has the posterior of the dense table, in a fraction of its memory",
        f"means at most {page.between:.3f} sd apart, {page.memory:.0%} of the memory",
        page.between < 0.15 and page.memory < 0.1,
    )


def choice(story, page):
    """What auto takes."""
    auto, share = page.runs[page.runs.sampler == "auto"], page.ratio["auto"]
    story.claim(
        "what auto chooses",
        "auto is right for each posterior",
        f"right for {int(auto.right.sum())} of {len(page.PROBLEMS)}",
        bool(auto.right.all()) and len(auto) == len(page.PROBLEMS),
    )
    story.claim(
        "what auto chooses",
        "the cost of auto is near that of the cheapest right sampler",
        f"{share.median():.1f} times its rows in the median, at most {share.max():.1f} "
        f"({share.idxmax()}); always mala: up to {page.ratio['mala'].max():,.0f} times",
        share.max() < 5 and share.median() < 2,
    )
    trusted = page.runs[page.runs.trusted]
    story.claim(
        "what auto chooses",
        "fits that the verdict trusts are right",
        f"{int(trusted.right.sum())} of {len(trusted)} trusted fits",
        bool(trusted.right.all()),
    )
