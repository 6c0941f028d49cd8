"""Claims of the tutorial bring-your-own-model."""

import numpy as np

import sgmc

MINUTES = 3
FIGURES = ("decay", "known")


def check(story, page):
    """Compare what the page states with its variables."""
    truth = {"size": 2, "rate": 1.5, "sigma": 0.3}
    off = [
        abs(float(page.res.mean_of(name)) - value) / float(page.res.sd_of(name))
        for name, value in truth.items()
    ]
    story.claim(
        "a model in twelve lines",
        "a class with a log density of rows is enough",
        "the true values are " + ", ".join(f"{value:.1f}" for value in off) + " sd from the means",
        page.res.verdict.trustworthy and max(off) < 3.5,
    )
    found = sum(not report.ok for report in page.broken.values())
    story.claim(
        "finding mistakes",
        "check_model finds the mistake in each of five broken models, and none in the right one",
        f"{found} of {len(page.broken)} found",
        found == len(page.broken) and sgmc.check_model(page.model).ok,
    )
    story.claim(
        "finding mistakes",
        "a fit refuses a model that is clearly wrong, before it samples",
        f"{len(page.refused)} of {len(page.broken)} refused",
        len(page.refused) == len(page.broken),
    )
    trusted = page.errors[page.errors.trusted]
    refused = ", ".join(page.errors.index[~page.errors.trusted])
    story.claim(
        "a known posterior",
        "draws have the known means and sds, or the verdict does not trust them",
        f"{', '.join(trusted.index)}: means within {trusted['mean off (sd)'].max():.3f} sd, sds "
        f"within {trusted['sd off'].max():.1%}; not trusted: {refused or 'none'}",
        {"auto", "mala", "lmsgld"} <= set(trusted.index)
        and trusted["mean off (sd)"].max() < 0.1
        and trusted["sd off"].max() < 0.1,
    )
    others = [name for name in page.ways if name != "numpy"]
    for name in {"JAX", "numba"} - set(others):
        story.note(f"skipped: {name} is not installed")
    if others:
        apart = max(np.abs(page.ways[name] - page.ways["numpy"]).max() for name in others)
        story.claim(
            "the same model, compiled",
            "compiled models give the same draws as numpy, up to rounding",
            f"{', '.join(others)}: at most {apart:.0e} apart",
            apart < 1e-8,
        )
