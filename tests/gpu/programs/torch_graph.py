"""A training step captured as a CUDA graph and replayed, against the same steps one by one. Prints `difference`, the largest
between the weights of both (relative to the largest weight), and `peak`."""
import torch

from torch_model import Training, say

STEPS = 5


def captured():
    training = Training()
    training.optimizer = torch.optim.SGD(training.model.parameters(), lr=1e-3)
    start = {name: value.clone() for name, value in training.model.state_dict().items()}
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            training.step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    training.optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        training.step()
    training.model.load_state_dict(start)
    for _ in range(STEPS):
        graph.replay()
    torch.cuda.synchronize()
    return training.model


def plain():
    training = Training()
    training.optimizer = torch.optim.SGD(training.model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        training.step()
    torch.cuda.synchronize()
    return training.model


def main():
    one, other = captured(), plain()
    pairs = list(zip(one.parameters(), other.parameters()))
    most = max(b.abs().max().item() for _, b in pairs)
    say("difference", max((a - b).abs().max().item() for a, b in pairs) / most)
    say("peak", torch.cuda.max_memory_reserved())


main()
