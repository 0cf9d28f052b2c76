"""Writes layers.h5: what PyTorch's modules make of random inputs and weights, in double.

A group a case:
    inputs/<name>          what goes in
    valid_lens, tokens     integers that go in, where the case has any
    parameters/<a>/<b>     the weights, under weft's names for them
    output, upstream       what comes out, and the gradient that is sent back into it
    weights                the attention weights, where the case hands them out
    input_gradients/<name>
    parameter_gradients    one after the other, in the order of the parameters' names

Needs torch, numpy and h5py. The file in the repository was written with torch 2.13.
"""

import pathlib
import re

import h5py
import numpy as np
import torch
from torch import nn

BATCH, QUERIES, KEYS, HIDDENS, HEADS, FFN = 2, 4, 5, 6, 2, 8


def random(*shape):
    return torch.randn(*shape, requires_grad=True)


def randomized(module):
    """Some parameters start as zeros or ones, which would hide mistakes."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.5)
    return module


def weft_names(tensors):
    """torch's parameters under weft's names, stacked projections cut into W_q, W_k and W_v."""
    is_decoder = any("multihead_attn" in name for name in tensors)
    renames = [
        (r"layers\.", ""),
        (r"self_attn\.", "self_attention." if is_decoder else "attention."),
        (r"multihead_attn\.", "cross_attention."),
        (r"linear(\d)", r"ffn.dense\1"),
        (r"out_proj\.", "W_o."),
        (r"([qkv])_proj_weight", r"W_\1.weight"),
    ]
    result = {}
    for name, tensor in tensors.items():
        for theirs, ours in renames:
            name = re.sub(theirs, ours, name)
        if "in_proj_" in name:
            for letter, part in zip("qkv", tensor.chunk(3)):
                result[name.replace("in_proj_", f"W_{letter}.")] = part
        else:
            result[name] = tensor
    return result


def named(modules):
    """All parameters of {prefix: module}, under weft's names, and their gradients."""
    values, gradients = {}, {}
    for prefix, module in modules.items():
        parameters = dict(module.named_parameters())
        for name, tensor in weft_names(parameters).items():
            values[prefix + name] = tensor
        for name, tensor in weft_names({n: p.grad for n, p in parameters.items()}).items():
            gradients[prefix + name] = tensor
    return values, gradients


def write(group, tensors):
    for name, tensor in tensors.items():
        group[name] = tensor.detach().numpy()


def write_case(file, name, modules, inputs, output, weights=None, **integers):
    """Sends a random gradient back through `output` and writes all that came of it."""
    group = file.create_group(name)
    upstream = torch.randn_like(output)
    output.backward(upstream)
    parameters, gradients = named(modules)
    write(group.create_group("inputs"), inputs)
    write(group.create_group("parameters"),
          {name.replace(".", "/"): tensor for name, tensor in parameters.items()})
    write(group, {"output": output, "upstream": upstream})
    if weights is not None:
        write(group, {"weights": weights})
    write(group.create_group("input_gradients"), {n: x.grad for n, x in inputs.items()})
    flat = torch.cat([gradients[name].flatten() for name in sorted(gradients)])
    write(group, {"parameter_gradients": flat})
    for key, value in integers.items():
        group[key] = np.asarray(value, dtype=np.int32)


def hidden(valid_lens, queries, keys):
    """True where a key is hidden, [batch, queries, keys], from [batch] or [batch, queries]."""
    lengths = torch.as_tensor(valid_lens).reshape(BATCH, -1, 1).expand(-1, queries, -1)
    return torch.arange(keys) >= lengths


class MultiHeadAttention(nn.Module):
    """d2l.ai's: every input has a size of its own, and lengths may differ from query to query."""

    def __init__(self, query_size, key_size, value_size, bias):
        super().__init__()
        self.W_q = nn.Linear(query_size, HIDDENS, bias)
        self.W_k = nn.Linear(key_size, HIDDENS, bias)
        self.W_v = nn.Linear(value_size, HIDDENS, bias)
        self.W_o = nn.Linear(HIDDENS, HIDDENS, bias)

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = (
            projection(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for projection, x in [(self.W_q, queries), (self.W_k, keys), (self.W_v, values)]
        )
        scores = q @ k.transpose(-2, -1) / (HIDDENS / HEADS) ** 0.5
        hide = hidden(valid_lens, queries.shape[1], keys.shape[1])[:, None]
        weights = scores.masked_fill(hide, -torch.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights


def write_d2l_attention(file):
    cases = {
        "lengths": (False, [3, 2]),
        "query_lengths": (False, [[3, 2, 5, 1], [1, 4, 2, 5]]),
        "bias": (True, [5, 1]),
    }
    for name, (bias, valid_lens) in cases.items():
        attention = randomized(MultiHeadAttention(6, 7, 5, bias))
        inputs = {"queries": random(BATCH, QUERIES, 6), "keys": random(BATCH, KEYS, 7),
                  "values": random(BATCH, KEYS, 5)}
        output, weights = attention(*inputs.values(), valid_lens)
        write_case(file, f"multi_head_attention_{name}", {"": attention}, inputs, output, weights,
                   valid_lens=valid_lens)


def write_torch_attention(file):
    valid_lens = [4, 2]
    for name, sizes in {"torch": {}, "torch_sizes": {"kdim": 7, "vdim": 5}}.items():
        attention = randomized(
            nn.MultiheadAttention(HIDDENS, HEADS, bias=not sizes, batch_first=True, **sizes))
        inputs = {"queries": random(BATCH, QUERIES, HIDDENS),
                  "keys": random(BATCH, KEYS, sizes.get("kdim", HIDDENS)),
                  "values": random(BATCH, KEYS, sizes.get("vdim", HIDDENS))}
        output, weights = attention(*inputs.values(), average_attn_weights=False,
                                    key_padding_mask=hidden(valid_lens, 1, KEYS)[:, 0])
        write_case(file, f"multi_head_attention_{name}", {"": attention}, inputs, output, weights,
                   valid_lens=valid_lens)


def block_options(norm_first, activation):
    return dict(d_model=HIDDENS, nhead=HEADS, dim_feedforward=FFN, dropout=0.0,
                activation=activation, norm_first=norm_first, batch_first=True)


def causal(time):
    return torch.ones(time, time, dtype=torch.bool).triu(1)


def write_blocks(file):
    valid_lens = [3, 5]
    padding = hidden(valid_lens, 1, KEYS)[:, 0]
    for norm_first in (False, True):
        for activation in ("relu", "gelu"):
            name = f"{'pre' if norm_first else 'post'}_norm_{activation}"
            options = block_options(norm_first, activation)

            block = randomized(nn.TransformerEncoderLayer(**options))
            inputs = {"x": random(BATCH, KEYS, HIDDENS)}
            output = block(inputs["x"], src_key_padding_mask=padding)
            write_case(file, f"encoder_block_{name}", {"": block}, inputs, output,
                       valid_lens=valid_lens)

            block = randomized(nn.TransformerDecoderLayer(**options))
            inputs = {"x": random(BATCH, QUERIES, HIDDENS), "memory": random(BATCH, KEYS, HIDDENS)}
            output = block(*inputs.values(), tgt_mask=causal(QUERIES),
                           memory_key_padding_mask=padding)
            write_case(file, f"decoder_block_{name}", {"": block}, inputs, output,
                       valid_lens=valid_lens)


def write_causal_block(file):
    block = randomized(nn.TransformerEncoderLayer(**block_options(True, "gelu")))
    inputs = {"x": random(BATCH, KEYS, HIDDENS)}
    output = block(inputs["x"], src_mask=causal(KEYS))
    write_case(file, "encoder_block_causal", {"": block}, inputs, output)


def write_encoder_decoder(file):
    valid_lens = [5, 2]
    padding = hidden(valid_lens, 1, KEYS)[:, 0]
    options = block_options(True, "relu")
    encoder = randomized(nn.TransformerEncoder(
        nn.TransformerEncoderLayer(**options), 2, nn.LayerNorm(HIDDENS),
        enable_nested_tensor=False))
    decoder = randomized(nn.TransformerDecoder(
        nn.TransformerDecoderLayer(**options), 2, nn.LayerNorm(HIDDENS)))
    inputs = {"source": random(BATCH, KEYS, HIDDENS), "target": random(BATCH, QUERIES, HIDDENS)}
    memory = encoder(inputs["source"], src_key_padding_mask=padding)
    output = decoder(inputs["target"], memory, tgt_mask=causal(QUERIES),
                     memory_key_padding_mask=padding)
    write_case(file, "encoder_decoder", {"encoder.": encoder, "decoder.": decoder}, inputs, output,
               valid_lens=valid_lens)


def write_small_layers(file):
    norm = randomized(nn.LayerNorm(HIDDENS))
    inputs = {"x": random(BATCH, QUERIES, HIDDENS)}
    write_case(file, "layer_norm", {"": norm}, inputs, norm(inputs["x"]))

    linear = randomized(nn.Linear(HIDDENS, FFN))
    inputs = {"x": random(BATCH, QUERIES, HIDDENS)}
    write_case(file, "linear", {"": linear}, inputs, linear(inputs["x"]))

    embedding = randomized(nn.Embedding(6, HIDDENS))
    tokens = [[5, 0, 3], [3, 3, 1]]
    write_case(file, "embedding", {"": embedding}, {}, embedding(torch.tensor(tokens)),
               tokens=tokens)

    for d in (6, 7):
        angles = np.arange(50)[:, None] / 10000 ** (2 * (np.arange(d) // 2) / d)
        table = np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))
        file[f"positional_encoding_{d}"] = table


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_default_dtype(torch.double)
    # The format of HDF5 1.8 and later keeps a file of many small groups small.
    path = pathlib.Path(__file__).parent / "layers.h5"
    with h5py.File(path, "w", libver="v108") as output_file:
        write_d2l_attention(output_file)
        write_torch_attention(output_file)
        write_blocks(output_file)
        write_causal_block(output_file)
        write_encoder_decoder(output_file)
        write_small_layers(output_file)
