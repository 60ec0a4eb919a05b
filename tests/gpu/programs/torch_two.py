"""Two processes of one job: the second one opens a tensor of the first one (CUDA's IPC), then fills what is left of the limit.
Prints `sum` (of the tensor, as the second one sees it), `error` (the second one's exception) and `after` (whether the first one
still trains), then holds; the second one does, too. `at PID TIME WHAT` says when (CLOCK_MONOTONIC in ns) which process began
with what."""
import os
import time

import torch
from torch import multiprocessing

from torch_model import Training
from words import hold, say


def begin(what):
    say("at", f"{os.getpid()} {time.monotonic_ns()} {what}")


def second(queue, done):
    begin("waiting for the tensor")
    tensor = queue.get()
    begin("the sum")
    say("sum", tensor.sum().item())
    begin("filling")
    held = []
    try:
        while True:
            held.append(torch.empty(64 << 20, dtype=torch.uint8, device="cuda"))
    except torch.OutOfMemoryError as error:
        say("error", type(error).__name__)
    done.set()
    hold()


def main():
    processes = multiprocessing.get_context("spawn")
    queue, done = processes.Queue(), processes.Event()
    other = processes.Process(target=second, args=(queue, done), daemon=True)
    other.start()
    begin("training")
    training = Training()
    # After the second step nothing new is allocated: the first one leaves the optimizer's state behind.
    for _ in range(3):
        training.step().item()
    begin("the tensor")
    tensor = torch.ones(64 << 20, dtype=torch.float32, device="cuda")
    queue.put(tensor)
    if not done.wait(90):
        say("error", "the second process does not answer")
    begin("training on")
    try:
        say("after", "works" if training.step().item() < 100 else "wrong")
    except torch.OutOfMemoryError as error:
        say("after", type(error).__name__)
    hold()


if __name__ == "__main__":
    main()
