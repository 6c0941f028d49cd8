# Maps and priors are immutable and shared by chains, so that what they work with lies on the stack.
cdef enum:
    # numbers of such an array: 16 kB, of which a call has at most four at a time, where threads
    # have 512 kB of stack or more
    MAX_STACKED = 2048
