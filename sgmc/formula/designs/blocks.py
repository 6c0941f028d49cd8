"""Blocks of columns of a design: products of factors, each as it is or by its contrast."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from sgmc.arguments.types import Array, Floats, Ints, Sparse
from sgmc.errors import DataError, FormulaError

if TYPE_CHECKING:
    from sgmc.formula.designs.factors import Factor


INTERCEPT = "Intercept"
DENSE_CELLS = 4096  # cells of a contrast that is held dense, too


@dataclass(frozen=True)
class Contrast:
    """Coding of a categorical factor.

    Attributes
    ----------
    matrix : csr_array (levels, columns)
    suffixes : list of str
        Of the label of each column.
    """

    matrix: sparse.csr_array
    suffixes: list[Any]

    @cached_property
    def dense(self) -> Floats | None:
        """The same as an array, or None where it is large."""
        return self.matrix.toarray() if np.prod(self.matrix.shape) <= DENSE_CELLS else None

    def rows(self, codes: Ints) -> Floats:
        """Columns for an array of codes, (m, columns)."""
        return self.matrix[codes].toarray() if self.dense is None else self.dense[codes]


@dataclass(frozen=True)
class Block:
    """Columns of the design: the products of some factors, each as it is or by its contrast.

    The leftmost factor varies fastest, as in R.

    Parameters
    ----------
    factors : tuple of Factor
    contrasts : tuple of Contrast or None
    columns : slice
        Its place in the design.
    term : tuple of Factor
        The term it belongs to.
    """

    factors: tuple[Any, ...]
    contrasts: tuple[Any, ...]
    columns: slice
    term: tuple[Any, ...]

    @property
    def categorical(self) -> "list[tuple[Factor, Contrast]]":
        """Pairs of the factors that are coded, and their contrasts."""
        return [pair for pair in zip(self.factors, self.contrasts) if pair[1] is not None]

    @property
    def numeric(self) -> "list[Factor]":
        """The factors that are numbers."""
        return [factor for factor, one in zip(self.factors, self.contrasts) if one is None]

    def product(self, values: Mapping[Any, Array]) -> float | Array:
        """Columns of the block, of shape (m, width); 1 for the intercept."""
        result = None
        for factor, contrast in zip(self.factors, self.contrasts):
            part = values[factor] if contrast is None else contrast.rows(values[factor])
            result = (
                part
                if result is None
                # in double precision: small integers overflow without a word
                else np.multiply(part[:, :, None], result[:, None, :], dtype=np.float64).reshape(
                    len(part), -1
                )
            )
        return 1.0 if result is None else result

    def cells(self) -> tuple[Sparse, list[tuple[tuple[int, ...], Ints]]]:
        """What each combination of levels adds to its columns under numbers of 1, and where in the
        design these are.

        Returns
        -------
        matrix : csr_array (cells, categorical columns)
        columns : list of (tuple, array)
            See `choices`.
        """
        matrix = sparse.csr_array([[1.0]])
        for _, contrast in self.categorical:
            matrix = sparse.csr_array(sparse.kron(contrast.matrix, matrix))
        return matrix, self.choices()

    def choices(self) -> list[tuple[tuple[int, ...], Ints]]:
        """Pairs of a choice of a column of each numeric factor, a tuple, and the columns of the
        design, an array, that have the product of these.
        """
        sizes = [width(*pair) for pair in zip(self.factors, self.contrasts)]
        grid = self.columns.start + np.arange(np.prod(sizes, dtype=int)).reshape(sizes[::-1])
        grid = grid.transpose(range(len(sizes))[::-1])  # an axis a factor, from left to right
        choices: list[Any] = [
            [slice(None)] if one is not None else range(size)
            for one, size in zip(self.contrasts, sizes)
        ]
        return [
            (tuple(q for q in choice if not isinstance(q, slice)), grid[choice].ravel(order="F"))
            for choice in itertools.product(*choices)
        ]

    def increments(self) -> list[Ints]:
        """Columns of the design that are increments of one monotonic effect: of a product each
        column of the other factors has its own.
        """
        wide = [one is None and of.width > 1 for of, one in zip(self.factors, self.contrasts)]
        effects = [place for place, one in enumerate(self.factors) if wide[place] and one.ordered]
        if not effects:
            return []
        if len(effects) > 1:
            raise FormulaError(
                f"{self.term_name(True)!r} has two monotonic effects, whose product is none: use "
                "C() for one of them"
            )
        sizes = [width(*pair) for pair in zip(self.factors, self.contrasts)]
        grid = self.columns.start + np.arange(np.prod(sizes, dtype=int)).reshape(sizes[::-1])
        along = np.moveaxis(grid, len(sizes) - 1 - effects[0], -1)
        return list(along.reshape(-1, sizes[effects[0]]))

    def whole(self) -> Array | None:
        """Weights of the categorical columns with which they add up to 1 for all levels, or None
        where a contrast has no such weights.
        """
        weights: Array = np.ones(1)
        for _, contrast in self.categorical:
            sums = contrast.matrix.sum(axis=1)
            own = np.ones(contrast.matrix.shape[1])
            if (sums != 1).any():
                own = np.linalg.lstsq(contrast.matrix.toarray(), np.ones(len(sums)))[0]
            if not np.allclose(contrast.matrix @ own, 1.0):
                return None
            weights = np.kron(own, weights)
        return weights

    def joint(self, values: Mapping[Any, Array]) -> Ints:
        """The cell of each row: the number of its combination of levels."""
        codes: Any = 0
        size = 1
        for factor, contrast in self.categorical:
            codes = codes + size * np.asarray(values[factor], dtype=np.int64)
            size *= contrast.matrix.shape[0]
        return codes

    def multiplier(self, values: Mapping[Any, Array], choice: tuple[int, ...]) -> Floats:
        """Product of one column of each numeric factor, (m,)."""
        return np.prod([values[f][:, q] for f, q in zip(self.numeric, choice)], axis=0)

    def labels(self, clean: bool) -> list[str]:
        """One label a column; names in backticks unless `clean`."""
        pieces = []
        for factor, contrast in zip(self.factors, self.contrasts):
            label = factor.label if clean else factor.quoted
            if contrast is not None:
                pieces.append([label + suffix for suffix in contrast.suffixes])
            elif factor.width > 1:
                steps = factor.ordered[1:] or range(factor.width)
                pieces.append([f"{label}[{one}]" for one in steps])
            else:
                pieces.append([label])
        return [
            ":".join(reversed(names)) or INTERCEPT for names in itertools.product(*reversed(pieces))
        ]

    def term_name(self, clean: bool) -> str:
        """Name of the term, ``"a:b"``."""
        return (
            ":".join(factor.label if clean else factor.quoted for factor in self.term) or INTERCEPT
        )


def width(factor: "Factor", contrast: Contrast | None) -> int:
    """Columns of a factor in a block."""
    return factor.width if contrast is None else contrast.matrix.shape[1]


def blocks_of(info: Any, factors: "Mapping[Any, Factor]") -> Iterator[Block]:
    """The blocks of a fitted design, in the order of their columns.

    Parameters
    ----------
    info : patsy.DesignInfo
    factors : dict
        Of patsy's factors, `Factor`.
    """
    stop = 0
    for term, subterms in info.term_codings.items():
        for subterm in subterms:
            members = tuple(factors[factor] for factor in subterm.factors)
            codings = [subterm.contrast_matrices.get(factor) for factor in subterm.factors]
            contrasts = tuple(
                coding and contrast_of(coding, member) for coding, member in zip(codings, members)
            )
            columns = int(np.prod([width(*pair) for pair in zip(members, contrasts)]))
            if columns == 0:
                raise DataError(
                    f"{members[0].label!r} has a single level among the rows used; leave it out"
                )
            start, stop = stop, stop + columns
            yield Block(
                members,
                contrasts,
                slice(start, stop),
                tuple(factors[factor] for factor in term.factors),
            )


def contrast_of(coding: Any, factor: "Factor") -> Contrast:
    """The contrast of patsy's coding; of a column, of which patsy has seen stand-ins, that of all
    its levels: treatment, or a column a level.
    """
    if factor.is_column:
        full = coding.matrix.shape[1] == len(coding.matrix)
        shown = slice(0 if full else 1, None)
        matrix = sparse.eye_array(len(factor.levels), format="csr")[:, shown]
        prefix = "" if full else "T."
        return Contrast(matrix, [f"[{prefix}{level}]" for level in factor.levels[shown]])
    if not np.isfinite(coding.matrix).all():  # powers of many levels, as of patsy's Poly
        raise DataError(
            f"the contrasts of {factor.label!r} overflow with {len(factor.levels)} levels: use "
            "fewer levels, other contrasts, or the number itself, poly(x, 2)"
        )
    suffixes = list(coding.column_suffixes)
    # patsy shows the repr: of an interval, str is what one knows from R's cut()
    for level in factor.levels:
        suffixes = [suffix.replace(repr(level), str(level)) for suffix in suffixes]
    return Contrast(sparse.csr_array(coding.matrix), suffixes)
