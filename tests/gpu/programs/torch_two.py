"""Two processes of one job: the second one opens a tensor of the first one (CUDA's IPC), then fills what is left of the limit.
Prints `sum` (of the tensor, as the second one sees it), `error` (the second one's exception) and `after` (whether the first one
still trains), then holds; the second one does, too."""
import torch
from torch import multiprocessing

from torch_model import Training, hold, say


def second(queue, done):
    tensor = queue.get()
    say("sum", tensor.sum().item())
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
    training = Training()
    training.step().item()
    tensor = torch.ones(64 << 20, dtype=torch.float32, device="cuda")
    queue.put(tensor)
    if not done.wait(90):
        say("error", "the second process does not answer")
    try:
        say("after", "works" if training.step().item() < 100 else "wrong")
    except torch.OutOfMemoryError as error:
        say("after", type(error).__name__)
    hold()


if __name__ == "__main__":
    main()
