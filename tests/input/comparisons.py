"""What fits of awkward input have in common with those of plain input."""

import numpy as np


def assert_same(one, other):
    """Equal draws, bit for bit."""
    np.testing.assert_array_equal(one.draws, other.draws)


def assert_in_other_units(found, plain, factor=1.0, of=slice(None)):
    """Some parameters of `plain` times `factor`, up to the signs of whitened directions,
    which rounding chooses.

    Equal modes, sds and correlations there, and plans; means within 5 Monte Carlo errors, sds
    within 7 % (ESS above 1,500).
    """
    centre, covariance = zip(
        *(
            (p.coordinates.reported(np.zeros(p.model.dim))[of], p.curvature_covariance[of, of])
            for p in (found._fit.problem, plain._fit.problem)
        )
    )
    factor = np.broadcast_to(factor, len(plain.names))[of]
    sd = np.sqrt(np.diag(covariance[1]))
    np.testing.assert_allclose(centre[0] / factor / sd, centre[1] / sd, atol=1e-5)
    np.testing.assert_allclose(
        covariance[0] / np.outer(factor * sd, factor * sd),
        covariance[1] / np.outer(sd, sd),
        atol=1e-5,
    )
    plans = [
        (r._fit.plan.batch, r._fit.plan.thin, r._fit.problem.always_computed(r._fit.plan.gradient))
        for r in (found, plain)
    ]
    assert plans[0] == plans[1]
    error = np.hypot(found.mcse().iloc[of] / factor, plain.mcse().iloc[of])
    assert (np.abs(found.params.iloc[of] / factor - plain.params.iloc[of]) < 5 * error).all()
    assert (np.abs(found.bse.iloc[of] / factor / plain.bse.iloc[of] - 1) < 0.07).all()
