"""How far a call is, over passes whose number is not known in advance."""

from sgmc.arguments.progress import function_of
from sgmc.core.system import deadline, phases

SCALE = 1000  # what is reported as the whole
END_OF_READING, END_OF_SPREADING = (
    0.3,
    0.75,
)  # shares of the work up to the end of reading, and of spreading


class Passes:
    """Reports to ``progress=``: shares of the whole to a function, counts by phase to a bar.

    Parameters
    ----------
    progress : bool, function or None
    rows : int or None
        Of the source.
    """

    def __init__(self, progress, rows):
        self.report = function_of(progress) or (lambda done, total: None)
        self.rows, self.begun, self.phase = rows, 0.0, ""

    def chunks(self, chunks):
        """The chunks of a pass that finds out something: each takes half of what is left."""
        end, seen = (self.begun + END_OF_READING) / 2, 0
        self.phase = ""  # each pass has a bar of its own
        for chunk in chunks:
            self.counted("reading rows", seen, self.rows)
            yield chunk
            seen += len(chunk)
            share = seen / self.rows if self.rows else 0.0
            self.show(self.begun + (end - self.begun) * min(share, 1.0))
        self.begun = end

    def spread(self, done, total):
        """So many rows of all are in buckets."""
        self.counted("spreading rows", done, total)
        self.show(END_OF_READING + (END_OF_SPREADING - END_OF_READING) * done / max(total, 1))

    def gathered(self, done, total):
        """So many buckets of all are in the file."""
        self.counted("writing rows", done, total)
        self.show(END_OF_SPREADING + (1 - END_OF_SPREADING) * done / max(total, 1))

    def counted(self, phase, done, total):
        """Tell the bar of the call, if it has one; `total` may not be known.  Look at the clock."""
        deadline.check()
        if phase != self.phase:
            phases.begin(phase)
            self.phase = phase
        tell = phases.reporting()
        if tell and total:
            tell(done, total)

    def show(self, share):
        """Report a share of the whole."""
        self.report(round(SCALE * share), SCALE)

    def finish(self):
        """Report the end."""
        self.report(SCALE, SCALE)
