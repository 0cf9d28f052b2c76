"""Runs model files, FOLDER/*.h5 and *.keras, in the version of Keras that wrote them, on random inputs.
Links them in OUT under different names, with their inputs and outputs in OUT/values.h5. Run by
tests/keras_real_files.sh.

python3 write_outputs.py FOLDER OUT
"""

import json
import os
import sys
import warnings
import zipfile
import zlib
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.simplefilter("ignore")

import h5py
import keras
import numpy as np
import tf_keras


def version_of(path):
    if zipfile.is_zipfile(path):
        return json.loads(zipfile.ZipFile(path).read("metadata.json"))["keras_version"]
    version = h5py.File(path).attrs.get("keras_version", "unknown")
    return version.decode() if isinstance(version, bytes) else version


def layers_of(model):
    for layer in model.layers:
        yield from layers_of(layer) if hasattr(layer, "layers") else [layer]


def inputs_of(model, random):
    """Four examples. All inputs are token ids, half of them padded at the front, if one is embedded."""
    vocabularies = [layer.input_dim for layer in layers_of(model) if hasattr(layer, "input_dim")]
    for tensor in model.inputs:
        shape = [size or (4 if axis == 0 else 9) for axis, size in enumerate(tensor.shape)]
        if vocabularies and len(shape) == 2:
            x = random.integers(1, min(vocabularies), shape).astype("float32")
            x[::2, : shape[1] // 3] = 0
            yield x
        else:
            yield random.standard_normal(shape).astype("float32")


folder, out = map(Path, sys.argv[1:])
with h5py.File(out / "values.h5", "w") as values:
    for path in sorted(path for end in ("h5", "keras") for path in folder.rglob(f"*.{end}")):
        name = f"{path.stem}_{zlib.crc32(str(path).encode()):08x}"
        (out / f"{name}{path.suffix}").symlink_to(path.resolve())
        group = values.create_group(name)
        try:
            group.attrs["keras_version"] = version = version_of(path)
            module = tf_keras if version.startswith("2.") else keras
            model = module.models.load_model(path, compile=False)
            inputs = list(inputs_of(model, np.random.default_rng(1)))
            outputs = model(inputs if len(inputs) > 1 else inputs[0], training=False)
            for i, x in enumerate(inputs):
                group[f"input{i}"] = x
            for i, y in enumerate(outputs if isinstance(outputs, (list, tuple)) else [outputs]):
                group[f"output{i}"] = np.asarray(y)
        except Exception as error:
            print(f"{path.name}: Keras cannot run it: {type(error).__name__}: {str(error)[:150]}")
