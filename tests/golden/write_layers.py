"""Writes layers.h5: results and gradients of PyTorch's modules, for random inputs and weights and in
double.

One group per case:
    inputs/<name>                the floating-point inputs
    valid_lens, seen, added      the mask, if any: Mask::valid_lens, Mask::allowed and Mask::bias
    tokens, …                    integer inputs
    parameters/<name>            the weights: the module's state_dict
    output, upstream             the output, and its gradient
    weights, logits              other outputs, if any
    input_gradients/<name>
    parameter_gradients/<name>

All random numbers are exact in float too, so that weft's float code gets the same inputs.

Needs torch, numpy and h5py. The file in the repository was written with torch 2.13.
"""

import math
import pathlib

import h5py
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import rotary

BATCH, QUERIES, KEYS, HIDDENS, HEADS, FFN = 2, 4, 5, 6, 2, 8
VOCABULARY, PADDING = 7, 0


def normal(*shape):
    return torch.randn(shape, dtype=torch.float32).double()


def random(*shape):
    return normal(*shape).requires_grad_()


def randomized(module):
    """Randomizes all parameters: some start as zeros or ones, which would hide mistakes."""
    with torch.no_grad():
        for parameter in module.parameters():
            # Scales of norms stay near 1: near 0, outputs are alike and gradients are noise.
            middle = 1.0 if (parameter == 1.0).all() else 0.0
            parameter.copy_((middle + normal(*parameter.shape) / 3).float())
    return module


def write(group, tensors):
    for name, tensor in tensors.items():
        group[name] = tensor.detach().numpy()


def write_case(file, name, module, inputs, output, integers={}, mask={}, **outputs):
    """Backpropagates a random gradient of `output` and writes the case."""
    group = file.create_group(name)
    upstream = normal(*output.shape)
    output.backward(upstream)
    write(group, {"output": output, "upstream": upstream} | outputs | mask)
    write(group.create_group("inputs"), inputs)
    write(group.create_group("input_gradients"), {n: x.grad for n, x in inputs.items()})
    write(group.create_group("parameters"), module.state_dict())
    write(group.create_group("parameter_gradients"),
          {n: parameter.grad for n, parameter in module.named_parameters()})
    for key, value in integers.items():
        group[key] = np.asarray(value, dtype=np.int32)


def hidden(valid_lens, queries, keys):
    """True where a key is masked, [batch, queries, keys], from [batch] or [batch, queries]."""
    lengths = torch.as_tensor(valid_lens).reshape(BATCH, -1, 1).expand(-1, queries, -1)
    return torch.arange(keys) >= lengths


def padding_mask(valid_lens, keys):
    return hidden(valid_lens, 1, keys)[:, 0]


def causal(time):
    return torch.ones(time, time, dtype=torch.bool).triu(1)


class MultiHeadAttention(nn.Module):
    """d2l.ai's, with separate input sizes and with lengths per sequence or per query.

    `rotate`, when given, rotates the heads of queries and keys, [batch, time, heads, d].
    """

    def __init__(self, query_size, key_size, value_size, bias, num_hiddens=HIDDENS,
                 rotate=lambda heads: heads):
        super().__init__()
        self.rotate = rotate
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def forward(self, queries, keys, values, hide):
        q, k, v = (
            projection(x).unflatten(-1, (HEADS, -1))
            for projection, x in [(self.W_q, queries), (self.W_k, keys), (self.W_v, values)]
        )
        q, k, v = (heads.transpose(1, 2) for heads in (self.rotate(q), self.rotate(k), v))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        self.attention_weights = scores.masked_fill(hide[:, None], -torch.inf).softmax(-1)
        return self.W_o((self.attention_weights @ v).transpose(1, 2).flatten(2))


def write_d2l_attention(file):
    lengths = {"lengths": [3, 2], "query_lengths": [[3, 2, 5, 1], [1, 4, 2, 5]]}
    for bias in (False, True):
        for name, valid_lens in lengths.items():
            attention = randomized(MultiHeadAttention(6, 7, 5, bias))
            inputs = {"queries": random(BATCH, QUERIES, 6), "keys": random(BATCH, KEYS, 7),
                      "values": random(BATCH, KEYS, 5)}
            output = attention(*inputs.values(), hidden(valid_lens, QUERIES, KEYS))
            write_case(file, f"d2l_attention_{name}{'_bias' if bias else ''}", attention, inputs,
                       output, {"valid_lens": valid_lens}, weights=attention.attention_weights)


def boolean_mask(*shape):
    """True where masked, but never for the first key."""
    mask = torch.rand(*shape) < 0.4
    mask[..., 0] = False
    return mask


def additive_mask(*shape):
    """Multiples of 1/64, so that sums of two are exact in float."""
    return ((64 * normal(*shape)).round() / 64).masked_fill(boolean_mask(*shape), -torch.inf)


def write_torch_attention(file):
    valid_lens = [4, 2]
    lengths = padding_mask(valid_lens, KEYS)
    minus_infinity = lambda mask: torch.zeros(mask.shape).masked_fill(mask, -torch.inf)
    by_head = lambda mask: mask.unflatten(0, (BATCH, HEADS))
    one, many, padding = (boolean_mask(*shape) for shape in [
        (QUERIES, KEYS), (BATCH * HEADS, QUERIES, KEYS), (BATCH, KEYS)])
    add_one, add_many, add_padding = (additive_mask(*shape) for shape in [
        (QUERIES, KEYS), (BATCH * HEADS, QUERIES, KEYS), (BATCH, KEYS)])
    sizes = {"kdim": 7, "vdim": 5}
    # Name: options of the module, torch's masks, integers and weft's masks.
    cases = {
        "lengths": ({}, {"key_padding_mask": lengths}, {"valid_lens": valid_lens}, {}),
        "no_bias": ({"bias": False}, {}, {}, {}),
        "boolean": ({}, {"attn_mask": one}, {}, {"seen": ~one}),
        "boolean_by_head": (
            {}, {"attn_mask": many, "key_padding_mask": padding}, {},
            {"seen": ~(by_head(many) | padding[:, None, None])}),
        "additive": ({"bias": False}, {"attn_mask": add_one}, {}, {"added": add_one}),
        "additive_by_head": (
            {}, {"attn_mask": add_many, "key_padding_mask": add_padding}, {},
            {"added": by_head(add_many) + add_padding[:, None, None]}),
        "additive_and_lengths": (
            {}, {"attn_mask": add_one, "key_padding_mask": minus_infinity(lengths)},
            {"valid_lens": valid_lens}, {"added": add_one}),
        "sizes": (sizes, {"key_padding_mask": lengths}, {"valid_lens": valid_lens}, {}),
        "sizes_boolean": (
            sizes | {"bias": False}, {"attn_mask": many}, {}, {"seen": ~by_head(many)}),
        "sizes_additive": (sizes, {"attn_mask": add_many}, {}, {"added": by_head(add_many)}),
    }
    for name, (options, masks, integers, weft_mask) in cases.items():
        attention = randomized(
            nn.MultiheadAttention(HIDDENS, HEADS, batch_first=True, **options))
        inputs = {"queries": random(BATCH, QUERIES, HIDDENS),
                  "keys": random(BATCH, KEYS, options.get("kdim", HIDDENS)),
                  "values": random(BATCH, KEYS, options.get("vdim", HIDDENS))}
        output, weights = attention(*inputs.values(), average_attn_weights=False, **masks)
        write_case(file, f"torch_attention_{name}", attention, inputs, output, integers, weft_mask,
                   weights=weights)


def block_options(norm_first, activation):
    return dict(d_model=HIDDENS, nhead=HEADS, dim_feedforward=FFN, dropout=0.0,
                activation=activation, norm_first=norm_first, batch_first=True)


def write_blocks(file):
    valid_lens = [3, 5]
    padding = padding_mask(valid_lens, KEYS)
    for norm_first in (False, True):
        for activation in ("relu", "gelu"):
            name = f"{'pre' if norm_first else 'post'}_norm_{activation}"
            options = block_options(norm_first, activation)

            block = randomized(nn.TransformerEncoderLayer(**options))
            inputs = {"x": random(BATCH, KEYS, HIDDENS)}
            output = block(inputs["x"], src_key_padding_mask=padding)
            write_case(file, f"encoder_block_{name}", block, inputs, output,
                       {"valid_lens": valid_lens})

            block = randomized(nn.TransformerDecoderLayer(**options))
            inputs = {"x": random(BATCH, QUERIES, HIDDENS), "memory": random(BATCH, KEYS, HIDDENS)}
            output = block(*inputs.values(), tgt_mask=causal(QUERIES),
                           memory_key_padding_mask=padding)
            write_case(file, f"decoder_block_{name}", block, inputs, output,
                       {"valid_lens": valid_lens})

    block = randomized(nn.TransformerEncoderLayer(**block_options(True, "gelu")))
    inputs = {"x": random(BATCH, KEYS, HIDDENS)}
    output = block(inputs["x"], src_mask=causal(KEYS), src_key_padding_mask=padding)
    write_case(file, "encoder_block_causal", block, inputs, output, {"valid_lens": valid_lens})

    block = randomized(nn.TransformerEncoderLayer(**block_options(False, "gelu")))
    inputs = {"x": random(BATCH, KEYS, HIDDENS)}
    mask = additive_mask(KEYS, KEYS)
    write_case(file, "encoder_block_additive", block, inputs, block(inputs["x"], src_mask=mask),
               mask={"added": mask})


class EncoderDecoder(nn.Module):
    """torch's encoder and decoder of two blocks each, from tokens to logits."""

    def __init__(self):
        super().__init__()
        options = block_options(True, "relu")
        self.source_embedding = nn.Embedding(VOCABULARY, HIDDENS)
        self.target_embedding = nn.Embedding(VOCABULARY, HIDDENS)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**options), 2,
                                             nn.LayerNorm(HIDDENS), enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**options), 2,
                                             nn.LayerNorm(HIDDENS))
        self.output = nn.Linear(HIDDENS, VOCABULARY)

    def forward(self, source, target):
        source_padding, target_padding = source == PADDING, target == PADDING
        scale = math.sqrt(HIDDENS)
        memory = self.encoder(self.source_embedding(source) * scale,
                              src_key_padding_mask=source_padding)
        return self.output(self.decoder(
            self.target_embedding(target) * scale, memory, tgt_mask=causal(target.shape[1]),
            tgt_key_padding_mask=target_padding, memory_key_padding_mask=source_padding))


def write_encoder_decoder(file):
    """The loss of a padded batch; logits where the target is not padding, zeros elsewhere."""
    model = randomized(EncoderDecoder())
    source = torch.tensor([[3, 1, 3, 6, 2], [5, 4, PADDING, PADDING, PADDING]])
    target = torch.tensor([[1, 2, 6, 6], [1, 4, 3, PADDING]])
    labels = torch.tensor([[2, 6, 6, 5], [4, 3, 5, PADDING]])
    logits = model(source, target)
    loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PADDING)
    write_case(file, "torch_encoder_decoder", model, {}, loss,
               {"source": source, "target": target, "labels": labels, "valid_lens": [5, 2]},
               logits=logits.where((target != PADDING)[..., None], 0.0))


def positions(time, d):
    """The fixed positional encodings, [time, d]."""
    angles = np.arange(time)[:, None] / 10000 ** (2 * (np.arange(d) // 2) / d)
    return np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))


class AddNorm(nn.Module):
    """d2l.ai's residual connection followed by a norm."""

    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(HIDDENS)

    def forward(self, x, y):
        return self.ln(x + y)


class PositionWiseFFN(nn.Module):
    """d2l.ai's."""

    def __init__(self):
        super().__init__()
        self.dense1 = nn.Linear(HIDDENS, FFN)
        self.dense2 = nn.Linear(FFN, HIDDENS)

    def forward(self, x):
        return self.dense2(self.dense1(x).relu())


class D2lEncoderBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = MultiHeadAttention(HIDDENS, HIDDENS, HIDDENS, bias=False)
        self.addnorm1, self.ffn, self.addnorm2 = AddNorm(), PositionWiseFFN(), AddNorm()

    def forward(self, x, hide):
        y = self.addnorm1(x, self.attention(x, x, x, hide))
        return self.addnorm2(y, self.ffn(y))


class D2lDecoderBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention1 = MultiHeadAttention(HIDDENS, HIDDENS, HIDDENS, bias=False)
        self.addnorm1 = AddNorm()
        self.attention2 = MultiHeadAttention(HIDDENS, HIDDENS, HIDDENS, bias=False)
        self.addnorm2, self.ffn, self.addnorm3 = AddNorm(), PositionWiseFFN(), AddNorm()

    def forward(self, x, memory, hide_later, hide):
        y = self.addnorm1(x, self.attention1(x, x, x, hide_later))
        z = self.addnorm2(y, self.attention2(y, memory, memory, hide))
        return self.addnorm3(z, self.ffn(z))


class D2lStack(nn.Module):
    """d2l.ai's TransformerEncoder or, with an output layer, TransformerDecoder of two blocks."""

    def __init__(self, block, outputs=None):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDENS)
        self.blks = nn.Sequential()
        for i in range(2):
            self.blks.add_module(f"block{i}", block())
        if outputs:
            self.dense = nn.Linear(HIDDENS, outputs)

    def forward(self, tokens, *context):
        x = self.embedding(tokens) * math.sqrt(HIDDENS)
        x = x + torch.from_numpy(positions(tokens.shape[1], HIDDENS))
        for block in self.blks:
            x = block(x, *context)
        return self.dense(x) if hasattr(self, "dense") else x


def write_d2l_transformer(file):
    model = randomized(nn.ModuleDict(
        {"encoder": D2lStack(D2lEncoderBlock), "decoder": D2lStack(D2lDecoderBlock, VOCABULARY)}))
    source = torch.tensor([[3, 1, 3, 6, 2], [5, 4, 0, 0, 0]])
    target = torch.tensor([[1, 2, 6, 6], [1, 4, 3, 0]])
    valid_lens = [5, 2]
    memory = model["encoder"](source, hidden(valid_lens, KEYS, KEYS))
    logits = model["decoder"](target, memory, causal(QUERIES).expand(BATCH, -1, -1),
                              hidden(valid_lens, QUERIES, KEYS))
    write_case(file, "d2l_encoder_decoder", model, {}, logits,
               {"source": source, "target": target, "valid_lens": valid_lens})


def write_small_layers(file):
    for name, eps in {"layer_norm": 1e-5, "layer_norm_large_eps": 1e-2}.items():
        norm = randomized(nn.LayerNorm(HIDDENS, eps=eps))
        inputs = {"x": random(BATCH, QUERIES, HIDDENS)}
        write_case(file, name, norm, inputs, norm(inputs["x"]))

    for bias in (False, True):
        linear = randomized(nn.Linear(HIDDENS, FFN, bias))
        inputs = {"x": random(BATCH, QUERIES, HIDDENS)}
        write_case(file, f"linear{'_bias' if bias else ''}", linear, inputs, linear(inputs["x"]))

    embedding = randomized(nn.Embedding(6, HIDDENS))
    tokens = torch.tensor([[5, 0, 3], [3, 3, 1]])
    write_case(file, "embedding", embedding, {}, embedding(tokens), {"tokens": tokens})


def write_rotary_attention(file):
    """Uses heads of 4 channels, so that the two pairings differ."""
    size = 4 * HEADS
    for rotate in (rotary.interleaved, rotary.halves):
        attention = randomized(MultiHeadAttention(size, size, size, False, size, rotate))
        inputs = {"x": random(BATCH, KEYS, size)}
        x = inputs["x"]
        output = attention(x, x, x, causal(KEYS).expand(BATCH, -1, -1))
        write_case(file, f"rotary_attention_{rotate.__name__}", attention, inputs, output,
                   weights=attention.attention_weights)


def write_batch_norm(file):
    """Three training steps and an evaluation of BatchNorm1d, over the last axis."""
    for name, norm in {"batch_norm": nn.BatchNorm1d(HIDDENS),
                       "batch_norm_plain": nn.BatchNorm1d(HIDDENS, 0.1, 0.4, affine=False)}.items():
        randomized(norm)
        norm.running_mean.copy_(normal(HIDDENS))
        norm.running_var.copy_(normal(HIDDENS) ** 2)
        group = file.create_group(name)
        write(group.create_group("parameters"), norm.state_dict())
        for step in range(4):
            x = random(BATCH, QUERIES, HIDDENS)
            y = norm.train(step < 3)(x.flatten(0, 1)).unflatten(0, (BATCH, QUERIES))
            upstream = normal(*y.shape)
            norm.zero_grad()
            y.backward(upstream)
            of_step = group.create_group(str(step))
            write(of_step, {"x": x, "y": y, "upstream": upstream, "dx": x.grad})
            write(of_step, {f"d_{n}": parameter.grad for n, parameter in norm.named_parameters()})
            write(of_step, {n: buffer for n, buffer in norm.named_buffers()})


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_default_dtype(torch.double)
    # The format of HDF5 1.8 stores many small groups compactly.
    path = pathlib.Path(__file__).parent / "layers.h5"
    with h5py.File(path, "w", libver="v108") as output_file:
        write_d2l_attention(output_file)
        write_torch_attention(output_file)
        write_blocks(output_file)
        write_encoder_decoder(output_file)
        write_d2l_transformer(output_file)
        write_small_layers(output_file)
        write_rotary_attention(output_file)
        write_batch_norm(output_file)
