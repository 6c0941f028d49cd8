"""The LKJ prior of more than two effects (Lewandowski, Kurowicka & Joe 2009): each correlation is
marginally beta on (-1, 1) with both shapes eta - 1 + q / 2.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.fit.settings import check_settings


@pytest.mark.parametrize("eta", [1.0, 2.5])
@pytest.mark.parametrize("q", [2, 3, 4])
def test_marginal_laws_and_the_last_partial_one(q, eta):
    """Correlations with the first effect are marginal ones; that of the last two given all
    others has the shape eta.
    """
    rng = np.random.default_rng(0)
    names = [f"x{k}" for k in range(1, q)]
    frame = pd.DataFrame(rng.normal(size=(60, q)), columns=["y", *names]).assign(
        g=np.arange(60) % 6
    )
    formula = f"y ~ {' + '.join(names)} + (1 + {' + '.join(names)} | g)"
    model = sgmc.OLS.from_formula(formula, frame)
    priors = model.problem({"cor": sgmc.lkj(eta)}, check_settings(seed=1)).priors
    shapes = {n: one.df for n, one in zip(priors.names, priors.used) if n.startswith("cor(")}
    assert len(shapes) == q * (q - 1) // 2
    for name in names:
        assert shapes[f"cor(1,{name}|g)"] == pytest.approx(eta - 1 + q / 2)
    assert shapes[f"cor({(['1', *names])[-2]},{names[-1]}|g)"] == pytest.approx(eta)
