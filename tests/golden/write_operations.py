"""Writes operations.h5: results and gradients of PyTorch's functions for random inputs, in double.

One group per case: inputs/<i>, output, upstream (the gradient of the output) and gradients/<i>.
Integer inputs and masks are constants in the test. All random numbers are exact in float too, so
that weft's float code gets the same inputs.

Needs torch, numpy and h5py. The file in the repository was written with torch 2.13.
"""

import pathlib

import h5py
import torch
import torch.nn.functional as F

import rotary

torch.manual_seed(5)
torch.set_default_dtype(torch.float64)

TOKENS = torch.tensor([[2, 0, 2], [4, 1, 2]])
TARGETS = torch.tensor([3, -100, 0, 4, 3, 1])
ALL_TARGETS = torch.tensor([3, 2, 0, 4, 3, 1])
SEEN = torch.tensor([[True, False, True, True], [True, True, False, False], [False, True, True, True]])
LENGTHS = torch.tensor([4, 2])
ADDED = torch.tensor([[0.5, -torch.inf, -2, 0.25], [1, 0, -torch.inf, -torch.inf], [-1, 3, 0.75, 2]])


def positive(*shape):
    return (torch.rand(shape, dtype=torch.float32) + 0.2).double()


def normal(*shape):
    # Away from 0, where some functions are not differentiable.
    x = torch.randn(shape, dtype=torch.float32)
    return (x + 0.1 * x.sign()).double()


def attention(q, k, v, heads, **options):
    split = lambda x: x.unflatten(-1, (heads, -1)).transpose(1, 2)
    y = F.scaled_dot_product_attention(split(q), split(k), split(v), **options)
    return y.transpose(1, 2).flatten(-2)


def rotated(x, rotate):
    return rotate(x.unflatten(-1, (2, -1)), base=500.0, first_position=3).flatten(2)


def by_lengths(queries, keys):
    return (torch.arange(keys) < LENGTHS[:, None, None, None]).expand(2, 1, queries, keys)


x = normal(3, 4)
CASES = {
    "add": (torch.add, [normal(2, 3, 4), normal(3, 1)]),
    "subtract": (torch.sub, [normal(3, 1), normal(2, 3, 4)]),
    "multiply": (torch.mul, [normal(2, 3, 4), normal(4)]),
    "divide": (torch.div, [normal(2, 3, 4), positive(2, 1, 4)]),
    "scale": (lambda x: -2.5 * x, [x]),
    "negate": (torch.neg, [x]),
    "exp": (torch.exp, [x]),
    "log": (torch.log, [positive(3, 4)]),
    "sqrt": (torch.sqrt, [positive(3, 4)]),
    "power": (lambda x: x.pow(2.3), [positive(3, 4)]),
    "abs": (torch.abs, [x]),
    "tanh": (torch.tanh, [x]),
    "sigmoid": (torch.sigmoid, [3 * normal(5, 9)]),
    "relu": (torch.relu, [x]),
    "gelu": (F.gelu, [2 * normal(5, 9)]),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), [2 * normal(5, 9)]),
    "clamp": (lambda x: x.clamp(-0.6, 0.7), [x]),
    "matmul": (torch.matmul, [normal(7, 5), normal(5, 6)]),
    "matmul_batch": (lambda a, b: a.mT @ b.mT, [normal(2, 3, 5, 7), normal(2, 3, 6, 5)]),
    "matmul_shared": (torch.matmul, [normal(2, 4, 5), normal(5, 6)]),
    "linear": (F.linear, [normal(2, 3, 5), normal(4, 5), normal(4)]),
    "linear_gelu": (lambda x, w, b: F.gelu(F.linear(x, w, b)), [normal(6, 5), normal(4, 5), normal(4)]),
    "reshape": (lambda x: x.reshape(6, 4), [normal(2, 3, 4)]),
    "permute": (lambda x: x.permute(2, 0, 1), [normal(2, 3, 4)]),
    "transpose": (lambda x: x.transpose(0, 2), [normal(2, 3, 4)]),
    "slice": (lambda x: x[:, 1:3], [normal(2, 5, 3)]),
    "concatenate": (lambda a, b: torch.cat([a, b], 1), [normal(2, 1, 3), normal(2, 4, 3)]),
    "stack": (lambda a, b: torch.stack([a, b], 1), [normal(2, 3), normal(2, 3)]),
    "repeat": (lambda x: x.repeat_interleave(3, 1), [normal(2, 4)]),
    "sum": (lambda x: x.sum(), [x]),
    "sum_axes": (lambda x: x.sum((0, 2)), [normal(2, 3, 4)]),
    "mean_axes": (lambda x: x.mean((1,), keepdim=True), [normal(2, 3, 4)]),
    "max_axes": (lambda x: x.amax((1,)), [normal(2, 3, 4)]),
    "variance_axes": (lambda x: x.var((0, 1)), [normal(2, 3, 4)]),
    "variance_biased": (lambda x: x.var((-1,), correction=0), [normal(2, 3, 4)]),
    "softmax": (lambda x: x.softmax(-1), [3 * normal(3, 5)]),
    "log_softmax": (lambda x: x.log_softmax(-1), [3 * normal(3, 5)]),
    "masked_softmax": (
        lambda x: x.masked_fill(~SEEN, -torch.inf).softmax(-1), [normal(2, 3, 4)]),
    "masked_softmax_added": (lambda x: (x + ADDED).softmax(-1), [normal(2, 3, 4)]),
    "layer_norm": (
        lambda x, w, b: F.layer_norm(x, (6,), w, b), [normal(2, 3, 6), normal(6), normal(6)]),
    "embedding": (lambda w: F.embedding(TOKENS, w), [normal(5, 3)]),
    "cross_entropy": (lambda x: F.cross_entropy(x, ALL_TARGETS), [normal(6, 5)]),
    "cross_entropy_ignoring": (lambda x: F.cross_entropy(x, TARGETS), [normal(6, 5)]),
    "cross_entropy_ignoring_a_class": (
        lambda x: F.cross_entropy(x, ALL_TARGETS, ignore_index=3), [normal(6, 5)]),
    "cross_entropy_smoothed": (
        lambda x: F.cross_entropy(x, ALL_TARGETS, label_smoothing=0.2), [normal(6, 5)]),
    "cross_entropy_smoothed_ignoring": (
        lambda x: F.cross_entropy(x, TARGETS, label_smoothing=0.2), [normal(6, 5)]),
    "cross_entropy_smoothed_ignoring_a_class": (
        lambda x: F.cross_entropy(x, ALL_TARGETS, ignore_index=3, label_smoothing=1.0),
        [normal(6, 5)]),
    "cross_entropy_divisor": (
        lambda x: F.cross_entropy(x, TARGETS, label_smoothing=0.1, reduction="sum") / 8,
        [normal(6, 5)]),
    "cross_entropy_sequences": (
        lambda x: F.cross_entropy(x.flatten(0, 1), TARGETS), [3 * normal(2, 3, 5)]),
    "mse_loss": (F.mse_loss, [normal(3, 4), normal(3, 4)]),
    "binary_cross_entropy_with_logits": (
        lambda x: F.binary_cross_entropy_with_logits(x, torch.tensor([0.0, 1.0, 0.3, 1.0])),
        [3 * normal(4)]),
    "attention": (lambda q, k, v: attention(q, k, v, 2), [normal(2, 3, 6), normal(2, 4, 6), normal(2, 4, 8)]),
    "attention_causal": (
        lambda q, k, v: attention(q, k, v, 3, is_causal=True), [normal(2, 5, 6) for _ in range(3)]),
    "attention_lengths": (
        lambda q, k, v: attention(q, k, v, 2, attn_mask=by_lengths(3, 4)),
        [normal(2, 3, 4), normal(2, 4, 4), normal(2, 4, 4)]),
    "attention_mask": (
        lambda q, k, v: attention(q, k, v, 2, attn_mask=SEEN),
        [normal(2, 3, 4), normal(2, 4, 4), normal(2, 4, 4)]),
    "attention_added": (
        lambda q, k, v: attention(q, k, v, 2, attn_mask=ADDED),
        [normal(2, 3, 4), normal(2, 4, 4), normal(2, 4, 4)]),
    "rotary_interleaved": (lambda x: rotated(x, rotary.interleaved), [normal(2, 5, 12)]),
    "rotary_halves": (lambda x: rotated(x, rotary.halves), [normal(2, 5, 12)]),
}

# The format of HDF5 1.8 stores many small groups compactly.
with h5py.File(pathlib.Path(__file__).with_name("operations.h5"), "w", libver="v108") as file:
    for name, (function, inputs) in CASES.items():
        inputs = [tensor.clone().requires_grad_() for tensor in inputs]
        output = function(*inputs)
        upstream = normal(*output.shape)
        gradients = torch.autograd.grad(output, inputs, upstream)
        group = file.create_group(name)
        group["output"], group["upstream"] = output.detach().numpy(), upstream.numpy()
        for i, (tensor, gradient) in enumerate(zip(inputs, gradients)):
            group[f"inputs/{i}"] = tensor.detach().numpy()
            group[f"gradients/{i}"] = gradient.numpy()
