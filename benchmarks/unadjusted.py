"""Kinetic Langevin steps without accept-reject: UBU beside the package's, sweeps of mini-batches
beside independent ones, and couplings that take out the bias of steps.

    python benchmarks/unadjusted.py [--quick]

1. Errors of mean and sd with exact gradients, on three densities of one parameter, at equal step
   and friction: the splitting UBU (half a step of the exact dynamics without force, a kick, and the
   other half; Sanz-Serna & Zygalakis 2021, arXiv:2104.12384) beside `baoab`, `lmsgld`, `sghmc`.
2. The same with mini-batches, independent or in sweeps (``subsample="symmetric"``; Paulin, Whalley,
   Chada & Leimkuhler 2024, arXiv:2410.19780) at equal step and batch: a wide logit, a user's
   density, a logit of few rows, and a small network, of which the held-out log-loss is printed.
3. Fits of the package at its derived steps: data passes per effective draw.
4. UBU at steps e, e/2, ... driven by the same noise (Chada, Leimkuhler, Paulin & Whalley 2023,
   arXiv:2311.05025): work of the unbiased estimate, level 0 plus all differences, over that of the
   biased one at step e; with the best numbers of draws per level, warmup not counted.  And
   gradients per effective draw, beside those of exact samplers.
"""

import math
import sys
import warnings

import numpy as np
from scipy.special import expit

import sgmc

QUICK = "--quick" in sys.argv
FRICTION = 2.0

# ---- steps: (x, p) -> (x, p), chains in rows ----------------------------------------------------


def free_noise(time, shape, rng):
    """Noise in position and momentum of the dynamics without force."""
    a, C = math.exp(-FRICTION * time), FRICTION
    xx = 2 / C * (time - 2 * (1 - a) / C + (1 - a * a) / (2 * C))
    root = np.linalg.cholesky([[xx, (1 - a) ** 2 / C], [(1 - a) ** 2 / C, 1 - a * a]])
    z = rng.normal(size=(2, *shape))
    return root[0, 0] * z[0], root[1, 0] * z[0] + root[1, 1] * z[1]


def free(x, p, time, noise):
    """The dynamics without force, exactly."""
    a = math.exp(-FRICTION * time)
    return x + (1 - a) / FRICTION * p + noise[0], a * p + noise[1]


def ubu(x, p, g, e, rng):
    """Half a free step, a kick, half a free step."""
    x, p = free(x, p, e / 2, free_noise(e / 2, x.shape, rng))
    return free(x, p + e * g(x), e / 2, free_noise(e / 2, x.shape, rng))


def baoab(x, p, g, e, rng):
    """`sgmc.BAOAB`: two half kicks by one gradient are one."""
    a = math.exp(-FRICTION * e)
    p = p + e * g(x)
    new = a * p + math.sqrt(1 - a * a) * rng.normal(size=x.shape)
    return x + e / 2 * (p + new), new


def sghmc(x, p, g, e, rng):
    """`sgmc.SGHMC`, a leapfrog step."""
    x = x + e / 2 * p
    noise = math.sqrt(2 * e * FRICTION) * rng.normal(size=x.shape)
    p = (1 - e * FRICTION) * p + e * g(x) + noise
    return x + e / 2 * p, p


def lmsgld(x, old, g, e, rng):
    """`sgmc.LMSGLD` with h = 2 e, which forgets as fast; the normals of a step stand for p."""
    new = rng.normal(size=x.shape)
    return x + e * g(x) + math.sqrt(2 * e) / 2 * (old + new), new


STEPS = {"ubu": ubu, "baoab": baoab, "sghmc": sghmc, "lmsgld": lmsgld}


def moments(step, g, e, shape, steps, rng, burn):
    """Mean and mean square of x over chains (rows) and time, (2, d)."""
    x, p, total, count = rng.normal(size=shape), rng.normal(size=shape), 0.0, 0
    for t in range(steps):
        x, p = step(x, p, g, e, rng)
        if t >= burn:
            total, count = total + np.stack([x.mean(axis=0), (x * x).mean(axis=0)]), count + 1
    return total / count


def errors(found, truth):
    """Root mean square error of the means, in sds, and mean relative error of the sds."""
    (m, s), (mean, sq) = found, truth
    sd = np.sqrt(sq - mean**2)
    return np.sqrt(np.mean(((m - mean) / sd) ** 2)), np.mean(np.sqrt(s - m**2) / sd - 1)


# ---- 1. exact gradients --------------------------------------------------------------------------

DENSITIES = {
    "x^2/2 - cos 1.5 x": (
        lambda x: -x - 1.5 * np.sin(1.5 * x),
        lambda x: -x * x / 2 + np.cos(1.5 * x),
        0.6,
    ),
    "log of a gamma(2)": (
        lambda x: math.sqrt(2) * (1 - np.exp(x / math.sqrt(2))),
        lambda x: 2 * x / math.sqrt(2) - 2 * np.exp(x / math.sqrt(2)),
        1.0,
    ),
    "logistic": (
        lambda x: -1.8 * np.tanh(0.9 * x),
        lambda x: -2 * np.logaddexp(0.9 * x, -0.9 * x),
        1.0,
    ),
}


def exact_gradients():
    """Section 1."""
    print("1. errors with exact gradients: mean (sds), sd (relative); Monte Carlo errors 0.001")
    grid = np.linspace(-14, 8, 20_001)
    for name, (g, log_p, unit) in DENSITIES.items():
        w = np.exp(log_p(grid))
        truth = np.array([[w @ grid / w.sum()], [w @ grid**2 / w.sum()]])
        for e in (0.3, 0.6, 0.9):
            cells = []
            for step in STEPS.values():
                shape = (400 if QUICK else 2000, 1)
                run = moments(step, g, e * unit, shape, 4000, np.random.default_rng(1), 100)
                cells.append("{:7.3f}{:8.3f}".format(*errors(run, truth)))
            print(f"{name:18} e={e * unit:4.2f}  " + "  ".join(map(" ".join, zip(STEPS, cells))))


# ---- 2. mini-batches -----------------------------------------------------------------------------


class Rows:
    """Parts of n rows for each of several chains: independent, or forward and backward."""

    def __init__(self, n, parts, chains, sweeps, rng):
        self.n, self.parts, self.chains, self.rng = n, parts, chains, rng
        self.sweeps, self.at, self.order = sweeps, 0, None

    def next(self):
        """Row numbers, (chains, n / parts)."""
        m, k = self.n // self.parts, self.parts
        if not self.sweeps or self.at == 0:
            self.order = self.rng.permuted(np.tile(np.arange(self.n), (self.chains, 1)), axis=1)
        b = min(self.at, 2 * k - 1 - self.at) if self.sweeps else 0
        self.at = (self.at + 1) % (2 * k)
        return self.order[:, b * m : (b + 1) * m]


class Regression:
    """A canonical regression with N(0, 2.5^2) coefficients, in coordinates whitened at its mode."""

    def __init__(self, X, y, mean, slope):
        self.y, self.mean, self.n, d = y, mean, len(y), X.shape[1]
        theta = np.zeros(d)
        for _ in range(60):
            eta = np.clip(X @ theta, -30, 30)
            H = (X.T * slope(eta)) @ X + np.eye(d) / 6.25
            move = np.linalg.solve(H, X.T @ (y - mean(eta)) - theta / 6.25)
            theta = theta + move * min(1, 1 / np.abs(move).max())
        self.L = np.linalg.inv(np.linalg.cholesky(H)).T
        self.B, self.offset, self.theta, self.d = X @ self.L, X @ theta, theta, d

    def gradient(self, z, rows=None):
        """At chains (chains, d), by rows (chains, m) or all of them."""
        prior = -(self.theta + z @ self.L.T) @ self.L / 6.25
        if rows is None:
            return (self.y - self.mean(z @ self.B.T + self.offset)) @ self.B + prior
        B = self.B[rows]
        r = self.y[rows] - self.mean(np.einsum("cmd,cd->cm", B, z) + self.offset[rows])
        return self.n / rows.shape[1] * np.einsum("cm,cmd->cd", r, B) + prior

    def by_parts(self, rows):
        """The gradient as a function of positions alone, by the next batches of `rows`."""
        return lambda z: self.gradient(z, rows.next())


def simulated(kind, n, d, seed):
    """A logit; or of exponential outcomes, whose log rate is linear (a user's density)."""
    rng = np.random.default_rng(seed)
    X = np.c_[np.ones(n), rng.normal(size=(n, d - 1))]
    eta = X @ rng.normal(size=d) / math.sqrt(d)
    if kind == "logit":
        y = (rng.random(n) < expit(eta)).astype(float)
        return Regression(X, y, expit, lambda eta: expit(eta) * expit(-eta))
    return Regression(X, rng.poisson(np.exp(eta)).astype(float), np.exp, np.exp)


TARGETS = {  # name -> (target, parts, step e, chains)
    "logit 500 x 50": (lambda: simulated("logit", 500, 50, 1), 20, 0.03, 16),
    "log density 200 x 3": (lambda: simulated("counts", 200, 3, 2), 20, 0.03, 80),
    "logit 30 x 3": (lambda: simulated("logit", 30, 3, 3), 10, 0.06, 160),
}


def mini_batches():
    """Section 2."""
    print("2. errors with mini-batches: mean (sds), sd (relative), independent | sweeps")
    for name, (make, parts, e, chains) in TARGETS.items():
        on, rng = make(), np.random.default_rng(5)
        truth = moments(baoab, on.gradient, 0.2, (4 * chains, on.d), 4000, rng, 100)
        steps = int((30 if QUICK else 150) / e)
        for label, step in STEPS.items():
            cells = []
            for sweeps in (False, True):
                g = on.by_parts(Rows(on.n, parts, chains, sweeps, rng))
                found = moments(step, g, e, (chains, on.d), steps, rng, int(10 / e))
                cells.append("{:6.3f} {:7.3f}".format(*errors(found, truth)))
            print(f"{name:20} {parts} parts e={e:4.2f} {label:7} {' | '.join(cells)}", flush=True)


class Network:
    """A classifier with a layer of ten tanh units and N(0, 1) weights, by 400 rows."""

    units, n = 10, 400

    def __init__(self):
        rng = np.random.default_rng(7)
        X = rng.normal(size=(self.n + 2000, 2))
        p = expit(3 * np.sin(2 * X[:, 0]) + 2 * X[:, 1])
        y = (rng.random(len(X)) < p).astype(float)
        X = np.c_[np.ones(len(X)), X]
        self.X, self.y, self.test = X[: self.n], y[: self.n], (X[self.n :], y[self.n :])
        self.d = 4 * self.units + 1

    def parts(self, w):
        """Weights of both layers, and the last bias."""
        k = 3 * self.units
        return w[:, :k].reshape(-1, 3, self.units), w[:, k:-1], w[:, -1:]

    def gradient(self, w, rows):
        """At chains (chains, d), by rows (chains, m)."""
        X, y = self.X[rows], self.y[rows]
        W, v, c = self.parts(w)
        hidden = np.tanh(np.einsum("cmi,ciu->cmu", X, W))
        r = y - expit(np.einsum("cmu,cu->cm", hidden, v) + c)
        back = r[:, :, None] * v[:, None, :] * (1 - hidden**2)
        first = np.einsum("cmi,cmu->ciu", X, back).reshape(len(w), -1)
        own = np.c_[first, np.einsum("cm,cmu->cu", r, hidden), r.sum(axis=1)]
        return self.n / rows.shape[1] * own - w

    def predicted(self, w):
        """Probabilities of the test rows, (chains, rows)."""
        W, v, c = self.parts(w)
        hidden = np.tanh(np.einsum("mi,ciu->cmu", self.test[0], W))
        return expit(np.einsum("cmu,cu->cm", hidden, v) + c)


def log_loss(on, step, e, rows, passes, rng):
    """Of averages over the draws of the last three quarters of a run, by chain."""
    x, p = 0.5 * rng.normal(size=(rows.chains, on.d)), rng.normal(size=(rows.chains, on.d))
    total, count = 0.0, 0
    for t in range(passes * rows.parts):
        x, p = step(x, p, lambda w: on.gradient(w, rows.next()), e, rng)
        if t > passes * rows.parts / 4 and t % 40 == 0:
            total, count = total + on.predicted(x), count + 1
    q, y = total / count, on.test[1]
    return -(y * np.log(q) + (1 - y) * np.log1p(-q)).mean(axis=1)


def network(chains=16):
    """The network of section 2: equal passes."""
    on, passes = Network(), 50 if QUICK else 250
    print(
        f"   network, held-out log-loss after {passes} passes, independent | sweeps; {chains} runs"
    )
    for e in (0.01, 0.04):
        for label, step in STEPS.items():
            cells = []
            for sweeps in (False, True):
                rng = np.random.default_rng(8)
                rows = Rows(on.n, 20, chains, sweeps, rng)
                loss = log_loss(on, step, e, rows, passes, rng)
                cells.append(f"{loss.mean():.4f} ({loss.std() / math.sqrt(chains):.4f})")
            print(f"   20 parts e={e:4.2f} {label:7} {' | '.join(cells)}", flush=True)


# ---- 3. fits -------------------------------------------------------------------------------------


def table(n, d, seed):
    """Columns and outcomes of a logit."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (rng.random(n) < expit(X @ rng.normal(size=d) / math.sqrt(d))).astype(float)


def fits():
    """Section 3."""
    X, y = table(2000, 10, 4)
    print("3. fits, logit 2,000 x 10: step, thinning, data passes per effective draw, sd error")
    exact = sgmc.Logit(y, X).fit(sampler="mala", draws=8000, seed=1)
    draws = 30 if QUICK else 100
    for batch in (100, None):
        for sampler in ("lmsgld", "sghmc", "baoab"):
            for scheme in ("uniform", "symmetric"):
                how = dict(sampler=f"{sampler}-simple", subsample=scheme, batch_size=batch)
                done = sgmc.Logit(y, X).fit(**how, draws=draws, seed=2)
                plan, ess = done._fit.plan, done.ess("mean").min()
                off = float(np.mean(done.bse / exact.bse - 1))
                print(
                    f"{'derived' if batch is None else 'given':8} batch {plan.batch:5} {sampler:7} "
                    f"{scheme:10} h={plan.langevin_time:7.4f} thin {plan.thin:5} "
                    f"{done._fit.passes / ess:7.1f} {off:7.3f}",
                    flush=True,
                )


# ---- 4. couplings --------------------------------------------------------------------------------


def coupled(g, e, steps, shape, rng, burn):
    """Means over time of x and x^2 of chains with steps e and e/2, (2, chains, 2), by one noise."""
    X, P = rng.normal(size=shape), rng.normal(size=shape)
    x, p, a, totals = X, P, math.exp(-FRICTION * e / 4), 0.0
    for t in range(steps):
        small = [free_noise(e / 4, shape, rng) for _ in range(4)]
        (u, up), (v, vp) = small[:2], small[2:]
        first, last = (
            (one[0] + (1 - a) / FRICTION * one[1] + two[0], a * one[1] + two[1])
            for one, two in ((u, up), (v, vp))
        )
        X, P = free(X, P, e / 2, first)
        X, P = free(X, P + e * g(X), e / 2, last)
        for before, after in (small[:2], small[2:]):
            x, p = free(x, p, e / 4, before)
            x, p = free(x, p + e / 2 * g(x), e / 4, after)
        if t >= burn:
            totals = totals + np.array(
                [[z.mean(axis=1), (z * z).mean(axis=1)] for z in (X, x)]
            ).transpose(0, 2, 1)
    return totals / (steps - burn)


def couplings(levels=3):
    """Section 4: of averages over the coordinates of x and x^2."""
    print(
        "4. unbiased by couplings: work over that of plain UBU; sd of the differences over that of"
    )
    print("   plain averages, by level; bias of plain UBU; gradients per effective draw of x, x^2")
    some = {name: (g, 1) for name, (g, *_) in DENSITIES.items()}
    wide, small = simulated("logit", 500, 50, 1), simulated("logit", 30, 3, 3)
    some |= {"logit 500 x 50": (wide.gradient, 50), "logit 30 x 3": (small.gradient, 3)}
    for name, (g, d) in some.items():
        for e in (0.5, 1.0):
            e *= DENSITIES[name][2] if name in DENSITIES else 1.0
            rng, shape = np.random.default_rng(3), (200 if d < 10 else 40, d)
            V, bias, cost = [], 0.0, [1 / e]
            for level in range(levels):
                step = e / 2**level
                steps, burn = int((40 if QUICK else 120) / step), int(20 / step)
                coarse, fine = coupled(g, step, steps, shape, rng, burn)
                time = (steps - burn) * step
                V += [coarse.var(axis=0) * time] if level == 0 else []
                V.append((fine - coarse).var(axis=0) * time)
                bias = bias + (coarse - fine).mean(axis=0)
                cost.append(3 / step)
            work = np.sqrt(np.array(V) * np.array(cost)[:, None]).sum(axis=0) ** 2
            spread = np.sqrt(np.array(V)[1:, 1] / V[0][1])
            one = work / (np.array([1.0, 2.0]) / d)  # of N(0, 1)
            print(
                f"{name:18} e={e:4.2f}  {np.round(work / (V[0] * cost[0]), 2)}  "
                f"{np.round(spread, 4)}  {np.round(bias, 3)}  {np.round(one, 1)}",
                flush=True,
            )
    for n, d, seed in ((500, 50, 1), (30, 3, 3)):
        X, y = table(n, d - 1, seed)
        for sampler in ("hmc", "mala"):
            done = sgmc.Logit(y, np.c_[np.ones(n), X]).fit(sampler=sampler, draws=4000, seed=1)
            ess = [done.ess(kind).median() for kind in ("mean", "sd")]
            print(f"logit {n} x {d} {sampler}: {np.round(done._fit.passes / np.array(ess), 1)}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    exact_gradients()
    mini_batches()
    network()
    fits()
    couplings()
