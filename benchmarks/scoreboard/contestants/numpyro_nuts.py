"""NumPyro's NUTS, one chain, 500 warmup steps, compiled as a whole: `MCMC.run` compiles parts of it
anew in each call.
"""

import jax
from numpyro.infer import NUTS
from problem import answer_of_draws

from contestants import numpyro_model
from contestants.named import columns

PACKAGES, KIND, LABEL = ["numpyro", "jax"], "posterior", "NumPyro NUTS"
LENGTHS = [500 * 2**k for k in range(8)]
WARMUP = 500


def prepare(problem):
    """Arrays are handed over before."""
    model, arguments = numpyro_model.build(problem)
    kernel = NUTS(model)

    def chain(key, arguments, length):
        def one(state, _):
            state = kernel.sample(state, arguments, {})
            return state, state.z

        state = kernel.init(key, WARMUP, None, arguments, {})
        state, _ = jax.lax.scan(lambda s, _: (one(s, _)[0], None), state, None, WARMUP)
        _, z = jax.lax.scan(one, state, None, length)
        return jax.vmap(kernel.postprocess_fn(arguments, {}))(z)

    compiled = jax.jit(chain, static_argnames="length")

    def run(length, seed):
        draws = compiled(jax.random.PRNGKey(seed), arguments, length)
        return answer_of_draws(problem, columns(problem, draws))

    return run
