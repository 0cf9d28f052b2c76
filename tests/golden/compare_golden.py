"""compare_golden.py OLD NEW: compares the golden files of two folders. Numbers of HDF5 and
safetensors files agree within 1e-5 of the largest of their tensor in float and narrower types, and
1e-10 in double; other files are equal. Files of NEW from 1970 are copies of those of OLD that no
script has written again: they are named, and compare nothing."""

import json
import sys
from pathlib import Path

import h5py
import numpy as np


def tensors_of_hdf5(path):
    tensors = {}
    with h5py.File(path) as file:
        file.visititems(
            lambda name, item: tensors.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None
        )
    return tensors


def tensors_of_safetensors(path):
    kinds = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "BOOL": "?", "U8": "u1"}
    contents = path.read_bytes()
    length = int.from_bytes(contents[:8], "little")
    tensors = {}
    for name, entry in json.loads(contents[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        if entry["dtype"] == "BF16":
            values = np.frombuffer(contents[begin:end], "<u2").astype("<u4") << 16
            values = values.view("<f4")
        else:
            values = np.frombuffer(contents[begin:end], kinds[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return tensors


def difference(old, new):
    """Relative to the tensor's largest number, or to 1e-3 if that is larger, because smaller numbers
    may be rounding errors of 0; infinite where they can't be compared."""
    old, new = np.asarray(old), np.asarray(new)
    if old.shape != new.shape or old.dtype != new.dtype:
        return np.inf
    if old.dtype.kind != "f":
        return 0.0 if np.array_equal(old, new) else np.inf
    finite = np.isfinite(old)
    if not np.array_equal(old[~finite], new[~finite], equal_nan=True):
        return np.inf
    old, new = old[finite].astype("f8"), new[finite].astype("f8")
    largest = max(np.abs(old).max(initial=0), 1e-3)
    return float(np.abs(old - new).max(initial=0) / largest)


def same_contents(old, new):
    """Bytes, or JSON. Lists of names may be in any order, as peft writes sets, and the version of the
    package that wrote the file may differ."""
    versions = ("peft_version", "transformers_version")
    if old.read_bytes() == new.read_bytes():
        return True
    if old.suffix != ".json":
        return False
    a, b = json.loads(old.read_text()), json.loads(new.read_text())

    def sort(contents):
        if isinstance(contents, dict):
            return {
                name: sort(entry) for name, entry in contents.items() if name not in versions
            }
        if isinstance(contents, list) and all(isinstance(entry, str) for entry in contents):
            return sorted(contents)
        return contents

    return sort(a) == sort(b)


readers = {".h5": tensors_of_hdf5, ".safetensors": tensors_of_safetensors}
old_folder, new_folder = Path(sys.argv[1]), Path(sys.argv[2])
paths = sorted(p.relative_to(old_folder) for p in old_folder.rglob("*") if p.is_file())
wrong, copies, count, worst = [], [], 0, {"float": 0.0, "double": 0.0}
for path in paths:
    if path.suffix in (".py", ".cpp", ".hpp", ".pyc"):
        continue
    old, new = old_folder / path, new_folder / path
    if not new.exists():
        wrong.append(f"{path}: removed")
    elif new.stat().st_mtime == 0:
        copies.append(str(path))
    elif path.suffix not in readers:
        if not same_contents(old, new):
            wrong.append(f"{path}: differs")
    else:
        a, b = readers[path.suffix](old), readers[path.suffix](new)
        if a.keys() != b.keys():
            wrong.append(f"{path}: other names: {sorted(a.keys() ^ b.keys())[:5]}")
            continue
        for name in a:
            is_double = np.asarray(a[name]).dtype == np.float64
            # transformers computes rotary angles in float, and other processors round them otherwise.
            kind = "double" if is_double and name != "logits_double" else "float"
            found = difference(a[name], b[name])
            count += 1
            worst[kind] = max(worst[kind], found)
            if not found <= {"float": 1e-5, "double": 1e-10}[kind]:
                wrong.append(f"{path}: {name}: {found:.1e}")
print(f"not written again, so not compared: {', '.join(copies) or 'none'}")
print(f"{count} tensors; largest difference: float {worst['float']:.1e}, double {worst['double']:.1e}")
for line in wrong:
    print(line)
sys.exit(bool(wrong))
