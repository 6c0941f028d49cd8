"""What does not go with data in partitions, and why."""

from sgmc.cluster.recipe import BESIDE
from sgmc.errors import ArgumentError, NotSupported
from sgmc.formula.evaluation.functions import CALLS_IN_PART
from sgmc.priors import JointNormal, PriorSpec, learns

SEVERAL_NUMBERS = "an outcome is one number a row there, and these have several"
READ = "read the columns of the formula into one table"
MOST_PARAMETERS = 2000  # of which a partition returns p^2 numbers


def refuse_family(family):
    """NotSupported for families of which partitions have no sums of one design and one number a
    row.
    """
    for wrong, why in (
        (family.parts, "it has two designs, and sums of a partition are of one"),
        (family.working, "its covariance needs the scores of all rows in one place"),
        (family.outcome == "survival", SEVERAL_NUMBERS),
        (family.outcome == "ordered", "its thresholds are those of the levels of all rows"),
    ):
        if wrong:
            refuse(f"{family.name}: {why}; {READ}")


def refuse_in_part(parsed):
    """NotSupported for responses that are known in part."""
    if parsed.response.startswith(CALLS_IN_PART):
        refuse(f"censored and truncated outcomes: {SEVERAL_NUMBERS}; {READ}")


def refuse(text):
    """NotSupported, by name."""
    raise NotSupported(f"data in partitions do not go with {text}")


def refuse_inputs(inputs):
    """ArgumentError or NotSupported for arguments of ``from_formula``; those of files are taken
    out.
    """
    for name in BESIDE:
        if inputs[name] is not None and not isinstance(inputs[name], str):
            raise ArgumentError(
                f"{name} must be the name of a column for data in partitions, not an array: an "
                "array has no partitions"
            )
    subset = inputs["subset"]
    if not (subset is None or isinstance(subset, str) or callable(subset)):
        raise ArgumentError(
            "subset must be an expression, a column name or a function for data in partitions, not "
            "an array"
        )
    if inputs["strata"] is not None:
        refuse("strata: mini-batches are drawn from a uniform sample of the rows; leave it out")
    if inputs["groups"] is not None:
        refuse("groups: a cluster of rows may be in several of them; leave it out")
    for name in ("cache", "memory_limit"):
        if inputs.pop(name) is not None:
            raise ArgumentError(
                f"{name} does not apply to data in partitions: they are read where they are; leave "
                "it out"
            )
    if inputs["nodes"] is not None:
        raise ArgumentError(f"nodes={inputs['nodes']!r} applies to terms such as (1 | g)")


def refuse_fit(model, prior, settings):
    """NotSupported for settings that need every row on this machine."""
    names = model.parameter_names()
    if len(names) > MOST_PARAMETERS:
        raise NotSupported(
            f"{len(names)} parameters are more than {MOST_PARAMETERS}: every partition returns a "
            "matrix of them; join rare levels, or leave columns out",
            because="limit",
        )
    given = prior.values() if isinstance(prior, dict) else [prior]
    elsewhere = any(isinstance(one, JointNormal) or getattr(one, "cut", False) for one in given)
    shrinks = any(one.family == "horseshoe" for one in specs_of(prior))
    named = repr(prior) if isinstance(prior, str) else str(prior)
    for wrong, text in (
        (
            learns(prior) or shrinks or elsewhere,
            f"prior={named}: what partitions are asked for is made from one Gaussian around the "
            "mode; use sgmc.normal(0, 2.5)",
        ),
        (
            settings.robust,
            f"cov_type={settings.cov_type!r}, which needs the scores of all rows: leave "
            "cov_type='nonrobust'",
        ),
        (
            settings.modes == "search",
            "modes='search': each start would take passes over all partitions; leave modes='one'",
        ),
        (settings.prior_only, "prior_only=True: give a part of the rows as a table"),
        (
            settings.sampler is not None and settings.sampler.continuous,
            "piecewise-deterministic samplers, which need bounds on the slopes of all rows: leave "
            "sampler='auto', or use 'lmsgld', 'mala' or 'hmc'",
        ),
    ):
        if wrong:
            refuse(text)


def specs_of(prior):
    """The specifications in what a user gave as prior."""
    given = list(prior.values()) if isinstance(prior, dict) else [prior]
    if "horseshoe" in given:
        from sgmc.priors import horseshoe

        given.append(horseshoe())
    return [one for one in given if isinstance(one, PriorSpec)]
