"""compare_hdf5.py H5WEIGHTS [FILES [SEED]]: writes pairs of HDF5 files by h5py, one in a random range
of versions with every kind of storage, links and types, the other one plain, and compares each pair by
`h5weights diff`. A pair must be equal, or the first file refused in plain words; prints how many were,
and the reasons."""

import collections
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

program = sys.argv[1]
count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
random = np.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
versions = ["earliest", "v108", "v110", "v112", "v114", "latest"]
types = ["f2", "f4", "f8", ">f4", ">f8", "i1", "i4", "u2", ">i2"]


def chance(probability):
    return random.random() < probability


def values(shape, dtype):
    return random.integers(-100 if np.dtype(dtype).kind != "u" else 0, 100, shape).astype(dtype)


def filters():
    chosen = {}
    if chance(0.3):
        chosen["compression"] = "gzip"
        chosen["compression_opts"] = int(random.integers(0, 10))
    if chance(0.2):
        chosen["shuffle"] = True
    if chance(0.2):
        chosen["fletcher32"] = True
    return chosen


def write_dataset(file, group, name, plain):
    """A dataset of any storage; its contents, as h5py reads them, go to `plain`."""
    rank = int(random.integers(0, 4))
    longest = [0, 20_000, 150, 25][rank] if chance(0.2) else 12
    shape = tuple(int(n) for n in random.integers(1 if chance(0.95) else 0, longest + 1, rank))
    dtype = np.dtype(random.choice(types))
    options = {}
    if rank > 0 and chance(0.6) and min(shape) > 0:
        few = max(1, int(np.prod(shape)) // 4000)
        options["chunks"] = tuple(
            int(random.integers(min(n, few if axis == 0 else 1), n + 1)) for axis, n in enumerate(shape)
        )
        if chance(0.6):
            options["maxshape"] = tuple(
                None if chance(0.4) else n + int(random.integers(0, 1 << random.integers(0, 8)))
                for n in shape
            )
        options.update(filters())
    if chance(0.3):
        options["fillvalue"] = values((), dtype)
    if chance(0.1):
        options["fill_time"] = str(random.choice(["alloc", "never", "ifset"]))
    kind = dtype
    if "name of the type" in file and chance(0.3):
        kind = file["name of the type"]
        dtype = kind.dtype
        options.pop("fillvalue", None)
    dataset = group.create_dataset(name, shape=shape, dtype=kind, **options)
    written = random.random()
    never = options.get("fill_time") == "never"
    if written < 0.8 or never:
        dataset[...] = values(shape, dtype)
    elif written < 0.9 and rank > 0 and min(shape) > 0:
        part = tuple(slice(int(random.integers(0, n)), n) for n in shape)
        dataset[part] = values(dataset[part].shape, dtype)
    if options.get("maxshape") and chance(0.4):
        limits = [n + 40 if limit is None else limit for n, limit in zip(shape, options["maxshape"])]
        larger = tuple(min(limit, n + int(random.integers(0, 30))) for n, limit in zip(shape, limits))
        dataset.resize(larger if chance(0.6) else tuple(max(1, n // 2) for n in shape))
        if never:
            dataset[...] = values(dataset.shape, dtype)
    plain[dataset.name] = dataset[...]


def write_pair(folder):
    low = random.integers(0, len(versions))
    libver = (versions[low], versions[random.integers(max(low, 1), len(versions))])
    first, second = folder / "first.h5", folder / "second.h5"
    plain = {}
    with h5py.File(first, "w", libver=libver, track_order=bool(chance(0.3)) or None) as file:
        if chance(0.3):
            file["name of the type"] = np.dtype(random.choice(types))
        groups = [file]
        for i in range(int(random.integers(1, 6))):
            parent = groups[random.integers(0, len(groups))]
            groups.append(parent.create_group(f"group {i}", track_order=bool(chance(0.3)) or None))
        for i in range(60 if chance(0.1) else int(random.integers(1, 8))):
            write_dataset(file, groups[random.integers(0, len(groups))], f"data {i}", plain)
        for i, target in enumerate(list(plain)):
            if not chance(0.3):
                continue
            group = groups[random.integers(0, len(groups))]
            below = target[len(group.name.rstrip("/")) + 1 :]
            is_below = target.startswith(group.name.rstrip("/") + "/")
            group[f"link {i}"] = h5py.SoftLink(below if is_below and chance(0.5) else target)
            plain[f"{group.name.rstrip('/')}/link {i}"] = plain[target]
        if chance(0.03):
            file["cycle"] = h5py.SoftLink("/")
        for i in range(int(random.choice([0, 2, 30]))):
            file.attrs[f"attribute {i}"] = "text" if chance(0.5) else i
    with h5py.File(second, "w") as file:
        for name, contents in plain.items():
            file[name] = contents
    return first, second, libver


refused = collections.Counter()
equal, compared = 0, 0
with tempfile.TemporaryDirectory() as folder:
    for i in range(count):
        first, second, libver = write_pair(Path(folder))
        diff = subprocess.run([program, "diff", first, second], capture_output=True, text=True)
        found = re.fullmatch(r"([\d,]+) datasets? equal\n", diff.stdout)
        error = re.search(r'first\.h5" ?[^:]*: (expected [^\n]*, got [^\n]*)\n$', diff.stderr)
        if found and diff.returncode == 0:
            equal += 1
            compared += int(found[1].replace(",", ""))
        elif error and "intact" not in error[1] and not diff.stdout:
            refused[re.sub(r"\d+", "N", error[1])] += 1
        else:
            first.rename("wrong_first.h5")
            second.rename("wrong_second.h5")
            sys.exit(f"pair {i}, {libver}: see wrong_first.h5\n{diff.stdout}{diff.stderr}")
print(f"HDF5 {h5py.version.hdf5_version}: {compared} datasets in {equal} of {count} files equal")
for reason, times in refused.most_common():
    print(f"{times} refused: {reason}")
