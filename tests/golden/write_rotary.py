"""Writes rotary.h5: rotary position embeddings by the two formulas in use, in double.

    interleaved, halves    a group each: x, y, upstream (the gradient sent back into y), dx
    attention/<pairing>    the same for an attention of two heads, causal, that rotates queries and
                           keys; with W_q, W_k, W_v and W_o, and the attention weights

Interleaved pairs are complex numbers times a phase, as in Meta's Llama; halves are x cos +
rotate_half(x) sin, as in Hugging Face's transformers.

Needs torch, numpy and h5py. The file in the repository was written with torch 2.13.
"""

import pathlib

import h5py
import torch

BATCH, TIME, HIDDENS, HEADS = 2, 5, 12, 2
BASE, FIRST_POSITION = 500.0, 3  # of the first two groups; the others have 10000 and 0


def angles(time, d, base, first_position):
    frequencies = 1.0 / base ** (torch.arange(0, d, 2) / d)
    return torch.outer(torch.arange(first_position, first_position + time), frequencies)


def interleaved(x, base=10000.0, first_position=0):
    """x [batch, time, heads, d]"""
    phases = angles(x.shape[1], x.shape[-1], base, first_position)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    turned = pairs * torch.polar(torch.ones_like(phases), phases)[:, None]
    return torch.view_as_real(turned).flatten(-2)


def halves(x, base=10000.0, first_position=0):
    """x [batch, time, heads, d]"""
    phases = angles(x.shape[1], x.shape[-1], base, first_position)
    phases = torch.cat([phases, phases], -1)[:, None]
    first, second = x.chunk(2, -1)
    return x * phases.cos() + torch.cat([-second, first], -1) * phases.sin()


def attention(x, rotate, W_q, W_k, W_v, W_o):
    q, k, v = ((x @ W.T).unflatten(-1, (HEADS, -1)) for W in (W_q, W_k, W_v))
    q, k, v = (heads.transpose(1, 2) for heads in (rotate(q), rotate(k), v))
    scores = q @ k.mT / (HIDDENS / HEADS) ** 0.5
    later = torch.ones(TIME, TIME, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -torch.inf).softmax(-1)
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o.T, weights


def write(group, x, y, **others):
    upstream = torch.randn_like(y)
    (dx,) = torch.autograd.grad(y, x, upstream)
    for name, tensor in {"x": x, "y": y, "upstream": upstream, "dx": dx, **others}.items():
        group[name] = tensor.detach().numpy()


torch.manual_seed(3)
torch.set_default_dtype(torch.float64)
with h5py.File(pathlib.Path(__file__).with_name("rotary.h5"), "w", libver="v108") as file:
    for rotate in (interleaved, halves):
        x = torch.randn(BATCH, TIME, HIDDENS, requires_grad=True)
        y = rotate(x.unflatten(-1, (HEADS, -1)), BASE, FIRST_POSITION).flatten(2)
        write(file.create_group(rotate.__name__), x, y)

        projections = {f"W_{name}": torch.randn(HIDDENS, HIDDENS) for name in "qkvo"}
        x = torch.randn(BATCH, TIME, HIDDENS, requires_grad=True)
        y, weights = attention(x, rotate, **projections)
        write(file.create_group(f"attention/{rotate.__name__}"), x, y, weights=weights,
              **projections)
