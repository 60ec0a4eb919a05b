"""CuPy: prints `version`, `total` (what it takes for the card's size), `wrong` (elements of a product and of a kernel compiled here),
`allocated_mib` and `error` (of allocations until one is refused), `after` (whether it computes on), then holds."""
import cupy

from words import hold, say


def product():
    a = cupy.random.rand(512, 512, dtype=cupy.float32)
    return int((abs(a @ cupy.eye(512, dtype=cupy.float32) - a) > 1e-2).sum())


def main():
    say("version", cupy.__version__)
    say("total", cupy.cuda.runtime.memGetInfo()[1])
    twice = cupy.RawKernel('extern "C" __global__ void twice(float* x) { x[blockIdx.x * 256 + threadIdx.x] *= 2; }', "twice")
    ones = cupy.ones(1 << 20, dtype=cupy.float32)
    twice((4096,), (256,), (ones,))
    say("wrong", product() + int((ones != 2).sum()))
    held = []
    try:
        while True:
            held.append(cupy.empty(64 << 20, dtype=cupy.uint8))
    except cupy.cuda.memory.OutOfMemoryError as error:
        say("error", type(error).__name__)
    say("allocated_mib", 64 * len(held))
    del held[len(held) // 2:]
    say("after", "works" if product() == 0 else "wrong")
    hold()


main()
