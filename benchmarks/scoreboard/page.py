"""Make docs/scoreboard.md and its plots from the results of `run.py`.

    python benchmarks/scoreboard/page.py [--runs FOLDER] [--out PAGE] [--no-plots]

Plots need matplotlib.  ``notes.json`` has a remark for some tasks, found by hand: why sgmc is not
first there, or not by much.
"""

import argparse
import json
from pathlib import Path

from metric import MEAN, SD, seconds, within
from tasks import TASKS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OURS = ("sgmc_default", "sgmc_exact")
OVERVIEW_TICKS = (1, 2, 5, 10, 20, 50, 100)  # seconds
CLEAR = 3.0  # first by this factor
LABELS = {  # contestant: label, kind
    "sgmc_default": ("sgmc", "posterior"),
    "sgmc_exact": ("sgmc, exact sampler", "posterior"),
    "numpyro_nuts": ("NumPyro NUTS", "posterior"),
    "blackjax_nuts": ("BlackJAX NUTS", "posterior"),
    "nutpie_nuts": ("nutpie", "posterior"),
    "pymc_nuts": ("PyMC NUTS", "posterior"),
    "bambi_nuts": ("bambi", "posterior"),
    "bayesian_ridge": ("scikit-learn BayesianRidge", "approximation"),
    "statsmodels_mle": ("statsmodels", "floor"),
    "glum_mle": ("glum", "floor"),
    "gpboost_mle": ("gpboost", "floor"),
    "lme4_mle": ("lme4", "floor"),
    "glmmtmb_mle": ("glmmTMB", "floor"),
    "mgcv_mle": ("mgcv", "floor"),
    "pygam_mle": ("pygam", "floor"),
}
DENSITIES = ("schools", "curve")  # no regressions: not in the aggregate
TEXT = HERE / "page_text.md"


class Entry:
    """One contestant on one task."""

    def __init__(self, record):
        self.record, self.name = record, record["contestant"]
        self.label, self.kind = LABELS[self.name]
        self.ours = self.name in OURS
        self.found = seconds(record["runs"], record["seeds"])
        if self.kind == "floor" and record["runs"]:  # shown, whether it is within or not
            taken = [one["seconds"] for one in record["runs"]]
            self.found = {
                "length": 0,
                "run": min(taken),
                "first_use": max(taken[0] - min(taken), 0),
            }
        self.expressible = "not_expressible" not in record

    @property
    def ranked(self):
        """Whether it has a posterior, and was within the tolerance."""
        return self.kind != "floor" and self.found is not None

    @property
    def run(self):
        """Seconds."""
        return self.found["run"]

    @property
    def cold(self):
        """Seconds with import, preparation and compilation."""
        return self.imported + self.first_use + self.run

    @property
    def imported(self):
        """Seconds of the import."""
        return self.record.get("seconds_import", 0.0)

    @property
    def first_use(self):
        """Seconds of preparing, compiling and what else the first call takes longer."""
        return self.record.get("seconds_prepare", 0.0) + self.found["first_use"]

    def at_least(self, key):
        """Return a lower bound of `run` or `cold` of one that ran out of time, or None.

        The length that would be right is not below the longest one that was run.  The first seed
        of a length compiles it: its seconds bound `cold`, and those of later seeds `run`.  Without
        any run, the limit bounds `cold`.
        """
        if not out_of_time(self):
            return None
        runs, cold = self.record["runs"], key == "cold"
        if not runs:
            return self.record["limit"] if cold else None
        taken = [one for one in runs if (one["seed"] == 1) == cold]
        longest = max((one["length"] for one in taken), default=None)
        least = min((one["seconds"] for one in taken if one["length"] == longest), default=None)
        return self.imported + self.record.get("seconds_prepare", 0.0) + least if cold else least

    def outcome(self):
        """In words."""
        record = self.record
        if not self.expressible:
            return f"NA: {record['not_expressible']}"
        last = record["runs"][-1] if record["runs"] else None
        errors = (
            f"means {last['error_mean']:.2g} sd, sds {100 * last['error_sd']:.2g} %" if last else ""
        )
        partly = "" if not last or last["scored"] == last["of"] else (
            f", of {last['scored']} of {last['of']} numbers"
        )  # fmt: skip
        if self.kind == "floor" and last:
            good = within(last["error_mean"], last["error_sd"])
            return f"{'within' if good else 'outside'} the tolerance: {errors}{partly}"
        if self.found:
            return f"within{partly}"
        reason = record["failure"] or "never within the tolerance"
        return f"failed: {reason}" + (
            f"; last: {errors} at {last['length']:,} draws" if last else ""
        )


def read(folder):
    """Entries by task, in the order of the tasks."""
    found = {}
    for path in sorted(Path(folder).glob("*.json")):
        record = json.loads(path.read_text())
        found.setdefault(record["task"], []).append(Entry(record))
    return {task: found[task] for task in TASKS if task in found}


def number(value):
    """Two significant digits, as people write them."""
    return f"{value:.0f}" if value >= 100 else f"{value:#.2g}".rstrip(".")


def standing(entries, key="run"):
    """(fastest of ours, fastest rival), each an entry or None, by `run` or `cold`."""
    ranked = sorted((e for e in entries if e.ranked), key=lambda e: getattr(e, key))
    ours = next((e for e in ranked if e.name == "sgmc_default"), None)
    return ours, next((e for e in ranked if not e.ours), None)


def out_of_time(entry):
    """Whether it ran into the limit."""
    return not entry.found and "CPU time" in (entry.record["failure"] or "")


def verdict(entries, key="run"):
    """(how many times faster sgmc at its defaults is than the fastest rival; the words).  Where no
    rival was within, at least how many times; None where not even that is known.
    """
    ours, rival = standing(entries, key)
    if ours is None:
        if any(e.name == "sgmc_default" for e in entries):
            first = f"; {rival.label} is first" if rival else ""
            return 0.0, f"sgmc is never within the tolerance{first}"
        return None, "sgmc was not run"
    if rival is None:
        late = [e for e in entries if e.expressible and not e.ours and e.kind != "floor"]
        if not late:
            return None, "no rival was run"
        bounds = [e.at_least(key) for e in late]
        if None in bounds:
            return None, "sgmc is first: no rival was right for every seed within its limit"
        factor = min(bounds) / getattr(ours, key)
        return factor, (
            f"sgmc is first, at least {number(factor)} times as fast as any rival: none was right "
            "within its limit"
        )
    factor = getattr(rival, key) / getattr(ours, key)
    if factor >= 1:
        return factor, f"sgmc is first, {number(factor)} times as fast as {rival.label}"
    return factor, f"{rival.label} is first, {number(1 / factor)} times as fast as sgmc"


def rows(entries):
    """The table of a task."""
    _, rival = standing(entries)
    order = {"posterior": 0, "approximation": 0, "floor": 2}
    ranked = sorted(
        (e for e in entries if e.expressible),
        key=lambda e: (order[e.kind], not e.found, e.run if e.found else 0),
    )
    heads = ("contestant", "seconds", "over the fastest rival", "import", "first use", "all three")
    lines = ["| " + " | ".join([*heads, "draws", ""]) + " |", "|---" * 8 + "|"]
    for e in ranked:
        label = f"*{e.label}*" if e.kind == "floor" else f"**{e.label}**" if e.ours else e.label
        if not e.found:
            lines.append(f"| {label} | - | - | {number(e.imported)} | - | - | - | {e.outcome()} |")
            continue
        ratio = number(e.run / rival.run) if rival and e.kind != "floor" else "-"
        figures = " | ".join(number(v) for v in (e.imported, e.first_use, e.cold))
        draws = f"{e.found['length']:,}" if e.found["length"] else "-"
        lines.append(
            f"| {label} | {number(e.run)} | {ratio} | {figures} | {draws} | {e.outcome()} |"
        )
    absent = [f"{e.label} ({e.record['not_expressible']})" for e in entries if not e.expressible]
    there = {e.name for e in entries}
    missing = [label for name, (label, _) in LABELS.items() if name not in there]
    below = [f"NA: {'; '.join(absent)}."] if absent else []
    below += [f"Not run: {', '.join(missing)}."] if missing else []
    return "\n\n".join(["\n".join(lines), *below])


def plot(task, entries, folder):
    """Bars of seconds: of the run, and with import and first use."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams |= {"svg.hashsalt": "scoreboard", "svg.fonttype": "none", "font.size": 8}
    import matplotlib.pyplot as plt

    shown = sorted((e for e in entries if e.found), key=lambda e: -e.run)
    late = [e for e in entries if out_of_time(e)]
    figure, axes = plt.subplots(figsize=(6, 0.5 + 0.26 * (len(shown) + len(late))))
    for place, e in enumerate([*late, *shown]):
        if not e.found:
            axes.text(e.record["limit"], place, "out of time", va="center", ha="right")
            continue
        colour = "#1f6f8b" if e.ours else "#bbbbbb" if e.kind == "floor" else "#d08c60"
        axes.barh(place, e.cold, color=colour, alpha=0.3)
        axes.barh(place, e.run, color=colour, height=0.5)
    axes.set_yticks(range(len(late) + len(shown)), [e.label for e in [*late, *shown]])
    axes.set_xscale("log")
    axes.set_xlabel("seconds (pale: with import and first use; grey: point estimates)")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(folder / f"{task}.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def summary(found):
    """A table of all tasks, then where rivals win, then the aggregate."""
    lost, unclear, clear, alone, open_, lines = [], [], [], [], [], []
    counted = [task for task in found if task not in DENSITIES]
    for task, entries in found.items():
        title = TASKS[task][1]
        factor, words = verdict(entries)
        bound, cold = verdict(entries, "cold")
        shown = title.replace("|", "\\|")  # a bar would end the cell
        lines.append(f"| [{shown}](#{anchor(title)}) | {words} | {cold} |")
        if factor is None and not bound:
            open_.append(title)
        elif factor is None:
            alone += [bound] if task in counted else []
        elif factor < 1:
            lost.append(f"- **{title}**: {words}.")
        elif factor < CLEAR:
            unclear.append(f"- {title}: {words}.")
        else:
            clear += [task] if task in counted else []
    head = ["Where a rival is first:", "", *(lost or ["- nowhere among the tasks decided."]), ""]
    head += [
        f"On {len(clear)} of {len(counted)} regression, grouped, factor-rich, smooth and "
        f"structured tasks sgmc at its defaults is first by a factor of at least {CLEAR:g}, "
        "start-up and compilation left out.",
        "",
    ]
    if alone:
        head += [
            f"On {len(alone)} more no rival was right for every seed within its limit of CPU time. "
            f"With import and first use sgmc is first there by a factor of at least "
            f"{number(min(alone))}.",
            "",
        ]
    if open_:
        why = "Not decided, as no rival, or not sgmc, was run there until it was right: "
        head += [why + "; ".join(open_) + ".", ""]
    if unclear:
        head += ["First, but by less:", "", *unclear, ""]
    table = ["| task | without start-up | with import and first use |", "|---|---|---|", *lines]
    return "\n".join([*table, "", *head]).rstrip()


def overview(found, folder):
    """A picture of all tasks: seconds of sgmc at its defaults and of the fastest rival, import and
    first use included; of rivals that were not within in time, an arrow from the least that they
    take.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams |= {"svg.hashsalt": "scoreboard", "svg.fonttype": "none", "font.size": 8}
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 0.9 + 0.26 * len(found)))
    names = {}
    for place, (task, entries) in enumerate(reversed(found.items())):
        ours, rival = standing(entries, "cold")
        late = [e for e in entries if e.expressible and not e.ours and e.kind != "floor"]
        bounds = [e.at_least("cold") for e in late] if rival is None else []
        least = min(bounds) if bounds and None not in bounds else None
        names[place] = TASKS[task][1]
        ends = [one.cold for one in (ours, rival) if one] + ([least] if least else [])
        axes.hlines(place, min(ends), max(ends), color="0.85", zorder=0)
        if rival:
            axes.plot(rival.cold, place, "o", color="#d08c60", label="fastest rival")
        elif least:
            axes.plot(least, place, ">", color="#d08c60", label="no rival is right before")
        if ours:
            axes.plot(ours.cold, place, "o", color="#1f6f8b", label="sgmc, defaults")
    axes.set_yticks(list(names), list(names.values()))
    axes.set_xscale("log")
    axes.set_xticks(OVERVIEW_TICKS, [f"{tick:g}" for tick in OVERVIEW_TICKS])
    axes.minorticks_off()
    axes.set_xlabel("seconds until right, with import and first use")
    axes.spines[["top", "right"]].set_visible(False)
    shown = dict(zip(*reversed(axes.get_legend_handles_labels())))
    above = dict(loc="lower center", bbox_to_anchor=(0.4, 1.0))
    axes.legend(shown.values(), shown, ncols=3, frameon=False, **above)
    figure.savefig(folder / "overview.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def anchor(title):
    """As Sphinx's extension for Markdown makes them."""
    kept = [c for c in title.lower() if c.isalnum() or c in " -_"]
    return "".join(kept).replace(" ", "-")


def circumstances(found):
    """Machine, versions, limits."""
    records = [e.record for entries in found.values() for e in entries]
    versions = {}
    for record in records:
        versions |= record.get("versions", {})
    machine, loads = records[0]["machine"], [r["load_average"] or 0 for r in records]
    limits = {}
    for r in records:
        limits.setdefault(r["limit"], {})[LABELS[r["contestant"]][0]] = None
    return (
        f"Run on {max(r['date'] for r in records)}: {machine['cpu']}, {machine['cores']} cores, of "
        f"which each contestant has one, Python {machine['python']}; "
        + ", ".join(f"{name} {v}" for name, v in sorted(versions.items()))
        + f". The machine had other work: its load was {min(loads):.1f} to {max(loads):.1f} on "
        f"{machine['cores']} cores. Limits of CPU seconds per contestant and task, all lengths and "
        "seeds together: "
        + "; ".join(f"{x:g} for {', '.join(names)}" for x, names in sorted(limits.items()))
        + "."
    )


def page(found, notes, plots=True):
    """The page as text."""
    text = TEXT.read_text().format(mean=MEAN, sd=100 * SD)
    opening, rule = text.split("<!-- results -->")
    picture = (
        "![Seconds of sgmc and of the fastest rival, by task](_static/scoreboard/overview.svg)"
    )
    opening = [opening.strip(), picture] if plots else [opening.strip()]
    parts = [*opening, summary(found), rule.strip(), circumstances(found), "## Tasks"]
    for task, entries in found.items():
        title = TASKS[task][1]
        parts += [f"### {title}", f"{verdict(entries)[1]}.", notes.get(task, ""), rows(entries)]
        if plots:
            parts.append(f"![Seconds: {title}](_static/scoreboard/{task}.svg)")
    return "\n\n".join(part for part in parts if part) + "\n"


def main():
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=Path, default=HERE / "runs")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "scoreboard.md")
    parser.add_argument("--no-plots", action="store_true")
    options = parser.parse_args()
    found, stored = read(options.runs), HERE / "notes.json"
    notes = json.loads(stored.read_text()) if stored.exists() else {}
    options.out.write_text(page(found, notes, not options.no_plots))
    if not options.no_plots:
        folder = options.out.parent / "_static" / "scoreboard"
        folder.mkdir(parents=True, exist_ok=True)
        overview(found, folder)
        for task, entries in found.items():
            plot(task, entries, folder)
    print(f"{options.out.name}: {len(found)} tasks")


if __name__ == "__main__":
    main()
