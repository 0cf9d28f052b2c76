"""Writes sequence_layers.h5: results and gradients of PyTorch's recurrent layers and convolutions
for random inputs and weights, in double.

Cases are groups as in layers.h5. Their parameters are the unchanged state_dict, and all inputs,
including those of convolutions, are [batch, time, channels]. The output of a recurrent layer is its
states, followed in time by the final states of its layers, and cells in an LSTM; the final states of
the two directions of a layer are beside each other.

Needs torch, numpy and h5py. The file in the repository was written with torch 2.13.
"""

import pathlib

import h5py
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from write_layers import random, randomized, write_case

BATCH, TIME, INPUTS, HIDDENS = 3, 6, 4, 5


def write_recurrent(file, name, layer, valid_lens=None, initial=False):
    randomized(layer)
    inputs = {"x": random(BATCH, TIME, INPUTS)}
    x = inputs["x"]
    is_lstm = isinstance(layer, nn.LSTM)
    directions = 2 if layer.bidirectional else 1
    first = None
    if initial:
        for state in ("initial", "initial_cells") if is_lstm else ("initial",):
            inputs[state] = random(layer.num_layers * directions, BATCH, HIDDENS)
        first = (inputs["initial"], inputs["initial_cells"]) if is_lstm else inputs["initial"]
    if valid_lens:
        x = pack_padded_sequence(x, valid_lens, batch_first=True, enforce_sorted=False)
    states, final = layer(x, first)
    if valid_lens:
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=TIME)
    integers = {"valid_lens": valid_lens} if valid_lens else {}
    finals = [f.transpose(0, 1).reshape(BATCH, -1, directions * HIDDENS)
              for f in (final if is_lstm else [final])]
    write_case(file, name, layer, inputs, torch.cat([states, *finals], 1), integers)


def write_forms(file, kind, module, **options):
    for layers in (1, 2):
        layer = lambda: module(INPUTS, HIDDENS, layers, batch_first=True, **options)
        write_recurrent(file, f"{kind}_{layers}", layer())
        write_recurrent(file, f"{kind}_{layers}_lengths", layer(), [4, 6, 1])
        write_recurrent(file, f"{kind}_{layers}_initial", layer(), [2, 5, 6], initial=True)


def write_recurrent_layers(file):
    for kind, module in {"rnn": nn.RNN, "gru": nn.GRU}.items():
        write_forms(file, kind, module)


def write_more_recurrent_layers(file):
    """After the convolutions, which thus keep their numbers."""
    write_forms(file, "lstm", nn.LSTM)
    for kind, module in {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}.items():
        write_forms(file, f"{kind}_bidirectional", module, bidirectional=True)


def write_convolution(file, name, **options):
    layer = randomized(nn.Conv1d(INPUTS, HIDDENS, **options))
    inputs = {"x": random(BATCH, 9, INPUTS)}
    write_case(file, name, layer, inputs, layer(inputs["x"].transpose(1, 2)).transpose(1, 2))


def write_causal_convolution(file):
    layer = randomized(nn.Conv1d(INPUTS, HIDDENS, 3, dilation=2))
    inputs = {"x": random(BATCH, 9, INPUTS)}
    padded = nn.functional.pad(inputs["x"].transpose(1, 2), (4, 0))
    write_case(file, "conv1d_causal", layer, inputs, layer(padded).transpose(1, 2))


def write_convolutions(file):
    write_convolution(file, "conv1d_plain", kernel_size=3)
    write_convolution(file, "conv1d_padding", kernel_size=3, padding=2)
    write_convolution(file, "conv1d_stride", kernel_size=3, padding=1, stride=2)
    write_convolution(file, "conv1d_dilation", kernel_size=3, padding=2, dilation=3)
    write_convolution(file, "conv1d_all", kernel_size=4, padding=5, stride=3, dilation=2, bias=False)
    write_convolution(file, "conv1d_same", kernel_size=4, padding="same", dilation=1)
    write_convolution(file, "conv1d_same_dilated", kernel_size=4, padding="same", dilation=3)
    write_convolution(file, "conv1d_point", kernel_size=1)
    write_causal_convolution(file)


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_default_dtype(torch.double)
    # The format of HDF5 1.8 stores many small groups compactly.
    path = pathlib.Path(__file__).parent / "sequence_layers.h5"
    with h5py.File(path, "w", libver="v108") as output_file:
        write_recurrent_layers(output_file)
        write_convolutions(output_file)
        write_more_recurrent_layers(output_file)
