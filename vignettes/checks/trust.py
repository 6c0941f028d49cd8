"""Claims of the tutorial trust."""

import numpy as np
from scipy import special

import sgmc

MINUTES = 4
FIGURES = ("bias", "curvature", "modes")


def check(story, page):
    """Compare what the page states with its variables."""
    ways(story, page)
    formulas(story, page)
    opinions(story, page)
    shapes(story, page)
    beyond(story, page)


def right(page, trusted, off_mean, off_sd):
    """Whether a verdict is that of the known answer, whose own error is allowed for."""
    worst, exactness = max(off_mean, abs(off_sd)), 3 / np.sqrt(page.size)
    return worst < 0.1 + exactness if trusted else worst > 0.1 - exactness


def ways(story, page):
    """Ten fits, nine of them wrong, at several seeds."""
    shown = page.shown
    verdicts = [right(page, *row) for row in shown[["trusted", "mean off", "sd off"]].to_numpy()]
    for seed in range(2, story.pick(5, 3)):
        for how in page.WAYS.values():
            res = page.fit(seed, **how)
            means = np.abs((res.params - page.mean) / page.sd).max()
            sds = np.abs(res.bse / page.sd - 1).max()
            verdicts.append(right(page, res.verdict.trustworthy, means, sds))
    story.claim(
        "ten ways to go wrong",
        "the verdict trusts right fits and refuses wrong ones",
        f"right in {sum(verdicts)} of {len(verdicts)}: ten ways, "
        f"{len(verdicts) // len(page.WAYS)} seeds each",
        np.mean(verdicts) >= 0.95 and list(shown.index[shown.trusted]) == ["defaults"],
    )
    biased = shown.loc[["step too large", "batch too small", "esgbd as published"]]
    story.claim(
        "ten ways to go wrong",
        "R-hat and ESS do not detect a bias that all chains share",
        f"sds {biased['sd off'].min():+.0%} to {biased['sd off'].max():+.0%} off, with R-hat at "
        f"most {biased['R-hat'].max():.3f} and ESS at least {biased.ESS.min():,.0f}",
        biased["R-hat"].max() < 1.01
        and biased.ESS.min() > 2000
        and biased["sd off"].abs().min() > 0.1,
    )
    finite = shown.index[shown["sd off"].abs() < 5]
    off = {
        name: np.abs((1 + page.fits[name].accuracy().sd_error) * page.sd / page.fits[name].bse - 1)
        for name in finite
    }
    worst = max(off, key=lambda name: off[name].max())
    apart, allowed = off[worst].max(), 0.03 + 3 / np.sqrt(page.size)
    place = int(off[worst].argmax())
    true = (page.fits[worst].bse / page.sd - 1).iloc[place]
    said = np.asarray(page.fits[worst].accuracy().sd_error)[place]
    story.claim(
        "ten ways to go wrong",
        "estimated errors of sds are close to the true ones",
        f"within {apart:.3f} of the true ratio of sds in {len(finite)} fits",
        apart < allowed,
        f"of '{worst}' an sd is off by {true:+.1%}, by the scores by {said:+.1%}"
        if apart >= allowed
        else "",
    )


def formulas(story, page):
    """The variance of SGLD's draws."""
    apart = [
        np.abs([(res.bse / page.sd - 1).mean() for res in several] - formula) / (1 + formula)
        for several, formula in (
            (page.by_step, page.step_formula),
            (page.by_size, page.size_formula),
        )
    ]
    story.claim(
        "what a step size does",
        "errors of sds agree with the formula",
        f"within {apart[0].max():.1%} at all step sizes, within {apart[1].max():.1%} at all batch "
        "sizes",
        max(apart[0].max(), apart[1].max()) < 0.05,
    )
    warned = [
        h
        for h, res in zip(page.STEPS, page.by_step)
        if any(isinstance(w, sgmc.errors.StepSizeWarning) for w in res.warnings)
    ]
    story.claim(
        "what a step size does",
        "a StepSizeWarning appears where the step adds 5 % to the variance, from h = 0.19 on",
        f"warned at h = {', '.join(map(str, warned))}",
        warned == [h for h in page.STEPS if h > 0.19],
    )


def opinions(story, page):
    """Tests and corrections by scores."""
    story.claim(
        "second opinions",
        "ksd_test accepts the default fit and rejects the one with h = 1",
        f"p = {page.tests['defaults']:.2f} and {page.tests['h = 1']:.3f}",
        page.tests["defaults"] > 0.05 > page.tests["h = 1"],
    )
    expected = np.sqrt((1 - 0.5 / 4) / (1 - 1 / 4)) - 1
    story.claim(
        "second opinions",
        "half_step shows the bias of the step: sds change by sqrt((1 - h/8) / (1 - h/4)) - 1",
        f"{page.half.sd_change.mean():.3f} at h = 1, where {expected:.3f} is expected",
        abs(page.half.sd_change.mean() - expected) < 0.03,
    )
    reference = page.good.zv_means()["mean"]
    before, after = (
        float(np.sqrt((((page.improved[name] - reference) / page.sd) ** 2).mean()))
        for name in ("mean", "zv_means")
    )
    story.claim(
        "second opinions",
        "zv_means have far less Monte Carlo error than means",
        f"{before:.4f} sd with 4 x 100 draws becomes {after:.5f} sd",
        after < before / 5,
    )


def shapes(story, page):
    """Posteriors that are skewed or long."""
    skewed, long = page.skewed, page.long
    mode, auto = (skewed[skewed.index.str.endswith(name)] for name in ("laplace", "auto"))
    story.claim(
        "a posterior that is not Gaussian",
        "laplace is off and not trusted; auto is right and trusted",
        f"means off by {mode['mean off'].min():.2f} sd or more with laplace, by at most "
        f"{auto['mean off'].max():.2f} sd with auto",
        not mode.trusted.any()
        and mode["mean off"].min() > 0.1
        and auto.trusted.all()
        and auto["mean off"].max() < 0.1,
    )
    story.claim(
        "a posterior that is not Gaussian",
        "complete separation raises a SeparationWarning",
        f"warnings: {skewed.warnings['separation, auto']}",
        "Separation" in skewed.warnings["separation, auto"],
    )
    ess, mala = long.ESS, long.loc["twins, raw mala"]
    story.claim(
        "predictors that are nearly the same",
        "whitened coordinates mix well; raw coordinates do not, and are not trusted",
        f"ESS {ess['twins, defaults']:,.0f} whitened, {ess['twins, raw sgld']:.0f} (SGLD) and "
        f"{ess['twins, raw mala']:.0f} (MALA) in raw coordinates",
        ess["twins, defaults"] > 2000
        and long.trusted["twins, defaults"]
        and ess.iloc[1:].max() < 400
        and not long.trusted.iloc[1:].any(),
        "fits go on until their draws suffice: those of mala are trusted, with means within "
        f"{mala['mean off']:.2f} sd"
        if mala.trusted
        else "",
    )
    told = [w for w in page.collinear.warnings if isinstance(w, sgmc.errors.ConditionWarning)]
    story.claim(
        "predictors that are nearly the same",
        "a predictor that is a sum of others raises a ConditionWarning",
        f"{len(told)} such warning",
        bool(told),
    )


def beyond(story, page):
    """What no diagnostic of one fit can detect."""
    mean, sd = 0.0, float(np.sqrt(page.density @ page.fine**2))
    found = float(page.one.params.iloc[0])
    story.claim(
        "what cannot be detected",
        "a mode that no chain has visited is not detected",
        f"mean {found:.2f}, truth 0 (sd {sd:.2f}): trustworthy by the verdict",
        page.one.verdict.trustworthy and abs(found - mean) > 0.5 * sd,
    )
    story.claim(
        "what cannot be detected",
        "chains that start in both modes disagree, and are not trusted",
        f"R-hat {page.spread.rhat().max():.2f}",
        not page.spread.verdict.trustworthy and page.spread.rhat().max() > 1.1,
    )
    checks = page.checks.T
    story.claim(
        "what the verdict does not judge",
        "a posterior of a wrong model is trusted; pp_check shows that the model is wrong",
        f"sd of the counts {checks.observed.iloc[0]:.2f}; replicated by Poisson "
        f"{checks.replicated.iloc[0]:.2f} (p = {checks.p.iloc[0]:.3f}), by a negative binomial "
        f"{checks.replicated.iloc[1]:.2f} (p = {checks.p.iloc[1]:.2f})",
        page.narrow.verdict.trustworthy
        and checks.p.iloc[0] < 0.01
        and 0.025 < checks.p.iloc[1] < 0.975,
    )
    exact = special.digamma(2) - np.log(6)
    story.claim(
        "a posterior that is not Gaussian",
        "the mean of two events is that of the log of a gamma variable",
        f"{page.few['auto'].params.iloc[0]:.3f}, exactly {exact:.3f}",
        abs(page.few["auto"].params.iloc[0] - exact) < 0.1,
    )
