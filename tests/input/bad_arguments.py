"""Rows of the bad-input table: arguments of a fit; priors, samplers, schedules."""

import numpy as np
import pandas as pd

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported

from .cases import Entry, N, series, shown

# ---- arguments of a fit --------------------------------------------------------------------------

ARGUMENTS = [
    (dict(sampler="sgdl"), ArgumentError, "sampler='sgdl' is not known; did you mean 'sgld'?"),
    (dict(sampler="gibbs"), ArgumentError, "sampler='gibbs' is not known; known: "),
    (dict(sampler=""), ArgumentError, "sampler=''"),
    (dict(sampler=3), ArgumentError, "sampler=3 must be a name such as 'sgld'"),
    (dict(sampler=None), ArgumentError, "sampler=None"),
    (dict(sampler="sgld-vc"), ArgumentError, "sampler='sgld-vc'"),
    (
        dict(sampler="sgld-cv", gradient="simple"),
        ArgumentError,
        "sampler='sgld-cv' names the gradient 'cv', but gradient='simple'",
    ),
    (
        dict(gradient="tailor"),
        ArgumentError,
        "gradient='tailor' is not known; did you mean 'taylor'?",
    ),
    (dict(gradient=3), ArgumentError, "gradient=3"),
    (dict(sampler="mala", gradient="cv"), ArgumentError, "gradient='cv' does not apply to mala"),
    (dict(sampler="mala-cv"), ArgumentError, "does not apply to mala"),
    (
        dict(sampler="laplace", gradient="cv"),
        ArgumentError,
        "gradient='cv' does not apply to laplace",
    ),
    (
        dict(subsample="blocks"),
        ArgumentError,
        "subsample='blocks' is not known; did you mean 'block'?",
    ),
    (
        dict(subsample="stratify"),
        ArgumentError,
        "subsample='stratify' is not known; did you mean 'stratified'?",
    ),
    (
        dict(subsample="preferred"),
        ArgumentError,
        "subsample='preferred' is not known; did you mean 'preferential'?",
    ),
    *[
        (
            dict(sampler="sgld", subsample=v, batch_size=N + 1),
            ArgumentError,
            f"batch_size={N + 1} exceeds the {N} rows",
        )
        for v in ("preferential", "stratified")
    ],
    (
        dict(sampler="sgld", batch_size=N + 1),
        ArgumentError,
        f"batch_size={N + 1} exceeds the {N} rows",
    ),
    (dict(sampler="mala", batch_size=10), ArgumentError, "batch_size does not apply to mala"),
    *[
        (
            dict(sampler=one, subsample="uniform"),
            ArgumentError,
            f"subsample='uniform' does not apply to {one}: it uses {rows}; leave it, or use a",
        )
        for one, rows in (
            ("mala", "all rows at each step"),
            ("nuts", "all rows at each step"),
            ("mhss", "as many rows as its bounds ask for"),
            ("laplace", "no rows for its draws"),
        )
    ],
    *[
        (dict(batch_size=v), ArgumentError, f"batch_size={v!r} must be a whole number")
        for v in (0, -1, 2.5, "10", True)
    ],
    *[
        (dict(step_size=v), ArgumentError, f"step_size={v!r}")
        for v in (0, -0.1, float("inf"), float("nan"), "0.1", True)
    ],
    *[
        (dict(draws=v), ArgumentError, f"draws={v!r} must be a whole number")
        for v in (0, -5, 10.0, None)
    ],
    (dict(draws="100"), ArgumentError, "draws='100' must be 'auto', or a whole number"),
    *[
        (dict(chains=v), ArgumentError, f"chains={v!r} must be a whole number")
        for v in (0, -1, 1.5, None)
    ],
    *[(dict(thin=v), ArgumentError, f"thin={v!r} must be a whole number") for v in (0, -1, 1.5)],
    *[(dict(warmup=v), ArgumentError, f"warmup={v!r} must be a whole number") for v in (-1, 1.5)],
    (dict(warmup="10"), ArgumentError, "warmup='10' must be 'threshold', or a whole number"),
    (
        dict(warmup="treshold"),
        ArgumentError,
        "warmup='treshold' must be 'threshold', or a whole number of steps; did you mean",
    ),
    (
        dict(warmup="threshold", sampler="mala"),
        ArgumentError,
        "warmup='threshold' does not apply to mala: its gradients have no noise",
    ),
    (
        dict(warmup="threshold", sampler="sgld-simple", step_size=1.0, batch_size=5),
        ArgumentError,
        "warmup='threshold': alpha, the gradient's noise over the noise injected, is ",
    ),
    (
        dict(batch_size="adaptive", sampler="hmc"),
        ArgumentError,
        "batch_size='adaptive' does not apply to hmc: it uses all rows",
    ),
    (
        dict(batch_size="adaptive", sampler="sgld", warmup=0),
        ArgumentError,
        "batch_size='adaptive' learns the size in warmup",
    ),
    (
        dict(batch_size="adaptiv"),
        ArgumentError,
        "batch_size='adaptiv' must be a whole number, at least 1",
    ),
    (
        dict(strata="g"),
        ArgumentError,
        "strata does not apply to subsample='block'; give subsample='stratified'",
    ),
    (
        dict(strata="gg", subsample="stratified"),
        DataError,
        "strata='gg' is not a column of the data; did you mean 'g'?",
    ),
    (
        dict(strata=np.ones(3), subsample="stratified"),
        DataError,
        "strata has 3 values, the data have 200 rows",
    ),
    (
        dict(strata=np.arange(N).astype(str), subsample="stratified"),
        DataError,
        f"strata has {N} levels; at most 32: join some of them",
    ),
    (
        dict(strata=np.arange(N) % 9, subsample="stratified", batch_size=8),
        ArgumentError,
        "batch_size=8 is less than the 9 strata",
    ),
    *[
        (dict(threads=v), ArgumentError, f"threads={v!r} must be a whole number")
        for v in (0, -2, 1.5)
    ],
    *[
        ({name: 10**30}, ArgumentError, f"{name}={10**30} is too many: at most 1e+12")
        for name in ("thin", "warmup", "draws")
    ],
    *[
        (
            {name: v},
            ArgumentError,
            f"{name}={v!r} must be a whole number, at least 0, or a numpy SeedSequence, "
            "BitGenerator or Generator",
        )
        for name in ("seed", "rng")
        for v in (-1, 1.5, "1", True, [1, 2])
    ],
    *[
        (dict(time_limit=v), ArgumentError, f"time_limit={v!r} must be a positive number")
        for v in (0, -1, "5", float("nan"))
    ],
    *[
        (dict(max_data_passes=v), ArgumentError, f"max_data_passes={v!r} must be a positive number")
        for v in (0, -1, "5")
    ],
    *[
        (dict(dtype=v), ArgumentError, "dtype=")
        for v in ("float16", "int64", int, None, "double precision")
    ],
    *[
        (
            dict(precondition=v),
            ArgumentError,
            f"precondition={v!r} must be one of 'mode', 'dense', 'diag', None",
        )
        for v in ("full", 1, "None", True)
    ],
    (dict(precondition=["mode"]), ArgumentError, "precondition="),
    (
        dict(init=[0.0, 0.0]),
        ArgumentError,
        lambda case: f"init has shape (2,); it must be ({case.d},) or (4, {case.d})",
    ),
    (dict(init=np.zeros((3, 5))), ArgumentError, "init has shape (3, 5)"),
    (dict(init=1.0), ArgumentError, "init has shape (1,)"),
    *[
        (dict(init=v), ArgumentError, "init")
        for v in (
            ["a", "b", "c"],
            ["0", "0", "0"],
            [0.0, float("nan"), 0.0],
            {"x1": 0},
            np.zeros(3, complex),
            np.ma.masked_less(np.zeros(3), 1),
        )
    ],
    (
        dict(init=pd.Series(0.0, ["x2", "x1", "Intercept"])),
        ArgumentError,
        lambda case: (
            "init is labelled x2, x1, Intercept; it must be "
            f"{', '.join(['Intercept', 'x1', 'x2', *case.auxiliary])}, in this order"
        ),
    ),
    (
        dict(draws=12_000_000),
        ArgumentError,
        lambda case: (
            "draws=12000000 in 4 chains of "
            f"{case.d} parameters are {384e6 * case.d / 2**30:.1f} GB, over the limit of 1 GB"
        ),
    ),
    (dict(checkpoint=3), ArgumentError, "checkpoint=3 must be a path"),
    (
        dict(checkpoint="nowhere/run"),
        ArgumentError,
        "checkpoint='nowhere/run' must be a file in a folder that exists",
    ),
    (
        dict(max_data_passes=0.001),
        ArgumentError,
        "max_data_passes=0.001 is used up before the first draw",
    ),
    *[
        (dict(cov_type=v), NotSupported, f"cov_type={v!r} must be")
        for v in ("HC0", None, ["robust"], True)
    ],
    *[
        (
            dict(cov_type="robust", sampler=s),
            NotSupported,
            f"cov_type='robust' with sampler={s!r}: its accept-reject step",
        )
        for s in ("mala", "barker", "hmc", "rwm")
    ],
    (
        dict(cov_type="robust", sampler="sgrld"),
        NotSupported,
        "cov_type='robust' with sampler='sgrld': its metric",
    ),
    *[
        (
            dict(cov_type="robust", precondition=p),
            NotSupported,
            f"cov_type='robust' with precondition={p!r}",
        )
        for p in ("diag", None)
    ],
    (
        dict(tune="mmba"),
        ArgumentError,
        "tune='mmba' must be one of 'mamba', 'grid', 'default', 'heuristic', or what sgmc.tune "
        "returned; did you mean 'mamba'?",
    ),
    (
        dict(tune=5),
        ArgumentError,
        "tune=5 must be one of 'mamba', 'grid', 'default', 'heuristic', or what sgmc.tune "
        "returned; steps before the draws are warmup=",
    ),
    *[(dict(progress=v), ArgumentError, f"progress={v!r}") for v in ("yes", 1, [True])],
    (dict(prior="norml"), ArgumentError, "prior='norml' is not a prior"),
    (dict(prior="normal(0, 1)"), ArgumentError, "is text: write sgmc.normal(0, 1), without"),
    (
        dict(prior={"x1": "half_normal"}),
        ArgumentError,
        "prior['x1']='half_normal' is text: write sgmc.half_normal(), without quotes",
    ),
    (dict(prior=2.5), ArgumentError, "prior=2.5 is not a prior"),
    (
        dict(prior={"x3": "normal"}),
        ArgumentError,
        "prior: 'x3' is neither a term nor a column of the design; columns are: Intercept, x1, x2",
    ),
    (dict(prior={"intercept": "normal"}), ArgumentError, "did you mean 'Intercept'?"),
    (dict(prior={"x1": 1}), ArgumentError, "prior['x1']=1 is not a prior"),
    (dict(prior=sgmc.SGLD()), ArgumentError, "is not a prior"),
    (dict(subset="x1 >"), DataError, "subset='x1 >'"),
    (dict(subset="x1 > 100"), DataError, "the subset has no row"),
    (dict(subset=np.ones(3, bool)), DataError, "subset has 3 values, the data have 200 rows"),
    (
        dict(subset=lambda df: df.x1),
        DataError,
        "subset must be true or false in each row, not float64",
    ),
    (dict(subset=lambda df: True), DataError, "subset must be a column name or one value a row"),
    (
        dict(subset=lambda df: (df.x1 > 0)[::-1]),
        DataError,
        "data and subset have different indices",
    ),
    (dict(missing="keep"), ArgumentError, "missing='keep' must be one of 'drop', 'raise'"),
    (dict(weights="ww"), DataError, "weights='ww' is not a column of the data; did you mean 'w'?"),
    (dict(weights=np.ones(3)), DataError, "weights has 3 values, the data have 200 rows"),
    (dict(weights=-np.ones(N)), DataError, "weights must be finite numbers, zero or more"),
    (dict(weights=np.zeros(N)), DataError, "weights must be finite numbers"),
    (dict(weights="g"), DataError, "weights must be numeric"),
    (dict(weights=["1"] * N), DataError, "weights must be numeric"),
    (dict(weights=np.ma.masked_less(np.ones(N), 2)), DataError, "weights has masked values"),
    (dict(weights=series(np.ones(N))), DataError, "data and weights have different indices"),
    (dict(offset=np.full(N, np.inf)), DataError, "offset must be finite"),
    (dict(offset=series(np.ones(N))), DataError, "data and offset have different indices"),
    (dict(offset=np.ones((N, 2))), DataError, "offset must be a column name or one value a row"),
    (
        dict(sampel="sgld"),
        TypeError,
        "unexpected keyword argument 'sampel'; did you mean 'sampler'?",
    ),
    (dict(drawz=10), TypeError, "unexpected keyword argument 'drawz'; did you mean 'draws'?"),
    (dict(family="binomial"), TypeError, "unexpected keyword argument 'family'"),
]
OF_FIT = [
    Entry(f"fit({shown(a)})", lambda case, a=a: case.fit(**a), error, text)
    for a, error, text in ARGUMENTS
]

# ---- priors, samplers, schedules -----------------------------------------------------------------

OF_OBJECTS = [
    Entry(
        label,
        lambda case, label=label: eval(label, {"sgmc": sgmc, "np": np, "case": case}),
        ArgumentError,
        text,
    )
    for label, text in [
        ("sgmc.normal(0, 0)", "normal: scale=0 must be a positive number; use flat() for no prior"),
        ("sgmc.normal(0, -1)", "normal: scale=-1"),
        ("sgmc.normal(np.nan, 1)", "normal: location=nan must be a finite number"),
        ("sgmc.laplace(0, np.inf)", "laplace: scale=inf"),
        ("sgmc.student_t(0)", "student_t: df=0 must be a positive number"),
        ("sgmc.cauchy(0, np.nan)", "cauchy: scale=nan"),
        ("sgmc.normal('a')", "normal: location='a'"),
        ("sgmc.normal(0, 'b')", "normal: scale='b'"),
        ("sgmc.student_t('a')", "student_t: df='a'"),
        ("sgmc.MALA(target=0.5)", "MALA has no parameter 'target'; did you mean 'target_accept'?"),
        (
            "sgmc.MALA(target_accept=1.5)",
            "MALA: target_accept=1.5 must be a number between 0 and 1",
        ),
        ("sgmc.MALA(integrator='verlet')", "MALA: integrator='verlet' must be one of"),
        ("sgmc.VSGBD(increment=3)", "VSGBD: increment=3 must be one of"),
        ("sgmc.CSGBD(beta=float('nan'))", "CSGBD: beta=nan"),
        ("sgmc.SGLD(friction=1)", "SGLD has no parameter 'friction'; it has: none"),
        ("sgmc.Constant(0)", "Constant: h=0 must be a positive number"),
        ("sgmc.Constant('a')", "Constant: h='a'"),
        ("sgmc.Polynomial(-1, 1, 0.5)", "Polynomial: a=-1"),
        ("sgmc.Polynomial(1, 0, 0.5)", "Polynomial: b=0"),
        ("sgmc.Polynomial(1, 1, np.nan)", "Polynomial: gamma=nan must be a finite number"),
        (
            "sgmc.Polynomial.between(0.1, 0.1, 10)",
            "Polynomial.between: end=0.1 must be less than start=0.1",
        ),
        (
            "sgmc.Polynomial.between(1, 0, 10)",
            "Polynomial.between: end=0 must be a positive number",
        ),
        ("sgmc.Polynomial.between(1, 0.1, 0)", "Polynomial.between: steps=0"),
        ("sgmc.Polynomial.between(1, 0.1, 10, -1)", "Polynomial.between: gamma=-1"),
        (
            "sgmc.Polynomial.between(1, 0.1, 10, 1e-4)",
            "Polynomial.between: gamma=0.0001 cannot lead from 1.0 to 0.1 in 10 steps",
        ),
        ("sgmc.Cyclical(-1, 10)", "Cyclical: h=-1 must be a positive number"),
        ("sgmc.Cyclical(1, 'a')", "Cyclical: period='a'"),
        ("sgmc.Cyclical(1, 0)", "Cyclical: period=0 must be a whole number, at least 1"),
        ("sgmc.Cyclical(1, 2.5)", "Cyclical: period=2.5 must be a whole number, at least 1"),
        (
            "sgmc.Cyclical(1, 1e13)",
            "Cyclical: period=10000000000000 is too many: at most 1e+12",
        ),
        ("sgmc.register(object)", "object is neither a sampler specification"),
        ("sgmc.sample('model')", "sample needs a model"),
        ("sgmc.sample(case.frame)", "sample needs a model"),
        ("sgmc.load(3)", "load needs the path of a file, not 3"),
        ("sgmc.load(None)", "load needs the path of a file, not None"),
    ]
]
