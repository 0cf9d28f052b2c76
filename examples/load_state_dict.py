"""Reads a file that weft's save_weights wrote, for model.load_state_dict(read_state_dict(path))."""

import h5py
import torch


def read_state_dict(path):
    state_dict = {}
    with h5py.File(path) as file:
        file.visititems(
            lambda name, item: state_dict.update({name.replace("/", "."): torch.tensor(item[()])})
            if isinstance(item, h5py.Dataset)
            else None
        )
    return state_dict
