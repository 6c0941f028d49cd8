"""Mauri & Zanella's toy (section 5.0.1, figures 2a and 9): bias of the mean on skew-normal targets, Langevin beside Barker.

    python benchmarks/skew_normal.py [--quick]

Density 2 phi(x) Phi(alpha x); the gradient has added noise N(0, tau^2), tau = 0, 1 and 10 times the target's sd; the increments
have scale sigma = 10 % and 50 % of that sd, which for Langevin is h = sigma^2.  Printed is (E x of the chain - E x) / E x for
each alpha, as a percentage, of 64 independent copies as coordinates of one chain; in the last column the largest Monte Carlo
standard error of the row.  The left flank has slope alpha^2 |x|: there a Langevin step may go as far as it likes, a Barker step
no farther than |z|.  esgbd, which is no sampler, is shown for completeness; where nothing is added csgld is sgld and csgbd is
vsgbd.
"""
import argparse

import numpy as np
from chains import block_means, estimate, in_threads

import sgmc
from sgmc._toy_densities import SkewNormal

DIM = 64
SLANTS = (1, 2, 5, 10, 20, 50, 100)
SAMPLERS = {"sgld": sgmc.SGLD(), "csgld": sgmc.CSGLD(), "vsgbd": sgmc.VSGBD(), "csgbd": sgmc.CSGBD(), "esgbd": sgmc.ESGBD()}
NOISELESS = ("sgld", "vsgbd", "esgbd")
STEPS = {"full": {0.1: 400_000, 0.5: 40_000}, "quick": {0.1: 30_000, 0.5: 4_000}}


def moments(slant):
    """Mean and sd of the target."""
    mean = slant / np.sqrt(1 + slant ** 2) * np.sqrt(2 / np.pi)
    return mean, np.sqrt(1 - mean ** 2)


def relative_bias(spec, slant, size, noise, steps):
    """Relative bias of the mean and its standard error, for an increment and a noise in units of the target's sd."""
    mean, sd = moments(slant)
    step = spec.from_langevin((size * sd) ** 2) if spec.name in ("sgld", "csgld") else size * sd
    tau = np.full(DIM, noise * sd) if noise else None
    found, error = estimate(block_means(spec, SkewNormal(DIM, slant), step, steps, lambda x: [x], tau=tau))
    return found[0] / mean - 1, error[0] / mean


def main():
    """Print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="chains ten times shorter")
    lengths = STEPS["quick" if arguments.parse_args().quick else "full"]
    rows = [(noise, size, name) for noise in (0, 1, 10) for size in lengths
            for name in (SAMPLERS if noise else NOISELESS)]
    found = in_threads({(*row, slant): lambda row=row, slant=slant: relative_bias(SAMPLERS[row[2]], slant, row[1], row[0],
                                                                                  lengths[row[1]])
                        for row in rows for slant in SLANTS})
    print(f"{'tau/sd':>6s} {'sigma/sd':>8s} {'sampler':8s}" + "".join(f"{f'alpha={a}':>11s}" for a in SLANTS) + f"{'se':>8s}")
    for noise, size, name in rows:
        bias, error = 100 * np.array([found[noise, size, name, slant] for slant in SLANTS]).T
        print(f"{noise:6d} {size:8.1f} {name:8s}" + "".join(f"{b:+11.1f}" for b in bias) + f"{error.max():8.2f}")


if __name__ == "__main__":
    main()
