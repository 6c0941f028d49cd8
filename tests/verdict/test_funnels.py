"""Arrays that are narrow where another parameter is small, and the advice that this gets."""

import numpy as np
import pytest

import sgmc
from sgmc.results.report.funnels import FROM_NARROW, funnel

N = 4000


def draws_of(**parts):
    """Names and draws of parameters, arrays (n,) or (n, k)."""
    names = [
        one
        for name, part in parts.items()
        for one in ([name] if part.ndim == 1 else [f"{name}[{j}]" for j in range(part.shape[1])])
    ]
    return names, np.column_stack(list(parts.values()))


@pytest.fixture
def rng():
    return np.random.default_rng(3)


class TestWhatIsSeen:
    @pytest.mark.parametrize("k", [1, 2, 9])
    def test_effects_around_zero(self, rng, k):
        v = 3 * rng.normal(size=N)
        found = funnel(*draws_of(v=v, x=np.exp(v / 2)[:, None] * rng.normal(size=(N, k))))
        assert found[:2] == ("x", "v")
        assert found[2] > 10  # e^(1.5 * 2.6) between the tenths

    def test_effects_around_a_mean(self, rng):
        tau, mu = np.exp(rng.normal(size=N)), 5 * rng.normal(size=N)
        effects = mu[:, None] + tau[:, None] * rng.normal(size=(N, 8))
        assert funnel(*draws_of(mu=mu, tau=tau, effect=effects))[:2] == ("effect", "tau")

    def test_each_with_a_scale_of_its_own(self, rng):
        scales = np.abs(rng.standard_cauchy(size=(N, 6)))
        found = funnel(*draws_of(b=scales * rng.normal(size=(N, 6)), local=scales))
        assert found[:2] == ("b", "local")

    def test_none_where_scales_are_known(self, rng):
        """Of an sd to 10 %, as data of a hundred groups tell it."""
        tau = np.exp(0.1 * rng.normal(size=N))
        effects = tau[:, None] * rng.normal(size=(N, 50))
        assert funnel(*draws_of(tau=tau, effect=effects)) is None
        assert np.exp(0.2 * 2.6) < FROM_NARROW

    def test_none_of_curves_correlations_and_scales(self, rng):
        x = rng.normal(size=N)
        curved = np.column_stack([x, 3 * (x**2 - 1) + 0.1 * rng.normal(size=N)])
        assert funnel(*draws_of(z=curved, w=x)) is None
        assert funnel(*draws_of(z=x[:, None] + 0.1 * rng.normal(size=(N, 4)), w=x)) is None
        tau = np.exp(rng.normal(size=N))
        local = tau[:, None] * np.exp(rng.normal(size=(N, 4)))
        assert funnel(*draws_of(tau=tau, local=local)) is None


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
class TestItsCure:
    """Of Neal's funnel in ten dimensions, whose v has an sd of 3."""

    def test_a_funnel_is_refused_with_it(self):
        pytest.importorskip("numba")

        def log_lik(t):
            total = -0.5 * (t.v / 3) ** 2
            for j in range(9):
                total += -0.5 * t.x[j] ** 2 * np.exp(-t.v) - 0.5 * t.v
            return total

        shapes = {"v": (), "x": 9}
        found = sgmc.NumbaModel(log_lik, (), parameters=shapes, prior="flat").fit(seed=1)
        assert not found.verdict.trustworthy
        assert "'x' is" in found.verdict.advice and "standard normal" in found.verdict.advice

    def test_which_works(self):
        pytest.importorskip("numba")

        def log_lik(t):
            total = -0.5 * (t.v / 3) ** 2
            for j in range(9):
                total += -0.5 * t.z[j] ** 2
            return total

        shapes = {"v": (), "z": 9}
        found = sgmc.NumbaModel(log_lik, (), parameters=shapes, prior="flat").fit(seed=1)
        assert found.verdict.trustworthy
        assert found.bse["v"] == pytest.approx(3, rel=0.1)  # the error that is promised
