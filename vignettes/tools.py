"""Numerics of vignettes: images made small, paths read at given times, autocorrelations, the bound
of SBPS by hand, ways of tuning and their races.
"""

import time
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import sgmc


def path_at(turns, at):
    """Positions (time, d) on a path (`Results.skeleton`) at given times."""
    return np.column_stack([np.interp(at, turns.times, x) for x in turns.positions.to_numpy().T])


def pooled(table):
    """Pixels (n, 49) of 7 x 7 images, means of blocks of MNIST's 28 x 28."""
    return (
        table.drop(columns="label")
        .to_numpy(dtype=float)
        .reshape(-1, 7, 4, 7, 4)
        .mean(axis=(2, 4))
        .reshape(-1, 49)
    )


def acf(x, lags):
    """Autocorrelation of one series at lags 0 to `lags`."""
    return sgmc.diagnostics.autocorr(np.asarray(x)[None, :, None], lags)[0, :, 0]


def seconds_of(fit, most):
    """Seconds of the processor of 100 passes through the data, `fit(draws)` being results: by the
    difference of two runs.
    """
    spent, touched = [], []
    for draws in (2, most):
        begun = time.process_time()
        results = fit(draws)
        spent.append(time.process_time() - begun)
        touched.append(results.chain_diagnostics().data_passes[0])
    return 100 * (spent[1] - spent[0]) / (touched[1] - touched[0])


def line_means(turns, f_between):
    """Running mean of a function along a path: times, and its mean up to each; `f_between(a, b)` is
    its mean on the lines from a to b.
    """
    x, span = turns.positions.to_numpy()[:, 0], np.diff(turns.times)
    return turns.times[1:], np.cumsum(f_between(x[:-1], x[1:]) * span) / turns.times[1:]


class Band:
    """The bound of SBPS (Pakman et al. 2017, eq. 9-13) by hand.

    Parameters
    ----------
    look : callable
        ``look(t)``: the noisy rate at a time of the line, and its variance.
    slope : (mean, variance)
        Of the normal prior of the rate's slope.
    k : float
    """

    def __init__(self, look, slope, k=3.0):
        self.look, self.slope, self.k = look, slope, k

    def edge(self, seen, t):
        """Upper edge at times t, from looks (time, rate, variance)."""
        when, rate, noise = np.array(seen).T
        design = np.column_stack([np.ones(len(when)), when])
        precision = design.T @ (design / noise[:, None]) + np.diag([0, 1 / self.slope[1]])
        beta = np.linalg.solve(
            precision, design.T @ (rate / noise) + [0, self.slope[0] / self.slope[1]]
        )
        at = np.column_stack([np.ones(len(t)), t])
        return at @ beta + self.k * np.sqrt(
            np.einsum("ij,jk,ik->i", at, np.linalg.inv(precision), at) + noise[-1]
        )

    def until_bounce(self, horizon, rng):
        """Looks on a line until one is a bounce, and the bounds (times, values)
        that they were proposed from.
        """
        seen, bands = [(0.0, *self.look(0.0))], []
        while True:
            ahead = horizon[horizon >= seen[-1][0]]
            gamma = np.maximum(self.edge(seen, ahead), 0)
            last = int(np.searchsorted(np.cumsum(gamma) * horizon[1], rng.exponential()))
            bands.append((ahead[: last + 1], gamma[: last + 1]))
            seen.append((ahead[last], *self.look(ahead[last])))
            if rng.random() < seen[-1][1] / gamma[last]:
                return seen, bands


def stein(score, most, scale=None):
    """A metric for races: KSD of at most so many draws, by `score(theta, share)`, the log
    posterior's gradient by a share of the rows.

    Scores may be of the first coordinates alone: Stein's identity holds for each of them.
    """

    def ksd(draws, share=1.0):
        some = draws[np.linspace(0, len(draws) - 1, min(most, len(draws))).astype(int)]
        scores = np.array([score(theta, share) for theta in some])
        if not np.isfinite(scores).all():
            return float("inf")
        return sgmc.diagnostics.ksd(some[:, : scores.shape[1]], scores, scale=scale)

    return ksd


def factor_score(users, items, left, dim, rng, alpha=3.0):
    """Of U and V of `sgmc.BPMF`, whose theta is U, V, mu_U, mu_V, lambda_U, lambda_V; from codes
    and ratings less their mean.
    """
    given = np.zeros((users.max() + 1, items.max() + 1), dtype=bool)
    stated = np.zeros((users.max() + 1, items.max() + 1))
    given[users, items], stated[users, items] = True, left
    cuts = np.cumsum([given.shape[0] * dim, given.shape[1] * dim, dim, dim, 1])

    def score(theta, share):
        U, V, mu_U, mu_V, lam_U, lam_V = np.split(theta, cuts)
        U, V = U.reshape(-1, dim), V.reshape(-1, dim)
        rest = (given & (rng.random(given.shape) < share)) * (stated - U @ V.T) * (alpha / share)
        return np.concatenate(
            [(rest @ V - lam_U * (U - mu_U)).ravel(), (rest.T @ U - lam_V * (V - mu_V)).ravel()]
        )

    return score


LITTLE = 0.01  # friction and diffusion per leapfrog step
STEIN = {"MAMBA-KSD": "ksd", "MAMBA-FSSD": "fssd-max", "MAMBA-FSSD, power": "fssd-opt"}


@dataclass
class Case:
    """A model that is tuned in the ways of Coullon, South & Nemeth (2023).

    Friction and diffusion are those of the authors' software per leapfrog step, e C = e A = 0.01,
    and steps of SGHMC, each with a fresh momentum, are explicit Euler's, as there. ``dts`` and
    ``shares`` are the grids of the paper's dt and of n / N; `budget` is the winner's work in passes
    through the data, but at least `least` steps, and `work` that of runs which are compared; `loss`
    the metric of grid searches by predictions, whose arms have `iterations` steps from the point
    `noisy`; `metric` that of the others; `begin` arguments of all.
    """

    model: object
    n: int
    dts: np.ndarray
    shares: tuple
    budget: int
    work: int
    loss: object
    begin: dict
    iterations: int = 0
    noisy: np.ndarray | None = None
    metric: object = "ksd"
    least: int = 600
    found: dict = field(default_factory=dict)

    def spec(self, label, leapfrog=5):
        """The sampler and its gradient, by a name such as sgld-cv."""
        made = {
            "sgld": sgmc.SGLD,
            "sghmc": lambda: sgmc.published("sghmc-euler", leapfrog=leapfrog)["sampler"],
            "sgnht": lambda: sgmc.SGNHT(diffusion=LITTLE, per="step"),
        }[label.split("-")[0]]()
        return {
            "sampler": made,
            "gradient": "cv" if label.endswith("-cv") else "simple",
            "precondition": None,
        }

    def step(self, label, dt):
        """A step in the sampler's own terms."""
        return float(2 * dt if label.startswith("sgld") else np.sqrt(dt))

    def tune(self, label, way, seed=1):
        """A `TuneResult`, or for the heuristic what has the same ``best``."""
        hmc, tenth = label.startswith("sghmc"), self.n // 10
        grid = {"step_size": [self.step(label, dt) for dt in self.dts]} | (
            {"leapfrog": [5, 10]} if hmc else {}
        )
        every = grid | {"batch_size": [max(1, int(self.n * share)) for share in self.shares]}
        how = {"seed": seed, "threads": 1, **self.spec(label), **self.begin}
        steps = max(
            self.least,
            int(self.budget * self.n / np.median(every["batch_size"]) / (7.5 if hmc else 1)),
        )
        if way in STEIN:
            return sgmc.tune(
                self.model,
                grid=every,
                metric=self.metric if way == "MAMBA-KSD" else STEIN[way],
                budget_steps=steps,
                **how,
            )
        if way == "grid, KSD":
            return sgmc.tune(
                self.model, grid=every, method="grid", metric=self.metric, budget_steps=steps, **how
            )
        if way == "grid, loss":
            return sgmc.tune(
                self.model,
                grid=grid,
                batch_size=tenth,
                method="grid",
                metric=self.loss,
                budget_steps=self.iterations,
                **how | {"init": self.noisy},
            )
        chosen = {"step_size": self.step(label, 1 / self.n), "batch_size": tenth}
        return SimpleNamespace(best=self.spec(label, leapfrog=10) | chosen)

    def steps_of(self, best, work):
        """Steps that so many passes allow."""
        gradients = best["sampler"].leapfrog if best["sampler"].name == "sghmc" else 1
        return max(20, int(work * self.n / best["batch_size"] / gradients))

    def discrepancy(self, best, work, seed=9):
        """KSD of a run of that work, a race of one arm; infinite where it diverges.  Where only the
        trial of the race does, with a longer step, it is that of a fit.
        """
        how = {
            name: value for name, value in best.items() if name not in ("batch_size", "subsample")
        }
        try:
            return (
                sgmc.tune(
                    self.model,
                    grid={"batch_size": [best["batch_size"]]},
                    method="grid",
                    metric=self.metric,
                    seed=seed,
                    budget_steps=self.steps_of(best, work),
                    threads=1,
                    **how,
                    **self.begin,
                )
                .history["metric"]
                .iloc[-1]
            )
        except sgmc.errors.ArgumentError:
            fit = self.fit(best, work, seed)
            return np.inf if fit is None else fit.ksd()

    def fit(self, best, work, seed=7, **keep):
        """Results of a run of that work, or None where it diverges."""
        steps = self.steps_of(best, work)
        thin = max(1, steps // 2000)
        try:
            return self.model.fit(
                **best,
                **self.begin,
                **keep,
                chains=1,
                threads=1,
                seed=seed,
                warmup=0,
                thin=thin,
                draws=steps // thin,
            )
        except sgmc.errors.ArgumentError:
            return None

    def chosen(self, label, best):
        """Step, minibatch and leapfrog steps in the paper's terms."""
        h = best["step_size"]
        return {
            "log10 dt": float(np.log10(h / 2 if label.startswith("sgld") else h**2)),
            "tau %": 100 * best["batch_size"] / self.n,
            "L": best["sampler"].leapfrog if label.startswith("sghmc") else np.nan,
        }


SAMPLERS = ("sgld", "sgld-cv", "sghmc", "sghmc-cv", "sgnht", "sgnht-cv")
WAYS = ("MAMBA-KSD", "MAMBA-FSSD", "grid, loss", "heuristic", "grid, KSD")
RIVALS = ("grid, loss", "heuristic")  # of MAMBA-KSD, in the paper's claims


def raced(case, labels, ways, extra):
    """Tune each sampler in each way, run what was chosen, and return a table; `extra(fit)` adds
    columns.
    """
    rows = []
    for label in labels:
        for way in ways:
            begun = time.process_time()
            race = case.tune(label, way)
            spent = time.process_time() - begun
            case.found[label, way] = race
            fit = case.fit(race.best, case.work)
            rows.append(
                {
                    "sampler": label,
                    "way": way,
                    **case.chosen(label, race.best),
                    "KSD": case.discrepancy(race.best, case.work),
                    "draws": 0 if fit is None else case.steps_of(race.best, case.work),
                    "seconds": spent,
                    **extra(fit),
                }
            )
    return pd.DataFrame(rows).set_index(["sampler", "way"])


def shown(table, columns):
    """One table for each column: samplers across, ways down."""
    labels, ways = (list(dict.fromkeys(level)) for level in zip(*table.index))
    for name in columns:
        print(f"{name}\n{table[name].unstack('sampler').loc[ways, labels].round(2).to_string()}\n")


def wins(table, column="KSD"):
    """For how many samplers MAMBA-KSD has the least KSD among itself and its rivals, or is within
    5 % of it.
    """
    ksd = table[column].unstack("way")
    return int((ksd["MAMBA-KSD"] <= 1.05 * ksd[list(RIVALS)].min(axis=1)).sum())


def left_race(case, label, way):
    """Where the arm nearest to a rival's choice left the race of MAMBA-KSD: the draws that it had
    then, and its KSD over the least of that rung.
    """
    race, best = case.found[label, "MAMBA-KSD"], case.found[label, way].best
    wanted = {"leapfrog": getattr(best["sampler"], "leapfrog", None)} | best
    numbers = race.arms.columns.intersection(["step_size", "batch_size", "leapfrog"])
    apart = sum(abs(np.log(race.arms[name] / wanted[name])) for name in numbers)
    last = race.history[race.history["arm"] == apart.idxmin()].iloc[-1]
    least = race.history["metric"][race.history["rung"] == last["rung"]].min()
    return int(last["draws"]), float(last["metric"] / least)


def ratios(table, rival, column="KSD"):
    """Median over samplers of the rival's KSD over MAMBA's."""
    ksd = table[column].unstack("way")
    return float((ksd[rival] / ksd["MAMBA-KSD"]).median())


def curves(story, case, labels, ways, title, runs):
    """KSD as runs go on, a panel a sampler: mean of a few runs and two sds, by work; the means at
    the race's own work, (sampler, way).
    """
    works, at_race = np.array([case.budget / 9, case.budget / 3, case.budget, case.work]), {}
    figure, axs = plt.subplots(
        *story.pick((2, 3), (1, 2)),
        figsize=story.pick((10, 5.4), (7, 3)),
        sharex=True,
        squeeze=False,
    )
    for ax, label in zip(np.ravel(axs), labels):
        for way in ways:
            best = case.found[label, way].best
            found = np.array(
                [
                    [case.discrepancy(best, work, seed) for work in works]
                    for seed in range(11, 11 + runs)
                ]
            )
            good, look = np.isfinite(found).all(axis=0), {"color": f"C{WAYS.index(way)}"}
            mean, wide = found[:, good].mean(axis=0), 2 * found[:, good].std(axis=0)
            ax.plot(
                works[good],
                mean,
                marker="o",
                ms=3,
                label=way,
                ls=("-", ":", "--", "-.")[WAYS.index(way)],
                lw=3 if way == WAYS[0] else 1.4,
                **look,
            )  # ways that chose alike stay visible
            ax.fill_between(
                works[good],
                np.maximum(mean - wide, mean / 3),
                mean + wide,
                alpha=0.15,
                lw=0,
                **look,
            )
            at_race[label, way] = found[:, 2].mean()
        ax.axvline(case.budget, color="0.8", lw=0.8, zorder=0)
        ax.set(xscale="log", yscale="log", title=label)
        ax.set_xticks(works, [f"{work:.0f}" for work in works])
        ax.xaxis.set_minor_locator(plt.NullLocator())
    for ax in axs[-1]:
        ax.set_xlabel("passes through the data")
    for row in axs:
        row[0].set_ylabel("KSD")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(ways))
    story.figure(title, figure)
    return pd.Series(at_race).rename("KSD").rename_axis(["sampler", "way"]).to_frame()


def logistic_rows(rng, n):
    """Simulated rows of a logistic regression: ten columns, coefficients, outcomes."""
    X, theta = rng.normal(size=(n, 10)), rng.normal(size=10)
    return X, theta, (rng.random(n) < 1 / (1 + np.exp(-X @ theta))).astype(int)


def busy_ratings(story):
    """MovieLens, u1: the busiest users' ratings of the busiest items, and those held out."""
    stars, held = (story.data(f"movielens-100k-u1-{part}") for part in ("train", "test"))
    users, items = (
        stars[name].value_counts().index[: story.pick(most, 30)]
        for name, most in (("user", 100), ("item", 150))
    )
    some, held = (
        t[t.user.isin(users) & t.item.isin(items)].sort_values(["user", "item"])
        for t in (stars, held)
    )
    return some, held[held.user.isin(some.user) & held.item.isin(some.item)]


def exact_factors(story, some, held):
    """The factorisation of Coullon, South & Nemeth (2023) with five factors, and a run of `hmc`
    that keeps all parameters.
    """
    priors = {"alpha": 3.0, "a": 4.0, "b": 5.0, "update": "sampled"}
    model = sgmc.BPMF(some, dim=5, test=held, hyper=priors)
    return model, model.fit(
        sampler="hmc",
        draws=story.pick(1500, 60),
        warmup=story.pick(500, 60),
        chains=1,
        seed=1,
        threads=1,
        keep=list(model.parameters),
    )


def amagold(gradient, energy, x, rng, step, friction, length, draws):
    """AMAGOLD (Zhang, Cooper & De Sa 2020, arXiv:2003.00193, Algorithm 1), momenta kept.

    A skew-reversible path of noisy gradients, accepted or rejected by all rows at its end.

    Parameters
    ----------
    gradient : callable
        ``gradient(x, rng)``: of minus the log density by a minibatch, (chain, d).
    energy : callable
        ``energy(x)``: minus the log density by all rows, (chain,).
    x : ndarray (chain, d)
    step, friction : float
    length, draws : int
        Gradients between two tests, and tests.

    Returns
    -------
    ndarray (draws, chain, d), and the share that was accepted
    """
    drag, at, r = step * friction, energy(x), rng.normal(size=x.shape)
    kept, accepted = np.empty((draws, *x.shape)), 0
    for k in range(draws):
        there, s, gained = x + step / 2 * r, r, np.zeros(len(x))
        for t in range(length):
            there = there + step * s if t else there
            slope = gradient(there, rng)
            kick = np.sqrt(4 * drag) * rng.normal(size=x.shape)
            new = ((1 - drag) * s - step * slope + kick) / (1 + drag)
            gained += step / 2 * (slope * (s + new)).sum(axis=1)
            s = new
        there = there + step / 2 * s
        found = energy(there)
        taken = np.log(rng.random(len(x))) < at - found + gained
        x, r = np.where(taken[:, None], there, x), np.where(taken[:, None], s, -r)
        at, kept[k], accepted = np.where(taken, found, at), x, accepted + taken.mean()
    return kept, accepted / draws


def cyclical(gradient, x, rng, step, steps, cycles, explored=0.5):
    """Cyclical SGLD (Zhang et al. 2020, arXiv:1902.03932, Algorithm 1).

    Steps fall as a cosine within each cycle; its first part, the share `explored`, has no noise and
    is not kept.

    Returns
    -------
    ndarray (cycle, draw of a cycle, chain, d)
    """
    length = steps // cycles
    first = int(np.ceil(explored * length))
    kept = np.empty((cycles, length - first, *x.shape))
    for k in range(cycles * length):
        cycle, place = divmod(k, length)
        h = step / 2 * (np.cos(np.pi * place / length) + 1)
        x = x - h * gradient(x, rng)
        if place >= first:
            x = x + np.sqrt(2 * h) * rng.normal(size=x.shape)
            kept[cycle, place - first] = x
    return kept


def contour(both, x, rng, step, steps, low, width, regions, power=0.75):
    """Contour SGLD (Deng, Lin & Liang 2020, arXiv:2010.09800, Algorithm 1), of temperature 1.

    Energies fall in `regions` of that `width` from `low` up.  The chain learns their probabilities
    and is pushed to where they fall, so that draws have weights.

    Parameters
    ----------
    both : callable
        ``both(x, rng)``: gradient and energy by a minibatch, (chain, d) and (chain,).

    Returns
    -------
    ndarray (steps, chain, d), weights (steps, chain), and the learned probabilities (chain, region)
    """
    chance, every = np.full((len(x), regions), 1 / regions), np.arange(len(x))
    kept, weights = np.empty((steps, *x.shape)), np.empty((steps, len(x)))
    for k in range(steps):
        slope, level = both(x, rng)
        at = np.clip(((level - low) // width).astype(int), 0, regions - 1)
        share = chance[every, at]
        kept[k], weights[k] = x, share**power
        rate = 10 / (k**0.75 + 1000)
        chance -= rate * weights[k][:, None] * chance
        chance[every, at] += rate * weights[k]
        ratio = np.log(chance[every, at] / chance[every, np.maximum(at - 1, 0)])
        pull = 1 + power * ratio / width
        x = x - step * pull[:, None] * slope + np.sqrt(2 * step) * rng.normal(size=x.shape)
    return kept, weights, chance
