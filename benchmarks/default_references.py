"""Posteriors of models beyond regression by methods that share no code with the samplers: Gibbs
sampling in numpy, quadrature.  Each returns draws, or weighted points, of the model's parameters.
"""

import numpy as np

from sgmc.core.expansion import of_rows

GRID = 400  # points at which a density of one variable is tabulated


def from_table(log_density, low, high, rng):
    """A draw of a positive number by its density on a geometric grid, a uniform within the cell."""
    edges = np.geomspace(low, high, GRID + 1)
    middle = np.sqrt(edges[1:] * edges[:-1])
    log_p = log_density(middle) + np.log(np.diff(edges))
    up = np.cumsum(np.exp(log_p - log_p.max()))
    k = min(np.searchsorted(up, rng.random() * up[-1]), GRID - 1)
    return edges[k] + (edges[k + 1] - edges[k]) * rng.random()


def mean_of_normal(y, sd, centre, width, rng):
    """A draw of the mean of normal numbers of known sd, prior N(centre, width^2)."""
    precision = len(y) / sd**2 + 1 / width**2
    return rng.normal((y.sum() / sd**2 + centre / width**2) / precision, 1 / np.sqrt(precision))


def normal_sd(n, square, log_prior):
    """The log density of the sd of n normal numbers with that sum of squares around their mean."""
    return lambda v: -n * np.log(v) - square / (2 * v * v) + log_prior(v)


def mixture(y, K, sweeps, rng):
    """Draws (sweeps, 3 K) of weights, means and sds of a Gaussian mixture: assignments, then each
    parameter given the others (Diebolt & Robert 1994); sds, whose prior is no conjugate one, by
    table.
    """
    centre, width, scale = y.mean(), 2 * y.std(), y.std() / K
    means, sds, weights = np.quantile(y, (np.arange(K) + 0.5) / K), np.full(K, y.std()), np.ones(K)
    out = np.empty((sweeps, 3 * K))
    for s in range(sweeps):
        log_p = np.log(weights) - np.log(sds) - 0.5 * ((y[:, None] - means) / sds) ** 2
        log_p += rng.gumbel(size=log_p.shape)
        z = log_p.argmax(axis=1)
        weights = rng.dirichlet(2 + np.bincount(z, minlength=K))
        for k in range(K):
            own = y[z == k]
            means[k] = mean_of_normal(own, sds[k], centre, width, rng)
            square = ((own - means[k]) ** 2).sum()
            law = normal_sd(len(own), square, lambda v: -3 * np.log(v) - scale / v)
            sds[k] = from_table(law, 0.01 * scale, 30 * y.std(), rng)
        out[s] = np.r_[weights, means, sds]
    return out


def stationary(A):
    """The stationary law of two states."""
    return np.array([A[1, 0], A[0, 1]]) / (A[1, 0] + A[0, 1])


def hidden_markov(y, sweeps, rng):
    """Draws (sweeps, 8) of transition, means and sds of two Gaussian states, ordered by mean:
    forward filtering and backward sampling of the path (Chib 1996), then each parameter; the law of
    the first state, which depends on the transitions, by a Metropolis step.
    """
    T, centre, width = len(y), y.mean(), 2.5 * y.std()
    A, means = np.full((2, 2), 0.5), np.quantile(y, [0.25, 0.75])
    sds, out = np.full(2, y.std()), np.empty((sweeps, 8))
    for s in range(sweeps):
        p = np.exp(-0.5 * ((y[:, None] - means) / sds) ** 2) / sds + 1e-300
        u, filtered, first = rng.random(T).tolist(), [], stationary(A)[1]
        (stay, up), (down, both) = A.tolist()
        one = first
        for p0, p1 in p.tolist():
            if filtered:
                one = (1 - one) * up + one * both
            one = one * p1 / (one * p1 + (1 - one) * p0)
            filtered.append(one)
        x = [int(u[-1] < filtered[-1])]
        for t in range(T - 2, -1, -1):
            a1 = filtered[t] * (both if x[-1] else down)
            a0 = (1 - filtered[t]) * (up if x[-1] else stay)
            x.append(int(u[t] * (a0 + a1) < a1))
        x = np.array(x[::-1])
        moves = np.ones((2, 2))
        np.add.at(moves, (x[:-1], x[1:]), 1)
        proposed = np.array([rng.dirichlet(row) for row in moves])
        if rng.random() < stationary(proposed)[x[0]] / stationary(A)[x[0]]:
            A = proposed
        for k in range(2):
            own = y[x == k]
            means[k] = mean_of_normal(own, sds[k], centre, width, rng)
            square = ((own - means[k]) ** 2).sum()
            law = normal_sd(len(own), square, lambda v: -0.5 * (v / width) ** 2)
            sds[k] = from_table(law, 0.01 * y.std(), 5 * width, rng)
        order = np.argsort(means)
        out[s] = np.r_[A[order][:, order].ravel(), means[order], sds[order]]
    return out


def topics(counts, K, alpha, beta, sweeps, rng):
    """Draws (sweeps, K, W) of topics: collapsed Gibbs sampling of the assignments (Griffiths &
    Steyvers 2004), and topics given these.
    """
    D, W = counts.shape
    documents, words = (np.repeat(at, counts[counts > 0]).tolist() for at in np.nonzero(counts))
    z = rng.integers(0, K, len(words)).tolist()
    of_document, of_word = np.zeros((D, K)).tolist(), np.zeros((W, K)).tolist()
    of_topic = [W * beta] * K
    for d, w, k in zip(documents, words, z):
        of_document[d][k] += 1
        of_word[w][k] += 1
        of_topic[k] += 1
    out = np.empty((sweeps, K, W))
    for s in range(sweeps):
        for i, u in enumerate(rng.random(len(z)).tolist()):
            here, there = of_document[documents[i]], of_word[words[i]]
            here[z[i]] -= 1
            there[z[i]] -= 1
            of_topic[z[i]] -= 1
            p = [(here[k] + alpha) * (there[k] + beta) / of_topic[k] for k in range(K)]
            left, k = u * sum(p), 0
            while left > p[k] and k < K - 1:
                left -= p[k]
                k += 1
            z[i] = k
            here[k] += 1
            there[k] += 1
            of_topic[k] += 1
        out[s] = [rng.dirichlet(row) for row in np.array(of_word).T + beta]
    return out


def communities(model, sweeps, rng):
    """Draws (sweeps, n K + 2 K) of memberships and strengths of a network: the communities that the
    nodes of each pair choose, then each parameter given them (Airoldi et al. 2008).
    """
    n, K, delta, eta = model.n, model.K, model.delta, model.eta
    a, b = np.triu_indices(n, 1)
    y = np.zeros((n, n), dtype=bool)
    y[model.links.first, model.links.second] = True
    y, same = y[a, b], np.arange(K) * (K + 1)
    pi, beta = model.starts(rng)[: n * K].reshape(n, K), np.full(K, 0.5)
    out = np.empty((sweeps, n * K + 2 * K))
    chance = np.repeat(np.where(y, delta, 1 - delta)[:, None], K * K, axis=1)
    for s in range(sweeps):
        chance[:, same] = np.where(y[:, None], beta, 1 - beta)
        up = np.cumsum(chance * (pi[a][:, :, None] * pi[b][:, None]).reshape(-1, K * K), axis=1)
        first, second = np.divmod((up < rng.random((len(a), 1)) * up[:, -1:]).sum(axis=1), K)
        counts = np.bincount(np.r_[a * K + first, b * K + second], minlength=n * K)
        pi = np.maximum(rng.gamma(model.alpha + counts.reshape(n, K)), 1e-300)
        pi /= pi.sum(axis=1, keepdims=True)
        on, off = (np.bincount(first[(first == second) & one], minlength=K) for one in (y, ~y))
        beta = rng.beta(eta[0] + on, eta[1] + off)
        out[s] = np.r_[pi.ravel(), np.column_stack([beta, 1 - beta]).ravel()]
    return out


def tied_means(y, variance):
    """Points (n, 2) of theta1 and theta2 on a grid, and their weights."""
    a, b = np.meshgrid(np.linspace(-6, 6, 401), np.linspace(-5, 5, 401), indexing="ij")
    log_p = -(a**2) / 20 - b**2 / 2
    for one in y:
        first, second = ((one - c) ** 2 / (2 * variance) for c in (a, a + b))
        log_p += np.logaddexp(-first, -second)
    return np.column_stack([a.ravel(), b.ravel()]), np.exp(log_p - log_p.max()).ravel()


def linear_gaussian(model, points=36):
    """Points (n, 4) of a, q, r and level and their weights: a grid over the first three, polar in
    (q, r), and at each the level, in which the likelihood is exactly Gaussian, by three values of
    the Kalman filter and three points of its law.
    """
    y, kernel = model.y[:, 0], model.kernel()
    centre, width = y.mean(), 2.5 * y.std()
    nodes = np.sqrt(3.0) * np.array([-1, 0, 1])  # Gauss-Hermite: right to the fifth moment
    shares = np.array([1, 4, 1]) / 6
    found, weights = [], []
    cells = [(np.arange(points) + 0.5) / points for _ in range(3)]
    for a in 2 * cells[0] - 1:
        for size in y.std() * (0.4 + 1.6 * cells[1]):
            for angle in 0.5 * np.pi * cells[2]:
                q, r = size * np.cos(angle), size * np.sin(angle)
                step = 0.1 * y.std()
                low, middle, high = (
                    of_rows(kernel, np.array([a, q, r, level]))[0]
                    - 0.5 * ((level - centre) / width) ** 2
                    for level in (centre - step, centre, centre + step)
                )
                curved = (2 * middle - low - high) / step**2
                slope = (high - low) / (2 * step)
                best, sd = centre + slope / curved, 1 / np.sqrt(curved)
                log_p = middle + 0.5 * slope**2 / curved + np.log(sd)
                log_p += -0.5 * (size / width) ** 2 + np.log(size)
                found += [(a, q, r, best + sd * node) for node in nodes]
                weights += [log_p + np.log(share) for share in shares]
    weights = np.array(weights)
    return np.array(found), np.exp(weights - weights.max())


def gaussian_factors(model, sweeps, rng, chains=10):
    """Draws of the judged predictions of `sgmc.BPMF`: mu and lambda, then each user and each item
    given all else (Salakhutdinov & Mnih 2008), many chains side by side.
    """
    h, d, (user, item, y) = model.hyper, model.dim, model.ratings
    w = [rng.normal(size=(chains, len(one), d)) for one in (model.users, model.items)]
    seen, e = np.zeros((2, len(model.users), len(model.items)))
    seen[user, item], e[user, item] = 1, (y - model.centre) / model.unit
    sides, each = ((seen, e), (seen.T, e.T)), h["precisions"] == "each"
    out = []
    for s in range(sweeps // chains):
        for k, (known, left) in enumerate(sides):
            n, mean = w[k].shape[1], w[k].mean(axis=1)
            rate = 0.5 * ((w[k] - mean[:, None]) ** 2).sum(axis=1)
            rate += 0.5 * h["c"] * n * (mean - h["mu0"]) ** 2 / (h["c"] + n)
            rate = rate if each else rate.sum(axis=1, keepdims=True)
            own = rng.gamma(h["a"] + 0.5 * n * (1 if each else d), size=rate.shape)
            own = np.broadcast_to(own / (h["b"] + rate), mean.shape)
            mu = (h["c"] * h["mu0"] + n * mean) / (h["c"] + n)
            mu = mu + rng.normal(size=mu.shape) / np.sqrt((h["c"] + n) * own)
            V = w[1 - k]
            outer = (V[..., None] * V[:, :, None]).reshape(chains, -1, d * d)
            P = h["alpha"] * (known @ outer).reshape(chains, n, d, d)
            P += own[:, None, :, None] * np.eye(d)
            L = np.linalg.cholesky(P)
            z = np.linalg.solve(L, (h["alpha"] * (left @ V) + (own * mu)[:, None])[..., None])
            z += rng.normal(size=z.shape)
            w[k] = np.linalg.solve(L.swapaxes(-1, -2), z)[..., 0]
        if s >= sweeps // (5 * chains):
            out.append(judged(model, w))
    return np.concatenate(out)


def poisson_factors(model, sweeps, rng, chains=10):
    """The same of `sgmc.PPMF`: counts are split among components, after which all laws are gamma
    (Gopalan, Hofman & Blei 2015).
    """
    h, d, (user, item, y) = model.hyper, model.dim, model.ratings
    w = [rng.gamma(1.0, size=(chains, len(one), d)) for one in (model.users, model.items)]
    belongs = [np.eye(one.shape[1])[at].T for one, at in zip(w, (user, item))]
    laws = [[h[name] for name in names] for names in (("a", "a1", "b1"), ("c", "c1", "d1"))]
    rates, out = [np.ones(one.shape[:2]) for one in w], []
    for s in range(sweeps // chains):
        share = w[0][:, user] * w[1][:, item] + 1e-300
        split = rng.multinomial(y.astype(int), share / share.sum(axis=2, keepdims=True))
        for k, (shape, own, mean) in enumerate(laws):
            exposed = belongs[k] @ w[1 - k][:, (item, user)[k]]
            w[k] = rng.gamma(shape + belongs[k] @ split) / (rates[k][..., None] + exposed)
            rate = own / mean + w[k].sum(axis=2)
            rates[k] = rng.gamma(own + d * shape, size=rate.shape) / rate
        if s >= sweeps // (5 * chains):
            out.append(judged(model, w))
    return np.concatenate(out)


def judged(model, factors):
    """Predictions of the judged pairs, (chain, pair)."""
    user, item = model.judged_pairs
    return model.centre + model.unit * (factors[0][:, user] * factors[1][:, item]).sum(axis=2)
