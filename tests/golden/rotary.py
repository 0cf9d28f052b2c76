"""Rotary position embeddings by the two common formulas.

Interleaved pairs are complex numbers times a phase, as in Meta's Llama; halves are x cos +
rotate_half(x) sin, as in Hugging Face's transformers.
"""

import torch


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
