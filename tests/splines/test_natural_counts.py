"""Natural splines have as many columns as they are asked for, and are lines beyond their ends."""

import numpy as np
import pytest

from sgmc.errors import DataError
from sgmc.splines.natural import natural_splines

X = np.random.default_rng(0).gamma(2.0, size=80)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("df", [2, 3, 6])
def test_df_is_the_number_of_columns(df, intercept):
    """Their span has the line in it, and the constant with an intercept."""
    made = natural_splines(X, df, None, None, intercept)
    values = made.values(X)
    assert values.shape[1] == made.columns == df == np.linalg.matrix_rank(values)
    assert len(made.knots) == df - 1 - intercept
    known = np.column_stack([np.ones(len(X)), X]) if intercept else (X - X.min())[:, None]
    c = np.linalg.lstsq(values, known)[0]
    np.testing.assert_allclose(values @ c, known, atol=1e-9)


def test_knots_are_quantiles_between_the_ends():
    made = natural_splines(X, 4, None, None, False)
    np.testing.assert_allclose(made.knots, np.quantile(X, [0.25, 0.5, 0.75]))
    far = made.values(np.array([10.0, 11.0, 12.0]) + X.max())
    np.testing.assert_allclose(np.diff(far, 2, axis=0), 0.0, atol=1e-9)


def test_too_few_are_refused():
    natural_splines(X, 2, None, None, True)
    with pytest.raises(DataError, match="df=1 must be a whole number from 2 on"):
        natural_splines(X, 1, None, None, True)
