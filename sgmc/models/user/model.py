"""What models of users that are no subclass share."""

from sgmc.models.bases.model import Model

SAID = ("constraints", "prior", "start", "scaled", "checked", "title", "dims", "coords")


def say(model, parameters, said):
    """Set attributes of a model, or refuse those that there are not."""
    for name in said:
        if name not in SAID:
            raise TypeError(
                f"{type(model).__name__}() got an unexpected keyword argument {name!r}; it has: "
                f"{', '.join(SAID)}"
            )
    model.parameters = parameters
    for name, value in said.items():
        setattr(model, name, value)


class KernelModel(Model):
    """A compiled model of `sgmc.core.contract` as it is, its parameters one vector ``theta``.

    Parameters
    ----------
    kernel : core Model
    """

    def __init__(self, kernel):
        self.compiled_model, self.n, self.parameters, self.title = (
            kernel,
            kernel.n,
            {"theta": kernel.dim},
            type(kernel).__name__,
        )

    def kernel(self):
        return self.compiled_model
