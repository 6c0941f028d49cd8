"""Tables of an sd by normal stand-ins of groups and a few passes over the rows, and searches that
begin with a part of the rows.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate

import sgmc
from sgmc.core.expansion import expand
from sgmc.fit import choose
from sgmc.models.regression.latent.integrated import given_sd, problem
from sgmc.models.regression.latent.integrated.normal_groups import NormalGroups, SeveralEffects
from sgmc.models.regression.latent.integrated.rows import GroupedRows
from sgmc.models.regression.rows.prepare import DesignTable

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
FAMILIES = "logit", "poisson", "negativebinomial"


def table(family="logit", n=2000, groups=15, sd=0.7, seed=3):
    rng = np.random.default_rng(seed)
    g, x = rng.integers(0, groups, n), rng.normal(size=n)
    eta = 0.4 * x - 0.3 + sd * rng.normal(size=groups)[g]
    y = (eta + rng.logistic(size=n) > 0) * 1 if family == "logit" else rng.poisson(np.exp(eta))
    return pd.DataFrame({"x": x, "g": g, "y": y})


def fitted(family="logit", **more):
    return getattr(sgmc, family)("y ~ x + (1 | g)", table(family, **more), seed=1, draws=50)


def seen(monkeypatch, family="logit", **more):
    """A fit, and what its table of the sd was made from and is."""
    found, usual = [], given_sd.SdTable.of

    def of(*given):
        found.append((given, usual(*given)))
        return found[-1][1]

    with monkeypatch.context() as here:
        here.setattr(given_sd.SdTable, "of", of)
        fit = fitted(family, **more)
    return fit, *found[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_differences_of_integrals_are_their_derivatives(family, monkeypatch):
    """Of one effect, whose derivatives are known."""
    _, (kernel, _, mode, j), _ = seen(monkeypatch, family)
    known = NormalGroups.of(kernel, mode.theta, j)
    found = SeveralEffects.of(kernel, mode.theta, j)
    for phi in (0.6 * mode.theta[j], mode.theta[j], 1.7 * mode.theta[j]):
        value, slope, precision = known.at(phi)
        at = found.at(phi)
        # rounding of sums of a thousand, over squares of hundredths of sds
        assert at[0] == pytest.approx(value, abs=1e-9)
        assert at[1] == pytest.approx(slope, rel=1e-6, abs=1e-6)
        assert at[2] == pytest.approx(precision, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_stand_ins_are_the_integrals_around_the_anchor(family, monkeypatch):
    _, (kernel, _, mode, j), _ = seen(monkeypatch, family)
    theta, rest = mode.theta, np.delete(np.arange(len(mode.theta)), j)
    groups = NormalGroups.of(kernel, theta, j)
    value, gradient, J = expand(kernel.anchored(theta), theta)
    own = groups.at(theta[j])
    assert own[0] == pytest.approx(value)
    assert own[1] == pytest.approx(gradient[rest], abs=1e-8)
    assert own[2] == pytest.approx(J[np.ix_(rest, rest)])
    # elsewhere each group is the integral of its normal law: quadrature of two groups in full
    for phi in (0.5 * theta[j], 2 * theta[j]):
        some = NormalGroups(
            groups.loading, groups.K[:2], groups.h[:2], groups.M[:2], 0.0, 0 * own[1], 0 * own[2]
        )
        sd = float(groups.loading.root(np.array([phi]))[0, 0])
        total = 0.0
        for K, h in zip(some.K, some.h):

            def density(b, K=K, h=h):
                return (
                    np.exp(h * b - 0.5 * K * b * b - 0.5 * (b / sd) ** 2) / sd / np.sqrt(2 * np.pi)
                )

            middle, width = h / (K + sd**-2), 12 / np.sqrt(K + sd**-2)
            total += np.log(integrate.quad(density, middle - width, middle + width)[0])
        assert some.at(phi)[0] == pytest.approx(total, abs=1e-7)


@pytest.mark.extended("0.1-negativebinomial", "0.7-negativebinomial")  # whose passes take longest
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sd", [0.1, 0.7])
def test_a_few_passes_make_the_table_that_all_make(family, sd, monkeypatch):
    """Twice what the check allows: of log densities by their sd over the density, which is what
    weights of draws have of it; of means in sds where 99.7 % of the mass is; of roots on average.
    """
    made, usual_corrected = [], given_sd.SdTable.corrected
    fit, _, usual = seen(monkeypatch, family, n=20_000, groups=40, sd=sd)
    monkeypatch.setattr(given_sd, "MANY_NODES", 0)

    def corrected(*given):
        made.append(usual_corrected(*given))
        return made[-1]

    monkeypatch.setattr(given_sd.SdTable, "corrected", corrected)
    same, _, few = seen(monkeypatch, family, n=20_000, groups=40, sd=sd)
    assert few is made[-1]  # and no table of all passes
    assert same.verdict.trustworthy == fit.verdict.trustworthy
    phi = usual.first + usual.step * np.arange(len(usual.log_density))
    mass, most = np.exp(usual.log_density - usual.log_density.max()), 2 * given_sd.TABLE_ERROR
    inside = few.places(phi).clip(0, len(few.log_density) - 1)
    apart = given_sd.interpolated(few.log_density, inside) - usual.log_density
    off = apart - np.average(apart, weights=mass)
    assert np.sqrt(np.average(off**2, weights=mass)) < most
    likely = usual.log_density > usual.log_density.max() - 4.5
    at = inside[likely]
    roots = usual.root[likely]
    off = given_sd.interpolated(few.mean, at) - usual.mean[likely]
    assert np.abs(np.linalg.solve(roots, off[..., None])).max() < most
    bent = np.abs(given_sd.interpolated(few.root, at) - roots).max(axis=(1, 2))
    assert np.average(bent, weights=mass[likely]) < most * np.abs(roots).max()


@pytest.mark.mistake("differences from exact densities: {mistake}")
@pytest.mark.parametrize(
    "name, mistake", [("direct", "left out"), ("direct", "of fewer groups"), ("direct", "half")]
)
def test_mistakes_in_the_differences_are_seen(name, mistake, monkeypatch):
    """By the weights that draws would need: of 20,000 rows they are taken without."""
    monkeypatch.setattr(given_sd, "MANY_NODES", 0)
    right = fitted(n=20_000, groups=200)
    assert right.sampler.name == name
    if mistake == "left out":
        monkeypatch.setattr(given_sd.SdTable, "corrected", lambda table, exact: table)
    elif mistake == "half":
        usual = given_sd.ChebyshevPolynomial.__call__
        half = lambda smooth, at: 0.5 * usual(smooth, at)
        monkeypatch.setattr(given_sd.ChebyshevPolynomial, "__call__", half)
        monkeypatch.setattr(given_sd, "TABLE_ERROR", np.inf)
    else:
        usual = NormalGroups.of.__func__

        def of(cls, kernel, theta, j):
            found = usual(cls, kernel, theta, j)
            return NormalGroups(
                found.loading,
                *(
                    one[:150] if k < 3 else one
                    for k, one in enumerate(
                        (found.K, found.h, found.M, found.value, found.slope, found.precision)
                    )
                ),
            )

        monkeypatch.setattr(NormalGroups, "of", classmethod(of))
        # else means that are not where laws of fewer groups expect them leave exact densities alone
        monkeypatch.setattr(given_sd, "FIRST_STEP_AT_MOST", np.inf)
        monkeypatch.setattr(given_sd, "LAST_STEP", np.inf)
        monkeypatch.setattr(given_sd.SdTable, "corrected", lambda table, exact: table)
    assert fitted(n=20_000, groups=200).sampler.name != name


def test_differences_that_are_not_smooth_are_not_used(monkeypatch):
    _, _, usual = seen(monkeypatch)
    monkeypatch.setattr(given_sd, "MANY_NODES", 0)
    monkeypatch.setattr(given_sd, "TABLE_ERROR", -1.0)
    _, _, found = seen(monkeypatch)
    assert np.array_equal(found.log_density, usual.log_density)


def test_an_even_part_of_each_group():
    sizes = np.array([1, 5, 100, 40])
    n, starts = sizes.sum(), np.append(0, np.cumsum(sizes))
    part = np.arange(float(n))
    none = [None] * 4
    whole = DesignTable(part[:, None], part, *none, *np.zeros((3, 1)), np.arange(n))
    few = GroupedRows(whole, starts, np.arange(4), part[:, None]).spread(40)
    # ten rows of a group: one of ten of the third, one of four of the fourth
    assert np.diff(few.starts).tolist() == [1, 5, 10, 10]
    assert np.array_equal(few.table.y, few.Z[:, 0]) and np.array_equal(few.table.order, few.table.y)
    assert few.table.y[6:16].tolist() == list(range(6, 106, 10))
    assert few.table.y[16:].tolist() == list(range(106, 146, 4))


def test_a_search_that_begins_with_a_part_ends_at_the_same_mode(monkeypatch):
    looked, usual = [], problem.near_mode

    def near_mode(kernel, *more):
        looked.append(kernel.glm.n)
        return usual(kernel, *more)

    monkeypatch.setattr(problem, "near_mode", near_mode)
    before = fitted()
    monkeypatch.setattr(problem, "WARM_ROWS", 100)
    after = fitted()
    assert looked and 100 <= looked[0] <= 115 + 15
    # the search ends at steps of 1e-2 sd, whose next one is the square
    theta, precision = (getattr(before._fit.problem.mode, one) for one in ("theta", "precision"))
    off = after._fit.problem.mode.theta - theta
    assert np.sqrt(off @ precision @ off) < 1e-3


def test_few_weights_are_believed_only_far_below_the_limit(monkeypatch):
    """More are looked at where these may hide one parameter that makes weights vary."""
    asked, usual = [], choose.spreads_of_weights

    def spreads(problem, settings, pairs):
        asked.append(pairs)
        few = pairs == choose.FEW_PROPOSALS
        return (share * choose.SAME_POSTERIOR, 0.0) if few else usual(problem, settings, pairs)

    monkeypatch.setattr(choose, "MANY_CELLS", 0)
    monkeypatch.setattr(choose, "spreads_of_weights", spreads)
    share = choose.SURELY_SAME - 0.01
    fitted(n=8000, groups=10)
    assert asked == [choose.FEW_PROPOSALS]
    share = choose.SURELY_SAME + 0.01
    fitted(n=8000, groups=10)
    assert asked[1:] == [choose.FEW_PROPOSALS, choose.PROPOSALS]
