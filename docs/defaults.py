"""The tables of docs/defaults.md: every default, where it comes from, and by how much it is
expected to widen posterior sds.  docs/registered.py puts them into the page.
"""

import math
from dataclasses import replace
from types import SimpleNamespace

from sgmc.coordinates.priors.densities import LONGEST_PULLED
from sgmc.fit import choose, noise, paths, plan, tolerance
from sgmc.fit.parts import Defaults
from sgmc.fit.settings import check_settings
from sgmc.fit.tolerance import Noise
from sgmc.registry import room
from sgmc.results.report import fit_warnings
from sgmc.subsampling import preferential, stratified

ROWS, COEFFICIENTS = 100_000, 10
# V1 of the worst coefficient
NOISES = {"`taylor`, usual": 1.0, "`cv` on Default": 22.0, "`cv` on a9a": 2740.0}
WHITENED = SimpleNamespace(max_precision=1.0, min_precision=1.0, whitened=True, scaled=True)
OPEN = check_settings(progress=False)


def choice(spec, settings):
    """A sampler and settings, for a table of so many rows and coefficients."""
    model = SimpleNamespace(n=ROWS)
    problem = SimpleNamespace(
        model=model, dim=COEFFICIENTS, coordinates=WHITENED, defaults=Defaults(estimator="taylor")
    )
    return plan.Choice(problem=problem, settings=settings, gradient="", spec=spec)


def sd_change(variance):
    """Relative error of an sd, in per cent, from that of the variance."""
    return f"{100 * (math.sqrt(1 + variance) - 1):+.2f} %"


def parameters(spec):
    """Defaults of a specification as text."""
    return ", ".join(
        f"{p.name} {p.default:g}" if isinstance(p.default, float) else f"{p.name} {p.default}"
        for p in spec.parameters
    )


def stochastic(spec):
    """A line of the table of stochastic samplers."""
    cells = []
    for one_row in NOISES.values():
        made = plan.plan_of_steps(choice(spec, OPEN), Noise(one_row, 0))
        variance = Noise(one_row, 0).of(made.batch, ROWS) if spec.minibatches else 0.0
        h = made.langevin_time
        cells.append(
            f"{made.schedule(0):.3g}, {made.batch if spec.minibatches else 'all'}, {made.thin}: "
            f"{sd_change(spec.inflation(h, variance))} ({sd_change(spec.inflation(h, 0.0))})"
        )
    return f"| `{spec.name}` | {parameters(spec) or '-'} | " + " | ".join(cells) + " |"


def unbiased(spec):
    """A line of the table of samplers without a bias of their own."""
    guess, made = spec.first_step(COEFFICIENTS), replace(OPEN, sampler=spec)
    done = plan.unbiased_plan(choice(spec, made))
    chained = spec.exact and not spec.direct
    step = f"searched from {spec.from_langevin(guess):.3g}" if chained else "-"
    return f"| `{spec.name}` | {parameters(spec) or '-'} | {step} | {done.warmup} | {done.thin} |"


def continuous(spec):
    """A line of the table of samplers in continuous time."""
    rows = "all rows" if spec.all_rows else f"1 row, `{spec.estimator}`"
    if not spec.exact:
        rows = (
            "step and batch derived as above"
            if spec.holds
            else "the batch with the least rows a draw"
        )
    return f"| `{spec.name}` | {parameters(spec) or '-'} | {rows} |"


CONSTANTS = [
    (
        "tolerance of the variance",
        tolerance.VARIANCE_TOLERANCE,
        "step and batch are the cheapest pair within it, counting rows; with 4 % and Monte Carlo "
        "error some sds were off by more than 5 %",
        sd_change(tolerance.VARIANCE_TOLERANCE),
    ),
    (
        "what a step costs besides its rows, in rows",
        tolerance.OVERHEAD,
        "measured with `benchmarks/per_step.py`",
        "0",
    ),
    ("smallest batch", tolerance.SMALLEST_BATCH, "below, a step costs little less", "0"),
    (
        "Langevin time between kept draws",
        plan.KEPT_TIME,
        "`thin` = ceil(4/h): neighbours are correlated by exp(-2) at most",
        "0",
    ),
    (
        "Langevin time of warmup",
        plan.WARMUP_TIME,
        "ten relaxation times of a whitened Gaussian, from draws of the Laplace approximation",
        "below 0.01 %: exp(-20) of what the start was off",
    ),
    (
        "condition number waited for",
        plan.SLOWEST,
        "`thin` and `warmup` grow with it where coordinates are not whitened",
        "0",
    ),
    (
        "warmup of exact samplers",
        plan.METROPOLIS_WARMUP,
        "twice as many where a metric is learned (`tests/contracts/test_warmup.py`)",
        "0",
    ),
    (
        "threshold alpha",
        tolerance.NOISE_SHARE,
        "noise over what a step injects: the most that derived steps leave to a correction, and "
        'where `warmup="threshold"` begins to keep draws (Welling & Teh, section 5.3.1)',
        f"below {sd_change(tolerance.NOISE_SHARE)}",
    ),
    (
        "departure from a Gaussian for `auto`",
        choose.AUTO_DEPARTURE,
        "in posterior sds; beyond, `auto` takes an exact sampler",
        "0",
    ),
    (
        "sd of an auxiliary parameter's log for `auto`",
        choose.SKEWED,
        "beyond, its posterior is skewed, and `auto` takes an exact sampler: "
        "`lmsgld` left sds of negativebinomial's alpha 1 % off at 0.4, 1.6 % at 0.6, 4 % at 0.7, "
        "and single chains diverged from 0.37 on",
        "0",
    ),
    (
        "departure for a ShapeWarning",
        fit_warnings.SHAPE_DEPARTURE,
        "in posterior sds; 0.66 was harmless on a9a",
        "warned of",
    ),
    (
        'the same for `cov_type="robust"`',
        fit_warnings.SANDWICH_DEPARTURE,
        "in the sandwich's sds: of its draws nothing but mean and covariance has a meaning",
        "warned of",
    ),
    (
        "inflation for a warning",
        fit_warnings.INFLATION,
        "of the variance, by step or noise",
        f"warned of beyond {sd_change(fit_warnings.INFLATION)}",
    ),
    (
        "pilot pairs",
        noise.PAIRS,
        "draws z, -z of the Laplace approximation at which noise is measured; `laplace` takes "
        f"{noise.SHAPE_PAIRS}",
        "0",
    ),
    (
        "rows looked at by the pilot",
        noise.PILOT_ROWS,
        "where control values leave little to each",
        "0",
    ),
    (
        "rows computed at every step (`taylor`)",
        "as needed",
        "rows of such leverage that no expansion serves (`sgmc.fit.problem.high_leverage`)",
        "0",
    ),
    (
        "block design effect",
        noise.BLOCK_SHARE,
        "share of the rows from which blocks have theirs computed",
        "0",
    ),
    (
        "looks of adaptive batches",
        noise.LOOKS,
        '`batch_size="adaptive"`, in warmup',
        "as the tolerance",
    ),
    (
        "uniform share of `preferential`",
        preferential.UNIFORM_SHARE,
        "no row counts more than ten times as in a simple sample",
        "0",
    ),
    (
        "proportional share of `stratified`",
        stratified.PROPORTIONAL_SHARE,
        "no stratum is starved",
        "0",
    ),
    ("strata of an outcome", noise.MAX_STRATA, "its levels, or so many groups by quantiles", "0"),
    (
        "turning points kept of a path",
        f"{paths.SKELETON >> 20} MB",
        "of all chains, for `expect` and `skeleton`; means are of the whole path",
        "0",
    ),
    (
        "columns up to which preconditioning is dense",
        LONGEST_PULLED,
        "by d^2 memory and d^3 work; beyond it is diagonal",
        "0",
    ),
]


def specs():
    """The samplers whose defaults are derived from the model's shape; those of probabilities have
    their own.
    """
    return [cls() for _, cls in sorted(room("samplers").items()) if not cls.probabilities]


def table(columns, lines):
    """A Markdown table."""
    return "\n".join([f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines])


def stochastic_samplers():
    """The table of stochastic samplers, and what distorts some of them."""
    found = [s for s in specs() if not s.exact and s.uses_gradient and not s.continuous]
    noises = [f"{name}: V1 = {v:,.0f}" for name, v in NOISES.items()]
    return (
        f"Derived for N = {ROWS:,} rows.  Each cell: step in the sampler's own units (h; sigma of "
        "Barker dynamics; e of\nthose with a momentum), batch, steps per kept draw: expected "
        "change of the sd (in brackets, what the step does\nwithout gradient noise).\n\n"
        + table(["sampler", "parameters", *noises], map(stochastic, found))
        + "\n\n"
        + "\n".join(f"`{s.name}`: {s.distortion}." for s in found if s.distortion)
    )


def exact_samplers():
    """The table of samplers without a bias of their own, in steps."""
    found = [s for s in specs() if not s.continuous and (s.exact or not s.uses_gradient)]
    return table(["sampler", "parameters", "step", "warmup", "thin"], map(unbiased, found))


def continuous_samplers():
    """The table of samplers in continuous time, and how long they warm up."""
    found = [s for s in specs() if s.continuous]
    predicted, held = (
        " ".join(s.name for s in found if not s.exact and s.holds == holds)
        for holds in (False, True)
    )
    return (
        f"Exact too, except `{predicted}`, whose bounds are predicted (what that loses is in "
        f"`chain_diagnostics`), and `{held}`,\nwhich hold rates for a step.  Draws lie on a "
        "regular grid of times, one autocorrelation time apart: that of the worst coordinate, "
        "by\n16 to 32 batch means over the second half of warmup, each chain's own.  Warmup is "
        f"{plan.PATHS_WARMUP} such times as the sampler expects them (its `memory`), by the "
        f"events\nthat it expects in a unit of time (its `events`), at least "
        f"{plan.LEAST_EVENTS:,} events and at most {plan.MAX_STEPS:,}.\n\n"
        + table(["sampler", "parameters", "rows of a proposed event"], map(continuous, found))
    )


def constants():
    """The table of constants."""
    lines = [
        f"| {name} | {value if isinstance(value, str) else f'{value:,}'} | {why} | {change} |"
        for name, value, why, change in CONSTANTS
    ]
    return table(["what", "value", "where it comes from", "expected change of the sd"], lines)
