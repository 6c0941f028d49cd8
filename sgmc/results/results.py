"""The results of a fit."""

import time
from copy import copy, deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self

import numpy as np
import pandas as pd

from sgmc.arguments.types import FilePath, Floats, Frame, Ints
from sgmc.core.system import deadline, phases
from sgmc.core.system.deadline import OutOfTime
from sgmc.core.system.interrupts import caught
from sgmc.diagnostics.chains import convergence
from sgmc.elsewhere import attribute, of_parameter
from sgmc.errors import SGMCWarning, warn
from sgmc.fit import stopping
from sgmc.fit.choose import begun_anew
from sgmc.fit.run import anew, longer
from sgmc.fit.stopping import MAX_DIAGNOSED, checks_take
from sgmc.results import files
from sgmc.results.checks import noise
from sgmc.results.checks.breaks import with_kink
from sgmc.results.checks.differences import disagreement
from sgmc.results.checks.scores.directions import along_random
from sgmc.results.checks.scores.discrepancies import Discrepancies
from sgmc.results.checks.scores.functionals import functional_draws
from sgmc.results.checks.scores.stein import Discrepancy, checked, stein_discrepancy
from sgmc.results.checks.trust import Trust
from sgmc.results.continuation import Continuation, resume
from sgmc.results.outcomes.data.rows import evenly
from sgmc.results.parameters.estimates import Estimates
from sgmc.results.path import Paths
from sgmc.results.report.accuracy import accuracy, quantiles_of
from sgmc.results.report.allowances import verdict, without_moments
from sgmc.results.report.default_priors import contradicted
from sgmc.results.report.draws import Seen, hidden
from sgmc.results.report.fit_warnings import after_sampling, along_directions, of_density, stopped
from sgmc.results.report.going_on import agreeing, forgetting, no_time_to_go_on, reason
from sgmc.results.report.header import DrawFacts, facts
from sgmc.results.report.verdict import length_of, unchecked
from sgmc.results.views import Views

if TYPE_CHECKING:
    from sgmc.fit.fitted import Fit
    from sgmc.results.checks.scores.stein import Scored
    from sgmc.results.report.verdict import Verdict


FEW_DIAGNOSED = 20  # parameters whose draws are looked at where there is no time for checks
SHARE_OF_CHECKS = 0.5  # of their usual time: with less left they are not begun
RESERVED = 1.5  # times what the last checks took for each draw, where chains go on in limited time


class Results(Estimates, Trust, Discrepancies, Paths, Views):
    """A posterior: draws, their summaries and diagnostics; those of regressions also predict
    (`RegressionResults`).

    Attributes
    ----------
    draws : array (chain, draw, parameter)
    names : list of str
    weights : array (draw,) or None
        Step-size weights of the draws, for decreasing steps; all summaries use them.
    warnings : list of SGMCWarning
        What the fit warned of, repeated in the summary.
    seed : int
        What reproduces the fit, given or not.
    verdict : Verdict
        Whether to trust it, and why: ``trustworthy``, ``error`` and ``text``.
    judged_by : str
        What the verdict is about: "parameters", or, where these mean nothing one by one,
        functionals, such as "predictions of 50 rows" (`judged_quantities`).
    interrupted : str
        Empty, or what stopped the run early.
    stand_in : str
        What the draws are where `time_limit` left no time for the sampler's, such as draws of the
        Gaussian approximation at the mode; empty where they are the sampler's.  Where it ended the
        search for the mode, `params`, `bse`, `conf_int` and the summary have no numbers (NaN).
    nobs : int
    cov_type : {"nonrobust", "robust", "HC3", "cluster"}
        Whether draws are of the model's posterior, or of its sandwich.
    tuning : TuneResult or None
        The race behind a fit with ``tune=``.
    memory : Used or None
        Peak memory of the fit of a regression, beside its forecast.
    starts : array (chain, parameter) or None
        Where the chains began, before warmup; with several walkers per chain, the first of them.
    warmup : Warmup or None
        Of a fit with ``keep_warmup=True``: positions of the chains before their first draw, as
        ``draws`` (chain, position, parameter), and ``steps``, the number of steps made at each.
        None where there are none.  Where `stand_in` is not empty, both are None.
    """

    draws: Floats
    names: list[str]
    weights: Floats | None
    warnings: list[SGMCWarning]
    seed: int
    verdict: "Verdict"
    judged_by: str
    interrupted: str
    nobs: int
    cov_type: str

    tuning: Any = None
    memory: Any = None
    warmup: Any = None
    starts: Any = None
    _stopping = None  # of a fit with accuracy=
    _kept = None  # the table of a regression, see `effects.kept`
    stand_in, _unknown = "", False
    _without_rows = (
        "these results were loaded from a file, or saved without theirs; what "
        "resume(data=<the table of the fit>) returns has them"
    )

    def __init__(self, state: dict[str, Any], fit: "Fit | None" = None) -> None:
        self.__dict__.update(state)
        self._fit = fit

    def __getitem__(self, name: object) -> NoReturn:
        raise TypeError(f"results have no items; {of_parameter(name)}")

    @classmethod
    def of_fit(cls, model: Any, fit: "Fit", arguments: dict[str, Any]) -> Self:
        """Summarise a finished fit; issues its warnings.

        Parameters
        ----------
        model : ModelInfo
        fit : Fit
        arguments : dict
            As the user gave them.
        """
        fit, state, besides = finished(model, fit, cls)
        phases.over()  # warnings have lines of their own
        for concern in state["warnings"][len(model.notes) :]:  # the formula has issued its own
            warn(concern)
        return cls({**state, **besides, "_continuation": Continuation(arguments)}, fit)

    @classmethod
    def besides(cls, fit: "Fit") -> dict[str, Any]:
        """What a kind of results keeps of a fit besides draws and summaries, a dict of
        attributes.
        """
        return {}

    def _details(self) -> list[str]:
        """Lines that `summary(details=True)` adds."""
        return []

    def __getattr__(self, name: str) -> Any:
        return attribute(self, name)

    def __repr__(self) -> str:
        chains, draws, d = self.draws.shape
        return f"<{self.model.title} posterior: {d} parameters, {chains} chains x {draws} draws>"

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()

    def resume(self, draws: int | None = None, data: Any = None, **how: Any) -> Self:
        """Go on from the last step, as if the run had never stopped: the draws are those of one
        long run, bit by bit.

        Parameters
        ----------
        draws : int, optional
            Kept draws a chain to add.  Default: those that an interrupted run still lacks, else as
            many as were asked for.
        data : DataFrame or model, optional
            The data of the fit, for results that were loaded from a file: the table if the fit was
            from a formula, else a model such as ``sgmc.Logit(y, X)``.
        **how
            ``time_limit``, ``threads``, ``progress`` and ``checkpoint``, as in the fit.

        Returns
        -------
        Results
            New ones, of all draws; these stay as they are.

        Raises
        ------
        ArgumentError
            If the data are not those of the fit, or are needed.
        """
        longer = resume(self, draws, data, how)
        longer.tuning, longer._kept = self.tuning, longer._kept or self._kept
        return longer

    def save(self, path: FilePath) -> None:
        """Write draws, summaries and the design's recipe to a file, without the data;
        read it with `sgmc.load`.

        The file has arrays and plain values, and executes nothing when it is opened.  Functions of
        the formula are written by name: those of numpy, patsy and the package are found again,
        those of your own are given to `sgmc.load`.

        What needs the rows of the fit, such as `loo`, `fittedvalues` and `plot_pp_check`, needs
        `resume` with ``data=`` after loading, which adds draws: take these before you save.
        Predictions and effects need a table alone, as in ``avg_slopes(data=df)``.

        Raises
        ------
        ArgumentError
            If the results hold an object that is none of the package's; no file is written then.
        """
        files.save(self, path)

    load = staticmethod(files.load)

    def remove_data(self) -> None:
        """Leave the data of the fit behind: what needs them is refused from now on, `resume` needs
        them again.
        """
        self.__dict__.update(self.__getstate__())
        self._fit = self._kept = None

    def __copy__(self) -> Self:
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy draws and summaries; nothing changes the fit, its model and its rows: they are the
        same, where a pickle would leave them behind.
        """
        made = memo[id(self)] = copy(self)
        rest = {k: v for k, v in vars(self).items() if k not in ("_fit", "_kept", "model")}
        made.__dict__.update({k: deepcopy(v, memo) for k, v in rest.items()})
        return made

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k not in ("_fit", "_kept")}
        return (
            state
            if self._fit is None
            else {**state, "_continuation": self._continuation.without_data(self._fit)}
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state)


def finished(model: Any, fit: "Fit", kind: Any) -> tuple["Fit", dict[str, Any], dict[str, Any]]:
    """A fit whose chains have gone on as far as its settings ask for, what `summarised` makes of
    it, and what results of a kind keep `besides`.
    """
    while True:
        phases.begin(phases.CHECKS)
        begun, besides, more, other = time.perf_counter(), kind.besides(fit), 0, None
        try:
            state = results_with_deadline(model, fit, kind, besides)
            word = state["verdict"]
            tail = np.nanmax(state["_tails"], initial=0.0)
            more = stopping.next_look(fit, word.trustworthy, word.shortfall, tail)
            other = begun_anew(fit, word, forgetting(fit, state))
        except KeyboardInterrupt:  # the draws are there: a first Ctrl-C does not lose them
            caught()
            state = results_with_deadline(model, fit, kind, besides)
        if not (more or other):
            return fit, state, besides
        reserve = RESERVED * stopping.GROWTH * (time.perf_counter() - begun)
        if deadline.current().left() < 2 * reserve:  # as much is for the chains
            state["warnings"].append(no_time_to_go_on(fit))
            return fit, state, besides
        rhat = pd.Series(state["_rhat"], state["names"])
        fit = (
            anew(fit, other, reserve)
            if other
            else longer(fit, more, reason(rhat, state["_accuracy"]), reserve)
        )


def results_with_deadline(
    model: Any, fit: "Fit", kind: Any, besides: dict[str, Any]
) -> dict[str, Any]:
    """`summarised`, with the checks that the time of the call leaves room for."""
    if not fit.stand_in and deadline.current().left() > SHARE_OF_CHECKS * checks_of(fit):
        try:
            return summarised(model, fit, kind, besides)
        except OutOfTime:
            pass
    return summarised(model, fit, kind, besides, thorough=False)


def checks_of(fit: "Fit") -> float:
    """Seconds that checks of the draws of a fit take, but for scores."""
    chains, draws, kept = fit.x.shape
    return checks_take(kept, chains * draws)


class DensityEvidence(NamedTuple):
    """What evaluations of the density at the draws show.

    Attributes
    ----------
    apart : Disagreement or None
    some : Scored or None
    whole : bool
        Whether there was time for all that a verdict rests on.
    """

    apart: object
    some: object
    whole: bool


def evidence(fit: "Fit") -> DensityEvidence:
    """Return the `DensityEvidence` of a fit; it leaves the time that the other checks take."""
    found = DensityEvidence(None, None, False)
    try:
        with deadline.leaving(checks_of(fit)):
            apart = fit.computed["apart"] = disagreement(fit, fit.settings.seed)
            found = DensityEvidence(apart, None, fit.plan.spec.exact)
            breaks = apart is not None and apart.breaks
            return DensityEvidence(apart, None if breaks else checked(fit, fit.settings.seed), True)
    except OutOfTime:
        return found


def discrepancy(fit: "Fit", some: "Scored | None", known: bool) -> Discrepancy:
    """The `Discrepancy` that a summary shows; none unless there was time for the checks."""
    try:
        if known:
            with deadline.leaving(checks_of(fit)), np.errstate(over="ignore", invalid="ignore"):
                return stein_discrepancy(fit, some)
    except OutOfTime:
        pass
    return Discrepancy(None, missing="time_limit left no time")


def summarised(
    model: Any, fit: "Fit", kind: Any, besides: dict[str, Any], thorough: bool = True
) -> dict[str, Any]:
    """What results of a kind consist of, but for what they keep `besides`; unless `thorough`, with
    Monte Carlo errors of a few parameters alone, and no trust.
    """
    # of chains that diverged, which is warned of by name
    with np.errstate(over="ignore", invalid="ignore"):
        of_model, some, known = evidence(fit) if thorough else DensityEvidence(None, None, False)
    ksd = discrepancy(fit, some, known)
    fit.problem.workspace.forget_rows()  # three numbers a row: nothing that follows reads them
    with np.errstate(over="ignore", invalid="ignore"):  # chains that diverged
        (theta, names), w = fit.problem.kept(fit.x), fit.weights
    bare = kind({"draws": theta, "weights": w, "names": names, "model": model, **besides}, fit)
    some_of = evenly(theta.shape[2], MAX_DIAGNOSED if thorough else FEW_DIAGNOSED)
    looked = theta if len(some_of) == theta.shape[2] else theta[..., some_of]
    listed = [names[k] for k in some_of]
    with np.errstate(over="ignore", invalid="ignore"):
        ends = of_model is not None and of_model.breaks
        along = along_random(some, fit.settings.seed)
        together = functional_draws(fit, bare) if thorough else None
        errors, shown = told(fit, looked, listed, some if together is None else None)
        seen, heat = shown, None
        if together is not None:
            errors, seen = told(fit, together.draws, together.names, None)
            heat = together.temperatures
        # what is known to have no sd, so that none is printed, is no reason against the others
        lost = fit.problem.shape.without_sd(seen.names)
        apart, seen, judged = seen.some(lost), seen.some(~lost), errors[~lost]
        errors.loc[lost, ["sd_error", "mcse_sd_error", "mcse_sd"]] = np.nan
        warnings = [
            *model.notes,
            *fit.problem.warnings,
            *of_density(fit, of_model),
            *(fit.problem.extra_checks(fit) if thorough else ()),
            *(contradicted(fit, theta, w, names) if thorough else ()),
            *(after_sampling(fit, seen, judged, apart, ends) if thorough else stopped(fit)),
            *along_directions(fit, along, seen.ess.min()),
        ]
        warnings = with_kink(fit, warnings, of_model)
        length = length_of(fit, seen, warnings)
        word = unchecked(fit)
        if known:
            word = verdict(fit, judged, warnings, seen, length, along, heat)
            word = without_moments(word, apart.names)
        warnings = agreeing(fit, warnings, word, length)
        no_mean, no_sd = hidden(shown, fit.problem.shape.tail_index, "diverged" in fit.run.statuses)
    unknown = fit.stand_in is not None and fit.stand_in.unknown
    if unknown:  # draws around some place: nothing that they show is of the posterior
        seen = shown = replace(shown, ess=np.nan * shown.ess, rhat=np.nan * shown.rhat)
        errors = np.nan * errors
    ended = fit.stopping and replace(fit.stopping, sd_change=fit.sd_change)
    return dict(
        draws=theta,
        weights=w,
        names=names,
        warnings=warnings,
        seed=fit.settings.seed,
        header=facts(model, fit, DrawFacts(seen.ess, seen.rhat, ksd, errors, word)),
        nobs=fit.problem.rows.nobs,
        interrupted=fit.run.interrupted,
        stand_in=str(fit.stand_in or ""),
        _unknown=unknown,
        model=model,
        priors=fit.problem.priors,
        verdict=word,
        judged_by="parameters" if together is None else together.what,
        _accuracy=errors.reindex(names) if together is None else errors,
        _ksd=ksd.value,
        _ess=by_name(shown.ess, some_of, names),
        _rhat=by_name(shown.rhat, some_of, names),
        _tails=by_name(shown.tails, some_of, names),
        _untold=(some_of[no_mean], some_of[no_sd]),
        _asked=fit.x.shape[1] if ended is not None and ended.reached else fit.settings.draws,
        _stopping=ended,
        sampler=fit.plan.spec,
        step_size=fit.step_size,
        _chains=fit.chains,
        _threshold=fit.threshold,
        _noise=noise.noise_table(fit, fit.problem.free_names),
        cov_type=fit.settings.cov_type,
        _paths=fit.paths,
        **beginnings(fit),
        _curvature_covariance=fit.problem.curvature_covariance if fit.settings.robust else None,
    )


def beginnings(fit: "Fit") -> dict[str, Any]:
    """Starts of the chains and their warmup, where these are known, in the units of the draws; a
    dict of attributes.
    """
    found, kept = {}, fit.problem.kept
    if fit.starts is not None:
        found["starts"] = kept(fit.starts[:, None])[0][:, 0]
    if fit.warmup is not None:
        found["warmup"] = replace(fit.warmup, draws=kept(fit.warmup.draws)[0])
    return found


def told(fit: "Fit", draws: Floats, names: list[str], some: "Scored | None") -> tuple[Frame, Seen]:
    """`accuracy` of some numbers (chain, draw, p), and what is seen of their draws."""
    w = fit.weights
    ess, rhat = convergence.bulk(draws, w)
    if fit.plan.spec.direct:  # independent: every draw counts
        ess = ess_sd = np.full(draws.shape[2], float(draws.shape[0] * draws.shape[1]))
    else:
        ess_sd = convergence.ess(draws, method="sd", weights=w)
    quantiles = quantiles_of(draws, w)
    errors = accuracy(fit, draws, names, some, quantiles)
    tails = errors.pop("tail_index").to_numpy()
    return errors, Seen(names, draws, w, ess, ess_sd, rhat, tails, quantiles)


def by_name(values: Floats, places: Ints, names: list[str]) -> Any:
    """Values at some places of an array as long as `names`, NaN elsewhere."""
    out = np.full(len(names), np.nan)
    out[places] = values
    return out
