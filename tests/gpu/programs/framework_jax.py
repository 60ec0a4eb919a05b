"""JAX, which takes three quarters of the card that it sees at its start. Prints `version`, `total` (what it may take), `wrong`
(elements of a product), `error` (of an array that is larger than that), `after` (whether it computes on), then holds."""
import jax
import jax.numpy as jnp

from words import hold, say


def product():
    a = jnp.arange(512 * 512, dtype=jnp.float32).reshape(512, 512) / 1000
    found = jax.jit(lambda x: x @ jnp.eye(512, dtype=jnp.float32))(a)
    return int((abs(found - a) > 1).sum())


def main():
    say("version", f"{jax.__version__} {jax.devices()[0].platform}")
    say("total", jax.devices()[0].memory_stats()["bytes_limit"])
    say("wrong", product())
    try:
        jnp.zeros(8 << 30, dtype=jnp.uint8).block_until_ready()
        say("error", "none")
    except Exception as error:  # pylint: disable=broad-except  # its class has changed between versions
        say("error", "RESOURCE_EXHAUSTED" if "RESOURCE_EXHAUSTED" in str(error) else repr(error)[:200])
    say("after", "works" if product() == 0 else "wrong")
    hold()


main()
