"""h5py_files.py save|load FILE SECONDS: saves or loads the weights of a model of 124 million
parameters with h5py, as a state_dict of PyTorch; prints: GB/s peak_mib model_mib."""
import resource
import sys
import time

import h5py
import torch


def shapes():
    yield "wte.weight", (50257, 768)
    yield "wpe.weight", (1024, 768)
    for i in range(12):
        for norm in ("ln_1", "ln_2"):
            yield f"h.{i}.{norm}.weight", (768,)
            yield f"h.{i}.{norm}.bias", (768,)
        for layer, rows, columns in (("attn.c_attn", 2304, 768), ("attn.c_proj", 768, 768),
                                     ("mlp.c_fc", 3072, 768), ("mlp.c_proj", 768, 3072)):
            yield f"h.{i}.{layer}.weight", (rows, columns)
            yield f"h.{i}.{layer}.bias", (rows,)
    yield "ln_f.weight", (768,)
    yield "ln_f.bias", (768,)


command, path, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
model = {name: torch.ones(shape) for name, shape in shapes()}
size = 4 * sum(value.numel() for value in model.values())


def save():
    with h5py.File(path, "w") as file:
        for name, value in model.items():
            file[name] = value.numpy()


def load():
    with h5py.File(path, "r") as file:
        for name, value in model.items():
            value.copy_(torch.from_numpy(file[name][()]))


run = save if command == "save" else load
times = []
start = time.perf_counter()
while len(times) < 5 or time.perf_counter() - start < seconds:
    before = time.perf_counter()
    run()
    times.append(time.perf_counter() - before)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{size / sorted(times)[len(times) // 2] * 1e-9:.3f} {peak:.1f} {size / 2**20:.1f}")
