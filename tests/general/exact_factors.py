"""Exact posteriors of factorisations by Gibbs sampling, many chains side by side, with predictions
for a user and an item that have no ratings.
"""

import numpy as np


def gaussian(data, hyper, dim, rng, sweeps=1500, chains=100, each=False, centre=True):
    """Draws (sweep, users + 1, items + 1) of U_i . V_j of `sgmc.BPMF`, the last user and the last
    item new; every variable from its law given the others.
    """
    user, item, y = data
    alpha, m, c, a, b = (hyper[name] for name in ("alpha", "mu0", "c", "a", "b"))
    sizes = user.max() + 1, item.max() + 1
    w = [rng.normal(size=(chains, n, dim)) for n in sizes]
    given = [np.zeros(sizes), np.zeros(sizes)]
    given[0][user, item], given[1][user, item] = 1.0, y - centre * y.mean()
    sides = [(given[0], given[1]), (given[0].T, given[1].T)]
    out = np.empty((sweeps, chains, sizes[0] + 1, sizes[1] + 1))
    for s in range(sweeps):
        everyone = []
        for k, (seen, e) in enumerate(sides):
            n, mean = sizes[k], w[k].mean(axis=1)
            apart = ((w[k] - mean[:, None]) ** 2).sum(axis=1) + c * n * (mean - m) ** 2 / (c + n)
            apart = apart if each else apart.sum(axis=1, keepdims=True)
            shape = a + 0.5 * n * (1 if each else dim)
            precision = rng.gamma(shape, size=apart.shape) / (b + 0.5 * apart)
            precision = np.broadcast_to(precision, mean.shape)
            at = (c * m + n * mean) / (c + n)
            mu = at + rng.normal(size=at.shape) / np.sqrt((c + n) * precision)
            other = w[1 - k]
            P = alpha * np.einsum("ij,cjk,cjl->cikl", seen, other, other)
            P += np.einsum("ck,kl->ckl", precision, np.eye(dim))[:, None]
            h = alpha * np.einsum("ij,cjk->cik", e, other) + (precision * mu)[:, None]
            L = np.linalg.cholesky(P)
            z = np.linalg.solve(L, h[..., None]) + rng.normal(size=(*h.shape, 1))
            w[k] = np.linalg.solve(L.swapaxes(-1, -2), z)[..., 0]
            everyone.append((mu, precision))
        # mu and lambda are of the factors before; these are drawn given them: a draw of the joint
        joined = [
            np.concatenate(
                [w[k], (mu + rng.normal(size=mu.shape) / np.sqrt(precision))[:, None]], axis=1
            )
            for k, (mu, precision) in enumerate(everyone)
        ]
        out[s] = np.einsum("cik,cjk->cij", *joined)
    return out[sweeps // 5 :].reshape(-1, *out.shape[2:])


def poisson(data, hyper, dim, rng, sweeps=1500, chains=100):
    """The same of the rates of `sgmc.PPMF`: counts are split among components, after which all
    laws are gamma.
    """
    user, item, y = data
    sizes = user.max() + 1, item.max() + 1
    laws = [[hyper[name] for name in names] for names in (("a", "a1", "b1"), ("c", "c1", "d1"))]
    w = [rng.gamma(1.0, size=(chains, n, dim)) for n in sizes]
    rates = [np.ones((chains, n)) for n in sizes]
    places = [user, item]
    belongs = [np.eye(n)[at].T for n, at in zip(sizes, places)]
    out = np.empty((sweeps, chains, sizes[0] + 1, sizes[1] + 1))
    for s in range(sweeps):
        shares = w[0][:, user] * w[1][:, item]
        split = rng.multinomial(y.astype(int), shares / shares.sum(axis=2, keepdims=True))
        joined = []
        for k, (shape, own, mean) in enumerate(laws):
            counts, exposure = belongs[k] @ split, belongs[k] @ w[1 - k][:, places[1 - k]]
            w[k] = rng.gamma(shape + counts) / (rates[k][..., None] + exposure)
            rates[k] = rng.gamma(own + dim * shape, size=rates[k].shape) / (
                own / mean + w[k].sum(axis=2)
            )
            new = rng.gamma(own, size=(chains, 1, 1)) * mean / own
            joined.append(
                np.concatenate([w[k], rng.gamma(shape, size=(chains, 1, dim)) / new], axis=1)
            )
        out[s] = np.einsum("cik,cjk->cij", *joined)
    return out[sweeps // 5 :].reshape(-1, *out.shape[2:])
