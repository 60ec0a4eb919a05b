"""Allocates until PyTorch raises OutOfMemoryError, frees a part, and trains on. Prints `error` (the exception's name),
`allocated_mib`, `after` (whether a training step works after it) and holds what it has."""
import torch

from torch_model import Training
from words import hold, say


def main():
    training = Training()
    training.step().item()
    held = []
    try:
        while True:
            held.append(torch.empty(64 << 20, dtype=torch.uint8, device="cuda"))
    except torch.OutOfMemoryError as error:
        say("error", type(error).__name__)
    say("allocated_mib", 64 * len(held))
    del held[len(held) // 2:]
    say("after", "works" if training.step().item() < 100 else "wrong")
    hold()


main()
