"""JAX, which takes three quarters of the card that it sees at its start. Prints `version`, `total` (what it may take), `wrong`
(elements of a product), `error` (of an array that is larger than that), `after` (whether it computes on), then holds."""
import time

import jax
import jax.numpy as jnp


def product():
    a = jnp.arange(512 * 512, dtype=jnp.float32).reshape(512, 512) / 1000
    found = jax.jit(lambda x: x @ jnp.eye(512, dtype=jnp.float32))(a)
    return int((abs(found - a) > 1).sum())


def main():
    print("version", jax.__version__, jax.devices()[0].platform)
    print("total", jax.devices()[0].memory_stats()["bytes_limit"])
    print("wrong", product())
    try:
        jnp.zeros(8 << 30, dtype=jnp.uint8).block_until_ready()
        print("error none")
    except Exception as error:  # pylint: disable=broad-except  # its class has changed between versions
        print("error", "RESOURCE_EXHAUSTED" if "RESOURCE_EXHAUSTED" in str(error) else repr(error)[:200])
    print("after", "works" if product() == 0 else "wrong")
    print("ready", flush=True)
    while True:
        time.sleep(1)


main()
