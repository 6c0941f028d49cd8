"""One posterior from several data sets in which missing values were imputed: a fit to each, and the
draws of all together.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from sgmc.arguments.messages import label_text
from sgmc.arguments.seeds import entropy, one_seed
from sgmc.core.random.rng import seed_sequence
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.formula.data.frames import as_frame
from sgmc.formula.designs.design import DesignSpec
from sgmc.models.regression.results import RegressionResults
from sgmc.results.continuation import Continuation
from sgmc.results.outcomes.data.rows import evenly
from sgmc.results.report.summary import numbers

TABLES_PER_SHARE = 100  # data sets per unit of missing information (White, Royston & Wood 2011)
ROWS_TO_COMPARE = 2000
ROUNDING = {"rtol": 1e-9, "atol": 1e-12, "equal_nan": True}
COLUMNS = "weights", "offset", "exposure", "se"  # arguments that are columns of numbers
# what lines of a summary tell of a single fit
OF_ONE_FIT = "Intraclass correlation", "Heterogeneity", "effective degrees of freedom"
TABLE = {"within": "within sd", "between": "between sd", "total": "total sd", "fmi": "fmi"}


def are_imputed(data):
    """Whether data are a list of tables, of which each is fitted; a list of rows is none."""
    listed = isinstance(data, (list, tuple)) and len(data) > 0
    return listed and all(hasattr(one, "columns") or is_columns(one) for one in data)


def is_columns(one):
    """Whether it is a dict of columns, not of the values of a row."""
    return isinstance(one, dict) and any(np.ndim(value) for value in one.values())


def fit_imputed(model, formula, tables, of_model, of_fit):
    """The `ImputedResults` of a regression from several data sets.

    Parameters
    ----------
    model : type
        A `Regression`.
    formula : str
    tables : list of tables
    of_model, of_fit : dict
        Arguments of `from_formula` and of `fit`.
    """
    check_tables(tables)
    if of_fit.get("checkpoint") is not None:
        raise ArgumentError("checkpoint is one file, and each data set has a fit: leave it out")
    how = one_seed(of_fit)
    seed, m = entropy(how.get("seed")), len(tables)
    if how.get("time_limit") is not None:
        how["time_limit"] = how["time_limit"] / m
    fits, units = [], None
    for k, table in enumerate(tables):
        one = model.from_formula(formula, table, **of_model)
        kind = pooled_kind(one.result_class())
        if fits:
            first = fits[0].model
            same_gaps(first.dropped, one.data.dropped, k)
            same_outcomes(first, one, k)
            same_columns(first.exog_names, one.data.names, k)
            kind.check_same(first, one.info(), table, k)
            if not same_numbers(first.spec, one.spec, table):
                one = by_recipe(one, first, table, of_model, k)
            one.data = replace(one.data, units=units)  # one prior for all
        stream = seed_sequence(seed, "imputation", k).generate_state(2, np.uint64)
        fits.append(one.fit(**{**how, "seed": int.from_bytes(stream.tobytes(), "little")}))
        if fits[-1].weights is not None:
            raise NotSupported(
                "data sets in a list do not go with decreasing steps, whose draws have weights: "
                "give a constant step_size",
                because="limit",
            )
        units = fits[0].prior_units(one.data) if k == 0 else units
    return kind.of_fits(fits, seed)


def pooled_kind(kind):
    """The class of pooled results of fits whose results are of a `kind`."""
    if kind not in Imputed.kinds:
        raise NotSupported(
            "data sets in a list do not go with factors of thousands of levels as predictors: "
            "give such a factor as a group term, (1 | g)",
            because="limit",
        )
    return Imputed.kinds[kind]


def check_tables(tables):
    """DataError where there is one data set alone, or they have other columns or rows."""
    if len(tables) < 2:
        raise DataError(
            "data is a list of one table: give the table itself, or several imputed data sets"
        )
    frames = [as_frame(one) for one in tables]
    first = frames[0]
    for k, other in enumerate(frames[1:], 1):
        if set(other.columns) != set(first.columns):
            apart = sorted(map(str, set(other.columns) ^ set(first.columns)))
            raise DataError(
                f"data[{k}] and data[0] have other columns, such as {apart[0]!r}: imputed data "
                "sets have the same"
            )
        if len(other) != len(first):
            raise DataError(
                f"data[{k}] has {len(other)} rows, and data[0] has {len(first)}: imputed data sets "
                "have the same"
            )


def same_gaps(first, other, k):
    """DataError where a data set loses more rows to missing values than the first, or fewer."""
    if first != other:
        raise DataError(
            f"data[{k}] has {other} row{'s' * (other != 1)} with missing values, and data[0] has "
            f"{first}: fits of imputed data sets are of the same rows; impute these values, or "
            "leave such rows out of all tables"
        )


def same_outcomes(first, other, k):
    """DataError where outcomes of a data set have other labels than those of the first, or another
    order of them: parameters of the same name would be of other outcomes.
    """
    if first.levels != other.levels:
        shown = (", ".join(map(label_text, one.levels)) for one in (other, first))
        raise DataError(
            f"the outcome {first.endog_names!r} has the levels {next(shown)} in data[{k}] and "
            f"{next(shown)} in data[0]: make it categorical with the same categories, in the same "
            "order, in all data sets"
        )


def same_columns(first, other, k):
    """DataError where the design of a data set has other columns than that of the first."""
    if first != other:
        apart = sorted(set(first) ^ set(other)) or ["their order"]
        raise DataError(
            f"the formula has other coefficients in data[{k}] than in data[0], such as "
            f"{apart[0]!r}: make factors categorical with the same categories in all data sets"
        )


def same_numbers(first, other, table):
    """Whether two recipes make the same columns of a table.  Those with ``center(x)`` or ``bs(x)``
    keep means and knots of the table that they were made of, which some of its rows show.
    """
    some = as_frame(table)
    some = some.iloc[evenly(len(some), min(len(some), ROWS_TO_COMPARE))]
    # means that cs() takes off belong to no coefficient: thresholds are printed without them
    pairs = zip(*(getattr(one, "specs", (one,)) for one in (first, other)))
    return all(np.allclose(one.matrix(some), two.matrix(some), **ROUNDING) for one, two in pairs)


def by_recipe(model, first, table, given, k):
    """The model of data set k with the design by the recipe of the `first`, for whose columns
    coefficients then stand in all fits.
    """
    from sgmc.formula import caller_scope
    from sgmc.formula.apply_design import read_new_rows

    if not isinstance(first.spec, DesignSpec) or pooled_kind(model.result_class()).grouped:
        raise DataError(
            f"the formula makes other columns of data[{k}] than of data[0], as means or knots in "
            "it, such as those of center(x) or bs(x), are those of each: make such columns before "
            "the fit, with the same numbers in all data sets"
        )
    columns = {name: given.get(name) for name in (*COLUMNS, "subset")}
    how = dict(outcome=model.family.outcome, missing=given.get("missing", "drop"))
    read = read_new_rows(first.spec, table, scope=caller_scope(), **columns, **how)
    model.take_table(read, model.formula, model.inputs)
    return model


class Imputed:
    """What results of several imputed data sets are besides those of one.

    Attributes
    ----------
    kinds : dict
        A class of results to that of their pooled ones, its subclass here.
    """

    kinds: dict = {}
    grouped = False  # whether there are effects or smooths beside a design
    fits = ()
    _without_rows = "each data set has rows of its own: ask one of its `fits`"

    def __init_subclass__(cls, **how):
        super().__init_subclass__(**how)
        Imputed.kinds[cls.__bases__[1]] = cls

    @classmethod
    def check_same(cls, first, other, table, k):
        """DataError where the model of data set k, a `table`, differs from the first in what draws
        are of, by what results keep of the models.
        """

    @classmethod
    def pooled_state(cls, fits, chosen):
        """What pooled results keep besides draws and summaries, a dict of attributes; `chosen` are
        the numbers of the draws that are taken of each chain of each fit.
        """
        return {}

    @classmethod
    def of_fits(cls, fits, seed):
        """Pool fits of the same model, a chain of each being a chain here."""
        state = {k: v for k, v in vars(fits[0]).items() if k not in ("_fit", "_kept")}
        fewest = min(one.draws.shape[1] for one in fits)
        chosen = [evenly(one.draws.shape[1], fewest) for one in fits]
        draws = np.concatenate([one.draws[:, of] for one, of in zip(fits, chosen)])
        worst = min(range(len(fits)), key=lambda k: trust(fits[k].verdict))
        state |= cls.pooled_state(fits, chosen)
        state |= {
            "draws": draws,
            "seed": seed,
            "fits": list(fits),
            "verdict": told(fits[worst].verdict, worst, len(fits)),
            "warnings": list({str(w): w for one in fits for w in one.warnings}.values()),
            "interrupted": next((one.interrupted for one in fits if one.interrupted), ""),
            "stand_in": next((one.stand_in for one in fits if one.stand_in), ""),
            "_unknown": any(one._unknown for one in fits),
            "_of_fits": np.array(
                [[moments.mean(one.draws), moments.sd(one.draws)] for one in fits]
            ),
            "_ess": np.sum([one._ess for one in fits], axis=0),
            "_rhat": np.max([one._rhat for one in fits], axis=0),
            "_tails": np.max([one._tails for one in fits], axis=0),
            "_accuracy": pd.concat([one._accuracy for one in fits])
            .groupby(level=0, sort=False)
            .max(),
            "_untold": tuple(
                np.unique(np.concatenate(one)) for one in zip(*[f._untold for f in fits])
            ),
            "_ksd": None,
            "_paths": None,
            "_continuation": Continuation(
                {}, None, "draws are of several data sets: fit them again with more draws"
            ),
        }
        for name in ("starts", "warmup", "tuning", "memory"):
            state.pop(name, None)
        made = cls(state)
        made.header = made.head(fits)
        return made

    @property
    def imputation(self):
        """What the data sets differ by, a DataFrame with a row per parameter.

        Columns: ``within``, the root of the mean posterior variance W of the fits; ``between``, the
        sd of their posterior means, the root of B; ``total``, the root of T = W + (1 + 1/m) B;
        ``share_between``, (1 + 1/m) B / T; ``fmi``, the fraction of missing information by Rubin's
        rules, (r + 2 / (df + 3)) / (r + 1) with r = (1 + 1/m) B / W and df = (m - 1) (1 + 1/r)^2.
        """
        means, sds = np.moveaxis(self._of_fits, 1, 0)
        m, within, between = len(means), (sds**2).mean(axis=0), means.var(axis=0, ddof=1)
        more = (1 + 1 / m) * between
        ratio = more / within
        with np.errstate(divide="ignore"):
            freedom = (m - 1) * (1 + 1 / ratio) ** 2
        table = {
            "within": np.sqrt(within),
            "between": np.sqrt(between),
            "total": np.sqrt(within + more),
            "share_between": more / (within + more),
            "fmi": (ratio + 2 / (freedom + 3)) / (ratio + 1),
        }
        return self._if_known(pd.DataFrame(table, self.names))

    def head(self, fits):
        """What a summary prints besides its numbers, see `facts`."""
        left, right, (_, *lines), details = (list(one) for one in fits[0].header)
        chains, draws = self.draws.shape[:2]
        seconds = sum(float(dict(one.header[1])["Time (s)"]) for one in fits)
        changed = {
            "Chains": f"{chains}",
            "Time (s)": f"{seconds:.2f}",
            "Min. ESS bulk": f"{np.nanmin(self._ess):.0f}",
            "Max. R-hat": f"{np.nanmax(self._rhat):.3f}",
        }
        left, right = ([(k, changed.get(k, v)) for k, v in side] for side in (left, right))
        m, missing = len(fits), self.imputation["fmi"].max()
        told = f"Imputed data sets: {m}; at most {missing:.2g} of the information is missing."
        if m < TABLES_PER_SHARE * missing:
            told += (
                f" Take {np.ceil(TABLES_PER_SHARE * missing):.0f} data sets for stable intervals."
            )
        lines = [of_first(line) for line in lines]
        return left, right, [f"Verdict: {self.verdict}", told, *lines], details

    def summary(self, *arguments, **how):
        """Return the summary, see `Results.summary`, with a table of `imputation`."""
        out = super().summary(*arguments, **how)
        frame = self.imputation[list(TABLE)].rename(columns=TABLE)
        out.tables.append(numbers(frame, self.names, "fmi"))
        return out

    def update(self, new_data, data=None, **how):
        """There is none: new rows have no imputed data sets."""
        raise NotSupported(
            "update: results of several data sets are not carried on; fit all rows again, "
            "data=[df1, ...]",
            because="limit",
        )

    def __getstate__(self):
        # each fit has a file of its own
        return {k: v for k, v in vars(self).items() if k not in ("_fit", "_kept", "fits")}


class ImputedResults(Imputed, RegressionResults):
    """The posterior of a regression from several imputed data sets: draws of the fits to all of
    them, pooled.

    Estimates, intervals and predictions of new rows are those of all draws together.  `imputation`
    has what the data sets differ by.  What needs the rows of a fit, such as `loo`, is of each fit
    by itself: ``res.fits[0].loo()``.

    Attributes
    ----------
    fits : list of RegressionResults
        One a data set; empty for results that were loaded from a file.

    References
    ----------
    Rubin (1987), Multiple Imputation for Nonresponse in Surveys, section 3.3,
    doi:10.1002/9780470316696; Zhou & Reiter (2010), The American Statistician 64, 159-163,
    doi:10.1198/tast.2010.09109, on draws that are pooled.
    """


def of_first(line):
    """A line of the first fit's summary, marked where its numbers are of that fit alone."""
    if any(word in line for word in OF_ONE_FIT):
        return f"data[0]: {line}"
    return line.replace("Sampling:", "Sampling of data[0]:", 1)


def trust(verdict):
    """A key that is the smaller the less a verdict trusts."""
    return verdict.trustworthy, -(np.inf if verdict.error is None else verdict.error)


def told(verdict, k, m):
    """The verdict of the worst of m fits."""
    if verdict.trustworthy:
        return verdict
    return replace(verdict, text=f"{verdict.text.rstrip('.')} (of data[{k}], the worst of {m}).")
