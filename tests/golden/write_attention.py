"""Writes attention.h5: attention with each scoring function, kernel regression and self-attention,
computed by PyTorch in double. The groups have the layout of write_layers.py.

Needs torch, numpy and h5py. The file in the repository was written with torch 2.13.
"""

import pathlib

import h5py
import torch
import torch.nn.functional as F
from torch import nn
from write_layers import hidden, random, randomized, write_case

BATCH, QUERIES, KEYS, HIDDENS, HEADS = 2, 4, 5, 6, 2
SIZE = HIDDENS // HEADS


class AdditiveScoring(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)

    def forward(self, q, k):
        features = self.W_q(q).unsqueeze(-2) + self.W_k(k).unsqueeze(-3)
        return self.w_v(features.tanh()).squeeze(-1)


# Scores [..., Q, K] of queries [..., Q, d] and keys [..., K, d].
SCORES = {
    "dot_product": lambda q, k: torch.einsum("...qd,...kd->...qk", q, k),
    "gaussian": lambda q, k: -0.5 * (q.unsqueeze(-2) - k.unsqueeze(-3)).pow(2).sum(-1),
    "cosine": lambda q, k: F.cosine_similarity(q.unsqueeze(-2), k.unsqueeze(-3), dim=-1),
}

KERNELS = {
    "constant": torch.ones_like,
    "gaussian": lambda u: torch.exp(-u**2 / 2),
    "boxcar": lambda u: (u.abs() <= 1).to(u),
    "epanechnikov": lambda u: torch.relu(1 - u**2),
    "triangular": lambda u: torch.relu(1 - u.abs()),
}


class Pooling(nn.Module):
    """Parameters of additive scoring are in a child `additive`, as in weft."""

    def __init__(self, scoring, sizes):
        super().__init__()
        self.scoring = scoring
        if scoring == "additive":
            self.additive = AdditiveScoring(*sizes)

    def forward(self, q, k, v, hide):
        scores = self.additive(q, k) if self.scoring == "additive" else SCORES[self.scoring](q, k)
        weights = scores.masked_fill(hide, -torch.inf).softmax(-1)
        return weights @ v, weights


class MultiHeadAttention(nn.Module):
    def __init__(self, scoring):
        super().__init__()
        self.attention = Pooling(scoring, (SIZE, SIZE, SIZE))
        self.W_q = nn.Linear(6, HIDDENS, bias=False)
        self.W_k = nn.Linear(7, HIDDENS, bias=False)
        self.W_v = nn.Linear(5, HIDDENS, bias=False)
        self.W_o = nn.Linear(HIDDENS, HIDDENS, bias=False)

    def forward(self, queries, keys, values, hide):
        q, k, v = (
            projection(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for projection, x in [(self.W_q, queries), (self.W_k, keys), (self.W_v, values)]
        )
        y, weights = self.attention(q, k, v, hide[:, None])
        return self.W_o(y.transpose(1, 2).flatten(2)), weights


def write_scoring(file):
    lengths = [4, 2]
    pooling = randomized(Pooling("additive", (3, 4, 6)))
    inputs = {"queries": random(BATCH, QUERIES, 3), "keys": random(BATCH, KEYS, 4),
              "values": random(BATCH, KEYS, 2)}
    output, weights = pooling(*inputs.values(), hidden(lengths, QUERIES, KEYS))
    write_case(file, "additive_pooling", pooling, inputs, output, {"valid_lens": lengths},
               weights=weights[:, None])

    lengths = [[3, 2, 5, 1], [1, 4, 2, 5]]
    for scoring in [*SCORES, "additive"]:
        attention = randomized(MultiHeadAttention(scoring))
        inputs = {"queries": random(BATCH, QUERIES, 6), "keys": random(BATCH, KEYS, 7),
                  "values": random(BATCH, KEYS, 5)}
        output, weights = attention(*inputs.values(), hidden(lengths, QUERIES, KEYS))
        write_case(file, f"multi_head_attention_{scoring}", attention, inputs, output,
                   {"valid_lens": lengths}, weights=weights)


def write_kernel_regression(file):
    for name, kernel in KERNELS.items():
        module = nn.Module()
        module.w = nn.Parameter(torch.tensor([0.8]))
        inputs = {"queries": random(7), "keys": random(9), "values": random(9)}
        u = (inputs["queries"][:, None] - inputs["keys"]) * module.w
        weights = kernel(u) / kernel(u).sum(1, keepdim=True)
        output = weights @ inputs["values"]
        # Flat kernels have no gradient.
        output = output + 0 * (module.w + inputs["queries"].sum() + inputs["keys"].sum())
        write_case(file, f"kernel_regression_{name}", module, inputs, output, weights=weights)


def write_self_attention(file):
    attention = randomized(nn.MultiheadAttention(8, 2, batch_first=True))
    x = random(BATCH, QUERIES, 8)
    output, weights = attention(x, x, x, average_attn_weights=False)
    write_case(file, "self_attention", attention, {"x": x}, output, weights=weights)


if __name__ == "__main__":
    torch.manual_seed(2)
    torch.set_default_dtype(torch.double)
    path = pathlib.Path(__file__).parent / "attention.h5"
    with h5py.File(path, "w", libver="v108") as output_file:
        write_scoring(output_file)
        write_kernel_regression(output_file)
        write_self_attention(output_file)
