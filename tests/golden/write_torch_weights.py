"""Writes torch_*.h5: the weights of a PyTorch feed-forward network, as users save them with h5py,
and an input and output of the network."""

from pathlib import Path

import h5py
import numpy as np
import torch


class FeedForward(torch.nn.Module):
    """d2l.ai's PositionWiseFFN."""

    def __init__(self):
        super().__init__()
        self.dense1 = torch.nn.Linear(4, 6)
        self.dense2 = torch.nn.Linear(6, 4)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


folder = Path(__file__).parent
torch.manual_seed(1)
network = FeedForward()
weights = {name: value.numpy() for name, value in network.state_dict().items()}

with h5py.File(folder / "torch_flat.h5", "w") as file:
    for name, value in weights.items():
        file[name] = value

with h5py.File(folder / "torch_nested.h5", "w") as file:
    for name, value in weights.items():
        file.create_dataset(name.replace(".", "/"), data=value, compression="gzip", shuffle=True)

# torch.compile prefixes all names with "_orig_mod."; double precision, big-endian.
with h5py.File(folder / "torch_compiled.h5", "w") as file:
    for name, value in weights.items():
        file[f"state_dict/_orig_mod.{name}"] = value.astype(">f8")

x = torch.randn(3, 4)
with h5py.File(folder / "torch_values.h5", "w") as file:
    file["x"] = x.numpy()
    file["y"] = network(x).detach().numpy()
