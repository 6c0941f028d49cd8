"""Figures of races: every arm is where its numbers put it, and what became of it can be seen."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError
from sgmc.plots.axes import BLUE, VERMILLION
from sgmc.tuning.result import TuneResult

DECAYING = sgmc.Polynomial(0.5, 1, 0.6)
ARMS = [(0.1, 10), (0.1, 50), (1.0, 10), (1.0, 50), (5.0, 10), (5.0, 50), (2.0, 10), (DECAYING, 50)]
# metrics at the first rung: arms 4 and 5 have none, 6 nearly so
FIRST = [0.9, 0.6, 0.3, 0.4, np.inf, np.inf, 5e4, 0.5]
SECOND = {2: 0.2, 3: 0.1, 7: 0.3}


@pytest.fixture
def raced():
    """A race in which arm 3 wins, 2 and a schedule come to the last rung, 4 diverged, 5 has no
    value and 6 a huge one.
    """
    rows = [(k, 0, 100 + k, 0.1, 100, value) for k, value in enumerate(FIRST)]
    rows += [(k, 1, 400 + k, 0.4, 400, value) for k, value in SECOND.items()]
    history = pd.DataFrame(rows, columns=["arm", "rung", "steps", "seconds", "draws", "metric"])
    arms = (
        pd.DataFrame(ARMS, columns=["step_size", "batch_size"])
        .assign(diverged=[k == 4 for k in range(8)])
        .rename_axis("arm")
    )
    return TuneResult(
        {"sampler": sgmc.SGLD()}, history, arms, 3, "mamba", "ksd", "budget_steps=400", True, 1, 1.0
    )


def points(axes, marker, hollow=False, colour=None):
    """Coordinates of the markers of one kind that are drawn."""
    lines = [
        line
        for line in axes.lines
        if line.get_marker() == marker
        and (line.get_markerfacecolor() == "white") == hollow
        and colour in (None, line.get_color())
    ]
    return sorted(
        (float(x), float(y)) for line in lines for x, y in zip(line.get_xdata(), line.get_ydata())
    )


def names(axes):
    """Texts of the legend."""
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_the_metric_against_the_step(plt, raced):
    """Hollow where an arm left at the first rung, filled in the last; a line a minibatch, without
    schedules and lost arms.
    """
    axes = raced.plot()
    assert points(axes, "o") == [(1.0, 0.1), (1.0, 0.2)]
    assert points(axes, "o", hollow=True) == [(0.1, 0.6), (0.1, 0.9)]
    assert points(axes, "s") == [(DECAYING(0), 0.3)] and points(axes, "*") == [(1.0, 0.1)]
    assert [points(axes, mark) for mark in "x+^"] == [[(5.0, 0.97)], [(5.0, 0.97)], [(2.0, 0.97)]]
    lines = {line.get_label(): line for line in axes.lines if line.get_marker() == "None"}
    assert lines["10"].get_xydata().tolist() == [[0.1, 0.9], [1, 0.2]]
    assert lines["50"].get_xydata().tolist() == [[0.1, 0.6], [1, 0.1]]
    assert len(lines) == 2
    assert lines["10"].get_color() != lines["50"].get_color()
    assert axes.get_legend().get_title().get_text() == "batch_size"
    assert names(axes) == [
        "10",
        "50",
        "best",
        "in the last rung",
        "left earlier",
        "diverged",
        "no value",
        "over 1,000 x best",
        "schedule",
    ]
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_ylabel()) == ("log", "log", "ksd")
    assert axes.get_xlabel() == "step_size (of schedules: at their first step)"
    assert axes.get_title() == "ksd of 8 arms, each at its last rung"
    axes.figure.canvas.draw()


def test_the_metric_against_other_axes(plt, raced):
    axes = raced.plot("batch_size")
    assert names(axes)[:5] == ["0.1", "1", "5", "2", "Polynomial(0.5, 1, 0.6)"]
    assert points(axes, "*") == [(50, 0.1)]
    with pytest.raises(ArgumentError, match="x='leapfrog' is not one of step_size, batch_size"):
        raced.plot("leapfrog", axes)


def test_the_race(plt, raced):
    """Arms are lines over the steps; the winner is thick and vermillion, those of the last rung
    blue, others grey and hollow.
    """
    axes = raced.plot(kind="race")
    assert points(axes, "o", colour=VERMILLION) == [(103, 0.4), (403, 0.1)]
    assert points(axes, "o", colour=BLUE) == [(102, 0.3), (107, 0.5), (402, 0.2), (407, 0.3)]
    assert points(axes, "o", hollow=True) == [(100, 0.9), (101, 0.6)]
    assert [points(axes, mark) for mark in "x+^"] == [[(104, 0.97)], [(105, 0.97)], [(106, 0.97)]]
    assert names(axes)[0] == "best:\nstep_size=1\nbatch_size=50"
    assert names(axes)[1:] == [
        "in the last rung",
        "left earlier",
        "diverged",
        "no value",
        "over 1,000 x best",
    ]
    assert max(line.get_linewidth() for line in axes.lines if line.get_color() != VERMILLION) < 2.5
    assert axes.get_title() == "race of 8 arms over 2 rungs"
    assert axes.get_xscale() == axes.get_yscale() == "log"
    axes.figure.canvas.draw()


def test_metrics_that_are_not_positive_have_a_linear_axis(plt, raced):
    signed = raced.history.assign(metric=raced.history["metric"] - 0.15)
    for kind in ("metric", "race"):
        axes = TuneResult(**{**vars(raced), "history": signed}).plot(kind=kind)
        assert axes.get_yscale() == "linear"
        assert axes.get_xscale() == "log"
        assert "over 1,000 x best" not in names(axes)


def test_axes_given_and_bad_arguments(plt, raced):
    _, mine = plt.subplots()
    assert raced.plot(ax=mine) is mine and raced.plot(kind="race", ax=mine) is mine
    with pytest.raises(ArgumentError, match="kind='bandit' is not one of 'metric', 'race'"):
        raced.plot(kind="bandit")
    with pytest.raises(ArgumentError, match="x does not apply to kind='race'"):
        raced.plot("step_size", kind="race")
