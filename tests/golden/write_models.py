"""Writes models.h5: results and gradients of whole models, composed of PyTorch's layers, in double.

Cases are groups as in layers.h5, with the tokens beside them.

Needs torch, numpy and h5py. The file in the repository was written with torch 2.13.
"""

import pathlib

import h5py
import torch
import torch.nn.functional as F
from torch import nn

import rotary
from write_layers import (BATCH, FFN, HEADS, HIDDENS, VOCABULARY, causal, padding_mask, positions,
                          randomized, write_case)

TOKENS = torch.tensor([[3, 1, 3, 6, 2], [5, 4, 0, 0, 0]])
LENGTHS = [5, 2]


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


def sinusoids(time):
    return torch.from_numpy(positions(time, HIDDENS))


def encoder(norm_first, activation="relu", bias=True, hiddens=FFN):
    layer = nn.TransformerEncoderLayer(HIDDENS, HEADS, hiddens, 0.0, activation, batch_first=True,
                                       norm_first=norm_first, bias=bias)
    norm = nn.LayerNorm(HIDDENS, bias=bias) if norm_first else None
    return nn.TransformerEncoder(layer, 2, norm, enable_nested_tensor=False)


class Gpt(nn.Module):
    """GPT-2's form; state_dict() has both names of tied weights."""

    def __init__(self, tied, bias):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, HIDDENS)
        self.positions = nn.Embedding(9, HIDDENS)
        self.blocks = encoder(True, gelu_tanh, bias, 4 * HIDDENS)
        self.output = nn.Linear(HIDDENS, VOCABULARY, bias=False)
        if tied:
            self.output.weight = self.tokens.weight

    def forward(self, tokens):
        time = tokens.shape[1]
        x = self.tokens(tokens) + self.positions(torch.arange(time))
        return self.output(self.blocks(x, mask=causal(time)))


class LlamaAttention(nn.Module):
    """Rotary positions, and one head of keys and values for all 4 heads, of size 4."""

    def __init__(self):
        super().__init__()
        self.W_q = nn.Linear(16, 16, bias=False)
        self.W_k = nn.Linear(16, 4, bias=False)
        self.W_v = nn.Linear(16, 4, bias=False)
        self.W_o = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        q, k, v = (p(x).unflatten(2, (-1, 4)) for p in (self.W_q, self.W_k, self.W_v))
        q, k, v = (h.transpose(1, 2) for h in (rotary.halves(q), rotary.halves(k), v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.W_o(y.transpose(1, 2).flatten(2))


class LlamaFeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(16, 24, bias=False)
        self.w2 = nn.Linear(24, 16, bias=False)
        self.w3 = nn.Linear(16, 24, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class LlamaBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.ffn = LlamaAttention(), LlamaFeedForward()
        self.norm1, self.norm2 = nn.RMSNorm(16, eps=1e-6), nn.RMSNorm(16, eps=1e-6)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, 16)
        self.blocks = nn.Sequential()
        for i in range(2):
            self.blocks.add_module(str(i), LlamaBlock())
        self.blocks.add_module("norm", nn.RMSNorm(16, eps=1e-6))
        self.output = nn.Linear(16, VOCABULARY, bias=False)

    def forward(self, tokens):
        return self.output(self.blocks(self.tokens(tokens)))


class Classifier(nn.Module):
    """Sinusoids and the mean over each sequence, or learned positions and its first vector."""

    def __init__(self, learned):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDENS)
        if learned:
            self.position = nn.Embedding(9, HIDDENS)
        self.encoder = encoder(learned, "gelu")
        self.output = nn.Linear(HIDDENS, 3)

    def forward(self, tokens, lengths):
        time = tokens.shape[1]
        learned = hasattr(self, "position")
        encoded = self.position(torch.arange(time)) if learned else sinusoids(time)
        x = self.encoder(self.embedding(tokens) + encoded,
                         src_key_padding_mask=padding_mask(lengths, time))
        pooled = [s[0] if learned else s[:n].mean(0) for s, n in zip(x, lengths)]
        return self.output(torch.stack(pooled))


class EncoderDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.source_embedding = nn.Embedding(VOCABULARY, HIDDENS)
        self.target_embedding = nn.Embedding(VOCABULARY + 1, HIDDENS)
        self.encoder = encoder(True)
        layer = nn.TransformerDecoderLayer(HIDDENS, HEADS, FFN, 0.0, batch_first=True,
                                           norm_first=True)
        self.decoder = nn.TransformerDecoder(layer, 2, nn.LayerNorm(HIDDENS))
        self.output = nn.Linear(HIDDENS, VOCABULARY + 1)

    def forward(self, source, lengths, target):
        padding = padding_mask(lengths, source.shape[1])
        memory = self.encoder(self.source_embedding(source) + sinusoids(source.shape[1]),
                              src_key_padding_mask=padding)
        x = self.target_embedding(target) + sinusoids(target.shape[1])
        return self.output(self.decoder(x, memory, tgt_mask=causal(target.shape[1]),
                                        memory_key_padding_mask=padding))


def with_large_embeddings(model):
    """Randomizes; embeddings differ from each other by more than the sinusoids do, as otherwise the
    vectors of all positions are alike, and gradients are noise in float."""
    randomized(model)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.Embedding):
                module.weight.mul_(4.0)
    return model


def write_models(file):
    for name, model in {"gpt_tied": Gpt(True, True), "gpt_untied": Gpt(False, False),
                        "gpt_llama": Llama()}.items():
        randomized(model)
        write_case(file, name, model, {}, model(TOKENS), {"tokens": TOKENS})
    for name, learned in {"classifier_mean": False, "classifier_first": True}.items():
        model = with_large_embeddings(Classifier(learned))
        write_case(file, name, model, {}, model(TOKENS, LENGTHS),
                   {"tokens": TOKENS, "valid_lens": LENGTHS})
    model = with_large_embeddings(EncoderDecoder())
    target = torch.tensor([[1, 2, 7, 6], [1, 4, 3, 0]])
    write_case(file, "encoder_decoder", model, {}, model(TOKENS, LENGTHS, target),
               {"source": TOKENS, "valid_lens": LENGTHS, "target": target})


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_default_dtype(torch.double)
    assert BATCH == len(TOKENS)
    # The format of HDF5 1.8 stores many small groups compactly.
    path = pathlib.Path(__file__).parent / "models.h5"
    with h5py.File(path, "w", libver="v108") as output_file:
        write_models(output_file)
