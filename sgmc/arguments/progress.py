"""Progress of a run, drawn by the thread that waits."""

import sys

from sgmc.arguments.messages import must_be


def reporter(progress):
    """`report(done, total)` for ``progress=``: a callable as it is, a tqdm bar for True or at
    terminals, else None.
    """
    if callable(progress):
        return progress
    if progress is not None and not isinstance(progress, bool):
        raise must_be("progress", progress, "True, False, None or a function of (done, total)")
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return None
    from tqdm.auto import tqdm

    bar = tqdm(total=100, desc="sgmc", unit="%", leave=False)

    def report(done, total):
        bar.update(int(100 * done / max(total, 1)) - bar.n)
        if done >= total:
            bar.close()

    return report
