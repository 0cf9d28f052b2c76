"""Loads models that weft saved again, FOLDER/again/CASE.* and their weights alone, in Keras, and compares
their outputs with those before. Run by tests/keras_models.sh.

KERAS_BACKEND=tensorflow python3 load_saved.py FOLDER [--keras2]
"""

import json
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.simplefilter("ignore")

import h5py
import numpy as np

keras2 = "--keras2" in sys.argv
if keras2:
    import tf_keras as keras
else:
    import keras

folder = Path(sys.argv[1])
equal = failed = unreadable = 0


def outputs(model, inputs):
    structure = model._nested_inputs if keras2 else getattr(model, "_inputs_struct", None)
    if isinstance(structure, dict):
        inputs = dict(zip(sorted(structure), inputs))
    elif len(inputs) == 1:
        inputs = inputs[0]
    flat = []

    def add(values):
        if isinstance(values, dict):
            values = [values[key] for key in sorted(values)]
        if isinstance(values, (list, tuple)):
            for value in values:
                add(value)
        else:
            flat.append(values.numpy() if keras2 else keras.ops.convert_to_numpy(values))

    add(model(inputs, training=False))
    return flat


with h5py.File(folder / "values.h5") as values:
    for case in json.loads((folder / "cases.json").read_text()):
        group = values.get(case["name"], {})
        if case["name"].endswith("_keras2") != keras2 or "output0" not in group:
            continue
        inputs = [group[f"input{i}"][()] for i in range(len(group)) if f"input{i}" in group]
        for name in case["files"]:
            saved = folder / "again" / name
            if not saved.exists():
                continue
            try:
                original = keras.models.load_model(folder / name, compile=False)
                expected = outputs(original, inputs)
                # Again, because the call may have changed its states.
                original = keras.models.load_model(folder / name, compile=False)
            except Exception:  # Keras cannot read all that it writes
                unreadable += 1
                continue
            try:
                original.set_weights([0 * weight for weight in original.get_weights()])
                original.load_weights(f"{saved}.weights.h5")
                for model in (keras.models.load_model(saved, compile=False), original):
                    for a, b in zip(outputs(model, inputs), expected, strict=True):
                        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6 * np.nanmax(np.abs(b)))
                equal += 1
            except Exception as error:
                failed += 1
                print(f"{name}: {type(error).__name__}: {str(error)[:200]}")
print(f"Keras {keras.__version__}: {equal} saved models and their weights equal, {failed} failed; "
      f"{unreadable} that Keras itself cannot load")
sys.exit(failed > 0)
