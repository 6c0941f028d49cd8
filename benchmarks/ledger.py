"""Do fits give the same bits as before?  Some 200 calls, each pair of settings in one of them.

    python benchmarks/ledger.py before.json                    # fits of this tree
    python benchmarks/ledger.py after.json --tree FOLDER       # of another one, built in place
    python benchmarks/ledger.py before.json after.json         # what differs

Of each call it keeps hashes of draws, predictions, effects of groups and summary, the verdict, and
means and sds.  Where a call is refused it keeps the message, and makes the call simpler until it is
not: nothing beside, the default prior, the default sampler.  Two trees are compared on one machine:
other processors round sums in another order.  A change that moves no draw shows "same" in all
lines; of one that does, each call is named, with the posterior sds by which its means move.
"""

import argparse
import hashlib
import itertools
import json
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SEED = 1
BRIEF = dict(draws=60, chains=2)
MIXES = dict(warmup=80, thin=1)  # nothing that is compared depends on how well chains mix

# outcome, verb and further arguments
FAMILIES = {
    "ols": ("real", "ols", {}),
    "rlm": ("real", "rlm", {}),
    "quantreg": ("real", "quantreg", {"tau": 0.3}),
    "logit": ("binary", "logit", {}),
    "probit": ("binary", "probit", {}),
    "cloglog": ("binary", "cloglog", {}),
    "cauchit": ("binary", "cauchit", {}),
    "poisson": ("count", "poisson", {}),
    "negativebinomial": ("count", "negativebinomial", {}),
    "gamma": ("positive", "glm", {"family": "gamma", "link": "log"}),
    "inversegaussian": ("positive", "inversegaussian", {}),
    "beta": ("share", "beta", {}),
    "mnlogit": ("kind", "mnlogit", {}),
    "ordinal": ("grade", "ordinal", {}),
    "zeroinflated": ("count", "zeroinflated", {}),
    "hurdle": ("count", "hurdle", {}),
    "survreg": ("Surv(positive, t)", "survreg", {}),
}
TERMS = {
    "numbers": "x + t",
    "levels": "x + f + C(k)",
    "interaction": "x * f + poly(q, 2)",
    "wide factor": "x + C(w):C(k) + C(s)",
    "(1 | s)": "x + t + (1 | s)",
    "(x | s)": "x + (x | s)",
    "nested": "x + (1 | s / v)",
    "crossed": "x + (1 | s) + (1 | u)",
    "crossed slopes": "t + (x | s) + (1 | u)",
    "smooth": "t + s(q, k=6)",
    "smooth and groups": "t + s(q, k=6) + (1 | s)",
}
PRIORS = {
    "default prior": {},
    "flat": {"prior": "flat"},
    "student_t": {"prior": "student_t(3, 0, 1)"},
    "laplace": {"prior": "laplace(0, 1)"},
    "ends": {"prior": {"x": "half_normal(2)"}},
    "horseshoe": {"prior": "horseshoe()"},
    "ridge": {"prior": "ridge()"},
}
SAMPLERS = {
    "auto": {},
    "laplace": {"sampler": "laplace"},
    "mala": {"sampler": "mala", **MIXES},
    "nuts": {"sampler": "nuts", **MIXES},
    "imh": {"sampler": "imh"},
    "esgbd": {"sampler": "esgbd", **MIXES},
    "sgld-cv": {"sampler": "sgld-cv", **MIXES},
    "sghmc": {"sampler": "sghmc", **MIXES},
    "zzss": {"sampler": "zzss"},
}
BESIDE = {
    "nothing": {},
    "weights": {"weights": "w"},
    "offset": {"offset": "o"},
    "robust": {"cov_type": "robust"},
    "clustered": {"cov_type": "cluster", "groups": "s"},
    "float32": {"dtype": "float32"},
    "search": {"modes": "search"},
    "raw": {"precondition": None},
    "update": {},
    "updated": {},
}
FACTORS = dict(family=FAMILIES, terms=TERMS, prior=PRIORS, sampler=SAMPLERS, beside=BESIDE)


def calls():
    """Return calls, as one setting of each factor, so that each pair of settings is in one.

    Pairs are put one after the other into the first call that still has room for them, and what
    remains open is filled at random.
    """
    choose, found = random.Random(SEED), []
    for first, second in itertools.combinations(FACTORS, 2):
        pairs = list(itertools.product(FACTORS[first], FACTORS[second]))
        choose.shuffle(pairs)
        for a, b in pairs:
            for call in found:
                if call.get(first, a) == a and call.get(second, b) == b:
                    call.update({first: a, second: b})
                    break
            else:
                found.append({first: a, second: b})
    for call in found:
        for name, settings in FACTORS.items():
            call.setdefault(name, choose.choice(list(settings)))
    return [{name: call[name] for name in FACTORS} for call in found]


def table(n, seed):
    """Return rows of which each family has an outcome."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    d = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "q": rng.uniform(-2, 2, n),
            "t": rng.integers(0, 2, n).astype(float),
            "k": rng.integers(0, 3, n),
            "f": rng.choice(["low", "mid", "top"], n),
            "s": rng.integers(0, 12, n),
            "u": rng.choice(list("pqrstvw"), n),
            "v": rng.choice(list("ab"), n),
            "w": rng.integers(1, 4, n),
            "o": rng.uniform(-0.7, 0.7, n),
        }
    )
    eta = 0.3 + 0.5 * d.x - 0.4 * d.t + 0.5 * (d.f == "mid") + np.sin(2 * d.q) / 2
    eta = eta + 0.5 * np.sin(3 * d.s) + 0.3 * (d.u == "q") + d.o / 2
    d["real"] = 3 + 2 * eta + rng.normal(size=n)
    d["binary"] = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    d["count"] = rng.poisson(np.exp(eta)) * (rng.random(n) < 0.8)
    d["positive"] = np.exp(eta) * rng.gamma(3, size=n) / 3
    d["share"] = rng.beta(2 / (1 + np.exp(-eta)) + 0.3, 1.5)
    d["kind"] = rng.choice(["ape", "bee", "cat"], n)
    d["grade"] = np.digitize(eta + rng.logistic(size=n), [0.0, 1.2])
    return d


def priors(words):
    """Return priors of their words: the module is another one in each tree."""
    import sgmc

    if isinstance(words, dict):
        return {name: priors(one) for name, one in words.items()}
    return sgmc.flat() if words == "flat" else eval(f"sgmc.{words}", {"sgmc": sgmc})


def digest(*arrays):
    """Return a hash of the bits of arrays."""
    found = hashlib.sha256()
    for one in arrays:
        found.update(np.ascontiguousarray(one).tobytes())
    return found.hexdigest()[:16]


def fitted(call, data, more):
    """Return the results of a call."""
    import sgmc

    outcome, verb, given = FAMILIES[call["family"]]
    prior = PRIORS[call["prior"]]
    given = given | {name: priors(one) for name, one in prior.items()}
    how = BRIEF | SAMPLERS[call["sampler"]] | BESIDE[call["beside"]] | {"seed": SEED}
    fit = getattr(sgmc, verb)(f"{outcome} ~ {TERMS[call['terms']]}", data, **given, **how)
    if call["beside"] == "update":
        return fit.update(more, **(BRIEF | SAMPLERS[call["sampler"]] | {"seed": SEED}))
    return fit.resume(draws=20) if call["beside"] == "updated" else fit


SIMPLER = {"beside": "nothing", "prior": "default prior", "sampler": "auto"}


def simplified(call):
    """Yield a call, and simpler ones."""
    yield call
    for name, setting in SIMPLER.items():
        if call[name] != setting:
            call = call | {name: setting}
            yield call


def kept(call, data, more):
    """Return what is compared of a call."""
    from sgmc.errors import SGMCError

    refused = []
    for one in simplified(call):
        try:
            fit = fitted(one, data, more)
        except SGMCError as error:
            refused.append(f"{type(error).__name__}: {error}")
        else:
            return {"refused": refused} | numbers(one, fit, more)
    return {"refused": refused}


def numbers(call, fit, more):
    """Return what is compared of results."""
    from sgmc.errors import SGMCError

    offset = {"offset": more.o.to_numpy()} if call["beside"] == "offset" else {}
    draws = np.asarray(fit.flat)
    found = {
        "draws": digest(draws),
        "mean": list(draws.mean(axis=0)),
        "sd": list(draws.std(axis=0)),
    }
    found["summary"] = digest(fit.summary_frame().to_csv().encode())
    found["verdict"] = str(fit.verdict)
    found["warnings"] = sorted(type(one).__name__ for one in fit.warnings)
    try:
        found["predict"] = digest(np.asarray(fit.predict(more, **offset), dtype=float))
        if "|" in TERMS[call["terms"]]:
            ranef = fit.ranef()
            each = ranef.values() if isinstance(ranef, dict) else [ranef]
            found["ranef"] = digest(*(one.to_numpy() for one in each))
    except SGMCError as error:
        found["unknown"] = f"{type(error).__name__}: {error}"
    return found


def measure(only):
    """Return {call: what is kept of it} of the tree that is first in the path."""
    data, more = table(240, 5), table(50, 6)
    found = {}
    for call in calls():
        name = " | ".join(call.values())
        if only in name:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    found[name] = kept(call, data, more)
                except Exception as error:  # a fault: it is compared, too
                    found[name] = {"fault": f"{type(error).__name__}: {error}"}
            print(name, *found[name].values(), sep="  ", file=sys.stderr)
    return found


def compare(before, after):
    """Print what differs, and return whether anything does."""
    same = 0
    for name in before.keys() | after.keys():
        a, b = before.get(name, {}), after.get(name, {})
        if a == b:
            same += 1
            continue
        differ = [key for key in a.keys() | b.keys() if a.get(key) != b.get(key)]
        moved = ""
        if "mean" in differ and len(a.get("mean", ())) == len(b.get("mean", ())):
            apart = np.abs(np.subtract(a["mean"], b["mean"])) / np.maximum(a["sd"], 1e-300)
            moved = f"means move by up to {apart.max():.2g} sd"
        print(name, ": ", ", ".join(sorted(differ)), " ", moved, sep="")
        for key in ("refused", "unknown", "fault"):
            if key in differ:
                print("   ", a.get(key, "-"), "\n    ->", b.get(key, "-"))
    print(f"{same} of {len(before.keys() | after.keys())} are the same")
    return same < len(before.keys() | after.keys())


def main():
    """Measure a tree, or compare two files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--tree", type=Path, default=ROOT)
    parser.add_argument("--only", default="", help="calls with this in their name")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if len(options.files) == 2:
        return compare(*(json.loads(one.read_text()) for one in options.files))
    if options.here:
        options.files[0].write_text(json.dumps(measure(options.only), indent=1))
        return 0
    paths = [str(options.tree), os.environ.get("PYTHONPATH", "")]
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, str(options.files[0].resolve()), "--here"]
    command += ["--only", options.only]
    return subprocess.run(command, env=found, cwd=options.tree).returncode


if __name__ == "__main__":
    sys.exit(main())
