"""Writes keras_*.h5: models in the files of Keras 3 and in its legacy format, each with the inputs
and outputs of the model in keras_values.h5.

KERAS_BACKEND=torch python3 write_keras_weights.py
"""

import os
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "torch")

import h5py
import keras
import numpy as np
from keras import layers
from keras.src.legacy.saving import legacy_h5_format

folder = Path(__file__).parent
vocabulary, width, heads, time = 13, 8, 2, 6
keras.utils.set_random_seed(1)
# Keras draws from NumPy's global generator, how often depends on the installed packages.
random = np.random.default_rng(1)
tokens = random.integers(0, vocabulary, (3, time)).astype("int32")


def randomize(model):
    """Biases and scales, which start as zeros and ones, become distinguishable."""
    for variable in model.trainable_variables:
        variable.assign(0.5 * random.standard_normal(variable.shape).astype("float32"))


def functional():
    """An embedding, attention with a residual connection, a norm and two dense layers."""
    inputs = keras.Input((time,), dtype="int32")
    x = layers.Embedding(vocabulary, width)(inputs)
    x = x + layers.MultiHeadAttention(heads, width // heads, dropout=0.1)(x, x)
    x = layers.Dropout(0.1)(layers.LayerNormalization(epsilon=1e-5)(x))
    x = layers.Dense(16, activation="relu")(x)
    return keras.Model(inputs, layers.Dense(5)(x))


class Subclassed(keras.Model):
    """The same as attributes. Those after "layers" in the alphabet are saved below /layers."""

    def __init__(self):
        super().__init__()
        self.a_embedding = layers.Embedding(vocabulary, width)
        self.attention = layers.MultiHeadAttention(heads, width // heads)
        self.norm = layers.LayerNormalization(epsilon=1e-5)
        self.dense1 = layers.Dense(16, activation="relu")
        self.dense2 = layers.Dense(5)

    def call(self, inputs):
        x = self.a_embedding(inputs)
        return self.dense2(self.dense1(self.norm(x + self.attention(x, x))))


def recurrent(layer):
    """A recurrent layer and a dense one."""
    return keras.Sequential(
        [keras.Input((time, 3)), layer(4, return_sequences=True), layers.Dense(2)]
    )


def bidirectional():
    """Two recurrent layers that also read from the end, and a dense one."""
    both = [layers.Bidirectional(layer(4, return_sequences=True))
            for layer in (layers.GRU, layers.LSTM)]
    return keras.Sequential([keras.Input((time, 3)), *both, layers.Dense(2)])


sequential = keras.Sequential(
    [
        keras.Input((4,)),
        layers.Dense(6, activation="relu"),
        layers.LayerNormalization(epsilon=1e-5),
        layers.Dense(2),
    ]
)
x = random.standard_normal((3, 4)).astype("float32")
series = random.standard_normal((3, time, 3)).astype("float32")

with h5py.File(folder / "keras_values.h5", "w") as values:

    def save(name, model, inputs):
        model(inputs)
        randomize(model)
        model.save_weights(folder / f"keras_{name}.weights.h5")
        values[f"{name}/x"] = inputs
        values[f"{name}/y"] = keras.ops.convert_to_numpy(model(inputs, training=False))

    save("sequential", sequential, x)
    save("subclassed", Subclassed(), tokens)
    save("gru", recurrent(layers.GRU), series)
    save("lstm", recurrent(layers.LSTM), series)
    save("rnn", recurrent(layers.SimpleRNN), series)

    save("bidirectional", bidirectional(), series)

    # After a step of training, with the optimizer's state; the file of weights of a whole model,
    # and both kinds of the legacy format.
    keras.utils.clear_session()  # which counts the layers of a class for their names
    keras.utils.set_random_seed(1)
    model = functional()
    randomize(model)
    model.compile("adam", "mse")
    model.fit(tokens, np.ones((3, time, 5)), verbose=0)
    model.save_weights(folder / "keras_functional.weights.h5")
    model.save(folder / "keras_legacy_model.h5")
    with h5py.File(folder / "keras_legacy_weights.h5", "w") as file:
        legacy_h5_format.save_weights_to_hdf5_group(file, model)
    values["functional/x"] = tokens
    values["functional/y"] = keras.ops.convert_to_numpy(model(tokens, training=False))

# Keras 2 itself writes the same with ":0" at the end of the names of variables, and Keras 3.0
# "_query_dense" for "query_dense"; these writers cannot be installed beside Keras 3.
with h5py.File(folder / "keras_legacy_weights.h5") as new:
    with h5py.File(folder / "keras_2_weights.h5", "w") as file:
        file.attrs["layer_names"] = new.attrs["layer_names"]
        file.attrs["backend"] = "tensorflow"

        def copy(path, dataset):
            if isinstance(dataset, h5py.Dataset):
                file[path + ":0"] = dataset[()]

        new.visititems(copy)
with h5py.File(folder / "keras_functional.weights.h5") as new:
    with h5py.File(folder / "keras_30.weights.h5", "w") as file:

        def copy(path, dataset):
            if isinstance(dataset, h5py.Dataset) and path.startswith("layers"):
                for part in ("query", "key", "value", "output"):
                    path = path.replace(f"/{part}_dense", f"/_{part}_dense")
                file[path] = dataset[()]

        new.visititems(copy)
