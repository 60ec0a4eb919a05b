"""A training step captured as a CUDA graph and replayed, against the same steps one by one. Prints `moved`, the farthest that
a weight got by the steps one by one, and `difference`, the largest between the weights of both."""
import torch

from torch_model import Training
from words import say

STEPS = 5


def fresh():
    training = Training()
    training.optimizer = torch.optim.SGD(training.model.parameters(), lr=0.1)
    start = {name: value.clone() for name, value in training.model.state_dict().items()}
    return training, start


def captured():
    training, start = fresh()
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
    return training.model.state_dict()


def plain():
    training, start = fresh()
    for _ in range(STEPS):
        training.step()
    torch.cuda.synchronize()
    return training.model.state_dict(), start


def apart(one, other):
    return max((one[name] - other[name]).abs().max().item() for name in one)


def main():
    replayed = captured()
    stepped, start = plain()
    say("moved", apart(stepped, start))
    say("difference", apart(stepped, replayed))


main()
