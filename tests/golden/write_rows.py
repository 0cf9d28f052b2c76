"""Writes rows.h5: what PyTorch makes of the rows that the tests name.

A row is a call in a test, with the PyTorch expression that it is compared with as a string:

    compare_with_torch<TestType>("torch.nn.RMSNorm(6, eps=1e-05)", {{2, 3, 6}}, …)
    compare_with_torch_optimizer<TestType>("torch.optim.RMSprop(parameters, lr=0.01)", …)

For a module the file has a group as write_layers.py writes it, with inputs 0, 1, … of the shapes
named; for an optimizer the parameters of a small model before and after each of 10 steps. Run it
after adding a row; rows that are there already keep their numbers, as each has a seed of its own.

Needs torch, numpy and h5py. The file in the repository was written with torch 2.13.
"""

import pathlib
import re
import zlib

import h5py
import numpy as np
import torch

from write_layers import normal, random, randomized, write_case

TESTS = pathlib.Path(__file__).parent.parent
STRINGS = r'((?:"[^"]*"\s*)+)'
MODULE = re.compile(r"compare_with_torch<\w+>\(\s*" + STRINGS + r",\s*\{((?:\s*\{[\d\s,]*\}\s*,?)+)\s*\}")
OPTIMIZER = re.compile(r"compare_with_torch_optimizer<\w+>\(\s*" + STRINGS)
STEPS = 10


def expression_of(strings):
    return "".join(re.findall(r'"([^"]*)"', strings))


def group_name(expression):
    """As `row_name` in torch_row.hpp."""
    return re.sub(r"[^0-9A-Za-z]+", "_", expression).strip("_")


def write_module(file, expression, shapes):
    module = randomized(eval(expression))
    inputs = {str(i): random(*shape) for i, shape in enumerate(shapes)}
    write_case(file, group_name(expression), module, inputs, module(*inputs.values()))


def write_optimizer(file, expression):
    """A model y = x Wᵀ + b, whose loss is the mean of (y - target)²."""
    group = file.create_group(group_name(expression))
    x, target = normal(5, 3), normal(5, 2)
    model = randomized(torch.nn.Linear(3, 2))
    group["x"], group["target"] = x.numpy(), target.numpy()
    for name, value in model.state_dict().items():
        group[f"start/{name}"] = value.numpy().copy()
    parameters = list(model.parameters())
    optimizer = eval(expression)
    steps = {name: [] for name in model.state_dict()}
    for _ in range(STEPS):
        optimizer.zero_grad()
        ((model(x) - target) ** 2).mean().backward()
        optimizer.step()
        for name, value in model.state_dict().items():
            steps[name].append(value.numpy().copy())
    for name, values in steps.items():
        group[f"steps/{name}"] = np.stack(values)


if __name__ == "__main__":
    torch.set_default_dtype(torch.double)
    rows = {}
    for test in sorted(TESTS.rglob("*_test.cpp")):
        text = test.read_text()
        for strings, shapes in MODULE.findall(text):
            sizes = [[int(n) for n in re.findall(r"\d+", shape)]
                     for shape in re.findall(r"\{([\d\s,]*)\}", shapes)]
            rows[expression_of(strings)] = lambda f, e, sizes=sizes: write_module(f, e, sizes)
        for strings in OPTIMIZER.findall(text):
            rows[expression_of(strings)] = write_optimizer
    with h5py.File(pathlib.Path(__file__).with_name("rows.h5"), "w", libver="v108") as rows_file:
        for expression in sorted(rows):
            torch.manual_seed(zlib.crc32(expression.encode()))
            rows[expression](rows_file, expression)
            print(expression)
