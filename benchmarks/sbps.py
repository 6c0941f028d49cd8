"""What k does to the stochastic bouncy particle sampler (Pakman, Gilboa, Carlson & Paninski 2017),
what looks save that compute no gradient, and sticky samplers beside enumeration.

    python benchmarks/sbps.py [--quick]

The logit of their section 7.1: 20 columns and 1,000 rows, slopes from Unif[-5, 5], one column of
variance 6, minibatches of 100 random rows, raw coordinates, prior N(0, 10^2); velocities are drawn
anew at bounces alone.  The paper's figures are the vignettes ``sbps`` and ``sbps-network``.
"""

import argparse
import os
import time
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import sgmc
from sgmc.coordinates.priors.densities import FAMILIES, Separable
from sgmc.core.designs.design import design
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.gradients.simple import Simple
from sgmc.models.regression.families.logit import BernoulliLogit
from sgmc.subsampling.block import CircularBlock
from sgmc.subsampling.uniform import Uniform
from tests._ext.build import make_importable
from tests.contracts.enumeration import inclusions, simulated

N, D, BATCH = 1000, 20, 100


def paper():
    """(X, y), labels as in section 7.1."""
    rng = np.random.default_rng(71)
    X, slopes = rng.normal(size=(N, D)), rng.uniform(-5, 5, D)
    X[:, 0] *= np.sqrt(6)
    return X, (rng.random(N) < 1 / (1 + np.exp(-X @ slopes))).astype(int)


def fitted(**how):
    """A fit of the paper's posterior without its warnings."""
    X, y = paper()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sgmc.Logit(y, X).fit(prior={"*": sgmc.normal(0, 10)}, seed=1, chains=4, **how)


def confidences(reference, draws):
    """Print what k does: violations, what is missed, sds."""
    print(
        "\n| k | violations | expected | missed | sds over mala's | rows a draw of time "
        "|\n|---|---|---|---|---|---|"
    )
    for k in (1.0, 2.0, 3.0, 5.0):
        spec = sgmc.SBPS(confidence=k, refresh=0.0)
        found = fitted(
            sampler=spec,
            draws=draws,
            precondition=None,
            gradient="simple",
            batch_size=BATCH,
            subsample="uniform",
        )
        table, ratio = found.chain_diagnostics(), found.bse / reference.bse
        length = (table.spacing * draws).sum()
        print(
            f"| {k:g} | {table.violations.mean():.4f} | {spec.expected():.4f} | "
            f"{table.missed.mean():.4f} | {ratio.min():.2f} to {ratio.max():.2f} | "
            f"{table.data_passes.sum() * N / length:,.0f} |",
            flush=True,
        )


def looks(times):
    """Print processor time per look at v . g alone, over that of looks with the whole gradient."""
    make_importable()
    from _ext.probes import repeated_slope

    print("\n| rows | columns | batch | microseconds | ratio |\n|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    for d, scheme in ((d, scheme) for d in (20, 100, 500) for scheme in (Uniform, CircularBlock)):
        X, one = rng.normal(size=(20_000, d)) / np.sqrt(d), np.ones(d)
        model = BernoulliLogit(design(X), (rng.random(len(X)) < 0.5) * 1.0, None, None)
        prior, stream = (
            Separable([FAMILIES["normal"]] * d, 0 * one, one, one),
            seed_sequence(1, "chain"),
        )
        gradient = Simple(model, prior, scheme(len(X), BATCH), Rng(stream))
        x, v = rng.normal(size=(2, d))
        slope, whole = (
            min(repeated_slope(gradient, x, v, gradient.rng, times, how) for _ in range(5)) * 1e6
            for how in (False, True)
        )
        print(
            f"| {len(X):,} | {d} | {BATCH} ({scheme.name}) | {slope:.2f} | {slope / whole:.2f} |",
            flush=True,
        )


def sticky(draws):
    """Print inclusion probabilities by enumeration and by the sticky samplers."""
    X, y = simulated(300, 10)
    columns = {"enumeration": inclusions(X, y, 1.0, 2.5, 0.4)}
    facts = []
    for name, cls in (("stickyzigzag", sgmc.StickyZigZag), ("stickysgpdmp", sgmc.StickySGPDMP)):
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = sgmc.Logit(
                y.astype(int),
                np.column_stack([np.ones(300), X]),
                names=["Intercept", *(f"x{j}" for j in range(10))],
            ).fit(
                sampler=cls(inclusion=0.4),
                prior={"*": sgmc.normal(0, 1), "Intercept": sgmc.normal(0, 2.5)},
                draws=draws,
                seed=1,
            )
        found = results.inclusion()
        z = (found.inclusion - columns["enumeration"]) / np.maximum(found.mcse, 1e-3)
        columns[name] = found.inclusion.to_numpy()[-10:]
        facts.append(
            f"{name}: largest |z| {np.abs(z).max():.1f}, mcse up to {found.mcse.max():.4f}, "
            f"{results.chain_diagnostics().data_passes.sum():,.0f} data passes, "
            f"{time.process_time() - begun:.1f} s"
        )
    print("\n| inclusion | " + " | ".join(f"x{j}" for j in range(10)) + " |\n|---|" + "---|" * 10)
    for name, values in columns.items():
        print(f"| {name} | " + " | ".join(f"{v:.3f}" for v in values) + " |")
    print("\n".join(["", *facts]), flush=True)


def main():
    """Run everything, or a quick look."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    confidences(fitted(sampler="mala", draws=2000 if quick else 20_000), 100 if quick else 2000)
    looks(500 if quick else 5000)
    sticky(500 if quick else 10_000)


if __name__ == "__main__":
    main()
