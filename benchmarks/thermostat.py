"""Gradient noise that nobody told the sampler of: thermostats take it out, sghmc does not (review,
section 3; Ding et al. 2014).

    python benchmarks/thermostat.py [--quick]

Target N(0, I) of 64 dimensions, noise of sd tau added to each gradient, the same step e = 0.02 for
all.  Printed are the variances of the draws (mean over coordinates) with Monte Carlo standard
errors, and 1 + `inflation` of the specification, what the package expects at that noise.  In the
second table half of the coordinates have noise, half have none; one friction for all cannot
serve both: at z = A + e mean(V) / 2 it leaves variances (A + e V_j / 2) / z.
"""

import argparse

import numpy as np
from _ext.toys import GaussianLocation
from chains import block_means, estimate, in_threads

import sgmc

DIM, STEP = 64, 0.02
NOISES = (0, 1, 3, 10)
SAMPLERS = {
    "sghmc": sgmc.SGHMC(leapfrog=1),
    "sghmc told": sgmc.SGHMC(leapfrog=1, corrected=True),
    "sgnht": sgmc.SGNHT(),
    "msgnht": sgmc.MSGNHT(),
    "badodab": sgmc.BADODAB(),
}
TARGET = GaussianLocation(np.zeros((1, DIM)), 1.0)  # one row: N(0, I)
STEPS = {"full": 2_000_000, "quick": 100_000}


def variances(spec, tau, steps):
    """Variances of the first and of the second half of the coordinates,
    and their standard errors.
    """
    return estimate(
        block_means(
            spec,
            TARGET,
            STEP,
            steps,
            lambda x: [x[:, : DIM // 2] ** 2, x[:, DIM // 2 :] ** 2],
            tau=tau,
        )
    )


def halves(low, high):
    """Noise of sd `low` in the first half of the coordinates, `high` in the second."""
    return np.repeat([low, high], DIM // 2).astype(float)


def shared(tau):
    """Variances that one friction for all coordinates leaves, to first order in the step:
    see the head of this file.
    """
    diffusion, V = SAMPLERS["sgnht"].diffusion, tau**2
    return (diffusion + STEP * V / 2) / (diffusion + STEP * V.mean() / 2)


def main():
    """Print the tables."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--quick", action="store_true", help="chains twenty times shorter")
    steps = STEPS["quick" if arguments.parse_args().quick else "full"]
    noises = {f"tau={tau}": halves(tau, tau) for tau in NOISES} | {"tau=0 | 10": halves(0, 10)}
    found = in_threads(
        {
            (name, label): lambda spec=spec, tau=tau: variances(spec, tau, steps)
            for name, spec in SAMPLERS.items()
            for label, tau in noises.items()
        }
    )
    print(
        f"{'sampler':12s}"
        + "".join(f"{f'{label}: found (se), expected':>36s}" for label in list(noises)[:-1])
    )
    for name, spec in SAMPLERS.items():
        cells = (
            (*found[name, f"tau={tau}"], 1 + spec.inflation(spec.langevin_time(STEP), tau**2))
            for tau in NOISES
        )
        print(
            f"{name:12s}"
            + "".join(
                f"{v.mean():20.4f} ({np.hypot(*se) / 2:.4f}) {expected:6.4f}"
                for v, se, expected in cells
            )
        )
    print(f"\n{'sampler':12s}{'variance where tau=0 (se)':>28s}{'where tau=10 (se)':>22s}")
    for name in SAMPLERS:
        (quiet, loud), se = found[name, "tau=0 | 10"]
        print(f"{name:12s}{quiet:19.4f} ({se[0]:.4f}){loud:13.4f} ({se[1]:.4f})")
    quiet, loud = shared(halves(0, 10))[[0, -1]]
    print(f"{'one friction':12s}{quiet:19.4f} {'':8s}{loud:13.4f}   by the formula")


if __name__ == "__main__":
    main()
