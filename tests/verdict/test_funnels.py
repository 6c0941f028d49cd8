"""Arrays that are narrow where another parameter is small, and the advice that this gets."""

import numpy as np
import pytest

import sgmc
from sgmc.results.report.funnels import FROM_NARROW, funnel, funnel_of_density

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
        assert found[:2] == ("x", ["v"])
        assert found[2] > 10  # e^(1.5 * 2.6) between the tenths

    def test_effects_around_a_mean(self, rng):
        tau, mu = np.exp(rng.normal(size=N)), 5 * rng.normal(size=N)
        effects = mu[:, None] + tau[:, None] * rng.normal(size=(N, 8))
        assert funnel(*draws_of(mu=mu, tau=tau, effect=effects))[:2] == ("effect", ["tau"])

    def test_each_with_a_scale_of_its_own(self, rng):
        scales = np.abs(rng.standard_cauchy(size=(N, 6)))
        found = funnel(*draws_of(b=scales * rng.normal(size=(N, 6)), local=scales))
        assert found[:2] == ("b", ["local"])

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


class Schools(sgmc.Model):
    """Effects around a mean; `tau` is told to a tenth where `known`."""

    n, parameters, constraints = 1, {"mu": (), "tau": (), "effect": 8}, {"tau": "positive"}

    def __init__(self, known=False):
        self.known = known

    def log_prior(self, theta):
        apart = (theta["effect"] - theta["mu"]) / theta["tau"]
        return -0.5 * (apart @ apart) - 8 * np.log(theta["tau"]) - 0.5 * (theta["mu"] / 5) ** 2

    def log_lik(self, theta, rows):
        sd = 0.1 if self.known else 1.0
        return -0.5 * (np.log(theta["tau"]) / sd) ** 2 - 5e-6 * (theta["effect"] ** 2).sum()


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
class TestWhatTheDensityTells:
    """Of draws in which an array does not follow its scale."""

    def told(self, model, spread):
        rng, problem = np.random.default_rng(1), model.fit(draws=50, seed=1)._fit.problem
        log_tau = rng.normal(size=50)
        log_tau = spread * (log_tau - log_tau.mean()) / log_tau.std()
        draws = np.column_stack([rng.normal(size=50), np.exp(log_tau), rng.normal(size=(50, 8))])
        names = ["mu", "tau", *(f"effect[{j}]" for j in range(8))]
        return funnel_of_density(names, draws, problem)

    def test_an_array_and_its_scale(self):
        """Widths are about tau's, whose log is one smaller and one larger: e^2 apart."""
        effects, scales, ratio = self.told(Schools(), 1.0)
        assert (effects, scales) == ("effect", ["tau"])
        assert ratio == pytest.approx(np.exp(2), rel=0.02)  # the data have a part of it

    def test_none_where_the_scale_is_known(self):
        assert self.told(Schools(known=True), 0.1) is None


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

    def test_chains_that_hardly_move_are_told_it_too(self):
        """By numpy, with the sampler of such densities, whose chains do not reach the neck."""

        class Neal(sgmc.Model):
            n, parameters = 1, {"v": (), "x": 9}

            def log_prior(self, theta):
                v, x = theta["v"], theta["x"]
                return -0.5 * (v / 3) ** 2 - 0.5 * (x @ x) * np.exp(-v) - 4.5 * v

            def log_lik(self, theta, rows):
                return 0.0 * theta["v"]

        found = Neal().fit(seed=1, draws=500)
        assert not found.verdict.trustworthy
        advice = found.verdict.advice
        assert "draws=" not in advice and "compute 'x' from them and 'v'" in advice

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
