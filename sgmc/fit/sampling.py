"""A fit from a problem to draws: pilot, plan, chains."""

import time
from dataclasses import dataclass

import numpy as np

from sgmc import registry
from sgmc.core.engine import Chain
from sgmc.core.rng import Rng, seed_sequence
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit import paths, timed
from sgmc.fit import plan as planning
from sgmc.core.blas import one_blas_thread
from sgmc.fit.run.batches import BatchSearch, largest
from sgmc.fit.run.chains import Watch, run_chains
from sgmc.fit.run.checkpoint import Checkpoint, compare, mark, read
from sgmc.fit.run.facts import facts_of
from sgmc.fit.noise import noise_of, noise_of_plan
from sgmc.fit.pilot import PAIRS, ROWS, SHAPE_PAIRS, SINGLE_ROWS, draws_of_laplace, looked_at, pilot
from sgmc.fit.rows import shared_rows, subsampler
from sgmc.subsampling.uniform import Everything


@dataclass
class Fit:
    """What a fit leaves behind.

    Attributes
    ----------
    problem : Problem
    plan : Plan
    pilot : Pilot
    x : array (chain, draw, d)
        Kept draws in sampler coordinates.
    weights : array (draw,) or None
        Langevin times of the steps at which draws were kept, where steps vary.
    run : Run
    chains : list of ChainFacts
        Of all chains that ran, also of one whose draws were left out.
    noise : GradientNoise
    seconds : float
        In all sessions.
    settings : Settings
    states : list of dict
        Of the chains, to continue from.
    concerns : list of SGMCWarning
    recorders : list of Recorder
        Of the chains.
    paths : list of Travelled or None
        Of the chains of samplers in continuous time.
    """

    problem: object
    plan: object
    pilot: object
    x: np.ndarray
    weights: np.ndarray | None
    run: object
    chains: list
    noise: object
    seconds: float
    settings: object
    states: list
    concerns: list
    recorders: list
    paths: list | None = None

    @property
    def langevin_time(self):
        """h of the steps at which draws were kept, in whitened coordinates; where they vary, the
        mean that the weights give.
        """
        if self.weights is None:
            return self.plan.langevin_time
        return self.plan.stiffness * float((self.weights**2).sum() / self.weights.sum())

    @property
    def threshold(self):
        """alpha of Welling & Teh (2011, eq. 10) at the first draw that was kept."""
        first = (
            self.plan.langevin_time
            if self.weights is None
            else self.plan.stiffness * float(self.weights[0])
        )
        return self.plan.spec.noise_ratio(first, self.noise.widest)

    @property
    def kept_step(self):
        """The step at which draws were kept, in the sampler's own units; where they vary,
        that of the mean time.
        """
        return self.plan.spec.from_langevin(self.langevin_time / self.plan.stiffness)

    @property
    def passes(self):
        """Rows touched by all chains, over N."""
        return sum(c.data_passes for c in self.chains)

    @property
    def acceptance(self):
        """Share of all counted proposals that were accepted;
        NaN for samplers without accept-reject.
        """
        proposed = sum(c.proposed for c in self.chains)
        return sum(c.accepted for c in self.chains) / proposed if proposed else float("nan")

    @property
    def step_size(self):
        """The first step, or where steps were adapted the mean of the chains'; NaN for samplers in
        continuous time that hold nothing.
        """
        if self.plan.spec.continuous and not self.plan.spec.holds:
            return float("nan")
        adapted = self.plan.step_origin == "adapted"
        return (
            float(np.mean([c.step_size for c in self.chains])) if adapted else self.plan.schedule(0)
        )


def fit(problem, settings, begun, saved=None):
    """Sample a problem, from the start or from where a saved run was.

    Parameters
    ----------
    problem : Problem
    settings : Settings
    begun : float
        `time.perf_counter()` when the user called.
    saved : Saved, optional
    """
    size = problem.model.n, problem.dim
    problem.check_draws(settings)
    check_init(settings, problem.priors)
    spec, gradient, reason, seen = decide(problem, settings, size)
    refusal = spec.refusal(problem.coordinates.map)
    if refusal:
        raise NotSupported(refusal)
    return sample(
        problem,
        planned(problem, settings, spec, gradient, seen, reason),
        seen,
        settings,
        begun,
        saved,
    )


def planned(problem, settings, spec, gradient, seen, reason=""):
    """The plan of a sampler with a gradient, by what the pilot saw."""
    known = noise_of(problem, gradient, settings, seen)
    if spec.continuous and spec.exact:
        return paths.plan(spec, gradient, settings, problem)
    if spec.continuous:
        return timed.plan(spec, gradient, settings, known, problem)
    return planning.plan(
        spec, gradient, reason, settings, known, (problem.model.n, problem.dim), problem.coordinates
    )


def sample(problem, plan, seen, settings, begun, saved=None):
    """Run the chains of a plan; see `fit`."""
    n = problem.model.n
    chains = [build_chain(problem, plan, settings, k) for k in range(settings.chains)]
    noise = noise_of_plan(problem, plan, settings, seen, chains)
    steps = plan.thin * settings.draws
    checkpoint, earlier = restore(problem, plan, settings, chains, plan.warmup + steps, saved)
    watch = Watch(settings.time_limit, settings.progress, checkpoint)
    with one_blas_thread():  # for models whose gradients are products of matrices
        run = run_chains(
            chains, plan.warmup, steps, settings.threads, watch, adapt=plan.step_origin != "given"
        )
    states = checkpoint.finish(chains) if checkpoint else [chain.state() for chain in chains]
    paths.check(plan.spec, run, chains)
    x, weights = collect(chains, plan, run, settings)
    noise = noise.as_seen(
        [chain.batches for chain in chains], [chain.gradient.rows for chain in chains]
    )
    return Fit(
        problem,
        plan,
        seen,
        x,
        weights,
        run,
        [facts_of(chain, plan, n) for chain in chains],
        noise,
        earlier + time.perf_counter() - begun,
        settings,
        states,
        checkpoint.concerns() if checkpoint else [],
        [chain.recorder for chain in chains],
        paths.travelled(chains, run, problem.coordinates) if plan.spec.continuous else None,
    )


def restore(problem, plan, settings, chains, steps, saved):
    """Put chains where a saved run was: the one given,
    or that of the checkpoint file if there is one.

    Returns
    -------
    checkpoint : Checkpoint or None
    earlier : float
        Seconds that the saved run took.
    """
    mine = mark(problem, plan, settings) if settings.checkpoint or (saved and saved.mark) else {}
    filed = read(settings.checkpoint) if settings.checkpoint else None
    for one, source in (
        (filed, f"checkpoint={settings.checkpoint!r}"),
        (saved, "the run to resume"),
    ):
        if one and one.mark:
            compare(one.mark, mine, source)
    saved = saved or filed
    for chain, state in zip(chains, saved.chains if saved else ()):
        chain.recorder = recorder(
            problem, plan, settings, max(settings.draws, len(state["recorder"]["draws"]))
        )
        chain.set_state(state)
    earlier = saved.seconds if saved else 0.0
    return Checkpoint(
        settings.checkpoint, mine, chains, steps, earlier
    ) if settings.checkpoint else None, earlier


def decide(problem, settings, size):
    """Sampler, gradient, reason and pilot."""
    whole = settings.sampler is not None and not settings.sampler.minibatches
    if whole and settings.gradient:
        raise ArgumentError(
            f"gradient={settings.gradient!r} does not apply to {settings.sampler.name}: it uses "
            "all rows"
        )
    name = settings.gradient or getattr(settings.sampler, "estimator", "") or problem.least_noise
    if not problem.coordinates.scaled:
        return unscaled(settings.sampler, name)
    rng = Rng(seed_sequence(settings.seed, "pilot", 1))
    rests_on_shape = settings.sampler is not None and not settings.sampler.uses_gradient
    z = draws_of_laplace(settings.seed, size[1], SHAPE_PAIRS if rests_on_shape else PAIRS)
    shared = None if whole else shared_rows(problem, settings, name)
    with one_blas_thread():
        grouped = shared is not None and shared.groups is not None
        rows = looked_at(
            size[0],
            settings.seed,
            problem.table.given,
            grouped,
            ROWS if problem.model.width else SINGLE_ROWS,
        )
        noisy = settings.sampler is None or settings.sampler.noisy
        seen = pilot(
            problem.gradient(name, Everything(size[0]), rng),
            problem.coordinates,
            z,
            noisy,
            shared,
            rows,
        )
    if settings.sampler is not None:
        return settings.sampler, name, "", seen
    if settings.robust:
        return (
            registry.room("samplers")[planning.AUTO[0]](),
            name,
            "for the sandwich, to which no accept-reject step leads",
            seen,
        )
    if len(problem.priors.shrunk):
        return (
            registry.room("samplers")[planning.AUTO[1]](),
            name,
            "for exactness: a horseshoe prior has a pole at zero",
            seen,
        )
    stochastic, exact = (registry.room("samplers")[s]() for s in planning.AUTO)
    spread = problem.coordinates.spread_of_logs
    if spread > planning.SKEWED:  # a tail that draws of a Gaussian at the mode do not see
        return (
            exact,
            name,
            f"for exactness: the log of an own parameter has an sd of {spread:.2g}, and is skewed",
            seen,
        )
    noise = noise_of(problem, name, settings, seen)
    return *planning.automatic(
        stochastic, exact, name, noise, seen.departure, size[0], settings.batch_size
    ), seen


def unscaled(sampler, gradient):
    """Sampler, gradient, reason and no pilot,
    where the posterior's scale is not known beforehand.
    """
    if sampler is None:
        reason = "because its step adapts: the posterior's scale is not known beforehand"
        return registry.room("samplers")[planning.AUTO[1]](), gradient, reason, None
    if sampler.continuous:
        raise NotSupported(
            f"{sampler.name} needs the posterior's scale for its warmup, which is not known "
            "beforehand here; use sampler='mala'"
        )
    if not sampler.uses_gradient:
        raise NotSupported(
            f"{sampler.name} draws from the Gaussian approximation at the mode, of which there is "
            "none here; use sampler='mala'"
        )
    if sampler.estimator and gradient != sampler.estimator:
        raise ArgumentError(
            f"gradient={gradient!r} does not apply to {sampler.name}: it takes "
            f"{sampler.estimator!r} alone"
        )
    return sampler, gradient, "", None


def recorder(problem, plan, settings, draws):
    """Where the draws of a chain go."""
    return (
        paths.recorder(plan, settings, draws, problem.dim)
        if plan.spec.continuous
        else problem.recorder(draws, plan)
    )


def check_init(settings, priors):
    """Refuse a start that has not one number a parameter,
    or none that is positive where the parameter is.
    """
    init, chains, d = settings.init, settings.chains, len(priors.names)
    if init is None:
        return
    if init.shape not in ((d,), (chains, d)):
        own = f", {', '.join(priors.names[d - priors.own :])} last" if priors.own else ""
        raise ArgumentError(
            f"init has shape {init.shape}; it must be ({d},) or ({chains}, {d}): one number a "
            f"parameter{own}"
        )
    for name, values in zip(priors.names[d - priors.own :], init.T[d - priors.own :]):
        if np.min(values) <= 0:
            raise ArgumentError(f"init: {name!r} is {np.min(values):g}; it must be positive")


def build_chain(problem, plan, settings, k):
    """The k-th chain; it depends on the seed and on k alone."""
    n, d = problem.model.n, problem.dim
    rng = Rng(seed_sequence(settings.seed, "chain", k))
    batch = min(plan.batch, largest(n)) if settings.adaptive else plan.batch
    rows = (
        subsampler(problem, settings, plan.gradient, batch)
        if plan.spec.minibatches
        else Everything(n)
    )
    gradient = problem.gradient(plan.gradient, rows, rng)
    if plan.spec.needs_bounds:
        gradient.bounds = paths.bounds_of(plan.spec, plan.gradient, settings, problem)
    chain = Chain(
        problem.begin(settings, k),
        plan.spec.build(d, plan.schedule(0)),
        gradient,
        rng,
        plan.schedule,
        plan.spec.continuous,
    )
    chain.sampler.plan_warmup(plan.warmup)
    if plan.spec.continuous:
        paths.equip(chain.sampler, plan, problem)
    chain.recorder = recorder(problem, plan, settings, settings.draws)
    if settings.adaptive:
        chain.batches = batch_search(problem, plan, settings)
    if settings.max_data_passes is not None:
        chain.budget = int(settings.max_data_passes * n / settings.chains)
    return chain


def batch_search(problem, plan, settings):
    """What adapts the batches of a chain."""
    reason = plan.spec.noise_refusal(problem.coordinates.map)
    if reason:
        raise NotSupported(f"batch_size='adaptive': {reason}")
    shared = shared_rows(problem, settings, plan.gradient)
    smallest = (
        planning.SMALLEST_BATCH if shared is None else max(planning.SMALLEST_BATCH, shared.fewest)
    )
    return BatchSearch(
        planning.tolerable_noise(plan.spec, plan.langevin_time),
        plan.stiffness,
        plan.warmup,
        min(smallest, largest(problem.model.n)),
        problem.dim,
        lambda m: subsampler(problem, settings, plan.gradient, m),
    )


def collect(chains, plan, run, settings):
    """Kept draws (chain, draw, d) and weights, as asked for or as the shortest chain has, without
    chains that diverged early.
    """
    kept = np.array([c.recorder.kept for c in chains])
    if kept.max() == 0:
        if run.interrupted == "Ctrl-C":
            raise KeyboardInterrupt
        if run.interrupted:
            raise ArgumentError(
                "time_limit ended the run before the first draw; give more time, or fewer warmup "
                "steps"
            )
        if "spent" in run.statuses:
            rows = np.mean([c.gradient.touched / c.steps for c in chains])
            budget = settings.max_data_passes
            raise ArgumentError(
                f"max_data_passes={budget:g} is used up before the first draw of {len(chains)} "
                f"chains: {plan.warmup} warmup steps of {rows:,.0f} rows each; raise it, or lower "
                "warmup or chains"
            )
        where = ", ".join(f"chain {k} at step {c.steps}" for k, c in enumerate(chains))
        raise ArgumentError(
            f"every chain diverged before its first draw ({where}); use a smaller step_size than "
            f"{plan.schedule(0):.3g}, e.g. {plan.schedule(0) / 10:.1g}"
        )
    enough = [k for k, n in enumerate(kept) if run.statuses[k] != "diverged" or n >= kept.max() / 2]
    length = min(settings.draws, min(kept[k] for k in enough) or kept[enough].max())
    enough = [k for k in enough if kept[k] >= length]
    x = np.stack([np.asarray(chains[k].recorder.draws)[:length] for k in enough])
    if not plan.weighted:
        return x, None
    return x, plan.spec.langevin_time(np.array(chains[enough[0]].recorder.weights[:length]))
