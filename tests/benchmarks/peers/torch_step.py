"""The benchmarks with PyTorch: one training step of a workload, eager or compiled.

usage: torch_step.py WORKLOAD THREADS SECONDS eager|compile full|bf16

bf16 is torch.autocast; for W1 … W6 only.
prints: median_ms tokens mean_ms peak_mib
"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from measure import report

workload, threads, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
mode, precision = sys.argv[4:6]
torch.set_num_threads(threads)
torch.manual_seed(0)


def autocast():
    return torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16")


class Attention(nn.Module):
    def __init__(self, width, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=bias) for _ in range(4))

    def forward(self, queries, keys, causal=False):
        split = lambda x: x.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        y = F.scaled_dot_product_attention(
            split(self.q(queries)), split(self.k(keys)), split(self.v(keys)), is_causal=causal)
        return self.o(y.transpose(1, 2).flatten(-2))


class SelfAttention(nn.Module):
    """Self-attention with packed input projections."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.o = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, causal=False):
        q, k, v = (z.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for z in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.o(y.transpose(1, 2).flatten(-2))


class Block(nn.Module):
    def __init__(self, width, heads, activation, causal=False, cross=False):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if cross else 2))
        self.attention = SelfAttention(width, heads)
        self.cross = Attention(width, heads) if cross else None
        self.dense1, self.dense2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.activation, self.causal = activation, causal

    def forward(self, x, memory=None):
        x = x + self.attention(self.norms[0](x), self.causal)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), memory)
        return x + self.dense2(self.activation(self.dense1(self.norms[-1](x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary, context, layers, heads, width):
        super().__init__()
        gelu = nn.GELU(approximate="tanh")
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads, gelu, causal=True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        h = self.tokens(x) + self.positions.weight[:x.shape[1]]
        for block in self.blocks:
            h = block(h)
        return F.linear(self.norm(h), self.tokens.weight)


class Pronouncer(nn.Module):
    def __init__(self, letters, phones, layers, heads, width):
        super().__init__()
        relu = nn.ReLU()
        self.letters, self.phones = nn.Embedding(letters, width), nn.Embedding(phones, width)
        self.register_buffer("table", torch.randn(65, width))
        self.encoder = nn.ModuleList(Block(width, heads, relu) for _ in range(layers))
        self.decoder = nn.ModuleList(
            Block(width, heads, relu, causal=True, cross=True) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.output = nn.Linear(width, phones)

    def forward(self, letters, phones):
        memory = self.letters(letters) + self.table[:letters.shape[1]]
        for block in self.encoder:
            memory = block(memory)
        memory = self.norms[0](memory)
        h = self.phones(phones) + self.table[:phones.shape[1]]
        for block in self.decoder:
            h = block(h, memory)
        return self.output(self.norms[1](h))


def training_step(model, inputs, vocabulary, batch, time_steps, smoothing=0.0):
    """Forward, backward, clipping, AdamW."""
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    targets = torch.randint(vocabulary, (batch, time_steps))

    def loss_of():
        logits = model(*inputs)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), label_smoothing=smoothing)

    if mode == "compile":
        loss_of = torch.compile(loss_of)
    parameters = list(model.parameters())

    def step():
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            loss = loss_of()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
        optimizer.step()

    return step, batch * time_steps


def attention_step(width, heads, batch, queries, keys):
    model = Attention(width, heads, bias=False)
    x = torch.randn(batch, queries, width, requires_grad=True)
    y = torch.randn(batch, keys, width, requires_grad=True)
    upstream = torch.randn(batch, queries, width)
    run = torch.compile(model) if mode == "compile" else model

    def step():
        for tensor in [x, y, *model.parameters()]:
            tensor.grad = None
        with autocast():
            result = run(x, y)
        result.backward(upstream.to(result.dtype))

    return step, batch * queries


class SwiGLU(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w1, self.w3 = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.w2 = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class GroupedQueryAttention(nn.Module):
    def __init__(self, width, heads, kv_heads):
        super().__init__()
        self.size = width // heads
        self.q, self.o = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(width, kv_heads * self.size, bias=False) for _ in range(2))

    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, (-1, self.size)).transpose(1, 2)
                   for layer in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o(y.transpose(1, 2).flatten(-2))


class MeanPooling(nn.Module):
    def forward(self, x):
        lengths = 1 + torch.arange(x.shape[0]) * (x.shape[1] - 1) // x.shape[0]
        mask = (torch.arange(x.shape[1]) < lengths[:, None])[..., None]
        return (x * mask).sum(1) / lengths[:, None]


LAYERS = {"RNN": lambda width: nn.RNN(width, width, batch_first=True),
          "GRU": lambda width: nn.GRU(width, width, batch_first=True),
          "LSTM": lambda width: nn.LSTM(width, width, batch_first=True),
          "BiLSTM": lambda width: nn.LSTM(width, width, batch_first=True, bidirectional=True),
          "SwiGLU": lambda width: SwiGLU(width, 3 * width),
          "RMSNorm": lambda width: nn.RMSNorm(width),
          "GQA": lambda width: GroupedQueryAttention(width, 8, 2),
          "pooling": lambda width: MeanPooling()}


def layer_step(layer, batch, time_steps, width):
    """Forward and backward, with gradients of the input and the parameters."""
    x = torch.randn(batch, time_steps, width, requires_grad=True)

    def value():
        y = layer(x)
        return y[0] if isinstance(y, tuple) else y

    run = torch.compile(value) if mode == "compile" else value
    upstream = torch.randn_like(value())

    def step():
        for tensor in [x, *layer.parameters()]:
            tensor.grad = None
        run().backward(upstream)

    return step, batch * time_steps


GPTS = {"W1": (30, 10, 2, 4, 32, 64), "W2": (65, 64, 4, 4, 128, 12),
        "W3": (65, 256, 6, 6, 384, 8), "W4": (50257, 64, 12, 12, 768, 4)}
if workload in GPTS:
    *sizes, batch = GPTS[workload]
    inputs = [torch.randint(sizes[0], (batch, sizes[1]))]
    step, tokens = training_step(Gpt(*sizes), inputs, sizes[0], batch, sizes[1])
elif workload == "W5":
    inputs = [torch.randint(31, (128, 8)), torch.randint(43, (128, 8))]
    step, tokens = training_step(Pronouncer(31, 43, 2, 4, 96), inputs, 43, 128, 8, 0.1)
elif workload in LAYERS:
    step, tokens = layer_step(LAYERS[workload](128), 32, 64, 128)
elif workload == "W6":
    step, tokens = attention_step(100, 5, 2, 4, 6)
else:
    length = int(workload.removeprefix("W6-"))
    step, tokens = attention_step(512, 8, 1, length, length)

report(step, tokens, seconds)
