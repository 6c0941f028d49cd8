"""Races of tuning: what became of the arms by their values, and rung by rung."""

from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.choices import one_of
from sgmc.arguments.types import Frame, Series
from sgmc.plots.axes import BLACK, BLUE, PALETTE, VERMILLION, axes_for

SIZE = (8.0, 4.2)
DASHES = ("-", "--", ":", "-.")  # of lines that are more than the colours
LABELLED = 12  # lines that a legend names
# where arms without a value to show are marked, as a part of the axes' height
OFF_SCALE_HEIGHT = 0.97
OFF_SCALE_RATIO = 1000  # times the winner's metric: values beyond are marked so too


def against(history: Frame, arms: Frame, winner: int, metric: str, x: str, ax: Any = None) -> Any:
    """The metric of each arm at its last rung against column `x` of `arms`: a line for each choice
    of the other columns.

    Arms of the last rung are filled, those that left before are hollow; schedules of steps stand at
    their first step, apart from the lines.  Arms that diverged, have no value or one beyond
    OFF_SCALE_RATIO times the winner's are marked at the top.
    """
    one_of("x", x, arms.columns)
    (one,) = axes_for(1, ax, SIZE)
    last = history.groupby("arm").tail(1).set_index("arm")
    final, marks = history["rung"].max(), marks_of(history, arms, winner)
    varying = arms[x].map(callable)  # schedules are
    place = arms[x].map(lambda value: value(0) if callable(value) else value)
    place = place if place.map(np.isreal).all() else place.map(str)
    others = [
        name
        for name in arms.columns
        if name not in (x, "diverged") and arms[name].map(str).nunique() > 1
    ]
    groups = list(arms.groupby(others, sort=False)) if others else [((), arms)]
    for k, (values, members) in enumerate(groups):
        colour = PALETTE[k % len(PALETTE)]
        label = ", ".join(map(plain, values)) if k < LABELLED else ""
        ranked = (
            last.loc[members.index]
            .assign(place=place, varying=varying, mark=marks)
            .sort_values("place")
        )
        valued = ranked[ranked["mark"] == ""]
        line = valued[~valued["varying"]]
        one.plot(
            line["place"],
            line["metric"],
            DASHES[k // len(PALETTE) % len(DASHES)],
            color=colour,
            linewidth=1,
            label=label or None,
        )
        for (schedule, ended), some in valued.groupby(["varying", valued["rung"] == final]):
            one.plot(
                some["place"],
                some["metric"],
                "s" if schedule else "o",
                markersize=5,
                color=colour,
                markerfacecolor=colour if ended else "white",
            )
        at_the_top(one, ranked["place"], ranked["mark"], colour)
    one.plot(place[winner], last.loc[winner, "metric"], "*", color=BLACK, markersize=14, zorder=5)
    logarithmic(one, place, last["metric"])
    fates = fates_of(last, marks)
    fates |= {"schedule": dict(marker="s", linestyle="")} if varying.any() else {}
    legend(
        one,
        {"best": dict(marker="*", markersize=12, linestyle=""), **fates},
        ", ".join(others),
        outside=ax is None,
    )
    one.set_xlabel(x + " (of schedules: at their first step)" * bool(varying.any()))
    one.set_ylabel(metric)
    one.set_title(f"{metric} of {len(arms)} arms, each at its last rung")
    return one


def race(history: Frame, arms: Frame, winner: int, metric: str, ax: Any = None) -> Any:
    """The metric of each arm by the steps that it had made, from rung to rung; those that leave end
    there, the winner stands out.
    """
    (one,) = axes_for(1, ax, SIZE)
    final, marks = history["rung"].max(), marks_of(history, arms, winner)
    limit = limit_of(history, winner)
    for arm, part in history.groupby("arm"):
        stays = (part["rung"] == final).any()
        how = (
            dict(color=VERMILLION, linewidth=2.5, markersize=6, zorder=4)
            if arm == winner
            else dict(
                color=BLUE if stays else "0.6",
                linewidth=1.2 if stays else 0.8,
                markersize=4,
                zorder=3 if stays else 2,
            )
        )
        valued = part[part["metric"] <= limit]
        one.plot(
            valued["steps"],
            valued["metric"],
            "-o",
            markerfacecolor=how["color"] if stays else "white",
            **how,
        )
        at_the_top(one, part["steps"].tail(1), [marks[arm]], "0.3")
    logarithmic(one, history["steps"], history["metric"])
    one.set_xlabel("steps of the arm, from its start")
    one.set_ylabel(metric)
    one.set_title(f"race of {len(arms)} arms over {final + 1} rung{'s' * bool(final)}")
    chosen = [f"{name}={plain(value)}" for name, value in arms.loc[winner].drop("diverged").items()]
    fates = fates_of(history.groupby("arm").tail(1).set_index("arm"), marks, BLUE, "0.6")
    legend(
        one,
        {"\n".join(["best:", *chosen]): dict(marker="o", color=VERMILLION, linewidth=2.5), **fates},
        outside=ax is None,
    )
    return one


def limit_of(history: Frame, winner: int) -> float:
    """The largest metric that is shown as a number."""
    best = history.loc[history["arm"] == winner, "metric"].iloc[-1]
    return OFF_SCALE_RATIO * best if best > 0 else np.finfo(float).max


def marks_of(history: Frame, arms: Frame, winner: int) -> Series:
    """For each arm what stands for it at the top of the axes,
    or nothing where its last metric is shown.
    """
    last = history.groupby("arm").tail(1).set_index("arm")["metric"]
    marks = np.select(
        [
            last <= limit_of(history, winner),
            arms["diverged"].reindex(last.index),
            np.isfinite(last),
        ],
        ["", "x", "^"],
        "+",
    )
    return pd.Series(marks, last.index)


def fates_of(
    last: Frame, marks: Series, stayed: Any = BLACK, left: Any = BLACK
) -> dict[str, dict[str, Any]]:
    """Marks of what became of arms, by name: of those fates alone that some arm had."""
    shown, final = marks == "", last["rung"] == last["rung"].max()
    fates = {
        "in the last rung": (shown & final, dict(marker="o", color=stayed)),
        "left earlier": (shown & ~final, dict(marker="o", color=left, markerfacecolor="white")),
        "diverged": (marks == "x", dict(marker="x", color="0.3")),
        "no value": (marks == "+", dict(marker="+", color="0.3")),
        f"over {OFF_SCALE_RATIO:,} x best": (marks == "^", dict(marker="^", color="0.3")),
    }
    return {name: dict(linestyle="", **how) for name, (some, how) in fates.items() if some.any()}


def at_the_top(one: Any, places: Any, marks: Any, colour: Any) -> None:
    """The marks that are not empty, at their places along x."""
    for place, mark in zip(places, marks):
        if mark:
            one.plot(
                place, OFF_SCALE_HEIGHT, mark, color=colour, transform=one.get_xaxis_transform()
            )


def logarithmic(one: Any, x: Any, y: Any) -> None:
    """Logarithmic axes for numbers that are all positive;
    with ticks at 1, 2 and 5 where there are few powers of ten.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    for name, values in (("x", x), ("y", y)):
        if values.dtype.kind in "if" and (values > 0).all():
            getattr(one, f"set_{name}scale")("log")
            axis = getattr(one, f"{name}axis")
            low, high = axis.get_view_interval()
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,)))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter(NullFormatter())


def legend(one: Any, marks: Any, title: str = "", outside: bool = False) -> None:
    """A legend of the lines that have labels, and of marks by name; beside the axes or within."""
    from matplotlib.lines import Line2D

    lines, _ = one.get_legend_handles_labels()
    where = dict(loc="upper left", bbox_to_anchor=(1.01, 1)) if outside else {}
    one.legend(
        handles=[
            *lines,
            *(Line2D([], [], label=name, **{"color": BLACK, **how}) for name, how in marks.items()),
        ],
        title=title or None,
        fontsize="small",
        title_fontsize="small",
        **where,
    )


def plain(value: Any) -> str:
    """A number or another value as a short text."""
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)
