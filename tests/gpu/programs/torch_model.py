"""What the PyTorch programs share: a small transformer that learns to copy noise."""
import torch
from torch import nn


class Training:
    """The model is so large that the GPU, not Python, takes most of a step; every step has the same size."""

    def __init__(self, width=512, layers=4, batch=16, length=256):
        torch.manual_seed(1)
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.0, batch_first=True)
        self.model = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.input = torch.randn(batch, length, width, device="cuda")
        self.target = torch.randn(batch, length, width, device="cuda")

    def step(self):
        """Return the loss, still on the GPU."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(self.model(self.input), self.target)
        loss.backward()
        self.optimizer.step()
        return loss.detach()
