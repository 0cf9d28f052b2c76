"""Writes optimizers.h5: the parameters after each of 20 steps of PyTorch's optimizers, in double.

The model predicts a token from the one before it: an embedding, a layer norm, a linear layer. One
token never occurs, so that some gradients are 0. The learning rate halves after 10 steps.

    tokens, labels              the inputs and the expected outputs
    start/<name>                the model's state_dict before training, exact in float too
    <optimizer>/<name>          [20, ...], the parameter after each step

    late/steps                  [n, 4], steps: each line the steps after which a parameter is stored
    late/<optimizer>            [n, 4, 3], that parameter, whose first gradient comes at the first
                                of these steps; before it has none, as an unused or frozen layer
    muon/<options>/<a>x<b>      [2, a, b], a matrix after steps 1 and 20 of Muon. Element k is sin(k)
                                at first, and its gradient in step n = 1, 2, … is cos(n + k² / 8).
                                torch rounds its steps to bfloat16; here, this is disabled.

Needs torch, numpy and h5py. The file in the repository was written with torch 2.13.
"""

import pathlib

import h5py
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

VOCABULARY, HIDDENS = 5, 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDENS)
        self.norm = nn.LayerNorm(HIDDENS)
        self.linear = nn.Linear(HIDDENS, VOCABULARY)

    def forward(self, tokens):
        return self.linear(self.norm(self.embedding(tokens)))


def matrices_decay(model, weight_decay):
    """weft's rule for AdamW: weight matrices decay; biases, and the scales of norms, do not."""
    parameters = list(model.parameters())
    return [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]


OPTIMIZERS = {
    "sgd": lambda m: optim.SGD(m.parameters(), lr=0.1, weight_decay=0.1),
    "momentum": lambda m: optim.SGD(m.parameters(), lr=0.05, momentum=0.9),
    "momentum_decay": lambda m: optim.SGD(m.parameters(), lr=0.05, momentum=0.9, weight_decay=0.1),
    "nesterov": lambda m: optim.SGD(m.parameters(), lr=0.05, momentum=0.8, nesterov=True,
                                    weight_decay=0.2),
    "adam": lambda m: optim.Adam(m.parameters(), lr=0.02),
    "adam_decay": lambda m: optim.Adam(m.parameters(), lr=0.02, betas=(0.8, 0.95), eps=1e-6,
                                       weight_decay=0.2),
    "adamw": lambda m: optim.AdamW(matrices_decay(m, 0.5), lr=0.02, betas=(0.8, 0.95)),
    "adamw_all": lambda m: optim.AdamW(m.parameters(), lr=0.02, weight_decay=0.2),
}

LATE = {
    "adam": lambda p: optim.Adam(p, lr=0.01),
    "adam_decay": lambda p: optim.Adam(p, lr=0.01, weight_decay=0.1),
    "adamw": lambda p: optim.AdamW(p, lr=0.01, weight_decay=0.1),
    "momentum_decay": lambda p: optim.SGD(p, lr=0.01, momentum=0.9, weight_decay=0.1),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5, weight_decay=0.1),
}
LATE_STEPS = [[first, first + 1, first + 2, first + 9] for first in (1, 10, 100, 1000)]

MUON = {
    "default": dict(lr=0.02),
    "rms": dict(lr=0.01, adjust_lr_fn="match_rms_adamw", nesterov=False, momentum=0.8,
                weight_decay=0.3),
    "steps": dict(lr=0.05, ns_steps=3, ns_coefficients=(2.0, -1.5, 0.5), eps=1e-3,
                  weight_decay=0.0),
}
MUON_SHAPES = [(3, 7), (7, 3), (5, 5), (1, 6), (20, 18), (18, 20)]


def muon_steps(options, shape):
    index = torch.arange(shape[0] * shape[1]).double().reshape(shape)
    parameter = nn.Parameter(torch.sin(index))
    optimizer = optim.Muon([parameter], **options)
    rounding, torch.Tensor.bfloat16 = torch.Tensor.bfloat16, torch.Tensor.clone
    after = []
    for step in range(1, 21):
        parameter.grad = torch.cos(step + index**2 / 8)
        optimizer.step()
        if step in (1, 20):
            after.append(parameter.detach().numpy().copy())
    torch.Tensor.bfloat16 = rounding
    return np.stack(after)


def late_gradients(make):
    """The parameters of LATE_STEPS; the gradient in step n is cos(n + 0, 1, 2)."""
    parameters = [nn.Parameter(torch.tensor([1.0, -2.0, 0.5]).double()) for _ in LATE_STEPS]
    optimizer = make(parameters)
    stored = [[] for _ in LATE_STEPS]
    for step in range(1, LATE_STEPS[-1][-1] + 1):
        optimizer.zero_grad()
        for parameter, steps in zip(parameters, LATE_STEPS):
            if step >= steps[0]:
                parameter.grad = torch.cos(step + torch.arange(3).double())
        optimizer.step()
        for parameter, steps, values in zip(parameters, LATE_STEPS, stored):
            if step in steps:
                values.append(parameter.detach().numpy().copy())
    return np.array(stored)


torch.manual_seed(3)
tokens, labels = torch.tensor([0, 1, 2, 3, 2, 0]), torch.tensor([1, 4, 0, 3, 4, 1])
start = {name: torch.randn(value.shape).double() for name, value in Model().state_dict().items()}

with h5py.File(pathlib.Path(__file__).with_name("optimizers.h5"), "w", libver="v108") as file:
    file["tokens"], file["labels"] = (x.numpy().astype(np.int32) for x in (tokens, labels))
    for name, value in start.items():
        file[f"start/{name}"] = value.numpy()
    for optimizer_name, make in OPTIMIZERS.items():
        model = Model().double()
        model.load_state_dict(start)
        optimizer = make(model)
        after = {name: [] for name in start}
        for step in range(20):
            if step == 10:
                for group in optimizer.param_groups:
                    group["lr"] /= 2
            optimizer.zero_grad()
            F.cross_entropy(model(tokens), labels).backward()
            optimizer.step()
            for name, value in model.state_dict().items():
                after[name].append(value.numpy().copy())
        for name, values in after.items():
            file[f"{optimizer_name}/{name}"] = np.stack(values)
    file["late/steps"] = np.array(LATE_STEPS, dtype=np.int32)
    for optimizer_name, make in LATE.items():
        file[f"late/{optimizer_name}"] = late_gradients(make)
    for name, options in MUON.items():
        for a, b in MUON_SHAPES:
            file[f"muon/{name}/{a}x{b}"] = muon_steps(options, (a, b))
