"""Writes printed_tensors.h5: how torch prints tensors.

    <type>/shapes    [n, 7], the rank and the sizes of n tensors of type float32, float64, int32 or bool
    <type>/values    the elements of these tensors
    <type>/texts     str(tensor) of each tensor, with the changes below, separated by form feeds

weft writes "dtype=float64" and "shape=[0, 3]" where torch writes "dtype=torch.float64" and
"size=(0, 3)", and adds the shape of tensors that are shortened. Needs torch, numpy and h5py. The file
in the repository was written with torch 2.13.
"""

import pathlib

import h5py
import numpy as np
import torch

torch.manual_seed(3)
inf, nan = float("inf"), float("nan")
add_suffixes = torch._tensor_str._add_suffixes
printed = None


def add_suffixes_of_weft(text, suffixes, indent, force_newline):
    suffixes = [suffix.replace("torch.", "") for suffix in suffixes if "size=" not in suffix]
    if printed.numel() > 1000 or (printed.numel() == 0 and printed.dim() != 1):
        suffixes.insert(0, f"shape={list(printed.shape)}")
    return add_suffixes(text, suffixes, indent, force_newline)


torch._tensor_str._add_suffixes = add_suffixes_of_weft

float_tensors = [
    [1, 2.5, -3], [[1, 2], [3, 4]], 3.14159265, 7, [], [0, 0], [-0.0, 1], [1e-5, 1], [1, 1001.5],
    [1, 1000], [1, 1001], [123456789, 123456789], [0.99995, 1.00005], [nan, inf, -inf], [nan, 1.5, -inf],
    [nan, 2, inf], [1e-30, 1e30, nan], [0.0001, 0.05], [0.00009, 0.05], [[[1, 2], [3, 4.5]], [[5, 6], [7, 8]]],
    torch.zeros(0, 3), torch.zeros(2, 0), torch.zeros(1, 1, 1), torch.randn(30), torch.randn(3, 25),
    torch.arange(40), torch.arange(1000) / 8, torch.arange(1001) / 8, torch.ones(40, 40) / 3, torch.zeros(2, 600),
    torch.ones(300, 2, 3) / 7, torch.arange(7 * 8 * 3 * 7).reshape(7, 8, 3, 7) / 16, torch.randn(2, 1, 2, 1, 2),
    -torch.ones(6, 200) / 3, torch.randn(1, 2, 1, 2, 1, 2), torch.arange(2000) * 7,
    torch.arange(1100).reshape(11, 10, 10) * 1e-6, torch.arange(21) * 1e-3,
]
cases = {
    "float32": [torch.as_tensor(x, dtype=torch.float32) for x in float_tensors],
    "float64": [torch.as_tensor(x, dtype=torch.float64) for x in float_tensors],
    "int32": [torch.as_tensor(x, dtype=torch.int32) for x in (
        [1, -22, 333], 5, [], [[1, 2], [3, 2147483647]], torch.arange(60), torch.arange(1500),
        torch.zeros(0, 2), torch.arange(24).reshape(2, 3, 4), torch.arange(1200).reshape(3, 400))],
    "bool": [torch.as_tensor(x, dtype=torch.bool) for x in (
        [True, False], True, [], [[False, False]], torch.zeros(0, 2), torch.ones(1100))],
}
with h5py.File(pathlib.Path(__file__).with_name("printed_tensors.h5"), "w", libver="v108") as file:
    for name, tensors in cases.items():
        texts = []
        for printed in tensors:
            texts.append(str(printed))
        shapes = [[x.dim(), *x.shape, *[0] * (6 - x.dim())] for x in tensors]
        values = np.concatenate([x.numpy().ravel() for x in tensors])
        file[f"{name}/shapes"] = np.array(shapes, np.int32)
        file.create_dataset(f"{name}/values", data=values, compression="gzip")
        file[f"{name}/texts"] = np.bytes_("\f".join(texts))
