"""The printed summary, on statsmodels' tables: 78 columns wide, or as wide as names need."""

import copy
import html
import re
import textwrap
from functools import partial
from itertools import zip_longest

import numpy as np
import pandas as pd
from statsmodels.iolib.summary import Summary
from statsmodels.iolib.table import SimpleTable

from sgmc import registry
from sgmc.arguments.names import texts
from sgmc.elsewhere import of_part
from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.report.ratios import left_out, ratio_name, ratios_of
from sgmc.results.report.shown import Shown

WIDTH = 78  # characters of a line: two less than terminals have
MOST_COLUMNS = 110  # of a line that long names need; longer names are shortened
LEAST_DECIMAL, MOST_DECIMAL = 1e-4, 1e7  # between these numbers are printed without an exponent
FORMULA_LINES = 3  # of the head
SMOOTH_TERMS = re.compile(r"^(?:sd|scale|rho)\((?:\w+:)?(\w+)\(")  # if that is the name of a term
GROUP_TERMS = re.compile(r"^(sd|cor|cov|icc)\(.*\|")
GOOD, BAD = "#1a7f37", "#b42318"  # of the verdict in HTML, on white and on dark ground
MAX_PRINTED = 200  # parameters printed one by one; more are shown by blocks of terms
TEXT = dict(
    table_dec_above="=",
    table_dec_below="=",
    header_dec_below="-",
    colsep="",
    title_align="c",
    data_aligns="r",
    stubs_align="l",
    header_align="r",
    fmt="txt",
)


class PosteriorSummary(Summary):
    """statsmodels' Summary; LaTeX one tabular a table, and text cut at nothing."""

    def as_latex(self):
        """The tables as LaTeX tabulars (booktabs), notes beneath."""
        notes = "\n\n".join(
            latex_escape(line)
            for line in re.sub(r"\n +", " ", self.extra_txt or "").split("\n")
            if line
        )
        tables = [table.as_latex_tabular(replacements={}) for table in self.escaped(latex_escape)]
        return "\n".join(tables) + ("\n\n" + notes if notes else "")

    def as_html(self):
        """The tables as HTML, notes beneath; the verdict is coloured, and a table that is wider
        than its window scrolls by itself.
        """
        escape = partial(html.escape, quote=False)
        tables = [table_html(table.as_html()) for table in self.escaped(escape)]
        lines = re.sub(r"\n +", " ", self.extra_txt or "").split("\n")
        notes = [note_html(escape(line)) for line in lines if line]
        return "\n".join([*tables, *notes])

    def escaped(self, escape):
        """Copies of the tables, a function applied to all text: statsmodels' tables escape nothing,
        or not all, themselves.
        """
        tables = copy.deepcopy(self.tables)
        for table in tables:
            table.title = escape(table.title or "")
            for cell in (cell for row in table for cell in row if isinstance(cell.data, str)):
                cell.data = escape(cell.data)
        return tables

    def _repr_html_(self):
        return self.as_html()

    def __getattr__(self, name):
        of_part(self, name)


def table_html(text):
    """A table of statsmodels with names and labels on the left, numbers on the right, decimal
    points beneath each other: what is missing behind a number is as wide as a point and digits.
    """
    left, right = (f'style="text-align: {side}"' for side in ("left", "right"))
    text = re.sub(r"(<tr>\s*)<th>", rf"\1<th {left}>", text).replace("<th>", f"<th {right}>")
    text = re.sub(r"<td>( *[^<]*:</td>)", rf"<td {left}>\1", text).replace("<td>", f"<td {right}>")
    text = re.sub(" +(?=</td>)", lambda found: "&#8200;" + "&#8199;" * (len(found[0]) - 1), text)
    style = "font-variant-numeric: tabular-nums" + "; white-space: nowrap" * ("<th " in text)
    text = text.replace("<table ", f'<table style="{style}" ', 1)
    return f'<div style="overflow-x: auto">{text}</div>'


def note_html(line):
    """A line beneath the tables as a paragraph."""
    style = "margin: 0.3em 0; max-width: 60em"
    if line.startswith("Verdict: "):
        colour = BAD if line.startswith("Verdict: not ") else GOOD
        style += f"; color: {colour}; font-weight: bold"
    return f'<p style="{style}">{line}</p>'


def latex_escape(text):
    """Text with LaTeX's special characters escaped."""
    special = {
        "\\": r"\textbackslash{}",
        "_": r"\_",
        "%": r"\%",
        "&": r"\&",
        "#": r"\#",
        "$": r"\$",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "{": r"\{",
        "}": r"\}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
    return "".join(special.get(c, c) for c in text)


DASH = "`-`: the tails are too heavy for these draws to tell it, or it does not exist."
MOST_LEFT = 5  # parameters that a table of ratios is without
UNKNOWN = "`-`: not known, as the search for the mode was not finished."


def summary(results, alpha, title, names, details=False, exponentiate=False, r2=False, elpd=False):
    """Build the summary of a Results; `names` are of the outcome and of the parameters, each or
    None.
    """
    if exponentiate:
        ratio_name(results)  # refused before anything else
    measured = measures(results, r2, elpd)
    yname, xname = names
    if not isinstance(yname, str | None):
        raise ArgumentError(
            f"yname={yname!r} must be a name of the outcome; the probability of intervals is level="
        )
    shown, listed = Shown.of(results, yname), parameter_names(results, xname)
    out = PosteriorSummary()
    frame = results.summary_frame(alpha)
    if exponentiate:
        own = [listed[k] for k in ratios_of(results)]
        table = partial(numbers, results.summary_frame(alpha, exponentiate=True), own, "P(>1)")
    else:
        table = partial(parameters, frame.iloc[:, :7], listed, results.names)
    width = width_for(listed, frame)
    out.tables = [
        head(
            shown.left,
            [*shown.right, *measured],
            title or f"{shown.model} Posterior Summary",
            width,
        ),
        table(width=width),
    ]
    if "sd_nonrobust" in frame and not exponentiate:
        out.tables.append(beside(frame, listed, width))
    if details:
        out.tables += [errors(results, listed, width), listing(shown.run, width)]
    missing = UNKNOWN if results._unknown else DASH
    untold = [missing] if frame[["mean", "sd"]].isna().any(axis=None) else []
    others = left_out(results) if exponentiate else []
    if others:
        untold.append(
            f"Not in the table: {', '.join(others[:MOST_LEFT])}"
            f"{f' and {len(others) - MOST_LEFT} more' if len(others) > MOST_LEFT else ''}, as "
            "ratios are of coefficients; summary() has them."
        )
    out.extra_txt = "\n".join(
        wrap(line, "    " if line.startswith("[") else "  ")
        for line in [*untold, *shown.lines, *(shown.details if details else [])]
    )
    return out


def measures(results, r2, elpd):
    """Facts for the head, if asked for: the Bayesian R^2 with its sd, and the elpd of leave-one-out
    with its standard error.
    """
    if (r2 or elpd) and not hasattr(results.model, "family"):
        raise NotSupported("r2 and elpd are for regressions: use neither", because="limit")
    found = []
    if r2:
        share = results.r2()
        found.append(("R2 (sd)", f"{share['mean']:.3f} ({share['sd']:.3f})"))
    if elpd:
        out = results.loo()
        found.append(("elpd (se)", f"{out.elpd:.1f} ({out.se:.1f})"))
    return found


def width_for(names, frame):
    """Characters of a line that the longest name needs beside its numbers."""
    if len(frame) > MAX_PRINTED:
        return WIDTH
    longest = max((len(one_line(str(n))) for n in names), default=0)
    needed = longest + 1 + sum(number_widths(frame.iloc[:, :7], tight=True))
    return min(max(needed, WIDTH), MOST_COLUMNS)


def listing(facts, width):
    """A table of facts, a row each."""
    room = max(len(name) for name, _ in facts) + 2
    text = dict(TEXT, data_fmts=["%s"] * 2, data_aligns="ll", colwidths=[room, width - room])
    rows = [[f"{name}:", fit_in(value, width - room)] for name, value in facts]
    return SimpleTable(rows, txt_fmt=text)


def numbers(frame, names, share, width=WIDTH):
    """A table of positive numbers or effects, a row a name; the column `share` is of
    probabilities.
    """
    forms = {share: probability, "ess_bulk": whole, "r_hat": ratio}
    rows = [
        [forms.get(name, compact)(value) for name, value in zip(frame.columns, row)]
        for row in frame.to_numpy()[:MAX_PRINTED]
    ]
    widths = [max(len(one) for one in column) + 2 for column in zip(frame.columns, *rows)]
    room = width - sum(widths)
    text = dict(TEXT, data_fmts=["%s"] * len(widths), colwidths=[room, *widths])
    stubs = shorten([str(n) for n in list(names)[: len(rows)]], room)
    return SimpleTable(rows, headers=list(frame.columns), stubs=stubs, txt_fmt=text)


def effects_summary(left, right, frame, alpha):
    """The summary of marginal effects: two columns of facts, and a table with statsmodels'
    columns; of several kinds of outcome their names are before those of the columns.
    """
    out = PosteriorSummary()
    shown = frame.set_axis(
        [frame.columns[0], "std err", f"[{alpha / 2:.3g}", f"{1 - alpha / 2:.3g}]", "P(>0)"], axis=1
    )
    names = [": ".join(map(str, one)) if isinstance(one, tuple) else one for one in frame.index]
    out.tables = [head(left, right, "Marginal Effects"), numbers(shown, names, "P(>0)")]
    return out


def wrap(text, indent="  "):
    """Text in lines of at most WIDTH."""
    # a number stays on one line with its unit, or with the measure that it is of
    kept = re.sub("(?<=KSD) | (?=%)", "\0", text)
    return "\n".join(textwrap.wrap(kept, WIDTH, subsequent_indent=indent)).replace("\0", " ")


def head(left, right, title, width=WIDTH):
    """Two columns of facts; the wider one gets more room, and a formula several lines."""
    labels = max(len(name) for name, _ in left) + 2, max(len(name) for name, _ in right) + 4
    room = width - sum(labels) - max(len(value) for _, value in right) - 1
    left = [line for fact in left for line in in_lines(*fact, room)]
    left, right = (
        side + [("", "")] * (max(len(left), len(right)) - len(side)) for side in (left, right)
    )
    widths = column_widths(left, right, width)
    rows = [
        [
            fit_in(a + ":" if a else "", widths[0]),
            fit_in(b, widths[1]),
            "  " + fit_in(c + ":" if c else "", widths[2] - 2),
            fit_in(d, widths[3]),
        ]
        for (a, b), (c, d) in zip(left, right)
    ]
    text = dict(TEXT, data_fmts=["%s"] * 4, data_aligns="lrlr", colwidths=widths)
    return SimpleTable(rows, title=title, txt_fmt=text)


def in_lines(name, value, room):
    """A fact in lines of `room` characters, if it is a formula; else as it is."""
    if name != "Formula" or len(value) <= room:
        return [(name, value)]
    spaced = re.sub(r"\s*(?<!\d[eE])([+~])\s*", r" \1 ", value)  # lines break between terms
    lines = textwrap.wrap(spaced, room, max_lines=FORMULA_LINES, placeholder=" ...")
    return [(name if k == 0 else "", line) for k, line in enumerate(lines)]


def column_widths(left, right, width=WIDTH):
    """Widths of the four columns of the head, together `width`: halves, if the left one has
    room.
    """
    labels = max(len(k) for k, _ in left) + 2, max(len(k) for k, _ in right) + 4
    last = min(max(len(v) for _, v in right) + 1, 24)
    spare = width - sum(labels) - max(len(v) for _, v in left)
    last = max(last, min(width // 2 - labels[1], spare))
    return [labels[0], width - sum(labels) - last, labels[1], last]


def fit_in(text, width):
    """Text, shortened with dots where it is longer than `width`."""
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def parameters(frame, names, known, width=WIDTH):
    """One row a parameter, or a row a block where there are more than MAX_PRINTED; terms of groups
    and smooths come last, each under a line of their own.

    `known` are the parameters' own names, where `names` are the user's.
    """
    headers = list(frame.columns)
    if len(frame) > MAX_PRINTED:
        return blocks(frame, names)
    columns, widths = columns_of(frame), number_widths(frame)
    names = [str(n) for n in names]
    if max(map(len, names), default=0) >= width - sum(widths):  # long names have the gaps
        widths = number_widths(frame, tight=True)
    room = width - sum(widths)
    names = shorten(names, room)
    parts = parts_of(known)
    rows, stubs = [], []
    for title, places in parts:
        if len(parts) > 1:
            rows, stubs = [*rows, [""] * len(headers)], [*stubs, f"{title}:"]
        stubs += [names[k] for k in places]
        # an sd is positive, with probability one
        blank = title != COEFFICIENTS
        rows += [
            [("" if blank and j == POSITIVE else column[k]) for j, column in enumerate(columns)]
            for k in places
        ]
    text = dict(TEXT, data_fmts=["%s"] * 7, colwidths=[room, *widths])
    return SimpleTable(rows, headers=headers, stubs=stubs, txt_fmt=text)


COEFFICIENTS, POSITIVE = "Coefficients", 4  # a part of the table; the column P(>0)


def parts_of(names):
    """Pairs (title, places) of the parts of the table that there are: coefficients and parameters
    of the outcome, sds and correlations of groups, sds of smooths.
    """
    found = {COEFFICIENTS: [], "Groups": [], "Smooths": []}
    for place, name in enumerate(map(str, names)):
        kind, called = COEFFICIENTS, SMOOTH_TERMS.match(name)
        if called and called[1] in registry.room("terms"):
            kind = "Smooths"
        elif GROUP_TERMS.match(name):
            kind = "Groups"
        found[kind].append(place)
    return [(title, places) for title, places in found.items() if places]


def columns_of(frame):
    """The texts of the seven columns, decimal points beneath each other."""
    values = frame.to_numpy()
    first = [in_line([compact(v) for v in values[:, j]]) for j in range(4)]
    forms = probability, whole, ratio
    return [*first, *([form(v) for v in values[:, 4 + j]] for j, form in enumerate(forms))]


def number_widths(frame, tight=False):
    """Widths of the seven columns with the gap before each: the usual ones, if they have room;
    `tight`: the least.
    """
    texts = [max(map(len, column), default=0) for column in columns_of(frame)]
    heads = map(len, frame.columns)
    usual = (0,) * 7 if tight else (10, 9, 10, 10, 7, 9, 7)
    return [max(a, b + 1, c + 1) for a, b, c in zip(usual, texts, heads)]


def in_line(texts):
    """Numbers padded behind, so that decimal points of a column that is aligned right meet."""
    behind = [len(text.partition(".")[2]) + ("." in text) for text in texts]
    plain = [n for n, text in zip(behind, texts) if "e" not in text and text != "-"]
    most = max(plain, default=0)
    return [
        text if "e" in text or text == "-" else text + " " * (most - n)
        for n, text in zip(behind, texts)
    ]


def blocks(frame, names):
    """Range of mean and sd, and the least ESS, for consecutive blocks of parameters."""
    size = int(np.ceil(len(frame) / 50))
    rows, stubs = [], []
    for a in range(0, len(frame), size):
        part = frame.iloc[a : a + size]
        stubs.append(f"{names[a]} .. ({len(part)})")
        rows.append(
            [
                compact(part["mean"].min()),
                compact(part["mean"].max()),
                compact(part["sd"].min()),
                compact(part["sd"].max()),
                whole(part["ess_bulk"].min()),
                ratio(part["r_hat"].max()),
            ]
        )
    widths = [10] * 6
    room = WIDTH - sum(widths)
    text = dict(TEXT, data_fmts=["%s"] * 6, colwidths=[room, *widths])
    headers = ["min mean", "max mean", "min sd", "max sd", "ess_bulk", "r_hat"]
    return SimpleTable(rows, headers=headers, stubs=shorten(stubs, room), txt_fmt=text)


def beside(frame, names, width=WIDTH):
    """The sandwich's sds beside those of the model alone: a row a parameter, or a block of them
    with its largest sds.
    """
    size = int(np.ceil(len(frame) / 50)) if len(frame) > MAX_PRINTED else 1
    robust, model = frame["sd"].to_numpy(), frame["sd_nonrobust"].to_numpy()
    rows, stubs = [], []
    for a in range(0, len(frame), size):
        part = slice(a, a + size)
        ratio = robust[part] / model[part]
        stubs.append(names[a] if size == 1 else f"{names[a]} .. ({len(ratio)})")
        ratios = [f"{ratio.min():.3g}", f"{ratio.max():.3g}"][: 1 if size == 1 else 2]
        rows.append([compact(robust[part].max()), compact(model[part].max()), *ratios])
    headers = (
        ["sd robust", "sd model", "ratio"]
        if size == 1
        else ["max robust", "max model", "min ratio", "max ratio"]
    )
    widths = [12] * len(headers)
    room = width - sum(widths)
    text = dict(TEXT, data_fmts=["%s"] * len(headers), colwidths=[room, *widths])
    return SimpleTable(
        rows, headers=headers, stubs=shorten([str(s) for s in stubs], room), txt_fmt=text
    )


def errors(results, names, width=WIDTH):
    """What the verdict goes by, a row a parameter: tail effective sizes, tail indices, errors; of
    functionals in their place the errors alone.

    Errors are in sds, by scores where there are any, and may be off by the last column, the largest
    of their Monte Carlo errors.
    """
    found = results.accuracy()
    kinds = ["mean", "sd", "low", "high"]
    by_scores = found[[f"{kind}_error" for kind in kinds]].notna().any(axis=None)
    of = "mcse_{}_error" if by_scores else "mcse_{}"
    columns = [found[f"{kind}_error"] for kind in kinds]
    columns.append(found[[of.format(kind) for kind in kinds]].max(axis=1))
    headers = ["mean err", "sd err", "low err", "high err", "mcse"]
    forms, widths = [two_digits] * 5, [9, 9, 9, 9, 8]
    if list(found.index) == list(results.names):
        columns = [results.ess("tail"), results.tail_index(), *columns]
        headers, widths = ["ess_tail", "k_hat", *headers], [9, 7, *widths]
        forms = [whole, two_digits, *forms]
    else:
        names = found.index
    rows = [[form(v) for form, v in zip(forms, row)] for row in np.column_stack(columns)]
    room = width - sum(widths)
    text = dict(TEXT, data_fmts=["%s"] * len(headers), colwidths=[room, *widths])
    stubs = shorten([str(n) for n in names], room)
    return SimpleTable(rows[:MAX_PRINTED], headers=headers, stubs=stubs[:MAX_PRINTED], txt_fmt=text)


def one_line(name):
    """A name with its line ends and tabs escaped: labels may have them."""
    return name.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def shorten(names, room):
    """Names that fit in a line; long ones keep both ends, which tell levels of one factor apart."""
    keep, names = room - 3, [one_line(n) for n in names]
    return [
        n if len(n) <= room - 1 else n[: keep // 2] + ".." + n[-(keep - keep // 2) :] for n in names
    ]


def compact(value):
    """Four significant digits in at most nine characters; a dash for what is not known."""
    if np.isnan(value):
        return "-"
    if value == 0 or not np.isfinite(value):
        return f"{value:.4g}"
    size = abs(value)
    if LEAST_DECIMAL <= size < MOST_DECIMAL:
        most = 4 if size >= 1e-3 else 6  # three digits of a small number
        decimals = int(np.clip(3 - np.floor(np.log10(size)), 0, most))
        return f"{value:.{decimals}f}"
    return f"{value:.2e}"


def probability(value):
    """Three digits, never 0 or 1, which draws do not show; a dash for what is not known."""
    if np.isnan(value):
        return "-"
    text = f"{value:.3f}"
    return {"0.000": "<0.001", "1.000": ">0.999"}.get(text, text)


def two_digits(value):
    """A small number as text."""
    return "-" if not np.isfinite(value) else f"{value:.2g}"


def whole(value):
    """A count as text."""
    return "-" if not np.isfinite(value) else f"{value:.0f}"


def ratio(value):
    """R-hat as text."""
    return "-" if not np.isfinite(value) else f"{value:.3f}"


def summary2(results, alpha, title, names, float_format):
    """statsmodels' second kind of summary; `names` are of the outcome and of the parameters, each
    or None.
    """
    from statsmodels.iolib.summary2 import Summary as Second

    yname, xname = names
    shown = Shown.of(results, yname)
    out = Second()
    out.add_title(title or f"{shown.model} Posterior Summary")
    sides = zip_longest(shown.left, shown.right, fillvalue=("", ""))
    out.add_df(
        pd.DataFrame([[a, b, c, d] for (a, b), (c, d) in sides]),
        header=False,
        index=False,
        align="l",
    )
    out.add_df(
        results.summary_frame(alpha).set_axis(parameter_names(results, xname)),
        float_format=float_format,
    )
    for line in shown.lines:
        out.add_text(line)
    return out


def parameter_names(results, xname):
    """The parameters' names, or those given in their place."""
    if xname is None:
        return results.names
    count = len(results.names)
    return texts("xname", xname, f"{count} names, one for each parameter", count)
