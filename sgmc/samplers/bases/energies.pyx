"""Whether fresh momenta change the energy enough: the fraction of missing information."""


cdef class Energies:
    """Sums over the energies after warmup."""

    cdef void note(self, double energy) noexcept nogil:
        """Take in the energy of a fresh momentum."""
        cdef double deviation = energy - self.mean
        if self.count:
            self.jumps += (energy - self.last) * (energy - self.last)
        self.count += 1
        self.mean += deviation / self.count
        self.scatter += deviation * (energy - self.mean)
        self.last = energy

    @property
    def bfmi(self):
        """Estimated Bayesian fraction of missing information (Betancourt 2016): below 0.3, momenta
        explore energies too slowly.
        """
        return self.jumps / self.scatter if self.scatter > 0 else float("nan")

    def state(self):
        """The sums."""
        return [self.last, self.mean, self.scatter, self.jumps, self.count]

    def set_state(self, state):
        """Continue from a `state()`."""
        self.last, self.mean, self.scatter, self.jumps, self.count = state
