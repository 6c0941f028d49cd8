"""Arrays whose memory comes from malloc and goes back to it at once.

numpy keeps freed blocks of up to 1 kB for its next arrays, which hides from a sanitizer that they
were freed.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport strcpy

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyDataMemAllocator:
        void *ctx
        void *(*malloc)(void *, size_t) noexcept nogil
        void *(*calloc)(void *, size_t, size_t) noexcept nogil
        void *(*realloc)(void *, void *, size_t) noexcept nogil
        void (*free)(void *, void *, size_t) noexcept nogil

    ctypedef struct PyDataMem_Handler:
        char name[127]
        unsigned char version
        PyDataMemAllocator allocator

    object PyDataMem_SetHandler(object handler)
    int _import_array() except -1

cdef PyDataMem_Handler plain


cdef void *plain_malloc(void *context, size_t size) noexcept nogil:
    return malloc(size)


cdef void *plain_calloc(void *context, size_t n, size_t size) noexcept nogil:
    return calloc(n, size)


cdef void *plain_realloc(void *context, void *memory, size_t size) noexcept nogil:
    return realloc(memory, size)


cdef void plain_free(void *context, void *memory, size_t size) noexcept nogil:
    free(memory)


def use():
    """Make arrays of this thread so from now on."""
    strcpy(plain.name, b"malloc")
    plain.version = 1
    plain.allocator.malloc, plain.allocator.calloc = plain_malloc, plain_calloc
    plain.allocator.realloc, plain.allocator.free = plain_realloc, plain_free
    _import_array()
    PyDataMem_SetHandler(PyCapsule_New(&plain, "mem_handler", NULL))
