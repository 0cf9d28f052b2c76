"""Prints the table of tests/train/optimizer_test.cpp: where PyTorch's optimizers get in 20 steps.

Nine numbers in two tensors, a weight [2, 3] and a bias [3]. The gradient of number i is
(0.3 + 0.2 i) (p_i - (1 - 0.4 i)), its start 0.5 i - 1. The learning rate halves after 10 steps.
"""
import torch

optimizers = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, weight_decay=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.1),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.1, betas=(0.8, 0.95), eps=1e-6),
    "adam with decay": lambda p: torch.optim.Adam(p, lr=0.1, weight_decay=0.2),
    "adamw": lambda p: torch.optim.AdamW(
        [{"params": [p[0]], "weight_decay": 0.2}, {"params": [p[1]], "weight_decay": 0.0}],
        lr=0.1, betas=(0.8, 0.95)),
}

i = torch.arange(9, dtype=torch.float64)
slope, target, start = 0.3 + 0.2 * i, 1 - 0.4 * i, 0.5 * i - 1
for name, make in optimizers.items():
    weight = start[:6].reshape(2, 3).clone().requires_grad_()
    bias = start[6:].clone().requires_grad_()
    optimizer = make([weight, bias])
    for step in range(20):
        if step == 10:
            for group in optimizer.param_groups:
                group["lr"] /= 2
        both = torch.cat([weight.flatten(), bias])
        optimizer.zero_grad()
        (0.5 * slope * (both - target) ** 2).sum().backward()
        optimizer.step()
    values = torch.cat([weight.flatten(), bias]).detach()
    print(name, "{" + ", ".join(f"{value:.17g}" for value in values.tolist()) + "}")
