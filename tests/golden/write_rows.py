"""Writes rows.h5: what PyTorch makes of the rows that the tests name.

A row is a call in a test, with the PyTorch expression that it is compared with as a string:

    compare_with_torch<TestType>("torch.nn.RMSNorm(6, eps=1e-05)", {{2, 3, 6}}, …)
    compare_with_torch_optimizer<TestType>("torch.optim.RMSprop(parameters, lr=0.01)", …)
    compare_with_torch_schedule("torch.optim.lr_scheduler.ConstantLR(optimizer(0.25))", …)

For a module the file has a group as write_layers.py writes it, with inputs 0, 1, … of the shapes
named; for an optimizer the parameters of a small model before and after each of 10 steps; for a
scheduler the learning rates of the first 26 steps. Run it after adding a row; rows that are there already keep their numbers, as each has a seed of its own.

Needs torch, numpy and h5py. The file in the repository was written with torch 2.13.
"""

import itertools
import pathlib
import re
import zlib
from collections import OrderedDict

import h5py
import numpy as np
import torch

from write_layers import causal, normal, padding_mask, random, randomized, write_case

TESTS = pathlib.Path(__file__).parent.parent
STRINGS = r'((?:"[^"]*"\s*)+)'
MODULE = re.compile(r"compare_with_torch<\w+>\(\s*" + STRINGS + r",\s*\{((?:\s*\{[\d\s,]*\}\s*,?)+)\s*\}")
OPTIMIZER = re.compile(r"compare_with_torch_optimizer<\w+>\(\s*" + STRINGS)
SCHEDULE = re.compile(r"compare_with_torch_schedule\(\s*" + STRINGS)
STEPS = 10


class Function(torch.nn.Module):
    """A function of tensors as a module without parameters."""

    def __init__(self, function):
        super().__init__()
        self.forward = function


def sinusoids(positions, size):
    """The table of Vaswani et al. (2017), section 3.5."""
    column = torch.arange(size)
    angle = torch.arange(positions)[:, None] / 10000.0 ** ((column - column % 2) / size)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def channels_last(convolution):
    """A convolution of [batch, time, channels]."""
    forward = convolution.forward
    convolution.forward = lambda x: forward(x.transpose(1, 2)).transpose(1, 2)
    return convolution


class MaskedLSTM(torch.nn.LSTM):
    """An LSTM that keeps its state at masked steps; the outputs, then the final hidden and cell
    state."""

    def __init__(self, input_size, hidden_size, mask):
        super().__init__(input_size, hidden_size, batch_first=True)
        self.mask = torch.tensor(mask, dtype=torch.bool)

    def forward(self, x):
        state = (torch.zeros(1, len(x), self.hidden_size),) * 2
        outputs = []
        for t in range(x.shape[1]):
            _, after = super().forward(x[:, t:t + 1], state)
            state = tuple(torch.where(self.mask[:, t, None], new, old)
                          for new, old in zip(after, state))
            outputs.append(state[0][0])
        return torch.stack(outputs + [state[0][0], state[1][0]], 1)


class LearnedPositions(torch.nn.Module):
    """Adds a trained vector to each position, as GPT-2 does."""

    def __init__(self, max_len, size):
        super().__init__()
        self.positions = torch.nn.Embedding(max_len, size)

    def forward(self, x):
        return x + self.positions(torch.arange(x.shape[1]))


class SwiGLU(torch.nn.Module):
    """The feed-forward network of Llama."""

    def __init__(self, size, hiddens, bias):
        super().__init__()
        self.w1 = torch.nn.Linear(size, hiddens, bias=bias)
        self.w2 = torch.nn.Linear(hiddens, size, bias=bias)
        self.w3 = torch.nn.Linear(size, hiddens, bias=bias)

    def forward(self, x):
        return self.w2(torch.nn.functional.silu(self.w1(x)) * self.w3(x))


class GroupedAttention(torch.nn.Module):
    """Causal self-attention of 4 query heads and fewer key and value heads, of size 2."""

    def __init__(self, size, kv_heads, scale=None):
        super().__init__()
        self.scale = scale
        self.W_q = torch.nn.Linear(size, 8)
        self.W_k = torch.nn.Linear(size, kv_heads * 2)
        self.W_v = torch.nn.Linear(size, kv_heads * 2)
        self.W_o = torch.nn.Linear(8, 8)

    def forward(self, x):
        heads = [projection(x).unflatten(2, (-1, 2)).transpose(1, 2)
                 for projection in (self.W_q, self.W_k, self.W_v)]
        y = torch.nn.functional.scaled_dot_product_attention(
            *heads, is_causal=True, scale=self.scale, enable_gqa=True)
        return self.W_o(y.transpose(1, 2).flatten(2))


class LlamaBlock(torch.nn.Module):
    """RMS norms, grouped-query attention and SwiGLU of 12 hidden elements; pre-norm."""

    def __init__(self, kv_heads, scale=None):
        super().__init__()
        self.attention = GroupedAttention(8, kv_heads, scale)
        self.norm1 = torch.nn.RMSNorm(8, eps=1e-6)
        self.ffn = SwiGLU(8, 12, bias=False)
        self.norm2 = torch.nn.RMSNorm(8, eps=1e-6)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class RelativeAttention(torch.nn.Module):
    """Self-attention of 2 heads of size 3, whose scores are not scaled, with the relative position
    bias of Raffel et al. (2020); causal unless bidirectional."""

    def __init__(self, buckets, max_distance, bidirectional):
        super().__init__()
        self.attention = torch.nn.Module()
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self.attention, name, torch.nn.Linear(6, 6, bias=False))
        self.position_bias = torch.nn.Embedding(buckets, 2)
        self.buckets, self.max_distance, self.bidirectional = buckets, max_distance, bidirectional

    def bucket(self, distance):
        """Of the position of a key minus that of the query, by the formula."""
        buckets = self.buckets // 2 if self.bidirectional else self.buckets
        first = buckets if self.bidirectional and distance > 0 else 0
        size = abs(distance) if self.bidirectional else max(0, -distance)
        single = buckets // 2
        if size < single:
            return first + size
        place = np.log(size / single) / np.log(self.max_distance / single) * (buckets - single)
        return first + min(buckets - 1, single + int(place))

    def forward(self, x):
        q, k, v = (getattr(self.attention, name)(x).unflatten(2, (2, 3)).transpose(1, 2)
                   for name in ("W_q", "W_k", "W_v"))
        time = range(x.shape[1])
        bias = self.position_bias(torch.tensor([[self.bucket(key - query) for key in time]
                                                for query in time])).permute(2, 0, 1)
        if not self.bidirectional:
            bias = bias.masked_fill(causal(x.shape[1]), -torch.inf)
        y = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=bias.expand(x.shape[0], -1, -1, -1), scale=1.0)
        return self.attention.W_o(y.transpose(1, 2).flatten(2))


class PaddedDecoderLayer(torch.nn.TransformerDecoderLayer):
    """With targets of lengths 3 and 4, and memories of lengths 2 and 5."""

    def forward(self, x, memory):
        return super().forward(
            x, memory, tgt_mask=causal(x.shape[1]),
            tgt_key_padding_mask=padding_mask([3, 4], x.shape[1]),
            memory_key_padding_mask=padding_mask([2, 5], memory.shape[1]))


def optimizer(learning_rate):
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=learning_rate)


def warmup(sgd, steps, after):
    """Linear from 0, which step 0 would have, to the full learning rate at step `steps`."""
    schedulers = torch.optim.lr_scheduler
    linear = schedulers.LinearLR(sgd, 1 / steps, 1.0, total_iters=steps - 1)
    return schedulers.SequentialLR(sgd, [linear, after(sgd)], milestones=[steps - 1])


def plateau(sgd, **options):
    """ReduceLROnPlateau after values of the steps that rise and fall."""
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(sgd, **options)
    step, values = scheduler.step, (abs(i % 9 - 4) / (i + 5) for i in itertools.count())
    scheduler.step = lambda: step(next(values))
    return scheduler


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
    optimizer_of_row = eval(expression)
    steps = {name: [] for name in model.state_dict()}
    for _ in range(STEPS):
        optimizer_of_row.zero_grad()
        ((model(x) - target) ** 2).mean().backward()
        optimizer_of_row.step()
        for name, value in model.state_dict().items():
            steps[name].append(value.numpy().copy())
    for name, values in steps.items():
        group[f"steps/{name}"] = np.stack(values)


def write_schedule(file, expression):
    scheduler = eval(expression)
    rates = []
    for _ in range(26):
        rates.append(scheduler.get_last_lr()[0])
        scheduler.optimizer.step()
        scheduler.step()
    file.create_group(group_name(expression))["learning_rates"] = np.array(rates)


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
        for strings in SCHEDULE.findall(text):
            rows[expression_of(strings)] = write_schedule
    with h5py.File(pathlib.Path(__file__).with_name("rows.h5"), "w", libver="v108") as rows_file:
        for expression in sorted(rows):
            torch.manual_seed(zlib.crc32(expression.encode()))
            rows[expression](rows_file, expression)
            print(expression)
