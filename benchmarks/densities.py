"""Densities of one's own beside other samplers, and gradients through each way in.

    python benchmarks/densities.py gradients        microseconds of log density and gradient
    python benchmarks/densities.py logit            a logit of 1e5 x 20 as a user writes it
    python benchmarks/densities.py posteriors [NAME ...]    seven PyMC models, the same for all

Seconds are CPU time of one process.  Of the seven models, `start-up` is compilation, `to 400` what
sampling takes for 400 effective draws of each parameter, `both` their sum, and the last number the
largest difference of a mean from the first sampler's, in posterior sds.  Each is a process of its
own.  Packages that are not there are left out.
"""

import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import sgmc
from sgmc.coordinates.approximations.laplace import exact_gradient
from sgmc.coordinates.priors.prior_table import density_of
from sgmc.core.engine import full
from sgmc.diagnostics import ess
from sgmc.models.bases.priors import named_priors

SHAPES = ((8, 10, 3000), (1000, 10, 300), (100_000, 20, 10))  # rows, columns, calls
REPEATS = 7
TURNS = 3
ENOUGH = 400
WARMUP = 1000  # steps of BlackJAX, and draws
FEW = {"tune": 10, "draws": 10}  # steps that take the time of compilation
LONGEST = 600  # seconds of a sampler on a model


def fastest(function, calls):
    """CPU microseconds of a call, the least of some means."""
    function()
    best = np.inf
    for _ in range(REPEATS):
        begun = time.process_time()
        for _ in range(calls):
            function()
        best = min(best, (time.process_time() - begun) / calls)
    return 1e6 * best


def table(rows, columns):
    """Predictors and outcomes of a logistic regression."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    slopes = rng.normal(size=columns) / 4
    return X, (rng.random(rows) < 1 / (1 + np.exp(-X @ slopes))).astype(float)


def row(theta, x, y):
    """Log density of one row."""
    eta = x @ theta.b
    return y * eta - np.logaddexp(0.0, eta)


def row_slope(theta, x, y, slope):
    """Its gradient."""
    eta = 0.0
    for j in range(len(x)):
        eta += x[j] * theta.b[j]
    residual = y - 1 / (1 + np.exp(-eta))
    for j in range(len(x)):
        slope.b[j] += residual * x[j]


class WithoutGrad(sgmc.Model):
    """A logistic regression in numpy."""

    def __init__(self, X, y):
        self.X, self.y, self.n = X, y, len(y)
        self.parameters, self.prior = {"b": X.shape[1]}, {"b": sgmc.normal(0, 2.5)}

    def log_lik(self, theta, rows):
        """Log density of rows."""
        eta = self.X[rows] @ theta["b"]
        return self.y[rows] @ eta - np.logaddexp(0, eta).sum()


class WithGrad(WithoutGrad):
    """With its gradient."""

    def grad(self, theta, rows):
        """Of rows."""
        X = self.X[rows]
        return (self.y[rows] - 1 / (1 + np.exp(-X @ theta["b"]))) @ X


def ways(X, y):
    """The logistic regression through each way in, by name."""
    given = {"parameters": {"b": X.shape[1]}, "prior": {"b": sgmc.normal(0, 2.5)}}
    found = {"numpy with grad": WithGrad(X, y), "numpy without": WithoutGrad(X, y)}
    try:
        import jax.numpy as jnp

        def log_lik(theta, batch):
            X, y = batch
            eta = X @ theta["b"]
            return jnp.sum(y * eta - jnp.logaddexp(0.0, eta))

        found["JaxModel"] = sgmc.JaxModel(log_lik, (X, y), **given)
    except ImportError:
        pass
    try:
        found["NumbaModel"] = sgmc.NumbaModel(row, (X, y), **given)
        found["NumbaModel with grad"] = sgmc.NumbaModel(row, (X, y), grad=row_slope, **given)
    except ImportError:
        pass
    return found


def jitted(X, y):
    """One jitted call for value and gradient, with its results in numpy; None without jax."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    X, y = jnp.asarray(X), jnp.asarray(y)

    def log_lik(b):
        eta = X @ b
        return jnp.sum(y * eta - jnp.logaddexp(0.0, eta))

    function = jax.jit(jax.value_and_grad(log_lik))
    return lambda b: [np.asarray(one) for one in function(b)]


def gradients():
    """Microseconds of a log density with its gradient over all rows."""
    for rows, columns, calls in SHAPES:
        X, y = table(rows, columns)
        at = np.full(columns, 0.1)
        for name, model in ways(X, y).items():
            flat = density_of(named_priors("flat", model.layout()))
            gradient = exact_gradient(model.kernel(), flat, None)
            taken = fastest(lambda g=gradient: full(g, at), calls)
            print(f"{rows:7d} x {columns}  {name:22s} {taken:10.1f} us", flush=True)
        function = jitted(X, y)
        if function:
            taken = fastest(lambda f=function: f(at), calls)
            print(f"{rows:7d} x {columns}  {'one jitted call':22s} {taken:10.1f} us", flush=True)


def logit():
    """Seconds of a fit at the defaults, the least of some after a first one, in turns."""
    X, y = table(100_000, 20)
    models, taken = {**ways(X, y), "sgmc.Logit": sgmc.Logit(y, X)}, {}
    for turn in range(1 + TURNS):
        for name, model in models.items():
            begun = time.process_time()
            results = model.fit(seed=1 + turn)
            str(results.summary())
            if turn:
                taken.setdefault(name, []).append((time.process_time() - begun, results.verdict))
    for name, fits in taken.items():
        least = min(seconds for seconds, _ in fits)
        ratio = least / min(seconds for seconds, _ in taken["sgmc.Logit"])
        trusted = sum(verdict.trustworthy for _, verdict in fits)
        print(f"{name:22s} {least:6.2f} s  {ratio:5.1f}  {trusted} of {TURNS} trusted", flush=True)


# ---- seven models --------------------------------------------------------------------------------


def schools(pm, rng):
    """Eight schools, their effects standardised (`scoreboard/tasks.py`): 10 parameters."""
    y, se = [28.0, 8, -3, 7, -1, 1, 18, 12], [15.0, 10, 16, 11, 9, 11, 10, 18]
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        pm.Normal("y", mu + tau * pm.Normal("z", shape=8), se, observed=y)
    return model


def curve(pm, rng):
    """Growth a - b c^x of 27 animals (`scoreboard/tasks.py`): 4 parameters."""
    x = np.sort(rng.uniform(1, 30, 27))
    y = 2.65 - 0.97 * 0.87**x + 0.1 * rng.normal(size=27)
    with pm.Model() as model:
        a, b = pm.Normal("a", 0, 10), pm.Normal("b", 0, 10)
        c, sigma = pm.Uniform("c", 0.5, 0.95), pm.HalfNormal("sigma", 1)
        pm.Normal("y", a - b * c**x, sigma, observed=y)
    return model


def item_response(pm, rng):
    """Two-parameter logistic responses of 240 people to 30 items: 302 parameters."""
    people, items = np.repeat(np.arange(240), 30), np.tile(np.arange(30), 240)
    able, hard, sharp = rng.normal(size=240), rng.normal(size=30), np.exp(0.3 * rng.normal(size=30))
    eta = sharp[items] * (able[people] - hard[items])
    y = rng.random(len(eta)) < 1 / (1 + np.exp(-eta))
    with pm.Model() as model:
        mean, spread = pm.Normal("mean", 0, 1), pm.HalfNormal("spread", 1)
        theta, b = pm.Normal("theta", shape=240), pm.Normal("b", shape=30)
        a = pm.LogNormal("a", 0, 0.5, shape=30)
        eta = a[items] * (theta[people] - mean - spread * b[items])
        pm.Bernoulli("y", logit_p=eta, observed=y)
    return model


def volatility(pm, rng):
    """Stochastic volatility over 500 days, its innovations standardised: 503 parameters."""
    h = np.zeros(500)
    for t in range(1, 500):
        h[t] = 0.95 * h[t - 1] + 0.3 * rng.normal()
    y = np.exp(h / 2) * rng.normal(size=500)
    import pytensor
    import pytensor.tensor as pt

    with pm.Model() as model:
        mu, sigma = pm.Normal("mu", 0, 1), pm.HalfNormal("sigma", 0.5)
        phi = pm.Beta("phi", 20, 1.5)
        z = pm.Normal("z", shape=500)
        lags = np.arange(500)[:, None] - np.arange(500)[None]
        powers = pt.where(lags >= 0, phi ** np.maximum(lags, 0), 0.0)
        h = mu + sigma * pytensor.tensor.dot(powers, z)
        pm.Normal("y", 0, pt.exp(h / 2), observed=y)
    return model


def process(pm, rng):
    """Counts at 50 places of a Gaussian process with unknown scale and length: 53 parameters."""
    import pytensor.tensor as pt

    x = np.sort(rng.uniform(0, 10, 50))
    y = rng.poisson(np.exp(1 + np.sin(x)))
    squares = (x[:, None] - x[None]) ** 2
    with pm.Model() as model:
        mu, scale = pm.Normal("mu", 0, 2), pm.HalfNormal("scale", 1)
        length = pm.InverseGamma("length", 5, 5)
        z = pm.Normal("z", shape=50)
        K = scale**2 * pt.exp(-0.5 * squares / length**2) + 1e-6 * np.eye(50)
        pm.Poisson("y", pt.exp(mu + pt.linalg.cholesky(K) @ z), observed=y)
    return model


def mixture(pm, rng):
    """Three normals with ordered means, their labels summed out: 8 free numbers."""
    y = np.concatenate(
        [rng.normal(m, s, k) for m, s, k in ((-3, 1, 150), (0, 0.5, 200), (2, 1, 150))]
    )
    with pm.Model() as model:
        weights = pm.Dirichlet("weights", np.full(3, 2.0))
        means = pm.Normal(
            "means", 0, 5, shape=3, transform=pm.distributions.transforms.ordered,
            initval=[-2.0, 0.0, 2.0],
        )  # fmt: skip
        sds = pm.HalfNormal("sds", 2, shape=3)
        pm.NormalMixture("y", weights, means, sds, observed=y)
    return model


def radon(pm, rng):
    """Slopes and intercepts by 60 groups of 12 rows, standardised: 125 parameters."""
    group, x = np.repeat(np.arange(60), 12), rng.normal(size=720)
    y = rng.normal(size=60)[group] + (0.5 + 0.3 * rng.normal(size=60))[group] * x
    y = y + 0.7 * rng.normal(size=720)
    with pm.Model() as model:
        a, b = pm.Normal("a", 0, 2), pm.Normal("b", 0, 2)
        sa, sb, sigma = (pm.HalfNormal(name, 1) for name in ("sa", "sb", "sigma"))
        u, v = pm.Normal("u", shape=60), pm.Normal("v", shape=60)
        pm.Normal("y", a + sa * u[group] + (b + sb * v[group]) * x, sigma, observed=y)
    return model


POSTERIORS = {
    "schools": schools,
    "curve": curve,
    "item response": item_response,
    "volatility": volatility,
    "gp counts": process,
    "mixture": mixture,
    "radon": radon,
}


def by_sgmc(model):
    """`sgmc.PyMCModel` at the defaults."""
    own = sgmc.PyMCModel(model)
    own.kernel()
    yield
    results = own.fit(seed=1)
    yield {name: results.draws_of(name) for name in own.parameters}, results.verdict.text[:14]


def by_nuts(model):
    """``sampler="nuts"`` in coordinates without the mode's scales."""
    own = sgmc.PyMCModel(model)
    own.kernel()
    yield
    results = own.fit(sampler="nuts", precondition=None, seed=1)
    yield {name: results.draws_of(name) for name in own.parameters}, results.verdict.text[:14]


def by_nutpie(model):
    """nutpie at its defaults, four chains."""
    import nutpie

    compiled = nutpie.compile_pymc_model(model, backend="numba")
    yield
    trace = nutpie.sample(compiled, chains=4, cores=2, seed=1, progress_bar=False)
    yield of_trace(trace, model), ""


def by_pymc(model):
    """PyMC's own NUTS, which compiles at each call."""
    import pymc as pm

    with model:
        for many in (FEW, FEW, {}):
            trace = pm.sample(
                nuts_sampler="pymc", chains=4, cores=1, random_seed=1, progressbar=False, **many
            )
            if many:
                yield
    yield of_trace(trace, model), ""


def by_numpyro(model):
    """NumPyro's NUTS by PyMC, compiled at each call."""
    import numpyro  # noqa: F401
    import pymc as pm

    with model:
        for many in (FEW, FEW, {}):
            trace = pm.sample(
                nuts_sampler="numpyro", chains=4, random_seed=1, progressbar=False,
                nuts_sampler_kwargs={"chain_method": "sequential"}, **many,
            )  # fmt: skip
            if many:
                yield
    yield of_trace(trace, model), ""


def by_blackjax(model):
    """BlackJAX's NUTS after its window adaptation, four chains one after the other."""
    import blackjax
    import jax
    from pymc.sampling.jax import get_jaxified_graph, get_jaxified_logp

    jax.config.update("jax_enable_x64", True)
    log_density, start = get_jaxified_logp(model), model.initial_point()
    start = [np.asarray(start[one.name], dtype=float) for one in model.value_vars]
    natural = get_jaxified_graph(model.value_vars, model.replace_rvs_by_values(model.free_RVs))

    def chain(key):
        first, second = jax.random.split(key)
        warm = blackjax.window_adaptation(blackjax.nuts, log_density, target_acceptance_rate=0.8)
        (state, tuned), _ = warm.run(first, start, WARMUP)
        step = blackjax.nuts(log_density, **tuned).step

        def kept(state, key):
            state, _ = step(key, state)
            return state, state.position

        return jax.lax.scan(kept, state, jax.random.split(second, WARMUP))[1]

    keys = jax.random.split(jax.random.key(1), 4)
    program = jax.jit(lambda keys: jax.lax.map(chain, keys)).lower(keys).compile()
    yield
    draws = jax.block_until_ready(program(keys))
    found = jax.vmap(jax.vmap(lambda one: natural(*one)))(draws)
    yield {rv.name: np.asarray(one) for rv, one in zip(model.free_RVs, found)}, ""


def of_trace(trace, model):
    """Draws of the free variables of a trace."""
    return {one.name: np.asarray(trace.posterior[one.name]) for one in model.free_RVs}


WAYS = {
    "sgmc": by_sgmc,
    "sgmc, nuts": by_nuts,
    "nutpie": by_nutpie,
    "blackjax": by_blackjax,
    "numpyro": by_numpyro,
    "pymc": by_pymc,
}


COMPILED_AGAIN = "numpyro", "pymc"  # at each call: what few steps take, once more, is taken off


def one(name, way, file):
    """Times, draws and verdict of a sampler on a model, into a file."""
    import pymc as pm

    model = POSTERIORS[name](pm, np.random.default_rng(1))
    begun, steps = time.process_time(), WAYS[way](model)
    next(steps)
    started = time.process_time()
    if way in COMPILED_AGAIN:
        next(steps)
    again = time.process_time()
    draws, said = next(steps)
    ended = time.process_time()
    flat = np.concatenate([v.reshape(*v.shape[:2], -1) for v in draws.values()], -1)
    times = [started - begun, ended - again - (again - started)]
    np.savez(
        file, times=times, least=ess(flat).min(), mean=flat.mean((0, 1)), sd=flat.std((0, 1)),
        said=said,
    )  # fmt: skip


def posteriors(names):
    """Seconds, effective draws and agreement of each sampler on each model, each in a process of
    its own: what one has compiled serves no other.
    """
    for name in names or POSTERIORS:
        first = None
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "found.npz"
                call = [sys.executable, __file__, "one", name, way, str(file)]
                try:
                    subprocess.run(call, timeout=LONGEST, capture_output=True, check=True)
                except subprocess.TimeoutExpired:
                    print(f"{name:14s} {way:11s} not done in {LONGEST} s", flush=True)
                    continue
                except subprocess.CalledProcessError as error:
                    last = error.stderr.decode().strip().splitlines()[-1]
                    print(f"{name:14s} {way:11s} left out, {last}", flush=True)
                    continue
                found = dict(np.load(file))
            (start, sampling), least, mean = found["times"], found["least"], found["mean"]
            first = mean if first is None else first
            off, to_enough = (np.abs(mean - first) / found["sd"]).max(), sampling * ENOUGH / least
            print(
                f"{name:14s} {way:11s} start-up {start:6.2f} s  sampling {sampling:6.2f} s  ESS "
                f"{least:6.0f}  to {ENOUGH} {to_enough:7.2f} s  both {start + to_enough:7.2f} s  "
                f"{found['said']} {off:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    what, *rest = sys.argv[1:]
    if what == "one":
        one(*rest)
    elif what == "posteriors":
        posteriors(rest)
    else:
        {"gradients": gradients, "logit": logit}[what]()
