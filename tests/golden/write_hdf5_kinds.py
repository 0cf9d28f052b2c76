"""Writes hdf5_kinds.h5: datasets and attributes of every type that h5py writes and weft reads;
hdf5_newest.h5: every kind of chunks in the newest format of HDF5 2; and hdf5_lzf.h5: h5py's filter
LZF."""

from pathlib import Path

import h5py
import numpy as np

# Exact in every floating-point type.
values = np.array([[0.5, -1.25, 2.0], [3.0, 0.0, -4.75]])

with h5py.File(Path(__file__).with_name("hdf5_kinds.h5"), "w") as file:
    for name in ("float16", "float32", "float64"):
        file[f"floats/{name}"] = values.astype(name)
        file[f"floats/big_endian_{name}"] = values.astype(np.dtype(name).newbyteorder(">"))
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        file[f"integers/{name}"] = np.array([0, 1, 100], dtype=name)
    file["integers/large"] = np.array([1, 2**31], dtype=np.int64)
    file["integers/huge"] = np.array([2**63], dtype=np.uint64)
    file["truth"] = np.array([[True, False], [False, True]])
    file["scalar"] = np.float32(2.5)
    file["empty"] = np.zeros((0, 3), dtype=np.float32)
    file["text"] = "päper"

    large = np.arange(600, dtype=np.float32).reshape(20, 30)
    file.create_dataset("stored/chunked", data=large, chunks=(7, 11))
    file.create_dataset("stored/gzip", data=large, compression="gzip")
    file.create_dataset(
        "stored/all_filters", data=large, chunks=(8, 8),
        compression="gzip", shuffle=True, fletcher32=True,
    )

    file.attrs["text"] = "päper"
    file.attrs["fixed"] = np.bytes_(b"paper")
    file.attrs["integer"] = 42
    file.attrs["number"] = 2.5
    file["floats"].attrs["of"] = "a group"

with h5py.File(Path(__file__).with_name("hdf5_newest.h5"), "w", libver="latest") as file:
    numbers = np.arange(60, dtype=np.float32).reshape(6, 10) + 0.5
    for group, options in (("plain", {}), ("filtered", {"compression": "gzip", "fletcher32": True})):
        for name, chunks, limits in (
            ("one", (6, 10), (6, 10)),
            ("array", (2, 3), (6, 10)),
            ("array with a limit", (2, 3), (7, 30)),
            ("growing", (2, 3), (7, None)),
            ("tree", (2, 3), (None, None)),
        ):
            file.create_dataset(
                f"{group}/{name}", data=numbers, chunks=chunks, maxshape=limits, **options
            )

with h5py.File(Path(__file__).with_name("hdf5_lzf.h5"), "w") as file:
    numbers = (np.arange(600) // 7 % 5).astype(np.float32).reshape(20, 30) / 2
    noise = np.random.default_rng(1).normal(size=(8, 8)).astype(np.float32)
    file["numbers"], file["noise"] = numbers, noise
    lzf = {"compression": "lzf"}
    file.create_dataset("lzf", data=numbers, chunks=(7, 11), **lzf)
    file.create_dataset("shuffled", data=numbers, chunks=(20, 30), shuffle=True, **lzf)
    file.create_dataset("with checksums", data=numbers, fletcher32=True, **lzf)
    file.create_dataset("incompressible", data=noise, chunks=(8, 4), **lzf)
