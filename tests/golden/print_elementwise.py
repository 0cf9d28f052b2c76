"""Prints the table of tests/autograd/ops/elementwise_test.cpp: PyTorch's values and derivatives."""
import torch
from torch.nn import functional as F

functions = {
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "power": lambda x: torch.pow(x, 2.5),
    "abs": torch.abs,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "squared_relu": lambda x: F.relu(x) ** 2,
    "softplus": F.softplus,
    "log1p": torch.log1p,
    "relu": F.relu,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.3),
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "clamp": lambda x: torch.clamp(x, -0.5, 1.25),
}
positive_only = {"log", "sqrt", "power", "log1p"}

for name, function in functions.items():
    points = [0.01, 0.5, 1.25, 7.0] if name in positive_only else [-9.0, -1.25, -0.01, 0.5, 1.25, 7.0]
    x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    y = function(x)
    y.sum().backward()
    for row in zip(points, y.tolist(), x.grad.tolist()):
        print(f'{{"{name}", {row[0]:g}, {row[1]:.12g}, {row[2]:.12g}}},')
