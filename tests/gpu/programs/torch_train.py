"""train [STEPS]: so many training steps, or training until SIGTERM without a number. Prints `first_loss`, `last_loss`, `peak`
(PyTorch's bytes) and `total` (what it takes for the card's size); without a number `finished TIME STEPS` after each step:
CLOCK_MONOTONIC in nanoseconds, steps that the GPU is done with."""
import sys
import time

import torch

from torch_model import Training
from words import say


def train_on(training):
    say("ready", "")
    last = None
    steps = 0
    while True:
        training.step()
        event = torch.cuda.Event()
        event.record()
        # One step ahead of the GPU, so that it never waits for Python.
        if last is not None:
            last.synchronize()
            steps += 1
            say("finished", f"{time.monotonic_ns()} {steps}")
        last = event


def main():
    training = Training(batch=32)
    losses = [training.step().item() for _ in range(3)]
    if len(sys.argv) < 2:
        train_on(training)
    losses += [training.step().item() for _ in range(int(sys.argv[1]))]
    say("first_loss", losses[0])
    say("last_loss", losses[-1])
    say("peak", torch.cuda.max_memory_reserved())
    say("total", torch.cuda.mem_get_info()[1])


main()
