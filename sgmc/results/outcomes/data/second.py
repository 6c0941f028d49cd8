"""Results seen from the second of two linear predictors: what predictions and effects are of, where
these are not of the mean.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from sgmc.arguments.choices import nearest
from sgmc.errors import ArgumentError
from sgmc.results.outcomes.data.rows import Rows

MEAN = "mean"


class SecondFamily:
    """The second parameter as the mean of a family of one linear predictor; all else is that of the
    whole family.

    Parameters
    ----------
    whole : Family
        With two linear predictors.
    """

    parts, counts, several, graded, identity = "", False, False, False, False

    def __init__(self, whole: Any) -> None:
        self.whole, self.link = whole, whole.second_link

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)

    def predictors(self, X: Any, coefficients: Any, offset: Any, extra: Any) -> Any:
        """The second linear predictor (row, draw)."""
        return self.whole.second_of(self.whole.predictors(X, coefficients, offset, extra))

    def placed(self, eta: Any, extra: Any) -> Any:
        """The second of both linear predictors."""
        return self.whole.second_of(self.whole.placed(eta, extra))

    def mean(self, eta: Any) -> Any:
        """The parameter."""
        return self.whole.second(eta)

    def centre(self, eta: Any, extra: Any = None) -> Any:
        """The parameter."""
        return self.mean(eta)

    def of_trials(self, trials: Any) -> "SecondFamily":
        """The family itself."""
        return self


class SecondModel:
    """What is kept of a model, with its family seen from the second predictor; offsets and
    exposures of new rows are not asked for, as they belong to the mean.
    """

    given = ()

    def __init__(self, whole: Any) -> None:
        self.whole, self.family = whole, SecondFamily(whole.family)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)


class SecondResults:
    """Results whose rows have the second predictor alone: coefficients of the mean are 0 in them,
    and there is no offset.
    """

    def __init__(self, whole: Any) -> None:
        self.whole, self.model = whole, SecondModel(whole.model)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)

    def alone(self, rows: Rows) -> Rows:
        """The same rows with the second predictor alone."""
        kept = rows.family.predictors_of(rows.coefficients.shape[1]) == 1
        return replace(
            rows,
            family=SecondFamily(rows.family),
            coefficients=np.where(kept, rows.coefficients, 0.0),
            offset=np.zeros(rows.n),
        )

    def table_rows(self, exog: Any = None, offset: Any = None, **how: Any) -> Rows:
        """Return the `Rows` of new data or of the fit's, see `rows_of`."""
        return self.alone(self.whole.table_rows(exog, self.none(exog), **how))

    def population_rows(self, frame: Any, offset: Any) -> Rows:
        """Return the `Rows` of new data, effects of group terms being zero."""
        return self.alone(self.whole.population_rows(frame, self.none(frame)))

    @staticmethod
    def none(exog: Any) -> float | None:
        """No offset of new rows; those of the fit have their own."""
        return None if exog is None else 0.0


def seen_from(results: Any, argument: str, name: str) -> Any:
    """Results themselves where `name` is ``"mean"``, or as they are seen from the second predictor.

    Parameters
    ----------
    results : Results
    argument : str
        As the user wrote it, ``"which"`` or ``"of"``.
    name : str

    Raises
    ------
    ArgumentError
        For a name of neither.
    """
    if name == MEAN:
        return results
    if name in ("linear", "link"):
        raise ArgumentError(f"{argument}={name!r}: posterior_linpred() is on the scale of the link")
    family = getattr(results.model, "family", None)
    second = getattr(family, "parts", "")[:-1]
    if second and name == second:
        return SecondResults(results)
    if second:
        hint = nearest(name, [MEAN, second], "it may be")
        raise ArgumentError(f"{argument}={name!r} is none of the parameters with predictors{hint}")
    raise ArgumentError(
        f"{argument}={name!r}: this model has predictors of the mean alone; leave {argument} out, "
        "or fit with predictors of the other parameter, such as sigma='~ z'"
    )
