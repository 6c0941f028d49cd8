"""Arguments that do not go together with a model that is no regression."""

from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit.parts import is_foreign


def refuse(model, settings):
    """NotSupported for arguments that do not go together with the model."""
    kernel, rows = model.kernel, settings.scheme
    if model.layout.size != kernel.dim:
        raise ArgumentError(
            f"parameters are {model.layout.size} numbers, the model has {kernel.dim}"
        )
    if rows.name == "block" and not model.shuffled:
        raise NotSupported(
            "subsample='block' takes neighbouring rows, and the order of this model's rows is "
            "unknown; set shuffled = True in the model if it is random, or use subsample='uniform'",
            because="mathematics",
        )
    if "strata" in rows.needs:
        raise NotSupported(
            f"subsample={rows.name!r} needs the outcomes of a regression, or its strata; use "
            "subsample='uniform'",
            because="mathematics",
        )
    if rows.needs and not kernel.width:
        raise NotSupported(
            f"subsample={rows.name!r} needs the rows' scores, of which this model has none; use "
            "subsample='uniform'",
            because="mathematics",
        )
    if kernel.refreshes and (
        model.layout.constraints or settings.precondition in ("dense", "diag")
    ):
        raise NotSupported(
            "a model with conditional updates of its own takes no other coordinates; use "
            "precondition=None",
            because="limit",
        )
    if kernel.refreshes and (settings.sampler is None or settings.sampler.exact):
        name = "auto" if settings.sampler is None else settings.sampler.name
        raise NotSupported(
            f"sampler={name!r} remembers the log posterior of where it is, which this model's own "
            "updates change; use one of minibatches, such as 'sgld'",
            because="mathematics",
        )
    if settings.sampler is not None and settings.sampler.sticky:
        raise NotSupported(
            f"sampler={settings.sampler.name!r} lets slopes of regressions stick to zero; this "
            "model has none",
            because="mathematics",
        )
    if settings.gradient == "taylor" and not (kernel.width or is_foreign(kernel)):
        raise NotSupported(
            "gradient='taylor' needs the rows' curvatures, of which this model has none; use "
            "gradient='cv'",
            because="mathematics",
        )
