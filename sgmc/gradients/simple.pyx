"""The plain minibatch estimate."""
from sgmc.core.contract cimport Gradient


cdef class Simple(Gradient):
    """g = dlog prior + sum_batch scale w_i dlog p_i (Welling & Teh 2011, eq. 4):
    no control values.
    """

    name = "simple"
    needs = ()

    def __init__(self, *args, **options):
        Gradient.__init__(self, *args, **options)
        self.plain = True
