"""What ``progress=`` may be."""

from sgmc.arguments.messages import must_be


def function_of(progress):
    """The function of (done, total) that was given, or None for a bar, or none, of our own."""
    if callable(progress):
        return progress
    if progress is not None and not isinstance(progress, bool):
        raise must_be("progress", progress, "True, False, None or a function of (done, total)")
    return None
