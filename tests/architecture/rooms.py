"""The rooms of the package: what belongs in each, and what it may import.

A new thing goes into the room whose line describes it.  A file may import the rooms named in its
room's line, and files of its own room unless the room is one of LEAVES.  The table is complete:
there are no exceptions to it.
"""

# what nearly every room stands on
BELOW = "elsewhere errors version arguments priors core registry"

# room: (what belongs there, what it may import)
TABLE = {
    "errors": ("every exception and warning", ""),
    "version": ("the version", ""),
    "elsewhere": ("names that other packages have for what is here", ""),
    "arguments": ("every check of an argument; the table of fit keywords", "errors elsewhere"),
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
    "models/bases": (
        "the base of models that are not regressions, for the package's own and users'",
        BELOW + " subsampling coordinates diagnostics fit results tuning",
    ),
    "models/regression/bases": (
        "the base of families, and of their compiled models",
        BELOW + " coordinates",
    ),
    "models/regression": (
        "regressions: data, posterior, results",
        BELOW + " coordinates diagnostics formula prepared fit results results/effects tuning"
        " models/regression/bases",
    ),
    "models/regression/families": (
        "a file per family: compiled model, outcomes, class; the verb comes by itself",
        BELOW + " models/regression models/regression/bases",
    ),
}
MODEL = BELOW + " coordinates samplers samplers/bases diagnostics formula fit results models/bases"
TABLE |= {
    f"models/{name}": (f"{what}: model, compiled kernels, data, results", MODEL)
    for name, what in {
        "communities": "networks of communities (MMSB)",
        "factorization": "matrix factorisation (BPMF, PPMF)",
        "hmm": "sequences (HMM, LinearGaussian, StochasticVolatility)",
        "ica": "independent components",
        "lda": "topics",
        "mixture": "mixtures",
        "network": "neural networks",
        "user": "users' models in JAX or compiled; the check of a model",
    }.items()
}
TABLE["models/mixed"] = (
    "regressions with grouped effects: densities of groups, model, results",
    MODEL + " plots models/regression models/regression/bases models/regression/families",
)
TABLE["models/crossed"] = (
    "regressions whose grouping factors cross, or with smooths: effects among the parameters",
    MODEL + " plots splines models/mixed models/regression models/regression/bases",
)
TABLE["models/scales"] = (
    "regressions whose prior scales are learned: density, centre, coordinates, model",
    MODEL + " models/regression models/regression/bases",
)
TABLE["models/updated"] = (
    "regressions carried on with new rows: what is kept of the earlier ones, posterior, results",
    MODEL + " sources models/regression",
)
TABLE["cluster"] = (
    "regressions of rows in partitions on other machines: passes, reservoir, posterior, model",
    BELOW
    + " coordinates diagnostics formula fit results models/regression models/regression/bases",
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

# rooms of leaves: a file imports no other file of its room
LEAVES = ("subsampling", "gradients", "samplers", "models/regression/families", "terms")

# rooms that are entered by the front door only: others import the names that it exports
DOORS = {"fit": ("tuning",)}
