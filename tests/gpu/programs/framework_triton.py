"""Triton: prints `version` and `wrong` (elements of a sum by a kernel that is compiled here), then holds."""
import torch
import triton
import triton.language as tl

from words import hold, say


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
    say("version", triton.__version__)
    say("wrong", int((out != x + y).sum()))
    hold()


main()
