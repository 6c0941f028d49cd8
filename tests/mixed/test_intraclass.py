"""Intraclass correlations of summaries: shares of the variance, from draws."""

import numpy as np
import pytest

from .test_effects import fitted
from .test_nested_effects import fitted as fitted_nested

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def printed(results):
    """The summary in one line."""
    return " ".join(str(results.summary()).split())


def shown(variance, total):
    """A share's mean and interval as they are printed."""
    low, high = np.quantile(variance / total, [0.025, 0.975])
    return f"{(variance / total).mean():.3f}, 95 % interval {low:.3f} to {high:.3f}"


@pytest.mark.cover(0)
@pytest.mark.parametrize("verb, residual", [("ols", None), ("logit", np.pi**2 / 3)])
@pytest.mark.parametrize("nested", [False, True], ids=["one factor", "nested"])
def test_shares_of_the_variance(verb, residual, nested):
    """Of nested factors that of the outer effects, and of both together."""
    results = (fitted_nested if nested else fitted)(verb)[0]
    draws = results.draws.reshape(-1, len(results.names))
    at = [j for j, name in enumerate(results.names) if name.startswith("sd(")]
    variances = np.cumsum(draws[:, at] ** 2, axis=1)
    total = variances[:, -1] + (draws[:, -1] ** 2 if residual is None else residual)
    parts = [shown(one, total) for one in variances.T]
    if nested:
        parts = [f"within {name} {one}" for name, one in zip(["g", "g:h"], parts)]
    assert f"{'; '.join(parts)}." in printed(results)


def test_poisson_has_none():
    """Its variance on the scale of the predictor depends on the mean."""
    assert "Intraclass" not in printed(fitted("poisson")[0])
