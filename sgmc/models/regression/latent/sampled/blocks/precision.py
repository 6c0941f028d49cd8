"""The precision of a Gaussian approximation of coefficients and effects, as an arrow: the effects
of the factor of most levels are its tips.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sgmc.coordinates.whitened.arrow import Arrow


@dataclass(frozen=True)
class Precision:
    """The precision H of (beta, v, psi), see `Loaded`; psi are all others.

    Attributes
    ----------
    tips : array (levels, q) of int
        Places of the effects of the factor of most levels.
    blocks : array (levels, q, q)
    cross : CSR array (levels * q, border)
    border : array (border, border)
        Of all else.
    """

    tips: np.ndarray
    blocks: np.ndarray
    cross: sparse.csr_array
    border: np.ndarray

    @property
    def rest(self):
        """Places of the border."""
        dim = self.tips.size + len(self.border)
        return np.setdiff1d(np.arange(dim), self.tips)

    def __matmul__(self, B):
        """H B for an array (dim, k)."""
        out, at, rest = np.empty_like(B), self.tips.ravel(), self.rest
        own = B[at].reshape(*self.tips.shape, B.shape[1])
        out[at] = np.einsum("lab,lbk->lak", self.blocks, own).reshape(len(at), B.shape[1])
        out[at] += self.cross @ B[rest]
        out[rest] = self.cross.T @ B[at] + self.border @ B[rest]
        return out

    def scaled(self, by):
        """The same of parameters divided by some numbers (dim,)."""
        tips, rest = by[self.tips], by[self.rest]
        cross = sparse.diags_array(tips.ravel()) @ self.cross @ sparse.diags_array(rest)
        blocks = tips[:, :, None] * self.blocks * tips[:, None, :]
        border = rest[:, None] * self.border * rest
        return Precision(self.tips, blocks, sparse.csr_array(cross), border)

    def turned(self, places, root):
        """The same with numbers of which some places of the border are a root, (k, k), times."""
        turn, mine = np.eye(len(self.border)), np.searchsorted(self.rest, places)
        turn[np.ix_(mine, mine)] = root
        cross = self.cross @ sparse.csr_array(turn)
        border = turn.T @ self.border @ turn
        return Precision(self.tips, self.blocks, sparse.csr_array(cross), border)

    def arrow(self, centre, kept=()):
        """The map that whitens it, but for some coordinates, see `Arrow`."""
        return Arrow(centre, self.tips, self.blocks, self.cross, self.border, kept)

    def tilted(self, places, slopes, information):
        """The joint precision of some coordinates with one of their own, and of all others given
        them, whose centre moves with them.

        Parameters
        ----------
        places : array (k,) of int
            Independent of all others here.
        slopes : array (dim, k)
            Of the others' centre.
        information : array (k, k)
        """
        rest, at = self.rest, self.tips.ravel()
        mine = np.searchsorted(rest, places)
        moved, border = self @ slopes, self.border.copy()
        border[:, mine], border[mine] = -moved[rest], -moved[rest].T
        border[np.ix_(mine, mine)] = information + slopes.T @ moved
        ones = np.ones(len(mine)), (np.arange(len(mine)), mine)
        into = sparse.csr_array(ones, shape=(len(mine), len(rest)))
        cross = sparse.csr_array(self.cross - sparse.csr_array(moved[at]) @ into)
        return Precision(self.tips, self.blocks, cross, border)


def precision_of(rows, gram, w, place, prior):
    """The `Precision` given psi, of which each has a precision of one.

    Parameters
    ----------
    rows : CrossedRows
    gram : Gram
    w : array (n, k, k)
        Curvatures of the rows by their linear predictors.
    place : array (dim,)
        With psi.
    prior : array (d, d)
        Curvature of the coefficients' prior.
    """
    root = rows.blocks.loading.root(place[rows.blocks.phi])
    roots = [root[np.ix_(own, own)] for own in gram.effects]
    places = [rows.places(k) for k in range(len(roots))]
    most = int(np.argmax(gram.levels)) if roots else None
    tips = places[most] if roots else np.empty((0, 1), dtype=int)
    rest = np.setdiff1d(np.arange(rows.blocks.size), tips)
    places = [np.searchsorted(rest, one) for one in places]
    dense, scale = np.searchsorted(rest, rows.dense), scales(rows, root, place)
    border = np.eye(len(rest))
    border[np.ix_(dense, dense)] += scale[:, None] * gram.fixed(w) * scale
    border[: len(prior), : len(prior)] += prior - np.eye(len(prior))
    cross = []
    for k, L in enumerate(roots):
        by = loaded(L, gram.fixed_by_level(w, k)) * scale
        if k == most:
            cross.append(of_columns(by, dense))
            continue
        at = places[k]
        own = np.einsum("ba,lbc,cd->lad", L, gram.within(w, k), L) + np.eye(len(L))
        border[at[:, :, None], at[:, None, :]] = own
        border[np.ix_(at.ravel(), dense)] = by
        border[np.ix_(dense, at.ravel())] = by.T
        for h in range(k + 1, len(roots)):
            if h != most:
                row, column, found = gram.between(w, k, h)
                found = np.einsum("ba,lbc,cd->lad", L, found, roots[h])
                i, j = at[row][:, :, None], places[h][column][:, None, :]
                border[i, j] = found
                border[j, i] = found
        cross.append(across(gram.between(w, most, k), roots[most], L, at))
    if not roots:
        return Precision(tips, np.empty((0, 1, 1)), sparse.csr_array((0, len(rest))), border)
    blocks = np.einsum("ba,lbc,cd->lad", roots[most], gram.within(w, most), roots[most])
    blocks += np.eye(tips.shape[1])
    return Precision(tips, blocks, stacked(cross, (tips.size, len(rest))), border)


def scales(rows, root, place):
    """What columns of `CrossedRows.dense` are multiplied by: 1, and their sds."""
    blocks, own = rows.blocks, rows.dense[rows.blocks.d :] - rows.blocks.d
    sds = np.diag(root)[blocks.number] * blocks.ratios(place)
    return np.append(np.ones(blocks.d), sds[own])


def loaded(L, found):
    """L' of each level's rows, (levels * q, d)."""
    return np.einsum("ba,lbd->lad", L, found).reshape(-1, found.shape[2])


def across(cells, left, right, places):
    """Row, column and value of each number between the tips and another factor."""
    row, column, found = cells
    found = np.einsum("ba,lbc,cd->lad", left, found, right)
    i = row[:, None] * len(left) + np.arange(len(left))
    j = places[column]
    shape = found.shape
    return (
        np.broadcast_to(i[:, :, None], shape).ravel(),
        np.broadcast_to(j[:, None, :], shape).ravel(),
        found.ravel(),
    )


def of_columns(found, places):
    """Row, column and value of each number between the tips and columns at some places."""
    m, d = found.shape
    return np.repeat(np.arange(m), d), np.tile(places, m), found.ravel()


def stacked(parts, shape):
    """A CSR array of rows, columns and values."""
    row, column, value = (np.concatenate(part) for part in zip(*parts))
    return sparse.csr_array((value, (row, column)), shape=shape)
