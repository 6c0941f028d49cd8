"""Pairs of parameters, ranks of chains, traces, densities, numbers beneath posteriors."""

import re

import numpy as np
import pytest

from sgmc.errors import ArgumentError, NotSupported
from sgmc.plots import densities, ranks
from sgmc.plots.axes import wrapped
from sgmc.plots.ranks import PLACES, differences, limit, rank, spread

from .conftest import random


def texts(legend):
    return [one.get_text() for one in legend.get_texts()]


# ---- pairs ---------------------------------------------------------------------------------------


def test_pairs(churn):
    names = ["age", "income", "smoker"]
    axes = churn.plot_pair(names)
    assert axes.shape == (3, 3)
    flat = churn.flat[:, [churn.names.index(name) for name in names]]
    x, y = axes[2, 0].lines[0].get_data()
    assert len(x) == min(1000, len(flat))
    assert set(map(tuple, np.column_stack([x, y]))) <= set(map(tuple, flat[:, [0, 2]]))
    correlation = np.corrcoef(flat.T)
    assert float(axes[0, 2].texts[0].get_text()) == pytest.approx(correlation[0, 2], abs=0.006)
    assert [axes[2, k].get_xlabel() for k in range(3)] == names
    assert [axes[j, 0].get_ylabel() for j in range(3)] == ["", "income", "smoker"]
    curve = axes[1, 1].lines[0]
    assert curve.get_ydata().max() > 0 and axes[1, 1].get_ylim()[0] == 0


def test_pairs_are_weighted():
    """Half of the draws have no weight: none of these is shown or counts."""
    from sgmc.plots.pairs import pair

    draws = np.concatenate([np.zeros((2, 100, 2)), random().normal(5, 1, (2, 100, 2))], axis=1)
    weights = np.repeat([0.0, 1.0], 100)
    axes = pair(draws, weights, ["a", "b"])
    assert axes[1, 0].lines[0].get_xdata().min() > 1
    expected = np.corrcoef(draws[:, 100:].reshape(-1, 2).T)[0, 1]
    assert float(axes[0, 1].texts[0].get_text()) == pytest.approx(expected, abs=0.006)


def test_pairs_refused(churn):
    with pytest.raises(ArgumentError, match="two parameters or more"):
        churn.plot_pair("age")
    many = churn.__class__.__new__(churn.__class__)
    many.__dict__ = churn.__dict__ | {
        "draws": np.zeros((2, 10, 9)), "names": [f"b{k}" for k in range(9)]
    }  # fmt: skip
    with pytest.raises(ArgumentError, match=r"2 to 8 parameters, not 9: .*cols=\['b0', 'b1', 'b2'"):
        many.plot_pair()


# ---- ranks ---------------------------------------------------------------------------------------


def test_ranks(churn):
    axes = churn.plot_rank(["age", "smoker"])
    assert [ax.get_title() for ax in axes] == ["age", "smoker"]
    assert [len(ax.lines) for ax in axes] == [5, 5]  # four chains, and zero
    (legend,) = axes[0].figure.legends
    assert texts(legend) == [*(f"chain {k}" for k in range(1, 5)), "95 % of chains that agree"]


def test_a_chain_apart_leaves_the_band():
    draws = random().normal(size=(4, 400, 1))

    def outside(draws):
        (ax,) = rank(draws, None, ["x"])
        band = ax.collections[0].get_paths()[0].vertices
        upper = band[(band[:, 1] > 0) & np.isin(band[:, 0], PLACES)]
        half = np.interp(PLACES, *upper[np.argsort(upper[:, 0])].T)
        return [bool((np.abs(line.get_ydata()) > half).any()) for line in ax.lines[1:]]

    assert outside(draws) == [False] * 4
    draws[3] += 0.5  # sd: 400 draws tell half of one with z = 8
    assert outside(draws)[3]


def test_shares_by_hand():
    draws = np.arange(200.0).reshape(100, 2).T  # of each pair a draw in either chain
    assert np.abs(differences(draws)).max() <= 0.01 + 1e-12
    apart = differences(np.arange(200.0).reshape(2, 100))  # one chain has the smaller half
    middle = len(PLACES) // 2
    assert apart[:, middle] == pytest.approx([0.5, -0.5], abs=0.011)


@pytest.mark.parametrize("chains", [2, 4])
def test_the_band_holds_chains_that_agree(chains):
    """1,000 new sets: 95 % of them within, with an sd of 0.7 %, and as much again of the limit."""
    rng, sd = random(), spread(chains, 200)
    inside = [
        (np.abs(differences(rng.normal(size=(chains, 200))) / sd) < limit(chains, 200)).all()
        for _ in range(1000)
    ]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)


def test_draws_are_thinned_to_the_effective_ones(monkeypatch):
    """Of draws with an autocorrelation of .99, chains that agree are within the band; all draws
    taken as independent would not be.
    """
    rng, draws = random(), np.empty((4, 4000, 1))
    draws[:, 0] = rng.normal(size=(4, 1))
    for t in range(1, 4000):
        draws[:, t] = 0.99 * draws[:, t - 1] + np.sqrt(1 - 0.99**2) * rng.normal(size=(4, 1))
    taken = []
    known = ranks.thinned
    monkeypatch.setattr(ranks, "thinned", lambda *a: taken.append(a[2]) or known(*a))
    rank(draws, None, ["x"])
    assert 5 <= taken[0] <= 60  # 4,000 * .01 / 1.99 = 20
    sd = spread(4, 4000)
    assert (np.abs(differences(draws[:, :, 0])) > limit(4, 250) * sd).any()


def test_one_chain_has_nothing_to_compare(churn):
    one = churn.__class__.__new__(churn.__class__)
    one.__dict__ = churn.__dict__ | {"draws": churn.draws[:1]}
    with pytest.raises(NotSupported, match="fit with chains=4"):
        one.plot_rank()


# ---- traces and posteriors -----------------------------------------------------------------------


def test_traces_have_densities_and_a_legend(churn):
    axes = churn.plot_trace(["age", "income"])
    assert [ax.get_title() for ax in axes] == ["age", "age", "income", "income"]
    assert [len(ax.lines) for ax in axes] == [4] * 4
    (legend,) = axes[0].figure.legends
    assert texts(legend) == [f"chain {k}" for k in range(1, 5)]


def test_axes_of_ones_own_have_the_legend_inside(plt, churn):
    _, mine = plt.subplots()
    (ax,) = churn.plot_trace("age", ax=mine)
    assert texts(ax.get_legend()) == [f"chain {k}" for k in range(1, 5)]
    assert not ax.figure.legends


def test_posteriors_have_their_numbers_beneath(churn):
    small, large = churn.plot_posterior(["income", "age"], alpha=0.2)
    low, high = churn.conf_int(0.2, "age").iloc[0]
    found = re.fullmatch(r"mean (\S+)\n80 % interval (\S+) to (\S+)", large.get_xlabel())
    assert list(map(float, found.groups())) == pytest.approx(
        [churn.params["age"], low, high], abs=0.05 * churn.bse["age"]
    )
    assert r"\times 10^{-5}$" in small.get_xlabel() or r"\times 10^{-6}$" in small.get_xlabel()


@pytest.mark.parametrize(
    "mean, sd, text",
    [
        (0.0881, 0.0129, "mean 0.088\n95 % interval 0.062 to 0.114"),
        (864.2, 105.0, "mean 864\n95 % interval 654 to 1074"),
        (1.54e-5, 1.1e-5, "mean 1.5 $\\times 10^{-5}$\n95 % interval -0.7 to 3.7"),
        (0.0, 0.0, "mean 0\n95 % interval 0 to 0"),
    ],
)
def test_numbers_have_the_decimals_of_their_sd(mean, sd, text):
    ends = mean - 2 * sd, mean + 2 * sd
    assert densities.in_numbers(mean, ends, sd, 0.05).startswith(text)


def test_ticks_do_not_touch(churn):
    """Of numbers as small as 1e-5 and of hundreds."""
    axes = churn.plot_posterior()
    axes[0].figure.canvas.draw()
    for ax in axes:
        boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
        assert all(left.x1 < right.x0 for left, right in zip(boxes, boxes[1:]))


def test_densities_of_draws():
    draws = random().normal(3, 2, 20_000)
    x, height = densities.density(draws)
    assert height.sum() * (x[1] - x[0]) == pytest.approx(1, abs=1e-6)
    exact = np.exp(-(((x - 3) / 2) ** 2) / 2) / (2 * np.sqrt(2 * np.pi))
    assert np.abs(height - exact).max() < 0.05 * exact.max()  # 20,000 draws: 2 % of the height
    weights = (draws > 3).astype(float)
    x, height = densities.density(draws, weights)
    assert x.min() > 2.9
    assert densities.density(np.ones(10)) is None


def test_names_are_wrapped_and_never_cut():
    name = "number_of_years_in_current_position:region[T.the capital and its suburbs]"
    lines = wrapped(name, 30).split("\n")
    assert "".join(lines) == name and max(map(len, lines)) <= 30 and len(lines) > 2
    assert wrapped("x1") == "x1"
