"""Triton: prints `version` and `wrong` (elements of a sum by a kernel that is compiled here), then holds."""
import time

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < size
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


def main():
    size = 1_000_000
    x, y = torch.rand(size, device="cuda"), torch.rand(size, device="cuda")
    out = torch.empty_like(x)
    add[(triton.cdiv(size, 1024),)](x, y, out, size, BLOCK=1024)
    print("version", triton.__version__)
    print("wrong", int((out != x + y).sum()))
    print("ready", flush=True)
    while True:
        time.sleep(1)


main()
