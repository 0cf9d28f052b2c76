"""Writes ../keras_2_recurrent*.h5: the weights of a model with recurrent layers as Keras 2 saves them, with the inputs and
outputs of the model in ../keras_2_values.h5.

python3 write_recurrent_weights.py, with tf_keras
"""

import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import h5py
import numpy as np
from tf_keras import Input, Sequential, layers

folder = Path(__file__).parent.parent
random = np.random.default_rng(1)
model = Sequential([
    Input((6,)),
    layers.Embedding(13, 8),
    layers.Conv1D(8, 3, padding="causal"),
    layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
    layers.BatchNormalization(),
    layers.GRU(5, return_sequences=True),
    layers.SimpleRNN(3, return_sequences=True),
    layers.Dense(2),
])
model.set_weights([
    (np.abs if "variance" in weight.name else np.array)(0.5 * random.standard_normal(weight.shape))
    for weight in model.weights
])
tokens = random.integers(0, 13, (3, 6)).astype("int32")
with h5py.File(folder / "keras_2_values.h5", "w") as values:
    values["x"] = tokens
    values["y"] = model(tokens, training=False).numpy()
model.save_weights(folder / "keras_2_recurrent.h5")

# By Keras 2.0 to 2.2, which cannot be installed any more: cells have no names, and the names of weights
# may have another number than their layer.
with h5py.File(folder / "keras_2_recurrent.h5") as new:
    with h5py.File(folder / "keras_2_recurrent_old.h5", "w") as file:
        file.attrs["layer_names"] = [f"{name}_1".encode() for name in new.attrs["layer_names"]]
        for layer in new.attrs["layer_names"]:
            group = file.create_group(f"{layer}_1")
            names = []
            for name in new[layer].attrs["weight_names"]:
                parts = name.split("/")
                names.append("/".join(f"{part}_2" for part in parts[:-1] if "_cell" not in part)
                             + "/" + parts[-1])
                group[names[-1]] = new[layer][name][()]
            group.attrs["weight_names"] = [name.encode() for name in names]
