"""Fits made anew from a fit: without some of its rows, or with another formula."""

import math
import re
from copy import copy
from dataclasses import replace

import numpy as np

from sgmc.arguments.data.limited import columns_of
from sgmc.arguments.data.rows import same_length
from sgmc.arguments.declared.keywords import FORMULA, names
from sgmc.arguments.declared.signatures import ByOtherNames
from sgmc.arguments.numbers import whole
from sgmc.arguments.seeds import entropy
from sgmc.core.random.rng import seed_sequence
from sgmc.core.system import deadline
from sgmc.core.system.interrupts import handled
from sgmc.core.system.phases import counting, watched
from sgmc.errors import ArgumentError, RefitWarning, warn
from sgmc.models.regression.mode.search import units_of
from sgmc.models.regression.prior_predictive import PriorPredictive
from sgmc.results.outcomes.criticism.loo import Loo, task_of, weights_of
from sgmc.results.outcomes.criticism.row_samples import Sample
from sgmc.results.outcomes.data.offers import LAW, need, need_posterior
from sgmc.results.outcomes.data.rows import fitted_rows
from sgmc.results.outcomes.predicted.residuals import in_order

AS_PARTS = {
    "progress": False,
    "checkpoint": None,
    "keep_warmup": False,
}  # of fits that are parts of something
OLD_SIDE = re.compile(r"(?<![\w.\])])\.(?![\w.])")  # the dot of `update`, alone


class Refits(ByOtherNames):
    """Methods of regression results that fit again."""

    def prior_units(self, data):
        """Return the `PriorUnits` of the fit for fits to some of its rows."""
        return units_of(data, self._fit.problem.table, self.model.family)

    def kfold(self, data, k=10, *, groups=None, seed=None, **how):
        """Estimate the expected log predictive density by K-fold cross-validation: each fold is
        predicted by a fit to the others.

        elpd_i = log p(y_i | y without the fold of i), by an exact fit for each fold, where `loo`
        approximates what leaving out single rows gives (Vehtari, Gelman & Gabry 2017, section
        3.3, doi:10.1007/s11222-016-9696-4).  A `RefitWarning` says how many of the fits are not
        trustworthy.  A row with a frequency weight is left out with all of its copies, of which
        `loo` leaves out one.

        Parameters
        ----------
        data : DataFrame or model
            The data of the fit: the table if it was from a formula, else a model such as
            ``sgmc.Logit(y, X)``.
        k : int
            Folds, from 2 to the number of rows (of groups).
        groups : array_like (n,) or str, optional
            A label for each row that the fit used, or a column: rows of one group are in one fold,
            which tells how well new groups are predicted.
        seed : int, SeedSequence or Generator, optional
            Of the folds; default that of the fit.
        **how
            Arguments of the fits in the place of those of this one, such as ``draws``; `progress`
            counts fits.

        Returns
        -------
        Loo
            With ``by="k-fold"``; `sgmc.compare` takes it beside others of the same rows.

        Raises
        ------
        ArgumentError
            If the data are not those of the fit.
        """
        task = refitted_task(self)
        rows, k = task.n, whole("k", k, 2)
        seed = self.seed if seed is None else entropy(seed)
        fold = folds(rows, k, labels_of(groups, data, rows), seed)
        elpd, full = np.empty(rows), mean_density(self)
        made = Refitted(task, data, how)
        with handled(), watched(made.progress, "sgmc k-fold"):
            tell = counting(made.progress, "fitting again")
            for one in range(k):
                tell(one, k)
                out = fold == one
                elpd[out] = mean_density(made.fit(np.where(out, 0.0, weights_of(task))))[out]
            tell(k, k)
        made.warn()
        return by_refits(task, elpd, full, f"{k}-fold")

    def reloo(self, loo, data, **how):
        """Replace what importance sampling could not tell in `loo` by exact fits without the row.

        Parameters
        ----------
        loo : Loo
            What ``loo()`` of these results gave.
        data : DataFrame or model
            As in `kfold`.
        **how
            As in `kfold`.

        Returns
        -------
        Loo
            With a Pareto k of 0 for rows that were left out exactly.
        """
        if not isinstance(loo, Loo) or loo.unit != "rows":
            raise ArgumentError("reloo: loo must be what loo() of these results gave, of rows")
        task = refitted_task(self)
        rows = task.n
        if loo.n != rows or len(loo.rows) != rows:
            raise ArgumentError(
                f"reloo needs all {rows} rows left out one at a time, loo has {len(loo.rows)} of "
                f"{loo.n}: give loo(rows={rows})"
            )
        elpd, k = loo.elpd_i.copy(), loo.pareto_k.copy()
        made, unsure = Refitted(task, data, how), np.flatnonzero(~(k <= loo.good_k))
        with handled(), watched(made.progress, "sgmc reloo"):
            tell = counting(made.progress, "fitting again")
            for done, i in enumerate(unsure):
                tell(done, len(unsure))
                weights = weights_of(task).copy()
                weights[i] = max(weights[i] - 1, 0.0)
                elpd[i] = mean_density(made.fit(weights))[i]
                k[i] = 0.0
            tell(len(unsure), len(unsure))
        made.warn()
        found = by_refits(task, elpd, mean_density(self), "loo")
        return replace(found, pareto_k=k)


def refitted_task(results):
    """The `Task` of the rows of a fit that are to be left out by fits without them."""
    need(results, "cross-validation", LAW)
    need_posterior(results, "cross-validation")
    return task_of(results, fitted_rows(results, "cross-validation"))


def labels_of(groups, data, rows):
    """A label a row, (n,), or None."""
    if groups is None:
        return None
    if isinstance(groups, str):
        try:
            groups = data[groups]
        except (KeyError, TypeError, IndexError):
            raise ArgumentError(
                f"groups={groups!r} is not a column of the data; give a column, or a label per row"
            ) from None
    return np.asarray(same_length("groups", np.asarray(groups), rows, "the fit has"))


def folds(rows, k, groups, seed):
    """The fold of each row, (n,): of equal sizes, groups together."""
    random = np.random.Generator(np.random.PCG64(seed_sequence(seed, "predict", 2)))
    units, place = (rows, np.arange(rows)) if groups is None else counted(groups)
    if k > units:
        raise ArgumentError(
            f"k={k} is more than the {units} {'rows' if groups is None else 'groups'}; give fewer "
            "folds"
        )
    return (random.permutation(units) % k)[place]


def counted(groups):
    """Number of different labels, and the number of each row's."""
    labels, place = np.unique(groups, return_inverse=True)
    return len(labels), place


class Refitted:
    """Fits of the same model with other weights of the rows; a weight of 0 leaves a row out.

    Parameters
    ----------
    task : Task
    data : DataFrame or model
    how : dict
        Arguments of the fits in the place of those of the first.
    """

    def __init__(self, task, data, how):
        results, rows = task.results, task.table
        seeded, self.progress = {"seed": results.seed, **AS_PARTS}, how.get("progress")
        self.arguments = {**results._continuation.arguments, **seeded, **how, "progress": False}
        self.model, self.trusted = same_model(results, data), []
        old, new = ([*columns_of(y)] for y in (rows.y, self.model.data.y))
        if self.model.data.n != rows.n or any(
            not np.array_equal(in_order(rows, a), b) for a, b in zip(old, new)
        ):
            raise ArgumentError(
                f"the data have {self.model.data.n} rows that can be used, the fit had {rows.n}, "
                "or their outcomes differ; give the data of the fit"
            )
        # without some rows the prior stays that of the fit, scales and centre included
        every = replace(self.model.data, weight=weights_of(task))
        self.units = results.prior_units(every)

    def fit(self, weights):
        """Results with weights of the rows."""
        deadline.check()
        again = copy(self.model)
        again.data = replace(self.model.data, weight=weights, units=self.units)
        found = again.fit(**self.arguments)
        self.trusted.append(found.verdict.trustworthy)
        return found

    def warn(self):
        """Say how many of the fits are not to be trusted."""
        wrong = self.trusted.count(False)
        if wrong:
            warn(
                RefitWarning(
                    f"{wrong} of {len(self.trusted)} fits without some of the rows are not "
                    "trustworthy, and neither is what they predict.",
                    "Give draws=, or what else their warnings ask for.",
                )
            )


def same_model(results, data):
    """The model of a fit, from its data."""
    model, data = results.model, check_data(results, data)
    if model.formula is None:
        return data
    inputs = {name: value for name, value in model.inputs.items() if value is not None}
    if not getattr(getattr(model, "groups", None), "smooths", ()):  # whose columns depend on them
        inputs.pop("weights", None)
    lost = next((name for name, value in inputs.items() if value is True), None)
    if lost is not None:
        raise ArgumentError(
            f"{lost} of the fit was no column of the data: put it into a column, and fit again"
        )
    return model.kind.from_formula(model.formula, data, **inputs, **model.options)


def check_data(results, data):
    """The data, if they are what the fit's kind of data is."""
    of_arrays = results.model.formula is None
    if data is None or of_arrays != isinstance(data, PriorPredictive):
        wanted = (
            f"a model, such as sgmc.{results.model.kind.__name__}(y, X)"
            if of_arrays
            else "the table that it was fitted to"
        )
        raise ArgumentError(f"data must be {wanted}, not {type(data).__name__}")
    return data


def mean_density(results):
    """log of the mean over draws of p(y_i | theta), for each row, (n,)."""
    rows = fitted_rows(results, "cross-validation").affordable()

    def log_mean(at, eta):
        density = rows.log_density(at, eta)
        top = density.max(axis=-1, keepdims=True)
        return np.log(np.average(np.exp(density - top), axis=-1, weights=rows.weights)) + top[:, 0]

    out = np.empty(rows.n)
    for at, eta in rows.blocks():
        out[rows.place(at)] = log_mean(at, eta)
    return out


def by_refits(task, elpd, full, by):
    """The `Loo` of all rows by fits without them."""
    w, p = weights_of(task), full - elpd
    n = w.sum()
    totals = {"elpd": float(w @ elpd), "p": float(w @ p)}
    errors = {
        name: float(np.sqrt(n * np.average((one - totals[key] / n) ** 2, weights=w)))
        for name, key, one in (("se", "elpd", elpd), ("p_se", "p", p))
    }
    return Loo(
        **totals,
        **errors,
        subsampling_se=0.0,
        mcse=math.nan,
        p_subsampling_se=0.0,
        n=task.n,
        draws=task.table.m,
        good_k=1.0,
        sample=Sample(np.arange(task.n), np.ones(task.n)),
        elpd_i=elpd,
        pareto_k=np.zeros(task.n),
        approximate=elpd,
        frequency=task.frequency,
        outcomes=task.outcomes,
        measure=task.measure,
        by=by,
    )


def changed(results, formula, data, how):
    """Results of a formula in which `.` stands for the parts of the old one."""
    model = results.model
    if model.formula is None:
        raise ArgumentError("update: the fit was of arrays, without a formula to change; fit again")
    from sgmc.formula.evaluation.safe import like
    from sgmc.formula.parts import has_bar

    if data is None:
        raise ArgumentError(f"update({formula!r}) needs the table: give data=")
    if has_bar(model.formula):
        raise ArgumentError(
            f"update({formula!r}): a dot would stand for both parts of {str(model.formula)!r}; "
            "write the whole formula, and fit again",
            because="limit",
        )
    inputs = {k: v for k, v in model.inputs.items() if v is not None and k not in how}
    lost = next((name for name, value in inputs.items() if value is True), None)
    if lost is not None:
        raise ArgumentError(f"update: {lost} of the fit was no column: give {lost}= again")
    given = {**results._continuation.arguments, **how}
    own = {k: given.pop(k) for k in list(given) if k in names(FORMULA)}
    options = {**model.options, **{k: given.pop(k) for k in list(given) if k in model.options}}
    new = like(updated_formula(str(model.formula), str(formula)), model.formula, formula)
    fitted = model.kind.from_formula(new, data, **{**inputs, **own}, **options)
    if "prior" not in how:
        given["prior"] = without_lost(given.get("prior"), results, fitted)
    return fitted.fit(**given)


def without_lost(prior, results, new):
    """A prior without the parameters and terms that a fit had and a new model has not."""
    if not isinstance(prior, dict):
        return prior
    before = {*results.names, *results.model.spec.term_slices}
    after = {*new.parameter_names(), *new.data.terms}

    def lost(key):
        if isinstance(key, tuple):
            return any(map(lost, key))
        is_of = lambda names: any(one == key or one.startswith(f"{key}(") for one in names)
        return is_of(before) and not is_of(after)

    return {key: one for key, one in prior.items() if not lost(key)}


def updated_formula(old, new):
    """R's ``update``: dots on the left and on the right stand for the old sides."""
    before, after = (side.strip() for side in old.split("~", 1)), new.split("~", 1)
    sides = []
    for side, text in zip(before, after):
        parts = OLD_SIDE.split(text.strip() or ".")
        alone = all(
            left.rstrip()[-1:] in ("", "+", "(") and right.lstrip()[:1] in ("", "+", "-", ")")
            for left, right in zip(parts, parts[1:])
        )
        sides.append((side if alone else f"({side})").join(parts))
    return " ~ ".join(sides)
