"""Predicted stationary laws against chains: variance, autocorrelation, time to forget.

    python benchmarks/theory.py [SAMPLER ...]

Target N(0, I) of 64 dimensions, minibatches of 40 of 2000 rows with gradient noise of variance V;
h = 0.1, 0.2 and 0.4, V = 0.25, 1 and 4, frictions 1, 2 and 4 (thermostats: to h = 0.2 and V = 1).
For each sampler the worst of these cells: the relative error of the predicted variance, that of the
formula that default steps are derived from, the largest absolute error of an autocorrelation over
three autocorrelation times, and the relative error of their sum.  Monte Carlo errors of the
variance are about 0.8 per cent.
"""

import argparse

from tests._ext.build import make_importable

make_importable()
from tests.contracts.predicted import LINES, cells, departure  # noqa: E402


def row(name):
    """Worst errors of a sampler over its cells."""
    spec, worst = LINES[name][0], [0.0] * 4
    for h, noise in cells(name):
        law = spec.law(h, noise)
        found = departure(spec, h, noise, law)
        simulated = (1 + found.variance) * law.variance
        formula = abs(simulated / (1 + spec.inflation(h, noise)) - 1)
        errors = abs(found.variance), formula, found.autocorrelation, abs(found.time)
        worst = [max(pair) for pair in zip(worst, errors)]
    return worst


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samplers", nargs="*", default=list(LINES), metavar="SAMPLER")
    print("| sampler | variance, % | formula, % | autocorrelation | time, % |")
    print("|---|---|---|---|---|")
    for name in parser.parse_args().samplers:
        variance, formula, correlation, time = row(name)
        print(
            f"| {name} | {100 * variance:.1f} | {100 * formula:.1f} | {correlation:.3f} | "
            f"{100 * time:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
