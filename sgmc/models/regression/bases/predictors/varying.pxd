from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.predictors.two_designs cimport TwoDesignsModel

cdef class Varying(TwoDesignsModel):
    cdef readonly Dispersed whole
