"""BlackJAX's NUTS with its window adaptation, on the log density that NumPyro derives."""

import blackjax
import jax
from numpyro.infer.util import initialize_model
from problem import answer_of_draws

from contestants import numpyro_model
from contestants.named import columns

PACKAGES, KIND, LABEL = ["blackjax", "numpyro", "jax"], "posterior", "BlackJAX NUTS"
LENGTHS = [500 * 2**k for k in range(8)]
WARMUP = 500


def prepare(problem):
    """The log density and where chains begin."""
    model, arguments = numpyro_model.build(problem)
    info, potential, constrain, _ = initialize_model(
        jax.random.PRNGKey(0), model, model_args=arguments, dynamic_args=True
    )

    def chain(key, start, arguments, length):
        def log_density(position):
            return -potential(*arguments)(position)

        first, second = jax.random.split(key)
        adapt = blackjax.window_adaptation(blackjax.nuts, log_density)
        (state, parameters), _ = adapt.run(first, start, WARMUP)
        kernel = blackjax.nuts(log_density, **parameters).step

        def one(state, key):
            state, _ = kernel(key, state)
            return state, state.position

        _, positions = jax.lax.scan(one, state, jax.random.split(second, length))
        return jax.vmap(constrain(*arguments))(positions)

    compiled = jax.jit(chain, static_argnames="length")

    def run(length, seed):
        draws = compiled(jax.random.PRNGKey(seed), info.z, arguments, length)
        return answer_of_draws(problem, columns(problem, draws))

    return run
