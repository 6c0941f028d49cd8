"""Names of types that many signatures share."""

import os
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from scipy import sparse

    Frame: TypeAlias = pd.DataFrame
    Series: TypeAlias = pd.Series
    Index: TypeAlias = pd.Index
    Sparse: TypeAlias = sparse.csr_array
    Progress: TypeAlias = Callable[[int, int], object] | bool | None
else:  # modules that an import of the package does not load
    Frame = Series = Index = Sparse = Axes = Figure = Progress = Any

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
Complexes: TypeAlias = NDArray[np.complex128]
Ints: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Matrix: TypeAlias = Any  # a design: an array, a sparse one, or a table of coded factors
FilePath: TypeAlias = str | os.PathLike[str]
# what is returned as it came
Same = TypeVar("Same", bound=Any)
SameArray = TypeVar("SameArray", bound=Array)
Seed: TypeAlias = int | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator | None
