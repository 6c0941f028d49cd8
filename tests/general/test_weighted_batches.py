"""Batches with weights of compiled models and of models in Python: rows count by their weights."""

import ctypes

import numpy as np
import pytest
from _ext.probes import Probe, listed

from sgmc.models.bases.callbacks import AddressKernel, PythonKernel

from .test_user_models import SIGNATURE

Y = np.random.default_rng(3).normal(size=(40, 2))


def value(theta, rows):
    """Of the rows together."""
    return -0.5 * ((Y[rows] - theta) ** 2).sum()


def slope(theta, rows):
    """Its gradient."""
    return (Y[rows] - theta).sum(axis=0)


@SIGNATURE
def density(d, theta, m, rows, grad, data):
    """Both, as compiled code has them."""
    at, chosen = np.ctypeslib.as_array(theta, (d,)), np.ctypeslib.as_array(rows, (m,))
    np.ctypeslib.as_array(grad, (d,))[:] = slope(at, chosen)
    return value(at, chosen)


KERNELS = {
    "Python": lambda: PythonKernel(2, len(Y), value, slope),
    "address": lambda: AddressKernel(2, len(Y), ctypes.cast(density, ctypes.c_void_p).value),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_rows_count_by_their_weights(kind):
    probe, theta = Probe(KERNELS[kind]()), np.array([0.3, -1.0])
    rows, weight = [5, 30, 5, 12], (0.5, 3.0, 1.0, 0.25)
    run = listed(rows, weight=weight, scale=2.0)
    each = [
        2.0 * w * np.array([value(theta, [i]), *slope(theta, [i])]) for i, w in zip(rows, weight)
    ]
    wanted = np.sum(each, axis=0)
    np.testing.assert_allclose(probe.gradient(theta, run), wanted[1:])
    np.testing.assert_allclose(probe.value(theta, run), wanted[0])
