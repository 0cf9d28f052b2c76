"""Writes a state_dict for weft's load_weights."""

import h5py


def save_state_dict(path, state_dict):
    with h5py.File(path, "w") as file:
        for name, tensor in state_dict.items():
            file[name] = tensor.cpu().numpy()
