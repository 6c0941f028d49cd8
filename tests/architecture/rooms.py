"""The rooms of the package: what belongs in each, and what it may import.

A new thing goes into the room whose line describes it.  A file may import the rooms named in its
room's line, and files of its own room unless the room is one of LEAVES.  The table is complete:
there are no exceptions to it.
"""

# what nearly every room stands on
BELOW = "elsewhere spelling errors version arguments priors core registry"

# room: (what belongs there, what it may import)
TABLE = {
    "errors": ("every exception and warning", ""),
    "version": ("the version", ""),
    "spelling": ("which of the known names a misspelt one is", ""),
    "elsewhere": ("names that other packages have for what is here", "spelling"),
    "arguments": (
        "every check of an argument; the table of fit keywords",
        "errors elsewhere spelling",
    ),
    "priors": ("prior specifications, as users write them", "errors elsewhere arguments"),
    "core": (
        "contracts that all rooms share, storage, random streams, the loop over steps",
        "errors arguments",
    ),
    "registry": ("names to classes", "errors arguments core"),
    "subsampling": ("a file per scheme that draws the rows of a mini-batch", "errors core"),
    "gradients": ("a file per gradient estimator", "errors core"),
    "coordinates": (
        "from a posterior to sampler coordinates: maps, constraints, metrics, modes, priors",
        BELOW + " subsampling gradients",
    ),
    "samplers/bases": ("what several samplers share", "errors core coordinates"),
    "samplers": ("a file per family of dynamics", "errors core coordinates samplers/bases"),
    "diagnostics": ("numbers from plain arrays of draws and scores", "errors arguments"),
    "splines": (
        "what kinds of penalised terms share: bases of curves, columns of designs made of them",
        "errors arguments core",
    ),
    "terms": ("a file per kind of penalised term", "errors arguments core splines"),
    "formula": (
        "formulas and tables to designs and outcomes",
        "errors arguments core registry splines",
    ),
    "saved": (
        "objects as arrays and plain values, for files that execute nothing when they are opened",
        BELOW + " formula",
    ),
    "sources": (
        "where rows come from: files, folders, tables of other libraries, in chunks",
        "errors arguments formula",
    ),
    "prepared": (
        "tables in sealed files: first pass, writing, opening",
        "errors version arguments core formula saved sources",
    ),
    "datasets": ("data sets by name", "errors elsewhere arguments"),
    "plots": ("figures from plain arrays", "errors arguments diagnostics"),
    "fit": (
        "from a problem to draws: settings, noise, plan, chains, checkpoints, what they leave",
        BELOW + " subsampling gradients coordinates samplers/bases samplers diagnostics",
    ),
    "results": (
        "what a fit gives back; `report`: summary, verdict, warnings",
        BELOW + " subsampling coordinates diagnostics formula saved sources plots fit",
    ),
    "results/effects": (
        "effects on the scale of the outcome: predictions, comparisons, slopes, marginal effects",
        BELOW + " diagnostics formula plots results",
    ),
    "tuning": ("races of samplers' settings", BELOW + " diagnostics plots fit results"),
    "models": ("a folder per model, each with a line of its own here", ""),
    "models/bases/start": (
        "where chains of models that are not regressions begin, and with what steps",
        BELOW + " coordinates fit",
    ),
    "models/bases": (
        "the base of models that are not regressions, for the package's own and users'",
        BELOW + " subsampling coordinates diagnostics fit results tuning models/bases/start",
    ),
    "models/regression/bases/functions": (
        "log-gamma functions without cancellation, and what counts have of them",
        "",
    ),
    "models/mixed": (
        "the covariance of a group's effects, compiled, where users' modules cimport it",
        "",
    ),
    "models/regression/bases": (
        "the base of families, and of their compiled models",
        BELOW + " coordinates",
    ),
    "models/regression/bases/in_part": (
        "the base of families whose outcomes are censored or truncated",
        BELOW + " models/regression/bases/functions models/regression/bases",
    ),
    "models/regression/bases/predictors": (
        "the base of families of several linear predictors",
        BELOW + " models/regression/bases/functions models/regression/bases",
    ),
    "models/regression/rows": (
        "outcomes and design, checked, as rows of one table; few rows, or sums, that say the same",
        BELOW + " coordinates formula prepared fit results models/mixed models/regression/bases",
    ),
    "models/regression/mode": (
        "searches for the posterior mode: a first guess, bounds, check loss, modes at infinity",
        BELOW + " coordinates diagnostics formula models/regression/bases models/regression/rows",
    ),
    "models/regression": (
        "regressions: model, posterior, results, priors alone, fits made again",
        BELOW + " coordinates diagnostics formula prepared fit results results/effects tuning"
        " models/regression/bases models/regression/bases/predictors"
        " models/regression/rows models/regression/mode",
    ),
    "models/regression/families": (
        "a file per family: compiled model, outcomes, class; the verb comes by itself",
        BELOW + " models/regression/bases models/regression/bases/functions"
        " models/regression/bases/in_part models/regression/bases/predictors"
        " models/regression/mode models/regression",
    ),
}
MODEL = (
    BELOW + " coordinates samplers samplers/bases diagnostics formula fit results"
    " models/bases/start models/bases"
)
TABLE |= {
    f"models/{name}": (f"{what}: model, compiled kernels, data, results", MODEL)
    for name, what in {
        "communities": "networks of communities (MMSB)",
        "factorization": "matrix factorisation (BPMF, PPMF)",
        "hmm": "sequences (HMM, LinearGaussian)",
        "ica": "independent components",
        "lda": "topics",
        "mixture": "mixtures",
        "network": "neural networks",
        "user": "users' models in JAX or compiled; the check of a model",
    }.items()
}
TABLE["models/hmm/volatility"] = (
    "stochastic volatility, on a grid or by particles: model, kernels, results",
    MODEL + " models/hmm",
)
ROOM = "models/regression"
LATENT = f"{ROOM}/latent"
REGRESSION = (
    BELOW + f" coordinates fit formula results {ROOM}/bases {ROOM}/bases/predictors"
    f" {ROOM}/rows {ROOM}/mode {ROOM}"
)
TABLE |= {
    LATENT: ("a folder per way of treating effects, each with a line of its own here", ""),
    f"{LATENT}/densities": (
        "compiled densities: of groups, effects integrated out; of effects; of these given rows",
        f"errors arguments core models/mixed {ROOM}/bases",
    ),
    f"{LATENT}/covariance": (
        "what effects are called; sds and correlations: priors, signs, what groups say of them",
        BELOW + f" coordinates splines models/mixed {ROOM} {LATENT}/densities",
    ),
    f"{LATENT}/effects": (
        "draws of effects given other parameters; rows, tables, figures and files that have them",
        BELOW + f" diagnostics formula plots results {ROOM}/bases/predictors {LATENT}/densities",
    ),
    f"{LATENT}/integrated": (
        "effects integrated out: groups as rows, mode, coordinates, posterior, model, results",
        REGRESSION
        + f" diagnostics models/mixed {LATENT}/densities {LATENT}/covariance {LATENT}/effects",
    ),
    f"{LATENT}/levels": (
        "coefficients of a factor's very many levels integrated out",
        REGRESSION
        + " diagnostics models/mixed"
        + f" {LATENT}/densities {LATENT}/effects {LATENT}/integrated",
    ),
    f"{LATENT}/sampled/blocks": (
        "coefficients and effects together: their design, its products, precisions as an arrow",
        BELOW + f" coordinates formula {ROOM}/rows {LATENT}/densities",
    ),
    f"{LATENT}/sampled/centre": (
        "where chains of effects begin: Laplace's approximation, and what it says of mixing",
        BELOW + f" coordinates {LATENT}/densities {LATENT}/sampled/blocks",
    ),
    f"{LATENT}/sampled/independent": (
        "effects and parameters drawn independently: exactly for normal outcomes, else proposed",
        BELOW + f" coordinates fit {ROOM}/rows {LATENT}/sampled/blocks {LATENT}/sampled/centre",
    ),
    f"{LATENT}/shrunk": (
        "coefficients whose prior scales are learned: density, centre, draws, posterior, model",
        REGRESSION,
    ),
    f"{LATENT}/sampled": (
        "effects of crossed factors and smooths among the parameters: posterior, model, results",
        REGRESSION
        + f" models/mixed {LATENT}/densities {LATENT}/covariance {LATENT}/effects"
        + f" {LATENT}/integrated {LATENT}/sampled/blocks {LATENT}/sampled/centre"
        + f" {LATENT}/sampled/independent {LATENT}/shrunk",
    ),
    f"{ROOM}/updated": (
        "regressions carried on with new rows: what is kept of earlier ones, posterior, results",
        REGRESSION + " diagnostics sources",
    ),
}
TABLE["cluster"] = (
    "regressions of rows in partitions on other machines: passes, reservoir, posterior, model",
    REGRESSION + " diagnostics",
)
TABLE |= {
    "sklearn": ("estimators for scikit-learn", BELOW + " formula models/regression/families"),
    "api": (
        "verbs, command line, public names",
        BELOW + " datasets formula sources prepared fit results tuning"
        " models/bases models/regression models/user",
    ),
    "": ("the package itself: its names, loaded at first use", "version elsewhere core api"),
}

# files of a folder, but for rooms of leaves: more of them are several subjects
MOST = 14

# folders in a room, a subject each, from below to above: a file imports none of those above its
# own, but for types; "" are the files of the room itself
PARTS = {
    "arguments": ("", "data", "declared"),
    "core": ("system", "numerics", "random", "targets", "", "designs"),
    "coordinates": (
        "transforms",
        "priors",
        "whitened",
        "approximations",
        "shapes",
        "independent",
        "identification",
    ),
    "samplers/bases": ("", "piecewise"),
    "diagnostics": ("chains", "scores", ""),
    "formula": ("data", "evaluation", "syntax", "designs", ""),
    "prepared": ("first_pass", "file", "writers", ""),
    "results/checks": ("scores", ""),
    "results/outcomes": ("data", "predicted", "criticism", ""),
}

# rooms of leaves: a file imports no other file of its room
LEAVES = ("subsampling", "gradients", "samplers", "models/regression/families", "terms")

# rooms that are entered by the front door only: others import the names that it exports
DOORS = {"fit": ("tuning",)}
